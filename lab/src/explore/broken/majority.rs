//! The vote of a majority, where those that were not waited for speak when the entry is over.

use std::collections::BTreeSet;

use exclusion::message::check::Check;
use exclusion::message::{
    Claims, Clock, Machine, NodeId, NodeSet, Outbox, Phase, Protocol, Refused, Shared, Stamp,
};

use super::maekawa::GrantMessage as Message;

/// Half of the nodes are enough: there may be another half.
pub fn majority_half(flawed: bool) -> Check<Voter> {
    Check::new(Voter::cluster(2, flawed.then_some(Flaw::HalfEnters))).keeps_its_invariant()
}

/// An arbiter takes no note of a RELEASE that comes before its REQUEST, and confirms the request
/// when it comes. Nobody tells it that the request is over.
pub fn majority_early_release(flawed: bool) -> Check<Voter> {
    let cluster = Voter::cluster(3, flawed.then_some(Flaw::ForgetsEarlyRelease));
    Check::new(cluster).requests_of(NodeId(2), 0).keeps_its_invariant()
}

/// A candidate counts a CONFIRM for the request that it has now, whatever request it is about. The
/// arbiter has confirmed another since.
pub fn majority_stale_confirm(flawed: bool) -> Check<Voter> {
    let cluster = Voter::cluster(3, flawed.then_some(Flaw::CountsStale));
    Check::new(cluster).requests_of(NodeId(0), 2).requests_of(NodeId(2), 0).keeps_its_invariant()
}

/// What is wrong with a [`Voter`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    HalfEnters,
    ForgetsEarlyRelease,
    CountsStale,
}

/// A node that enters with the confirmations of a majority, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Voter {
    flaw: Option<Flaw>,
    me: NodeId,
    phase: Phase,
    clock: Clock,
    asked: u64,
    /// Who has confirmed, and whose inquiry has overtaken its confirmation.
    confirmed: NodeSet,
    inquired_early: NodeSet,
    /// As arbiter: the request that has our confirmation, whether we have inquired about it, those
    /// that wait, and each node's latest.
    granted: Option<Stamp>,
    has_inquired: bool,
    waiting: BTreeSet<Stamp>,
    heard: Vec<u64>,
}

impl Voter {
    fn cluster(nodes: usize, flaw: Option<Flaw>) -> Vec<Self> {
        let node = |me| Self {
            flaw,
            me,
            phase: Phase::Idle,
            clock: Clock::default(),
            asked: 0,
            confirmed: NodeSet::empty(nodes),
            inquired_early: NodeSet::empty(nodes),
            granted: None,
            has_inquired: false,
            waiting: BTreeSet::new(),
            heard: vec![0; nodes],
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn our_request(&self) -> Stamp {
        Stamp { time: self.asked, node: self.me }
    }

    fn is_at_hand(&self, request: Stamp) -> bool {
        !self.phase.is_idle() && request == self.our_request()
    }

    fn is_enough(&self, confirmations: usize) -> bool {
        match self.flaw {
            Some(Flaw::HalfEnters) => 2 * confirmations >= self.nodes(),
            _ => 2 * confirmations > self.nodes(),
        }
    }

    fn grant_oldest(&mut self, out: &mut Outbox<Message>) {
        if self.granted.is_none() {
            self.granted = self.waiting.pop_first();
            self.has_inquired = false;
            if let Some(oldest) = self.granted {
                out.send(oldest.node, Message::Confirm(oldest));
            }
        }
    }

    /// The node's requests up to this one are over, or this one is the latest.
    fn hear_of(&mut self, request: Stamp) {
        self.clock.witness(request.time);
        self.heard[request.node.index()] = request.time;
        self.waiting.retain(|waiting| waiting.node != request.node);
        self.granted = self.granted.filter(|granted| granted.node != request.node);
    }

    /// As arbiter: a request comes, unless it is over.
    fn arbitrate(&mut self, request: Stamp, out: &mut Outbox<Message>) {
        if request.time <= self.heard[request.node.index()] {
            return;
        }
        self.hear_of(request);
        self.waiting.insert(request);
        if let Some(younger) = self.granted.filter(|&granted| request < granted)
            && !std::mem::replace(&mut self.has_inquired, true)
        {
            out.send(younger.node, Message::Inquire(younger));
        }
        self.grant_oldest(out);
    }

    /// As arbiter: a request is over, whether it has come or not.
    fn end(&mut self, request: Stamp, out: &mut Outbox<Message>) {
        let heard = self.heard[request.node.index()];
        let early = request.time > heard;
        if request.time < heard || early && self.flaw == Some(Flaw::ForgetsEarlyRelease) {
            return;
        }
        self.hear_of(request);
        self.grant_oldest(out);
    }
}

impl Machine for Voter {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = self.clock.tick()?;
        out.broadcast(NodeId::all(self.nodes()), Message::Request(self.our_request()));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.confirmed.clear();
        out.broadcast(NodeId::all(self.nodes()), Message::Release(self.our_request()));
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(request) => self.arbitrate(request, out),
            Message::Release(request) => self.end(request, out),
            Message::Relinquish(request) => {
                // It may come after the RELEASE.
                if self.granted == Some(request) {
                    self.granted = None;
                    self.waiting.insert(request);
                    self.grant_oldest(out);
                }
            }
            Message::Confirm(request) => {
                let counts = self.flaw == Some(Flaw::CountsStale) && !self.phase.is_idle();
                if !self.is_at_hand(request) && !counts {
                    return Ok(());
                }
                if self.inquired_early.remove(from) {
                    out.send(from, Message::Relinquish(request));
                } else {
                    self.confirmed.insert(from);
                }
                if self.phase.is_waiting() && self.is_enough(self.confirmed.len()) {
                    self.inquired_early.clear();
                    self.phase.enter(out);
                }
            }
            // Inside, or already gone: our RELEASE is the answer.
            Message::Inquire(request) => {
                if self.phase.is_waiting() && self.is_at_hand(request) {
                    if self.confirmed.remove(from) {
                        out.send(from, Message::Relinquish(request));
                    } else {
                        self.inquired_early.insert(from);
                    }
                }
            }
            Message::Failed(_) => return Err(Refused("nobody is told that it has failed")),
        }
        Ok(())
    }
}

impl Protocol for Voter {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for Voter {
    fn invariant(
        cluster: &[Self],
        in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        let will_end = |arbiter: &Self, request: Stamp| {
            let release = (request.node, arbiter.me, &Message::Release(request));
            cluster[request.node.index()].is_at_hand(request) || in_flight.contains(&release)
        };
        let holds = cluster
            .iter()
            .all(|arbiter| arbiter.granted.is_none_or(|request| will_end(arbiter, request)));
        Some(if holds { Ok(()) } else { Err("an arbiter has confirmed a request that is over") })
    }
}
