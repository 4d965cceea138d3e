//! Who is down, who is cut off, who knows, and how much more may befall them.

use super::network::Sent;
use super::state::{Rules, State};
use crate::message::{Input, NodeId, NodeSet, Notice, Phase, Protocol};

/// What has befallen the nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Plight {
    pub(super) down: NodeSet,
    /// Whom each node has been told to be down.
    pub(super) told: Vec<NodeSet>,
    pub(super) crashes_left: u8,
    pub(super) recoveries_left: u8,
}

impl Plight {
    pub(super) fn new(nodes: usize, crashes_left: u8, recoveries_left: u8) -> Self {
        let nobody = NodeSet::empty(nodes);
        Self { down: nobody.clone(), told: vec![nobody; nodes], crashes_left, recoveries_left }
    }
}

/// Whether a cut is between two nodes.
pub(super) fn is_cut(cut: Option<&NodeSet>, one: NodeId, other: NodeId) -> bool {
    cut.is_some_and(|side| side.contains(one) != side.contains(other))
}

impl<P: Protocol> State<P> {
    /// Whether a node is down.
    pub fn is_down(&self, node: NodeId) -> bool {
        self.plight.as_ref().is_some_and(|plight| plight.down.contains(node))
    }

    /// The nodes that live.
    pub fn live(&self) -> impl Iterator<Item = NodeId> {
        NodeId::all(self.nodes.len()).filter(|&node| !self.is_down(node))
    }

    pub(super) fn was_told(&self, observer: NodeId, node: NodeId) -> bool {
        let plight = self.plight.as_ref();
        plight.is_some_and(|plight| plight.told[observer.index()].contains(node))
    }

    /// Whether a detector has something to tell: the truth, of a crash after all that the node has
    /// sent to the observer.
    pub(super) fn has_news(&self, observer: NodeId, node: NodeId, rules: &Rules) -> bool {
        if observer == node || self.is_down(observer) {
            return false;
        }
        let seems_down = self.is_down(node) || is_cut(rules.cut.as_ref(), observer, node);
        let heard_out = || !self.network.iter().any(|(from, to, _)| (from, to) == (node, observer));
        seems_down != self.was_told(observer, node) && (!seems_down || heard_out())
    }

    /// Whether what is sent to a node is lost for certain.
    pub(super) fn is_lost_to(&self, node: NodeId) -> bool {
        self.plight.as_ref().is_some_and(|it| it.recoveries_left == 0 && it.down.contains(node))
    }

    pub(super) fn crash(&mut self, node: NodeId) -> Option<()> {
        let plight = self.plight.as_mut()?;
        plight.crashes_left = plight.crashes_left.checked_sub(1)?;
        plight.down.insert(node);
        // What it was told is forgotten, and its timers and its user are gone with it.
        plight.told[node.index()].clear();
        let lost = plight.recoveries_left == 0;
        self.timers.retain(|(of, ..)| *of != node);
        self.users[node.index()].phase = Phase::Idle;
        if lost {
            self.network.rewrite(|_, to, message| (to != node).then_some(message));
        }
        Some(())
    }

    pub(super) fn recover(&mut self, node: NodeId, rules: &Rules) -> Option<()> {
        let plight = self.plight.as_mut()?;
        plight.recoveries_left = plight.recoveries_left.checked_sub(1)?;
        plight.down.remove(node);
        self.give(node, Input::Notice(Notice::Recovered), rules);
        Some(())
    }

    pub(super) fn notify(&mut self, observer: NodeId, node: NodeId, rules: &Rules) -> Option<()> {
        let told = &mut self.plight.as_mut()?.told[observer.index()];
        let notice = if told.remove(node) {
            Notice::Up(node)
        } else {
            told.insert(node);
            Notice::Down(node)
        };
        self.give(observer, Input::Notice(notice), rules);
        Some(())
    }

    /// Whether a period may pass: nothing is due.
    pub(super) fn may_tick(&self) -> bool {
        let none_due = self.network.iter().all(|(_, _, sent)| sent.due > 0);
        let none_runs_out = self.timers.iter().all(|&(_, _, left)| left > 0);
        let something_waits = !self.network.is_empty() || !self.timers.is_empty();
        none_due && none_runs_out && something_waits
    }

    pub(super) fn tick(&mut self) {
        self.network.rewrite(|_, _, Sent { message, due }| Some(Sent { message, due: due - 1 }));
        self.timers.iter_mut().for_each(|(_, _, left)| *left -= 1);
    }
}
