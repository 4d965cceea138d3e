//! Who a node is, and whom it has met: how a blank restart is noticed.
//!
//! A node that has lost its disk has forgotten its vote and its log. If it took part under its old
//! number, consensus itself would be wrong. So a node draws a *mark* at its first start, and keeps
//! it. Its first start needs all others: each keeps the mark before it says welcome. A node that
//! comes back with another mark is refused by every other node that still has its disk. Once it has
//! been welcomed by all, a node needs nobody to start again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use exclusion::message::NodeId;
use serde::{Deserialize, Serialize};

use super::frame;
use super::medium::Medium;
use crate::strict::Life;

/// The name of the identity's piece.
const IDENTITY: &str = "identity";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Kept {
    mark: u64,
    incarnation: u64,
    /// Whether all others have said welcome.
    welcomed: bool,
    /// The marks of the others.
    met: BTreeMap<NodeId, u64>,
}

/// Who a node is, and whom it has met. See the [module](self).
pub(super) struct Identity {
    medium: Arc<dyn Medium>,
    kept: Kept,
}

impl Identity {
    /// Begins a new life.
    pub(super) fn open(medium: Arc<dyn Medium>) -> io::Result<(Self, bool)> {
        let (kept, is_new) = match medium.read(IDENTITY)? {
            None => {
                let mark = RandomState::new().hash_one((SystemTime::now(), std::process::id()));
                (Kept { mark, incarnation: 0, welcomed: false, met: BTreeMap::new() }, true)
            }
            Some(bytes) => (read(&bytes).ok_or_else(damaged)?, false),
        };
        let mut identity = Self { medium, kept };
        let mut next = identity.kept.clone();
        next.incarnation += 1;
        identity.keep(next)?;
        Ok((identity, is_new))
    }

    pub(super) fn life(&self) -> Life {
        Life { incarnation: self.kept.incarnation, mark: self.kept.mark }
    }

    pub(super) fn is_welcomed(&self) -> bool {
        self.kept.welcomed
    }

    /// All others have said welcome.
    pub(super) fn welcomed(&mut self) -> io::Result<()> {
        let next = Kept { welcomed: true, ..self.kept.clone() };
        self.keep(next)
    }

    /// Meets a node with a mark. Says whether it is the one that was met before, if any was.
    pub(super) fn meet(&mut self, node: NodeId, mark: u64) -> io::Result<bool> {
        if let Some(&known) = self.kept.met.get(&node) {
            return Ok(known == mark);
        }
        let mut next = self.kept.clone();
        next.met.insert(node, mark);
        self.keep(next)?;
        Ok(true)
    }

    fn keep(&mut self, next: Kept) -> io::Result<()> {
        let contents = postcard::to_stdvec(&next).map_err(io::Error::other)?;
        self.medium.replace(IDENTITY, &frame::write(&contents))?;
        self.kept = next;
        Ok(())
    }
}

fn read(bytes: &[u8]) -> Option<Kept> {
    match frame::read(bytes) {
        Ok((frames, whole)) if frames.len() == 1 && whole == bytes.len() => {
            postcard::from_bytes(frames[0]).ok()
        }
        _ => None,
    }
}

fn damaged() -> io::Error {
    io::Error::other("the node's identity is damaged: replace this node")
}
