//! Who is down, who is cut off, and who knows: the same for every runner that lets something befall
//! its nodes.

use std::collections::BTreeSet;

use crate::message::{NodeId, NodeSet, Notice};

/// What has befallen the nodes, and what their detectors have told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Plight {
    pub(super) down: NodeSet,
    /// One side of the cut.
    pub(super) side: Option<NodeSet>,
    /// Who has been told that who is down. Few are, also where there are many nodes.
    told: BTreeSet<(NodeId, NodeId)>,
}

impl Plight {
    pub(super) fn new(nodes: usize) -> Self {
        Self { down: NodeSet::empty(nodes), side: None, told: BTreeSet::new() }
    }

    /// Whether a cut is between two nodes.
    pub(super) fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        self.side.as_ref().is_some_and(|side| side.contains(one) != side.contains(other))
    }

    /// Whether a node is down, or is as good as that for another.
    pub(super) fn seems_down(&self, observer: NodeId, node: NodeId) -> bool {
        self.down.contains(node) || self.is_cut(observer, node)
    }

    pub(super) fn was_told(&self, observer: NodeId, node: NodeId) -> bool {
        self.told.contains(&(observer, node))
    }

    /// What a detector has to tell a node that lives about another, if it was told otherwise.
    pub(super) fn news(&self, observer: NodeId, node: NodeId) -> Option<Notice> {
        let may_be_told = observer != node && !self.down.contains(observer);
        let seems_down = self.seems_down(observer, node);
        match (may_be_told, seems_down, self.was_told(observer, node)) {
            (true, true, false) => Some(Notice::Down(node)),
            (true, false, true) => Some(Notice::Up(node)),
            _ => None,
        }
    }

    /// Tells the news, if there are any.
    pub(super) fn tell(&mut self, observer: NodeId, node: NodeId) -> Option<Notice> {
        let news = self.news(observer, node)?;
        match news {
            Notice::Down(_) => self.told.insert((observer, node)),
            _ => self.told.remove(&(observer, node)),
        };
        Some(news)
    }

    /// A node has crashed: what it was told is gone with it.
    pub(super) fn forget(&mut self, observer: NodeId) {
        self.told.retain(|(it, _)| *it != observer);
    }
}
