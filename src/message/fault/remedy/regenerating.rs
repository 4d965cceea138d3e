//! Token algorithms whose token is made anew, when and only when it is gone.
//!
//! Each hop of the token has a number, and each node remembers the last hop that it took part in:
//! that it had the token, or to whom it sent it. When a node is down, the survivor with the lowest
//! number holds a census. The latest hop of all says where the token is: with a node that lives, on
//! its way to one, or gone with the dead. Only then the one that holds the census makes a token, of
//! the next epoch, which knows of each survivor's last entry what that one has reported.
//!
//! | message | when | to |
//! |---|---|---|
//! | the lock's | as it has them; the token with the number of its hop | |
//! | `CENSUS` | a node is down, and all lower ones are | all that live |
//! | `REPORT` | a `CENSUS` comes, and the node knows of all the dead that it names | its sender |
//!
//! Cost: for each node that dies 2(n-2), and what the lock costs.
//!
//! # Why there is one token
//!
//! A node reports after it has been told of the dead, so after all that the dead have sent to it.
//! If the latest hop of all went to a dead node, that node has not sent the token on: to a
//! survivor, it would have come before that one's report, with a later hop; to another dead node,
//! it is gone too. From then on nobody sends it to the dead. If the latest hop went to a node that
//! lives, that one has it, or will have it, or has sent it on to one that lives: it is not gone.

use std::collections::BTreeMap;

use super::surviving::lost_peer;
use crate::message::{
    Channels, Claims, ClusterError, Machine, NodeId, NodeSet, Notice, Outbox, Output, Phase,
    Protocol, Refused, Timer, TokenClaim,
};

/// A token algorithm in which everybody hears of every request, so that a token can be made from
/// what the nodes know of themselves.
pub trait Regenerates: Claims {
    /// One node of a cluster in which everybody reaches everybody.
    ///
    /// # Errors
    /// Fewer than two nodes, or no such node.
    fn fresh(me: NodeId, nodes: usize) -> Result<Self, ClusterError>;

    /// The number of its last entry. One that is under way does not count.
    fn last_entry(&self) -> u64;

    /// A peer is down. If the token is here, it serves the peer no more.
    fn lose(&mut self, peer: NodeId);

    /// The token is gone. Makes another, from each node's last entry. The dead are lost anew, after
    /// this.
    fn make_token(&mut self, last_entries: Vec<u64>);

    /// The token has been made here: uses it, or hands it over.
    fn begin(&mut self, out: &mut Outbox<Self::Message>);
}

/// Which hop of the token it is. A later one is greater.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hop {
    /// How many tokens have been made before.
    pub(super) epoch: u64,
    /// How many hops this one has made.
    pub(super) number: u64,
}

impl Hop {
    /// The greatest numbers that a node believes. They leave room to count on.
    const MOST: u64 = u64::MAX >> 1;

    pub(super) fn next(self) -> Self {
        Self { number: self.number + 1, ..self }
    }

    pub(super) fn check(self) -> Result<(), Refused> {
        if self.epoch.max(self.number) > Self::MOST {
            return Err(Refused("the token cannot have come that far"));
        }
        Ok(())
    }
}

/// What a node says in a census.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The last hop that it took part in, and where the token was after it.
    trail: Option<(Hop, NodeId)>,
    /// The number of its last entry.
    last_entry: u64,
}

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// About the lock, but not the token.
    Lock(M),
    /// The token, on this hop.
    Token(Hop, M),
    /// Where is the token, if these are down?
    Census(NodeSet),
    /// To a census of these dead.
    Report(NodeSet, Report),
}

impl<M: crate::message::Message> crate::message::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Lock(message) | Self::Token(_, message) => message.kind(),
            Self::Census(_) => "CENSUS",
            Self::Report(..) => "REPORT",
        }
    }
}

/// A node of a lock whose token is made anew when it is gone. See the [module](self).
///
/// ```
/// use exclusion::message::SuzukiKasami;
/// use exclusion::message::fault::remedy::Regenerating;
/// use exclusion::message::sim::Simulation;
///
/// let nodes = Regenerating::<SuzukiKasami>::cluster(4)?;
/// assert_eq!(Simulation::new(nodes).run()?.entries, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Regenerating<P> {
    lock: P,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    /// The last hop that we took part in, and where the token was after it.
    trail: Option<(Hop, NodeId)>,
    /// The census that we hold: who has reported what.
    census: Option<BTreeMap<NodeId, Report>>,
    /// The census that we have not answered yet, since we do not know of all its dead.
    unanswered: Option<(NodeId, NodeSet)>,
}

impl<P: Regenerates> Regenerating<P> {
    /// A cluster in which everybody reaches everybody.
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
        let lock = P::fresh(me, nodes)?;
        let has_token = (Self::claim().has)(&lock);
        Ok(Self {
            lock,
            down: NodeSet::empty(nodes),
            trail: has_token.then_some((Hop::default(), me)),
            census: None,
            unanswered: None,
        })
    }

    /// The node of the lock.
    pub fn lock(&self) -> &P {
        &self.lock
    }

    fn claim() -> TokenClaim<P> {
        P::token().expect("an algorithm without a token has none to make anew")
    }

    fn survivors(&self) -> impl Iterator<Item = NodeId> + use<'_, P> {
        NodeId::all(self.nodes()).filter(|&node| !self.down.contains(node))
    }

    /// Lets the lock act, and numbers the hop if it sends the token.
    fn act(
        &mut self,
        out: &mut Outbox<Message<P::Message>>,
        act: impl FnOnce(&mut P, &mut Outbox<P::Message>) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut inner = out.of_a_part();
        act(&mut self.lock, &mut inner)?;
        for output in inner.drain() {
            match output {
                Output::Send { to, message } if (Self::claim().is)(&message) => {
                    let hop = self.trail.map_or(Hop::default(), |(latest, _)| latest).next();
                    self.trail = Some((hop, to));
                    out.send(to, Message::Token(hop, message));
                }
                other => out.forward(other, Message::Lock),
            }
        }
        out.discard_for(&self.down);
        Ok(())
    }

    fn report(&self) -> Report {
        Report { trail: self.trail, last_entry: self.lock.last_entry() }
    }

    /// Holds a census, if it is ours to hold.
    fn count(&mut self, out: &mut Outbox<Message<P::Message>>) -> Result<(), Refused> {
        if self.survivors().next() != Some(self.id()) {
            return Ok(());
        }
        self.census = Some(BTreeMap::from([(self.id(), self.report())]));
        let others = self.survivors().filter(|&node| node != self.id());
        out.broadcast(others, Message::Census(self.down.clone()));
        self.evaluate(out)
    }

    /// When all have reported: if the latest hop went to the dead, makes the token.
    fn evaluate(&mut self, out: &mut Outbox<Message<P::Message>>) -> Result<(), Refused> {
        let Self { down, census, lock, .. } = self;
        let mut survivors = NodeId::all(lock.nodes()).filter(|&node| !down.contains(node));
        let Some(reports) =
            census.take_if(|reports| survivors.all(|node| reports.contains_key(&node)))
        else {
            return Ok(());
        };
        let latest = reports.values().filter_map(|report| report.trail).max();
        if latest.is_some_and(|(_, place)| !self.down.contains(place)) {
            return Ok(());
        }
        let epoch = latest.map_or(0, |(hop, _)| hop.epoch) + 1;
        self.trail = Some((Hop { epoch, number: 0 }, self.id()));
        let last_entry = |node| reports.get(&node).map_or(0, |report| report.last_entry);
        self.lock.make_token(NodeId::all(self.nodes()).map(last_entry).collect());
        self.down.iter().for_each(|peer| self.lock.lose(peer));
        self.act(out, |lock, out| {
            lock.begin(out);
            Ok(())
        })
    }

    /// Answers the census, if we know of all its dead.
    fn answer(&mut self, out: &mut Outbox<Message<P::Message>>) {
        let known = |dead: &NodeSet| dead.iter().all(|node| self.down.contains(node));
        if let Some((asker, dead)) = self.unanswered.take_if(|(_, dead)| known(dead)) {
            out.send(asker, Message::Report(dead, self.report()));
        }
    }
}

impl<P: Regenerates> Machine for Regenerating<P> {
    type Message = Message<P::Message>;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.lock.id()
    }

    fn nodes(&self) -> usize {
        self.lock.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Self::Message>) {
        self.act(out, |lock, out| {
            lock.start(out);
            Ok(())
        })
        .expect("a start is not refused");
    }

    fn request(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.act(out, P::request)
    }

    fn release(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.act(out, P::release)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        // Only where the notice has overtaken it.
        if self.down.contains(from) {
            return Ok(());
        }
        match message {
            Message::Lock(message) => {
                if (Self::claim().is)(&message) {
                    return Err(Refused("the token has the number of its hop"));
                }
                self.act(out, |lock, out| lock.receive(from, message, out))
            }
            Message::Token(hop, message) => {
                hop.check()?;
                if !(Self::claim().is)(&message) {
                    return Err(Refused("that is not the token"));
                }
                if self.trail.is_some_and(|(latest, _)| hop <= latest) {
                    return Err(Refused("the token has come further than that"));
                }
                let before = self.trail.replace((hop, self.id()));
                let taken = self.act(out, |lock, out| lock.receive(from, message, out));
                if taken.is_err() {
                    self.trail = before;
                    return taken;
                }
                // It may still have the dead on its queue.
                self.down.iter().for_each(|peer| self.lock.lose(peer));
                Ok(())
            }
            Message::Census(dead) => {
                let in_cluster = dead.iter().all(|node| node.index() < self.nodes());
                let lowest = NodeId::all(self.nodes()).find(|&node| !dead.contains(node));
                if !in_cluster || lowest != Some(from) || dead.contains(self.id()) {
                    return Err(Refused("it is not the sender's to hold that census"));
                }
                self.unanswered = Some((from, dead));
                self.answer(out);
                Ok(())
            }
            Message::Report(dead, report) => {
                report.trail.map_or(Ok(()), |(hop, place)| {
                    hop.check()?;
                    place.check_member(self.lock.nodes())
                })?;
                let dead_known = dead.iter().all(|node| self.down.contains(node));
                if !dead_known {
                    return Err(Refused("it has held no such census"));
                }
                // Of a census that has begun again, with more dead: that one is answered too.
                if dead == self.down {
                    let reports = self.census.as_mut().ok_or(Refused("it has not asked"))?;
                    if reports.contains_key(&from) {
                        return Err(Refused("the sender has reported already"));
                    }
                    reports.insert(from, report);
                    self.evaluate(out)?;
                }
                Ok(())
            }
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.act(out, |lock, out| lock.timeout(timer, out))
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let peer = lost_peer(notice, self.id(), &self.down, self.nodes())?;
        self.down.insert(peer);
        self.lock.lose(peer);
        self.answer(out);
        self.count(out)
    }
}

impl<P: Regenerates> Protocol for Regenerating<P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.lock.phase()
    }
}
