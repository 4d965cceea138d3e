//! Ricart and Agrawala 1981: a confirmation that is held back says "not yet".
//!
//! A request goes to everybody with its time. A node that does not want in, or asked later,
//! confirms at once; a node that is inside, or asked earlier, confirms when it leaves. With
//! everybody's confirmation one enters. A confirmation is release and permission in one.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | all others |
//! | `CONFIRM` | at once, or when the user leaves | the node that asked |
//!
//! Cost: 2(n-1) messages per entry, always. Between two entries T.
//!
//! A request that is withdrawn confirms all that were held back. The confirmations that are owed to
//! it still come, and the next request waits for them: then it cannot take one for its own.
//!
//! Requests are served in the order of (time, node). A confirmation carries its sender's time too,
//! so that a request which happened before another, in Lamport's sense, is the older one.

use super::candidate::Candidate;
use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Refused, Stamp,
};

pub use super::candidate::Message;

/// A node of Ricart's and Agrawala's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RicartAgrawala {
    candidate: Candidate,
    /// Whose confirmation is missing.
    missing: NodeSet,
    /// Whom we have not confirmed yet.
    held_back: NodeSet,
}

impl RicartAgrawala {
    /// A cluster.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Self::with_clocks_at(0, nodes)
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node_with_clock_at(me, 0, nodes)
    }

    /// A cluster whose clocks have come this far: to see what happens at their limit.
    #[doc(hidden)]
    pub fn with_clocks_at(time: u64, nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node_with_clock_at(me, time, nodes))
    }

    fn node_with_clock_at(me: NodeId, time: u64, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            candidate: Candidate::new(me, nodes, time),
            missing: NodeSet::empty(nodes),
            held_back: NodeSet::empty(nodes),
        })
    }
}

impl RicartAgrawala {
    fn ask(&mut self, out: &mut Outbox<Message>) {
        for peer in self.candidate.others() {
            self.missing.insert(peer);
            out.send(peer, Message::Request(self.candidate.asked));
        }
    }

    fn confirm_held_back(&mut self, out: &mut Outbox<Message>) {
        out.broadcast(self.held_back.iter(), self.candidate.confirmation());
        self.held_back.clear();
    }

    /// When nobody owes us a confirmation: enters, or asks if it had to wait with that.
    fn go_on(&mut self, out: &mut Outbox<Message>) {
        if !self.missing.is_empty() || !self.candidate.phase.is_waiting() {
            return;
        }
        if !self.candidate.is_postponed() {
            self.candidate.enter(out);
        } else if self.candidate.ask().is_ok() {
            self.ask(out);
        }
    }
}

impl Machine for RicartAgrawala {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.candidate.me
    }

    fn nodes(&self) -> usize {
        self.candidate.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if !self.missing.is_empty() {
            return self.candidate.postpone();
        }
        self.candidate.request()?;
        self.ask(out);
        Ok(())
    }

    /// What the others still owe us belongs to this request. The next one waits for it.
    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.withdraw()?;
        self.confirm_held_back(out);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.release()?;
        self.confirm_held_back(out);
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
                if self.held_back.contains(from) {
                    return Err(Refused("the sender's last request is not confirmed yet"));
                }
                Candidate::check_time(time)?;
                if self.candidate.goes_before(time, from) {
                    self.held_back.insert(from);
                } else {
                    out.send(from, self.candidate.confirmation());
                }
            }
            Message::Confirm(time) => {
                if !self.missing.contains(from) {
                    return Err(Refused("the sender was not asked"));
                }
                self.candidate.check_confirmation(time)?;
                if self.candidate.is_postponed() {
                    self.candidate.check_can_ask(time)?;
                }
                self.missing.remove(from);
                self.candidate.witness(time);
                self.go_on(out);
            }
        }
        Ok(())
    }
}

impl Protocol for RicartAgrawala {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.candidate.phase
    }
}

impl Outlives for RicartAgrawala {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.held_back.remove(peer);
        if self.missing.remove(peer) {
            self.go_on(out);
        }
    }
}

impl Claims for RicartAgrawala {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::in_order(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::always("2(n-1)", 2 * (cluster.len() - 1)))
    }

    fn order() -> Option<fn(&Self) -> Option<Stamp>> {
        Some(|node| node.candidate.stamp())
    }
}
