//! Raymond 1989, k entries: enough confirmations will do.
//!
//! Ricart's and Agrawala's algorithm for k users inside at a time: all others are asked, and with
//! n-k confirmations at most k-1 others can be inside. The k-1 missing ones may come at any time,
//! even after the next request, so a node counts how many each peer owes it; and a peer that owes
//! several sends them in one.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | all others |
//! | `CONFIRM` | for all requests held back: now, or when the user leaves | the node that asked |
//!
//! Cost: 2n-k-1 to 2(n-1) messages per entry. Between two entries T.

use super::candidate::Candidate;
use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Machine, NodeId, Outbox, Phase, Protocol, Refused, Shared,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in, since this time.
    Request(u64),
    /// Go ahead, as far as I am concerned.
    Confirm {
        /// To how many requests this is the answer.
        answers: u32,
        /// By now it is this time.
        time: u64,
    },
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Confirm { .. } => "CONFIRM",
        }
    }
}

/// A node of Raymond's algorithm for k entries. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RaymondK {
    candidate: Candidate,
    entries: usize,
    /// How many answers each peer owes us.
    owed_to_us: Vec<u32>,
    /// How many answers we owe each peer.
    held_back: Vec<u32>,
}

impl RaymondK {
    /// A cluster in which `entries` nodes may be inside at a time.
    ///
    /// # Errors
    /// Fewer than two nodes; no entries, or as many as nodes.
    pub fn cluster(nodes: usize, entries: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes, entries))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize, entries: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        if entries == 0 || entries >= nodes {
            return Err(ClusterError::Entries { entries, nodes });
        }
        Ok(Self {
            candidate: Candidate::new(me, nodes, 0),
            entries,
            owed_to_us: vec![0; nodes],
            held_back: vec![0; nodes],
        })
    }

    fn answer_held_back(&mut self, out: &mut Outbox<Message>) {
        for peer in self.candidate.others() {
            let answers = std::mem::take(&mut self.held_back[peer.index()]);
            if answers > 0 {
                out.send(peer, Message::Confirm { answers, time: self.candidate.now() });
            }
        }
    }

    fn enter_if_enough_consent(&mut self, out: &mut Outbox<Message>) {
        // Only a peer that owes us nothing has answered our last request.
        let consenting = self.candidate.others().filter(|peer| self.owed_to_us[peer.index()] == 0);
        let enough = consenting.count() >= self.candidate.nodes - self.entries;
        if enough && self.candidate.phase.is_waiting() {
            self.candidate.enter(out);
        }
    }
}

impl Machine for RaymondK {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.candidate.me
    }

    fn nodes(&self) -> usize {
        self.candidate.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if self.owed_to_us.contains(&u32::MAX) {
            return Err(Refused("a peer owes so many answers that they cannot be counted"));
        }
        self.candidate.request()?;
        for peer in self.candidate.others() {
            self.owed_to_us[peer.index()] += 1;
            out.send(peer, Message::Request(self.candidate.asked));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.release()?;
        self.answer_held_back(out);
        Ok(())
    }

    /// The answers that are owed to this request are counted with those to the next.
    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.candidate.withdraw()?;
        self.answer_held_back(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(time) => {
                Candidate::check_time(time)?;
                let held_back = self.held_back[from.index()].checked_add(1);
                let held_back = held_back.ok_or(Refused("so many answers cannot be owed"))?;
                if self.candidate.goes_before(time, from) {
                    self.held_back[from.index()] = held_back;
                } else {
                    // For this request alone: one that is held back may be younger, and have been
                    // overtaken.
                    out.send(from, Message::Confirm { answers: 1, time: self.candidate.now() });
                }
            }
            Message::Confirm { answers, time } => {
                Candidate::check_time(time)?;
                let owed = self.owed_to_us[from.index()].checked_sub(answers);
                let owed = owed.ok_or(Refused("the sender owes fewer answers"))?;
                if answers == 0 {
                    return Err(Refused("it answers nothing"));
                }
                self.owed_to_us[from.index()] = owed;
                self.candidate.witness(time);
                self.enter_if_enough_consent(out);
            }
        }
        Ok(())
    }
}

impl Protocol for RaymondK {
    type Access = Shared;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.candidate.phase
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries
    }
}

/// A node that is down consents to everything.
impl Outlives for RaymondK {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.held_back[peer.index()] = 0;
        self.owed_to_us[peer.index()] = 0;
        self.enter_if_enough_consent(out);
    }
}

impl Claims for RaymondK {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let (n, k) = (cluster.len(), cluster[0].entries);
        let most = 2 * (n - 1);
        Some(Cost {
            alone: most as f64..=most as f64,
            ..Cost::within("2n-k-1 to 2(n-1)", 2 * n - k - 1, most)
        })
    }
}
