//! Banta 1993, chapter 4: ask the last in the queue.
//!
//! The token carries the queue of those it will visit. The last of them is a good site to ask,
//! since the token is sure to come there: it keeps the requests, and puts them behind the queue
//! when it has had its turn. Then every site that is not on the queue is told which is the last
//! now. The more want in, the fewer must be told.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the good site |
//! | | one came to a site that the token has left | the good site |
//! | `UPDATE` | the queue has a new last site | all sites that are not on it |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the first in the queue |
//!
//! Cost: n messages per entry when few want in, 2 when many do and all messages take equally long,
//! and the requests that are passed on.
//!
//! **It can starve a site**: a request may arrive wherever the token has just left, and chase it
//! for ever. See [`BantaFair`](super::BantaFair). What the text leaves open is settled so: a site
//! at which the token rests enters without asking; requests move from a queue to the next, never
//! twice; node 0 has the token first.

use super::good_site::{GoodSite, announce, most_forwarded};
use super::queue::NodeQueue;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This site wants in.
    Request(NodeId),
    /// This is a good site to ask.
    Update(GoodSite),
    /// The token: whom it visits, the receiver first, and the epoch of the last in the queue.
    Token(NodeQueue, u64),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Update(_) => "UPDATE",
            Self::Token(..) => "TOKEN",
        }
    }
}

/// A site of Banta's simple algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BantaSimple {
    me: NodeId,
    nodes: usize,
    phase: Phase,
    good: GoodSite,
    /// The requests that have reached us while we want in.
    kept: NodeQueue,
    /// The queue on the token, if it is here.
    token: Option<NodeQueue>,
}

impl BantaSimple {
    /// A cluster. The token rests at node 0, and everybody knows.
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
            nodes,
            phase: Phase::Idle,
            good: GoodSite::first(),
            kept: NodeQueue::new(),
            token: (me.index() == 0).then(NodeQueue::new),
        })
    }

    /// Puts what was kept behind the queue, and sends the token to the first. If there is nobody,
    /// it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut queue) = self.token.take() else { return };
        let longer = queue.append(&mut self.kept);
        let (Some(first), Some(last)) = (queue.front(), queue.back()) else {
            self.token = Some(queue);
            return;
        };
        if longer {
            self.good.succeed(last);
            announce(Message::Update(self.good), self.me, self.nodes, &queue, out);
        }
        out.send(first, Message::Token(queue, self.good.epoch));
    }
}

impl Machine for BantaSimple {
    type Message = Message;

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
            out.send(self.good.site, Message::Request(self.me));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
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
            Message::Request(site) => {
                if site == self.me {
                    return Err(Refused("its own request has come back"));
                }
                site.check_member(self.nodes)?;
                let queued = self.token.as_ref().is_some_and(|queue| queue.contains(site));
                if queued || self.kept.contains(site) {
                    return Err(Refused("that site has asked already"));
                }
                if self.phase.is_idle() && self.token.is_none() {
                    // The chase: the token was here.
                    self.good.check_goes_on(site)?;
                    out.send(self.good.site, message);
                    return Ok(());
                }
                self.kept.push_back(site);
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            Message::Update(good) => {
                let latest = self.token.as_ref().map(|_| self.good.epoch);
                good.check_news(self.me, from, self.nodes, latest)?;
                self.good.learn(good);
            }
            Message::Token(mut queue, epoch) => {
                if !self.phase.is_waiting() || queue.front() != Some(self.me) {
                    return Err(Refused("it does not wait for the token"));
                }
                // Only a site that wants nothing hands the token over.
                queue.check(self.nodes, [from])?;
                GoodSite::check_epoch(epoch)?;
                self.good = GoodSite { site: queue.back().expect("it has a first"), epoch };
                queue.pop_front();
                self.token = Some(queue);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for BantaSimple {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for BantaSimple {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn most_messages(cluster: &[Self], _in_time: bool) -> Option<f64> {
        Some(most_forwarded(cluster.len()))
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len() as f64;
        Some(Cost {
            formula: "n light, 2 heavy, and what is passed on",
            alone: 0.0..=n,
            contended: 0.0..=f64::INFINITY,
        })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(..)),
        })
    }
}
