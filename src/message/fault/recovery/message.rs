//! What the nodes of a lock that recovers say to each other.

use super::view;
use crate::message::Epoch;

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// About the view.
    View(view::Message),
    /// About the lock.
    Lock {
        /// The epoch of the view that the lock runs in.
        epoch: Epoch,
        /// The greatest entry of the epoch that the sender knows of; 0 if it knows of none.
        entry: u64,
        /// What the lock says.
        message: M,
    },
}

impl<M: crate::message::Message> crate::message::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::View(message) => message.kind(),
            Self::Lock { message, .. } => message.kind(),
        }
    }
}
