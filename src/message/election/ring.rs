//! Rings of nodes in any order.

use crate::message::{ClusterError, NodeId};

/// For each node the next one round the ring that this order is.
///
/// # Errors
/// Fewer than two nodes, or an order in which one is missing or there twice.
pub(super) fn successors(order: &[NodeId]) -> Result<Vec<NodeId>, ClusterError> {
    let nodes = ClusterError::check_size(order.len())?;
    let mut next = vec![None; nodes];
    for (position, &node) in order.iter().enumerate() {
        ClusterError::check_node(node, nodes)?;
        if next[node.index()].replace(order[(position + 1) % nodes]).is_some() {
            return Err(ClusterError::NotAnOrder(node));
        }
    }
    Ok(next.into_iter().flatten().collect())
}

/// For each node the one before it.
pub(super) fn predecessors(successors: &[NodeId]) -> Vec<NodeId> {
    let mut before = successors.to_vec();
    for (node, next) in NodeId::all(successors.len()).zip(successors) {
        before[next.index()] = node;
    }
    before
}

/// The nodes in their own order.
pub(super) fn in_order(nodes: usize) -> Vec<NodeId> {
    NodeId::all(nodes).collect()
}
