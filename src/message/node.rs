//! The nodes of a cluster: [`NodeId`] and [`NodeSet`].

use std::fmt;

use super::Refused;

/// A node of a cluster: a number from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node at a position of the cluster.
    ///
    /// # Panics
    /// Past 2³² nodes.
    #[inline]
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a cluster has fewer than 2^32 nodes"))
    }

    /// Its position in the cluster.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The nodes of a cluster of `count`, in order.
    pub fn all(
        count: usize,
    ) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + Clone {
        (0..count).map(Self::at)
    }

    /// Every two nodes of a cluster of `count`, once.
    pub fn pairs(count: usize) -> impl Iterator<Item = (NodeId, NodeId)> {
        Self::all(count)
            .flat_map(move |one| (one.index() + 1..count).map(move |it| (one, Self::at(it))))
    }

    /// All nodes but this one, in the order of the ring, beginning after it.
    pub fn after(self, count: usize) -> impl Iterator<Item = NodeId> + Clone {
        (self.index() + 1..count).chain(0..self.index()).map(Self::at)
    }

    /// Refuses a sender that is not another node of a cluster of `count`.
    ///
    /// # Errors
    /// If `from` is this node, or does not exist.
    #[inline]
    pub fn check_peer(self, from: NodeId, count: usize) -> Result<(), Refused> {
        if from == self || from.index() >= count {
            return Err(Refused("there is no such peer"));
        }
        Ok(())
    }

    /// Refuses a node that a cluster of `count` does not have.
    ///
    /// # Errors
    /// If there is no such node.
    #[inline]
    pub fn check_member(self, count: usize) -> Result<(), Refused> {
        if self.index() < count { Ok(()) } else { Err(Refused("there is no such node")) }
    }

    /// All nodes but this one, in order.
    pub fn others(self, count: usize) -> impl DoubleEndedIterator<Item = NodeId> + Clone {
        Self::all(count).filter(move |&node| node != self)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of the nodes of one cluster: one bit per node.
///
/// ```
/// use exclusion::message::{NodeId, NodeSet};
///
/// let row = NodeSet::of(9, [3, 4, 5].map(NodeId));
/// let column = NodeSet::of(9, [1, 4, 7].map(NodeId));
/// assert!(row.meets(&column));
/// assert_eq!(row.len(), 3);
/// ```
///
/// It answers for every node, also when it was decoded and is too short for its cluster.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// No node, of a cluster of `count`.
    pub fn empty(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)] }
    }

    /// The nodes named, of a cluster of `count`.
    ///
    /// # Panics
    /// If one of them is not in the cluster.
    pub fn of(count: usize, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        let mut set = Self::empty(count);
        for node in nodes {
            assert!(node.index() < count, "{node} is not one of {count} nodes");
            set.insert(node);
        }
        set
    }

    /// Puts a node in. Says whether it is new.
    ///
    /// Only nodes of the cluster belong in the set. A larger number can make the set longer; then
    /// it equals no set of the cluster.
    #[inline]
    pub fn insert(&mut self, node: NodeId) -> bool {
        let (index, bit) = Self::place(node);
        if index >= self.words.len() {
            self.words.resize(index + 1, 0);
        }
        let word = &mut self.words[index];
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes a node out. Says whether it was in.
    #[inline]
    pub fn remove(&mut self, node: NodeId) -> bool {
        let (index, bit) = Self::place(node);
        let Some(word) = self.words.get_mut(index) else { return false };
        let was_in = *word & bit != 0;
        *word &= !bit;
        was_in
    }

    /// Takes all nodes out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Whether the node is in it.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        let (index, bit) = Self::place(node);
        self.words.get(index).is_some_and(|word| word & bit != 0)
    }

    /// The word in which a node is, and its bit there.
    #[inline]
    fn place(node: NodeId) -> (usize, u64) {
        (node.index() / 64, 1 << (node.index() % 64))
    }

    /// How many nodes are in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no node is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Whether some node is in both.
    pub fn meets(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Its nodes, in order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    NodeId::at(index * 64 + bit)
                })
            })
        })
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, node) in self.iter().enumerate() {
            write!(f, "{}{node}", if position == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_nodes_are_a_pair_once() {
        let pairs: Vec<_> = NodeId::pairs(3).collect();
        assert_eq!(
            pairs,
            [(0, 1), (0, 2), (1, 2)].map(|(one, other)| (NodeId(one), NodeId(other)))
        );
        let round: Vec<_> = NodeId(1).after(4).collect();
        assert_eq!(round, [2, 3, 0].map(NodeId));
    }

    #[test]
    fn a_set_goes_past_a_word() {
        let mut set = NodeSet::of(130, [0, 63, 64, 129].map(NodeId));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129].map(NodeId));
        assert!(!set.insert(NodeId(64)));
        assert!(set.remove(NodeId(64)));
        assert!(!set.remove(NodeId(64)));
        assert_eq!(set.len(), 3);
        assert_eq!(set.to_string(), "{n0, n63, n129}");
        set.clear();
        assert!(set.is_empty());
    }

    #[test]
    fn a_set_that_is_too_short_answers_for_every_node() {
        let mut set = NodeSet::empty(0);
        assert!(!set.contains(NodeId(70)));
        assert!(!set.remove(NodeId(70)));
        assert!(set.insert(NodeId(70)));
        assert!(!set.insert(NodeId(70)));
        assert!(set.contains(NodeId(70)) && !set.contains(NodeId(6)));
        assert_eq!(set.to_string(), "{n70}");
    }

    #[test]
    #[should_panic(expected = "n4 is not one of 4 nodes")]
    fn a_set_refuses_a_stranger() {
        let _ = NodeSet::of(4, [NodeId(4)]);
    }
}
