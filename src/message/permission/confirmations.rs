//! A candidate's side of an [arbiter](super::arbiter): what Maekawa's algorithm and the vote of a
//! majority share.
//!
//! A candidate that waits gives a confirmation back as soon as its arbiter inquires. An inquiry may
//! overtake the confirmation that it is about: then the confirmation goes back when it comes.

use super::arbiter::Message;
use crate::message::{NodeId, NodeSet, Outbox, Refused, Stamp};

/// The confirmations that a request has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Confirmations {
    /// Who has confirmed.
    confirmed: NodeSet,
    /// Whose inquiry has overtaken its confirmation.
    inquired_early: NodeSet,
}

impl Confirmations {
    /// None, in a cluster of so many nodes.
    pub(super) fn none(nodes: usize) -> Self {
        Self { confirmed: NodeSet::empty(nodes), inquired_early: NodeSet::empty(nodes) }
    }

    /// Who has confirmed.
    pub(super) fn arbiters(&self) -> &NodeSet {
        &self.confirmed
    }

    /// Whether this arbiter has confirmed.
    pub(super) fn has(&self, arbiter: NodeId) -> bool {
        self.confirmed.contains(arbiter)
    }

    /// An arbiter confirms the request: keeps the confirmation, or gives it back if an inquiry came
    /// before it.
    pub(super) fn take(&mut self, arbiter: NodeId, request: Stamp, out: &mut Outbox<Message>) {
        if self.inquired_early.remove(arbiter) {
            out.send(arbiter, Message::Relinquish(request));
        } else {
            self.confirmed.insert(arbiter);
        }
    }

    /// An arbiter would like its confirmation of the request back, while we wait: gives it back,
    /// now or when it comes.
    ///
    /// # Errors
    /// If it has inquired already, and its confirmation has not come.
    pub(super) fn inquire(
        &mut self,
        arbiter: NodeId,
        request: Stamp,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if self.confirmed.remove(arbiter) {
            out.send(arbiter, Message::Relinquish(request));
        } else if !self.inquired_early.insert(arbiter) {
            return Err(Refused("the sender has inquired already"));
        }
        Ok(())
    }

    /// The arbiter is down: its confirmation is worth nothing.
    pub(super) fn lose(&mut self, arbiter: NodeId) {
        self.confirmed.remove(arbiter);
        self.inquired_early.remove(arbiter);
    }

    /// The request is granted: inquiries do not matter any more.
    pub(super) fn ignore_inquiries(&mut self) {
        self.inquired_early.clear();
    }

    /// The request is over.
    pub(super) fn clear(&mut self) {
        self.confirmed.clear();
    }
}
