//! Rings of nodes in any order; and what those say to each other that send numbers round.

use crate::message::{ClusterError, Epoch, NodeId, Refused};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This node stands for election.
    Election {
        /// In which epoch.
        epoch: u64,
        /// The node.
        candidate: NodeId,
    },
    /// This node is elected.
    Elected {
        /// In which epoch.
        epoch: u64,
        /// The node.
        leader: NodeId,
    },
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Elected { .. } => "ELECTED",
        }
    }
}

/// The place of a node on a ring, and whether a message can have come there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Place {
    pub(super) me: NodeId,
    pub(super) nodes: u32,
    before: NodeId,
    pub(super) next: NodeId,
}

impl Place {
    /// The place of each node, if each sends to the one that comes after it in this order.
    ///
    /// # Errors
    /// As [`successors`].
    pub(super) fn all(order: &[NodeId]) -> Result<Vec<Self>, ClusterError> {
        let next = successors(order)?;
        let before = predecessors(&next);
        let nodes = NodeId::at(order.len()).0;
        let place = |me: NodeId| {
            let (before, next) = (before[me.index()], next[me.index()]);
            Self { me, nodes, before, next }
        };
        Ok(NodeId::all(order.len()).map(place).collect())
    }

    /// Refuses what cannot have been sent to a node that knows of `known` epochs. Says of which
    /// epoch it is.
    pub(super) fn check(
        &self,
        from: NodeId,
        message: &Message,
        known: u64,
    ) -> Result<u64, Refused> {
        if from != self.before {
            return Err(Refused("it comes from the node before"));
        }
        let (&Message::Election { epoch, candidate: node }
        | &Message::Elected { epoch, leader: node }) = message;
        Epoch::check(epoch)?;
        node.check_member(self.nodes as usize)?;
        if epoch == 0 {
            return Err(Refused("epochs are numbered from 1"));
        }
        if node == self.me && epoch > known {
            return Err(Refused("it has not stood for election in that epoch"));
        }
        Ok(epoch)
    }
}

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
