//! Runs a trace again, and checks that it happens as it is written.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;

use crate::message::{
    Event, Happening, Input, Message, NodeId, Outbox, Protocol, Timer, Trace, Unexpected, step,
};

/// Where a replay departs from its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// At which event, from 1.
    pub event: usize,
    /// How.
    pub cause: ReplayCause,
}

/// How a replay can depart from its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayCause {
    /// The trace names a node that the cluster does not have, or a node sends to one.
    UnknownNode(NodeId),
    /// A message that was not sent, or has been received already, or goes elsewhere; or a timer that was not set.
    NotOnTheWay(String),
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
        write!(f, "at event {}: ", self.event)?;
        match &self.cause {
            ReplayCause::UnknownNode(node) => {
                write!(f, "there is no {node}: replay a trace with the cluster it is of")
            }
            ReplayCause::NotOnTheWay(event) => {
                write!(f, "'{event}', but nothing such is on the way")
            }
            ReplayCause::Unexpected(unexpected) => unexpected.fmt(f),
            ReplayCause::Departs { written, done } => {
                let or_nothing = |what: &Option<String>| {
                    what.as_ref().map_or_else(|| "nothing".to_owned(), |what| format!("'{what}'"))
                };
                write!(f, "{} is written, but {} happens", or_nothing(written), or_nothing(done))
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
    let mut replay =
        Replay { nodes: &mut nodes, on_the_way: OnTheWay::default(), events: trace.events.iter() };
    while let Some(event) = replay.events.next() {
        replay.step(event).map_err(|cause| ReplayError {
            event: trace.events.len() - replay.events.len(),
            cause,
        })?;
    }
    Ok(nodes)
}

struct Replay<'a, P: Protocol> {
    nodes: &'a mut [P],
    on_the_way: OnTheWay<P::Message>,
    /// What is still to be replayed.
    events: std::slice::Iter<'a, Event>,
}

/// What was sent and set, but has not arrived or run out.
struct OnTheWay<M> {
    /// By number: messages are numbered from 1 as they are sent.
    messages: HashMap<u64, (NodeId, NodeId, M)>,
    sent: u64,
    timers: Vec<(NodeId, Timer)>,
}

impl<M> Default for OnTheWay<M> {
    fn default() -> Self {
        Self { messages: HashMap::new(), sent: 0, timers: Vec::new() }
    }
}

impl<P: Protocol> Replay<'_, P> {
    fn step(&mut self, event: &Event) -> Result<(), ReplayCause> {
        let count = self.nodes.len();
        let known = |node: NodeId| {
            if node.index() < count { Ok(node) } else { Err(ReplayCause::UnknownNode(node)) }
        };
        let node = known(event.node)?;
        let input = self.input(event)?;
        let mut out = Outbox::new(node);
        step(&mut self.nodes[node.index()], input, &mut out).map_err(ReplayCause::Unexpected)?;

        let mut expect = |happening: Happening| {
            let done = Event { time: event.time, node, happening };
            match self.events.next() {
                Some(written) if *written == done => Ok(()),
                written => Err(ReplayCause::Departs {
                    written: written.map(Event::to_string),
                    done: Some(done.to_string()),
                }),
            }
        };
        for (to, message) in out.sent() {
            self.on_the_way.sent += 1;
            expect(Happening::Sends {
                to: known(to)?,
                message: self.on_the_way.sent,
                kind: message.kind().to_owned(),
                text: format!("{message:?}"),
            })?;
            self.on_the_way.messages.insert(self.on_the_way.sent, (node, to, message));
        }
        for (timer, periods) in out.timers() {
            expect(Happening::SetsTimer { timer, periods })?;
            self.on_the_way.timers.push((node, timer));
        }
        if out.take_entry() {
            expect(Happening::Enters)?;
        }
        Ok(())
    }

    /// What the event gives to its node.
    fn input(&mut self, event: &Event) -> Result<Input<P::Message>, ReplayCause> {
        let node = event.node;
        match event.happening {
            Happening::Starts => Ok(Input::Start),
            Happening::Requests => Ok(Input::Request),
            Happening::Leaves => Ok(Input::Release),
            Happening::TimesOut(timer) => {
                let timers = &mut self.on_the_way.timers;
                match timers.iter().position(|set| *set == (node, timer)) {
                    Some(position) => {
                        timers.swap_remove(position);
                        Ok(Input::Timeout(timer))
                    }
                    None => Err(ReplayCause::NotOnTheWay(event.to_string())),
                }
            }
            Happening::Receives { from, message } => {
                match self.on_the_way.messages.remove(&message) {
                    Some((sender, to, message)) if (sender, to) == (from, node) => {
                        Ok(Input::Receive { from, message })
                    }
                    _ => Err(ReplayCause::NotOnTheWay(event.to_string())),
                }
            }
            Happening::Sends { .. } | Happening::Enters | Happening::SetsTimer { .. } => {
                Err(ReplayCause::Departs { written: Some(event.to_string()), done: None })
            }
        }
    }
}
