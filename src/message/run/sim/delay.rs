//! How long messages take, and in which order they arrive.

use std::collections::HashMap;

use crate::message::random::Random;
use crate::message::{Channels, NodeId, Time};

/// How long something takes, in units of T. T is one message delay: choose delays with a mean of 1,
/// and times read as in the papers.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Delay {
    /// Always the same.
    Constant(f64),
    /// Anything between two bounds.
    Uniform(f64, f64),
    /// Exponentially distributed (memoryless), with this mean. Cut off at [`Delay::LONGEST`] means,
    /// so that there is a bound.
    Exponential(f64),
}

impl Delay {
    /// Exponential delays are at most this many means. Fewer than one in a million would be longer.
    pub const LONGEST: f64 = 16.0;

    /// The longest that it can take.
    pub fn bound(self) -> f64 {
        match self {
            Self::Constant(delay) => delay,
            Self::Uniform(_, longest) => longest,
            Self::Exponential(mean) => mean * Self::LONGEST,
        }
    }

    /// Whether it makes sense: neither negative nor infinite, and at most a million.
    pub(super) fn check(self) -> Result<(), String> {
        let shortest = match self {
            Self::Constant(delay) | Self::Exponential(delay) => delay,
            Self::Uniform(shortest, _) => shortest,
        };
        if shortest >= 0.0 && shortest <= self.bound() && self.bound() <= 1e6 {
            Ok(())
        } else {
            Err(format!("{self:?} is no delay: take 0 to a million, the shorter bound first"))
        }
    }

    fn draw_units(self, random: &mut Random) -> f64 {
        match self {
            Self::Constant(delay) => delay,
            Self::Uniform(shortest, longest) => shortest + (longest - shortest) * random.fraction(),
            Self::Exponential(mean) => random.exponential(mean).min(self.bound()),
        }
    }
}

/// A delay to draw ticks from. A constant one is turned into ticks once, not for each message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ticks {
    Always(u64),
    Drawn(Delay),
}

impl From<Delay> for Ticks {
    fn from(delay: Delay) -> Self {
        match delay {
            Delay::Constant(units) => Self::Always(Time::units(units).0),
            delay => Self::Drawn(delay),
        }
    }
}

impl Ticks {
    #[inline]
    pub(super) fn draw(self, random: &mut Random) -> u64 {
        match self {
            Self::Always(ticks) => ticks,
            Self::Drawn(delay) => Time::units(delay.draw_units(random)).0,
        }
    }
}

/// When messages arrive.
#[derive(Debug)]
pub(super) struct Transit {
    delay: Ticks,
    /// When the last message arrives, for each pair of nodes. None if messages may overtake each
    /// other, or if a constant delay keeps them in order.
    arrivals: Option<HashMap<(NodeId, NodeId), Time>>,
}

impl Transit {
    pub(super) fn new(delay: Delay, channels: Channels) -> Self {
        let may_overtake = !matches!(delay, Delay::Constant(_));
        let keep_order = channels == Channels::Fifo && may_overtake;
        Self { delay: delay.into(), arrivals: keep_order.then(HashMap::new) }
    }

    /// When a message that is sent now arrives. Messages with equal arrival times arrive in the
    /// order in which they were sent.
    #[inline]
    pub(super) fn arrival(
        &mut self,
        now: Time,
        from: NodeId,
        to: NodeId,
        random: &mut Random,
    ) -> Time {
        let arrival = now.after(self.delay.draw(random));
        let Some(arrivals) = &mut self.arrivals else { return arrival };
        let last = arrivals.entry((from, to)).or_default();
        *last = arrival.max(*last);
        *last
    }
}
