//! Runners: threads and channels, a simulator, an exhaustive checker, and a replay of traces.
//!
//! All of them call [`step`](super::step), and differ in what they do with the outputs:
//!
//! | runner | a message | a timer | an entry |
//! |---|---|---|---|
//! | `actor` | into the receiver's channel | a wait with a deadline | wakes the user's thread |
//! | `sim` | after a simulated delay | after simulated periods | the user stays a simulated time |
//! | `check` | any message in flight may be next | may run out next | the user may leave next |
//! | `replay` | must be as it is written | must be as it is written | must be as it is written |

pub mod actor;
#[cfg(all(feature = "check", not(exclusion_loom)))]
pub mod check;
mod plight;
pub mod replay;
pub(super) mod role;
mod scribe;
pub mod sim;
