//! The lab of [`exclusion`]: what its commands are made of.
//!
//! | folder | what is in it |
//! |---|---|
//! | `command` (of the binary) | one command per file: what it takes, checks and prints |
//! | [`measure`] | locks beside their peers, interleaved in one run; actors beside the floor |
//! | [`count`] | messages per entry beside their formulas, and the other criteria |
//! | [`cost`] | accesses and remote references per entry, by the number of threads |
//! | [`explore`] | exhaustive exploration; broken variants, refuted |
//! | [`draw`] | space-time diagrams and charts |
//! | [`report`] | one page with all of it |
//!
//! Each folder stands by itself; only `command` and `report` bring them together. [`label`] and
//! [`played`] are what they share.
#![forbid(unsafe_code)]

pub mod cost;
pub mod count;
pub mod draw;
pub mod explore;
pub mod label;
pub mod measure;
pub mod played;
pub mod report;
