//! Remedies of single algorithms: what one lock does about a node that is down, where that is
//! better than to build the lock anew.
//!
//! The plain algorithms ignore what a detector says, and block as their papers do. [`Surviving`]
//! is the same algorithm with a detector. When a node is down, the others go on without it, and
//! nobody waits, stops or elects:
//!
//! | algorithm | a node is down: each survivor by itself | messages |
//! |---|---|---|
//! | [`RicartAgrawala`], [`RaymondK`] | waits for its confirmation no more | none |
//! | [`Lamport`] | the same, and strikes its request from the queue | none |
//! | [`CarvalhoRoucairol`] | takes the permission that the two shared | none |
//! | [`SinghalDynamic`] | asks it no more | none |
//! | [`Maekawa`] | frees its vote, and asks all that live in place of a quorum that it was in | n |
//! | [`Majority`] | frees the vote that it had; any majority of all nodes will do | none |
//!
//! Where the dead may have had what there is only one of, the survivors must find out first:
//!
//! | algorithm | remedy |
//! |---|---|
//! | [`CentralCoordinator`] | [`Succession`]: an election, and a desk from what the clients say |
//! | [`SuzukiKasami`], [`RicartAgrawalaToken`] | [`Regenerating`]: a census, perhaps a new token |
//! | [`TokenRing`] | [`MendedRing`]: closed around the dead, perhaps with a new token |
//! | [`Raymond`], [`NaimiTrehel`], [`NaimiTrehelQueue`] | [`Rerooting`]: a tree around the token |
//!
//! # What the detector promises
//!
//! It is right: who is said to be down is down, and stays so. It tells everybody sooner or later,
//! of a crash after all that the dead one has sent to the one that is told. So a node that has been
//! told has nothing more to expect of the dead. Others may not have been told yet, and may still
//! hear it: that is why a census waits until everybody has been told.
//!
//! Where the notice could overtake a message, the message would come too late: whatever comes from
//! a node that is said to be down is thrown away. For the first table that makes no difference,
//! since nothing that the dead one said matters once it is dead. The second table needs the
//! promise.
//!
//! A node that was down does not come back here, and [`Notice::Up`] and [`Notice::Recovered`] are
//! refused. To join again is to build the lock anew.
//!
//! [`RicartAgrawala`]: crate::message::RicartAgrawala
//! [`RaymondK`]: crate::message::RaymondK
//! [`Lamport`]: crate::message::Lamport
//! [`CarvalhoRoucairol`]: crate::message::CarvalhoRoucairol
//! [`SinghalDynamic`]: crate::message::SinghalDynamic
//! [`Maekawa`]: crate::message::Maekawa
//! [`Majority`]: crate::message::Majority
//! [`TokenRing`]: crate::message::TokenRing
//! [`CentralCoordinator`]: crate::message::CentralCoordinator
//! [`SuzukiKasami`]: crate::message::SuzukiKasami
//! [`RicartAgrawalaToken`]: crate::message::RicartAgrawalaToken
//! [`Raymond`]: crate::message::Raymond
//! [`NaimiTrehel`]: crate::message::NaimiTrehel
//! [`NaimiTrehelQueue`]: crate::message::NaimiTrehelQueue

pub mod mended_ring;
pub mod regenerating;
pub mod rerooting;
pub mod succession;
mod surviving;

pub use mended_ring::MendedRing;
pub use regenerating::{Regenerates, Regenerating};
pub use rerooting::{Rerooting, Reroots};
pub use succession::Succession;
pub use surviving::{Outlives, Surviving};

#[cfg(doc)]
use crate::message::Notice;
