//! Raymond 1989: a tree whose edges point to the token. The lift algorithm.
//!
//! Each node knows which of its neighbours leads to the token. A request goes there, once, however
//! many want in behind the node; the token comes back along the way, and turns each edge that it
//! passes. A node serves the neighbours that asked it, itself among them, first come first served.
//! Serving itself first whenever the token comes by would let it pass those that asked before.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | a node here or behind wants in, and none is on the way | towards the token |
//! | `TOKEN` | it is a neighbour's turn | that neighbour |
//!
//! Cost: twice the way to the token, so at most 2D messages per entry for a tree of diameter D;
//! O(log n) in a balanced one, and fewer when many want in, for then a request and the token serve
//! several. Between two entries T to DT.

use std::collections::VecDeque;

use crate::message::fault::remedy::Reroots;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim, Tree,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Somebody on my side wants in.
    Request,
    /// The token.
    Token,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Token => "TOKEN",
        }
    }
}

/// A node of Raymond's tree algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Raymond {
    me: NodeId,
    nodes: u32,
    phase: Phase,
    neighbours: Box<[NodeId]>,
    /// The neighbour that leads to the token; none if it is here.
    towards: Option<NodeId>,
    /// Whom to serve: neighbours, each at most once, and this node itself.
    queue: VecDeque<NodeId>,
    /// Whether our request is on the way.
    asked: bool,
}

impl Raymond {
    /// A cluster on a balanced binary tree. The token is at node 0, the root.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Ok(Self::over(&Tree::k_ary(nodes, 2)?))
    }

    /// A cluster on a tree. The token is at node 0, the root.
    pub fn over(tree: &Tree) -> Vec<Self> {
        NodeId::all(tree.nodes())
            .zip(tree.adjacency())
            .map(|(me, neighbours)| Self::with_neighbours(me, tree, neighbours))
            .collect()
    }

    /// One node of a cluster on a tree.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn node(me: NodeId, tree: &Tree) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, tree.nodes())?;
        Ok(Self::with_neighbours(me, tree, tree.neighbours(me)))
    }

    /// One node of a tree that is known by its edges alone: the way to the token, and the other
    /// neighbours. The node without a way has the token.
    pub fn rooted(
        me: NodeId,
        nodes: usize,
        towards: Option<NodeId>,
        others: impl IntoIterator<Item = NodeId>,
    ) -> Self {
        let mut neighbours: Vec<_> = others.into_iter().chain(towards).collect();
        neighbours.sort_unstable();
        Self {
            me,
            nodes: NodeId::at(nodes).0,
            phase: Phase::Idle,
            neighbours: neighbours.into(),
            towards,
            queue: VecDeque::new(),
            asked: false,
        }
    }

    fn with_neighbours(me: NodeId, tree: &Tree, neighbours: Vec<NodeId>) -> Self {
        Self {
            me,
            nodes: NodeId::at(tree.nodes()).0,
            phase: Phase::Idle,
            neighbours: neighbours.into(),
            towards: tree.parent(me),
            queue: VecDeque::new(),
            asked: false,
        }
    }

    /// Passes the token on if it is here and free, and asks for it if it is not and somebody wants
    /// it.
    fn serve(&mut self, out: &mut Outbox<Message>) {
        if self.towards.is_none()
            && !self.phase.is_inside()
            && let Some(first) = self.queue.pop_front()
        {
            if first == self.me {
                self.phase.enter(out);
            } else {
                self.towards = Some(first);
                out.send(first, Message::Token);
            }
        }
        if let Some(towards) = self.towards
            && !self.queue.is_empty()
            && !self.asked
        {
            self.asked = true;
            out.send(towards, Message::Request);
        }
    }
}

impl Machine for Raymond {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        self.queue.push_back(self.me);
        self.serve(out);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.serve(out);
        Ok(())
    }

    /// If we have asked for the token, it comes all the same. It serves those behind us, or rests.
    fn withdraw(&mut self, _: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.withdraw()?;
        self.queue.retain(|&queued| queued != self.me);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if !self.neighbours.contains(&from) {
            return Err(Refused("the sender is no neighbour"));
        }
        match message {
            Message::Request => {
                if self.queue.contains(&from) {
                    return Err(Refused("the sender is in the queue already"));
                }
                // It may want back the token that it has just sent, but only to a node that asked.
                if self.towards == Some(from) && !self.asked {
                    return Err(Refused("the token is on the sender's side"));
                }
                self.queue.push_back(from);
            }
            Message::Token => {
                if self.towards != Some(from) || !self.asked {
                    return Err(Refused("it did not ask the sender for the token"));
                }
                self.towards = None;
                self.asked = false;
            }
        }
        self.serve(out);
        Ok(())
    }
}

impl Protocol for Raymond {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// A balanced binary tree over those that live.
impl Reroots for Raymond {
    fn grown(me: NodeId, nodes: usize, root: NodeId, living: &[NodeId]) -> Self {
        let others = living.iter().copied().filter(|&node| node != root);
        let order: Vec<_> = [root].into_iter().chain(others).collect();
        let place = order.iter().position(|&node| node == me).expect("it lives");
        let towards = (place > 0).then(|| order[(place - 1) / 2]);
        let children = [2 * place + 1, 2 * place + 2];
        let children = children.into_iter().filter_map(|child| order.get(child).copied());
        Self::rooted(me, nodes, towards, children)
    }
}

impl Claims for Raymond {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        // Each way ends where the token is, or on the edge that it is passing.
        let travels = |from: NodeId, to: NodeId| in_flight.contains(&(from, to, &Message::Token));
        let leads_to_token = |start: NodeId| {
            let mut here = start;
            for _ in 0..cluster.len() {
                match cluster[here.index()].towards {
                    None => return true,
                    Some(next) if travels(here, next) || travels(next, here) => return true,
                    Some(next) => here = next,
                }
            }
            false
        };
        let holds = NodeId::all(cluster.len()).all(leads_to_token);
        Some(if holds { Ok(()) } else { Err("a way does not lead to the token") })
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let tree = Tree::with_parents(cluster.iter().map(|node| node.towards).collect());
        // Node after node, the token is at the one before. The first has it.
        let nodes = NodeId::all(cluster.len());
        let ways = nodes.clone().zip(nodes.skip(1)).map(|(one, next)| tree.distance(one, next));
        Some(Cost {
            formula: "twice the way, at most 2D",
            alone: 0.0..=(2 * ways.max().unwrap_or(0)) as f64,
            contended: 0.0..=(2 * tree.diameter()) as f64,
        })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.towards.is_none(),
            is: |message| matches!(message, Message::Token),
        })
    }
}
