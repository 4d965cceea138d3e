//! Quorums without the remedy against deadlock.

use std::collections::BTreeSet;

use exclusion::message::check::Check;
use exclusion::message::{
    Channels, Clock, Machine, Maekawa, Message, NodeId, NodeSet, Outbox, Phase, Protocol, Quorums,
    Refused, Shared, Stamp,
};

use super::maekawa_voting::MaekawaVoting;

/// Plain voting on the majorities of three: each may have one vote of two.
pub fn maekawa_voting() -> Check<MaekawaVoting> {
    Check::new(MaekawaVoting::cluster(&Quorums::majority(3).expect("three are enough")))
}

/// The same with the remedy.
pub fn maekawa_remedied() -> Check<Maekawa> {
    Check::new(Maekawa::cluster(&Quorums::majority(3).expect("three are enough")))
        .keeps_its_invariant()
}

/// Maekawa's own rule: a waiting request is not told that it has failed when an older one overtakes
/// it.
pub fn maekawa_1985(flawed: bool) -> Check<Maekawa1985> {
    let sets = [&[0, 1, 2][..], &[1, 2], &[2]].map(|set| set.iter().copied().map(NodeId));
    Check::new(Maekawa1985::cluster(&Quorums::new(sets).expect("they meet in n2"), flawed))
}

/// What the nodes of [`Maekawa1985`] say to each other, about a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GrantMessage {
    /// A request for confirmation.
    Request(Stamp),
    /// A confirmation.
    Confirm(Stamp),
    /// An older request has the confirmation, or waits for it.
    Failed(Stamp),
    /// An older request has come: asks for the confirmation back.
    Inquire(Stamp),
    /// Gives the confirmation back, and keeps the request.
    Relinquish(Stamp),
    /// The sender has left.
    Release(Stamp),
}

impl Message for GrantMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Confirm(_) => "CONFIRM",
            Self::Failed(_) => "FAILED",
            Self::Inquire(_) => "INQUIRE",
            Self::Relinquish(_) => "RELINQUISH",
            Self::Release(_) => "RELEASE",
        }
    }
}

/// Maekawa's algorithm with its own rule: only a node that has failed somewhere gives way. Perhaps
/// with Sanders' correction.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Maekawa1985 {
    flawed: bool,
    me: NodeId,
    nodes: usize,
    arbiters: NodeSet,
    phase: Phase,
    clock: Clock,
    asked: u64,
    /// The arbiters that have confirmed, those that have failed us, and those that asked for their
    /// confirmation back.
    confirmed: NodeSet,
    failed: NodeSet,
    inquired: NodeSet,
    /// As arbiter: the request that has our confirmation, whether we have inquired about it, and
    /// the waiting requests.
    granted: Option<Stamp>,
    has_inquired: bool,
    waiting: BTreeSet<Stamp>,
}

impl Maekawa1985 {
    fn cluster(sets: &Quorums, flawed: bool) -> Vec<Self> {
        let none = NodeSet::empty(sets.nodes());
        let node = |me| Self {
            flawed,
            me,
            nodes: sets.nodes(),
            arbiters: sets.of(me)[0].clone(),
            phase: Phase::Idle,
            clock: Clock::default(),
            asked: 0,
            confirmed: none.clone(),
            failed: none.clone(),
            inquired: none.clone(),
            granted: None,
            has_inquired: false,
            waiting: BTreeSet::new(),
        };
        NodeId::all(sets.nodes()).map(node).collect()
    }

    fn our_request(&self) -> Stamp {
        Stamp { time: self.asked, node: self.me }
    }

    fn grant_oldest(&mut self, out: &mut Outbox<GrantMessage>) {
        self.granted = self.waiting.pop_first();
        self.has_inquired = false;
        if let Some(oldest) = self.granted {
            out.send(oldest.node, GrantMessage::Confirm(oldest));
        }
    }

    /// As arbiter.
    fn arbitrate(&mut self, request: Stamp, out: &mut Outbox<GrantMessage>) {
        self.clock.witness(request.time);
        let displaced = self.waiting.first().copied().filter(|&first| request < first);
        let oldest = self.waiting.is_empty() || displaced.is_some();
        self.waiting.insert(request);
        match self.granted {
            None => self.grant_oldest(out),
            Some(granted) if oldest && request < granted => {
                // The flaw: the request that was the oldest of those that wait is not told.
                if let Some(displaced) = displaced.filter(|_| !self.flawed) {
                    out.send(displaced.node, GrantMessage::Failed(displaced));
                }
                if !std::mem::replace(&mut self.has_inquired, true) {
                    out.send(granted.node, GrantMessage::Inquire(granted));
                }
            }
            Some(_) => out.send(request.node, GrantMessage::Failed(request)),
        }
    }

    /// As candidate: gives back what others would like, once it has failed.
    fn give_way(&mut self, out: &mut Outbox<GrantMessage>) {
        if self.failed.is_empty() {
            return;
        }
        for arbiter in self.arbiters.clone().iter() {
            if self.confirmed.contains(arbiter) && self.inquired.remove(arbiter) {
                self.confirmed.remove(arbiter);
                self.failed.insert(arbiter);
                out.send(arbiter, GrantMessage::Relinquish(self.our_request()));
            }
        }
    }
}

impl Machine for Maekawa1985 {
    type Message = GrantMessage;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<GrantMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = self.clock.tick()?;
        out.broadcast(self.arbiters.iter(), GrantMessage::Request(self.our_request()));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<GrantMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(self.arbiters.iter(), GrantMessage::Release(self.our_request()));
        self.confirmed.clear();
        self.inquired.clear();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: GrantMessage,
        out: &mut Outbox<GrantMessage>,
    ) -> Result<(), Refused> {
        match message {
            GrantMessage::Request(request) => self.arbitrate(request, out),
            GrantMessage::Relinquish(request) => {
                self.waiting.insert(request);
                self.grant_oldest(out);
            }
            GrantMessage::Release(_) => self.grant_oldest(out),
            GrantMessage::Confirm(_) => {
                self.failed.remove(from);
                self.confirmed.insert(from);
                if self.confirmed == self.arbiters {
                    self.phase.enter(out);
                }
            }
            GrantMessage::Failed(_) => {
                self.failed.insert(from);
                self.give_way(out);
            }
            // Inside, or already gone: our RELEASE is the answer.
            GrantMessage::Inquire(request) => {
                if self.phase.is_waiting() && request == self.our_request() {
                    self.inquired.insert(from);
                    self.give_way(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for Maekawa1985 {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}
