//! What can go wrong in a simulation.

use std::error::Error;
use std::fmt;

use crate::message::{ClusterError, Time, Trace, Violation};

/// Why a simulation ended before its end.
#[derive(Clone, PartialEq, Debug)]
pub struct SimError {
    /// When.
    pub time: Time,
    /// Why.
    pub cause: SimCause,
    /// Every event before, if it was [asked for](super::Simulation::traced).
    pub trace: Option<Trace>,
}

/// What can end a simulation.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum SimCause {
    /// A setting that makes no sense.
    Setting(String),
    /// These machines are no cluster.
    Cluster(ClusterError),
    /// A violation happened.
    Violation(Violation),
    /// The check after each step found this.
    Check(String),
    /// It takes too many events.
    TooManyEvents(u64),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An error before the first event has no time.
        if !matches!(self.cause, SimCause::Setting(_) | SimCause::Cluster(_)) {
            write!(f, "at {}: ", self.time)?;
        }
        match &self.cause {
            SimCause::Setting(wrong) | SimCause::Check(wrong) => f.write_str(wrong),
            SimCause::Cluster(cluster) => cluster.fmt(f),
            SimCause::Violation(violation) => violation.fmt(f),
            SimCause::TooManyEvents(events) => {
                write!(f, "not done after {events} events: raise the limit, or look for a loop")
            }
        }
    }
}

impl Error for SimError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            SimCause::Cluster(cluster) => cluster.source(),
            SimCause::Violation(violation) => violation.source(),
            _ => None,
        }
    }
}
