//! Plain voting: Maekawa's idea without the remedy. A demonstration that **deadlocks**.
//!
//! Each node gives its vote to the first node that asks, keeps it there until it is released, and
//! queues the others as they come. Three nodes that ask at the same time may get one vote of two
//! each, and then wait for ever. Use [`Maekawa`](exclusion::message::Maekawa).
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | its quorum |
//! | `VOTE` | the vote is free | the node that came first |
//! | `RELEASE` | the user leaves | its quorum |
//!
//! Cost: 3(K-1) messages, for the entries that take place.

use std::collections::VecDeque;

use exclusion::message::{
    Exclusive, Machine, NodeId, NodeSet, Outbox, Phase, Protocol, Quorums, Refused,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// Asks for the vote.
    Request,
    /// Gives the vote.
    Vote,
    /// The sender has left.
    Release,
}

impl exclusion::message::Message for Message {
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
    me: NodeId,
    nodes: usize,
    voters: NodeSet,
    phase: Phase,
    /// The nodes whose votes we have.
    votes: NodeSet,
    /// The node that has our vote.
    voted_for: Option<NodeId>,
    /// The nodes that want our vote, as they came.
    queue: VecDeque<NodeId>,
}

impl MaekawaVoting {
    /// A cluster with these quorums.
    pub fn cluster(sets: &Quorums) -> Vec<Self> {
        let nodes = sets.nodes();
        let node = |me| Self {
            me,
            nodes,
            voters: sets.of(me)[0].clone(),
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

impl Machine for MaekawaVoting {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        out.broadcast(self.voters.iter(), Message::Request);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        out.broadcast(self.voters.iter(), Message::Release);
        self.votes.clear();
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if from.index() >= self.nodes {
            return Err(Refused("there is no such node"));
        }
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
                let awaited = self.phase.is_waiting() && self.voters.contains(from);
                if !awaited || !self.votes.insert(from) {
                    return Err(Refused("it does not wait for this vote"));
                }
                if self.votes == self.voters {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for MaekawaVoting {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

#[cfg(test)]
mod tests {
    use exclusion::message::sim::{Simulation, Workload};
    use exclusion::message::{Maekawa, Violation};

    use super::*;

    #[test]
    fn voting_alone_costs_what_maekawa_costs() {
        for n in [2, 3, 4, 7, 9, 13, 16] {
            let quorums = Quorums::grid(n).expect("two are enough");
            let plain = Simulation::new(MaekawaVoting::cluster(&quorums)).run().expect("alone");
            let remedied = Simulation::new(Maekawa::cluster(&quorums)).run().expect("alone");
            assert_eq!(plain.per_entry, remedied.per_entry);
        }
    }

    #[test]
    fn voting_deadlocks_and_maekawa_on_the_same_schedule_does_not() {
        let circle = [[0, 1], [1, 2], [2, 0]].map(|quorum| quorum.map(NodeId));
        let circle = Quorums::new(circle).expect("they meet");
        let at_once = || Workload::AllAtOnce { rounds: 1 };
        let voting = Simulation::new(MaekawaVoting::cluster(&circle)).workload(at_once());
        let deadlock = Violation::Deadlock([0, 1, 2].map(NodeId).to_vec());
        assert!(voting.run().unwrap_err().to_string().ends_with(&deadlock.to_string()));

        let remedied = Simulation::new(Maekawa::cluster(&circle)).workload(at_once());
        assert_eq!(remedied.run().expect("it has a remedy").entries, 3);
    }
}
