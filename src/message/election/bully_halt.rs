//! Stoller 2000: the bully with a detector, which halts all lower nodes before it leads.
//!
//! A node leads if it knows that all higher ones are down. First it halts the lower ones: each of
//! them leaves the leader that it had, and promises to listen to no older election. When all that
//! live have acknowledged, nobody follows anybody else: the node tells them that it leads. So two
//! nodes that live never follow two leaders, not even for a moment. That is what a lock needs whose
//! coordinator is elected.
//!
//! | message | when | to |
//! |---|---|---|
//! | `ELECTION` | the leader is down, and somebody higher is not | the highest that is not |
//! | `HALT` | all higher nodes are down | all lower nodes |
//! | `ACK` | a `HALT` comes | its sender |
//! | `NORM` | all lower nodes that live have acknowledged | all lower nodes |
//!
//! # Timing
//! None: messages may take any time. It needs a detector that is right about who is down. What a
//! node said before it went down arrives before the detector reports it. If the node that calls and
//! the one that it asks both go down, nobody that lives knows of the call: somebody has to call
//! again.
//!
//! # Cost
//! Among l nodes that live: 3(l-1), and one `ELECTION` if the one that calls is not the highest.
//!
//! # A majority
//! Where the network may be cut, each half takes the other for dead, and elects. [Gated by a
//! majority](BullyHalt::gated) a node leads only if more than half of all nodes have acknowledged,
//! itself among them. A node that is told that half of the nodes are down leaves its leader, even
//! if that is another one, which lives: the leader steps down in the same way. Then at most one
//! half has a leader, once both know of the cut. A leader that has not been told yet that it is cut
//! off still believes that it leads: what it does must be fenced by its epoch.

use crate::message::{
    Agreement, Circumstances, ClusterError, Election, ElectionCost, Epoch, Leadership, Machine,
    NodeId, NodeSet, Notice, Outbox, Refused,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Hold an election.
    Election,
    /// Halt, for I am about to lead in this epoch.
    Halt(Epoch),
    /// I have halted. It is the highest epoch that I have promised to listen to.
    Ack(Epoch),
    /// I lead.
    Norm(Epoch),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election => "ELECTION",
            Self::Halt(_) => "HALT",
            Self::Ack(_) => "ACK",
            Self::Norm(_) => "NORM",
        }
    }
}

/// | stage | by | then |
/// |---|---|---|
/// | any | a call, and all higher nodes are down | `Halting` |
/// | any | a call, and some are not | `Waiting` for the highest |
/// | any | `HALT` of a greater epoch | `Halted` |
/// | `Halting` | the last `ACK` | `Settled`: it leads |
/// | `Halted` | `NORM` | `Settled` |
/// | `Waiting`, `Halted`, `Settled` | the one it relies on is down | a call |
/// | `Settled`, `Halted` and `NORM` | gated, and half of the nodes are down | `Idle` |
/// | `Idle` | gated, and fewer than half are down again | a call |
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    Idle,
    /// For this node to hold an election.
    Waiting(NodeId),
    /// Until all of these have acknowledged.
    Halting {
        acknowledged: NodeSet,
    },
    /// By the caller of the epoch.
    Halted,
    /// The caller of the epoch leads.
    Settled,
}

/// A node of the bully that halts. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BullyHalt {
    me: NodeId,
    nodes: u32,
    /// Whether a majority must acknowledge.
    gated: bool,
    /// The greatest epoch that it has called or promised to listen to. Survives a crash, so that an
    /// answer to a call of a former life does not count for one of this life.
    epoch: Epoch,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    stage: Stage,
}

impl BullyHalt {
    /// A cluster in which nobody leads yet.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes))
    }

    /// The same, in which a majority must acknowledge a leader.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn gated(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        let nodes = Self::cluster(nodes)?.into_iter();
        Ok(nodes.map(|node| Self { gated: true, ..node }).collect())
    }

    /// One node of a cluster in which nobody leads yet.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            me,
            nodes: NodeId::at(nodes).0,
            gated: false,
            epoch: Epoch::default(),
            down: NodeSet::empty(nodes),
            stage: Stage::Idle,
        })
    }

    /// The lower nodes that are not known to be down.
    fn lower(&self) -> impl Iterator<Item = NodeId> {
        NodeId::all(self.me.index()).filter(|&node| !self.down.contains(node))
    }

    /// The highest node that is not known to be down, if it is above this one.
    fn above(&self) -> Option<NodeId> {
        (self.me.0 + 1..self.nodes).rev().map(NodeId).find(|&node| !self.down.contains(node))
    }

    /// Holds an election, or has the highest node hold it.
    fn call(&mut self, out: &mut Outbox<Message>) {
        if let Some(highest) = self.above() {
            self.stage = Stage::Waiting(highest);
            out.send(highest, Message::Election);
            return;
        }
        self.epoch = Epoch::called_by(self.epoch.number + 1, self.me);
        self.stage = Stage::Halting { acknowledged: NodeSet::empty(self.nodes as usize) };
        out.broadcast(self.lower(), Message::Halt(self.epoch));
        self.lead_if_all_have_halted(out);
    }

    fn lead_if_all_have_halted(&mut self, out: &mut Outbox<Message>) {
        let Stage::Halting { acknowledged } = &self.stage else { return };
        let all = self.lower().all(|node| acknowledged.contains(node));
        let enough = !self.gated || 2 * (acknowledged.len() + 1) > self.nodes as usize;
        if all && enough {
            out.broadcast(self.lower(), Message::Norm(self.epoch));
            self.settle(out);
        }
    }

    fn settle(&mut self, out: &mut Outbox<Message>) {
        self.stage = Stage::Settled;
        out.settle(self.leadership().expect("it has settled"));
    }

    /// The node that it relies on, if that is another.
    fn relies_on(&self) -> Option<NodeId> {
        match self.stage {
            Stage::Waiting(highest) => Some(highest),
            Stage::Halted | Stage::Settled => self.epoch.called_by,
            Stage::Idle | Stage::Halting { .. } => None,
        }
    }

    fn is_down(&mut self, node: NodeId, out: &mut Outbox<Message>) {
        self.down.insert(node);
        if self.relies_on() == Some(node) {
            return self.call(out);
        }
        if let Stage::Halting { acknowledged } = &mut self.stage {
            // A majority is of nodes that live.
            let had_halted = acknowledged.remove(node);
            // One that had not may have led, and halted lower nodes after they acknowledged this
            // call. They are asked again.
            if !had_halted && self.lower().any(|lower| lower < node) {
                return self.call(out);
            }
            return self.lead_if_all_have_halted(out);
        }
        if self.lacks_majority() && self.stage == Stage::Settled {
            // The others may elect another. The leader steps down too, by the same rule.
            self.stage = Stage::Idle;
        }
    }

    /// Whether there may be no leader that both it and a node follow that is in reach again. After
    /// a cut that other side may have noticed nothing, and so hold no election by itself.
    fn is_torn(&self, node: NodeId) -> bool {
        match self.stage {
            // It has left its leader.
            Stage::Idle => !self.lacks_majority(),
            Stage::Halting { .. } => node > self.me,
            Stage::Settled => node > self.me && self.epoch.called_by == Some(self.me),
            Stage::Waiting(_) | Stage::Halted => false,
        }
    }

    /// Refuses what only a higher node says, and in its own epoch.
    fn check_higher(&self, from: NodeId, epoch: Epoch) -> Result<(), Refused> {
        if epoch.check_called(self.nodes as usize)? != from || from < self.me {
            return Err(Refused("only a higher node halts and leads, and in its own epoch"));
        }
        Ok(())
    }

    /// Whether it needs a majority, and half of the nodes are down as far as it knows.
    fn lacks_majority(&self) -> bool {
        self.gated && 2 * self.down.len() >= self.nodes as usize
    }
}

impl Machine for BullyHalt {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if !matches!(self.stage, Stage::Halting { .. } | Stage::Halted | Stage::Waiting(_)) {
            self.call(out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Election => {
                if from > self.me {
                    return Err(Refused("only a lower node asks for an election"));
                }
                // Again, though one may be under way: the sender may have missed what was said.
                self.call(out);
            }
            Message::Halt(epoch) => {
                self.check_higher(from, epoch)?;
                if epoch > self.epoch {
                    self.epoch = epoch;
                    self.stage = Stage::Halted;
                }
                // If it is not greater, the sender learns by ours that it must call again.
                out.send(from, Message::Ack(self.epoch));
            }
            Message::Ack(epoch) => {
                epoch.check_called(self.nodes as usize)?;
                if from > self.me {
                    return Err(Refused("only a lower node acknowledges"));
                }
                if let Stage::Halting { acknowledged } = &mut self.stage {
                    if epoch == self.epoch {
                        acknowledged.insert(from);
                        self.lead_if_all_have_halted(out);
                    } else if epoch > self.epoch {
                        self.epoch = epoch;
                        self.call(out);
                    }
                }
            }
            Message::Norm(epoch) => {
                self.check_higher(from, epoch)?;
                if epoch == self.epoch && self.stage == Stage::Halted {
                    if self.lacks_majority() {
                        // It was said before the sender lost the majority, or will lose it.
                        self.stage = Stage::Idle;
                    } else {
                        self.settle(out);
                    }
                }
            }
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.me, self.nodes as usize)?;
        match notice {
            Notice::Down(node) => self.is_down(node, out),
            Notice::Up(node) => {
                self.down.remove(node);
                // A higher one that was down will halt us. A lower one is to have a leader.
                let lower_lacks_leader = node < self.me && self.above().is_none();
                if lower_lacks_leader || self.gated && self.is_torn(node) {
                    self.call(out);
                }
            }
            Notice::Recovered => {
                self.down.clear();
                self.stage = Stage::Idle;
                self.call(out);
            }
        }
        Ok(())
    }
}

impl Election for BullyHalt {
    /// Whoever leads has halted all others before.
    const AGREEMENT: Agreement = Agreement::Always;

    fn leadership(&self) -> Option<Leadership> {
        let leader = self.epoch.called_by.filter(|_| self.stage == Stage::Settled)?;
        Some(Leadership { epoch: self.epoch, leader })
    }

    fn can_settle(cluster: &[&Self], live: &NodeSet) -> bool {
        let gated = cluster.iter().any(|node| node.gated);
        if gated { 2 * live.len() > cluster.len() } else { !live.is_empty() }
    }

    /// Where a majority is needed, a node that knows that there is none has no leader.
    fn invariant(cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        cluster.iter().any(|node| node.gated).then(|| {
            let follows = |node: &&&Self| node.leadership().is_some();
            match cluster.iter().filter(follows).any(|node| node.lacks_majority()) {
                true => Err("a node has a leader without a majority"),
                false => Ok(()),
            }
        })
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let Circumstances { initiators, crashed } = circumstances;
        let [initiator] = initiators[..] else { return None };
        let alive = |node: &NodeId| !crashed.contains(node);
        let live = NodeId::all(cluster.len()).filter(alive).count();
        let highest = NodeId::all(cluster.len()).rfind(alive)?;
        if cluster[0].gated && 2 * live <= cluster.len() {
            // Nobody leads.
            return None;
        }
        let asks = usize::from(initiator != highest);
        ElectionCost::exactly("3(l-1), and 1 if not the highest calls", 3 * (live - 1) + asks)
    }
}
