//! Chang and Roberts 1979: round a ring, only the larger number goes on.
//!
//! A node that calls an election sends its number round the ring. A node passes on a number that is
//! larger than its own. For a smaller one it sends its own, unless it has done so. A number that
//! comes home is the largest: its node leads, and tells the others once round.
//!
//! | message | when | to |
//! |---|---|---|
//! | `ELECTION` | a call; a larger number comes, or the first smaller one | the next node |
//! | `ELECTED` | a node's own number comes home; or one is passed on | the next node |
//!
//! # Timing
//! None. But no node may go down and no message may be lost: the election stops where that happens.
//! A node that has recovered takes no part until another is called.
//!
//! # Cost
//! If all call at once, a number goes as far as the next larger one. Over all arrangements that is
//! 2n-1 `ELECTION` at best, n(n+1)/2 at worst, and n·Hₙ on average, where Hₙ = 1 + 1/2 + … + 1/n.
//! In any case n `ELECTED`.

pub use super::ring::Message;
use super::ring::{self, Place};
use crate::message::{
    Circumstances, ClusterError, Election, ElectionCost, Epoch, Leadership, Machine, NodeId,
    Notice, Outbox, Refused,
};

/// A node of a ring that elects the highest number. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChangRoberts {
    place: Place,
    /// The latest election that it knows of.
    epoch: u64,
    /// Whether it has sent its own number, or passed on a larger one.
    takes_part: bool,
    leader: Option<NodeId>,
}

impl ChangRoberts {
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
        let node = |place| Self { place, epoch: 0, takes_part: false, leader: None };
        Ok(Place::all(order)?.into_iter().map(node).collect())
    }

    /// Sends a number on, ours or a larger one.
    fn stand(&mut self, candidate: NodeId, out: &mut Outbox<Message>) {
        self.takes_part = true;
        out.send(self.place.next, Message::Election { epoch: self.epoch, candidate });
    }

    /// An election that it does not know of makes it forget the one before. Says whether this one
    /// is not older.
    fn hears_of(&mut self, epoch: u64) -> bool {
        if epoch > self.epoch {
            (self.epoch, self.takes_part, self.leader) = (epoch, false, None);
        }
        epoch == self.epoch
    }

    fn settle(&mut self, leader: NodeId, out: &mut Outbox<Message>) {
        self.takes_part = false;
        self.leader = Some(leader);
        out.settle(Leadership { epoch: Epoch::numbered(self.epoch), leader });
    }
}

impl Machine for ChangRoberts {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.place.me
    }

    fn nodes(&self) -> usize {
        self.place.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if !self.takes_part {
            self.hears_of(self.epoch + 1);
            self.stand(self.place.me, out);
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
            Message::Election { candidate, .. } => match self.leader {
                // What was under way when the others learnt of the leader ends here.
                Some(_) => {}
                // It has sent that in a former life.
                None if candidate == self.place.me && !self.takes_part => {}
                None if candidate == self.place.me => {
                    out.send(self.place.next, Message::Elected { epoch, leader: self.place.me });
                    self.settle(self.place.me, out);
                }
                None if candidate > self.place.me => self.stand(candidate, out),
                None if !self.takes_part => self.stand(self.place.me, out),
                // A smaller number than one that it has sent.
                None => {}
            },
            // The news is home.
            Message::Elected { leader, .. } if leader == self.place.me => {}
            Message::Elected { leader, .. } => {
                if self.leader.is_none() {
                    out.send(self.place.next, message);
                    self.settle(leader, out);
                } else if self.leader != Some(leader) {
                    return Err(Refused("another is elected in that epoch"));
                }
            }
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, _: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.place.me, self.nodes())?;
        if notice == Notice::Recovered {
            (self.takes_part, self.leader) = (false, None);
        }
        Ok(())
    }
}

impl Election for ChangRoberts {
    fn leadership(&self) -> Option<Leadership> {
        self.leader.map(|leader| Leadership { epoch: Epoch::numbered(self.epoch), leader })
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let n = cluster.len();
        if !circumstances.crashed.is_empty() {
            return None;
        }
        if circumstances.initiators.len() < n {
            return ElectionCost::within("at most n(n+1)/2 + n", 2 * n, n * (n + 1) / 2 + n);
        }
        // Each number goes as far as the next larger one; the largest goes all the way.
        let way = |node: &Self| {
            let next = |at: &NodeId| Some(cluster[at.index()].place.next);
            let passed = std::iter::successors(Some(node.place.next), next).take(n);
            1 + passed.take_while(|&at| at < node.place.me).count()
        };
        let ways: usize = cluster.iter().map(|node| way(node).min(n)).sum();
        ElectionCost::exactly("each to the next larger, and n", ways + n)
    }
}
