//! Makes a trace of what a checker found: to read, to draw, and to replay.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use stateright::Path;

use super::model::Check;
use super::state::{Action, State};
use crate::message::run::scribe::Scribe;
use crate::message::{
    Happening, Input, NodeId, NodeSet, Notice, Outbox, Output, Protocol, Time, Trace, step,
};

/// The trace of what a checker found, one unit of time per step.
pub fn trace_of<P>(check: &Check<P>, path: Path<State<P>, Action<P::Message>>) -> Trace
where
    P: Protocol,
    Action<P::Message>: PartialEq + Debug,
    State<P>: Debug + Hash + PartialEq,
{
    let mut writer = Writer {
        nodes: check.cluster().to_vec(),
        scribe: Scribe::default(),
        in_flight: Vec::new(),
        down: NodeSet::empty(check.cluster().len()),
        told: HashSet::new(),
        ignores_refused: check.faults.ignores_refused,
    };
    if check.faults.cut.as_ref().is_some_and(|cut| !cut.begins) {
        writer.cut(Time::default(), check);
    }
    for node in NodeId::all(writer.nodes.len()) {
        writer.write(Time::default(), node, Input::Start, 0);
    }
    for (index, action) in path.into_actions().into_iter().enumerate() {
        let time = Time::units((index + 1) as f64);
        match action {
            Action::Request(node) => writer.write(time, node, Input::Request, 0),
            Action::Leave(node) => writer.write(time, node, Input::Release, 0),
            Action::Withdraw(node) => writer.write(time, node, Input::Withdraw, 0),
            Action::Timeout(node, timer) => writer.write(time, node, Input::Timeout(timer), 0),
            Action::Elect(node) => writer.write(time, node, Input::Elect, 0),
            Action::Recover(node) => {
                writer.down.remove(node);
                writer.write(time, node, Input::Notice(Notice::Recovered), 0);
            }
            Action::Notify { observer, node } => {
                let is_news = writer.told.insert((observer, node));
                let notice = if is_news { Notice::Down(node) } else { Notice::Up(node) };
                if !is_news {
                    writer.told.remove(&(observer, node));
                }
                writer.write(time, observer, Input::Notice(notice), 0);
            }
            Action::Crash(node) => {
                writer.down.insert(node);
                writer.told.retain(|(observer, _)| *observer != node);
                writer.scribe.trace.note(time, node, Happening::Crashes);
            }
            Action::Suspect { observer, node } => {
                writer.told.insert((observer, node));
                writer.write(time, observer, Input::Notice(Notice::Down(node)), 0);
            }
            Action::Cut => writer.cut(time, check),
            Action::Heal => writer.heal(time, check),
            Action::Tick => {}
            Action::Lose { from, to, message } => writer.miss(time, from, to, &message),
            // It is lost.
            Action::Deliver { from, to, message } if writer.down.contains(to) => {
                writer.miss(time, from, to, &message);
            }
            Action::Deliver { from, to, message } => {
                let number = writer.arrive(from, to, &message);
                writer.write(time, to, Input::Receive { from, message }, number);
            }
            Action::Double { from, to, message } => {
                let number = writer.arrive(from, to, &message);
                writer.scribe.trace.note(time, to, Happening::Doubles { from, message: number });
                writer.in_flight.insert(0, (number, from, to, message.clone()));
                writer.write(time, to, Input::Receive { from, message }, number);
            }
        }
    }
    writer.scribe.trace
}

struct Writer<P: Protocol> {
    nodes: Vec<P>,
    scribe: Scribe,
    in_flight: Vec<(u64, NodeId, NodeId, P::Message)>,
    down: NodeSet,
    /// Who was told that who is down.
    told: HashSet<(NodeId, NodeId)>,
    ignores_refused: bool,
}

impl<P: Protocol> Writer<P> {
    /// The number of the first such message.
    fn arrive(&mut self, from: NodeId, to: NodeId, message: &P::Message) -> u64 {
        let is_it = |(_, sender, receiver, it): &(u64, NodeId, NodeId, P::Message)| {
            (*sender, *receiver, it) == (from, to, message)
        };
        let position = self.in_flight.iter().position(is_it).expect("what arrives was sent");
        self.in_flight.remove(position).0
    }

    /// A message is lost.
    fn miss(&mut self, time: Time, from: NodeId, to: NodeId, message: &P::Message) {
        let number = self.arrive(from, to, message);
        self.scribe.trace.note(time, to, Happening::Misses { from, message: number });
    }

    fn cut(&mut self, time: Time, check: &Check<P>) {
        for node in NodeId::all(self.nodes.len()) {
            let others = check.beyond_the_cut(node);
            if !others.is_empty() {
                self.scribe.trace.note(time, node, Happening::CutOff(others));
            }
        }
    }

    fn heal(&mut self, time: Time, check: &Check<P>) {
        for node in NodeId::all(self.nodes.len()) {
            if !check.beyond_the_cut(node).is_empty() {
                self.scribe.trace.note(time, node, Happening::Rejoins);
            }
        }
    }

    /// The trace ends at a node that refuses its input; or the message is written down as lost.
    fn write(&mut self, time: Time, node: NodeId, input: Input<P::Message>, number: u64) {
        let mut out = Outbox::new();
        self.scribe.input(time, node, &input, number);
        let from = if let Input::Receive { from, .. } = input { Some(from) } else { None };
        let refused = step(&mut self.nodes[node.index()], input, &mut out).is_err();
        if let Some(from) = from.filter(|_| refused && self.ignores_refused) {
            self.scribe.trace.events.pop();
            self.scribe.trace.note(time, node, Happening::Misses { from, message: number });
        }
        for output in out.drain() {
            let number = self.scribe.output(time, node, &output);
            if let Output::Send { to, message } = output {
                self.in_flight.push((number, node, to, message));
            }
        }
    }
}
