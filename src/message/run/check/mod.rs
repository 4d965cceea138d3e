//! Explores everything that can happen to a cluster of any [`Protocol`], with stateright (feature `check`).
//!
//! A [`Check`] is a stateright `Model`: the nodes, the network, the timers, and how many more times each user wants in.
//! Whatever can happen next is tried: a user asks or leaves, a message arrives, a timer runs out. Searching, running in
//! parallel and showing what was found are stateright's.
//!
//! | property | holds if |
//! |---|---|
//! | `mutual exclusion` | no more are inside than may be |
//! | `expected inputs only` | no node refuses an input, or lets in a user who did not ask |
//! | `no deadlock` | nobody waits in silence: with nobody inside and nothing in flight |
//! | `invariant` | the protocol's own [invariant](Claims::invariant) does, if it has one |
//! | `one token` | exactly one is held or in flight, where a [token](Claims::token) is claimed |
//! | `order` | who is inside asked before all who wait, where an [order](Claims::order) is claimed |
//! | `bypass` | nobody waits while more than so many others enter, where a bound is [claimed](Check::bypass) |
//! | `cost` | no more messages are sent than the protocol's [formula](Claims::cost) allows, where that is [claimed](Check::at_its_cost) |
//! | `everybody enters` | sometimes: all have been served; else the others would say little |
//! | `two contend` | sometimes: two want in at the same time |
//!
//! Of an election, which has no user ([`Check::election`]):
//!
//! | property | holds if |
//! |---|---|
//! | `agreement` | no two nodes that live have settled on different leaders in the same epoch |
//! | `expected inputs only` | as above |
//! | `invariant` | the election's own [invariant](crate::message::Election::invariant) does, if it has one |
//! | `one leader` | no two nodes that live lead, or follow two leaders, where that is [claimed](Check::one_leader) |
//! | `all settle` | sometimes: all that live have settled on one that lives, and all is silent |
//! | `all can settle` | from every state that is possible once an election was called, they can, if nothing more befalls them; see [`Progress`] |
//!
//! ```
//! use exclusion::message::check::{Check, Checker, Model};
//! use exclusion::message::RicartAgrawala;
//!
//! let check = Check::new(RicartAgrawala::cluster(2)?).requests(2);
//! let checker = check.checker().spawn_bfs().join();
//! checker.assert_properties();
//! assert!(checker.unique_state_count() > 100);
//! # Ok::<(), exclusion::message::ClusterError>(())
//! ```
#![forbid(unsafe_code)]

mod election;
mod model;
mod network;
mod plight;
mod progress;
mod state;
mod trace;

pub use model::{Check, Timers, Users};
pub use progress::{Progress, TooManyStates};
pub use state::{Action, State};
pub use stateright::{Checker, CheckerBuilder, Expectation, HasDiscoveries, Model, Path, Property};
pub use trace::trace_of;

#[cfg(doc)]
use crate::message::{Claims, Protocol};
