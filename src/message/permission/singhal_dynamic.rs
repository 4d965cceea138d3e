//! Singhal 1989, the dynamic information structure: ask only the nodes that may have entered since.
//!
//! Each node keeps two sets: whom it must ask, and whom it owes a confirmation. Of any two nodes at
//! least one must ask the other. At first each asks all before it; then a node that is asked and
//! idle will ask back, and a node that has entered asks only those that it has confirmed since. The
//! sets follow the nodes that are active.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | the nodes to ask |
//! | | we wait, and confirm an older request of a node not to be asked | the node that asked |
//! | `CONFIRM` | for a `REQUEST`: at once, or when the user leaves | the node that asked |
//!
//! Cost: 0 to 2(n-1) messages per entry: n-1 on average when nodes come at random, and 2(n-1) when
//! all always want in, for then everybody has entered since. Between two entries T.

use super::candidate::{Candidate, one_of_any_two_asks};
use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Refused,
};

pub use super::candidate::Message;

/// A node of Singhal's dynamic algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SinghalDynamic {
    candidate: Candidate,
    /// Whom to ask; while we wait, whose confirmation is missing.
    to_ask: NodeSet,
    /// Whom to confirm when we leave.
    to_inform: NodeSet,
}

impl SinghalDynamic {
    /// A cluster.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            candidate: Candidate::new(me, nodes, 0),
            to_ask: NodeSet::of(nodes, NodeId::all(me.index())),
            to_inform: NodeSet::empty(nodes),
        })
    }
}

impl Machine for SinghalDynamic {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.candidate.me
    }

    fn nodes(&self) -> usize {
        self.candidate.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.request()?;
        out.broadcast(self.to_ask.iter(), Message::Request(self.candidate.asked));
        if self.to_ask.is_empty() {
            self.candidate.enter(out);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.release()?;
        // Whom we confirm now may be inside when we want in again.
        for peer in self.to_inform.iter() {
            self.to_ask.insert(peer);
            out.send(peer, self.candidate.confirmation());
        }
        self.to_inform.clear();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(time) => {
                if self.to_inform.contains(from) {
                    return Err(Refused("the sender's last request is not confirmed yet"));
                }
                Candidate::check_time(time)?;
                if self.candidate.goes_before(time, from) {
                    self.to_inform.insert(from);
                    return Ok(());
                }
                out.send(from, self.candidate.confirmation());
                // It may be inside when we want in, so we must ask: now, if we wait.
                let new = self.to_ask.insert(from);
                if new && self.candidate.phase.is_waiting() {
                    out.send(from, Message::Request(self.candidate.asked));
                }
            }
            Message::Confirm(time) => {
                if !self.candidate.phase.is_waiting() || !self.to_ask.contains(from) {
                    return Err(Refused("the sender was not asked"));
                }
                self.candidate.check_confirmation(time)?;
                self.to_ask.remove(from);
                self.candidate.witness(time);
                if self.to_ask.is_empty() {
                    self.candidate.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for SinghalDynamic {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.candidate.phase
    }
}

impl Outlives for SinghalDynamic {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.to_inform.remove(peer);
        self.to_ask.remove(peer);
        if self.candidate.phase.is_waiting() && self.to_ask.is_empty() {
            self.candidate.enter(out);
        }
    }
}

impl Claims for SinghalDynamic {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        let asks = |one: NodeId, other: NodeId| cluster[one.index()].to_ask.contains(other);
        Some(one_of_any_two_asks(cluster.len(), asks))
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let most = 2 * (cluster.len() - 1);
        // The first to come asks nobody, the last everybody.
        Some(Cost::within("0 to 2(n-1)", 0, most))
    }
}
