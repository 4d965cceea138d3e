//! Writing a run down.

use crate::message::{Event, Happening, Input, Message, NodeId, Output, Time, Trace};

/// Writes down what happens to nodes and what they do, and numbers messages from 1 as they are sent.
#[derive(Clone, Default, Debug)]
pub(super) struct Scribe {
    pub(super) trace: Trace,
    sent: u64,
    /// A start, which is worth a line only if it leads to something.
    start: Option<Event>,
}

impl Scribe {
    /// A node gets an input. The number is that of the message, if it is one.
    pub(super) fn input<M>(&mut self, time: Time, node: NodeId, input: &Input<M>, number: u64) {
        let event = Event { time, node, happening: Happening::of_input(input, number) };
        if matches!(input, Input::Start) {
            self.start = Some(event);
        } else {
            self.start = None;
            self.trace.events.push(event);
        }
    }

    /// A node does something. Returns the message's number, if it is one.
    pub(super) fn output<M: Message>(
        &mut self,
        time: Time,
        node: NodeId,
        output: &Output<M>,
    ) -> u64 {
        self.trace.events.extend(self.start.take());
        self.sent += u64::from(matches!(output, Output::Send { .. }));
        self.trace.note(time, node, Happening::of_output(output, self.sent));
        self.sent
    }
}
