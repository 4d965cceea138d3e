//! An arbiter: what Maekawa's algorithm and the vote of a majority share.
//!
//! A node that wants in asks arbiters. An arbiter confirms one request at a time, the oldest first.
//! When a request comes that is older than the one that it has confirmed, it inquires, and the
//! candidate gives the confirmation back unless it is inside. So the oldest request of all gets
//! every arbiter that it asks, and there is no deadlock.
//!
//! Which messages may come, and how many confirmations are enough, is the algorithm's business.

use std::collections::BTreeSet;

use crate::message::{NodeId, NodeSet, Outbox, Stamp};

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

/// A node as arbiter for others, and for itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Arbiter {
    /// The request that has our confirmation.
    confirmed: Option<Stamp>,
    /// Whether we have inquired about it.
    inquired: bool,
    /// The others, oldest first, and at most one of each node.
    waiting: BTreeSet<Stamp>,
    /// Their nodes, so that a node is found without its time.
    nodes_waiting: NodeSet,
}

impl Arbiter {
    /// An arbiter that nobody has asked, in a cluster of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        let nodes_waiting = NodeSet::empty(nodes);
        Self { confirmed: None, inquired: false, waiting: BTreeSet::new(), nodes_waiting }
    }

    /// The request that has our confirmation.
    pub(super) fn confirmed(&self) -> Option<Stamp> {
        self.confirmed
    }

    /// Whether this request has our confirmation.
    pub(super) fn has_confirmed(&self, request: Stamp) -> bool {
        self.confirmed == Some(request)
    }

    /// Whether this request has our confirmation, and we would like to have it back.
    pub(super) fn has_inquired(&self, request: Stamp) -> bool {
        self.has_confirmed(request) && self.inquired
    }

    /// Whether this request is here, confirmed or waiting.
    pub(super) fn has(&self, request: Stamp) -> bool {
        self.has_confirmed(request) || self.waiting.contains(&request)
    }

    /// Whether a request of the node waits.
    pub(super) fn keeps_waiting(&self, node: NodeId) -> bool {
        self.nodes_waiting.contains(node)
    }

    fn keep_waiting(&mut self, request: Stamp) {
        let new = self.nodes_waiting.insert(request.node);
        debug_assert!(new, "a node has one request at a time");
        self.waiting.insert(request);
    }

    /// Takes a new request. If it is older than the one that has the confirmation, inquires, once
    /// for each confirmation.
    pub(super) fn take(&mut self, request: Stamp, now: u64, out: &mut Outbox<Message>) {
        self.keep_waiting(request);
        if let Some(younger) = self.confirmed.filter(|&confirmed| request < confirmed)
            && !self.inquired
        {
            self.inquired = true;
            out.send(younger.node, Message::Inquire(younger));
        }
        self.confirm_oldest(now, out);
    }

    /// The confirmation comes back, and its request goes on waiting.
    pub(super) fn take_back(&mut self, request: Stamp, now: u64, out: &mut Outbox<Message>) {
        debug_assert!(self.has_confirmed(request), "who gives back has it");
        self.confirmed = None;
        self.keep_waiting(request);
        self.confirm_oldest(now, out);
    }

    /// The request is over, whether it has the confirmation or waits.
    pub(super) fn forget(&mut self, request: Stamp) {
        if self.has_confirmed(request) {
            self.confirmed = None;
        } else if self.waiting.remove(&request) {
            self.nodes_waiting.remove(request.node);
        }
    }

    /// The node has no request any more.
    pub(super) fn forget_node(&mut self, node: NodeId) {
        let mut requests = self.waiting.iter().copied().chain(self.confirmed);
        if let Some(request) = requests.find(|request| request.node == node) {
            self.forget(request);
        }
    }

    /// Confirms the oldest request, if the confirmation is free.
    pub(super) fn confirm_oldest(&mut self, now: u64, out: &mut Outbox<Message>) {
        if self.confirmed.is_none() {
            self.confirmed = self.waiting.pop_first();
            self.inquired = false;
            if let Some(oldest) = self.confirmed {
                self.nodes_waiting.remove(oldest.node);
                out.send(oldest.node, Message::Confirm(oldest, now));
            }
        }
    }
}
