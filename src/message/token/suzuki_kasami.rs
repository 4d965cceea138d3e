//! Suzuki and Kasami 1985: a request to everybody, and a token that carries the queue.
//!
//! Requests are numbered by their nodes. Everybody keeps the highest number heard from each node;
//! the token knows the number of each node's last entry, and a queue. A node that leaves appends to
//! the queue everybody whose request it has heard and the token has not served, in the order of
//! increasing numbers, and sends the token to the first. So of those that come together the one
//! that has asked least often goes first; of equals the next after the own number.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | all others, along the topology |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the queue's first |
//!
//! Where nodes are not all neighbours, a request is relayed, but not by a node at which the token
//! rests; and the token serves every node that wants in on its way.
//!
//! Where channels keep order there is less to do: see [`SuzukiKasamiFifo`](super::SuzukiKasamiFifo)
//! and [`SuzukiKasamiFifoRing`](super::SuzukiKasamiFifoRing).
//!
//! Cost: complete, 0 or n messages per entry; ring, 0 to 2n-2; tree, 0 to n-1 and the token's way.
//! Between two entries T for each hop.

use std::collections::VecDeque;

use crate::message::fault::remedy::Regenerates;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Refused, TokenClaim, Topology,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This node wants in, for the time with this number.
    Request(NodeId, u64),
    /// The token.
    Token(Token),
}

/// What the token carries.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token {
    /// The number of each node's last entry.
    served: Vec<u64>,
    /// Who is next.
    queue: VecDeque<NodeId>,
}

impl Token {
    /// One that has served nobody.
    pub(super) fn new(nodes: usize) -> Self {
        Self { served: vec![0; nodes], queue: VecDeque::new() }
    }

    /// Who is next.
    pub(super) fn first(&self) -> Option<NodeId> {
        self.queue.front().copied()
    }

    /// The node's requests up to this number have been served.
    pub(super) fn serve(&mut self, node: NodeId, number: u64) {
        self.served[node.index()] = number;
    }

    /// The node takes itself off the queue.
    pub(super) fn visit(&mut self, node: NodeId) {
        self.queue.retain(|&queued| queued != node);
    }

    /// Queues all others whose requests the node has heard, and that are not served yet: in the
    /// order of increasing numbers, and of equal ones those after the node's own first, so that
    /// nobody is always the last.
    pub(super) fn append(&mut self, heard: &[u64], me: NodeId) {
        let mut waiting = Vec::new();
        // `for_each`, not `collect`: it goes through both halves of the cycle without asking at
        // each node in which half it is.
        me.after(heard.len()).for_each(|node| {
            let wants = heard[node.index()] > self.served[node.index()];
            if wants && !self.queue.contains(&node) {
                waiting.push(node);
            }
        });
        waiting.sort_by_key(|node| heard[node.index()]);
        self.queue.extend(waiting);
    }

    /// Whether the node can have asked with this number: it asks again only when it has been
    /// served.
    pub(super) fn admits(&self, node: NodeId, number: u64) -> bool {
        number <= self.served[node.index()].saturating_add(1)
    }

    /// Whether it can come to a node that waits or does not, and has heard this.
    pub(super) fn can_come_to(&self, me: NodeId, heard: &[u64], waiting: bool) -> bool {
        let nodes = heard.len();
        let mut queued = NodeSet::empty(nodes);
        let once = |node: &NodeId| node.index() < nodes && queued.insert(*node);
        self.served.len() == nodes
            && !self.queue.is_empty()
            && self.queue.iter().all(once)
            && (waiting || !queued.contains(me))
            && NodeId::all(nodes).all(|node| self.admits(node, heard[node.index()]))
            && self.served[me.index()].checked_add(u64::from(waiting)) == Some(heard[me.index()])
    }
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(..) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Suzuki's and Kasami's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SuzukiKasami {
    me: NodeId,
    phase: Phase,
    /// The highest number heard from each node; our own among them.
    heard: Vec<u64>,
    token: Option<Token>,
    /// Whom we can send to, and from whom we hear.
    neighbours: Vec<NodeId>,
    sources: Vec<NodeId>,
    /// The neighbour on the way to each node.
    routes: Vec<NodeId>,
    /// Whether requests must be passed on, since not everybody is a neighbour.
    relays: bool,
}

impl SuzukiKasami {
    /// A cluster in which everybody reaches everybody. The token rests at node 0.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Ok(Self::over(&Topology::complete(nodes)?))
    }

    /// A cluster over a topology. The token rests at node 0.
    pub fn over(topology: &Topology) -> Vec<Self> {
        let routes = topology.routes();
        NodeId::all(topology.nodes())
            .zip(routes)
            .map(|(me, routes)| Self::with_routes(me, topology, routes))
            .collect()
    }

    /// One node of a cluster over a topology.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn node(me: NodeId, topology: &Topology) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, topology.nodes())?;
        Ok(Self::with_routes(me, topology, topology.routes_from(me)))
    }

    fn with_routes(me: NodeId, topology: &Topology, routes: Vec<NodeId>) -> Self {
        let nodes = topology.nodes();
        Self {
            me,
            phase: Phase::Idle,
            heard: vec![0; nodes],
            token: (me.index() == 0).then(|| Token::new(nodes)),
            neighbours: topology.neighbours(me),
            sources: topology.sources(me),
            routes,
            relays: !matches!(topology, Topology::Complete(_)),
        }
    }

    /// Queues all whose requests are not served yet, and sends the token towards the first. If
    /// there is nobody, it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut token) = self.token.take() else { return };
        token.append(&self.heard, self.me);
        match token.first() {
            Some(first) => out.send(self.routes[first.index()], Message::Token(token)),
            None => self.token = Some(token),
        }
    }

    /// Whether a request of the node can come from this neighbour: along a tree only from the one
    /// that leads there.
    fn leads_to(&self, from: NodeId, node: NodeId) -> bool {
        let one_way = || self.neighbours != self.sources;
        self.routes[node.index()] == from || one_way()
    }
}

impl Machine for SuzukiKasami {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let number = self.heard[self.me.index()].checked_add(1);
        let number = number.ok_or(Refused("its requests cannot be numbered any further"))?;
        self.phase.request()?;
        self.heard[self.me.index()] = number;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            let request = Message::Request(self.me, number);
            out.broadcast(self.neighbours.iter().copied(), request);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some(token) = &mut self.token {
            token.serve(self.me, self.heard[self.me.index()]);
        }
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if !self.sources.contains(&from) {
            return Err(Refused("there is no such peer"));
        }
        match message {
            Message::Request(node, number) => {
                let a_peer = node != self.me && node.index() < self.heard.len();
                if !a_peer || !self.leads_to(from, node) || number == 0 {
                    return Err(Refused("that node cannot have asked"));
                }
                if self.token.as_ref().is_some_and(|token| !token.admits(node, number)) {
                    return Err(Refused("that node has not been served since it asked before"));
                }
                // An old one that was overtaken: its sender has been served, or has asked
                // again since.
                if number <= self.heard[node.index()] {
                    return Ok(());
                }
                self.heard[node.index()] = number;
                let resting = self.token.is_some() && self.phase.is_idle();
                if resting {
                    self.hand_over(out);
                } else if self.relays {
                    let onwards = |&next: &NodeId| next != from && next != node;
                    let request = Message::Request(node, number);
                    out.broadcast(self.neighbours.iter().copied().filter(onwards), request);
                }
            }
            Message::Token(mut token) => {
                if self.token.is_some() {
                    return Err(Refused("there is only one token"));
                }
                if !token.can_come_to(self.me, &self.heard, self.phase.is_waiting()) {
                    return Err(Refused("no node can have sent such a token"));
                }
                // It comes for us, or passes on its way; along a tree it does not turn back.
                let for_us = token.first() == Some(self.me);
                let onwards = |first: NodeId| self.relays && self.routes[first.index()] != from;
                if !for_us && !token.first().is_some_and(onwards) {
                    return Err(Refused("the token is not on its way here"));
                }
                token.visit(self.me);
                self.token = Some(token);
                if self.phase.is_waiting() {
                    self.phase.enter(out);
                } else {
                    self.hand_over(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for SuzukiKasami {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Regenerates for SuzukiKasami {
    fn fresh(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node(me, &Topology::complete(nodes)?)
    }

    fn last_entry(&self) -> u64 {
        self.heard[self.me.index()] - u64::from(!self.phase.is_idle())
    }

    fn lose(&mut self, peer: NodeId) {
        if let Some(token) = &mut self.token {
            token.visit(peer);
            token.serve(peer, self.heard[peer.index()]);
        }
    }

    fn make_token(&mut self, last_entries: Vec<u64>) {
        self.token = Some(Token { served: last_entries, queue: VecDeque::new() });
    }

    fn begin(&mut self, out: &mut Outbox<Message>) {
        if self.phase.is_waiting() {
            self.phase.enter(out);
        } else {
            self.hand_over(out);
        }
    }
}

impl Claims for SuzukiKasami {
    fn bypass(cluster: &[Self]) -> Bypass {
        let nodes = cluster.len();
        // Along a tree the token serves every node that waits on its way, out of turn.
        let both_ways = cluster.iter().all(|node| node.neighbours == node.sources);
        if cluster[0].relays && both_ways { Bypass::twice(nodes) } else { Bypass::once(nodes) }
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len();
        if !cluster[0].relays {
            return Some(Cost::within("0 or n", 0, n));
        }
        // Node after node, the token rests at the one before. The first finds it at home.
        let alone = (1..n).map(|node| cost_of_fetching(cluster, node - 1, node));
        let hops = |from: usize, to| way(cluster, from, to).count();
        let diameter = (0..n).flat_map(|from| (0..n).map(move |to| hops(from, to))).max();
        Some(Cost {
            formula: "0 to n-1 and the diameter",
            alone: 0.0..=alone.max().unwrap_or(0) as f64,
            contended: 0.0..=(n - 1 + diameter.unwrap_or(0)) as f64,
        })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}

/// The nodes on the way, without the start.
fn way(cluster: &[SuzukiKasami], from: usize, to: usize) -> impl Iterator<Item = usize> {
    let next = move |&here: &usize| (here != to).then(|| cluster[here].routes[to].index());
    std::iter::successors(Some(from), next).skip(1)
}

/// What a node pays for a token that rests elsewhere: the request to all it reaches without passing
/// the token, and the token's way.
fn cost_of_fetching(cluster: &[SuzukiKasami], token: usize, node: usize) -> usize {
    let passes = |to: usize| way(cluster, node, to).any(|here| here == token) && to != token;
    let told = (0..cluster.len()).filter(|&to| to != node && !passes(to)).count();
    told + way(cluster, token, node).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Input, step};

    fn ids(nodes: &[u32]) -> VecDeque<NodeId> {
        nodes.iter().copied().map(NodeId).collect()
    }

    fn refuses(node: &SuzukiKasami, from: u32, message: Message) {
        let (mut after, mut out) = (node.clone(), Outbox::new());
        let input = Input::Receive { from: NodeId(from), message: message.clone() };
        step(&mut after, input, &mut out).expect_err(&format!("{message:?} from n{from}"));
        assert!(after == *node && out.is_empty(), "{message:?}");
    }

    /// Node 1 of three, which has asked once.
    fn waiting(topology: &Topology) -> SuzukiKasami {
        let mut node = SuzukiKasami::node(NodeId(1), topology).unwrap();
        step(&mut node, Input::Request, &mut Outbox::new()).unwrap();
        node
    }

    #[test]
    fn a_token_that_nobody_can_have_sent_is_refused() {
        let node = waiting(&Topology::complete(3).unwrap());
        let token = |served: &[u64], queue: &[u32]| {
            Message::Token(Token { served: served.to_vec(), queue: ids(queue) })
        };
        for (served, queue) in [
            (&[0, 0][..], &[1][..]),
            (&[0, 0, 0, 0], &[1]),
            (&[0, 0, 0], &[]),
            (&[0, 0, 0], &[0, 1]),
            (&[0, 0, 0], &[1, 1]),
            (&[0, 0, 0], &[1, 3]),
            (&[0, 1, 0], &[1]),
            (&[0, u64::MAX, 0], &[1]),
        ] {
            refuses(&node, 0, token(served, queue));
        }
        let input = Input::Receive { from: NodeId(0), message: token(&[1, 0, 7], &[1, 2]) };
        step(&mut node.clone(), input, &mut Outbox::new()).expect("a token like this may come");

        let idle = SuzukiKasami::node(NodeId(1), &Topology::complete(3).unwrap()).unwrap();
        refuses(&idle, 0, token(&[0, 0, 0], &[1]));
        refuses(&idle, 0, token(&[0, 0, 0], &[2]));
        // Along a line it passes through, but does not turn back.
        let between = SuzukiKasami::node(NodeId(1), &Topology::line(3).unwrap()).unwrap();
        refuses(&between, 0, token(&[0, 0, 0], &[0]));
        let input = Input::Receive { from: NodeId(0), message: token(&[0, 0, 0], &[2]) };
        step(&mut between.clone(), input, &mut Outbox::new()).expect("it is on its way to node 2");
    }

    #[test]
    fn a_request_that_nobody_can_have_sent_is_refused() {
        let node = waiting(&Topology::complete(3).unwrap());
        for (from, of, number) in [(0, 1, 1), (0, 3, 1), (0, 2, 1), (0, 0, 0)] {
            refuses(&node, from, Message::Request(NodeId(of), number));
        }
        let holder = SuzukiKasami::node(NodeId(0), &Topology::complete(3).unwrap()).unwrap();
        refuses(&holder, 1, Message::Request(NodeId(1), 2));
        refuses(&holder, 1, Message::Request(NodeId(1), u64::MAX));
        // Along a line, requests of node 0 come from its side.
        let between = SuzukiKasami::node(NodeId(1), &Topology::line(3).unwrap()).unwrap();
        refuses(&between, 2, Message::Request(NodeId(0), 1));
    }

    #[test]
    fn numbers_end_with_a_refusal() {
        let mut node = waiting(&Topology::complete(2).unwrap());
        node.phase = Phase::Idle;
        node.heard[1] = u64::MAX;
        let before = node.clone();
        let error = step(&mut node, Input::Request, &mut Outbox::new()).unwrap_err();
        assert!(error.to_string().contains("cannot be numbered any further"), "{error}");
        assert_eq!(node, before);
    }
}
