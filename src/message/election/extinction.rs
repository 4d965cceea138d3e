//! Chang 1982 with extinction: an election and a spanning tree in one.
//!
//! Each node that calls sends out a wave of the echo algorithm, tagged with its number. A node goes
//! with the greatest wave that it has met: a greater one makes it forget the one before, a smaller
//! one it lets die. A node that a wave has reached calls no other until it has settled. So only the
//! greatest wave comes home. Its initiator leads, is the root of the tree that the wave has left,
//! and tells all others down the tree. With one initiator it is Chang's algorithm of 1982, and one
//! message more for each node but the root.
//!
//! | message | when | to |
//! |---|---|---|
//! | `EXPLORE` | a call, or the first of a greater wave | all neighbours but the parent |
//! | `ECHO` | all neighbours have been heard of the wave | the parent |
//! | `LEADER` | the root has heard all neighbours, or the parent says so | the children |
//!
//! # Timing
//! None. But no node may go down and no message may be lost. A node that has recovered lets the
//! wave that it has met pass by, and joins only a greater one.
//!
//! # Cost
//! On a graph of E edges with k initiators at most 2Ek, with one exactly 2E; and n-1 `LEADER`.

use super::wave::Wave;
use crate::message::graph::check_spanning;
use crate::message::{
    Agreement, Circumstances, ClusterError, Election, ElectionCost, Epoch, Graph, Leadership,
    Machine, NodeId, Notice, Outbox, Refused,
};

/// What the nodes say to each other. Each message has the tag of its wave.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Are you reached already?
    Explore(Epoch),
    /// All behind me are reached.
    Echo(Epoch),
    /// The initiator of the wave leads.
    Leader(Epoch),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Explore(_) => "EXPLORE",
            Self::Echo(_) => "ECHO",
            Self::Leader(_) => "LEADER",
        }
    }
}

/// A node of the echo algorithm with extinction. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Extinction {
    me: NodeId,
    nodes: u32,
    /// The greatest wave that it has met. Survives a crash.
    epoch: Epoch,
    /// Whether it goes with that wave.
    takes_part: bool,
    /// The node through which that came.
    parent: Option<NodeId>,
    wave: Wave,
    settled: bool,
}

impl Extinction {
    /// A cluster on a graph.
    pub fn over(graph: &Graph) -> Vec<Self> {
        let node = |me| Self {
            me,
            nodes: NodeId::at(graph.nodes()).0,
            epoch: Epoch::default(),
            takes_part: false,
            parent: None,
            wave: Wave::new(graph.neighbours(me)),
            settled: false,
        };
        NodeId::all(graph.nodes()).map(node).collect()
    }

    /// One node of a cluster on a graph.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn node(me: NodeId, graph: &Graph) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, graph.nodes())?;
        Ok(Self::over(graph).swap_remove(me.index()))
    }

    /// The neighbours whose way to the leader leads through this node. All of them are known once
    /// it has settled.
    pub fn children(&self) -> impl Iterator<Item = NodeId> {
        self.wave.children()
    }

    /// Goes with a wave that comes from a neighbour, or from this node itself.
    fn join(&mut self, epoch: Epoch, parent: Option<NodeId>, out: &mut Outbox<Message>) {
        self.wave.reset();
        (self.epoch, self.parent, self.settled) = (epoch, parent, false);
        self.takes_part = true;
        let others = self.wave.neighbours().iter().copied();
        out.broadcast(others.filter(|&node| Some(node) != parent), Message::Explore(epoch));
    }

    fn end_wave(&mut self, out: &mut Outbox<Message>) {
        match self.parent {
            Some(parent) => out.send(parent, Message::Echo(self.epoch)),
            None => self.settle(out),
        }
    }

    fn settle(&mut self, out: &mut Outbox<Message>) {
        self.settled = true;
        out.settle(self.leadership().expect("it has settled"));
        out.broadcast(self.wave.children(), Message::Leader(self.epoch));
    }
}

impl Machine for Extinction {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        // A wave that has come here goes on. If it has been echoed, it may have come home: another
        // of the same number would elect a second time.
        if self.settled || !self.takes_part {
            self.join(Epoch::called_by(self.epoch.number + 1, self.me), None, out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        let (Message::Explore(epoch) | Message::Echo(epoch) | Message::Leader(epoch)) = message;
        self.wave.check_neighbour(from)?;
        let initiator = epoch.check_called(self.nodes as usize)?;
        if epoch.number == 0 {
            return Err(Refused("epochs are numbered from 1"));
        }
        if epoch < self.epoch || epoch == self.epoch && !self.takes_part {
            // A wave that dies out, or with which it went in a former life.
            return Ok(());
        }
        let complete = match message {
            Message::Explore(_) => {
                if epoch > self.epoch {
                    if initiator == self.me {
                        return Err(Refused("it has not begun that wave"));
                    }
                    self.join(epoch, Some(from), out);
                }
                self.wave.explored_by(from)?
            }
            _ if epoch > self.epoch => return Err(Refused("it has not met that wave")),
            Message::Echo(_) => self.wave.echoed_by(from)?,
            Message::Leader(_) => {
                if self.parent != Some(from) || !self.wave.is_complete() || self.settled {
                    return Err(Refused("its parent says so, once, after the echo"));
                }
                self.settle(out);
                return Ok(());
            }
        };
        if complete {
            self.end_wave(out);
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, _: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.me, self.nodes())?;
        if notice == Notice::Recovered {
            self.wave.reset();
            (self.takes_part, self.parent, self.settled) = (false, None, false);
        }
        Ok(())
    }
}

impl Election for Extinction {
    /// A wave is tagged with its initiator, which leads.
    const AGREEMENT: Agreement = Agreement::Inherent;

    fn leadership(&self) -> Option<Leadership> {
        let leader = self.epoch.called_by.filter(|_| self.settled)?;
        Some(Leadership { epoch: self.epoch, leader })
    }

    fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    fn invariant(cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        let spans = |root: Leadership| {
            if cluster.iter().any(|node| node.epoch < root.epoch) {
                return Err("a wave came home that has not reached everybody");
            }
            // A later wave changes the parents again.
            let untouched = cluster.iter().all(|node| node.epoch == root.epoch);
            let parents = || cluster.iter().map(|node| node.parent).collect::<Vec<_>>();
            if untouched { check_spanning(&parents(), root.leader) } else { Ok(()) }
        };
        let roots = cluster.iter().filter(|node| node.parent.is_none());
        Some(roots.filter_map(|root| root.leadership()).try_for_each(spans))
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let (n, k) = (cluster.len(), circumstances.initiators.len());
        let ends: usize = cluster.iter().map(|node| node.wave.neighbours().len()).sum();
        if !circumstances.crashed.is_empty() || k == 0 {
            return None;
        }
        // The last wave makes 2E, and tells the others.
        ElectionCost::within("2E to 2Ek, and n-1", ends + n - 1, ends * k + n - 1)
    }
}
