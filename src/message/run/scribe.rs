//! Writes a run down as a trace.

use crate::message::{Event, Happening, Input, Message, NodeId, Output, Time, Trace};

/// Writes down the inputs and outputs of nodes. Messages are numbered from 1 in the order in which
/// they are sent.
#[derive(Clone, Default, Debug)]
pub(super) struct Scribe {
    pub(super) trace: Trace,
    sent: u64,
    /// A start. It is written only if it has outputs.
    start: Option<Event>,
}

impl Scribe {
    /// A node gets an input. If it is a message, `number` is that of the message.
    pub(super) fn input<M>(&mut self, time: Time, node: NodeId, input: &Input<M>, number: u64) {
        let event = Event { time, node, happening: Happening::of_input(input, number) };
        if matches!(input, Input::Start) {
            self.start = Some(event);
        } else {
            self.start = None;
            self.trace.events.push(event);
        }
    }

    /// A node makes an output. If it is a message, the result is its number.
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
