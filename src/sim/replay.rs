//! Runs a trace again, and checks that it happens as it is written.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::protocol::{
    Event, Happening, Input, Message, NodeId, Outbox, Protocol, Trace, Unexpected, step,
};

/// Where a replay departs from its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// The trace names a node that the cluster does not have.
    UnknownNode(NodeId),
    /// A message that was not sent, or has been received already, or goes elsewhere.
    NotSent(String),
    /// A node refuses what the trace gives it.
    Unexpected(Unexpected),
    /// The trace says one thing, the nodes do another.
    Departs {
        /// What the trace says.
        written: Option<String>,
        /// What the node does.
        done: Option<String>,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(node) => {
                write!(f, "the cluster has no {node}: replay the trace's own")
            }
            Self::NotSent(event) => write!(f, "'{event}', but there is no such message on the way"),
            Self::Unexpected(unexpected) => unexpected.fmt(f),
            Self::Departs { written: Some(written), done: Some(done) } => {
                write!(f, "'{written}' is written, but '{done}' happens")
            }
            Self::Departs { written: Some(written), done: None } => {
                write!(f, "'{written}' is written, but nothing happens")
            }
            Self::Departs { written: None, done } => {
                write!(f, "the trace ends, but '{}' happens", done.as_deref().unwrap_or("nothing"))
            }
        }
    }
}

impl Error for ReplayError {}

/// Gives a fresh cluster the inputs of a trace, in its order, and compares what the nodes do with what is written.
/// Returns the cluster as it is at the end.
///
/// # Errors
/// At the first difference.
pub fn replay<P: Protocol>(mut nodes: Vec<P>, trace: &Trace) -> Result<Vec<P>, ReplayError> {
    // As in the trace: messages are numbered from 1 as they are sent.
    let mut in_flight = HashMap::new();
    let mut sent = 0;
    let mut out = Outbox::new(NodeId(0));
    let mut events = trace.events.iter();
    while let Some(event) = events.next() {
        let node = event.node;
        let input = match event.happening {
            Happening::Requests => Input::Request,
            Happening::Leaves => Input::Release,
            Happening::TimesOut(timer) => Input::Timeout(timer),
            Happening::Receives { from, message } => match in_flight.remove(&message) {
                Some((sender, to, message)) if (sender, to) == (from, node) => {
                    Input::Receive { from, message }
                }
                _ => return Err(ReplayError::NotSent(event.to_string())),
            },
            Happening::Sends { .. } | Happening::Enters | Happening::SetsTimer { .. } => {
                return Err(ReplayError::Departs { written: Some(event.to_string()), done: None });
            }
        };
        let state = nodes.get_mut(node.index()).ok_or(ReplayError::UnknownNode(node))?;
        out.readdress(node);
        step(state, input, &mut out).map_err(ReplayError::Unexpected)?;

        let time = event.time;
        let mut expect = |happening: Happening| {
            let done = Event { time, node, happening };
            match events.next() {
                Some(written) if *written == done => Ok(()),
                written => Err(ReplayError::Departs {
                    written: written.map(Event::to_string),
                    done: Some(done.to_string()),
                }),
            }
        };
        for (to, message) in out.sent() {
            sent += 1;
            expect(Happening::Sends {
                to,
                message: sent,
                kind: message.kind().to_owned(),
                text: format!("{message:?}"),
            })?;
            in_flight.insert(sent, (node, to, message));
        }
        for (timer, periods) in out.timers() {
            expect(Happening::SetsTimer { timer, periods })?;
        }
        if out.take_entry() {
            expect(Happening::Enters)?;
        }
    }
    Ok(nodes)
}
