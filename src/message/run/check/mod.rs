//! Explores every reachable state of a cluster of any [`Protocol`], with stateright (feature
//! `check`).
//!
//! A [`Check`] is a stateright `Model`: the nodes, the network, the timers, and how many more times
//! each user wants in. Each next step is tried: a user asks or leaves, a message arrives, a timer
//! runs out. Stateright does the search, runs it in parallel, and shows what it found.
//!
//! | property | holds if |
//! |---|---|
//! | `mutual exclusion` | no more users are inside than [may be](Protocol::entries_at_a_time) |
//! | `expected inputs only` | no node refuses an input, or lets in a user that did not ask |
//! | `no deadlock` | no user waits while none is inside and nothing is in flight |
//! | `invariant` | the protocol's own [invariant](Claims::invariant) holds |
//! | `one token` | exactly one [token](Claims::token) is held or in flight |
//! | `order` | a user that is inside has an older [stamp](Claims::order) than all waiters |
//! | `bypass` | no user is overtaken more often than the [bound](Check::bypass) says |
//! | `cost` | no more messages are sent than the [bound](Check::at_its_cost) says |
//! | `everybody enters` | sometimes: all users have been served, so that the rest is not vacuous |
//! | `two contend` | sometimes: two users want in at the same time |
//!
//! Of an election, which has no user ([`Check::election`]):
//!
//! | property | holds if |
//! |---|---|
//! | `agreement` | in an epoch nodes that live settle on one leader, where it does not name one |
//! | `expected inputs only` | as above |
//! | `invariant` | the election's own does, if it has one |
//! | `one leader` | nodes that live have settled alike, where that is claimed |
//! | `all settle` | sometimes: all that live have settled on one that lives, in silence |
//! | `all can settle` | from every state after a call they can: see [`Progress`] |
//!
//! Of a lock that is to survive what befalls it ([`Check::serving_all`]): `all can be served`, from
//! every state, by all that live and wait.
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

mod aftermath;
mod election;
mod faults;
mod lock;
mod model;
mod network;
mod plight;
mod progress;
mod state;
mod trace;

pub use aftermath::{Aftermath, Outcome};
pub use model::{Check, Timers, Users};
pub use plight::Budgets;
pub use progress::{PathOf, Progress, TooManyStates};
pub use state::{Action, State};
pub use stateright::{Checker, CheckerBuilder, Expectation, HasDiscoveries, Model, Path, Property};
pub use trace::trace_of;

#[cfg(doc)]
use crate::message::{Claims, Protocol};
