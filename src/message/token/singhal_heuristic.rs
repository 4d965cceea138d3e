//! Singhal 1989, the heuristic, remedied: ask only nodes that probably want in too.
//!
//! A node that wants in will soon have the token, or know who does; so a request goes only to those
//! who probably want in: who have asked us since we asked them. It begins as a staircase: each node
//! will ask all before it. So of any two at least one will ask the other, or is asking it at this
//! moment.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the nodes that probably want in |
//! | | we wait, and are asked by one whom we have not asked | that one |
//! | | the token comes to rest here | the nodes that have asked us since we asked them |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the next that wants in |
//!
//! Cost: 0 to n messages per entry, about (n+1)/2 when nodes come at random, and a message for each
//! request that comes so late that it has been served. Between two entries T.
//!
//! In the thesis's account of the algorithm a request carries all that its sender believes about
//! all nodes, and the receiver takes over what is newer. Here a request carries the sender's own
//! number and nothing else, so it stays one number long whatever n. Only the token tells of third
//! nodes.
//!
//! The paper has each node forget who wants in when the token says that it has been served. If the
//! request itself is still on its way, neither of the two then expects anything of the other; and
//! if the token rests with one of them, the other may wait for ever. So here the token does not
//! change whom a node will ask, and nobody lets it rest who would have to ask somebody. It does
//! tell who wants in: else two nodes that know of each other could hand it to and fro, past a third
//! that only one of them knows of.

use super::number;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox, Phase,
    Protocol, Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in, or wanted, for the time with this number.
    Request(u64),
    /// The token.
    Token(Token),
}

/// What the token knows of each node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token {
    /// The highest number that anybody who had it has heard from the node.
    heard: Vec<u64>,
    /// The number of the node's last entry.
    served: Vec<u64>,
}

impl Token {
    /// Refuses what cannot come to a node that waits with the request of this number.
    fn check(&self, nodes: usize, me: NodeId, number: u64) -> Result<(), Refused> {
        number::check_served(&self.served, nodes, me, number)?;
        if self.heard.len() != nodes {
            return Err(Refused("the token is of a cluster of another size"));
        }
        if self.heard[me.index()] != number {
            return Err(Refused("who sent the token has not heard its request"));
        }
        if self.heard.iter().zip(&self.served).any(|(heard, served)| heard < served) {
            return Err(Refused("a request has been served that nobody has heard"));
        }
        Ok(())
    }

    /// It learns what a node has heard, and the node what others have.
    fn exchange(&mut self, heard: &mut [u64]) {
        for (known, heard) in self.heard.iter_mut().zip(heard) {
            *known = (*known).max(*heard);
            *heard = *known;
        }
    }
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Singhal's heuristic algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SinghalHeuristic {
    me: NodeId,
    phase: Phase,
    /// The highest number heard from each node; our own among them.
    heard: Vec<u64>,
    /// Who probably wants in: whom to ask next.
    likely: NodeSet,
    /// Whom we have asked, while we wait.
    asked: NodeSet,
    token: Option<Token>,
}

impl SinghalHeuristic {
    /// A cluster. The token rests at node 0.
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
            phase: Phase::Idle,
            heard: vec![0; nodes],
            likely: NodeSet::of(nodes, NodeId::all(me.index())),
            asked: NodeSet::empty(nodes),
            token: (me.index() == 0)
                .then(|| Token { heard: vec![0; nodes], served: vec![0; nodes] }),
        })
    }

    fn our_request(&self) -> Message {
        Message::Request(self.heard[self.me.index()])
    }

    /// Sends the token to the next node that wants in. If there is nobody, it rests here, and all
    /// must come to ask us.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut token) = self.token.take() else { return };
        token.exchange(&mut self.heard);
        let wants = |node: &NodeId| token.heard[node.index()] > token.served[node.index()];
        if let Some(next) = self.me.after(self.heard.len()).find(wants) {
            out.send(next, Message::Token(token));
        } else {
            self.token = Some(token);
            out.broadcast(self.likely.iter(), self.our_request());
            self.likely.clear();
        }
    }
}

impl Machine for SinghalHeuristic {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let number = number::next(self.heard[self.me.index()])?;
        self.phase.request()?;
        self.heard[self.me.index()] = number;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.broadcast(self.likely.iter(), self.our_request());
            std::mem::swap(&mut self.likely, &mut self.asked);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.asked.clear();
        if let Some(token) = &mut self.token {
            token.served[self.me.index()] = self.heard[self.me.index()];
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
        match message {
            Message::Request(number) => {
                let served = self.token.as_ref().map(|token| token.served[from.index()]);
                number::check_request(number, served)?;
                let heard = &mut self.heard[from.index()];
                *heard = number.max(*heard);
                // A node that asks us does not expect us to ask, so we must; or it must know of us.
                if self.phase.is_waiting() && self.asked.insert(from) {
                    out.send(from, self.our_request());
                } else {
                    self.likely.insert(from);
                }
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            Message::Token(token) => {
                if !self.phase.is_waiting() || self.token.is_some() {
                    return Err(Refused("it does not wait for the token"));
                }
                token.check(self.heard.len(), self.me, self.heard[self.me.index()])?;
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for SinghalHeuristic {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for SinghalHeuristic {
    fn bypass(cluster: &[Self]) -> Bypass {
        // A node may have to wait until it is asked.
        Bypass::twice(cluster.len())
    }

    fn invariant(
        cluster: &[Self],
        in_flight: &[(NodeId, NodeId, &Message)],
    ) -> Option<Result<(), &'static str>> {
        let will_ask = |one: NodeId, other: NodeId| {
            let told = |&(from, to, message): &(NodeId, NodeId, &Message)| {
                (from, to) == (other, one) && matches!(message, Message::Request(_))
            };
            cluster[one.index()].likely.contains(other) || in_flight.iter().any(told)
        };
        let meet = |(one, other)| will_ask(one, other) || will_ask(other, one);
        let holds = NodeId::pairs(cluster.len()).all(meet);
        Some(if holds { Ok(()) } else { Err("two nodes would miss each other") })
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len();
        // Each request asks n-1 at most, and can make at most as many of those who hear it late ask
        // back.
        let contended = 0.0..=(2 * n - 1) as f64;
        Some(Cost { contended, ..Cost::within("0 to n, and late requests", 0, n) })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}
