//! Whom a node asks when it has granting sets: what both of Maekawa's algorithms share.

use crate::message::{NodeId, NodeSet, Quorums, Refused};

/// A node's granting sets, used in turn.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Arbiters {
    nodes: usize,
    sets: Vec<NodeSet>,
    turn: usize,
}

impl Arbiters {
    pub(super) fn of(node: NodeId, sets: &Quorums) -> Self {
        Self { nodes: sets.nodes(), sets: sets.of(node).to_vec(), turn: 0 }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The set for the request at hand.
    pub(super) fn now(&self) -> &NodeSet {
        &self.sets[self.turn]
    }

    /// The next request takes the next set.
    pub(super) fn advance(&mut self) {
        self.turn = (self.turn + 1) % self.sets.len();
    }

    pub(super) fn check_node(&self, from: NodeId) -> Result<(), Refused> {
        if from.index() < self.nodes { Ok(()) } else { Err(Refused("there is no such node")) }
    }

    /// The smallest and the largest of all nodes' sets, without the nodes themselves.
    pub(super) fn peers<'a>(cluster: impl Iterator<Item = &'a Self>) -> (usize, usize) {
        let sizes = cluster.flat_map(|arbiters| &arbiters.sets).map(|set| set.len() - 1);
        sizes.fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
    }
}
