//! Suzuki and Kasami 1985 on a ring without overtaking: no numbers, and no lists but the queue.
//!
//! Requests and the token go the same way round, and nothing overtakes anything: a request follows
//! the token. If it meets it at a node, the token has not been at its sender since it asked; the
//! request is noted on the token, and ends there. If it does not, the token goes ahead of it all
//! the way and comes to the sender by itself; the request ends at the node before. So no request is
//! noted that has been served already, and numbers are not needed: neither on requests nor on the
//! token, nor a list of what was heard.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the next |
//! | | one came that is not our own, and the token is not here | the next |
//! | `TOKEN` | nobody here wants in, and somebody is noted on it | the next |
//!
//! Cost: 0 to n messages per entry. A request that meets the token after d hops is followed by n-d
//! of the token; one that does not takes n-1, and the token is on its way for another. Where
//! requests can be overtaken, and must go all the way round, it is up to 2n-2. Between two entries
//! T for each hop.

use crate::message::{
    Bypass, Channels, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, NodeSet, Outbox,
    Phase, Protocol, Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This node wants in.
    Request(NodeId),
    /// The token: who waits for it.
    Token(Vec<NodeId>),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Suzuki's and Kasami's algorithm on such a ring. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SuzukiKasamiFifoRing {
    me: NodeId,
    nodes: usize,
    phase: Phase,
    /// Who waits for the token, if it is here.
    token: Option<Vec<NodeId>>,
}

impl SuzukiKasamiFifoRing {
    /// A ring. The token rests at node 0.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes))
    }

    /// One node of such a ring.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        let token = (me.index() == 0).then(Vec::new);
        Ok(Self { me, nodes, phase: Phase::Idle, token })
    }

    fn next(&self) -> NodeId {
        NodeId::at((self.me.index() + 1) % self.nodes)
    }

    fn before(&self) -> NodeId {
        NodeId::at((self.me.index() + self.nodes - 1) % self.nodes)
    }

    /// Passes the token on if somebody waits for it. If not, it rests here.
    fn pass_on(&mut self, out: &mut Outbox<Message>) {
        if let Some(waiting) = self.token.take_if(|waiting| !waiting.is_empty()) {
            out.send(self.next(), Message::Token(waiting));
        }
    }

    /// Whether such a token can come: for somebody, for nobody twice, and not for us unless we
    /// wait.
    fn can_come(&self, waiting: &[NodeId]) -> bool {
        let mut noted = NodeSet::empty(self.nodes);
        let once = |node: &NodeId| node.index() < self.nodes && noted.insert(*node);
        self.token.is_none()
            && !waiting.is_empty()
            && waiting.iter().all(once)
            && (self.phase.is_waiting() || !noted.contains(self.me))
    }
}

impl Machine for SuzukiKasamiFifoRing {
    type Message = Message;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.send(self.next(), Message::Request(self.me));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.pass_on(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if from != self.before() {
            return Err(Refused("messages come from the node before"));
        }
        match message {
            Message::Request(node) => {
                if node == self.me || node.index() >= self.nodes {
                    return Err(Refused("that node cannot have asked"));
                }
                let next = self.next();
                match &mut self.token {
                    Some(waiting) if waiting.contains(&node) => {
                        return Err(Refused("that node waits already"));
                    }
                    Some(waiting) => {
                        waiting.push(node);
                        if self.phase.is_idle() {
                            self.pass_on(out);
                        }
                    }
                    // Before its sender it ends: the token is ahead of it, and comes there.
                    None if next != node => out.send(next, message),
                    None => {}
                }
            }
            Message::Token(mut waiting) => {
                if !self.can_come(&waiting) {
                    return Err(Refused("no node can have sent such a token"));
                }
                waiting.retain(|&node| node != self.me);
                self.token = Some(waiting);
                if self.phase.is_waiting() {
                    self.phase.enter(out);
                } else {
                    self.pass_on(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for SuzukiKasamiFifoRing {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for SuzukiKasamiFifoRing {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("0 to n", 0, cluster.len()))
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Input, step};

    #[test]
    fn what_cannot_have_been_sent_is_refused() {
        let idle = SuzukiKasamiFifoRing::node(NodeId(1), 3).unwrap();
        let mut waiting = idle.clone();
        step(&mut waiting, Input::Request, &mut Outbox::new()).unwrap();
        let mut holder = SuzukiKasamiFifoRing::node(NodeId(1), 3).unwrap();
        holder.token = Some(Vec::new());
        step(&mut holder, Input::Request, &mut Outbox::new()).unwrap();
        let request = |node: u32| Message::Request(NodeId(node));
        let token = |noted: &[u32]| Message::Token(noted.iter().copied().map(NodeId).collect());
        for (node, from, message) in [
            (&idle, 2, request(2)),
            (&idle, 0, request(1)),
            (&idle, 0, request(3)),
            (&idle, 0, token(&[])),
            (&idle, 0, token(&[1])),
            (&idle, 0, token(&[2, 2])),
            (&idle, 0, token(&[u32::MAX])),
            (&idle, 2, token(&[2])),
            (&waiting, 0, token(&[])),
            (&holder, 0, token(&[2])),
        ] {
            let (mut after, mut out) = (node.clone(), Outbox::new());
            let input = Input::Receive { from: NodeId(from), message: message.clone() };
            step(&mut after, input, &mut out).expect_err(&format!("{message:?}"));
            assert!(after == *node && out.is_empty(), "{message:?}");
        }
        let mut out = Outbox::new();
        let mut take = |node: &mut SuzukiKasamiFifoRing, message| {
            step(node, Input::Receive { from: NodeId(0), message }, &mut out)
        };
        take(&mut holder, request(2)).expect("it is noted");
        take(&mut holder, request(2)).expect_err("it is noted already");
        take(&mut waiting, token(&[2])).expect("its own request has not met the token");
        assert_eq!(waiting.phase, Phase::Inside);
    }
}
