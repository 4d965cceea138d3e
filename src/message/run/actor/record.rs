//! What the actors of a cluster do, written down as it happens.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::message::run::scribe::Scribe;
use crate::message::{Happening, Input, Message, NodeId, Output, Time, Trace};

/// The trace of a resource. Times are in microseconds since it began.
pub(super) struct Record {
    began: Instant,
    scribe: Mutex<Scribe>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), scribe: Mutex::default() }
    }

    /// A node takes a step. The step is atomic, so nobody else writes until all of it is written.
    pub(super) fn begin<M>(&self, node: NodeId, input: &Input<M>, number: u64) -> Step<'_> {
        let mut scribe = self.scribe();
        let time = Time::units(self.began.elapsed().as_secs_f64() * 1e6);
        scribe.input(time, node, input, number);
        Step { scribe, time, node }
    }

    /// Something befalls a node.
    pub(super) fn note(&self, node: NodeId, happening: Happening) {
        let mut scribe = self.scribe();
        let time = Time::units(self.began.elapsed().as_secs_f64() * 1e6);
        scribe.trace.note(time, node, happening);
    }

    /// What has been written so far.
    pub(super) fn trace(&self) -> Trace {
        self.scribe().trace.clone()
    }

    fn scribe(&self) -> MutexGuard<'_, Scribe> {
        self.scribe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A step that is being written down.
pub(super) struct Step<'a> {
    scribe: MutexGuard<'a, Scribe>,
    time: Time,
    node: NodeId,
}

impl Step<'_> {
    /// The node makes an output. If it is a message, the result is its number.
    pub(super) fn output<M: Message>(&mut self, output: &Output<M>) -> u64 {
        self.scribe.output(self.time, self.node, output)
    }
}
