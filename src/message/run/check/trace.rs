//! What a checker found, as a trace: to read, to draw, and to replay.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::{Model, Path};

use super::model::Check;
use super::state::{Action, State};
use crate::message::{
    Event, Happening, Input, Message, NodeId, Outbox, Protocol, Time, Trace, step,
};

/// The trace of what a checker found, one unit of time a step.
pub fn trace_of<P>(check: &Check<P>, path: Path<State<P>, Action<P::Message>>) -> Trace
where
    P: Protocol,
    Action<P::Message>: PartialEq + Debug,
    State<P>: Debug + Hash + PartialEq,
{
    let mut writer = Writer {
        nodes: check.cluster().to_vec(),
        trace: Trace::default(),
        on_the_way: Vec::new(),
        sent: 0,
    };
    for node in NodeId::all(writer.nodes.len()) {
        writer.write(Time::default(), node, Happening::Starts, Input::Start);
    }
    debug_assert_eq!(check.init_states().len(), 1, "a cluster has one beginning");
    for (index, action) in path.into_actions().into_iter().enumerate() {
        let time = Time::units((index + 1) as f64);
        let (node, happening, input) = match action {
            Action::Request(node) => (node, Happening::Requests, Input::Request),
            Action::Leave(node) => (node, Happening::Leaves, Input::Release),
            Action::Timeout(node, timer) => {
                (node, Happening::TimesOut(timer), Input::Timeout(timer))
            }
            Action::Deliver { from, to, message } => {
                let number = writer.arrive(from, to, &message);
                let happening = Happening::Receives { from, message: number };
                (to, happening, Input::Receive { from, message })
            }
        };
        writer.write(time, node, happening, input);
    }
    writer.trace
}

struct Writer<P: Protocol> {
    nodes: Vec<P>,
    trace: Trace,
    on_the_way: Vec<(u64, NodeId, NodeId, P::Message)>,
    sent: u64,
}

impl<P: Protocol> Writer<P> {
    /// The number of the first such message.
    fn arrive(&mut self, from: NodeId, to: NodeId, message: &P::Message) -> u64 {
        let is_it = |(_, sender, receiver, it): &(u64, NodeId, NodeId, P::Message)| {
            (*sender, *receiver, it) == (from, to, message)
        };
        let position = self.on_the_way.iter().position(is_it).expect("what arrives was sent");
        self.on_the_way.remove(position).0
    }

    fn write(&mut self, time: Time, node: NodeId, happening: Happening, input: Input<P::Message>) {
        let mut out = Outbox::new(node);
        let starts = happening == Happening::Starts;
        // A node that refuses is where the trace ends.
        let outcome = step(&mut self.nodes[node.index()], input, &mut out);
        if starts && out.is_empty() {
            return;
        }
        self.note(time, node, happening);
        if outcome.is_err() {
            return;
        }
        for (to, message) in out.sent() {
            self.sent += 1;
            let (kind, text) = (message.kind().to_owned(), format!("{message:?}"));
            self.note(time, node, Happening::Sends { to, message: self.sent, kind, text });
            self.on_the_way.push((self.sent, node, to, message));
        }
        for (timer, periods) in out.timers() {
            self.note(time, node, Happening::SetsTimer { timer, periods });
        }
        if out.take_entry() {
            self.note(time, node, Happening::Enters);
        }
    }

    fn note(&mut self, time: Time, node: NodeId, happening: Happening) {
        self.trace.events.push(Event { time, node, happening });
    }
}
