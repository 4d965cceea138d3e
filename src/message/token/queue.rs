//! The queue that a token carries: who is next, and nobody twice.

use std::collections::VecDeque;

use crate::message::{NodeId, NodeSet, Refused};

/// Refuses a queue that names a node twice, or one that a cluster of `nodes` does not have, or one of
/// the nodes that are known not to wait.
pub(super) fn check<const N: usize>(
    queue: &VecDeque<NodeId>,
    nodes: usize,
    not_waiting: [NodeId; N],
) -> Result<(), Refused> {
    if queue.is_empty() {
        return Ok(());
    }
    let mut named = NodeSet::of(nodes, not_waiting);
    let is_new = |&node: &NodeId| node.index() < nodes && named.insert(node);
    if !queue.iter().all(is_new) {
        return Err(Refused(
            "the token's queue names a node twice, or one that cannot wait for it",
        ));
    }
    Ok(())
}

/// Whether the node is in the queue.
pub(super) fn names(queue: &VecDeque<NodeId>, node: NodeId) -> bool {
    is_among(queue.iter(), node)
}

/// Puts nodes behind a queue, and leaves out those that it has. They must differ from each other.
/// Says whether the queue has grown.
pub(super) fn append(
    queue: &mut VecDeque<NodeId>,
    nodes: impl IntoIterator<Item = NodeId>,
) -> bool {
    let before = queue.len();
    for node in nodes {
        if !is_among(queue.range(..before), node) {
            queue.push_back(node);
        }
    }
    queue.len() > before
}

// Nearly always it is not, and a loop without a way out looks at several nodes at a time.
fn is_among<'a>(nodes: impl Iterator<Item = &'a NodeId>, node: NodeId) -> bool {
    nodes.fold(false, |found, &it| found | (it == node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(nodes: &[u32]) -> VecDeque<NodeId> {
        nodes.iter().copied().map(NodeId).collect()
    }

    #[test]
    fn a_queue_has_nobody_twice_and_no_stranger() {
        assert_eq!(check(&queue(&[]), 3, []), Ok(()));
        assert_eq!(check(&queue(&[2, 0, 1]), 3, []), Ok(()));
        assert_eq!(check(&queue(&[2, 0]), 3, [NodeId(1)]), Ok(()));
        for wrong in [&[3][..], &[0, u32::MAX], &[2, 2], &[0, 2, 0], &[1], &[0, 1]] {
            check(&queue(wrong), 3, [NodeId(1)]).unwrap_err();
        }
    }

    #[test]
    fn who_is_in_the_queue_is_not_put_behind_it() {
        let mut line = queue(&[4, 2]);
        assert!(append(&mut line, [2, 3, 4].map(NodeId)));
        assert_eq!(line, queue(&[4, 2, 3]));
        assert!(!append(&mut line, [3, 2].map(NodeId)));
        assert!(names(&line, NodeId(3)) && !names(&line, NodeId(1)));
    }
}
