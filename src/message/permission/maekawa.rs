//! Maekawa 1985, remedied: ask only a granting set, and give way to older requests.
//!
//! Each node has a set of arbiters, and any two sets meet. An arbiter confirms one request at a time, so who has all
//! its arbiters is alone. When an older request reaches an arbiter that has confirmed a younger one, the arbiter
//! inquires; who is not yet inside gives the confirmation back. The oldest request of all so gets every arbiter it
//! asks, and nothing can be stuck.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | its arbiters |
//! | `CONFIRM` | the request is the arbiter's oldest and its confirmation is free | who asked |
//! | `INQUIRE` | an older request came, once a confirmation | who has the confirmation |
//! | `RELINQUISH` | for an `INQUIRE`, if not yet inside | the arbiter |
//! | `RELEASE` | the user leaves | its arbiters |
//!
//! Cost: 3(K-1) messages alone for a granting set of K that holds the node itself, at most 6(K-1) on average: each
//! request causes at most one inquiry at each arbiter, and with it one relinquishing and one more confirmation. Between
//! two entries 2T.
//!
//! Every message names its request, since an `INQUIRE` may overtake the `CONFIRM` that it is about, or come after the
//! `RELEASE`. Maekawa's own rule, to give way only after having failed somewhere, can deadlock (Sanders 1987); giving
//! way to every inquiry cannot, and needs no message of failure.

use std::collections::BTreeSet;

use super::arbiters::Arbiters;
use crate::message::{
    Claims, Clock, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Quorums, Refused, Stamp,
};

/// What the nodes say to each other, always about one request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// May I?
    Request(Stamp),
    /// You may, as far as I am concerned; by now it is this time.
    Confirm(Stamp, u64),
    /// Somebody older is here: would you give it back?
    Inquire(Stamp),
    /// Here it is; I still want in.
    Relinquish(Stamp),
    /// I have left.
    Release(Stamp),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Confirm(..) => "CONFIRM",
            Self::Inquire(_) => "INQUIRE",
            Self::Relinquish(_) => "RELINQUISH",
            Self::Release(_) => "RELEASE",
        }
    }
}

/// A node of Maekawa's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Maekawa {
    me: NodeId,
    clock: Clock,
    arbiters: Arbiters,
    phase: Phase,
    /// When we asked, while we wait or are inside; else 0.
    asked: u64,
    /// Who has confirmed.
    confirmed: NodeSet,
    /// Whose inquiry has overtaken its confirmation.
    inquired_early: NodeSet,
    arbiter: Arbiter,
}

/// A node as arbiter for others, and for itself.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Arbiter {
    /// Which request has our confirmation.
    granted: Option<Stamp>,
    /// Whether we have inquired about it.
    inquired: bool,
    /// The others, oldest first.
    waiting: BTreeSet<Stamp>,
}

impl Arbiter {
    /// Confirms the oldest request, if the confirmation is free.
    fn grant_oldest(&mut self, now: u64, out: &mut Outbox<Message>) {
        if self.granted.is_none() {
            self.granted = self.waiting.pop_first();
            self.inquired = false;
            if let Some(oldest) = self.granted {
                out.send(oldest.node, Message::Confirm(oldest, now));
            }
        }
    }

    /// The confirmation comes back.
    fn take_back(&mut self, request: Stamp, from: NodeId) -> Result<(), Refused> {
        if self.granted != Some(request) || request.node != from {
            return Err(Refused("that request does not have its confirmation"));
        }
        self.granted = None;
        Ok(())
    }
}

impl Maekawa {
    /// A cluster with these granting sets. A node that has several uses them in turn.
    pub fn cluster(sets: &Quorums) -> Vec<Self> {
        NodeId::all(sets.nodes()).map(|me| Self::with_sets(me, sets)).collect()
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn node(me: NodeId, sets: &Quorums) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, sets.nodes())?;
        Ok(Self::with_sets(me, sets))
    }

    fn with_sets(me: NodeId, sets: &Quorums) -> Self {
        let nodes = sets.nodes();
        Self {
            me,
            clock: Clock::default(),
            arbiters: Arbiters::of(me, sets),
            phase: Phase::Idle,
            asked: 0,
            confirmed: NodeSet::empty(nodes),
            inquired_early: NodeSet::empty(nodes),
            arbiter: Arbiter::default(),
        }
    }

    /// A cluster with the sets of a [grid](Quorums::grid).
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn grid(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Ok(Self::cluster(&Quorums::grid(nodes)?))
    }

    fn our_request(&self) -> Stamp {
        Stamp { time: self.asked, node: self.me }
    }

    fn give_back(&mut self, arbiter: NodeId, out: &mut Outbox<Message>) {
        self.confirmed.remove(arbiter);
        out.send(arbiter, Message::Relinquish(self.our_request()));
    }
}

impl Machine for Maekawa {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.arbiters.nodes()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.phase.request()?;
        self.clock = clock;
        self.asked = now;
        out.broadcast(self.arbiters.now().iter(), Message::Request(self.our_request()));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(self.arbiters.now().iter(), Message::Release(self.our_request()));
        self.asked = 0;
        self.confirmed.clear();
        self.arbiters.advance();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        self.arbiters.check_node(from)?;
        match message {
            // As arbiter.
            Message::Request(request) => {
                if request.node != from {
                    return Err(Refused("it is another's request"));
                }
                if self.arbiter.granted == Some(request) || !self.arbiter.waiting.insert(request) {
                    return Err(Refused("it has this request already"));
                }
                self.clock.witness(request.time);
                if let Some(younger) = self.arbiter.granted.filter(|&granted| request < granted)
                    && !self.arbiter.inquired
                {
                    self.arbiter.inquired = true;
                    out.send(younger.node, Message::Inquire(younger));
                }
                self.arbiter.grant_oldest(self.clock.now(), out);
            }
            Message::Relinquish(request) => {
                self.arbiter.take_back(request, from)?;
                self.arbiter.waiting.insert(request);
                self.arbiter.grant_oldest(self.clock.now(), out);
            }
            Message::Release(request) => {
                self.arbiter.take_back(request, from)?;
                self.arbiter.grant_oldest(self.clock.now(), out);
            }

            // As candidate.
            Message::Confirm(request, time) => {
                let awaited = self.phase.is_waiting()
                    && request == self.our_request()
                    && self.arbiters.now().contains(from)
                    && !self.confirmed.contains(from);
                if !awaited {
                    return Err(Refused("it does not wait for this confirmation"));
                }
                // An arbiter's time, or a node that hears of no requests would seem older than others for ever.
                self.clock.witness(time);
                if self.inquired_early.remove(from) {
                    self.give_back(from, out);
                    return Ok(());
                }
                self.confirmed.insert(from);
                if self.confirmed == *self.arbiters.now() {
                    self.phase.enter(out);
                }
            }
            Message::Inquire(request) => {
                if request.node != self.me || request.time > self.clock.now() {
                    return Err(Refused("it has made no such request"));
                }
                // Inside, or already gone: our RELEASE is the answer.
                if !self.phase.is_waiting() || request != self.our_request() {
                    return Ok(());
                }
                if self.confirmed.contains(from) {
                    self.give_back(from, out);
                } else if !self.arbiters.now().contains(from) || !self.inquired_early.insert(from) {
                    return Err(Refused("the sender cannot inquire about it"));
                }
            }
        }
        Ok(())
    }
}

impl Protocol for Maekawa {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for Maekawa {
    fn invariant(
        cluster: &[Self],
        on_the_way: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        // An arbiter's one confirmation: on its way, with a candidate, or on its way back.
        let confirmations = |arbiter: NodeId| {
            let held = cluster.iter().filter(|node| node.confirmed.contains(arbiter)).count();
            let sent = on_the_way.iter().filter(|(from, to, message)| match message {
                Message::Confirm(..) => *from == arbiter,
                Message::Relinquish(_) | Message::Release(_) => *to == arbiter,
                Message::Request(_) | Message::Inquire(_) => false,
            });
            held + sent.count()
        };
        let holds = NodeId::all(cluster.len()).all(|arbiter| confirmations(arbiter) <= 1);
        Some(if holds { Ok(()) } else { Err("an arbiter has confirmed two requests") })
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let (least, most) = Arbiters::peers(cluster.iter().map(|node| &node.arbiters));
        let (least, most) = (least as f64, most as f64);
        Some(Cost {
            formula: "3(K-1), contended to 6(K-1)",
            alone: 3.0 * least..=3.0 * most,
            contended: 3.0 * least..=6.0 * most,
        })
    }
}
