//! The lab of [`exclusion`]: measures its locks beside their peers, interleaved in one run, and counts the messages of
//! its algorithms beside their formulas.
#![forbid(unsafe_code)]

pub mod actors;
pub mod broken;
pub mod chains;
pub mod chart;
pub mod contention;
pub mod criteria;
pub mod diagram;
pub mod drafts;
pub mod erased;
pub mod explorable;
pub mod exploration;
pub mod messages;
pub mod palette;
pub mod recording;
pub mod registers;
pub mod report;
pub mod seat_program;
pub mod shiviz;
pub mod sketch;
pub mod subject;
pub mod table;
pub mod workload;
