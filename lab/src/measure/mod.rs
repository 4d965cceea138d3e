//! Measures: the locks beside their peers, interleaved in one run, and clusters of actors beside
//! the floor. What is no mutex is in [`kind`].

pub mod actors;
pub mod contention;
mod drive;
mod hogs;
pub mod kind;
pub mod load;
pub mod markdown;
mod start;
pub mod subject;
mod switches;
pub mod table;
pub mod workload;
