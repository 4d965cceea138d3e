//! Carvalho and Roucairol 1983: a confirmation is good until it is given away.
//!
//! Ricart's and Agrawala's algorithm, with memory. Between any two nodes there is one permission;
//! the node that has it need not ask. It is given away when the other one asks. So a node that
//! enters again and again, undisturbed, sends nothing.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | the nodes whose permission we lack |
//! | | we wait, and give a permission away to an older request | who got it |
//! | `CONFIRM` | for a `REQUEST`: at once, or when the user leaves | the node that asked |
//!
//! Cost: 0 to 2(n-1) messages per entry. Between two entries T.
//!
//! A request that is withdrawn confirms all that were held back, and takes no permission from what
//! is still owed to it. The next request waits for that. If the withdrawn one comes late, it may
//! take a permission away that a waiter has to ask for again: 4(n-1) messages at most, where users
//! withdraw.
//!
//! At first nobody has a permission, and everybody must ask everybody. Starting with all of them at
//! both ends, as a list of "who has asked since" that begins empty would, lets everybody in at
//! once.

use super::candidate::{Candidate, one_of_any_two_asks};
use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Refused,
};

pub use super::candidate::Message;

/// A node of Carvalho's and Roucairol's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CarvalhoRoucairol {
    candidate: Candidate,
    /// Whose permission we lack.
    lacking: NodeSet,
    /// Whom we have asked, without an answer yet.
    missing: NodeSet,
    /// Whom we have not confirmed yet.
    held_back: NodeSet,
}

impl CarvalhoRoucairol {
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
            lacking: NodeSet::of(nodes, me.others(nodes)),
            missing: NodeSet::empty(nodes),
            held_back: NodeSet::empty(nodes),
        })
    }

    fn ask(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.missing.insert(peer);
        out.send(peer, Message::Request(self.candidate.asked));
    }

    fn ask_all(&mut self, out: &mut Outbox<Message>) {
        for peer in self.lacking.clone().iter() {
            self.ask(peer, out);
        }
        if self.lacking.is_empty() {
            self.candidate.enter(out);
        }
    }

    fn confirm_held_back(&mut self, out: &mut Outbox<Message>) {
        for peer in self.held_back.clone().iter() {
            self.confirm(peer, out);
        }
        self.held_back.clear();
    }

    /// When nobody owes us an answer, asks if it had to wait with that.
    fn ask_if_postponed(&mut self, out: &mut Outbox<Message>) {
        if self.missing.is_empty() && self.candidate.is_postponed() && self.candidate.ask().is_ok()
        {
            self.ask_all(out);
        }
    }

    /// Confirms, and so gives away the permission.
    fn confirm(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.lacking.insert(peer);
        out.send(peer, self.candidate.confirmation());
    }
}

impl Machine for CarvalhoRoucairol {
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
        self.ask_all(out);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.release()?;
        self.confirm_held_back(out);
        Ok(())
    }

    /// What the others still owe us belongs to this request. The next one waits for it.
    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.withdraw()?;
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
                    return Ok(());
                }
                self.confirm(from, out);
                // The permission that we had, and now need again.
                if self.candidate.stamp().is_some() && !self.missing.contains(from) {
                    self.ask(from, out);
                }
            }
            Message::Confirm(time) => {
                if !self.missing.contains(from) {
                    return Err(Refused("the sender was not asked"));
                }
                self.candidate.check_confirmation(time)?;
                if self.candidate.stamp().is_none() {
                    // For a request that was withdrawn. Meanwhile we may have confirmed the
                    // sender's own, as if we wanted nothing: so we take no permission from this.
                    self.candidate.check_can_ask(time)?;
                    self.missing.remove(from);
                    self.candidate.witness(time);
                    self.ask_if_postponed(out);
                    return Ok(());
                }
                self.missing.remove(from);
                self.candidate.witness(time);
                self.lacking.remove(from);
                if self.lacking.is_empty() {
                    self.candidate.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for CarvalhoRoucairol {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.candidate.phase
    }
}

/// The permission that we shared with the peer is ours for good.
impl Outlives for CarvalhoRoucairol {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.held_back.remove(peer);
        self.missing.remove(peer);
        self.lacking.remove(peer);
        let asked = self.candidate.stamp().is_some();
        if asked && self.candidate.phase.is_waiting() && self.lacking.is_empty() {
            self.candidate.enter(out);
        }
        self.ask_if_postponed(out);
    }
}

impl Claims for CarvalhoRoucairol {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        let asks = |one: NodeId, other: NodeId| cluster[one.index()].lacking.contains(other);
        Some(one_of_any_two_asks(cluster.len(), asks))
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let most = 2 * (cluster.len() - 1);
        // In turn, everybody has given all its permissions away since it entered last.
        Some(Cost { alone: most as f64..=most as f64, ..Cost::within("0 to 2(n-1)", 0, most) })
    }
}
