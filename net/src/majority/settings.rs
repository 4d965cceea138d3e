//! What a cluster agrees on beforehand, and why a node is down.

use std::fmt;
use std::time::Duration;

use exclusion::message::NodeId;
use sha2::{Digest as _, Sha256};

use crate::strict::Digest;

/// What a cluster agrees on beforehand, and which of its nodes this is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// This node.
    pub me: NodeId,
    /// How many nodes there are. A majority of them must be up.
    pub nodes: usize,
    /// The names of what is locked.
    pub resources: Vec<String>,
    /// How long a guard can be trusted without a word from the majority.
    pub lease: Duration,
    /// The longest that a message takes, for algorithms that count in periods.
    pub period: Duration,
    /// After how many entries of its log a node makes a snapshot, and drops them.
    pub snapshot_every: u64,
}

impl Settings {
    pub(super) const SNAPSHOT_EVERY: u64 = 1000;

    /// With a lease of three seconds.
    pub fn new(me: NodeId, nodes: usize, resources: &[&str]) -> Self {
        Self {
            me,
            nodes,
            resources: resources.iter().map(|&name| name.to_owned()).collect(),
            lease: Duration::from_secs(3),
            period: Duration::from_millis(100),
            snapshot_every: Self::SNAPSHOT_EVERY,
        }
    }

    /// The same with another lease.
    #[must_use]
    pub fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// The same with snapshots after another number of entries.
    #[must_use]
    pub fn with_snapshot_every(self, snapshot_every: u64) -> Self {
        Self { snapshot_every, ..self }
    }

    /// How long nothing is heard of a member before it is excluded: two leases. So leases end in
    /// time while no clock runs twice as fast as another.
    pub fn patience(&self) -> Duration {
        2 * self.lease
    }

    pub(super) fn digest(&self, algorithm: &str) -> Digest {
        let told = (self.nodes, &self.resources, self.lease, self.period, algorithm, "majority 1");
        let bytes = postcard::to_stdvec(&told).expect("they can be written");
        Digest(Sha256::digest(bytes).into())
    }

    pub(super) fn engine(&self) -> openraft::Config {
        let beat = u64::try_from(self.lease.as_millis() / 20).unwrap_or(u64::MAX).max(1);
        openraft::Config {
            cluster_name: "exclusion".to_owned(),
            heartbeat_interval: beat,
            election_timeout_min: 3 * beat,
            election_timeout_max: 6 * beat,
            install_snapshot_timeout: 20 * beat,
            max_payload_entries: 64,
            replication_lag_threshold: 2 * self.snapshot_every,
            snapshot_policy: openraft::SnapshotPolicy::LogsSinceLast(self.snapshot_every),
            max_in_snapshot_log_to_keep: self.snapshot_every / 4,
            ..openraft::Config::default()
        }
    }
}

/// Why a node does not lock any more.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Down {
    /// It was stopped.
    Stopped,
    /// It has lost its memory: this peer has known it before.
    Blank(NodeId),
    /// It is not one of the cluster, as this peer says.
    Foreign(NodeId, String),
    /// Its disk cannot be read or written.
    Disk(String),
    /// The consensus engine has stopped, or an algorithm has refused its own user.
    Engine(String),
    /// A member takes no letters, and they have become too many.
    Overflow(NodeId),
    /// The configuration has no member of this number.
    NoMember(u32),
    /// The configuration has another key for this member.
    Key(u32),
    /// It cannot listen.
    Listen(String),
    /// There is no resource of that name.
    NoSuchResource(String),
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => write!(f, "the node was stopped: start it again"),
            Self::Blank(peer) => write!(
                f,
                "the node has lost its memory, {peer} has known it before: restore its data \
                 directory, a blank node must not take its place"
            ),
            Self::Foreign(peer, why) => write!(f, "{peer} refuses the node: {why}"),
            Self::Disk(why) => write!(f, "the node's disk failed: {why}; mend it and start again"),
            Self::Engine(why) => write!(f, "the node stopped: {why}"),
            Self::Overflow(peer) => {
                write!(f, "{peer} takes no messages, and too many wait: start the node again")
            }
            Self::NoMember(id) => write!(f, "the configuration has no member {id}"),
            Self::Key(id) => write!(f, "the configuration has another key for member {id}"),
            Self::Listen(why) => write!(f, "{why}"),
            Self::NoSuchResource(name) => {
                write!(f, "there is no resource {name}: name it in the configuration")
            }
        }
    }
}

impl std::error::Error for Down {}
