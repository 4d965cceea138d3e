//! Locks whose nodes go on by themselves when one of them is down.

use crate::message::{
    Channels, Machine, NodeId, NodeSet, Notice, Outbox, Phase, Protocol, Refused, Timer,
};

/// A lock that goes on without a node that is down, whoever that is, and needs to tell nobody.
pub trait Outlives: Protocol {
    /// Nodes may be lost from now on. Called once, before the cluster starts.
    fn expect_losses(&mut self) {}

    /// A peer is down, for good. Called again after each later request of the user, so that the
    /// lock need not remember.
    fn lose(&mut self, peer: NodeId, out: &mut Outbox<Self::Message>);
}

/// A node of a lock that goes on without those that are down, as a detector tells it. See the
/// [module](super).
///
/// ```
/// use exclusion::message::fault::remedy::Surviving;
/// use exclusion::message::{Input, NodeId, Notice, Outbox, Output, RicartAgrawala, step};
///
/// let mut nodes = Surviving::cluster(RicartAgrawala::cluster(3)?);
/// let mut out = Outbox::new();
/// step(&mut nodes[2], Input::Request, &mut out)?;
/// assert_eq!(out.drain().count(), 2, "it asks both others");
///
/// // Alone, it would wait for their confirmations for ever.
/// step(&mut nodes[2], Input::Notice(Notice::Down(NodeId(0))), &mut out)?;
/// step(&mut nodes[2], Input::Notice(Notice::Down(NodeId(1))), &mut out)?;
/// assert_eq!(out.drain().last(), Some(Output::Enter));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Surviving<P> {
    lock: P,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
}

impl<P: Outlives> Surviving<P> {
    /// A cluster of the same nodes, with detectors.
    pub fn cluster(nodes: Vec<P>) -> Vec<Self> {
        nodes.into_iter().map(Self::node).collect()
    }

    /// One node of such a cluster.
    pub fn node(mut lock: P) -> Self {
        lock.expect_losses();
        let down = NodeSet::empty(lock.nodes());
        Self { lock, down }
    }

    /// The node of the lock.
    pub fn lock(&self) -> &P {
        &self.lock
    }
}

impl<P: Outlives> Machine for Surviving<P> {
    type Message = P::Message;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.lock.id()
    }

    fn nodes(&self) -> usize {
        self.lock.nodes()
    }

    fn start(&mut self, out: &mut Outbox<P::Message>) {
        self.lock.start(out);
    }

    fn request(&mut self, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.lock.request(out)?;
        // It has asked the dead too, and waits for their answers no longer than this.
        for peer in self.down.iter() {
            self.lock.lose(peer, out);
        }
        out.discard_for(&self.down);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.lock.release(out)?;
        out.discard_for(&self.down);
        Ok(())
    }

    fn withdraw(&mut self, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.lock.withdraw(out)?;
        out.discard_for(&self.down);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: P::Message,
        out: &mut Outbox<P::Message>,
    ) -> Result<(), Refused> {
        // Only where the notice has overtaken it. The lock has done without.
        if self.down.contains(from) {
            return Ok(());
        }
        self.lock.receive(from, message, out)?;
        out.discard_for(&self.down);
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.lock.timeout(timer, out)?;
        out.discard_for(&self.down);
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        let peer = lost_peer(notice, self.id(), &self.down, self.nodes())?;
        self.down.insert(peer);
        self.lock.lose(peer, out);
        out.discard_for(&self.down);
        Ok(())
    }
}

/// Who is down, by a notice of a detector that tells it once and for good.
pub(super) fn lost_peer(
    notice: Notice,
    me: NodeId,
    down: &NodeSet,
    nodes: usize,
) -> Result<NodeId, Refused> {
    notice.check(me, nodes)?;
    match notice {
        Notice::Down(peer) if down.contains(peer) => {
            Err(Refused("it knows that this node is down"))
        }
        Notice::Down(peer) => Ok(peer),
        Notice::Up(_) | Notice::Recovered => {
            Err(Refused("a node that was down joins again only when the lock is built anew"))
        }
    }
}

impl<P: Outlives> Protocol for Surviving<P> {
    type Access = P::Access;

    const WITHDRAWS: bool = P::WITHDRAWS;

    fn phase(&self) -> Phase {
        self.lock.phase()
    }

    fn entries_at_a_time(&self) -> usize {
        self.lock.entries_at_a_time()
    }
}
