//! Banta 1993, chapter 5: ask the good site, and give late requests the time to come.
//!
//! As in [chapter 4](super::banta_simple) the token carries a queue, and one site on it is good to
//! ask. But the good site stays the same until it has had its turn, and then everybody is told of
//! the next, and given two periods, before the token goes on: so no request ever comes to a site
//! that the token has left, and none need be passed on.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the good site |
//! | `UPDATE` | a cycle begins | all sites that are not on the queue |
//! | `TOKEN` | the user leaves, or the wait for late requests is over | the first in the queue |
//!
//! Cost: (n-1)/m + 1 messages per entry when m want in; the thesis counts an update to the sender,
//! n/m + 1. Between two entries T within a cycle, and 3T from one cycle to the next.
//!
//! It needs messages that take at most a period (Tmax). If one takes longer, [`Late::Strict`] may
//! starve its sender; [`Late::Hardened`] passes the request on, and costs a message more.

use super::cycle::Cycle;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, Timer, TokenClaim,
};

pub use super::cycle::{Late, Message, Token};
pub use super::good_site::GoodSite;

/// A site of Banta's efficient algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BantaEfficient {
    cycle: Cycle,
}

impl BantaEfficient {
    /// A cluster. The token rests at node 0, and everybody knows.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize, late: Late) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes, late))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize, late: Late) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self { cycle: Cycle::new(me, nodes, 1, late) })
    }
}

impl Machine for BantaEfficient {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.cycle.me
    }

    fn nodes(&self) -> usize {
        self.cycle.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.cycle.request(out)
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.cycle.phase.release()?;
        self.cycle.go_on(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(site) => self.cycle.receive_request(site, out),
            Message::Update(good) => self.cycle.receive_update(from, good),
            Message::Token(token) => {
                self.cycle.check_token(&token, 1..=1)?;
                self.cycle.take_token(token);
                self.cycle.phase.enter(out);
                Ok(())
            }
            Message::Release => Err(Refused("only one may enter at a time")),
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.cycle.timeout(timer, out)
    }
}

impl Protocol for BantaEfficient {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.cycle.phase
    }
}

impl Claims for BantaEfficient {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn most_messages(cluster: &[Self], in_time: bool) -> Option<f64> {
        cluster[0].cycle.most_messages(in_time)
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("(n-1)/m + 1 at m waiting", 0, cluster.len()))
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.cycle.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}
