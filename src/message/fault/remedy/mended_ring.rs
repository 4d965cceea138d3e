//! A token ring that closes itself around a node that is down.
//!
//! The node before the dead one takes the next one that lives for its successor, and tells it which
//! hop of the token it sent last. The successor knows which hop it received last. If that one is
//! earlier, the token went to the dead and did not come out: it makes the token anew.
//!
//! | message | when | to |
//! |---|---|---|
//! | `TOKEN` | as in [`TokenRing`], with the number of the hop | the next in the ring that lives |
//! | `SKIP` | the next in the ring is down | the next that lives |
//!
//! Cost: one message for each node that dies, and what the ring costs.
//!
//! # Why there is one token
//!
//! There is one token, so its hops are in one order. Between two nodes that live all others are
//! down, and have sent what they have sent: the one that makes the token has been told of each of
//! them. If the last hop into that gap is later than the last hop out of it, the token is in it.
//! Nothing goes into it any more, since the node before has turned to its new successor.
//!
//! Numbers of hops are counted round a circle of 4n. One that comes out of the gap follows the one
//! that went in by at most n; the one that came out a round before is earlier by at most n.

use std::collections::BTreeMap;

use super::surviving::lost_peer;
use crate::message::{
    ClusterError, Exclusive, Machine, NodeId, NodeSet, Notice, Outbox, Output, Phase, Protocol,
    Refused, Timer, TokenRing, token_ring,
};

/// What the nodes say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// The token, on this hop.
    Token(u32),
    /// You are my next. I sent the token last on this hop, if I ever did.
    Skip(Option<u32>),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Token(_) => "TOKEN",
            Self::Skip(_) => "SKIP",
        }
    }
}

/// A node of a ring that closes itself. See the [module](self).
///
/// ```
/// use exclusion::message::fault::remedy::MendedRing;
/// use exclusion::message::sim::Simulation;
///
/// assert_eq!(Simulation::new(MendedRing::cluster(4)?).run()?.entries, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MendedRing {
    ring: TokenRing,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    /// The hop on which it sent the token last. The token that node 0 has at first counts as sent
    /// by the node before it.
    sent: Option<u32>,
    /// The hop on which it received the token last, or made it.
    received: Option<u32>,
    /// Who takes us for its next, and we do not know yet of all the dead between us.
    skips: BTreeMap<NodeId, Option<u32>>,
    /// A token that has overtaken its sender's `SKIP`.
    early: Option<(NodeId, u32)>,
}

impl MendedRing {
    /// A ring whose idle nodes pass the token on after a period. Node 0 has it first.
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
        let ring = TokenRing::node(me, nodes)?;
        let first = |node: NodeId| (node.index() == 0).then_some(0);
        Ok(Self {
            down: NodeSet::empty(nodes),
            sent: first(ring.next()),
            received: first(me),
            ring,
            skips: BTreeMap::new(),
            early: None,
        })
    }

    /// The hop after another.
    fn after(&self, hop: u32) -> u32 {
        (hop + 1) % (4 * NodeId::at(self.nodes()).0)
    }

    /// Whether the token that was sent into a gap on one hop has come out of it on the other.
    fn has_come_out(&self, sent: Option<u32>, received: Option<u32>) -> bool {
        let Some(sent) = sent else { return true };
        let nodes = NodeId::at(self.nodes()).0;
        let ahead = |received: u32| (received + 4 * nodes - sent) % (4 * nodes);
        received.is_some_and(|received| (1..=nodes).contains(&ahead(received)))
    }

    /// Lets the ring act, and numbers the hop if it sends the token.
    fn act(
        &mut self,
        out: &mut Outbox<Message>,
        act: impl FnOnce(&mut TokenRing, &mut Outbox<token_ring::Token>) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut inner = out.of_a_part();
        act(&mut self.ring, &mut inner)?;
        let hop = self.after(self.received.unwrap_or(0));
        if inner.sends_to_itself() {
            self.sent = Some(hop);
            out.send(self.id(), Message::Token(hop));
        }
        for output in inner.drain() {
            if matches!(output, Output::Send { .. }) {
                self.sent = Some(hop);
            }
            out.forward(output, |token_ring::Token| Message::Token(hop));
        }
        Ok(())
    }

    fn take(&mut self, from: NodeId, hop: u32, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let before = self.received.replace(hop);
        let taken = self.act(out, |ring, out| ring.receive(from, token_ring::Token, out));
        if taken.is_err() {
            self.received = before;
        }
        taken
    }

    /// Closes the ring behind us, if we know of all the dead on the way from a node that has turned
    /// to us.
    fn close(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let (me, nodes) = (self.id(), self.nodes());
        let way = |from: NodeId| from.after(nodes).take_while(move |&node| node != me);
        let all_down = |from: NodeId| way(from).all(|node| self.down.contains(node));
        let Some(from) = self.skips.keys().copied().find(|&from| all_down(from)) else {
            return Ok(());
        };
        let sent = self.skips.remove(&from).flatten();
        self.skips.retain(|node, _| !self.down.contains(*node));
        self.ring.set_before(from);
        if !self.has_come_out(sent, self.received) {
            self.received = Some(self.after(sent.unwrap_or(0)));
            self.act(out, |ring, out| {
                ring.make_token(out);
                Ok(())
            })?;
        }
        match self.early.take_if(|(sender, _)| *sender == from) {
            Some((from, hop)) => self.take(from, hop, out),
            None => Ok(()),
        }
    }
}

impl Machine for MendedRing {
    type Message = Message;

    const RESTS: bool = false;

    fn id(&self) -> NodeId {
        self.ring.id()
    }

    fn nodes(&self) -> usize {
        self.ring.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Message>) {
        self.act(out, |ring, out| {
            ring.start(out);
            Ok(())
        })
        .expect("a start is not refused");
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.act(out, TokenRing::request)
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.act(out, TokenRing::release)
    }

    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.act(out, TokenRing::withdraw)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        // Only where the notice has overtaken it.
        if self.down.contains(from) {
            return Ok(());
        }
        let (Message::Token(hop) | Message::Skip(Some(hop))) = message else {
            self.skips.insert(from, None);
            return self.close(out);
        };
        if hop >= 4 * NodeId::at(self.nodes()).0 {
            return Err(Refused("hops are not counted that far"));
        }
        match message {
            Message::Token(_) if from != self.ring.before() => {
                if self.early.is_some() {
                    return Err(Refused("there is only one token"));
                }
                self.early = Some((from, hop));
                Ok(())
            }
            Message::Token(_) => self.take(from, hop, out),
            Message::Skip(sent) => {
                self.skips.insert(from, sent);
                self.close(out)
            }
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.act(out, |ring, out| ring.timeout(timer, out))
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let peer = lost_peer(notice, self.id(), &self.down, self.nodes())?;
        self.down.insert(peer);
        self.skips.remove(&peer);
        if self.ring.next() == peer {
            let next = self.id().after(self.nodes()).find(|&node| !self.down.contains(node));
            let next = next.unwrap_or(self.id());
            self.ring.set_next(next);
            out.send(next, Message::Skip(self.sent));
        }
        self.close(out)
    }
}

impl Protocol for MendedRing {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.ring.phase()
    }
}
