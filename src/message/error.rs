//! What can be wrong: with a configuration, and with an input.

use std::error::Error;
use std::fmt;

use super::NodeId;
use super::quorum::QuorumError;

/// Why a protocol does not take an input. [`step`](super::step) makes an [`Unexpected`] of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused(pub &'static str);

/// A node got an input that cannot occur in its state: a message that nobody sent, a release without an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unexpected {
    /// Who got it.
    pub node: NodeId,
    /// What it got.
    pub input: String,
    /// Why it cannot be.
    pub why: &'static str,
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, input, why } = self;
        write!(f, "{node} cannot take {input}: {why}")
    }
}

impl Error for Unexpected {}

/// A cluster that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClusterError {
    /// Fewer than two nodes: nobody to exclude.
    TooFewNodes(usize),
    /// A node that the cluster does not have.
    UnknownNode {
        /// The node.
        node: NodeId,
        /// How many there are.
        nodes: usize,
    },
    /// The number of entries at a time is 0, or leaves nobody out.
    Entries {
        /// How many at a time.
        entries: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Edges that are no tree.
    NotATree(&'static str),
    /// Granting sets that cannot be.
    Quorum(QuorumError),
}

impl ClusterError {
    /// The number of nodes, if it is one that makes sense.
    ///
    /// # Errors
    /// [`TooFewNodes`](Self::TooFewNodes) for 0 and 1.
    pub fn check_size(nodes: usize) -> Result<usize, Self> {
        if nodes < 2 { Err(Self::TooFewNodes(nodes)) } else { Ok(nodes) }
    }

    /// The node, if the cluster has it.
    ///
    /// # Errors
    /// [`UnknownNode`](Self::UnknownNode) if not.
    pub fn check_node(node: NodeId, nodes: usize) -> Result<NodeId, Self> {
        if node.index() < nodes { Ok(node) } else { Err(Self::UnknownNode { node, nodes }) }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewNodes(nodes) => {
                write!(f, "{nodes} nodes have nobody to exclude: take 2 or more")
            }
            Self::UnknownNode { node, nodes } => {
                write!(f, "there is no {node}: the nodes are n0 to n{}", nodes.saturating_sub(1))
            }
            Self::Entries { entries, nodes } => write!(
                f,
                "{entries} entries at a time exclude nobody among {nodes} nodes: take 1 to {}",
                nodes.saturating_sub(1)
            ),
            Self::NotATree(why) => write!(f, "the edges are no tree: {why}"),
            Self::Quorum(quorum) => quorum.fmt(f),
        }
    }
}

impl Error for ClusterError {}

impl From<QuorumError> for ClusterError {
    fn from(quorum: QuorumError) -> Self {
        match quorum {
            QuorumError::TooFewNodes(nodes) => Self::TooFewNodes(nodes),
            other => Self::Quorum(other),
        }
    }
}
