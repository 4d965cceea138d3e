//! An arbiter: what Maekawa's algorithm and the vote of a majority share.
//!
//! A node that wants in asks arbiters. An arbiter confirms one request at a time, the oldest first.
//! When a request comes that is older than the one that it has confirmed, it inquires, and the
//! candidate gives the confirmation back unless it is inside. So the oldest request of all gets
//! every arbiter that it asks, and there is no deadlock.
//!
//! Which messages may come, and how many confirmations are enough, is the algorithm's business.

use std::collections::BTreeSet;

use crate::message::{NodeId, Outbox, Stamp};

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
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Arbiter {
    /// The request that has our confirmation.
    confirmed: Option<Stamp>,
    /// Whether we have inquired about it.
    inquired: bool,
    /// The others, oldest first.
    waiting: BTreeSet<Stamp>,
}

impl Arbiter {
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
        self.waiting.iter().any(|request| request.node == node)
    }

    /// Takes a new request. If it is older than the one that has the confirmation, inquires, once
    /// for each confirmation.
    pub(super) fn take(&mut self, request: Stamp, now: u64, out: &mut Outbox<Message>) {
        self.waiting.insert(request);
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
        self.waiting.insert(request);
        self.confirm_oldest(now, out);
    }

    /// The request is over, whether it has the confirmation or waits.
    pub(super) fn forget(&mut self, request: Stamp) {
        if self.has_confirmed(request) {
            self.confirmed = None;
        } else {
            self.waiting.remove(&request);
        }
    }

    /// Confirms the oldest request, if the confirmation is free.
    pub(super) fn confirm_oldest(&mut self, now: u64, out: &mut Outbox<Message>) {
        if self.confirmed.is_none() {
            self.confirmed = self.waiting.pop_first();
            self.inquired = false;
            if let Some(oldest) = self.confirmed {
                out.send(oldest.node, Message::Confirm(oldest, now));
            }
        }
    }
}
