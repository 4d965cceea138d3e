//! Plain voting: Maekawa's idea without the remedy. A demonstration that **deadlocks**.
//!
//! Each node gives its vote to the first who asks, keeps it there until it is released, and queues the others as they
//! come. Three nodes that ask at the same time may get one vote of two each, and then wait for ever. Use
//! [`Maekawa`](super::Maekawa).
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | its granting set |
//! | `VOTE` | the vote is free | who came first |
//! | `RELEASE` | the user leaves | its granting set |
//!
//! Cost: 3(K-1) messages, for the entries that take place.

use std::collections::VecDeque;

use super::arbiters::Arbiters;
use crate::message::{
    Cost, Exclusive, GrantingSets, NodeId, NodeSet, Outbox, Phase, Protocol, Refused,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// Your vote, please.
    Request,
    /// You have it.
    Vote,
    /// I have left.
    Release,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Vote => "VOTE",
            Self::Release => "RELEASE",
        }
    }
}

/// A node of the plain voting, which deadlocks. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MaekawaVoting {
    voters: Arbiters,
    phase: Phase,
    /// Whose votes we have.
    votes: NodeSet,
    /// Who has our vote.
    voted_for: Option<NodeId>,
    /// Who wants our vote, as they came.
    queue: VecDeque<NodeId>,
}

impl MaekawaVoting {
    /// A cluster with these granting sets.
    pub fn cluster(sets: &GrantingSets) -> Vec<Self> {
        let nodes = sets.nodes();
        let node = |me| Self {
            voters: Arbiters::of(me, sets),
            phase: Phase::Idle,
            votes: NodeSet::empty(nodes),
            voted_for: None,
            queue: VecDeque::new(),
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn vote(&mut self, out: &mut Outbox<Message>) {
        if self.voted_for.is_none() {
            self.voted_for = self.queue.pop_front();
            if let Some(first) = self.voted_for {
                out.send(first, Message::Vote);
            }
        }
    }
}

impl Protocol for MaekawaVoting {
    type Message = Message;

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        out.broadcast(self.voters.now().iter(), Message::Request);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(self.voters.now().iter(), Message::Release);
        self.votes.clear();
        self.voters.advance();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        self.voters.check_node(from)?;
        match message {
            Message::Request => {
                if self.queue.contains(&from) {
                    return Err(Refused("the sender is in the queue already"));
                }
                self.queue.push_back(from);
                self.vote(out);
            }
            Message::Release => {
                if self.voted_for != Some(from) {
                    return Err(Refused("the sender does not have its vote"));
                }
                self.voted_for = None;
                self.vote(out);
            }
            Message::Vote => {
                let awaited = self.phase.is_waiting() && self.voters.now().contains(from);
                if !awaited || !self.votes.insert(from) {
                    return Err(Refused("it does not wait for this vote"));
                }
                if self.votes == *self.voters.now() {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let (least, most) = Arbiters::peers(cluster.iter().map(|node| &node.voters));
        Some(Cost::within("3(K-1)", 3 * least, 3 * most))
    }
}

impl Exclusive for MaekawaVoting {}
