//! Lamport 1978: everybody keeps the whole queue.
//!
//! A request goes to everybody with its time, and everybody keeps all requests in the order of
//! (time, node). A node that is first in its own queue, and has heard something later from
//! everybody, knows that nobody can come before it.
//!
//! | message | when | to |
//! |---|---|---|
//! | `REQUEST` | the user wants in | all others |
//! | `CONFIRM` | at once, for a `REQUEST` | the node that asked |
//! | `RELEASE` | the user leaves | all others |
//! | `CANCEL` | the user withdraws its request, in place of the `RELEASE` | all others |
//!
//! Cost: 3(n-1) messages per entry. Between two entries T.
//!
//! The channels must deliver in order: a `CONFIRM` that overtook an older `REQUEST` would say
//! "nothing older is coming" too soon.

use crate::message::fault::remedy::Outlives;
use crate::message::{
    Bypass, Channels, Claims, Clock, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase,
    Protocol, Refused, Stamp,
};

/// What the nodes say to each other, with the time at which they say it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in, since this time.
    Request(u64),
    /// I have your request.
    Confirm(u64),
    /// I have left.
    Release(u64),
    /// I want in no more.
    Cancel(u64),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Confirm(_) => "CONFIRM",
            Self::Release(_) => "RELEASE",
            Self::Cancel(_) => "CANCEL",
        }
    }
}

/// A node of Lamport's algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lamport {
    me: NodeId,
    phase: Phase,
    clock: Clock,
    /// The queue: each node's request, if it has one. The head is the smallest (time, node).
    requests: Vec<Option<u64>>,
    /// The latest time heard from each node.
    heard: Vec<u64>,
    /// How many confirmations each node owes us. Its own request may tell us enough to enter before
    /// they come.
    unconfirmed: Vec<u32>,
}

impl Lamport {
    /// A cluster.
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
            clock: Clock::default(),
            requests: vec![None; nodes],
            heard: vec![0; nodes],
            unconfirmed: vec![0; nodes],
        })
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.requests.len())
    }

    /// The stamp of our request, while we wait or are inside.
    fn stamp(&self) -> Option<Stamp> {
        self.requests[self.me.index()].map(|time| Stamp { time, node: self.me })
    }

    /// Refuses a time after which we could not leave, for there is none later to say so.
    fn check_can_leave(&self, clock: Clock) -> Result<(), Refused> {
        if self.phase.is_idle() { Ok(()) } else { clock.check_next() }
    }

    /// Enters if nobody can come before.
    fn enter_if_first(&mut self, out: &mut Outbox<Message>) {
        let Some(mine) = self.stamp().filter(|_| self.phase.is_waiting()) else { return };
        let before_me = |time: u64, node: NodeId| Stamp { time, node } < mine;
        let first = self.others().all(|node| {
            let asked_before =
                self.requests[node.index()].is_some_and(|time| before_me(time, node));
            let may_ask_before = before_me(self.heard[node.index()], node);
            !asked_before && !may_ask_before
        });
        if first {
            self.phase.enter(out);
        }
    }
}

impl Machine for Lamport {
    type Message = Message;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        clock.check_next()?;
        if self.unconfirmed.contains(&u32::MAX) {
            return Err(Refused("a peer owes so many confirmations that they cannot be counted"));
        }
        self.phase.request()?;
        self.clock = clock;
        self.requests[self.me.index()] = Some(now);
        for peer in self.others() {
            self.unconfirmed[peer.index()] += 1;
            out.send(peer, Message::Request(now));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.phase.release()?;
        self.clock = clock;
        self.requests[self.me.index()] = None;
        out.broadcast(self.others(), Message::Release(now));
        Ok(())
    }

    fn withdraw(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.phase.withdraw()?;
        self.clock = clock;
        self.requests[self.me.index()] = None;
        out.broadcast(self.others(), Message::Cancel(now));
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        let (Message::Request(time)
        | Message::Confirm(time)
        | Message::Release(time)
        | Message::Cancel(time)) = message;
        if time <= self.heard[from.index()] {
            return Err(Refused("the sender has said something later: channels must keep order"));
        }
        let request = self.requests[from.index()];
        let mut clock = self.clock;
        clock.witness(time);
        match message {
            Message::Request(_) => {
                if request.is_some() {
                    return Err(Refused("the sender has a request in the queue"));
                }
                // Later than the request, so that its sender knows that nothing older is on the
                // way.
                let now = clock.tick()?;
                self.check_can_leave(clock)?;
                self.requests[from.index()] = Some(time);
                out.send(from, Message::Confirm(now));
            }
            Message::Confirm(_) => {
                let owed = self.unconfirmed[from.index()].checked_sub(1);
                let owed = owed.ok_or(Refused("the sender was not asked"))?;
                // The last one that is owed is for the request at hand.
                if owed == 0 && self.stamp().is_some_and(|ours| time <= ours.time) {
                    return Err(Refused("the confirmation is not later than the request"));
                }
                self.check_can_leave(clock)?;
                self.unconfirmed[from.index()] = owed;
            }
            Message::Release(_) => {
                let Some(asked) = request else {
                    return Err(Refused("the sender has no request in the queue"));
                };
                // Before it entered, it had heard of our request.
                if self.stamp().is_some_and(|ours| ours < Stamp { time: asked, node: from }) {
                    return Err(Refused("the sender cannot have entered before us"));
                }
                self.check_can_leave(clock)?;
                self.requests[from.index()] = None;
            }
            Message::Cancel(_) => {
                if request.is_none() {
                    return Err(Refused("the sender has no request in the queue"));
                }
                self.check_can_leave(clock)?;
                self.requests[from.index()] = None;
            }
        }
        self.clock = clock;
        self.heard[from.index()] = time;
        self.enter_if_first(out);
        Ok(())
    }
}

impl Protocol for Lamport {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Outlives for Lamport {
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Message>) {
        self.requests[peer.index()] = None;
        self.unconfirmed[peer.index()] = 0;
        // It will never ask again, so nothing older is on the way.
        self.heard[peer.index()] = u64::MAX;
        self.enter_if_first(out);
    }
}

impl Claims for Lamport {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::in_order(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        Some(Cost::always("3(n-1)", 3 * (cluster.len() - 1)))
    }

    fn order() -> Option<fn(&Self) -> Option<Stamp>> {
        Some(Self::stamp)
    }
}
