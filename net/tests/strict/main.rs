//! The logic of the strict mode, without input and output: explored and simulated.

mod explored;
mod model;
mod simulated;
