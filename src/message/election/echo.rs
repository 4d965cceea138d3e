//! Chang 1982: the echo algorithm, which finds a spanning tree of any connected graph.
//!
//! The initiator explores its neighbours. A node that is explored for the first time takes the
//! sender for its parent, and explores its other neighbours. When a node has heard from all its
//! neighbours, it echoes to its parent. When the initiator has heard from all of its own, every
//! node is reached, and the parents are a tree whose root it is: it decides.
//!
//! | message | when | to |
//! |---|---|---|
//! | `EXPLORE` | a call, or the first `EXPLORE` comes | all neighbours but the parent |
//! | `ECHO` | all neighbours have been heard | the parent |
//!
//! # Timing
//! None. But no node may go down, no message may be lost, and only one node may call: the waves of
//! two are not told apart, and make a forest. [`Extinction`](super::Extinction) is for several. A
//! node that has recovered is outside the tree until it is explored again.
//!
//! # Cost
//! Exactly 2E messages on a graph of E edges: two along each. 2E-n+1 are `EXPLORE`, n-1 `ECHO`.

use super::wave::Wave;
use crate::message::graph::check_spanning;
use crate::message::{
    Agreement, Circumstances, ClusterError, Election, ElectionCost, Epoch, Graph, Leadership,
    Machine, NodeId, NodeSet, Notice, Outbox, Refused,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Are you reached already?
    Explore,
    /// All behind me are reached.
    Echo,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Explore => "EXPLORE",
            Self::Echo => "ECHO",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Place {
    /// Not reached yet.
    Outside,
    Root,
    Below(NodeId),
}

/// A node of the echo algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Echo {
    me: NodeId,
    nodes: u32,
    place: Place,
    wave: Wave,
}

impl Echo {
    /// A cluster on a graph.
    pub fn over(graph: &Graph) -> Vec<Self> {
        let node = |me| Self {
            me,
            nodes: NodeId::at(graph.nodes()).0,
            place: Place::Outside,
            wave: Wave::new(graph.neighbours(me)),
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

    fn explore(&self, out: &mut Outbox<Message>) {
        let others = self.wave.neighbours().iter().copied();
        let parent = self.parent();
        out.broadcast(others.filter(|&node| Some(node) != parent), Message::Explore);
    }

    fn end_wave(&self, out: &mut Outbox<Message>) {
        match self.place {
            Place::Below(parent) => out.send(parent, Message::Echo),
            Place::Root => out.settle(self.leadership().expect("it has heard from all")),
            Place::Outside => {}
        }
    }
}

impl Machine for Echo {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if self.place == Place::Outside {
            self.place = Place::Root;
            self.explore(out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        // One that has been down has forgotten what it has sent and what it was sent. A wave has no
        // tag, so its second word of this wave counts for nothing.
        let has_forgotten = self.wave.has_heard(from)?;
        let was_forgotten = message == Message::Echo && self.place == Place::Outside;
        if has_forgotten || was_forgotten {
            return Ok(());
        }
        let complete = match message {
            Message::Explore => self.wave.explored_by(from)?,
            Message::Echo => self.wave.echoed_by(from)?,
        };
        if self.place == Place::Outside {
            self.place = Place::Below(from);
            self.explore(out);
        }
        if complete {
            self.end_wave(out);
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, _: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.me, self.nodes())?;
        if notice == Notice::Recovered {
            self.place = Place::Outside;
            self.wave.reset();
        }
        Ok(())
    }
}

impl Election for Echo {
    const AGREEMENT: Agreement = Agreement::Inherent;

    /// The initiator's alone, when it decides: the others know their parents, not that all is done.
    fn leadership(&self) -> Option<Leadership> {
        let decides = self.place == Place::Root && self.wave.is_complete();
        decides.then(|| Leadership { epoch: Epoch::numbered(1), leader: self.me })
    }

    fn parent(&self) -> Option<NodeId> {
        match self.place {
            Place::Below(parent) => Some(parent),
            Place::Outside | Place::Root => None,
        }
    }

    fn is_done(cluster: &[&Self], live: &NodeSet) -> bool {
        live.iter().any(|node| cluster[node.index()].leadership().is_some())
    }

    fn invariant(cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        let parents = || cluster.iter().map(|node| node.parent()).collect::<Vec<_>>();
        let mut deciding = cluster.iter().filter_map(|node| node.leadership());
        Some(deciding.try_for_each(|it| check_spanning(&parents(), it.leader)))
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let one = circumstances.initiators.len() == 1 && circumstances.crashed.is_empty();
        let ends: usize = cluster.iter().map(|node| node.wave.neighbours().len()).sum();
        one.then(|| ElectionCost::exactly("2E", ends)).flatten()
    }
}
