//! The queue that a token carries: who is next, and nobody twice.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::message::{NodeId, NodeSet, Refused};

/// Nodes in the order in which they are served, and no node twice.
///
/// No node can be twice in a queue that this program made. A queue that is decoded is searched for
/// repetitions once, when it is read. So a node that receives a token need not go through its
/// queue: it asks for the largest node, and for those that cannot wait.
///
/// ```
/// use exclusion::message::{NodeId, NodeQueue};
///
/// let queue = NodeQueue::try_from(vec![NodeId(2), NodeId(0)])?;
/// assert!(queue.contains(NodeId(2)) && !queue.contains(NodeId(1)));
/// assert!(NodeQueue::try_from(vec![NodeId(2), NodeId(2)]).is_err());
/// # Ok::<(), exclusion::message::NamedTwice>(())
/// ```
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<NodeId>"))]
pub struct NodeQueue {
    /// None until the first node comes. Apart, so that a message with a queue is small to move.
    line: Option<Box<Line>>,
}

/// The line of a queue, and what makes it quick to ask who is in it.
#[derive(Clone, Default)]
struct Line {
    nodes: VecDeque<NodeId>,
    /// More than the number of every node in it. It does not fall when single nodes leave.
    bound: usize,
    /// The nodes of the line, once it is long enough for a set to pay.
    named: Option<NodeSet>,
}

impl Line {
    /// A shorter line is searched from end to end, which is as quick as a set.
    const SHORT: usize = 8;

    /// A set has a bit for each node of the cluster. With a line of at least one node for so many,
    /// it takes at most 64 bytes per node of the line, however many queues a cluster has.
    const NODES_PER_PLACE: usize = 512;

    #[inline]
    fn contains(&self, node: NodeId) -> bool {
        match &self.named {
            Some(named) => named.contains(node),
            // Nearly always it is not, and a loop without a way out looks at several at a time.
            None => self.nodes.iter().fold(false, |found, &it| found | (it == node)),
        }
    }

    #[inline]
    fn push_back(&mut self, node: NodeId) -> bool {
        let new = match &mut self.named {
            Some(named) => named.insert(node),
            None => !self.contains(node),
        };
        if new {
            self.nodes.push_back(node);
            self.bound = self.bound.max(node.index() + 1);
            self.name_all_if_long();
        }
        new
    }

    #[inline]
    fn name_all_if_long(&mut self) {
        if self.named.is_none()
            && self.nodes.len() > Self::SHORT
            && self.nodes.len() >= self.bound / Self::NODES_PER_PLACE
        {
            self.named = Some(NodeSet::of(self.bound, self.nodes.iter().copied()));
        }
    }

    /// The set goes too: a cluster may have a queue at each node, and most of them are short.
    #[inline]
    fn drain(&mut self) -> impl Iterator<Item = NodeId> + '_ {
        self.named = None;
        self.bound = 0;
        self.nodes.drain(..)
    }

    #[inline]
    fn pop_front(&mut self) -> Option<NodeId> {
        let first = self.nodes.pop_front()?;
        if let Some(named) = &mut self.named {
            named.remove(first);
        }
        Some(first)
    }
}

impl NodeQueue {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its nodes, the first first.
    #[inline]
    fn nodes(&self) -> &VecDeque<NodeId> {
        static NOBODY: VecDeque<NodeId> = VecDeque::new();
        self.line.as_ref().map_or(&NOBODY, |line| &line.nodes)
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<NodeId> {
        self.nodes().front().copied()
    }

    /// The last.
    #[inline]
    pub fn back(&self) -> Option<NodeId> {
        self.nodes().back().copied()
    }

    /// How many nodes are in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.nodes().len()
    }

    /// Whether no node is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.nodes().is_empty()
    }

    /// Its nodes, the first first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + '_ {
        self.nodes().iter().copied()
    }

    /// Whether the node is in it.
    #[inline]
    pub fn contains(&self, node: NodeId) -> bool {
        self.line.as_ref().is_some_and(|line| line.contains(node))
    }

    /// Puts a node at the end, unless the queue has it. Says whether it is new.
    #[inline]
    pub fn push_back(&mut self, node: NodeId) -> bool {
        self.line.get_or_insert_default().push_back(node)
    }

    /// Takes the first out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<NodeId> {
        self.line.as_mut()?.pop_front()
    }

    /// Moves the nodes of another queue to the end, and leaves out those that this one has. Says
    /// whether it has grown. The other queue is empty afterwards.
    #[inline]
    pub fn append(&mut self, other: &mut Self) -> bool {
        if self.is_empty() {
            std::mem::swap(self, other);
            other.drain().for_each(drop);
            return !self.is_empty();
        }
        self.extend(other.drain())
    }

    /// Puts nodes at the end, and leaves out those that the queue has. Says whether it has grown.
    #[inline]
    pub fn extend(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> bool {
        nodes.into_iter().fold(false, |longer, node| self.push_back(node) | longer)
    }

    /// Takes all out, the first first.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = NodeId> + '_ {
        self.line.iter_mut().flat_map(|line| line.drain())
    }

    /// Refuses a queue that names a node which a cluster of `nodes` does not have, or one of the
    /// nodes that are known not to wait.
    #[inline]
    pub(super) fn check<const N: usize>(
        &self,
        nodes: usize,
        not_waiting: [NodeId; N],
    ) -> Result<(), Refused> {
        let Some(line) = &self.line else { return Ok(()) };
        if line.bound > nodes || not_waiting.into_iter().any(|node| line.contains(node)) {
            return Err(Refused("the token's queue names a node that cannot wait for it"));
        }
        Ok(())
    }
}

/// A queue names a node twice: leave one of the two out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedTwice(
    /// This node.
    pub NodeId,
);

impl fmt::Display for NamedTwice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the queue names {} twice: nobody waits in two places", self.0)
    }
}

impl std::error::Error for NamedTwice {}

impl TryFrom<Vec<NodeId>> for NodeQueue {
    type Error = NamedTwice;

    fn try_from(line: Vec<NodeId>) -> Result<Self, NamedTwice> {
        // Sorted, since the numbers may be as large as they like.
        let mut sorted = line.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(NamedTwice(twice[0]));
        }
        let bound = sorted.last().map_or(0, |largest| largest.index() + 1);
        let mut line = Line { nodes: line.into(), bound, named: None };
        line.name_all_if_long();
        Ok(Self { line: Some(Box::new(line)) })
    }
}

// Two queues are equal if their lines are: the rest follows from it, or is a matter of speed.

impl PartialEq for NodeQueue {
    fn eq(&self, other: &Self) -> bool {
        self.nodes() == other.nodes()
    }
}

impl Eq for NodeQueue {}

impl Hash for NodeQueue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nodes().hash(state);
    }
}

impl fmt::Debug for NodeQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes().fmt(f)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for NodeQueue {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.nodes().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(nodes: &[u32]) -> NodeQueue {
        NodeQueue::try_from(nodes.iter().copied().map(NodeId).collect::<Vec<_>>()).expect("once")
    }

    #[test]
    fn a_queue_with_a_stranger_or_one_that_does_not_wait_is_refused() {
        assert_eq!(queue(&[]).check(3, []), Ok(()));
        assert_eq!(queue(&[2, 0, 1]).check(3, []), Ok(()));
        assert_eq!(queue(&[2, 0]).check(3, [NodeId(1)]), Ok(()));
        for wrong in [&[3][..], &[0, u32::MAX], &[u32::MAX, 0], &[1], &[0, 1]] {
            queue(wrong).check(3, [NodeId(1)]).unwrap_err();
        }
    }

    #[test]
    fn who_is_in_the_queue_is_not_put_behind_it() {
        let mut line = queue(&[4, 2]);
        assert!(line.extend([2, 3, 4, 3].map(NodeId)));
        assert_eq!(line, queue(&[4, 2, 3]));
        assert!(!line.extend([3, 2].map(NodeId)));
        assert!(line.contains(NodeId(3)) && !line.contains(NodeId(1)));
    }

    #[test]
    fn a_node_twice_is_named() {
        for (line, twice) in
            [(&[2, 2][..], 2), (&[0, 7, 0], 0), (&[u32::MAX, 1, u32::MAX], u32::MAX)]
        {
            let line: Vec<_> = line.iter().copied().map(NodeId).collect();
            assert_eq!(NodeQueue::try_from(line), Err(NamedTwice(NodeId(twice))));
        }
    }

    /// The same, done with a plain line, for queues that get a set and such that do not.
    #[test]
    fn a_queue_with_a_set_does_what_one_without_does() {
        for (nodes, longest) in [(20, 20), (600, 40), (100_000, 400), (4_000_000_000, 30)] {
            let mut chance = crate::message::random::Random::new(nodes as u64);
            let (mut queue, mut line) = (NodeQueue::new(), VecDeque::new());
            let mut had_a_set = false;
            for round in 0..5_000 {
                let node = match line.len() {
                    0 => NodeId(0),
                    len if chance.below(2) == 0 => line[chance.below(len)],
                    _ => NodeId(chance.below(nodes) as u32),
                };
                assert_eq!(queue.contains(node), line.contains(&node));
                if line.len() < longest && round % 7 != 0 {
                    let new = !line.contains(&node);
                    assert_eq!(queue.push_back(node), new);
                    if new {
                        line.push_back(node);
                    }
                } else if round % 500 == 0 {
                    assert!(queue.drain().eq(line.drain(..)));
                } else {
                    assert_eq!(queue.pop_front(), line.pop_front());
                }
                assert!(queue.iter().eq(line.iter().copied()));
                assert_eq!(
                    (queue.front(), queue.back()),
                    (line.front().copied(), line.back().copied())
                );
                let again = NodeQueue::try_from(queue.iter().collect::<Vec<_>>());
                assert_eq!(again.as_ref(), Ok(&queue));
                assert!(again.is_ok_and(|again| again.contains(node) == line.contains(&node)));
                had_a_set |= queue.line.as_ref().is_some_and(|line| line.named.is_some());
            }
            assert_eq!(had_a_set, nodes <= 100_000);
        }
    }
}
