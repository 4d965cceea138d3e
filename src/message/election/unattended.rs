//! Machines without a user, for runners of machines that have one.

use crate::message::{
    Channels, Claims, Exclusive, Machine, NodeId, Notice, Outbox, Phase, Protocol, Refused, Timer,
};

/// A machine whose user never asks. So whatever runs locks runs elections too, by the same loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unattended<M>(pub M);

impl<M> Unattended<M> {
    /// The machines of a cluster, each without a user.
    pub fn all(machines: Vec<M>) -> Vec<Self> {
        machines.into_iter().map(Self).collect()
    }
}

impl<M: Machine> Machine for Unattended<M> {
    type Message = M::Message;

    const CHANNELS: Channels = M::CHANNELS;
    const RESTS: bool = M::RESTS;

    fn id(&self) -> NodeId {
        self.0.id()
    }

    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn start(&mut self, out: &mut Outbox<M::Message>) {
        self.0.start(out);
    }

    fn elect(&mut self, out: &mut Outbox<M::Message>) -> Result<(), Refused> {
        self.0.elect(out)
    }

    #[inline]
    fn receive(
        &mut self,
        from: NodeId,
        message: M::Message,
        out: &mut Outbox<M::Message>,
    ) -> Result<(), Refused> {
        self.0.receive(from, message, out)
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<M::Message>) -> Result<(), Refused> {
        self.0.timeout(timer, out)
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<M::Message>) -> Result<(), Refused> {
        self.0.notice(notice, out)
    }
}

impl<M: Machine> Protocol for Unattended<M> {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        Phase::Idle
    }
}

impl<M: Machine> Claims for Unattended<M> {}
