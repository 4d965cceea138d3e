//! Makes a trace of what a checker found: to read, to draw, and to replay.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::Path;

use super::model::Check;
use super::state::{Action, State};
use crate::message::run::scribe::Scribe;
use crate::message::{Input, NodeId, Outbox, Output, Protocol, Time, Trace, step};

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
    };
    for node in NodeId::all(writer.nodes.len()) {
        writer.write(Time::default(), node, Input::Start, 0);
    }
    for (index, action) in path.into_actions().into_iter().enumerate() {
        let time = Time::units((index + 1) as f64);
        match action {
            Action::Request(node) => writer.write(time, node, Input::Request, 0),
            Action::Leave(node) => writer.write(time, node, Input::Release, 0),
            Action::Timeout(node, timer) => writer.write(time, node, Input::Timeout(timer), 0),
            Action::Deliver { from, to, message } => {
                let number = writer.arrive(from, to, &message);
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

    /// The trace ends at a node that refuses its input.
    fn write(&mut self, time: Time, node: NodeId, input: Input<P::Message>, number: u64) {
        let mut out = Outbox::new();
        self.scribe.input(time, node, &input, number);
        let _refused = step(&mut self.nodes[node.index()], input, &mut out);
        for output in out.drain() {
            let number = self.scribe.output(time, node, &output);
            if let Output::Send { to, message } = output {
                self.in_flight.push((number, node, to, message));
            }
        }
    }
}
