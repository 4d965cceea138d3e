//! Runs a trace again, and checks that it happens as it is written.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use super::scribe::Scribe;
use crate::message::{
    ClusterError, Event, Happening, Input, Machine, NodeId, Outbox, Output, Timer, Trace,
    Violation, step,
};

/// Where a replay departs from its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// At which event, from 1; 0 before the first.
    pub event: usize,
    /// How.
    pub cause: ReplayCause,
}

/// How a replay can depart from its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReplayCause {
    /// These machines are no cluster.
    Cluster(ClusterError),
    /// The trace names a node that the cluster does not have.
    UnknownNode(NodeId),
    /// A message that was not sent, was received before, or was sent to another node; or a timer
    /// that was not set.
    NotInFlight(String),
    /// A violation. For example, a node refuses an input of the trace.
    Violation(Violation),
    /// The nodes do something else than the trace says.
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
            ReplayCause::Cluster(cluster) => cluster.fmt(f),
            ReplayCause::UnknownNode(node) => {
                write!(f, "there is no {node}: replay a trace with the cluster it is of")
            }
            ReplayCause::NotInFlight(event) => {
                write!(f, "'{event}', but nothing such is in flight")
            }
            ReplayCause::Violation(violation) => violation.fmt(f),
            ReplayCause::Departs { written, done } => {
                let or_nothing = |what: &Option<String>| {
                    what.as_ref().map_or_else(|| "nothing".to_owned(), |what| format!("'{what}'"))
                };
                write!(f, "{} is written, but {} happens", or_nothing(written), or_nothing(done))
            }
        }
    }
}

impl Error for ReplayError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            ReplayCause::Cluster(cluster) => cluster.source(),
            ReplayCause::Violation(violation) => violation.source(),
            _ => None,
        }
    }
}

/// Gives a fresh cluster the inputs of a trace, in its order, and compares what the nodes do with
/// what is written. Returns the cluster as it is at the end.
///
/// # Errors
/// If the nodes are no cluster; and at the first difference.
pub fn replay<P: Machine>(nodes: Vec<P>, trace: &Trace) -> Result<Vec<P>, ReplayError> {
    replay_watched(nodes, trace, |_| {})
}

/// What a replay has come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed<'a, P> {
    /// Which events of the trace the last step was: an input with its outputs, or something that
    /// befell a node. None before the first.
    pub events: Range<usize>,
    /// The nodes after that step.
    pub nodes: &'a [P],
}

/// Like [`replay`], and shows the nodes to `watch` before the first step and after each one.
///
/// ```
/// use exclusion::message::sim::{Simulation, Workload};
/// use exclusion::message::{NodeId, Protocol, TokenRing, replay_watched};
///
/// let ring = TokenRing::cluster(3)?;
/// let wanted = Workload::Script(vec![(0.5, NodeId(2))]);
/// let run = Simulation::new(ring.clone()).workload(wanted).traced().run()?;
/// let mut phases = Vec::new();
/// replay_watched(ring, &run.trace.unwrap(), |at| phases.push(at.nodes[2].phase()))?;
/// phases.dedup();
/// assert_eq!(format!("{phases:?}"), "[Idle, Waiting, Inside, Idle]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the nodes are no cluster; and at the first difference. What is seen before that was as it is
/// written.
pub fn replay_watched<P: Machine>(
    mut nodes: Vec<P>,
    trace: &Trace,
    mut watch: impl FnMut(Replayed<'_, P>),
) -> Result<Vec<P>, ReplayError> {
    ClusterError::check_places(&nodes)
        .map_err(|error| ReplayError { event: 0, cause: ReplayCause::Cluster(error) })?;
    let mut replay = Replay {
        nodes: &mut nodes,
        in_flight: InFlight { messages: HashMap::new(), timers: Vec::new() },
        scribe: Scribe::default(),
        events: trace.events.iter(),
    };
    replay.start_silently(trace).map_err(|cause| ReplayError { event: 0, cause })?;
    watch(Replayed { events: 0..0, nodes: replay.nodes });
    let mut begun = 0;
    while let Some(event) = replay.events.next() {
        let outcome = replay.step(event);
        let done = trace.events.len() - replay.events.len();
        outcome.map_err(|cause| ReplayError { event: done, cause })?;
        watch(Replayed { events: begun..done, nodes: replay.nodes });
        begun = done;
    }
    Ok(nodes)
}

struct Replay<'a, P: Machine> {
    nodes: &'a mut [P],
    in_flight: InFlight<P::Message>,
    scribe: Scribe,
    /// What is still to be replayed.
    events: std::slice::Iter<'a, Event>,
}

/// The messages that have not arrived, and the timers that have not run out.
struct InFlight<M> {
    /// By number: sender, receiver, message, and how many times it can still arrive.
    messages: HashMap<u64, (NodeId, NodeId, M, usize)>,
    timers: Vec<(NodeId, Timer)>,
}

impl<M: Clone> InFlight<M> {
    /// How many times a message can still arrive, if it is in flight.
    fn copies(&mut self, from: NodeId, to: NodeId, number: u64) -> Option<&mut usize> {
        let sent = self.messages.get_mut(&number)?;
        ((sent.0, sent.1) == (from, to)).then_some(&mut sent.3)
    }

    /// Takes a message, or a copy of it, if it is in flight.
    fn take(&mut self, from: NodeId, to: NodeId, number: u64) -> Option<M> {
        let copies = self.copies(from, to, number)?;
        *copies -= 1;
        if *copies == 0 {
            return self.messages.remove(&number).map(|(_, _, message, _)| message);
        }
        self.messages.get(&number).map(|(_, _, message, _)| message.clone())
    }
}

fn not_in_flight(event: &Event) -> ReplayCause {
    ReplayCause::NotInFlight(event.to_string())
}

impl<P: Machine> Replay<'_, P> {
    /// Starts the nodes whose start has no outputs. The trace does not mention those.
    fn start_silently(&mut self, trace: &Trace) -> Result<(), ReplayCause> {
        let starts = |event: &&Event| event.happening == Happening::Starts;
        let written: Vec<_> = trace.events.iter().filter(starts).map(|event| event.node).collect();
        for machine in self.nodes.iter_mut().filter(|machine| !written.contains(&machine.id())) {
            let mut out = Outbox::new();
            step(machine, Input::Start, &mut out).map_err(ReplayCause::Violation)?;
            if !out.is_empty() {
                let done = Some(format!("{} starts", machine.id()));
                return Err(ReplayCause::Departs { written: None, done });
            }
        }
        Ok(())
    }

    fn step(&mut self, event: &Event) -> Result<(), ReplayCause> {
        let node = event.node;
        if node.index() >= self.nodes.len() {
            return Err(ReplayCause::UnknownNode(node));
        }
        if self.befalls(event)? {
            return Ok(());
        }
        let input = self.input(event)?;
        let machine = &mut self.nodes[node.index()];
        let mut out = Outbox::new();
        step(machine, input, &mut out).map_err(ReplayCause::Violation)?;
        for output in out.drain() {
            let number = self.scribe.output(event.time, node, &output);
            let done = self.scribe.trace.events.pop();
            let written = self.events.next();
            if written != done.as_ref() {
                return Err(ReplayCause::Departs {
                    written: written.map(Event::to_string),
                    done: done.as_ref().map(Event::to_string),
                });
            }
            match output {
                Output::Send { to, message } => {
                    self.in_flight.messages.insert(number, (node, to, message, 1));
                }
                Output::SetTimer { timer, .. } => self.in_flight.timers.push((node, timer)),
                Output::Enter | Output::Leader(_) => {}
            }
        }
        Ok(())
    }

    /// Notes what befalls a node or a channel, if that is what the event says. The node itself
    /// takes no step.
    fn befalls(&mut self, event: &Event) -> Result<bool, ReplayCause> {
        let node = event.node;
        match event.happening {
            // What it has sent is still in flight.
            Happening::Crashes => self.in_flight.timers.retain(|(of, _)| *of != node),
            Happening::Misses { from, message } => {
                self.in_flight.take(from, node, message).ok_or_else(|| not_in_flight(event))?;
            }
            Happening::Doubles { from, message } => {
                let copies = self.in_flight.copies(from, node, message);
                *copies.ok_or_else(|| not_in_flight(event))? += 1;
            }
            Happening::CutOff(_) | Happening::Rejoins | Happening::Pauses | Happening::Resumes => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What the event gives to its node.
    fn input(&mut self, event: &Event) -> Result<Input<P::Message>, ReplayCause> {
        let node = event.node;
        match event.happening {
            Happening::Starts => Ok(Input::Start),
            Happening::Calls => Ok(Input::Elect),
            Happening::Requests => Ok(Input::Request),
            Happening::Leaves => Ok(Input::Release),
            Happening::Withdraws => Ok(Input::Withdraw),
            Happening::Learns(notice) => Ok(Input::Notice(notice)),
            Happening::TimesOut(timer) => {
                let timers = &mut self.in_flight.timers;
                let set = timers.iter().position(|set| *set == (node, timer));
                timers.swap_remove(set.ok_or_else(|| not_in_flight(event))?);
                Ok(Input::Timeout(timer))
            }
            Happening::Receives { from, message } => {
                let taken = self.in_flight.take(from, node, message);
                let message = taken.ok_or_else(|| not_in_flight(event))?;
                Ok(Input::Receive { from, message })
            }
            Happening::Sends { .. }
            | Happening::Enters
            | Happening::SetsTimer { .. }
            | Happening::Settles(_)
            | Happening::Crashes
            | Happening::Misses { .. }
            | Happening::Doubles { .. }
            | Happening::CutOff(_)
            | Happening::Rejoins
            | Happening::Pauses
            | Happening::Resumes => {
                Err(ReplayCause::Departs { written: Some(event.to_string()), done: None })
            }
        }
    }
}
