//! What comes about the lock of a view that is not installed here yet.

use std::collections::VecDeque;

use crate::message::NodeId;

/// So many messages are kept. Members that have installed the view may enter and leave many times
/// before `INSTALL` comes here.
const MOST: usize = 1024;

/// Messages of a lock that has not begun here: their senders, the entries that they know of, and
/// what they say.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Early<M> {
    kept: VecDeque<(NodeId, u64, M)>,
}

/// There is no room for more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Full;

impl<M> Default for Early<M> {
    fn default() -> Self {
        Self { kept: VecDeque::new() }
    }
}

impl<M> Early<M> {
    pub(super) fn keep(&mut self, from: NodeId, entry: u64, message: M) -> Result<(), Full> {
        if self.kept.len() == MOST {
            return Err(Full);
        }
        self.kept.push_back((from, entry, message));
        Ok(())
    }

    /// All of it, in the order in which it came.
    pub(super) fn take(&mut self) -> VecDeque<(NodeId, u64, M)> {
        std::mem::take(&mut self.kept)
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
    }
}
