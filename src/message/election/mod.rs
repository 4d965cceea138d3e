//! Elections: nodes that agree on one of them. One paper, one file.
//!
//! An [`Election`] is a [`Machine`] without a user. It is called by
//! [`Input::Elect`](super::Input::Elect), by what its detector tells it, or by coming back; and it
//! says with [`Output::Leader`](super::Output::Leader) on whom it has settled.
//!
//! | algorithm | on | needs | stands |
//! |---|---|---|---|
//! | [`Bully`] | a complete graph | messages within T | crashes and recoveries |
//! | [`BullyHalt`] | a complete graph | a detector | crashes and recoveries |
//! | [`RingElection`] | a ring | a detector | crashes and recoveries |
//! | [`ChangRoberts`] | a ring | nothing | none |
//! | [`LeLann`] | a ring | channels that keep order | none |
//! | [`Echo`] | any connected graph | one initiator | none |
//! | [`Extinction`] | any connected graph | nothing | none |
//!
//! # Epochs and lives
//!
//! Each leadership has an [`Epoch`], which is greater than those that its caller knew. A node that
//! has settled leaves its leader only for one of a greater epoch, so a stale leader is told apart.
//! The epoch, and how often a node has recovered, survive a crash: they are what it would keep on a
//! disk. Everything else is forgotten: on [`Notice::Recovered`](super::Notice::Recovered) a machine
//! throws it away.

pub mod bully;
pub mod bully_halt;
pub mod chang_roberts;
pub mod echo;
pub mod elected;
pub mod extinction;
pub mod le_lann;
mod renamed;
mod ring;
pub mod ring_election;
mod unattended;
mod wave;

use std::fmt;
use std::ops::RangeInclusive;

pub use bully::Bully;
pub use bully_halt::BullyHalt;
pub use chang_roberts::ChangRoberts;
pub use echo::Echo;
pub use elected::{Elected, Inherits, TellsAll};
pub use extinction::Extinction;
pub use le_lann::LeLann;
pub use renamed::{FirstHasToken, Renamed};
pub use ring_election::RingElection;
pub use unattended::Unattended;

use super::{Machine, NodeId, NodeSet, Refused};

/// Which election of all it is. A later one has a greater epoch.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Epoch {
    /// Its number, from 1.
    pub number: u64,
    /// Where several may call one under the same number, the node that called this one.
    pub called_by: Option<NodeId>,
}

impl Epoch {
    /// The greatest number that a node believes. It leaves room to count on.
    pub(super) const MOST: u64 = u64::MAX >> 1;

    /// An epoch that only one node can begin.
    pub fn numbered(number: u64) -> Self {
        Self { number, called_by: None }
    }

    /// An epoch that this node has called.
    pub fn called_by(number: u64, node: NodeId) -> Self {
        Self { number, called_by: Some(node) }
    }

    /// Refuses a number that nobody can have counted to.
    pub(super) fn check(number: u64) -> Result<(), Refused> {
        if number > Self::MOST {
            return Err(Refused("nobody has counted that many epochs"));
        }
        Ok(())
    }

    /// Refuses an epoch that no node of a cluster of `nodes` can have called under this rule.
    pub(super) fn check_called(self, nodes: usize) -> Result<NodeId, Refused> {
        Self::check(self.number)?;
        let caller = self.called_by.ok_or(Refused("somebody has called the election"))?;
        caller.check_member(nodes)?;
        Ok(caller)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.called_by {
            Some(node) => write!(f, "{}.{node}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

/// Who leads, and since which election.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Leadership {
    /// The election.
    pub epoch: Epoch,
    /// The leader.
    pub leader: NodeId,
}

impl fmt::Display for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in epoch {}", self.leader, self.epoch)
    }
}

/// Who calls an election, and who is down all the while.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circumstances {
    /// Who calls, all at the same moment.
    pub initiators: Vec<NodeId>,
    /// Who is down from the beginning.
    pub crashed: Vec<NodeId>,
}

/// What a formula promises for the messages of an election.
#[derive(Clone, PartialEq, Debug)]
pub struct ElectionCost {
    /// As it is written.
    pub formula: &'static str,
    /// How many messages, at least and at most. What is sent to the dead counts.
    pub messages: RangeInclusive<u64>,
}

impl ElectionCost {
    /// So many, however long each message takes.
    fn exactly(formula: &'static str, messages: usize) -> Option<Self> {
        let messages = messages as u64;
        Some(Self { formula, messages: messages..=messages })
    }

    /// Between two bounds.
    fn within(formula: &'static str, least: usize, most: usize) -> Option<Self> {
        Some(Self { formula, messages: least as u64..=most as u64 })
    }
}

/// In how far nodes that live and have settled agree, as long as the network is not cut.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Agreement {
    /// On one leader in each epoch.
    InEpoch,
    /// The same, and there is nothing to check: an epoch has the name of its leader, or only the
    /// one initiator can decide.
    Inherent,
    /// On one leader, whatever the epoch.
    Always,
}

/// One node of an election: a [`Machine`] that settles on a leader.
///
/// ```
/// use exclusion::message::{Bully, Election, NodeId};
/// use exclusion::message::sim::Contest;
///
/// let report = Contest::new(Bully::cluster(5)?).initiators([NodeId(0)]).run()?;
/// assert_eq!(report.leader.map(|it| it.leader), Some(NodeId(4)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Election: Machine {
    /// In how far nodes agree.
    const AGREEMENT: Agreement = Agreement::InEpoch;

    /// The leader that this node has settled on; none before, and while an election is under way
    /// that it knows of.
    fn leadership(&self) -> Option<Leadership>;

    /// The neighbour on its way to the root of the tree that it builds; none at the root, and where
    /// no tree is built.
    fn parent(&self) -> Option<NodeId> {
        None
    }

    /// Whether the nodes that live are done: all have settled, on the same leader, who lives.
    fn is_done(cluster: &[&Self], live: &NodeSet) -> bool {
        let mut views = live.iter().map(|node| cluster[node.index()].leadership());
        let first = views.next().flatten();
        first.is_some_and(|first| live.contains(first.leader)) && views.all(|view| view == first)
    }

    /// Whether these nodes can settle if they are those that live: somebody must, and where a
    /// majority decides, a majority. Otherwise nobody leads.
    fn can_settle(_cluster: &[&Self], live: &NodeSet) -> bool {
        !live.is_empty()
    }

    /// Whether what always holds between the nodes does, beyond what holds for every election. None
    /// if the algorithm claims nothing.
    fn invariant(_cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        None
    }

    /// What an election costs, if there is a formula for these circumstances.
    fn cost(_cluster: &[Self], _circumstances: &Circumstances) -> Option<ElectionCost> {
        None
    }
}
