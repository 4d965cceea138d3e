//! A node's thread: it takes what comes to its inbox, and watches its timers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use super::cluster::Shared;
use super::error::IsDown;
use super::post::{Mail, Order};
use super::reach::{Chances, Passage};
use crate::lock::sync::threads::{Receiver, receive_until};
use crate::message::random::Random;
use crate::message::{Happening, Input, NodeId, NodeSet, Notice, Protocol, Timer};

/// Runs a node until it is told to stop, or something is wrong.
pub(super) fn serve<P: Protocol, T>(shared: &Shared<P, T>, me: NodeId) {
    let inbox = shared.receivers[me.index()].lock().expect("nobody else locks it");
    let mut inbox = Inbox::new(&inbox, shared.shuffle.map(|seed| seed ^ u64::from(me.0)));
    let mut node = Serving {
        shared,
        me,
        timers: BinaryHeap::new(),
        life: Life::new(shared.inboxes.len()),
        chances: shared.weather.map(|weather| Chances::new(weather, me)),
        held: None,
    };
    loop {
        let due = node.timers.peek().map(|Reverse((due, ..))| *due);
        // A node that stands still takes orders only.
        let due = due.filter(|_| node.held.is_none());
        // A timer that is due goes before the inbox. Otherwise a busy node would never see its
        // timers.
        let mail =
            if due.is_some_and(|due| due <= Instant::now()) { None } else { inbox.next(due) };
        let mail = match (mail, &mut node.held) {
            (Some(mail), Some(held)) if !matches!(mail, Mail::Order(_) | Mail::Stop) => {
                held.push(mail);
                continue;
            }
            (mail, _) => mail,
        };
        let goes_on = match mail {
            Some(Mail::Stop) => return,
            Some(mail) => node.take(mail),
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
    /// How messages to it are lost and doubled, if they are.
    chances: Option<Chances>,
    /// What has come while it stands still.
    held: Option<Vec<Mail<P::Message>>>,
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
    fn take(&mut self, mail: Mail<P::Message>) -> Result<(), IsDown> {
        match mail {
            Mail::Message { resource, from, message, number } => {
                self.receive(resource, from, message, number)
            }
            Mail::Timer { resource, timer, due, life } => {
                if life == self.life.number {
                    self.timers.push(Reverse((due, resource, timer)));
                }
                Ok(())
            }
            Mail::Order(order) => self.obey(order),
            Mail::Fate { node, is_down } => self.learn(node, is_down),
            Mail::Stop => Ok(()),
        }
    }

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
        if let Some(chances) = &mut self.chances {
            let passage = chances.draw();
            if !self.passes(passage, resource, from, &message, number) {
                return Ok(());
            }
        }
        // Whoever was told that the sender is down hears first that it is up.
        if self.life.told.contains(from) {
            self.learn(from, false)?;
        }
        self.shared.step(resource, self.me, Input::Receive { from, message }, number)
    }

    /// A message is lost, or will come once more. Says whether it arrives now.
    #[cold]
    fn passes(
        &self,
        passage: Passage,
        resource: usize,
        from: NodeId,
        message: &P::Message,
        number: u64,
    ) -> bool {
        let note = |happening| {
            if let Some(record) = &self.shared.resources[resource].record {
                record.note(self.me, happening);
            }
        };
        match passage {
            Passage::Arrives => {}
            Passage::IsLost => note(Happening::Misses { from, message: number }),
            Passage::IsDoubled => {
                note(Happening::Doubles { from, message: number });
                let message = message.clone();
                let again = Mail::Message { resource, from, message, number };
                let _ = self.shared.inboxes[self.me.index()].send(again);
            }
        }
        passage != Passage::IsLost
    }

    fn note(&self, happening: &Happening) {
        for record in self.shared.resources.iter().filter_map(|it| it.record.as_ref()) {
            record.note(self.me, happening.clone());
        }
    }

    fn obey(&mut self, order: Order) -> Result<(), IsDown> {
        match (order, self.life.is_down) {
            (Order::Elect, false) => self.give(&Input::Elect),
            (Order::Crash, false) => {
                self.life.is_down = true;
                self.life.told.clear();
                self.timers.clear();
                self.held = None;
                for resource in &self.shared.resources {
                    self.life.number = resource.posts[self.me.index()].crash();
                }
                self.note(&Happening::Crashes);
                // All that it has sent is in the inboxes before this.
                self.shared.reach.set_down(self.me, true);
                self.tell_others(true);
                Ok(())
            }
            (Order::Recover, true) => {
                self.life.is_down = false;
                self.shared.resources.iter().for_each(|it| it.posts[self.me.index()].revive());
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
            (Order::Pause, false) => {
                if self.held.is_none() {
                    self.held = Some(Vec::new());
                    self.note(&Happening::Pauses);
                }
                Ok(())
            }
            (Order::Resume, false) => {
                // What has come meanwhile goes first, in its order.
                let held = self.held.take().unwrap_or_default();
                self.note(&Happening::Resumes);
                held.into_iter().try_for_each(|mail| self.take(mail))
            }
            (Order::Elect | Order::Crash | Order::Look, true)
            | (Order::Pause | Order::Resume, true)
            | (Order::Recover, false) => Ok(()),
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
