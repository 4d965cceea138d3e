//! The report of a run.

use std::fmt;

use crate::message::{Time, Trace, Traffic};

/// The smallest, the mean and the largest of some numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} to {:.2}, {:.2} on average", self.min, self.max, self.mean)
    }
}

/// A [`Spread`] in the making. Weights count for the mean only.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sample {
    range: Option<(f64, f64)>,
    sum: f64,
    weight: f64,
}

impl Sample {
    #[inline]
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
        self.sum += value * weight;
        self.weight += weight;
    }

    pub(super) fn spread(&self) -> Option<Spread> {
        self.range.map(|(min, max)| Spread { min, mean: self.sum / self.weight, max })
    }
}

/// What a simulation measured.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Report {
    /// How many entries there were, also of requests that nobody wanted any more.
    pub entries: u64,
    /// The messages, by kind.
    pub messages: Traffic,
    /// Messages per entry. The smallest and the largest are those of an episode: the messages
    /// between two moments of silence, divided by the entries between them. If one user is alone,
    /// each of its entries is an episode. If the cluster is never silent, the whole run is one.
    pub per_entry: Option<Spread>,
    /// From wanting in to entering, in units of T. A user can want in again before it has left;
    /// then its next wait begins at that moment.
    pub client_delay: Option<Spread>,
    /// From an exit while others wait to the entry that takes its place, in units of T.
    pub sync_delay: Option<Spread>,
    /// The most users that asked later than a waiter and entered before it. Counted for up to
    /// [`Report::COUNTED`] nodes.
    pub bypass: Option<u64>,
    /// How many users gave up, where their [patience](super::Simulation::patience) is bounded.
    pub given_up: u64,
    /// How many of these took their requests back. The requests of the others stood.
    pub withdrawn: u64,
    /// The most that were inside at a time.
    pub most_inside: usize,
    /// How many messages each node sent or received.
    pub load: Vec<u64>,
    /// How many events there were: messages delivered, timers run out, users arrived and left.
    pub events: u64,
    /// When it was over.
    pub end: Time,
    /// Every event, if it was [asked for](super::Simulation::traced).
    pub trace: Option<Trace>,
}

impl Report {
    /// Up to how many nodes the bypass is counted. With more, counting would take longer than the
    /// simulation.
    pub const COUNTED: usize = 4096;
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spread = |spread: &Option<Spread>| {
            spread.as_ref().map_or_else(|| "none".to_owned(), Spread::to_string)
        };
        writeln!(f, "entries                {}", self.entries)?;
        writeln!(f, "messages               {} ({})", self.messages.total(), self.messages)?;
        writeln!(f, "messages per entry     {}", spread(&self.per_entry))?;
        writeln!(f, "client delay           {}", spread(&self.client_delay))?;
        writeln!(f, "synchronization delay  {}", spread(&self.sync_delay))?;
        if let Some(bypass) = self.bypass {
            writeln!(f, "bypass                 {bypass} at most")?;
        }
        if self.given_up > 0 {
            writeln!(f, "gave up                {}, {} withdrew", self.given_up, self.withdrawn)?;
        }
        writeln!(f, "inside                 {} at most", self.most_inside)?;
        writeln!(f, "time                   {}", self.end)
    }
}
