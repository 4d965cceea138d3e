//! Banta 1993, section 4.6: ask the last in the queue, and leave a copy wherever the token has
//! been.
//!
//! The [simple algorithm](super::banta_simple) without its chase. Requests are numbered, and a site
//! that passes one on keeps a copy. The token carries the number of each site's last entry; at each
//! visit the copies that it does not cover, and that are not on its queue, are put behind the
//! queue. So there are ever fewer sites at which the token can miss a request.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in, and the token is elsewhere | the good site |
//! | | one came to a site that the token has left | the good site |
//! | `UPDATE` | the queue has a new last site | all sites that are not on it |
//! | `TOKEN` | the user leaves, or a `REQUEST` finds the token resting | the first in the queue |
//!
//! Cost: n messages per entry when few want in, 2 when many do and all messages take equally long,
//! at most 2(n-1).

use super::good_site::{GoodSite, announce};
use super::number;
use super::queue::NodeQueue;
use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, TokenClaim,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This site wants in, for the time with this number.
    Request(NodeId, u64),
    /// This is a good site to ask.
    Update(GoodSite),
    /// The token, and the epoch of the last in its queue.
    Token(Token, u64),
}

/// What the token carries.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token {
    /// Whom it visits.
    queue: NodeQueue,
    /// The number of each site's last entry.
    served: Vec<u64>,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(..) => "REQUEST",
            Self::Update(_) => "UPDATE",
            Self::Token(..) => "TOKEN",
        }
    }
}

/// A site of Banta's starvation-free algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BantaFair {
    me: NodeId,
    phase: Phase,
    good: GoodSite,
    /// The number of each site's last request that is served, or is on the token's queue, as far as
    /// we know; and of our own.
    settled: Vec<u64>,
    /// The requests that have reached us and are not settled, as they came.
    copies: Vec<(NodeId, u64)>,
    token: Option<Token>,
}

impl BantaFair {
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
            phase: Phase::Idle,
            good: GoodSite::first(),
            settled: vec![0; nodes],
            copies: Vec::new(),
            token: (me.index() == 0)
                .then(|| Token { queue: NodeQueue::new(), served: vec![0; nodes] }),
        })
    }

    /// Puts the copies of what is not settled behind the queue, and sends the token to the first.
    /// If there is nobody, it rests here.
    fn hand_over(&mut self, out: &mut Outbox<Message>) {
        let Some(mut token) = self.token.take() else { return };
        for (settled, served) in self.settled.iter_mut().zip(&token.served) {
            *settled = (*settled).max(*served);
        }
        let open = self.copies.drain(..).filter_map(|(site, number)| {
            let settled = &mut self.settled[site.index()];
            let open = number > *settled;
            *settled = number.max(*settled);
            open.then_some(site)
        });
        let longer = token.queue.extend(open);
        let (Some(first), Some(last)) = (token.queue.front(), token.queue.back()) else {
            self.token = Some(token);
            return;
        };
        if longer {
            self.good.succeed(last);
            let nodes = self.settled.len();
            announce(Message::Update(self.good), self.me, nodes, &token.queue, out);
        }
        out.send(first, Message::Token(token, self.good.epoch));
    }
}

impl Machine for BantaFair {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.settled.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let number = number::next(self.settled[self.me.index()])?;
        self.phase.request()?;
        self.settled[self.me.index()] = number;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.send(self.good.site, Message::Request(self.me, number));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some(token) = &mut self.token {
            token.served[self.me.index()] = self.settled[self.me.index()];
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
        let nodes = self.settled.len();
        match message {
            Message::Request(site, number) => {
                site.check_member(nodes)?;
                number::check_request(
                    number,
                    self.token.as_ref().map(|it| it.served[site.index()]),
                )?;
                if site == self.me && number > self.settled[site.index()] {
                    return Err(Refused("it has not asked so often"));
                }
                // A copy did its work before the request got here. Our own may come back so too.
                if number <= self.settled[site.index()] {
                    return Ok(());
                }
                match self.copies.iter_mut().find(|(known, _)| *known == site) {
                    Some((_, known)) => *known = number.max(*known),
                    None => self.copies.push((site, number)),
                }
                if self.phase.is_idle() {
                    if self.token.is_some() {
                        self.hand_over(out);
                    } else {
                        out.send(self.good.site, message);
                    }
                }
            }
            Message::Update(good) => {
                let latest = self.token.as_ref().map(|_| self.good.epoch);
                good.check_news(self.me, from, nodes, latest)?;
                self.good.learn(good);
            }
            Message::Token(mut token, epoch) => {
                if !self.phase.is_waiting() || token.queue.front() != Some(self.me) {
                    return Err(Refused("it does not wait for the token"));
                }
                // Only a site that wants nothing hands the token over.
                token.queue.check(nodes, [from])?;
                let number = self.settled[self.me.index()];
                number::check_served(&token.served, nodes, self.me, number)?;
                GoodSite::check_epoch(epoch)?;
                self.good = GoodSite { site: token.queue.back().expect("it has a first"), epoch };
                token.queue.pop_front();
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for BantaFair {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for BantaFair {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        let n = cluster.len();
        Some(Cost {
            alone: 0.0..=n as f64,
            ..Cost::within("n light, 2 heavy, at most 2(n-1)", 0, (2 * (n - 1)).max(n))
        })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim {
            has: |node| node.token.is_some(),
            is: |message| matches!(message, Message::Token(..)),
        })
    }
}
