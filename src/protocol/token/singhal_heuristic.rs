//! Singhal 1989, the heuristic: ask only those who probably want in too.
//!
//! Who wants in will soon have the token, or know who does; so a request goes only to those who are believed to want
//! in. Each node keeps what it believes of the others, with the number of the request it rests on, and the token
//! carries what is known where it has been; where both meet, the higher number is right.
//!
//! It begins as a staircase: each node believes that all before it want in. So of any two at least one believes it of
//! the other, and that stays so: no two who want in can miss each other.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | those believed to want in |
//! | | we wait, and hear from one of whom we did not believe it | that one |
//! | `TOKEN` | the user leaves and somebody wants in; or a `REQUEST` finds the token resting | the next who wants in |
//!
//! Cost: 0 to n messages an entry, about (n+1)/2 when nodes come at random. Between two entries T.

use crate::protocol::{
    ClusterError, Cost, Exclusive, NodeId, Outbox, Phase, Protocol, Refused, TokenBased,
};

/// What is believed of a node.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Belief {
    /// Whether it wants in.
    wants: bool,
    /// The number of the request that this rests on.
    number: u64,
}

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// I want in, for the time with this number.
    Request(u64),
    /// The token, with what is known where it has been.
    Token(Vec<Belief>),
}

impl crate::protocol::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Singhal's heuristic algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SinghalHeuristic {
    me: NodeId,
    phase: Phase,
    beliefs: Vec<Belief>,
    token: Option<Vec<Belief>>,
}

impl SinghalHeuristic {
    /// A cluster. The token rests at node 0.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::check_size(nodes)?;
        let node = |me: NodeId| Self {
            me,
            phase: Phase::Idle,
            beliefs: NodeId::all(nodes)
                .map(|node| Belief { wants: node < me, number: 0 })
                .collect(),
            token: (me.index() == 0).then(|| vec![Belief::default(); nodes]),
        };
        Ok(NodeId::all(nodes).map(node).collect())
    }

    /// Compares notes with the token, and sends it to the next who wants in. If there is nobody, it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut token) = self.token.take() else { return };
        for (mine, its) in self.beliefs.iter_mut().zip(&mut token) {
            if mine.number > its.number {
                *its = *mine;
            } else {
                *mine = *its;
            }
        }
        let wants = |node: &NodeId| self.beliefs[node.index()].wants;
        match self.me.after(self.beliefs.len()).find(wants) {
            Some(next) => out.send(next, Message::Token(token)),
            None => self.token = Some(token),
        }
    }
}

impl Protocol for SinghalHeuristic {
    type Message = Message;

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        let number = self.beliefs[self.me.index()].number + 1;
        self.beliefs[self.me.index()] = Belief { wants: true, number };
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            let likely = |node: &NodeId| self.beliefs[node.index()].wants;
            let likely = self.me.others(self.beliefs.len()).filter(likely);
            out.broadcast(likely, Message::Request(number));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        self.beliefs[self.me.index()].wants = false;
        if let Some(token) = &mut self.token {
            token[self.me.index()] = self.beliefs[self.me.index()];
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
        if from == self.me || from.index() >= self.beliefs.len() {
            return Err(Refused("there is no such peer"));
        }
        match message {
            Message::Request(number) => {
                let belief = &mut self.beliefs[from.index()];
                // An old one that was overtaken counts for nothing.
                if number <= belief.number {
                    return Ok(());
                }
                let new = !belief.wants;
                *belief = Belief { wants: true, number };
                match self.phase {
                    Phase::Idle => self.hand_over(out),
                    // It has not heard from us, since we did not believe that it wants in.
                    Phase::Waiting if new => {
                        out.send(from, Message::Request(self.beliefs[self.me.index()].number));
                    }
                    Phase::Waiting | Phase::Inside => {}
                }
            }
            Message::Token(token) => {
                if !self.phase.is_waiting() || self.token.is_some() {
                    return Err(Refused("it does not wait for the token"));
                }
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("0 to n", 0, cluster.len()))
    }
}

impl Exclusive for SinghalHeuristic {}

impl TokenBased for SinghalHeuristic {
    fn has_token(&self) -> bool {
        self.token.is_some()
    }

    fn is_token(message: &Message) -> bool {
        matches!(message, Message::Token(_))
    }
}
