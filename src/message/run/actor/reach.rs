//! Which nodes are down, and which are cut off: what a detector of a cluster of actors knows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::message::random::Random;
use crate::message::{NodeId, NodeSet};

/// How probable it is that a message is lost, or arrives twice, and the seed of the chances.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Weather {
    pub(super) loss: f64,
    pub(super) duplication: f64,
    pub(super) seed: u64,
}

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passage {
    Arrives,
    IsLost,
    IsDoubled,
}

/// The chances of one node's inbox.
pub(super) struct Chances {
    weather: Weather,
    random: Random,
}

impl Chances {
    pub(super) fn new(weather: Weather, me: NodeId) -> Self {
        // Each node has chances of its own.
        let random = Random::new(weather.seed.wrapping_add(u64::from(me.0) << 32));
        Self { weather, random }
    }

    pub(super) fn draw(&mut self) -> Passage {
        if self.random.fraction() < self.weather.loss {
            Passage::IsLost
        } else if self.random.fraction() < self.weather.duplication {
            Passage::IsDoubled
        } else {
            Passage::Arrives
        }
    }
}

/// Who can be reached. Whoever changes it sends mail about the change afterwards, through a channel
/// that synchronises. A node that has that mail therefore sees the change, so `Release` and
/// `Acquire` are enough: nobody compares the order of two changes.
pub(super) struct Reach {
    down: Vec<AtomicBool>,
    /// Whether there is a side, so that nobody locks that for nothing.
    is_split: AtomicBool,
    /// One side of a cut.
    side: RwLock<Option<NodeSet>>,
}

impl Reach {
    /// All nodes are up, and reach each other.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            down: (0..nodes).map(|_| AtomicBool::new(false)).collect(),
            is_split: AtomicBool::new(false),
            side: RwLock::new(None),
        }
    }

    pub(super) fn is_down(&self, node: NodeId) -> bool {
        self.down[node.index()].load(Ordering::Acquire)
    }

    pub(super) fn set_down(&self, node: NodeId, is_down: bool) {
        self.down[node.index()].store(is_down, Ordering::Release);
    }

    /// Nothing passes between these nodes and the others from now on. None: everything passes.
    pub(super) fn cut(&self, side: Option<NodeSet>) {
        let is_split = side.is_some();
        *self.side.write().unwrap_or_else(PoisonError::into_inner) = side;
        self.is_split.store(is_split, Ordering::Release);
    }

    /// Whether a cut is between two nodes.
    #[inline]
    pub(super) fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        self.is_split.load(Ordering::Acquire) && self.are_apart(one, other)
    }

    #[cold]
    fn are_apart(&self, one: NodeId, other: NodeId) -> bool {
        let side = self.side.read().unwrap_or_else(PoisonError::into_inner);
        side.as_ref().is_some_and(|side| side.contains(one) != side.contains(other))
    }

    pub(super) fn seems_down(&self, observer: NodeId, node: NodeId) -> bool {
        self.is_down(node) || self.is_cut(observer, node)
    }
}
