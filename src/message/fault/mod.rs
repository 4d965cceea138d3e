//! Layers that make a lock survive faults: machines around a machine.
//!
//! | layer | below it | above it |
//! |---|---|---|
//! | [`Detector`] | nodes that crash | notices of who is down |
//! | [`Link`] | messages lost, doubled, reordered; restarts | the channels that the lock needs |
//! | [`Recovering`] | members that are down | a lock among those that live, with fences |
//!
//! What single algorithms can do that is better than to be built anew is in [`remedy`].
//!
//! They stack in this order: `Detector<Link<Recovering<…>>>`. Each is a machine, so every runner
//! runs each of them, and any stack of them. The book has a
//! [page](crate::docs::failures) about what they promise.

pub mod blueprint;
pub mod detector;
pub mod fence;
mod ledger;
pub mod link;
pub mod recovery;
pub mod remedy;
pub mod view;
pub mod witness;

pub use blueprint::{Blueprint, FromRegistry};
pub use detector::Detector;
pub use fence::{Admission, Fence, Fenced, Overtaken};
pub use link::Link;
pub use recovery::Recovering;
pub use view::View;
pub use witness::Witness;
