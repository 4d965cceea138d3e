//! A node's thread: it takes what comes to its inbox, and watches its timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use super::cluster::Shared;
use super::post::Mail;
use crate::lock::sync::threads::{Receiver, receive_until};
use crate::message::random::Random;
use crate::message::{Input, NodeId, Protocol, Timer};

/// Runs a node until it is told to stop, or something is wrong.
pub(super) fn serve<P: Protocol, T>(shared: &Shared<P, T>, me: NodeId) {
    let inbox = shared.receivers[me.index()].lock().expect("nobody else locks it");
    let mut timers = BinaryHeap::new();
    let mut inbox = Inbox::new(&inbox, shared.shuffle.map(|seed| seed ^ u64::from(me.0)));
    loop {
        let due = timers.peek().map(|Reverse((due, ..)): &Reverse<(Instant, _, Timer)>| *due);
        // A timer that is due goes before the inbox. Otherwise a busy node would never see its
        // timers.
        let mail =
            if due.is_some_and(|due| due <= Instant::now()) { None } else { inbox.next(due) };
        let (resource, input, number) = match mail {
            Some(Mail::Message { resource, from, message, number }) => {
                (resource, Input::Receive { from, message }, number)
            }
            Some(Mail::Timer { resource, timer, due }) => {
                timers.push(Reverse((due, resource, timer)));
                continue;
            }
            Some(Mail::Stop) => return,
            None => {
                let Some(Reverse((_, resource, timer))) = timers.pop() else { return };
                (resource, Input::Timeout(timer), 0)
            }
        };
        if shared.step(resource, me, input, number).is_err() {
            return;
        }
    }
}

/// Mail as it comes; or shuffled, as channels without order would deliver it.
struct Inbox<'a, M> {
    inbox: &'a Receiver<Mail<M>>,
    shuffle: Option<Random>,
    /// What has come but is not delivered, when shuffling.
    pile: Vec<Mail<M>>,
}

impl<'a, M> Inbox<'a, M> {
    fn new(inbox: &'a Receiver<Mail<M>>, shuffle: Option<u64>) -> Self {
        Self { inbox, shuffle: shuffle.map(Random::new), pile: Vec::new() }
    }

    /// The next mail; none if the time is up first.
    fn next(&mut self, due: Option<Instant>) -> Option<Mail<M>> {
        let Some(random) = &mut self.shuffle else { return receive(self.inbox, due) };
        if self.pile.is_empty() {
            self.pile.push(receive(self.inbox, due)?);
        }
        self.pile.extend(std::iter::from_fn(|| self.inbox.try_recv().ok()));
        let message = |mail: &Mail<M>| matches!(mail, Mail::Message { .. });
        // Only messages are shuffled, not timers and the stop.
        let own = self.pile.iter().position(|mail| !message(mail));
        let chosen = own.unwrap_or_else(|| random.below(self.pile.len()));
        Some(self.pile.swap_remove(chosen))
    }
}

fn receive<M>(inbox: &Receiver<Mail<M>>, due: Option<Instant>) -> Option<Mail<M>> {
    match due {
        None => inbox.recv().ok(),
        Some(due) => receive_until(inbox, due),
    }
}
