//! What nodes say to each other, and why a session ends.

use std::fmt;

use exclusion::message::{NodeId, Refused};
use serde::{Deserialize, Serialize};

/// The greatest epoch and incarnation that a node believes. It leaves room to count on.
const MOST: u64 = u64::MAX >> 1;

/// A fingerprint of the configuration: who the members are, the algorithm, the resources.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One life of a node, from the start of its process to the end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Life {
    /// Which one it is, from 1. The node counts on its disk.
    pub incarnation: u64,
    /// Drawn at random at its start. Two lives that are both the first differ in it.
    pub mark: u64,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "life {} ({:08x})", self.incarnation, self.mark & 0xffff_ffff)
    }
}

/// A round of a life: what a node has said hello in. It is over as soon as any session ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Round {
    /// The life.
    pub life: Life,
    /// Which round of it.
    pub number: u64,
}

/// The first word of a node on a session. It says: none of my users is inside.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The sender's configuration.
    pub digest: Digest,
    /// The sender's life, and the round.
    pub round: Round,
    /// The last epoch that the sender has agreed to.
    pub last: u64,
}

/// A message of the net layer.
///
/// | message | when | to |
/// |---|---|---|
/// | `HELLO` | a session is up, and no user of the sender is inside | its peer |
/// | `READY` | the sender has heard `HELLO` from all, and has the epoch on its disk | all |
/// | of a lock | the lock sends it, in an epoch that has begun | a peer |
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Message<M> {
    /// None of my users is inside.
    Hello(Hello),
    /// I have heard all others in these rounds, and have promised this epoch.
    Ready {
        /// The epoch: one more than the greatest that anybody has agreed to.
        epoch: u64,
        /// The rounds of all nodes, in their order.
        rounds: Vec<Round>,
    },
    /// About a lock.
    Lock {
        /// The epoch that the lock runs in.
        epoch: u64,
        /// Which resource, by its place in the configuration.
        resource: u32,
        /// The greatest entry of the epoch that the sender knows of; 0 if it knows of none.
        entry: u64,
        /// What the lock says.
        message: M,
    },
}

impl<M: exclusion::message::Message> Message<M> {
    /// Its kind, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hello(_) => "HELLO",
            Self::Ready { .. } => "READY",
            Self::Lock { message, .. } => message.kind(),
        }
    }
}

impl Hello {
    /// Refuses what no node can have counted to.
    pub(super) fn check(&self) -> Result<(), Refused> {
        let Round { life, number } = self.round;
        if self.last > MOST || number > MOST || life.incarnation > MOST || life.incarnation == 0 {
            return Err(Refused("nobody has counted so far"));
        }
        Ok(())
    }
}

/// What a node must not forget.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Which life of the node this is.
    pub incarnation: u64,
    /// The last epoch that it has agreed to.
    pub epoch: u64,
    /// The life in which it has last agreed with each node. None of itself, and of a node that it
    /// has never agreed with.
    pub known: Vec<Option<Life>>,
}

impl Record {
    /// Of a node that has never run, in a cluster of so many.
    pub fn blank(nodes: usize) -> Self {
        Self { incarnation: 0, epoch: 0, known: vec![None; nodes] }
    }

    /// Whether a node may be in this life, after what is known of it.
    pub(super) fn admits(&self, node: NodeId, life: Life) -> bool {
        match self.known[node.index()] {
            None => true,
            Some(known) => life == known || life.incarnation > known.incarnation,
        }
    }
}

/// Why a session ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Why {
    /// The transport says so.
    Lost,
    /// The session with this other node has ended, and with it the epoch.
    With(NodeId),
    /// The peer has another configuration.
    Digest {
        /// Ours.
        ours: Digest,
        /// Theirs.
        theirs: Digest,
    },
    /// The peer has lost its memory: it is in a life that came before one that we know.
    Blank {
        /// The life that it says it is in.
        told: Life,
        /// The one that we know.
        known: Life,
    },
    /// The peer has heard others than we have. Both begin anew.
    Disagree,
    /// The peer has said what no correct node says.
    Unexpected(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => write!(f, "the session was lost"),
            Self::With(node) => write!(f, "the session with {node} ended"),
            Self::Digest { ours, theirs } => write!(
                f,
                "it has another configuration ({theirs}, ours is {ours}): \
                 give all nodes the same file"
            ),
            Self::Blank { told, known } => write!(
                f,
                "it has lost its memory: it says {told}, and {known} was here; \
                 restore its data directory, or take it in with `replace` \
                 once nothing of its former life is running"
            ),
            Self::Disagree => write!(f, "it has heard other nodes than we have"),
            Self::Unexpected(what) => write!(f, "it said what no correct node says: {what}"),
        }
    }
}
