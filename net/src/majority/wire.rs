//! What nodes ask each other, as bytes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use exclusion::message::NodeId;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, SnapshotMeta, Vote};
use serde::{Deserialize, Serialize};

use super::roster::Command;
use super::store::{Types, Verdict};
use super::transport::{MOST_BYTES, Transport};
use crate::strict::{Digest, Life};

/// A request.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    /// The sender's configuration.
    pub(super) digest: Digest,
    /// The sender's life.
    pub(super) life: Life,
    pub(super) call: Call,
}

/// | call | who | answer |
/// |---|---|---|
/// | `Hello` | a node at its first start, to all | `Welcome` |
/// | `Append`, `Vote`, `Snapshot` | the consensus engine | the same |
/// | `Submit` | a node, to the leader | `Submitted` |
/// | `Letters` | a member of a view, to another | `Letters` |
#[derive(Serialize, Deserialize)]
pub(super) enum Call {
    Hello,
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Snapshot { vote: Vote<u64>, meta: SnapshotMeta<u64, EmptyNode>, data: Vec<u8> },
    Submit(Command),
    Letters(Batch),
}

/// Letters from one member to another, in the view of an epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) epoch: u64,
    /// The number of the first one. The first of a view is 0.
    pub(super) first: u64,
    pub(super) letters: Vec<Vec<u8>>,
}

/// What has become of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Receipt {
    /// All before this number have been taken.
    Taken(u64),
    /// The view has not begun there.
    Early,
    /// The view is over there, or the sender has said what it cannot say.
    Over,
}

/// A response.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    Welcome,
    Append(AppendEntriesResponse<u64>),
    Vote(VoteResponse<u64>),
    Snapshot(SnapshotResponse<u64>),
    Submitted(Verdict),
    Letters(Receipt),
    /// Try again later.
    NotNow(String),
    /// The asking node has lost its memory.
    Blank,
    /// The asking node does not belong.
    Refused(String),
}

/// Writes something for the transport.
///
/// # Errors
/// If it is too large.
pub(super) fn encode<T: Serialize>(it: &T) -> io::Result<Vec<u8>> {
    let bytes = postcard::to_stdvec(it).map_err(io::Error::other)?;
    if bytes.len() > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Asks the others, in the name of one life of a node.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) digest: Digest,
    pub(super) life: Life,
}

impl Caller {
    /// Asks a peer, and waits for so long.
    pub(super) async fn call(&self, peer: NodeId, call: Call, wait: Duration) -> io::Result<Reply> {
        let request = encode(&Request { digest: self.digest, life: self.life, call })?;
        let response = tokio::time::timeout(wait, self.transport.call(peer, request));
        let response = response.await.map_err(|_| io::ErrorKind::TimedOut)??;
        if response.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        postcard::from_bytes(&response).map_err(io::Error::other)
    }
}
