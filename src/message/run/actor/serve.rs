//! A node's thread: it takes what comes to its inbox, and watches its timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use super::cluster::Shared;
use super::error::IsDown;
use super::post::{Mail, Order};
use crate::lock::sync::threads::{Receiver, receive_until};
use crate::message::random::Random;
use crate::message::{Input, NodeId, NodeSet, Notice, Protocol, Timer};

/// Runs a node until it is told to stop, or something is wrong.
pub(super) fn serve<P: Protocol, T>(shared: &Shared<P, T>, me: NodeId) {
    let inbox = shared.receivers[me.index()].lock().expect("nobody else locks it");
    let mut inbox = Inbox::new(&inbox, shared.shuffle.map(|seed| seed ^ u64::from(me.0)));
    let mut node =
        Serving { shared, me, timers: BinaryHeap::new(), life: Life::new(shared.inboxes.len()) };
    loop {
        let due = node.timers.peek().map(|Reverse((due, ..))| *due);
        // A timer that is due goes before the inbox. Otherwise a busy node would never see its
        // timers.
        let mail =
            if due.is_some_and(|due| due <= Instant::now()) { None } else { inbox.next(due) };
        let goes_on = match mail {
            Some(Mail::Message { resource, from, message, number }) => {
                node.receive(resource, from, message, number)
            }
            Some(Mail::Timer { resource, timer, due, life }) => {
                if life == node.life.number {
                    node.timers.push(Reverse((due, resource, timer)));
                }
                Ok(())
            }
            Some(Mail::Order(order)) => node.obey(order),
            Some(Mail::Fate { node: other, is_down }) => node.learn(other, is_down),
            Some(Mail::Stop) => return,
            None => {
                let Some(Reverse((_, resource, timer))) = node.timers.pop() else { return };
                shared.step(resource, me, Input::Timeout(timer), 0)
            }
        };
        if goes_on.is_err() {
            return;
        }
    }
}

/// A node, as its thread sees it.
struct Serving<'a, P: Protocol, T> {
    shared: &'a Shared<P, T>,
    me: NodeId,
    timers: BinaryHeap<Reverse<(Instant, usize, Timer)>>,
    life: Life,
}

/// Whether the node is down, how often it was, and of whom it was told that it is.
struct Life {
    number: u32,
    is_down: bool,
    told: NodeSet,
}

impl Life {
    fn new(nodes: usize) -> Self {
        Self { number: 0, is_down: false, told: NodeSet::empty(nodes) }
    }
}

impl<P: Protocol, T> Serving<'_, P, T> {
    #[inline]
    fn receive(
        &mut self,
        resource: usize,
        from: NodeId,
        message: P::Message,
        number: u64,
    ) -> Result<(), IsDown> {
        if self.life.is_down || self.shared.reach.is_cut(from, self.me) {
            return Ok(());
        }
        // Whoever was told that the sender is down hears first that it is up.
        if self.life.told.contains(from) {
            self.learn(from, false)?;
        }
        self.shared.step(resource, self.me, Input::Receive { from, message }, number)
    }

    fn obey(&mut self, order: Order) -> Result<(), IsDown> {
        match (order, self.life.is_down) {
            (Order::Elect, false) => self.give(&Input::Elect),
            (Order::Crash, false) => {
                self.life.is_down = true;
                self.life.told.clear();
                self.timers.clear();
                for resource in &self.shared.resources {
                    self.life.number = resource.posts[self.me.index()].crash();
                    if let Some(record) = &resource.record {
                        record.crash(self.me);
                    }
                }
                // All that it has sent is in the inboxes before this.
                self.shared.reach.set_down(self.me, true);
                self.tell_others(true);
                Ok(())
            }
            (Order::Recover, true) => {
                self.life.is_down = false;
                self.shared.reach.set_down(self.me, false);
                self.tell_others(false);
                // It is told who seems down, after what they have sent before.
                for node in self.me.others(self.shared.inboxes.len()) {
                    if self.shared.reach.seems_down(self.me, node) {
                        let fate = Mail::Fate { node, is_down: true };
                        let _ = self.shared.inboxes[self.me.index()].send(fate);
                    }
                }
                self.give(&Input::Notice(Notice::Recovered))
            }
            (Order::Look, false) => {
                let nodes = self.me.others(self.shared.inboxes.len());
                nodes.into_iter().try_for_each(|node| self.look(node))
            }
            (Order::Elect | Order::Crash | Order::Look, true) | (Order::Recover, false) => Ok(()),
        }
    }

    fn tell_others(&self, is_down: bool) {
        for node in self.me.others(self.shared.inboxes.len()) {
            let fate = Mail::Fate { node: self.me, is_down };
            let _ = self.shared.inboxes[node.index()].send(fate);
        }
    }

    /// Looks whether a node is cut off. If it is down, it has said so itself.
    fn look(&mut self, node: NodeId) -> Result<(), IsDown> {
        let reach = &self.shared.reach;
        match (reach.is_cut(self.me, node), reach.is_down(node)) {
            (true, _) => self.learn(node, true),
            (false, true) => Ok(()),
            (false, false) => self.learn(node, false),
        }
    }

    /// Hears of the fate of a node, if it is news.
    fn learn(&mut self, node: NodeId, is_down: bool) -> Result<(), IsDown> {
        let reach = &self.shared.reach;
        let is_true = match is_down {
            // It may come after the node is up again. Then no more news of it would come.
            true => reach.seems_down(self.me, node),
            // It comes again when the cut is over.
            false => !reach.is_cut(self.me, node),
        };
        if !is_true {
            return Ok(());
        }
        let Life { told, is_down: i_am_down, .. } = &mut self.life;
        let is_news = !*i_am_down && if is_down { told.insert(node) } else { told.remove(node) };
        match (is_news, is_down) {
            (false, _) => Ok(()),
            (true, true) => self.give(&Input::Notice(Notice::Down(node))),
            (true, false) => self.give(&Input::Notice(Notice::Up(node))),
        }
    }

    /// Gives an input to the node of each resource.
    fn give(&self, input: &Input<P::Message>) -> Result<(), IsDown> {
        let resources = 0..self.shared.resources.len();
        resources.into_iter().try_for_each(|it| self.shared.step(it, self.me, input.clone(), 0))
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
        // Only messages are shuffled, not timers, orders and the stop. What is said of a node comes
        // after what it has said.
        let own =
            |mail: &Mail<M>| !message(mail) && !matches!(mail, Mail::Fate { is_down: true, .. });
        let own = self.pile.iter().position(own);
        let waiting = self.pile.iter().position(message);
        let chosen = own.unwrap_or_else(|| match waiting {
            None => 0,
            Some(_) => loop {
                let any = random.below(self.pile.len());
                if message(&self.pile[any]) {
                    break any;
                }
            },
        });
        Some(self.pile.swap_remove(chosen))
    }
}

fn receive<M>(inbox: &Receiver<Mail<M>>, due: Option<Instant>) -> Option<Mail<M>> {
    match due {
        None => inbox.recv().ok(),
        Some(due) => receive_until(inbox, due),
    }
}
