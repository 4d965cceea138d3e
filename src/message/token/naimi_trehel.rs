//! Naimi and Trehel 1987: a tree that bends towards the node that asks.
//!
//! Each node knows whom to ask, and whom to give the token to. A request is passed on from one to
//! the next until it reaches the last node that wants in, which will give the token to its sender;
//! and everybody on the way takes the sender for the one to ask from now on. So busy nodes are
//! found quickly.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the node to ask |
//! | | one comes to a node that is not the last that wants in | the node to ask |
//! | `TOKEN` | the user leaves and a node is next | that node |
//! | | a `REQUEST` finds the token resting | the node that asked |
//!
//! Cost: 0 to n messages per entry, O(log n) on average. Between two entries T.
//!
//! A node at which the token rests must send it at once. Passing the request on instead, as one may
//! read the rule that only a node that wants in remembers a successor, would lose it: there is
//! nobody to pass it on to.

use crate::message::fault::remedy::Reroots;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This node wants in.
    Request(NodeId),
    /// The token.
    Token,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token => "TOKEN",
        }
    }
}

/// A node of Naimi's and Trehel's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NaimiTrehel {
    me: NodeId,
    nodes: u32,
    phase: Phase,
    has_token: bool,
    /// Whom to ask; none if we are the last that wants in, or the token rests here.
    ask: Option<NodeId>,
    /// Whom to give the token to.
    next: Option<NodeId>,
}

impl NaimiTrehel {
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

    fn give_to(&mut self, node: NodeId, out: &mut Outbox<Message>) {
        self.has_token = false;
        out.send(node, Message::Token);
    }
}

impl Machine for NaimiTrehel {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        match self.ask.take() {
            None => self.phase.enter(out),
            Some(ask) => out.send(ask, Message::Request(self.me)),
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some(next) = self.next.take() {
            self.give_to(next, out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        _: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(node) => {
                self.me.check_peer(node, self.nodes as usize)?;
                // It would go back to where it comes from; or the node waits for us already.
                if self.ask == Some(node) || self.next == Some(node) {
                    return Err(Refused("that node has asked already"));
                }
                match self.ask.replace(node) {
                    Some(ask) => out.send(ask, message),
                    None if self.phase.is_idle() => self.give_to(node, out),
                    None => self.next = Some(node),
                }
            }
            Message::Token => {
                if !self.phase.is_waiting() || self.has_token {
                    return Err(Refused("it does not wait for the token"));
                }
                self.has_token = true;
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for NaimiTrehel {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// The token rests at the root, and everybody knows.
impl Reroots for NaimiTrehel {
    fn grown(me: NodeId, nodes: usize, root: NodeId, _: &[NodeId]) -> Self {
        Self {
            me,
            nodes: NodeId::at(nodes).0,
            phase: Phase::Idle,
            has_token: me == root,
            ask: (me != root).then_some(root),
            next: None,
        }
    }
}

impl Claims for NaimiTrehel {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        // Who asks whom is a forest: a request that is passed on comes to an end.
        let ends = |start: NodeId| {
            let next = |node: &NodeId| cluster[node.index()].ask;
            std::iter::successors(Some(start), next).take(cluster.len() + 1).count()
                <= cluster.len()
        };
        let holds = NodeId::all(cluster.len()).all(ends);
        Some(if holds { Ok(()) } else { Err("a request would go round") })
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len();
        // One after the other: node 0 is asked, and knows the last that asked it.
        Some(Cost { alone: 0.0..=n.min(3) as f64, ..Cost::within("0 to n, O(log n)", 0, n) })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.has_token,
            is: |message| matches!(message, Message::Token),
        })
    }
}
