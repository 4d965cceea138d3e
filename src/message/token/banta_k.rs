//! Banta 1993, chapter 6: k entries.
//!
//! The cycles of [chapter 5](super::banta_efficient), but the token does not stay with the site
//! that enters. It carries a semaphore: while it is not 0, a site that gets the token takes one
//! from it, passes the token on, and enters; then a site that gets it passes it on and waits for
//! one before it to leave. A site that leaves says so to the k-th after it, or to the good site if
//! that comes first. The good site keeps the token, waits until all others have left, enters, and
//! begins the next cycle with a full semaphore.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the good site |
//! | `UPDATE` | a cycle begins | all sites that are not on the queue |
//! | `TOKEN` | a site passes it on, or the wait is over | the first in the queue |
//! | `RELEASE` | the user leaves, but not the good site | the k-th after it, or the good site |
//!
//! Cost: (n-2)/m + 2 messages per entry when m want in; the thesis counts an update to the sender
//! and a release of the good site, n/m + 2.
//!
//! A cycle of one lets in one: with few who want in, k are not inside together; and never more than
//! n-2, for the good site enters alone, and the site that began the cycle is outside. The thesis
//! never restores the semaphore, and has the good site wait for k releases; there are as many as
//! the semaphore is short of k.

use super::cycle::Cycle;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Machine, NodeId, Outbox, Phase, Protocol, Refused, Shared,
    Timer, TokenClaim,
};

pub use super::cycle::{Late, Message, Token};
pub use super::good_site::GoodSite;

/// What the sites of a cluster know beforehand, beside how many they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// How many may be inside at a time.
    pub entries: usize,
    /// What becomes of a request that comes late.
    pub late: Late,
}

/// A site of Banta's algorithm for k entries. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BantaK {
    cycle: Cycle,
    entries: usize,
    /// Once the token has been here: how many must leave before we enter.
    to_leave: Option<usize>,
    /// How many have told us that they have left. They may be quicker than the token.
    have_left: usize,
    /// Whom to tell when we leave; none if the token is here.
    to_tell: Option<NodeId>,
}

impl BantaK {
    /// A cluster in which `entries` nodes may be inside at a time. The token rests at node 0, and
    /// everybody knows.
    ///
    /// # Errors
    /// Fewer than two nodes; no entries, or as many as nodes.
    pub fn cluster(nodes: usize, entries: usize, late: Late) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes, entries, late))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(
        me: NodeId,
        nodes: usize,
        entries: usize,
        late: Late,
    ) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        if entries == 0 || entries >= nodes {
            return Err(ClusterError::Entries { entries, nodes });
        }
        let cycle = Cycle::new(me, nodes, entries, late);
        Ok(Self { cycle, entries, to_leave: None, have_left: 0, to_tell: None })
    }

    fn enter_if_enough_have_left(&mut self, out: &mut Outbox<Message>) {
        let Some(rest) = self.to_leave.and_then(|to_leave| self.have_left.checked_sub(to_leave))
        else {
            return;
        };
        self.have_left = rest;
        self.to_leave = None;
        if let Some(token) = &mut self.cycle.token {
            token.free = self.entries;
        }
        self.cycle.phase.enter(out);
    }
}

impl Machine for BantaK {
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
        match self.to_tell.take() {
            Some(site) => {
                out.send(site, Message::Release);
                self.cycle.pass_on_requests(out);
            }
            None => self.cycle.begin(out),
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Request(site) => return self.cycle.receive_request(site, out),
            Message::Update(good) => return self.cycle.receive_update(from, good),
            Message::Token(token) => {
                if self.to_leave.is_some() {
                    return Err(Refused("the token has been here"));
                }
                self.cycle.check_token(&token, 0..=self.entries)?;
                self.cycle.take_token(token);
                let Some(token) = &mut self.cycle.token else { return Ok(()) };
                let good = token.good.site;
                if good == self.cycle.me {
                    self.to_leave = Some(self.entries - token.free);
                } else {
                    // The k-th in the queue, or the good site if it comes first.
                    let good = token.queue.iter().position(|site| site == good);
                    let heir = good.map_or(self.entries - 1, |good| good.min(self.entries - 1));
                    self.to_tell = token.queue.iter().nth(heir);
                    self.to_leave = Some(usize::from(token.free == 0));
                    token.free = token.free.saturating_sub(1);
                    self.cycle.pass_on(out);
                }
                self.enter_if_enough_have_left(out);
            }
            Message::Release => {
                if !self.cycle.phase.is_waiting() || self.have_left == self.entries {
                    return Err(Refused("it does not wait for so many to leave"));
                }
                self.have_left += 1;
                self.enter_if_enough_have_left(out);
            }
        }
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.cycle.timeout(timer, out)
    }
}

impl Protocol for BantaK {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.cycle.phase
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries
    }
}

impl Claims for BantaK {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn most_messages(cluster: &[Self], in_time: bool) -> Option<f64> {
        cluster[0].cycle.most_messages(in_time)
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::within("(n-2)/m + 2 at m waiting", 0, cluster.len()))
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.cycle.token.is_some(),
            is: |message| matches!(message, Message::Token(_)),
        })
    }
}
