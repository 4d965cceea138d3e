//! Naimi and Trehel 1987, improved: a node that waits keeps the requests, and the token carries the
//! queue.
//!
//! As in the [first version](super::naimi_trehel), requests are passed on towards the last node
//! that wants in. But every node that waits keeps the requests that reach it, not just the first,
//! and puts them behind the token's queue when it leaves; so they are passed on less often. A node
//! that hands the token over asks the queue's last from then on.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the node to ask |
//! | | one comes to a node that is idle, without the token | the node to ask |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the first in the queue |
//!
//! Cost: 0 to n messages per entry, O(log n) on average, and fewer than the first version when many
//! want in. Between two entries T.

use super::queue::NodeQueue;
use crate::message::fault::remedy::Reroots;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This node wants in.
    Request(NodeId),
    /// The token, with who is next after the receiver.
    Token(NodeQueue),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Naimi's and Trehel's improved algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NaimiTrehelQueue {
    me: NodeId,
    nodes: u32,
    phase: Phase,
    /// Whom to ask.
    ask: NodeId,
    /// The requests that have reached us while we want in.
    kept: NodeQueue,
    /// The token, with its queue.
    token: Option<NodeQueue>,
}

impl NaimiTrehelQueue {
    /// A cluster. The token rests at node 0, and everybody knows.
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
        Ok(Self::grown(me, nodes, NodeId(0), &[]))
    }

    /// Puts what was kept behind the token's queue, and sends it to the first. If there is nobody,
    /// it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut queue) = self.token.take() else { return };
        queue.append(&mut self.kept);
        match queue.pop_front() {
            None => self.token = Some(queue),
            Some(first) => {
                self.ask = queue.back().unwrap_or(first);
                out.send(first, Message::Token(queue));
            }
        }
    }
}

impl Machine for NaimiTrehelQueue {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.send(self.ask, Message::Request(self.me));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(node) => {
                self.me.check_peer(node, self.nodes as usize)?;
                let queued = self.token.as_ref().is_some_and(|queue| queue.contains(node));
                if queued || self.kept.contains(node) {
                    return Err(Refused("that node has asked already"));
                }
                if self.phase.is_idle() && self.token.is_none() {
                    if self.ask == node {
                        return Err(Refused("the request would go back to where it comes from"));
                    }
                    let ask = std::mem::replace(&mut self.ask, node);
                    out.send(ask, Message::Request(node));
                } else {
                    self.kept.push_back(node);
                    if self.phase.is_idle() {
                        self.hand_over(out);
                    }
                }
            }
            Message::Token(queue) => {
                if !self.phase.is_waiting() || self.token.is_some() {
                    return Err(Refused("it does not wait for the token"));
                }
                // Only a node that wants nothing hands the token over; and we need not wait any
                // more.
                queue.check(self.nodes as usize, [from, self.me])?;
                self.token = Some(queue);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for NaimiTrehelQueue {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// The token rests at the root, and everybody knows.
impl Reroots for NaimiTrehelQueue {
    fn grown(me: NodeId, nodes: usize, root: NodeId, _: &[NodeId]) -> Self {
        Self {
            me,
            nodes: NodeId::at(nodes).0,
            phase: Phase::Idle,
            ask: root,
            kept: NodeQueue::new(),
            token: (me == root).then(NodeQueue::new),
        }
    }
}

impl Claims for NaimiTrehelQueue {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len();
        Some(Cost { alone: 0.0..=n.min(3) as f64, ..Cost::within("0 to n, O(log n)", 0, n) })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}
