//! Where a node's user is: the part of the state that all algorithms share.

use super::{Outbox, Refused};

/// Where the user of a node is.
///
/// | from | by | to |
/// |---|---|---|
/// | `Idle` | request | `Waiting` |
/// | `Waiting` | enter | `Inside` |
/// | `Inside` | release | `Idle` |
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
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
        debug_assert_eq!(*self, Self::Waiting, "only who waits enters");
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
