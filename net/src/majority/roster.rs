//! What is agreed by consensus: which view holds, and who has beaten its heart in it.
//!
//! The roster is a pure state machine. Every node applies the same commands in the same order, so
//! every node has the same roster once it has applied as many.
//!
//! | command | who submits it | what it does, unless it is stale |
//! |---|---|---|
//! | `Admit` | a node, for itself: it has started, or was excluded | a new view, with it |
//! | `Beat` | a member, for itself, several times per lease | renews its lease |
//! | `Exclude` | the leader, for a member without a beat for a patience | a new view, without it |
//! | `Leave` | a member that shuts down and has nobody inside | a new view, without it |
//! | `Raise` | an operator, after all nodes have lost their disks | a new view, with a greater epoch |
//!
//! # Why a lease ends before its member is excluded
//! A member counts its lease from when it *sent* a beat, once that beat is applied. `Exclude` names
//! the last beat that its proposer has applied, and the proposer has waited a patience since then.
//! A beat that comes in between makes the exclusion stale. So when a member is excluded, its last
//! lease began at least a patience ago, whoever led meanwhile. If a patience by the clock of one
//! node is at least a lease by the clock of the other, that lease is over.

use std::collections::BTreeMap;
use std::fmt;

use exclusion::message::{Epoch, Fence, NodeId};
use serde::{Deserialize, Serialize};

/// The greatest number that is believed. It leaves room to count on.
const MOST: u64 = u64::MAX >> 1;

/// A member of the view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Seat {
    /// Which life of the node it is.
    pub incarnation: u64,
    /// The last beat of its heart that was applied.
    pub beat: u64,
    /// The epoch in which it was admitted. It has been in every view since then.
    pub since: u64,
}

/// The replicated state. See the [module](self).
///
/// ```
/// use exclusion::message::NodeId;
/// use exclusion_net::majority::{Command, Roster, Stale};
///
/// let mut roster = Roster::new(3);
/// roster.apply(&Command::Admit { node: NodeId(1), incarnation: 1, beat: 1 })?;
/// roster.apply(&Command::Beat { node: NodeId(1), incarnation: 1, beat: 2, fence: None })?;
/// // Who has not seen the second beat cannot exclude the node.
/// let late = Command::Exclude { node: NodeId(1), incarnation: 1, beat: 1 };
/// assert_eq!(roster.apply(&late), Err(Stale::Beaten));
/// assert_eq!(roster.epoch(), 1);
/// # Ok::<(), Stale>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Roster {
    /// How many nodes there are, members or not.
    nodes: u32,
    epoch: u64,
    members: BTreeMap<NodeId, Seat>,
    /// The last incarnation and beat of each node that was ever admitted.
    known: BTreeMap<NodeId, (u64, u64)>,
    /// The last epoch that began without a node because it was lost: its user may have been inside.
    lost: BTreeMap<NodeId, u64>,
    /// The greatest fence that a member has told of.
    fence: Option<Fence>,
}

/// A change that is proposed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Command {
    /// A node wants to be a member. Of an earlier life of it nothing is left.
    Admit {
        /// Which node.
        node: NodeId,
        /// In which life.
        incarnation: u64,
        /// The number of this beat of its heart.
        beat: u64,
    },
    /// A member is alive.
    Beat {
        /// Which node.
        node: NodeId,
        /// In which life.
        incarnation: u64,
        /// The number of this beat of its heart.
        beat: u64,
        /// The greatest fence that it knows of.
        fence: Option<Fence>,
    },
    /// Nothing was heard of a member since this beat.
    Exclude {
        /// Which node.
        node: NodeId,
        /// In which life.
        incarnation: u64,
        /// Its last beat.
        beat: u64,
    },
    /// A member goes. Its users are outside.
    Leave {
        /// Which node.
        node: NodeId,
        /// In which life.
        incarnation: u64,
    },
    /// Fences are to be greater than those of this epoch.
    Raise {
        /// The epoch.
        epoch: u64,
    },
}

/// Why a command changes nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Stale {
    /// There is no such node.
    NoSuchNode,
    /// The node is known by a later life or beat.
    Older,
    /// The node is not a member, in this life.
    NotMember,
    /// The member has beaten since.
    Beaten,
    /// The fence is of an epoch that has not begun.
    UnknownFence,
    /// Epochs do not become smaller, and do not grow beyond half of their range.
    Epoch,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchNode => "there is no such node: give all nodes the same configuration",
            Self::Older => "a later life or beat of the node is known: restore its data directory",
            Self::NotMember => "the node is not a member in this life: ask to be admitted",
            Self::Beaten => "the member was heard of since",
            Self::UnknownFence => "the fence is of an epoch that has not begun",
            Self::Epoch => "the epoch is not greater than the present one, or too great",
        })
    }
}

impl std::error::Error for Stale {}

impl Roster {
    /// Of a cluster of so many nodes, none of which is a member yet.
    pub fn new(nodes: u32) -> Self {
        Self { nodes, ..Self::default() }
    }

    /// The epoch of the view. The first is 1.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The members of the view.
    pub fn members(&self) -> impl DoubleEndedIterator<Item = (NodeId, Seat)> + '_ {
        self.members.iter().map(|(&node, &seat)| (node, seat))
    }

    /// The seat of a node, if it is a member.
    pub fn seat(&self, node: NodeId) -> Option<Seat> {
        self.members.get(&node).copied()
    }

    /// The last epoch that began without a node because it was lost.
    pub fn lost(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        self.lost.iter().map(|(&node, &epoch)| (node, epoch))
    }

    /// The greatest fence that a member has told of.
    pub fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// How many nodes there are, members or not.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Applies a command. Hands over the epoch of the view that holds now.
    ///
    /// # Errors
    /// If the command is stale. Nothing has changed then.
    pub fn apply(&mut self, command: &Command) -> Result<u64, Stale> {
        match *command {
            Command::Admit { node, incarnation, beat } => {
                self.check_node(node)?;
                let told = (incarnation, beat);
                if incarnation > MOST || beat > MOST || Some(&told) <= self.known.get(&node) {
                    return Err(Stale::Older);
                }
                if self.seat(node).is_some_and(|seat| seat.incarnation == incarnation) {
                    // It is a member, and has not heard of it.
                    self.renew(node, told);
                    return Ok(self.epoch);
                }
                let epoch = self.next()?;
                if self.members.contains_key(&node) {
                    self.lost.insert(node, epoch);
                }
                self.known.insert(node, told);
                self.members.insert(node, Seat { incarnation, beat, since: epoch });
                self.epoch = epoch;
            }
            Command::Beat { node, incarnation, beat, fence } => {
                let seat = self.check_member(node, incarnation)?;
                if beat <= seat.beat || beat > MOST {
                    return Err(Stale::Older);
                }
                if fence.is_some_and(|fence| !self.has_begun(fence)) {
                    return Err(Stale::UnknownFence);
                }
                self.fence = self.fence.max(fence);
                self.renew(node, (incarnation, beat));
            }
            Command::Exclude { node, incarnation, beat } => {
                if self.check_member(node, incarnation)?.beat != beat {
                    return Err(Stale::Beaten);
                }
                let epoch = self.next()?;
                self.members.remove(&node);
                self.lost.insert(node, epoch);
                self.epoch = epoch;
            }
            Command::Leave { node, incarnation } => {
                self.check_member(node, incarnation)?;
                let epoch = self.next()?;
                self.members.remove(&node);
                self.epoch = epoch;
            }
            Command::Raise { epoch } => {
                if epoch < self.epoch || epoch >= MOST {
                    return Err(Stale::Epoch);
                }
                self.epoch = epoch + 1;
            }
        }
        Ok(self.epoch)
    }

    fn renew(&mut self, node: NodeId, told: (u64, u64)) {
        self.known.insert(node, told);
        if let Some(seat) = self.members.get_mut(&node) {
            seat.beat = told.1;
        }
    }

    fn has_begun(&self, fence: Fence) -> bool {
        fence.epoch <= Epoch::numbered(self.epoch) && fence.entry <= MOST
    }

    fn check_node(&self, node: NodeId) -> Result<(), Stale> {
        if node.0 < self.nodes { Ok(()) } else { Err(Stale::NoSuchNode) }
    }

    fn check_member(&self, node: NodeId, incarnation: u64) -> Result<Seat, Stale> {
        self.check_node(node)?;
        self.seat(node).filter(|seat| seat.incarnation == incarnation).ok_or(Stale::NotMember)
    }

    fn next(&self) -> Result<u64, Stale> {
        if self.epoch >= MOST { Err(Stale::Epoch) } else { Ok(self.epoch + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: NodeId = NodeId(1);

    fn admit(incarnation: u64, beat: u64) -> Command {
        Command::Admit { node: N, incarnation, beat }
    }

    fn beat(incarnation: u64, beat: u64) -> Command {
        Command::Beat { node: N, incarnation, beat, fence: None }
    }

    fn exclude(incarnation: u64, beat: u64) -> Command {
        Command::Exclude { node: N, incarnation, beat }
    }

    fn of(commands: &[Command]) -> Roster {
        let mut roster = Roster::new(3);
        for command in commands {
            roster.apply(command).expect("it is not stale");
        }
        roster
    }

    fn refuses(mut roster: Roster, command: Command, why: Stale) {
        let before = roster.clone();
        assert_eq!(roster.apply(&command), Err(why), "{command:?}");
        assert_eq!(roster, before, "what is refused changes nothing");
    }

    #[test]
    fn a_later_life_takes_the_seat_of_an_earlier_one_and_counts_as_lost() {
        let roster = of(&[admit(1, 1), admit(2, 1)]);
        assert_eq!(roster.seat(N), Some(Seat { incarnation: 2, beat: 1, since: 2 }));
        assert_eq!(roster.lost().collect::<Vec<_>>(), [(N, 2)]);
    }

    #[test]
    fn an_admission_that_comes_twice_is_refused_the_second_time() {
        refuses(of(&[admit(1, 1)]), admit(1, 1), Stale::Older);
        refuses(of(&[admit(1, 1), exclude(1, 1)]), admit(1, 1), Stale::Older);
    }

    #[test]
    fn a_life_that_is_over_is_refused() {
        refuses(of(&[admit(2, 1)]), admit(1, 9), Stale::Older);
        refuses(of(&[admit(2, 1)]), beat(1, 9), Stale::NotMember);
        refuses(of(&[admit(1, 1), admit(2, 1)]), exclude(1, 1), Stale::NotMember);
    }

    #[test]
    fn a_member_that_was_excluded_wrongly_comes_back_in_the_same_life() {
        let roster = of(&[admit(1, 1), exclude(1, 1), admit(1, 2)]);
        assert_eq!(roster.seat(N), Some(Seat { incarnation: 1, beat: 2, since: 3 }));
    }

    #[test]
    fn a_member_that_asks_to_be_admitted_stays_where_it_is() {
        let roster = of(&[admit(1, 1), admit(1, 2)]);
        assert_eq!(roster.seat(N), Some(Seat { incarnation: 1, beat: 2, since: 1 }));
        assert_eq!(roster.epoch(), 1);
    }

    #[test]
    fn a_beat_in_between_keeps_a_member_in() {
        refuses(of(&[admit(1, 1), beat(1, 2)]), exclude(1, 1), Stale::Beaten);
        refuses(of(&[admit(1, 1)]), beat(1, 1), Stale::Older);
    }

    #[test]
    fn who_leaves_was_not_inside() {
        let roster = of(&[admit(1, 1), Command::Leave { node: N, incarnation: 1 }]);
        assert_eq!((roster.epoch(), roster.seat(N), roster.lost().count()), (2, None, 0));
    }

    #[test]
    fn a_fence_of_the_future_is_refused_and_the_greatest_is_kept() {
        let fence = |epoch, entry| Some(Fence { epoch: Epoch::numbered(epoch), entry });
        let told = |beat, fence| Command::Beat { node: N, incarnation: 1, beat, fence };
        refuses(of(&[admit(1, 1)]), told(2, fence(2, 1)), Stale::UnknownFence);
        let roster = of(&[admit(1, 1), told(2, fence(1, 7)), told(3, fence(1, 2))]);
        assert_eq!(roster.fence(), fence(1, 7));
    }

    #[test]
    fn an_epoch_can_be_raised_and_never_lowered() {
        let roster = of(&[admit(1, 1), Command::Raise { epoch: 41 }]);
        assert_eq!(roster.epoch(), 42);
        refuses(roster.clone(), Command::Raise { epoch: 41 }, Stale::Epoch);
        refuses(roster, Command::Raise { epoch: u64::MAX }, Stale::Epoch);
    }

    #[test]
    fn a_node_that_does_not_exist_is_refused() {
        let command = Command::Admit { node: NodeId(3), incarnation: 1, beat: 1 };
        refuses(of(&[]), command, Stale::NoSuchNode);
    }
}
