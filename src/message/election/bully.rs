//! Garcia-Molina 1982: the highest number that lives bullies the others.
//!
//! A node that misses the coordinator asks all nodes with higher numbers. Whoever is asked answers,
//! and holds an election of its own. If nobody answers within 2T, the node has the highest number
//! that lives: it tells all lower ones. If somebody does, it waits for the new coordinator, and
//! asks again if none comes within 4T.
//!
//! | message | when | to |
//! |---|---|---|
//! | `ELECTION` | the coordinator is down, a lower node asks, or 4T are over | all higher nodes |
//! | `ELECTION` | the node has come back | all nodes |
//! | `OK` | an `ELECTION` comes | its sender |
//! | `COORDINATOR` | no `OK` came within 2T | all lower nodes |
//!
//! # Timing
//! No message takes longer than T. Then an `OK` comes within 2T of the question. The highest node
//! that lives hears the question within T, waits 2T for its own answers, and its `COORDINATOR`
//! comes within T: 4T. So a node that was answered waits 2T more when its first 2T are over. A
//! timeout of less than 2T, or an `OK` that is late, makes two leaders of one epoch.
//!
//! # Cost
//! With the coordinator (the highest) down and m numbers above the initiator: m(m+1)/2 `ELECTION`,
//! m(m-1)/2 `OK` and n-2 `COORDINATOR`, so m² + n - 2. What is sent to the dead counts. With nobody
//! down at most m(m+1) + n - 1.
//!
//! # Coming back
//! A node that has recovered holds an election, as the textbooks have it. It does not know what
//! epoch it is, so it asks everybody. A lower node answers with its epoch, and stands back: it will
//! not become coordinator itself before 4T have passed. Without that the node that was about to win
//! and the one that comes back would both lead, in the same epoch.

use crate::message::{
    Circumstances, ClusterError, Election, ElectionCost, Epoch, Leadership, Machine, NodeId,
    Notice, Outbox, Refused, Timer,
};

/// What the nodes say to each other. Each message has the highest epoch that its sender knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I hold an election.
    Election {
        /// The highest epoch that the sender knows.
        epoch: u64,
        /// How often the sender has recovered.
        life: u32,
    },
    /// I live.
    Ok {
        /// The highest epoch that the sender knows.
        epoch: u64,
        /// The life of the receiver in which it asked.
        life: u32,
    },
    /// I am the coordinator.
    Coordinator {
        /// In this epoch.
        epoch: u64,
    },
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Ok { .. } => "OK",
            Self::Coordinator { .. } => "COORDINATOR",
        }
    }
}

/// | stage | by | then |
/// |---|---|---|
/// | `Idle`, `Settled` | a call, a question from below | `Asking`; at the top `Settled` |
/// | `Settled` | the leader is down | the same |
/// | `Asking` | an `OK` from above | `Answered` |
/// | `Asking` | 2T since it asked | `Settled`: it leads |
/// | `Answered` | 4T since it asked, or since a question from above | `Asking` |
/// | any | `COORDINATOR` | `Settled` |
/// | any | a question from above | `Answered` |
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    #[default]
    Idle,
    Asking,
    /// A higher node lives, and will lead.
    Answered,
    Settled {
        leader: NodeId,
        epoch: u64,
    },
}

/// A node of the bully algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bully {
    me: NodeId,
    nodes: u32,
    /// The highest number of an epoch that has had a coordinator. Survives a crash.
    epoch: u64,
    /// How often it has recovered. Survives a crash.
    life: u32,
    /// Whether it has not settled since it recovered, so that its epoch may be an old one.
    returning: bool,
    stage: Stage,
    /// How many of each timer run. They run out in the order in which they were set: only the last
    /// one counts.
    asks: u32,
    awaits: u32,
    stands_back: u32,
}

/// The time is up for an `OK`.
const ASK: Timer = Timer(0);
/// The time is up for a `COORDINATOR` of one that has answered.
const AWAIT: Timer = Timer(1);
/// The time is up for a `COORDINATOR` of one that has come back.
const STAND_BACK: Timer = Timer(2);

impl Bully {
    /// Within so many periods an `OK` comes.
    pub const OK_WITHIN: u32 = 2;
    /// Within so many periods a `COORDINATOR` comes: that of the highest, and of one that comes
    /// back.
    pub const COORDINATOR_WITHIN: u32 = 4;

    /// A cluster in which nobody leads yet.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            me,
            nodes: NodeId::at(nodes).0,
            epoch: 0,
            life: 0,
            returning: false,
            stage: Stage::Idle,
            asks: 0,
            awaits: 0,
            stands_back: 0,
        })
    }

    fn lower(&self) -> impl Iterator<Item = NodeId> {
        NodeId::all(self.me.index())
    }

    fn higher(&self) -> impl Iterator<Item = NodeId> {
        (self.me.0 + 1..self.nodes).map(NodeId)
    }

    /// Holds an election, unless it is holding one.
    fn call(&mut self, out: &mut Outbox<Message>) {
        if matches!(self.stage, Stage::Asking | Stage::Answered) {
            return;
        }
        let question = Message::Election { epoch: self.epoch, life: self.life };
        out.broadcast(self.higher(), question);
        if self.returning {
            out.broadcast(self.lower(), question);
        } else if self.me.0 + 1 == self.nodes {
            return self.lead(out);
        }
        self.stage = Stage::Asking;
        self.asks = self.asks.saturating_add(1);
        out.set_timer(ASK, Self::OK_WITHIN);
    }

    fn waits_no_more(&self) -> bool {
        (self.asks, self.awaits, self.stands_back) == (0, 0, 0)
    }

    fn lead(&mut self, out: &mut Outbox<Message>) {
        let epoch = self.epoch + 1;
        out.broadcast(self.lower(), Message::Coordinator { epoch });
        self.settle(epoch, self.me, out);
    }

    fn settle(&mut self, epoch: u64, leader: NodeId, out: &mut Outbox<Message>) {
        self.epoch = epoch;
        self.returning = false;
        self.stage = Stage::Settled { leader, epoch };
        out.settle(Leadership { epoch: Epoch::numbered(epoch), leader });
    }
}

impl Machine for Bully {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.call(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Election { epoch, life } => {
                Epoch::check(epoch)?;
                // One that knows less than we have settled on is about to be told.
                let knows = epoch >= self.epoch;
                self.epoch = epoch.max(self.epoch);
                out.send(from, Message::Ok { epoch: self.epoch, life });
                if from > self.me {
                    // It has come back, and will lead: stand back.
                    self.stage = Stage::Answered;
                    self.stands_back = self.stands_back.saturating_add(1);
                    out.set_timer(STAND_BACK, Self::COORDINATOR_WITHIN);
                } else if knows || self.stage == Stage::Idle {
                    self.call(out);
                }
            }
            Message::Ok { epoch, life } => {
                Epoch::check(epoch)?;
                if life > self.life {
                    return Err(Refused("it has not asked in that life"));
                }
                self.epoch = epoch.max(self.epoch);
                // A lower node only tells the epoch. What was asked in a former life is forgotten.
                if from > self.me && life == self.life && self.stage == Stage::Asking {
                    self.stage = Stage::Answered;
                }
            }
            Message::Coordinator { epoch } => {
                Epoch::check(epoch)?;
                if from < self.me {
                    return Err(Refused("a coordinator tells lower nodes only"));
                }
                if epoch == 0 {
                    return Err(Refused("epochs are numbered from 1"));
                }
                // Of two the greater counts, whichever comes last.
                let is_news = match self.stage {
                    Stage::Settled { leader, epoch: settled } => (epoch, from) > (settled, leader),
                    Stage::Idle | Stage::Asking | Stage::Answered => epoch >= self.epoch,
                };
                if is_news {
                    self.settle(epoch, from, out);
                }
            }
        }
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let running = match timer {
            ASK => &mut self.asks,
            AWAIT => &mut self.awaits,
            STAND_BACK => &mut self.stands_back,
            _ => return Err(Refused("it has no such timer")),
        };
        *running = running.checked_sub(1).ok_or(Refused("that timer was not set"))?;
        if *running > 0 {
            return Ok(());
        }
        match (timer, self.stage) {
            (ASK, Stage::Asking) => self.lead(out),
            (ASK, Stage::Answered) => {
                self.awaits = self.awaits.saturating_add(1);
                out.set_timer(AWAIT, Self::COORDINATOR_WITHIN - Self::OK_WITHIN);
            }
            // The one that was to lead is down.
            (AWAIT | STAND_BACK, Stage::Answered) if self.waits_no_more() => {
                self.stage = Stage::Idle;
                self.call(out);
            }
            _ => {}
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.me, self.nodes as usize)?;
        match notice {
            Notice::Down(node) => {
                if matches!(self.stage, Stage::Settled { leader, .. } if leader == node) {
                    self.stage = Stage::Idle;
                    self.call(out);
                }
            }
            // It will make itself heard.
            Notice::Up(_) => {}
            Notice::Recovered => {
                let (epoch, life) = (self.epoch, self.life.saturating_add(1));
                let fresh = Self::node(self.me, self.nodes as usize);
                *self = Self { epoch, life, returning: true, ..fresh.expect("it is one already") };
                self.call(out);
            }
        }
        Ok(())
    }
}

impl Election for Bully {
    fn leadership(&self) -> Option<Leadership> {
        match self.stage {
            Stage::Settled { leader, epoch } => {
                Some(Leadership { epoch: Epoch::numbered(epoch), leader })
            }
            Stage::Idle | Stage::Asking | Stage::Answered => None,
        }
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let n = cluster.len();
        let [initiator] = circumstances.initiators[..] else { return None };
        let m = (n - 1).checked_sub(initiator.index())?;
        match circumstances.crashed[..] {
            [] => ElectionCost::within("at most m(m+1) + n-1", n - 1, m * (m + 1) + n - 1),
            [top] if top.index() == n - 1 => ElectionCost::exactly("m^2 + n-2", m * m + n - 2),
            _ => None,
        }
    }
}
