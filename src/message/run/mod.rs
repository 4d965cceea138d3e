//! What runs machines: threads and channels, a simulator, an exhaustive checker, and a replay of what they wrote down.
//!
//! All of them call [`step`](super::step), and differ in what they do with the outputs:
//!
//! | runner | a message | a timer | an entry |
//! |---|---|---|---|
//! | `actor` | into the channel of the other node's thread | a wait with a deadline | wakes the thread of the user |
//! | `sim` | arrives after a simulated delay | after simulated periods | the user stays for a simulated time |
//! | `check` | into a multiset: any of them may arrive next | may run out next | the user may leave next |
//! | `replay` | must be as it is written | must be as it is written | must be as it is written |

pub mod actor;
#[cfg(all(feature = "check", not(exclusion_loom)))]
pub mod check;
pub mod replay;
mod scribe;
pub mod sim;
