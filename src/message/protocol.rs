//! Locks among nodes: machines whose users request and release.

use super::run::actor::Guarded;
use super::{Admission, Machine, Outbox, Refused};

/// One node of a mutual-exclusion algorithm: a [`Machine`] that takes requests and releases.
///
/// Constructors are not part of the trait, since they differ between algorithms. `node` makes one
/// node; `cluster` makes all of them, and the node at position `i` is [`NodeId`](super::NodeId)
/// `i`. For each request there is one entry.
pub trait Protocol: Machine {
    /// How a user that is inside may reach the data: [`Exclusive`] where one enters at a time,
    /// [`Shared`] where several may.
    type Access: Access;

    /// Whether a user that waits can take its request back. Where it cannot, the request stands:
    /// its node is let in some day, and leaves at once, or the user's next request takes it over.
    const WITHDRAWS: bool = false;

    /// Where its user is, as the node knows it.
    fn phase(&self) -> Phase;

    /// Whether this node can serve its user for ever although another one of the cluster dies, as
    /// that one is now. By default it cannot. An algorithm without fault tolerance may say so of a
    /// node that it need not ask, and that nobody waits for.
    fn goes_on_without(&self, _dead: &Self) -> bool {
        false
    }

    /// How many users may be inside at a time.
    fn entries_at_a_time(&self) -> usize {
        1
    }

    /// The fence of its user that is inside, where entries are [fenced](super::Fence).
    fn admission(&self) -> Option<&Admission> {
        None
    }
}

/// How users that are inside reach the data: [`Exclusive`] or [`Shared`].
pub trait Access: Guarded {}

/// One user is inside at a time, and may change the data.
#[derive(Clone, Copy, Debug)]
pub enum Exclusive {}

/// Several users may be inside at a time, and share the data.
#[derive(Clone, Copy, Debug)]
pub enum Shared {}

impl Access for Exclusive {}
impl Access for Shared {}

/// Where the user of a node is.
///
/// | from | by | to |
/// |---|---|---|
/// | `Idle` | request | `Waiting` |
/// | `Waiting` | enter | `Inside` |
/// | `Inside` | release | `Idle` |
/// | `Waiting` | withdraw | `Idle` |
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// Wants nothing.
    #[default]
    Idle,
    /// Has asked to enter.
    Waiting,
    /// Is in the critical section.
    Inside,
}
impl Phase {
    /// The user asks.
    ///
    /// # Errors
    /// Unless idle.
    #[inline]
    pub fn request(&mut self) -> Result<(), Refused> {
        match self {
            Self::Idle => *self = Self::Waiting,
            Self::Waiting => return Err(Refused("it has asked already")),
            Self::Inside => return Err(Refused("it is inside")),
        }
        Ok(())
    }

    /// The user enters.
    #[inline]
    pub fn enter<M>(&mut self, out: &mut Outbox<M>) {
        debug_assert_eq!(*self, Self::Waiting, "only a waiting user enters");
        *self = Self::Inside;
        out.enter();
    }

    /// The user leaves.
    ///
    /// # Errors
    /// Unless inside.
    #[inline]
    pub fn release(&mut self) -> Result<(), Refused> {
        if *self != Self::Inside {
            return Err(Refused("it is not inside"));
        }
        *self = Self::Idle;
        Ok(())
    }

    /// The user takes its request back.
    ///
    /// # Errors
    /// Unless waiting.
    #[inline]
    pub fn withdraw(&mut self) -> Result<(), Refused> {
        if *self != Self::Waiting {
            return Err(Refused("it does not wait"));
        }
        *self = Self::Idle;
        Ok(())
    }

    /// Whether it is idle.
    #[inline]
    pub fn is_idle(self) -> bool {
        self == Self::Idle
    }

    /// Whether it waits.
    #[inline]
    pub fn is_waiting(self) -> bool {
        self == Self::Waiting
    }

    /// Whether it is inside.
    #[inline]
    pub fn is_inside(self) -> bool {
        self == Self::Inside
    }
}
