//! Counts messages in the simulator, beside the formulas, and compares the algorithms by the usual
//! criteria.

pub mod arrangements;
pub mod chains;
pub mod criteria;
pub mod elections;
pub mod faults;
pub mod messages;
pub mod safety;
