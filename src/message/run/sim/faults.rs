//! What befalls the nodes of a simulation, and who is told.

use super::world::{Coming, World};
use super::{SimCause, Time};
use crate::message::run::plight::Plight;
use crate::message::{Happening, Input, NodeId, NodeSet, Notice, Protocol};

/// What can befall a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A node goes down: its timers are gone, and what arrives is lost. What it has sent arrives.
    Crash(NodeId),
    /// A node comes back. It is told so, and keeps what it would have on a disk.
    Recover(NodeId),
    /// Nothing passes between these nodes and the others, either way. What is in flight is lost.
    Cut(Vec<NodeId>),
    /// The cut is over.
    Heal,
}

/// Who is told which nodes are down: a detector that is right.
///
/// Of a node that has crashed it tells after Tmax, when all that the node has sent has arrived; of
/// one that has recovered before anything of its new life arrives. A node that is back before
/// anybody has been told was never down, as far as they know. Across a cut the others seem down.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum Notices {
    /// Nobody.
    #[default]
    ToNobody,
    /// Every node.
    ToAll,
    /// These nodes.
    To(Vec<NodeId>),
}

/// What has befallen the nodes, and who is told.
#[derive(Debug)]
pub(super) struct Troubles {
    pub(super) plight: Plight,
    /// How often each has crashed: timers of a former life are gone.
    lives: Vec<u32>,
    observers: Vec<NodeId>,
}

impl Troubles {
    pub(super) fn new(nodes: usize, notices: &Notices) -> Self {
        let observers = match notices {
            Notices::ToNobody => Vec::new(),
            Notices::ToAll => NodeId::all(nodes).collect(),
            Notices::To(some) => some.clone(),
        };
        Self { plight: Plight::new(nodes), lives: vec![0; nodes], observers }
    }

    pub(super) fn life(&self, node: NodeId) -> u32 {
        self.lives[node.index()]
    }
}

impl<P: Protocol> World<P> {
    /// These nodes are down before anything begins, and those that are to know it do.
    pub(super) fn begin_without(&mut self, down: &[NodeId]) -> Result<(), SimCause> {
        for &node in down {
            self.crash(node);
        }
        let Some(troubles) = &self.troubles else { return Ok(()) };
        let observers = troubles.observers.clone();
        for observer in observers {
            for &node in down {
                self.notify(observer, node)?;
            }
        }
        Ok(())
    }

    pub(super) fn befall(&mut self, fault: &Fault) -> Result<(), SimCause> {
        let Some(Troubles { plight, .. }) = self.troubles.as_deref_mut() else { return Ok(()) };
        match fault {
            Fault::Crash(node) => {
                if !plight.down.contains(*node) {
                    self.crash(*node);
                    self.announce_fate(*node);
                }
            }
            Fault::Recover(node) => {
                if plight.down.remove(*node) {
                    self.announce_fate(*node);
                    self.give(*node, Input::Notice(Notice::Recovered), 0)?;
                }
            }
            Fault::Cut(side) => {
                let nodes = self.nodes.len();
                plight.side = Some(NodeSet::of(nodes, side.iter().copied()));
                NodeId::all(nodes).for_each(|node| self.announce_fate(node));
            }
            Fault::Heal => {
                plight.side = None;
                let nodes = self.nodes.len();
                NodeId::all(nodes).for_each(|node| self.announce_fate(node));
            }
        }
        Ok(())
    }

    fn crash(&mut self, node: NodeId) {
        if let Some(troubles) = &mut self.troubles {
            troubles.plight.down.insert(node);
            troubles.plight.forget(node);
            troubles.lives[node.index()] += 1;
        }
        if let Some(scribe) = &mut self.tally.scribe {
            scribe.trace.note(self.now, node, Happening::Crashes);
        }
    }

    /// The detectors will look at a node, and the node's own at all others, when Tmax has passed.
    fn announce_fate(&mut self, node: NodeId) {
        let Some(Troubles { plight, observers, .. }) = self.troubles.as_deref() else { return };
        let when = self.now.after(Time::units(self.period).0).after(1);
        let others = observers.iter().copied().filter(|&observer| observer != node);
        let mut looks: Vec<_> = others.map(|observer| (observer, node)).collect();
        if observers.contains(&node) {
            let others = NodeId::all(self.nodes.len()).filter(|&other| other != node);
            let seem_down = others.filter(|&other| plight.seems_down(node, other));
            looks.extend(seem_down.map(|other| (node, other)));
        }
        for (observer, node) in looks {
            self.schedule(when, Coming::Look(observer, node));
        }
    }

    /// A detector looks at a node, and tells if something has changed.
    pub(super) fn notify(&mut self, observer: NodeId, node: NodeId) -> Result<(), SimCause> {
        let troubles = self.troubles.as_mut();
        let news = troubles.and_then(|troubles| troubles.plight.tell(observer, node));
        news.map_or(Ok(()), |notice| self.give(observer, Input::Notice(notice), 0))
    }
}
