//! Maekawa 1985, remedied: ask only a quorum, and give way to older requests.
//!
//! Each node has a set of arbiters, and any two sets meet. An arbiter confirms one request at a
//! time, so a node that has all its arbiters is alone. When an older request reaches an arbiter
//! that has confirmed a younger one, the arbiter inquires; a node that is not yet inside gives the
//! confirmation back. The oldest request of all so gets every arbiter it asks, and nothing can be
//! stuck.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | its arbiters |
//! | `CONFIRM` | the request is the arbiter's oldest and its confirmation is free | the candidate |
//! | `INQUIRE` | an older request came, once per confirmation | the candidate that has it |
//! | `RELINQUISH` | for an `INQUIRE`, if not yet inside | the arbiter |
//! | `RELEASE` | the user leaves | its arbiters |
//! | | the user has withdrawn | its arbiters, each when it has confirmed |
//!
//! Cost: 3(K-1) messages alone for a quorum of K that holds the node itself, at most 6(K-1) on
//! average: each request causes at most one inquiry at each arbiter, and with it one relinquishing
//! and one more confirmation. Between two entries 2T.
//!
//! Every message names its request, since an `INQUIRE` may overtake the `CONFIRM` that it is about,
//! or come after the `RELEASE`. Maekawa's own rule, to give way only after having failed somewhere,
//! can deadlock (Sanders 1987); giving way to every inquiry cannot, and needs no message of
//! failure.
//!
//! A request that is withdrawn releases the arbiters that have confirmed it at once, and each other
//! one as soon as it confirms: an arbiter that has not heard of the request yet need not remember
//! that it is over. The next request waits until all are released.

use super::arbiter::Arbiter;
use super::arbiters::Arbiters;
use super::confirmations::Confirmations;
use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Claims, Clock, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Quorums, Refused, Stamp,
};

pub use super::arbiter::Message;

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
    confirmations: Confirmations,
    /// Who has not confirmed the request that was withdrawn, while there is one.
    withdrawn: Option<NodeSet>,
    arbiter: Arbiter,
}

impl Maekawa {
    /// A cluster with these quorums. A node that has several uses them in turn.
    pub fn cluster(sets: &Quorums) -> Vec<Self> {
        let nodes = NodeId::all(sets.nodes()).zip(Arbiters::of_all(sets));
        nodes.map(|(me, arbiters)| Self::with_arbiters(me, arbiters)).collect()
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn node(me: NodeId, sets: &Quorums) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, sets.nodes())?;
        Ok(Self::with_arbiters(me, Arbiters::of(me, sets)))
    }

    fn with_arbiters(me: NodeId, arbiters: Arbiters) -> Self {
        let nodes = arbiters.nodes();
        Self {
            me,
            clock: Clock::default(),
            arbiters,
            phase: Phase::Idle,
            asked: 0,
            confirmations: Confirmations::none(nodes),
            withdrawn: None,
            arbiter: Arbiter::new(nodes),
        }
    }

    /// A cluster with the sets of a [grid](Quorums::grid).
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn grid(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Ok(Self::cluster(&Quorums::grid(nodes)?))
    }

    fn enter_if_confirmed(&mut self, out: &mut Outbox<Message>) {
        if self.confirmations.arbiters() == self.arbiters.now() {
            self.phase.enter(out);
        }
    }

    fn our_request(&self) -> Stamp {
        Stamp { time: self.asked, node: self.me }
    }

    /// Whether a node can have asked, as far as we know of it as arbiter and as candidate: only its
    /// own arbiters, about its own request, and again only after it has left.
    fn can_ask(&self, request: Stamp, from: NodeId) -> bool {
        let again = self.arbiter.confirmed().filter(|confirmed| confirmed.node == from);
        request.node == from
            && request.time > 0
            && self.arbiters.is_candidate(from)
            && !self.arbiter.keeps_waiting(from)
            && again.is_none_or(|confirmed| confirmed < request)
    }

    fn ask(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.clock = clock;
        self.asked = now;
        out.broadcast(self.arbiters.now().iter(), Message::Request(self.our_request()));
        Ok(())
    }

    /// Sees a time. While a request waits until the withdrawn one is over, there is a later time
    /// left for it: so a node never refuses a message of its own.
    fn witness(&mut self, time: u64) -> Result<(), Refused> {
        let mut clock = self.clock;
        clock.witness(time);
        if self.withdrawn.is_some() && self.phase.is_waiting() {
            clock.check_next()?;
        }
        self.clock = clock;
        Ok(())
    }

    /// An arbiter has confirmed the request that was withdrawn, and is released; or it is down.
    fn release_withdrawn(
        &mut self,
        arbiter: NodeId,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        let Some(missing) = self.withdrawn.as_mut().filter(|it| it.contains(arbiter)) else {
            return Ok(());
        };
        missing.remove(arbiter);
        let over = missing.is_empty();
        out.send(arbiter, Message::Release(self.our_request()));
        if over {
            self.withdrawn = None;
            self.asked = 0;
            self.arbiters.advance();
            if self.phase.is_waiting() {
                self.ask(out)?;
            }
        }
        Ok(())
    }

    /// Whether an arbiter can have confirmed our request now.
    fn can_be_confirmed(&self, request: Stamp, time: u64, from: NodeId) -> bool {
        let missing = match &self.withdrawn {
            Some(missing) => missing.contains(from),
            None => {
                self.phase.is_waiting()
                    && self.arbiters.now().contains(from)
                    && !self.confirmations.has(from)
            }
        };
        missing && request == self.our_request() && time >= request.time
    }

    /// Whether an arbiter can have inquired about a request of ours, now or before.
    fn can_be_inquired(&self, request: Stamp, from: NodeId) -> bool {
        let latest = if self.asked == 0 { self.clock.now() } else { self.asked };
        let set_holds = if self.asked != 0 && request == self.our_request() {
            self.arbiters.now().contains(from)
        } else {
            self.arbiters.include(from)
        };
        request.node == self.me && (1..=latest).contains(&request.time) && set_holds
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
        if self.withdrawn.is_some() {
            self.clock.check_next()?;
            return self.phase.request();
        }
        let mut phase = self.phase;
        phase.request()?;
        self.ask(out)?;
        self.phase = phase;
        Ok(())
    }

    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.withdraw()?;
        if self.withdrawn.is_some() {
            return Ok(());
        }
        self.confirmations.ignore_inquiries();
        let request = self.our_request();
        let (confirmed, missing): (Vec<_>, Vec<_>) =
            self.arbiters.now().iter().partition(|&arbiter| self.confirmations.has(arbiter));
        out.broadcast(confirmed, Message::Release(request));
        self.confirmations.clear();
        self.withdrawn = Some(NodeSet::of(self.nodes(), missing));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(self.arbiters.now().iter(), Message::Release(self.our_request()));
        self.asked = 0;
        self.confirmations.clear();
        self.arbiters.advance();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            // As arbiter.
            Message::Request(request) => {
                if !self.can_ask(request, from) {
                    return Err(Refused("the sender cannot have asked this"));
                }
                self.witness(request.time)?;
                self.arbiter.take(request, self.clock.now(), out);
            }
            Message::Relinquish(request) => {
                // A node that has asked again has left, and gives nothing back.
                let over = self.arbiter.keeps_waiting(from);
                if request.node != from || !self.arbiter.has_inquired(request) || over {
                    return Err(Refused("the sender was not asked to give anything back"));
                }
                self.arbiter.take_back(request, self.clock.now(), out);
            }
            Message::Release(request) => {
                if request.node != from || !self.arbiter.has_confirmed(request) {
                    return Err(Refused("that request does not have its confirmation"));
                }
                self.arbiter.forget(request);
                self.arbiter.confirm_oldest(self.clock.now(), out);
            }

            // As candidate.
            Message::Confirm(request, time) => {
                if !self.can_be_confirmed(request, time, from) {
                    return Err(Refused("it does not wait for this confirmation"));
                }
                // An arbiter's time, or a node that hears of no requests would seem older than
                // others for ever.
                self.witness(time)?;
                if self.withdrawn.is_some() {
                    return self.release_withdrawn(from, out);
                }
                self.confirmations.take(from, request, out);
                self.enter_if_confirmed(out);
            }
            Message::Inquire(request) => {
                if !self.can_be_inquired(request, from) {
                    return Err(Refused("it has made no such request there"));
                }
                // Inside, withdrawn, or already gone: our RELEASE is the answer.
                let asks = self.phase.is_waiting() && self.withdrawn.is_none();
                if !asks || request != self.our_request() {
                    return Ok(());
                }
                return self.confirmations.inquire(from, request, out);
            }
        }
        Ok(())
    }
}

impl Protocol for Maekawa {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }

    /// An idle node is asked only by those whose quorum has it.
    fn goes_on_without(&self, dead: &Self) -> bool {
        !self.arbiters.include(dead.me) && dead.phase.is_idle()
    }
}

/// Frees the vote that the peer had. Whoever has it for an arbiter asks all that live instead.
impl Outlives for Maekawa {
    fn expect_losses(&mut self) {
        self.arbiters.expect_losses();
    }

    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.arbiter.forget_node(peer);
        self.arbiter.confirm_oldest(self.clock.now(), out);
        // Inside, we release those that we have asked. The sets change with the next request.
        if self.phase.is_inside() {
            return;
        }
        let asked = self.arbiters.now().clone();
        self.arbiters.lose(peer);
        if self.withdrawn.is_some() {
            // Never fails: there is a later time for a request that waits.
            let _asked = self.release_withdrawn(peer, out);
        } else if self.phase.is_waiting() {
            self.confirmations.lose(peer);
            let more = self.arbiters.now().iter().filter(|&arbiter| !asked.contains(arbiter));
            out.broadcast(more, Message::Request(self.our_request()));
            self.enter_if_confirmed(out);
        }
    }
}

impl Claims for Maekawa {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        // An arbiter's one confirmation: on its way, with a candidate, or on its way back.
        let confirmations = |arbiter: NodeId| {
            let held = cluster.iter().filter(|node| node.confirmations.has(arbiter)).count();
            let sent = in_flight.iter().filter(|(from, to, message)| match message {
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
