//! Measures: the locks beside their peers, interleaved in one run, and clusters of actors beside
//! the floor.

pub mod actors;
pub mod contention;
mod drive;
mod hogs;
pub mod load;
pub mod markdown;
mod start;
pub mod subject;
mod switches;
pub mod table;
pub mod workload;
