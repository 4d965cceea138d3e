//! Ricart and Agrawala 1983: a token without a queue.
//!
//! As Suzuki's and Kasami's algorithm, but the token carries no queue: a node that leaves looks for
//! the next that wants in, beginning after its own number and going round. Looking from the lowest
//! number would serve the low ones for ever.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | all others |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the next that wants in |
//!
//! Cost: 0 or n messages per entry. Between two entries T.

use super::number;
use crate::message::fault::remedy::Regenerates;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in, for the time with this number.
    Request(u64),
    /// The token, with the number of each node's last entry.
    Token(Vec<u64>),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// A node of Ricart's and Agrawala's token algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RicartAgrawalaToken {
    me: NodeId,
    phase: Phase,
    /// The highest number heard from each node; our own among them.
    heard: Vec<u64>,
    /// The token: the number of each node's last entry.
    served: Option<Vec<u64>>,
}

impl RicartAgrawalaToken {
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
            served: (me.index() == 0).then(|| vec![0; nodes]),
        })
    }

    /// Sends the token to the next node that wants in. If there is nobody, it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(served) = self.served.take() else { return };
        let wants = |node: &NodeId| self.heard[node.index()] > served[node.index()];
        match self.me.after(self.heard.len()).find(wants) {
            Some(next) => out.send(next, Message::Token(served)),
            None => self.served = Some(served),
        }
    }
}

impl Machine for RicartAgrawalaToken {
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
        if self.served.is_some() {
            self.phase.enter(out);
        } else {
            out.broadcast(self.me.others(self.heard.len()), Message::Request(number));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some(served) = &mut self.served {
            served[self.me.index()] = self.heard[self.me.index()];
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
                number::check_request(number, self.served.as_ref().map(|it| it[from.index()]))?;
                let heard = &mut self.heard[from.index()];
                if number == *heard {
                    return Err(Refused("it has this request already"));
                }
                // An old one that was overtaken counts for nothing.
                *heard = number.max(*heard);
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            Message::Token(served) => {
                if !self.phase.is_waiting() || self.served.is_some() {
                    return Err(Refused("it does not wait for the token"));
                }
                let number = self.heard[self.me.index()];
                number::check_served(&served, self.heard.len(), self.me, number)?;
                self.served = Some(served);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for RicartAgrawalaToken {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Regenerates for RicartAgrawalaToken {
    fn fresh(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node(me, nodes)
    }

    fn last_entry(&self) -> u64 {
        self.heard[self.me.index()] - u64::from(!self.phase.is_idle())
    }

    fn lose(&mut self, peer: NodeId) {
        if let Some(served) = &mut self.served {
            served[peer.index()] = self.heard[peer.index()];
        }
    }

    fn make_token(&mut self, last_entries: Vec<u64>) {
        self.served = Some(last_entries);
    }

    fn begin(&mut self, out: &mut Outbox<Message>) {
        if self.phase.is_waiting() {
            self.phase.enter(out);
        } else {
            self.hand_over(out);
        }
    }
}

impl Claims for RicartAgrawalaToken {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("0 or n", 0, cluster.len()))
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.served.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}
