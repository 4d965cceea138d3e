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
    /// Whether only what the side sends is lost, and what is sent to it arrives.
    pub(super) one_way: bool,
    /// Who has been told that who is down. Few are, also where there are many nodes.
    told: BTreeSet<(NodeId, NodeId)>,
}

impl Plight {
    pub(super) fn new(nodes: usize) -> Self {
        Self { down: NodeSet::empty(nodes), side: None, one_way: false, told: BTreeSet::new() }
    }

    /// The network is cut, or no more: a cut that was there before is over.
    pub(super) fn cut(&mut self, side: Option<NodeSet>, one_way: bool) {
        (self.side, self.one_way) = (side, one_way);
    }

    /// Whether a cut swallows what one node sends to another.
    pub(super) fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.side.as_ref().is_some_and(|side| {
            let (sends, hears) = (side.contains(from), side.contains(to));
            sends != hears && (sends || !self.one_way)
        })
    }

    /// The nodes that a cut keeps a node from reaching.
    pub(super) fn beyond_reach(&self, from: NodeId, nodes: usize) -> Vec<NodeId> {
        NodeId::all(nodes).filter(|&to| self.is_cut(from, to)).collect()
    }

    /// Whether a node is down, or is as good as that for another.
    pub(super) fn seems_down(&self, observer: NodeId, node: NodeId) -> bool {
        self.down.contains(node) || self.is_cut(node, observer)
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

    /// Tells that a node is down although it is not: a detector errs. False if that was told.
    #[cfg(all(feature = "check", not(exclusion_loom)))]
    pub(super) fn suspect(&mut self, observer: NodeId, node: NodeId) -> bool {
        self.told.insert((observer, node))
    }

    /// A node has crashed: what it was told is gone with it.
    pub(super) fn forget(&mut self, observer: NodeId) {
        self.told.retain(|(it, _)| *it != observer);
    }
}
