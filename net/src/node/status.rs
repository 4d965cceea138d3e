//! How a node is, for people.

use std::fmt;

use exclusion::message::Fence;
use serde::{Deserialize, Serialize};

/// How a node is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// Its number.
    pub me: u32,
    /// Which algorithm it runs.
    pub algorithm: String,
    /// Which life of the node this is.
    pub incarnation: u64,
    /// The epoch that runs, if one does.
    pub epoch: Option<u64>,
    /// The last epoch that it has agreed to.
    pub last_epoch: u64,
    /// Whether everybody waits for a user of this node that is inside since an earlier epoch.
    pub is_awaited: bool,
    /// How many messages it has sent in this life.
    pub messages_sent: u64,
    /// The others.
    pub peers: Vec<PeerStatus>,
    /// The resources.
    pub resources: Vec<ResourceStatus>,
}

/// How a peer is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PeerStatus {
    /// Its number.
    pub id: u32,
    /// Whether there is a session with it.
    pub is_up: bool,
    /// Why the last session has ended.
    pub last_end: Option<String>,
}

/// How a resource is, at this node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceStatus {
    /// Its name.
    pub name: String,
    /// The fence of the user that is inside.
    pub inside: Option<Fence>,
    /// How many wait.
    pub waiting: usize,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}, life {}, {}: ", self.me, self.incarnation, self.algorithm)?;
        match self.epoch {
            Some(epoch) => writeln!(f, "epoch {epoch} runs")?,
            None if self.is_awaited => {
                let last = self.last_epoch;
                writeln!(
                    f,
                    "no epoch runs (the last was {last}): all wait for a user of this node"
                )?;
            }
            None => writeln!(f, "no epoch runs (the last was {})", self.last_epoch)?,
        }
        for peer in &self.peers {
            match (&peer.last_end, peer.is_up) {
                (_, true) => writeln!(f, "  node {}: up", peer.id)?,
                (Some(why), false) => writeln!(f, "  node {}: no session; {why}", peer.id)?,
                (None, false) => writeln!(f, "  node {}: no session yet", peer.id)?,
            }
        }
        for it in &self.resources {
            write!(f, "  {}: {} waiting", it.name, it.waiting)?;
            match it.inside {
                Some(fence) => writeln!(f, ", inside with fence {fence}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
