//! The lab measures the locks of [`exclusion`] beside their peers, interleaved in one run.
#![forbid(unsafe_code)]

pub mod contention;
pub mod subject;
pub mod table;
pub mod workload;
