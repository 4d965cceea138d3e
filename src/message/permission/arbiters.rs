//! The arbiters that a node of Maekawa's algorithm asks, and the candidates that ask it.

use crate::message::{NodeId, NodeSet, Quorums};

/// A node's quorums, used in turn, and the nodes whose sets hold it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Arbiters {
    nodes: usize,
    sets: Vec<NodeSet>,
    turn: usize,
    /// Who may ask us.
    candidates: NodeSet,
}

impl Arbiters {
    pub(super) fn of(node: NodeId, sets: &Quorums) -> Self {
        let asks = |other: &NodeId| sets.of(*other).iter().any(|set| set.contains(node));
        let candidates = NodeId::all(sets.nodes()).filter(asks);
        Self::with_candidates(node, sets, NodeSet::of(sets.nodes(), candidates))
    }

    /// Those of every node.
    pub(super) fn of_all(sets: &Quorums) -> impl Iterator<Item = Self> {
        let nodes = sets.nodes();
        let mut candidates = vec![NodeSet::empty(nodes); nodes];
        for candidate in NodeId::all(nodes) {
            for arbiter in sets.of(candidate).iter().flat_map(NodeSet::iter) {
                candidates[arbiter.index()].insert(candidate);
            }
        }
        let each = NodeId::all(nodes).zip(candidates);
        each.map(|(node, candidates)| Self::with_candidates(node, sets, candidates))
    }

    fn with_candidates(node: NodeId, sets: &Quorums, candidates: NodeSet) -> Self {
        Self { nodes: sets.nodes(), sets: sets.of(node).to_vec(), turn: 0, candidates }
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }

    /// The set for the request at hand.
    pub(super) fn now(&self) -> &NodeSet {
        &self.sets[self.turn]
    }

    /// Anybody may ask us: who loses an arbiter asks everybody else.
    pub(super) fn expect_losses(&mut self) {
        self.candidates = NodeSet::of(self.nodes, NodeId::all(self.nodes));
    }

    /// A node is down. All that live, who are those that may ask, take the place of each set that
    /// it was in: they meet every other set in some node that lives, since each holds its owner.
    pub(super) fn lose(&mut self, node: NodeId) {
        self.candidates.remove(node);
        for set in self.sets.iter_mut().filter(|set| set.contains(node)) {
            *set = self.candidates.clone();
        }
    }

    /// The next request takes the next set.
    pub(super) fn advance(&mut self) {
        self.turn = (self.turn + 1) % self.sets.len();
    }

    /// Whether this node is ever one of them.
    pub(super) fn include(&self, node: NodeId) -> bool {
        self.sets.iter().any(|set| set.contains(node))
    }

    /// Whether we are ever an arbiter of this node.
    pub(super) fn is_candidate(&self, node: NodeId) -> bool {
        self.candidates.contains(node)
    }

    /// The smallest and the largest of all nodes' sets, without the nodes themselves.
    pub(super) fn peers<'a>(cluster: impl Iterator<Item = &'a Self>) -> (usize, usize) {
        let sizes = cluster.flat_map(|arbiters| &arbiters.sets).map(|set| set.len() - 1);
        sizes.fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
    }
}
