//! What runs machines: threads and channels, a simulator, an exhaustive checker, and a replay of what they wrote down.

pub mod actor;
#[cfg(all(feature = "check", not(exclusion_loom)))]
pub mod check;
pub mod replay;
pub mod sim;
