//! Majority: ask everybody, and enter with the confirmations of any majority.
//!
//! Every node is an arbiter of every node, and confirms one request at a time, the oldest first.
//! A candidate enters as soon as those that have confirmed, itself included, have more than half of
//! the weight: any two majorities have an arbiter in common. It need not know beforehand which
//! nodes that will be; the slowest are never waited for. Deadlock is avoided as in
//! [`Maekawa`](super::Maekawa): an arbiter that hears of an older request asks its confirmation
//! back.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | all nodes |
//! | `CONFIRM` | the request is the arbiter's oldest and its confirmation is free | the candidate |
//! | `INQUIRE` | an older request came, once per confirmation | the candidate that has it |
//! | `RELINQUISH` | for an `INQUIRE`, if the candidate still waits | the arbiter |
//! | `RELEASE` | the user leaves, or withdraws | all nodes, whether they have confirmed or not |
//!
//! Cost: 3(n-1) messages alone, at most 6(n-1) on average: each request causes at most one inquiry
//! at each other node, and with it one relinquishing and one more confirmation. Under contention an
//! arbiter may hear the `RELEASE` before it has come to confirm, and then there is no `CONFIRM`.
//! Between two entries 2T.
//!
//! Those that were not waited for may speak when the entry is long over, and channels may deliver
//! in any order. Hence two rules that fixed quorums do not need:
//!
//! 1. An arbiter keeps the time of the latest request that it has heard of from each node, by a
//!    `REQUEST` or by a `RELEASE`. Whatever is older is over, since a node asks again only after it
//!    has left. So a `REQUEST` or a `RELINQUISH` that comes after its `RELEASE` is ignored, as is a
//!    `RELEASE` that comes after the next `REQUEST`.
//! 2. A candidate ignores a `CONFIRM` or an `INQUIRE` about a request that is over: its `RELEASE`
//!    is the answer. Inside, a further `CONFIRM` is kept until then.

use super::arbiter::Arbiter;
use super::confirmations::Confirmations;
use crate::message::fault::remedy::Outlives;
use crate::message::quorum::QuorumError;
use crate::message::{
    Bypass, Claims, Clock, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, Stamp,
};

pub use super::arbiter::Message;

/// A node that enters with a majority. See the [module](self).
///
/// ```
/// use exclusion::message::Majority;
/// use exclusion::message::sim::Simulation;
///
/// let report = Simulation::new(Majority::cluster(5)?).run()?;
/// assert_eq!(report.messages.total(), 5 * 3 * (5 - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Majority {
    me: NodeId,
    weights: Vec<u64>,
    clock: Clock,
    phase: Phase,
    /// When we last asked; 0 if never.
    asked: u64,
    confirmations: Confirmations,
    arbiter: Arbiter,
    /// The time of the latest request of each node that we have heard of as arbiter.
    heard: Vec<u64>,
}

impl Majority {
    /// A cluster in which every node has the same weight.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::check_size(nodes)?;
        Self::weighted(&vec![1; nodes])
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Self::weighted_node(me, &vec![1; nodes])
    }

    /// A cluster with a weight for each node. More than half of the sum is a majority.
    ///
    /// ```
    /// use exclusion::message::{Majority, NodeId};
    /// use exclusion::message::sim::{Simulation, Workload};
    ///
    /// // Nobody enters without node 0, and it enters alone.
    /// let cluster = Majority::weighted(&[5, 1, 1, 1])?;
    /// let alone = Workload::Alone { node: NodeId(0), entries: 1 };
    /// let report = Simulation::new(cluster).workload(alone).run()?;
    /// assert_eq!(report.client_delay.unwrap().max, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fewer than two nodes, or a node of weight 0.
    pub fn weighted(weights: &[u64]) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(weights.len(), |me| Self::weighted_node(me, weights))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`weighted`](Self::weighted), and if there is no such node.
    pub fn weighted_node(me: NodeId, weights: &[u64]) -> Result<Self, ClusterError> {
        let nodes = weights.len();
        ClusterError::check_member(me, nodes)?;
        if let Some(weightless) = weights.iter().position(|&weight| weight == 0) {
            return Err(QuorumError::ZeroWeight(NodeId::at(weightless)).into());
        }
        Ok(Self {
            me,
            weights: weights.to_vec(),
            clock: Clock::default(),
            phase: Phase::Idle,
            asked: 0,
            confirmations: Confirmations::none(nodes),
            arbiter: Arbiter::new(nodes),
            heard: vec![0; nodes],
        })
    }

    fn our_request(&self) -> Stamp {
        Stamp { time: self.asked, node: self.me }
    }

    /// Whether we wait with this request, or are inside with it.
    fn is_at_hand(&self, request: Stamp) -> bool {
        !self.phase.is_idle() && request == self.our_request()
    }

    /// Whether this was a request of ours, and we have left.
    fn is_over(&self, request: Stamp) -> bool {
        request.node == self.me && request.time <= self.asked && !self.is_at_hand(request)
    }

    fn has_majority(&self) -> bool {
        let weight = |node: NodeId| u128::from(self.weights[node.index()]);
        let gathered: u128 = self.confirmations.arbiters().iter().map(weight).sum();
        let total: u128 = NodeId::all(self.nodes()).map(weight).sum();
        2 * gathered > total
    }

    /// Takes note of the latest request of a node, which ends those before it.
    fn hear_of(&mut self, request: Stamp) {
        let latest = &mut self.heard[request.node.index()];
        self.arbiter.forget(Stamp { time: *latest, ..request });
        *latest = request.time;
        self.clock.witness(request.time);
    }

    /// A candidate tells its arbiter something about its request.
    fn arbitrate(
        &mut self,
        request: Stamp,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        let latest = self.heard[request.node.index()];
        let here = self.arbiter.has(request);
        match message {
            Message::Request(_) if request.time > latest => {
                self.hear_of(request);
                self.arbiter.take(request, self.clock.now(), out);
            }
            Message::Request(_) if here => return Err(Refused("it has this request already")),
            Message::Relinquish(_) if here || request.time > latest => {
                if !self.arbiter.has_inquired(request) {
                    return Err(Refused("the sender was not asked to give anything back"));
                }
                self.arbiter.take_back(request, self.clock.now(), out);
            }
            Message::Release(_) if here || request.time > latest => {
                self.hear_of(request);
                self.arbiter.confirm_oldest(self.clock.now(), out);
            }
            Message::Release(_) if request.time == latest => {
                return Err(Refused("the sender has left already"));
            }
            // Over: it was overtaken by the RELEASE, or by the next REQUEST.
            _ => {}
        }
        Ok(())
    }
}

impl Machine for Majority {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.weights.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.phase.request()?;
        self.clock = clock;
        self.asked = now;
        out.broadcast(NodeId::all(self.nodes()), Message::Request(self.our_request()));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(NodeId::all(self.nodes()), Message::Release(self.our_request()));
        self.confirmations.clear();
        Ok(())
    }

    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.withdraw()?;
        out.broadcast(NodeId::all(self.nodes()), Message::Release(self.our_request()));
        self.confirmations.ignore_inquiries();
        self.confirmations.clear();
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
            Message::Request(request)
            | Message::Relinquish(request)
            | Message::Release(request) => {
                if request.node != from || request.time == 0 {
                    return Err(Refused("it is no request of the sender"));
                }
                return self.arbitrate(request, message, out);
            }

            // As candidate.
            Message::Confirm(request, time) => {
                if time < request.time || request.time == 0 {
                    return Err(Refused("no arbiter confirms before it is asked"));
                }
                if !self.is_over(request) {
                    if !self.is_at_hand(request) || self.confirmations.has(from) {
                        return Err(Refused("it does not wait for this confirmation"));
                    }
                    self.confirmations.take(from, request, out);
                }
                self.clock.witness(time);
                if self.phase.is_waiting() && self.has_majority() {
                    self.confirmations.ignore_inquiries();
                    self.phase.enter(out);
                }
            }
            Message::Inquire(request) => {
                if request.time == 0 || !self.is_over(request) && !self.is_at_hand(request) {
                    return Err(Refused("it has made no such request"));
                }
                if self.phase.is_waiting() && self.is_at_hand(request) {
                    return self.confirmations.inquire(from, request, out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for Majority {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// The peer's request is over. What it has confirmed stays confirmed: it confirms nobody else. The
/// weight of the dead counts as before, so that a minority never enters.
impl Outlives for Majority {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.arbiter.forget(Stamp { time: self.heard[peer.index()], node: peer });
        self.arbiter.confirm_oldest(self.clock.now(), out);
    }
}

impl Claims for Majority {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        // As long as a request is not over, a confirmation of it is in one place: on its way to the
        // candidate, with it, or on its way back. And the arbiter has confirmed no other request.
        let confirmations = |arbiter: NodeId, candidate: &Self| {
            let request = candidate.our_request();
            let held = usize::from(candidate.confirmations.has(arbiter));
            let sent = in_flight.iter().filter(|&&(from, to, message)| match *message {
                Message::Confirm(of, _) => from == arbiter && of == request,
                Message::Relinquish(of) => to == arbiter && of == request,
                Message::Request(_) | Message::Inquire(_) | Message::Release(_) => false,
            });
            held + sent.count()
        };
        let one_each = |arbiter: &Self| {
            let mut at_hand = cluster.iter().filter(|candidate| !candidate.phase.is_idle());
            at_hand.all(|candidate| {
                let most = usize::from(arbiter.arbiter.has_confirmed(candidate.our_request()));
                confirmations(arbiter.me, candidate) <= most
            })
        };
        let holds = cluster.iter().all(one_each);
        Some(if holds { Ok(()) } else { Err("an arbiter has confirmed two requests") })
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let peers = (cluster.len() - 1) as f64;
        let fewest = (fewest_in_a_majority(&cluster[0].weights) - 1) as f64;
        Some(Cost {
            formula: "3(n-1), contended to 6(n-1)",
            alone: 3.0 * peers..=3.0 * peers,
            contended: 2.0 * peers + fewest..=6.0 * peers,
        })
    }
}

/// How few nodes can have more than half of the weight.
fn fewest_in_a_majority(weights: &[u64]) -> usize {
    let mut heaviest: Vec<u128> = weights.iter().copied().map(u128::from).collect();
    heaviest.sort_unstable_by(|one, other| other.cmp(one));
    let total: u128 = heaviest.iter().sum();
    let gathered = heaviest.iter().scan(0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    1 + gathered.take_while(|sum| 2 * sum <= total).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_that_are_a_majority_are_the_heaviest() {
        for n in 1..50 {
            assert_eq!(fewest_in_a_majority(&vec![1; n]), n / 2 + 1);
        }
        assert_eq!(fewest_in_a_majority(&[1, 2]), 1);
        assert_eq!(fewest_in_a_majority(&[1, 2, 3]), 2);
        assert_eq!(fewest_in_a_majority(&[1, 5, 1, 1]), 1);
        assert_eq!(fewest_in_a_majority(&[1, 4, 1, 1, 1]), 2, "half is not more than half");
        assert_eq!(fewest_in_a_majority(&[u64::MAX; 5]), 3);
    }
}
