//! What befalls the nodes of a simulation, and who is told.

use std::collections::HashSet;

use super::world::{Coming, World};
use super::{SimCause, Time};
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

/// Who is down, who is cut off, and who knows.
#[derive(Debug)]
pub(super) struct Plight {
    pub(super) down: NodeSet,
    /// How often each has crashed: timers of a former life are gone.
    lives: Vec<u32>,
    /// One side of the cut.
    side: Option<NodeSet>,
    observers: Vec<NodeId>,
    /// Who has been told that who is down.
    told: HashSet<(NodeId, NodeId)>,
}

impl Plight {
    pub(super) fn new(nodes: usize, notices: &Notices) -> Self {
        let observers = match notices {
            Notices::ToNobody => Vec::new(),
            Notices::ToAll => NodeId::all(nodes).collect(),
            Notices::To(some) => some.clone(),
        };
        Self {
            down: NodeSet::empty(nodes),
            lives: vec![0; nodes],
            side: None,
            observers,
            told: HashSet::new(),
        }
    }

    pub(super) fn life(&self, node: NodeId) -> u32 {
        self.lives[node.index()]
    }

    /// Whether a cut is between two nodes.
    pub(super) fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        let side = |node| self.side.as_ref().is_some_and(|side| side.contains(node));
        side(one) != side(other)
    }

    pub(super) fn was_told(&self, observer: NodeId, node: NodeId) -> bool {
        self.told.contains(&(observer, node))
    }

    fn seems_down(&self, observer: NodeId, node: NodeId) -> bool {
        self.down.contains(node) || self.is_cut(observer, node)
    }
}

impl<P: Protocol> World<P> {
    /// These nodes are down before anything begins, and those that are to know it do.
    pub(super) fn begin_without(&mut self, down: &[NodeId]) -> Result<(), SimCause> {
        for &node in down {
            self.crash(node);
        }
        let Some(plight) = &self.plight else { return Ok(()) };
        let observers = plight.observers.clone();
        for observer in observers {
            for &node in down {
                self.notify(observer, node)?;
            }
        }
        Ok(())
    }

    pub(super) fn befall(&mut self, fault: &Fault) -> Result<(), SimCause> {
        let Some(plight) = &mut self.plight else { return Ok(()) };
        match fault {
            Fault::Crash(node) => {
                if !plight.down.contains(*node) {
                    self.crash(*node);
                    self.announce_fate(*node);
                }
            }
            Fault::Recover(node) => {
                if plight.down.remove(*node) {
                    // It has forgotten what it was told, and others may know that it was down.
                    plight.told.retain(|(observer, _)| observer != node);
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
        if let Some(plight) = &mut self.plight {
            plight.down.insert(node);
            plight.lives[node.index()] += 1;
        }
        if let Some(scribe) = &mut self.tally.scribe {
            scribe.trace.note(self.now, node, Happening::Crashes);
        }
    }

    /// The detectors will look at a node, and the node's own at all others, when Tmax has passed.
    fn announce_fate(&mut self, node: NodeId) {
        let Some(plight) = &self.plight else { return };
        let when = self.now.after(Time::units(self.period).0).after(1);
        let observers = plight.observers.iter().copied().filter(|&observer| observer != node);
        let mut looks: Vec<_> = observers.map(|observer| (observer, node)).collect();
        if plight.observers.contains(&node) {
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
        let Some(plight) = &mut self.plight else { return Ok(()) };
        if observer == node || plight.down.contains(observer) {
            return Ok(());
        }
        let is_down = plight.seems_down(observer, node);
        let changed = match is_down {
            true => plight.told.insert((observer, node)),
            false => plight.told.remove(&(observer, node)),
        };
        if !changed {
            return Ok(());
        }
        let notice = if is_down { Notice::Down(node) } else { Notice::Up(node) };
        self.give(observer, Input::Notice(notice), 0)
    }
}
