//! The messages in flight, in a canonical form: the same messages are the same state, in whichever
//! order they were sent.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::message::{Channels, NodeId};

/// Sender, receiver, message.
pub(super) type Envelope<M> = (NodeId, NodeId, M);

/// A message, and within how many periods it arrives, where time is counted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sent<M> {
    pub(super) message: M,
    pub(super) due: u8,
}

/// The messages in flight.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Network<M> {
    /// A queue for each pair of nodes that has something to deliver.
    Fifo(BTreeMap<(NodeId, NodeId), VecDeque<M>>),
    /// All of them, sorted by a hash, since messages need not be `Ord`.
    AnyOrder(Vec<(u64, Envelope<M>)>),
}

impl<M: Clone + Eq + Hash> Network<M> {
    pub(super) fn new(channels: Channels) -> Self {
        match channels {
            Channels::Fifo => Self::Fifo(BTreeMap::new()),
            Channels::AnyOrder => Self::AnyOrder(Vec::new()),
        }
    }

    pub(super) fn send(&mut self, from: NodeId, to: NodeId, message: M) {
        match self {
            Self::Fifo(queues) => queues.entry((from, to)).or_default().push_back(message),
            Self::AnyOrder(sorted) => {
                let envelope = (from, to, message);
                let mut hasher = DefaultHasher::new();
                envelope.hash(&mut hasher);
                let hash = hasher.finish();
                let place = sorted.partition_point(|(other, _)| *other < hash);
                sorted.insert(place, (hash, envelope));
            }
        }
    }

    /// The messages that can arrive next, without duplicates.
    pub(super) fn deliverable(&self) -> Vec<Envelope<M>> {
        match self {
            Self::Fifo(queues) => {
                let first = |(&(from, to), queue): (&(NodeId, NodeId), &VecDeque<M>)| {
                    queue.front().map(|message| (from, to, message.clone()))
                };
                queues.iter().filter_map(first).collect()
            }
            Self::AnyOrder(sorted) => {
                let mut distinct: Vec<_> = sorted.iter().map(|(_, it)| it.clone()).collect();
                distinct.dedup();
                distinct
            }
        }
    }

    /// Takes out a message that can arrive.
    pub(super) fn take(&mut self, wanted: &Envelope<M>) -> bool {
        match self {
            Self::Fifo(queues) => {
                let (from, to, message) = wanted;
                let Some(queue) = queues.get_mut(&(*from, *to)) else { return false };
                if queue.front() != Some(message) {
                    return false;
                }
                queue.pop_front();
                if queue.is_empty() {
                    queues.remove(&(*from, *to));
                }
                true
            }
            Self::AnyOrder(sorted) => {
                let position = sorted.iter().position(|(_, envelope)| envelope == wanted);
                position.map(|position| sorted.remove(position)).is_some()
            }
        }
    }

    /// Puts back what was taken out: it can arrive next.
    pub(super) fn put_back(&mut self, (from, to, message): Envelope<M>) {
        match self {
            Self::Fifo(queues) => queues.entry((from, to)).or_default().push_front(message),
            Self::AnyOrder(_) => self.send(from, to, message),
        }
    }

    /// Throws away what matches, or changes it.
    pub(super) fn rewrite(&mut self, mut change: impl FnMut(NodeId, NodeId, M) -> Option<M>) {
        let envelopes: Vec<Envelope<M>> =
            self.iter().map(|(from, to, message)| (from, to, message.clone())).collect();
        match self {
            Self::Fifo(queues) => queues.clear(),
            Self::AnyOrder(sorted) => sorted.clear(),
        }
        for (from, to, message) in envelopes {
            if let Some(message) = change(from, to, message) {
                self.send(from, to, message);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Fifo(queues) => queues.is_empty(),
            Self::AnyOrder(sorted) => sorted.is_empty(),
        }
    }

    /// Every message in flight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId, &M)> {
        let (queues, sorted) = match self {
            Self::Fifo(queues) => (Some(queues), None),
            Self::AnyOrder(sorted) => (None, Some(sorted)),
        };
        let queued = queues
            .into_iter()
            .flatten()
            .flat_map(|(&(from, to), queue)| queue.iter().map(move |message| (from, to, message)));
        let sorted =
            sorted.into_iter().flatten().map(|(_, (from, to, message))| (*from, *to, message));
        queued.chain(sorted)
    }
}
