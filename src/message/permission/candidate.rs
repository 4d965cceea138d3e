//! What Ricart's and Agrawala's algorithm and its three descendants share: a request with a time,
//! and who goes first.

use crate::message::{Clock, NodeId, Outbox, Phase, Refused, Stamp};

/// What the nodes of Ricart's and Agrawala's algorithm say to each other, and those of its
/// descendants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// I want in, since this time.
    Request(u64),
    /// Go ahead, as far as I am concerned; by now it is this time.
    Confirm(u64),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Confirm(_) => "CONFIRM",
        }
    }
}

/// A node's user as a candidate among `nodes`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Candidate {
    pub(super) me: NodeId,
    pub(super) nodes: usize,
    pub(super) phase: Phase,
    /// Has seen every request, our own among them, and every confirmation. The papers number
    /// requests only; but then a confirmation can lead to a request with a smaller number than one
    /// that it comes after.
    clock: Clock,
    /// When we asked, while we wait or are inside; else, or while our request is postponed, 0, so
    /// that equal situations are equal states.
    pub(super) asked: u64,
}

impl Candidate {
    pub(super) fn new(me: NodeId, nodes: usize, time: u64) -> Self {
        Self { me, nodes, phase: Phase::Idle, clock: Clock::at(time), asked: 0 }
    }

    pub(super) fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.nodes)
    }

    pub(super) fn request(&mut self) -> Result<(), Refused> {
        let mut clock = self.clock;
        let now = clock.tick()?;
        self.phase.request()?;
        self.clock = clock;
        self.asked = now;
        Ok(())
    }

    /// The user asks, but must not ask the others yet: some still owe a confirmation of the request
    /// before, which was withdrawn.
    pub(super) fn postpone(&mut self) -> Result<(), Refused> {
        self.phase.request()
    }

    /// Whether the user has asked, but not the others.
    pub(super) fn is_postponed(&self) -> bool {
        self.phase.is_waiting() && self.asked == 0
    }

    /// Refuses a time after which there would be none for a request that was postponed.
    pub(super) fn check_can_ask(&self, time: u64) -> Result<(), Refused> {
        let mut clock = self.clock;
        clock.witness(time);
        clock.tick().map(drop)
    }

    /// Takes the time of a request that was postponed.
    pub(super) fn ask(&mut self) -> Result<(), Refused> {
        self.asked = self.clock.tick()?;
        Ok(())
    }

    /// The user takes its request back.
    pub(super) fn withdraw(&mut self) -> Result<(), Refused> {
        self.phase.withdraw()?;
        self.asked = 0;
        Ok(())
    }

    pub(super) fn enter<M>(&mut self, out: &mut Outbox<M>) {
        self.phase.enter(out);
    }

    pub(super) fn release(&mut self) -> Result<(), Refused> {
        self.phase.release()?;
        self.asked = 0;
        Ok(())
    }

    /// The stamp of our request, while we wait or are inside.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        (self.asked != 0).then_some(Stamp { time: self.asked, node: self.me })
    }

    /// Refuses the time at which clocks begin: the first request is made after it.
    pub(super) fn check_time(time: u64) -> Result<(), Refused> {
        if time == 0 {
            return Err(Refused("nothing is said at time 0"));
        }
        Ok(())
    }

    /// Refuses a confirmation that is older than the request at hand: its sender has seen the
    /// request.
    pub(super) fn check_confirmation(&self, time: u64) -> Result<(), Refused> {
        if time < self.asked {
            return Err(Refused("the confirmation is older than the request"));
        }
        Ok(())
    }

    /// A confirmation to send.
    pub(super) fn confirmation(&self) -> Message {
        Message::Confirm(self.now())
    }

    /// By now it is this time.
    pub(super) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Takes note of the time on a confirmation.
    pub(super) fn witness(&mut self, time: u64) {
        self.clock.witness(time);
    }

    /// Takes note of a request. Says whether we go before it: because we are inside, or asked
    /// earlier.
    pub(super) fn goes_before(&mut self, time: u64, from: NodeId) -> bool {
        self.clock.witness(time);
        match self.phase {
            Phase::Idle => false,
            Phase::Waiting => {
                self.asked != 0
                    && Stamp { time: self.asked, node: self.me } < Stamp { time, node: from }
            }
            Phase::Inside => true,
        }
    }
}

/// Where a node need not ask everybody: of any two nodes at least one must ask the other before it
/// enters, or both could be inside.
pub(super) fn one_of_any_two_asks(
    nodes: usize,
    asks: impl Fn(NodeId, NodeId) -> bool,
) -> Result<(), &'static str> {
    let covered = |(one, other)| asks(one, other) || asks(other, one);
    let holds = NodeId::pairs(nodes).all(covered);
    if holds { Ok(()) } else { Err("neither of two nodes asks the other") }
}
