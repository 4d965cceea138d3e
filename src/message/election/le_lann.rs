//! Le Lann 1977: every number goes all the way round the ring.
//!
//! A node that calls an election sends its number round the ring, and notes the numbers that pass.
//! When its own comes home it has seen all others, for channels keep order: the largest leads, and
//! tells the nodes that did not call once round.
//!
//! | message | when | to |
//! |---|---|---|
//! | `ELECTION` | a call; or one is passed on | the next node |
//! | `ELECTED` | the winner's own number comes home; or one is passed on | the next node |
//!
//! # Timing
//! None. But channels must keep order: a number that is overtaken is missed, and two lead. No node
//! may go down and no message may be lost. A node that has recovered stands no more until another
//! election is called.
//!
//! # Cost
//! k nodes call: kn `ELECTION`, and n `ELECTED`.

pub use super::ring::Message;
use super::ring::{self, Place};
use crate::message::{
    Channels, Circumstances, ClusterError, Election, ElectionCost, Epoch, Leadership, Machine,
    NodeId, Notice, Outbox, Refused,
};

/// What a node does in an election.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Part {
    /// Nothing yet.
    None,
    /// It stands for election, and the largest number that it has seen is this.
    Stands(NodeId),
    /// It passes on what others send.
    Passes,
    /// It has settled.
    Settled(NodeId),
}

/// A node of a ring round which all numbers go. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeLann {
    place: Place,
    /// The latest election that it knows of.
    epoch: u64,
    part: Part,
}

impl LeLann {
    /// A ring of nodes in their own order.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Self::arranged(&ring::in_order(nodes))
    }

    /// A ring in which each node sends to the one that comes after it in this order.
    ///
    /// # Errors
    /// Fewer than two nodes, or an order in which one is missing or there twice.
    pub fn arranged(order: &[NodeId]) -> Result<Vec<Self>, ClusterError> {
        let node = |place| Self { place, epoch: 0, part: Part::None };
        Ok(Place::all(order)?.into_iter().map(node).collect())
    }

    /// An election that it does not know of makes it forget the one before. Says whether this one
    /// is not older.
    fn hears_of(&mut self, epoch: u64) -> bool {
        if epoch > self.epoch {
            (self.epoch, self.part) = (epoch, Part::None);
        }
        epoch == self.epoch
    }

    fn settle(&mut self, leader: NodeId, out: &mut Outbox<Message>) {
        self.part = Part::Settled(leader);
        out.settle(Leadership { epoch: Epoch::numbered(self.epoch), leader });
    }
}

impl Machine for LeLann {
    type Message = Message;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.place.me
    }

    fn nodes(&self) -> usize {
        self.place.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        // One that passes others' numbers on has missed the beginning.
        if matches!(self.part, Part::None | Part::Settled(_)) {
            self.hears_of(self.epoch + 1);
            self.part = Part::Stands(self.place.me);
            out.send(
                self.place.next,
                Message::Election { epoch: self.epoch, candidate: self.place.me },
            );
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        let epoch = self.place.check(from, &message, self.epoch)?;
        if !self.hears_of(epoch) {
            return Ok(());
        }
        match message {
            Message::Election { candidate, .. } if candidate == self.place.me => match self.part {
                Part::Stands(largest) => {
                    if largest == self.place.me {
                        out.send(
                            self.place.next,
                            Message::Elected { epoch, leader: self.place.me },
                        );
                    }
                    self.settle(largest, out);
                }
                // It was told of the winner first.
                Part::Settled(_) => {}
                // It has sent that in a former life.
                Part::None | Part::Passes => {}
            },
            Message::Election { candidate, .. } => {
                match &mut self.part {
                    Part::Stands(largest) => *largest = candidate.max(*largest),
                    part @ Part::None => *part = Part::Passes,
                    Part::Passes | Part::Settled(_) => {}
                }
                out.send(self.place.next, message);
            }
            Message::Elected { leader, .. } => {
                if leader == self.place.me {
                    return Ok(());
                }
                out.send(self.place.next, message);
                if !matches!(self.part, Part::Settled(_)) {
                    self.settle(leader, out);
                }
            }
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, _: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.place.me, self.nodes())?;
        if notice == Notice::Recovered {
            self.part = Part::None;
        }
        Ok(())
    }
}

impl Election for LeLann {
    fn leadership(&self) -> Option<Leadership> {
        let Part::Settled(leader) = self.part else { return None };
        Some(Leadership { epoch: Epoch::numbered(self.epoch), leader })
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let (n, k) = (cluster.len(), circumstances.initiators.len());
        let all_live = circumstances.crashed.is_empty();
        all_live.then(|| ElectionCost::exactly("kn + n", k * n + n)).flatten()
    }
}
