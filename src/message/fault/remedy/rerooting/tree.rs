//! The tree that a node of a lock whose tree grows anew is in.

use crate::message::fault::remedy::regenerating::Hop;
use crate::message::{NodeId, NodeSet};

/// The tree that a node is in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Tree<P, M> {
    Grown {
        number: u32,
        lock: P,
    },
    /// It has reported to a census of these dead.
    Frozen {
        dead: NodeSet,
        /// What has come of the next tree already.
        early: Vec<(NodeId, M)>,
        /// The root of the next tree, and the hop by which the token comes there.
        root: Option<(NodeId, Hop)>,
    },
}

impl<P, M> Tree<P, M> {
    /// The number of the tree that it is in, or waits for: how many are dead in it.
    pub(super) fn number(&self) -> u32 {
        match self {
            Self::Grown { number, .. } => *number,
            Self::Frozen { dead, .. } => NodeId::at(dead.len()).0,
        }
    }
}
