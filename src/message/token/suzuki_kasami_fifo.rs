//! Suzuki and Kasami 1985 on channels without overtaking: requests need no numbers.
//!
//! A request goes to everybody, and the token carries a queue, as in
//! [`SuzukiKasami`](super::SuzukiKasami). But where every channel delivers first in, first out, the
//! k-th request that comes from a node is its k-th: who receives it counts, and it need not carry
//! its number. No request is ever older than one that was heard before.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | all others |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the first in the queue |
//!
//! Cost: 0 or n messages per entry. Between two entries T.
//!
//! Both lists stay. Only messages between the same two nodes keep their order: the token can come
//! from a third node before a request that it has served already. Without the number of each
//! node's entries on the token, that request would call the token back to a node that does not want
//! it. On a ring every message takes the same way, and the lists go too: see
//! [`SuzukiKasamiFifoRing`](super::SuzukiKasamiFifoRing).
//!
//! If channels do overtake, two requests of a node cannot be told apart: the one that comes first
//! counts as the older one, and its node waits until the other has come too. That is slow, but
//! still exclusive and without deadlock.

use super::suzuki_kasami::Token;
use crate::message::{
    Bypass, Channels, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase,
    Protocol, Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in.
    Request,
    /// The token.
    Token(Token),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Suzuki's and Kasami's algorithm without numbers. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SuzukiKasamiFifo {
    me: NodeId,
    phase: Phase,
    /// How many requests have come from each node; and how many we have sent.
    heard: Vec<u64>,
    token: Option<Token>,
}

impl SuzukiKasamiFifo {
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
            token: (me.index() == 0).then(|| Token::new(nodes)),
        })
    }

    /// One more request of the node than we know of.
    fn next_of(&self, node: NodeId) -> Result<u64, Refused> {
        let next = self.heard[node.index()].checked_add(1);
        next.ok_or(Refused("its requests cannot be counted any further"))
    }

    /// Queues all whose requests are not served yet, and sends the token to the first. If there is
    /// nobody, it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut token) = self.token.take() else { return };
        token.append(&self.heard, self.me);
        match token.first() {
            Some(first) => out.send(first, Message::Token(token)),
            None => self.token = Some(token),
        }
    }
}

impl Machine for SuzukiKasamiFifo {
    type Message = Message;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let number = self.next_of(self.me)?;
        self.phase.request()?;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            // Only what the others hear is counted.
            self.heard[self.me.index()] = number;
            out.broadcast(self.me.others(self.nodes()), Message::Request);
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
        match message {
            Message::Request => {
                let number = self.next_of(from)?;
                if self.token.as_ref().is_some_and(|token| !token.admits(from, number)) {
                    return Err(Refused("the sender has not been served since it asked before"));
                }
                self.heard[from.index()] = number;
                // One that has been served already leaves the token where it is.
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            Message::Token(mut token) => {
                let comes = token.can_come_to(self.me, &self.heard, self.phase.is_waiting());
                if self.token.is_some() || !comes || token.first() != Some(self.me) {
                    return Err(Refused("it does not wait for the token"));
                }
                token.visit(self.me);
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for SuzukiKasamiFifo {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for SuzukiKasamiFifo {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("0 or n", 0, cluster.len()))
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
        let refuses = |node: &SuzukiKasamiFifo, from: u32, message: Message| {
            let (mut after, mut out) = (node.clone(), Outbox::new());
            let input = Input::Receive { from: NodeId(from), message };
            step(&mut after, input, &mut out).expect_err("nobody can have sent it");
            assert!(after == *node && out.is_empty());
        };
        let cluster = SuzukiKasamiFifo::cluster(3).unwrap();
        refuses(&cluster[1], 1, Message::Request);
        refuses(&cluster[1], 3, Message::Request);
        // A token for another, and one for a node that does not wait.
        let mut token = Token::new(3);
        refuses(&cluster[1], 0, Message::Token(token.clone()));
        token.append(&[0, 0, 1], NodeId(0));
        refuses(&cluster[1], 0, Message::Token(token.clone()));
        refuses(&cluster[2], 0, Message::Token(token.clone()));
        let mut waiting = cluster[2].clone();
        step(&mut waiting, Input::Request, &mut Outbox::new()).unwrap();
        refuses(&cluster[0], 2, Message::Token(token.clone()));
        let input = Input::Receive { from: NodeId(0), message: Message::Token(token) };
        step(&mut waiting, input, &mut Outbox::new()).expect("it waits");
        // Inside, with the token: a second request before the first is served.
        let input = Input::Receive { from: NodeId(0), message: Message::Request };
        step(&mut waiting, input, &mut Outbox::new()).expect("it can ask");
        refuses(&waiting, 0, Message::Request);
        let mut counted = cluster[1].clone();
        counted.heard[0] = u64::MAX;
        refuses(&counted, 0, Message::Request);
    }
}
