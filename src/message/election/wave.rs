//! What a node has heard of a wave from its neighbours: both trees of this crate grow by waves.

use crate::message::{NodeId, Refused};

/// What a neighbour has said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Heard {
    Nothing,
    /// It explored us, and is no child; or it is the parent.
    Explored,
    /// It is a child, and all behind it are reached.
    Echoed,
}

/// The neighbours of a node, and what each has said. Neighbours are counted, not messages.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Wave {
    neighbours: Box<[NodeId]>,
    heard: Box<[Heard]>,
    missing: u32,
}

impl Wave {
    pub(super) fn new(neighbours: &[NodeId]) -> Self {
        Self {
            neighbours: neighbours.into(),
            heard: vec![Heard::Nothing; neighbours.len()].into(),
            missing: NodeId::at(neighbours.len()).0,
        }
    }

    /// Refuses what does not come from a neighbour. Neighbours are in order.
    fn place(&self, node: NodeId) -> Result<usize, Refused> {
        self.neighbours.binary_search(&node).map_err(|_| Refused("the sender is no neighbour"))
    }

    /// Refuses what does not come from a neighbour.
    pub(super) fn check_neighbour(&self, node: NodeId) -> Result<(), Refused> {
        self.place(node).map(drop)
    }

    /// Whether a neighbour has said something of this wave.
    pub(super) fn has_heard(&self, node: NodeId) -> Result<bool, Refused> {
        Ok(self.heard[self.place(node)?] != Heard::Nothing)
    }

    pub(super) fn neighbours(&self) -> &[NodeId] {
        &self.neighbours
    }

    /// Forgets what was heard, for another wave has come.
    pub(super) fn reset(&mut self) {
        self.heard.fill(Heard::Nothing);
        self.missing = NodeId::at(self.heard.len()).0;
    }

    /// A neighbour explores us. Says whether it was the last one missing.
    pub(super) fn explored_by(&mut self, node: NodeId) -> Result<bool, Refused> {
        self.hear(node, Heard::Explored)
    }

    /// A child has reached all behind it. Says whether it was the last one missing.
    pub(super) fn echoed_by(&mut self, node: NodeId) -> Result<bool, Refused> {
        self.hear(node, Heard::Echoed)
    }

    fn hear(&mut self, node: NodeId, what: Heard) -> Result<bool, Refused> {
        let heard = &mut self.heard[self.place(node)?];
        if *heard != Heard::Nothing {
            return Err(Refused("the sender has answered already"));
        }
        *heard = what;
        self.missing -= 1;
        Ok(self.missing == 0)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// The neighbours whose way to the root leads through this node.
    pub(super) fn children(&self) -> impl Iterator<Item = NodeId> {
        let heard = self.neighbours.iter().zip(&self.heard);
        heard.filter(|(_, heard)| **heard == Heard::Echoed).map(|(node, _)| *node)
    }
}
