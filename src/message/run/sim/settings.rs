//! What is set of a simulation, of locks and of elections alike.

use super::{Delay, Workload};
use crate::message::Channels;

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) seed: u64,
    pub(super) delay: Delay,
    pub(super) channels: Channels,
    pub(super) inside: Delay,
    pub(super) outside: Delay,
    pub(super) patience: Option<Delay>,
    pub(super) period: Option<f64>,
    pub(super) workload: Workload,
    pub(super) traced: bool,
    pub(super) most_events: u64,
}

impl Settings {
    /// Each enters once in turn; messages and critical sections take T.
    pub(super) fn new(channels: Channels) -> Self {
        Self {
            seed: 0,
            delay: Delay::Constant(1.0),
            channels,
            inside: Delay::Constant(1.0),
            outside: Delay::Constant(0.0),
            patience: None,
            period: None,
            workload: Workload::InTurn { rounds: 1 },
            traced: false,
            most_events: 1_000_000_000,
        }
    }
}

/// The settings of the network, of the timers and of the run: for a builder that has `settings`.
macro_rules! network_settings {
    () => {
        /// The seed of the random numbers.
        pub fn seed(mut self, seed: u64) -> Self {
            self.settings.seed = seed;
            self
        }

        /// How long a message takes.
        pub fn delay(mut self, delay: Delay) -> Self {
            self.settings.delay = delay;
            self
        }

        /// Whether a message may overtake another between the same nodes.
        pub fn channels(mut self, channels: Channels) -> Self {
            self.settings.channels = channels;
            self
        }

        /// The period of timers, Tmax. By default the [longest](Delay::bound) that a message can
        /// take; less breaks the assumption of protocols with timers.
        pub fn period(mut self, units: f64) -> Self {
            self.settings.period = Some(units);
            self
        }

        /// Keeps every event, for the report or the error.
        pub fn traced(mut self) -> Self {
            self.settings.traced = true;
            self
        }

        /// Gives up after this many events, instead of a thousand million.
        pub fn most_events(mut self, events: u64) -> Self {
            self.settings.most_events = events;
            self
        }
    };
}
