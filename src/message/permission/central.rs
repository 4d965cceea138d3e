//! The central coordinator: one node keeps the queue.
//!
//! A node that wants in asks the coordinator, which lets one in at a time, in the order in which
//! requests reach it. Simple and cheap; but everything passes through one node, and without it
//! nothing goes.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | the coordinator |
//! | `GRANT` | it is the node's turn | the head of the queue |
//! | `RELEASE` | the user leaves | the coordinator |
//!
//! | `CANCEL` | the user withdraws its request | the coordinator |
//! | `CANCELLED` | for a `CANCEL`: whether the request was still in the queue | its sender |
//!
//! Cost: 3 messages per entry, 0 for the coordinator's own. Between two entries 2T: the release,
//! then the grant. A request that is withdrawn costs 3 messages, and 5 if the grant was on its way:
//! then the node answers the grant with a release.

use std::collections::VecDeque;

use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// May I?
    Request,
    /// You may.
    Grant,
    /// I have left.
    Release,
    /// I want in no more.
    Cancel,
    /// Your request was still in the queue, and is not any more; or it was not there.
    Cancelled {
        /// Whether it was.
        was_queued: bool,
    },
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Grant => "GRANT",
            Self::Release => "RELEASE",
            Self::Cancel => "CANCEL",
            Self::Cancelled { .. } => "CANCELLED",
        }
    }
}

/// A node of a cluster with a coordinator. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CentralCoordinator {
    me: NodeId,
    coordinator: NodeId,
    phase: Phase,
    withdrawal: Withdrawal,
    /// At the coordinator only.
    desk: Option<Desk>,
    nodes: usize,
}

/// A request that was withdrawn, until it is over and the coordinator has said so. Of the user's
/// requests the next one takes it over, as long as it is not over.
///
/// | withdrawal | by | then |
/// |---|---|---|
/// | `None` | the user withdraws | `Asked`, with a `CANCEL` |
/// | `Asked` | `CANCELLED`, it was queued | `None` |
/// | `Asked` | `CANCELLED`, it was not: a `GRANT` is due | `Kept` |
/// | `Asked` | `GRANT` | `Granted` |
/// | `Kept` | `GRANT` | `None` |
/// | `Granted` | `CANCELLED`, it was not queued | `None` |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Withdrawal {
    None,
    Asked,
    Kept,
    Granted,
}

/// What the coordinator knows.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Desk {
    inside: Option<NodeId>,
    queue: VecDeque<NodeId>,
}

impl CentralCoordinator {
    /// A cluster in which node 0 coordinates.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Self::coordinated_by(NodeId(0), nodes)
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node_coordinated_by(me, NodeId(0), nodes)
    }

    /// A cluster with this coordinator.
    ///
    /// # Errors
    /// Fewer than two nodes, or no such coordinator.
    pub fn coordinated_by(coordinator: NodeId, nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node_coordinated_by(me, coordinator, nodes))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`coordinated_by`](Self::coordinated_by), and if there is no such node.
    pub fn node_coordinated_by(
        me: NodeId,
        coordinator: NodeId,
        nodes: usize,
    ) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        ClusterError::check_node(coordinator, nodes)?;
        Ok(Self {
            me,
            coordinator,
            phase: Phase::Idle,
            withdrawal: Withdrawal::None,
            desk: (me == coordinator).then(Desk::default),
            nodes,
        })
    }

    fn desk(&mut self) -> Result<&mut Desk, Refused> {
        self.desk.as_mut().ok_or(Refused("it does not coordinate"))
    }
}

impl Machine for CentralCoordinator {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.withdrawal == Withdrawal::None {
            out.send(self.coordinator, Message::Request);
        }
        Ok(())
    }

    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.withdraw()?;
        if self.withdrawal == Withdrawal::None {
            self.withdrawal = Withdrawal::Asked;
            out.send(self.coordinator, Message::Cancel);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.send(self.coordinator, Message::Release);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request => {
                let desk = self.desk()?;
                // A RELEASE may be overtaken by its sender's next REQUEST, so a node that is inside
                // may queue.
                if desk.queue.contains(&from) {
                    return Err(Refused("the sender is in the queue already"));
                }
                desk.queue.push_back(from);
            }
            Message::Release => {
                let desk = self.desk()?;
                if desk.inside != Some(from) {
                    return Err(Refused("the sender is not inside"));
                }
                desk.inside = None;
            }
            Message::Grant => {
                if from != self.coordinator {
                    return Err(Refused("only the coordinator grants"));
                }
                self.withdrawal = match self.withdrawal {
                    Withdrawal::None if !self.phase.is_waiting() => {
                        return Err(Refused("it does not wait"));
                    }
                    Withdrawal::Granted => return Err(Refused("it has been granted already")),
                    Withdrawal::None | Withdrawal::Kept => Withdrawal::None,
                    Withdrawal::Asked => Withdrawal::Granted,
                };
                if self.phase.is_waiting() {
                    self.phase.enter(out);
                } else {
                    out.send(self.coordinator, Message::Release);
                }
                return Ok(());
            }
            Message::Cancel => {
                let desk = self.desk()?;
                // If it is not there, it is inside by now, or has been overtaken by this. Then it
                // is granted some day, and answered by a RELEASE.
                let place = desk.queue.iter().position(|&queued| queued == from);
                place.map(|place| desk.queue.remove(place));
                out.send(from, Message::Cancelled { was_queued: place.is_some() });
                return Ok(());
            }
            Message::Cancelled { was_queued } => {
                if from != self.coordinator {
                    return Err(Refused("only the coordinator cancels"));
                }
                self.withdrawal = match (self.withdrawal, was_queued) {
                    (Withdrawal::Asked, true) | (Withdrawal::Granted, false) => Withdrawal::None,
                    (Withdrawal::Asked, false) => Withdrawal::Kept,
                    _ => return Err(Refused("it has not asked for that")),
                };
                if self.withdrawal == Withdrawal::None && self.phase.is_waiting() {
                    out.send(self.coordinator, Message::Request);
                }
                return Ok(());
            }
        }
        let desk = self.desk()?;
        if desk.inside.is_none() {
            desk.inside = desk.queue.pop_front();
            if let Some(next) = desk.inside {
                out.send(next, Message::Grant);
            }
        }
        Ok(())
    }
}

impl Protocol for CentralCoordinator {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }

    /// An idle client is nobody's business.
    fn goes_on_without(&self, dead: &Self) -> bool {
        dead.me != self.coordinator && dead.phase.is_idle()
    }
}

impl Claims for CentralCoordinator {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(_cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("3, 0 for the coordinator", 0, 3))
    }
}
