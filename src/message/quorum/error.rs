//! Quorums that cannot be.

use std::error::Error;
use std::fmt;

use super::Quorums;
use crate::message::{ClusterError, NodeId, NodeSet};

/// Quorums that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuorumError {
    /// Fewer than two nodes: nobody to exclude.
    TooFewNodes(usize),
    /// More than [`Quorums::MOST_NODES`].
    TooManyNodes(usize),
    /// The nodes do not fill a triangle.
    NotTriangular {
        /// How many there are.
        nodes: usize,
        /// The next numbers that do, one below and one above where there are such.
        nearest: [usize; 2],
    },
    /// The nodes do not fill a projective plane that is known.
    NotAPlane {
        /// How many there are.
        nodes: usize,
        /// The next numbers that do, one below and one above where there are such.
        nearest: [usize; 2],
    },
    /// The order is neither 1 nor a prime power. Nobody has found a plane of any other.
    NoPlane {
        /// The order.
        order: usize,
        /// The next orders that have one, one below and one above where there are such.
        nearest: [usize; 2],
    },
    /// Two pairs of a circle of so many nodes do not meet.
    NotACircle(usize),
    /// A node whose grant would count for nothing.
    ZeroWeight(NodeId),
    /// A set without any node.
    Empty(NodeId),
    /// A set that does not hold its owner.
    WithoutOwner {
        /// Whose it is.
        owner: NodeId,
        /// The set.
        set: NodeSet,
    },
    /// A set with a node that the cluster does not have.
    UnknownNode {
        /// Whose it is.
        owner: NodeId,
        /// The node.
        node: NodeId,
        /// How many there are.
        nodes: usize,
    },
    /// Two sets that do not meet, so that both owners could enter.
    Apart {
        /// Whose they are.
        owners: [NodeId; 2],
        /// The sets.
        sets: [NodeSet; 2],
    },
}

impl fmt::Display for QuorumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewNodes(nodes) => ClusterError::TooFewNodes(*nodes).fmt(f),
            Self::TooManyNodes(nodes) => {
                let most = Quorums::MOST_NODES;
                write!(f, "the sets of {nodes} nodes are too large: take at most {most} nodes")
            }
            Self::NotTriangular { nodes, nearest: [below, above] } => {
                write!(
                    f,
                    "{nodes} nodes do not fill a triangle: take {below} or {above} nodes, or a grid"
                )
            }
            Self::NotAPlane { nodes, nearest: [below, above] } => {
                write!(
                    f,
                    "{nodes} nodes do not fill a projective plane: take {below} or {above} nodes"
                )
            }
            Self::NoPlane { order, nearest: [below, above] } => write!(
                f,
                "no plane of order {order} is known, only of 1 and prime powers: \
                 take {below} or {above}"
            ),
            Self::NotACircle(nodes) => {
                write!(f, "the pairs of a circle of {nodes} nodes do not meet: take 2 or 3 nodes")
            }
            Self::ZeroWeight(node) => write!(f, "{node} has weight 0: give it 1 or more"),
            Self::Empty(owner) => {
                write!(
                    f,
                    "the set of {owner} is empty: put {owner} in, and a node of each other set"
                )
            }
            Self::WithoutOwner { owner, set } => {
                write!(f, "{set} of {owner} does not hold {owner}: put it in")
            }
            Self::UnknownNode { owner, node, nodes } => {
                let last = nodes.saturating_sub(1);
                write!(f, "the set of {owner} holds {node}, which is none: take n0 to n{last}")
            }
            Self::Apart { owners: [one, other], sets: [its, theirs] } => write!(
                f,
                "{its} of {one} and {theirs} of {other} do not meet: \
                 put a node of one into the other"
            ),
        }
    }
}

impl Error for QuorumError {}
