//! What the nodes of a lock whose tree grows anew say to each other.

use crate::message::fault::remedy::regenerating::Hop;
use crate::message::{NodeId, NodeSet};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// About the lock in the tree of this number, but not the token.
    Lock(u32, M),
    /// The token, in the tree of this number, on this hop.
    Token(u32, Hop, M),
    /// Where is the token, if these are down?
    Census(NodeSet),
    /// To a census of these dead: the last hop that the sender took part in.
    Report(NodeSet, Option<(Hop, NodeId)>),
    /// After a census of these dead.
    Root {
        /// The dead.
        dead: NodeSet,
        /// Where the token is, or will be.
        root: NodeId,
        /// The hop by which it comes there.
        hop: Hop,
    },
}

impl<M: crate::message::Message> crate::message::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Lock(_, message) | Self::Token(_, _, message) => message.kind(),
            Self::Census(_) => "CENSUS",
            Self::Report(..) => "REPORT",
            Self::Root { .. } => "ROOT",
        }
    }
}
