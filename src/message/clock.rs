//! Logical time: Lamport's clock, and the stamps that order requests totally.

use std::fmt;

use super::{NodeId, Refused};

/// Lamport's logical clock: if one event happens before another, it has the smaller time.
///
/// ```
/// use exclusion::message::Clock;
///
/// let (mut here, mut there) = (Clock::default(), Clock::default());
/// let sent = here.tick().unwrap();
/// there.witness(sent);
/// assert!(there.tick().unwrap() > sent);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock(u64);

impl Clock {
    /// A clock that has seen this time.
    pub fn at(time: u64) -> Self {
        Self(time)
    }

    /// The next time: larger than any that this clock gave or saw.
    ///
    /// # Errors
    /// At the limit of 64 bits, where no time is larger.
    #[inline]
    pub fn tick(&mut self) -> Result<u64, Refused> {
        self.0 = self.0.checked_add(1).ok_or(Refused("the logical clock is at its limit"))?;
        Ok(self.0)
    }

    /// Refuses if there is no next time.
    ///
    /// # Errors
    /// At the limit of 64 bits.
    #[inline]
    pub fn check_next(&self) -> Result<(), Refused> {
        let mut next = *self;
        next.tick().map(|_| ())
    }

    /// The latest time that it gave or saw.
    #[inline]
    pub fn now(&self) -> u64 {
        self.0
    }

    /// Sees a time that came with a message.
    #[inline]
    pub fn witness(&mut self, time: u64) {
        self.0 = self.0.max(time);
    }
}

/// The timestamp of a request: when it was made, and by which node. The smaller stamp is older and
/// has priority.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stamp {
    /// The logical time.
    pub time: u64,
    /// The node that asked. It breaks ties, so that no two requests are equal.
    pub node: NodeId,
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.time, self.node)
    }
}
