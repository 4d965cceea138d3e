//! What can go wrong in a simulation.

use std::error::Error;
use std::fmt;

use crate::message::{NodeId, Time, Trace, Unexpected};

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
pub enum SimCause {
    /// A setting that makes no sense.
    Setting(String),
    /// More are inside than may be.
    NotExclusive(Vec<NodeId>),
    /// A node let its user in who had not asked.
    NotAsked(NodeId),
    /// Nothing more will happen, but these wait.
    Stalled(Vec<NodeId>),
    /// A node refused an input.
    Unexpected(Unexpected),
    /// A node sent a message to one that does not exist.
    NoSuchNode {
        /// Who sent it.
        from: NodeId,
        /// To whom.
        to: NodeId,
    },
    /// The check after each step found this.
    Check(String),
    /// It takes too many events.
    TooManyEvents(u64),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let SimCause::Setting(setting) = &self.cause {
            return f.write_str(setting);
        }
        write!(f, "at {}: ", self.time)?;
        match &self.cause {
            SimCause::Setting(setting) | SimCause::Check(setting) => f.write_str(setting),
            SimCause::NotExclusive(inside) => write!(f, "{inside:?} are inside together"),
            SimCause::NotAsked(node) => write!(f, "{node} let its user in, who had not asked"),
            SimCause::Stalled(waiting) => {
                write!(f, "{waiting:?} wait, and nothing is on the way: a deadlock")
            }
            SimCause::Unexpected(unexpected) => unexpected.fmt(f),
            SimCause::NoSuchNode { from, to } => {
                write!(f, "{from} sent a message to {to}, which does not exist")
            }
            SimCause::TooManyEvents(events) => {
                write!(f, "not done after {events} events: raise the limit, or look for a loop")
            }
        }
    }
}

impl Error for SimError {}
