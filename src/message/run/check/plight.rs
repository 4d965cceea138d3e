//! What befalls the nodes, and how much more may.

use super::network::{Envelope, Sent};
use super::state::{Rules, State};
use crate::message::run::plight::Plight;
use crate::message::{Input, NodeId, NodeSet, Notice, Phase, Protocol};

/// When the network is cut in two, and what the detectors make of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Cut {
    /// One side of it.
    pub(super) side: NodeSet,
    /// Whether it begins at any moment, not with everything else.
    pub(super) begins: bool,
    /// Whether it is over at any later moment.
    pub(super) ends: bool,
    /// Whether only what the side sends is lost.
    pub(super) one_way: bool,
    /// Whether all detectors tell at the moment when it begins, and when it is over.
    pub(super) told_at_once: bool,
}

/// What has befallen the nodes, and what still may.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Troubles {
    pub(super) plight: Plight,
    pub(super) left: Budgets,
    pub(super) may_be_cut: bool,
}

/// How much more may befall a cluster.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Budgets {
    /// How many times a node may crash.
    pub crashes: u8,
    /// How many times one that has crashed may recover.
    pub recoveries: u8,
    /// How many messages may be lost.
    pub losses: u8,
    /// How many messages may arrive once more than they were sent.
    pub duplicates: u8,
    /// How many times a node may be told that another is down which is not.
    pub mistakes: u8,
}

/// Spends one of a budget, if there is one.
fn spend(budget: &mut u8) -> Option<()> {
    *budget = budget.checked_sub(1)?;
    Some(())
}

impl Troubles {
    pub(super) fn new(nodes: usize, left: Budgets, cut: Option<&Cut>) -> Self {
        let mut plight = Plight::new(nodes);
        if let Some(cut) = cut.filter(|cut| !cut.begins) {
            plight.cut(Some(cut.side.clone()), cut.one_way);
        }
        let may_be_cut = cut.is_some_and(|cut| cut.begins);
        Self { plight, left, may_be_cut }
    }
}

impl<P: Protocol> State<P> {
    /// Whether a node is down.
    pub fn is_down(&self, node: NodeId) -> bool {
        self.plight().is_some_and(|plight| plight.down.contains(node))
    }

    /// Whether something has befallen the nodes, of what may.
    pub(super) fn is_befallen(&self, budgets: Budgets) -> bool {
        self.troubles
            .as_ref()
            .is_some_and(|troubles| troubles.left != budgets || troubles.plight.side.is_some())
    }

    /// The nodes that live.
    pub fn live(&self) -> impl Iterator<Item = NodeId> {
        NodeId::all(self.nodes.len()).filter(|&node| !self.is_down(node))
    }

    pub(super) fn plight(&self) -> Option<&Plight> {
        self.troubles.as_ref().map(|troubles| &troubles.plight)
    }

    pub(super) fn was_told(&self, observer: NodeId, node: NodeId) -> bool {
        self.plight().is_some_and(|plight| plight.was_told(observer, node))
    }

    /// Whether a detector has something to tell: the truth, of a crash after all that the node has
    /// sent to the observer.
    pub(super) fn has_news(&self, observer: NodeId, node: NodeId) -> bool {
        let heard_out = || !self.network.iter().any(|(from, to, _)| (from, to) == (node, observer));
        match self.plight().and_then(|plight| plight.news(observer, node)) {
            None => false,
            Some(Notice::Down(_)) => heard_out(),
            Some(_) => true,
        }
    }

    /// Whether what a node sends to another is lost for certain.
    pub(super) fn is_lost(&self, from: NodeId, to: NodeId) -> bool {
        self.troubles.as_deref().is_some_and(|Troubles { plight, left, .. }| {
            left.recoveries == 0 && plight.down.contains(to) || plight.is_cut(from, to)
        })
    }

    pub(super) fn crash(&mut self, node: NodeId) -> Option<()> {
        let troubles = self.troubles.as_mut()?;
        spend(&mut troubles.left.crashes)?;
        troubles.plight.down.insert(node);
        // What it was told is forgotten, and its timers and its user are gone with it.
        troubles.plight.forget(node);
        let lost = troubles.left.recoveries == 0;
        self.timers.retain(|(of, ..)| *of != node);
        self.users[node.index()].phase = Phase::Idle;
        if lost {
            self.network.rewrite(|_, to, message| (to != node).then_some(message));
        }
        Some(())
    }

    pub(super) fn recover(&mut self, node: NodeId, rules: &Rules) -> Option<()> {
        let troubles = self.troubles.as_mut()?;
        spend(&mut troubles.left.recoveries)?;
        troubles.plight.down.remove(node);
        self.give(node, Input::Notice(Notice::Recovered), rules);
        Some(())
    }

    pub(super) fn notify(&mut self, observer: NodeId, node: NodeId, rules: &Rules) -> Option<()> {
        let notice = self.troubles.as_mut()?.plight.tell(observer, node)?;
        self.give(observer, Input::Notice(notice), rules);
        Some(())
    }

    /// A message is lost.
    pub(super) fn lose(&mut self, envelope: &Envelope<P::Message>) -> Option<()> {
        spend(&mut self.troubles.as_mut()?.left.losses)?;
        self.take(envelope).map(drop)
    }

    /// A message stays in flight although it arrives.
    pub(super) fn double(&mut self, envelope: &Envelope<P::Message>) -> Option<()> {
        spend(&mut self.troubles.as_mut()?.left.duplicates)?;
        let due = self.take(envelope)?;
        let (from, to, message) = envelope.clone();
        self.network.put_back((from, to, Sent { message, due }));
        Some(())
    }

    /// A node is told that another is down which is not.
    pub(super) fn suspect(&mut self, observer: NodeId, node: NodeId, rules: &Rules) -> Option<()> {
        let troubles = self.troubles.as_mut()?;
        spend(&mut troubles.left.mistakes)?;
        if !troubles.plight.suspect(observer, node) {
            return None;
        }
        self.give(observer, Input::Notice(Notice::Down(node)), rules);
        Some(())
    }

    /// The cut begins. What is on its way to the other side is lost.
    pub(super) fn cut(&mut self, rules: &Rules) -> Option<()> {
        let troubles = self.troubles.as_mut()?;
        if !std::mem::take(&mut troubles.may_be_cut) {
            return None;
        }
        let Cut { side, one_way, .. } = rules.cut.as_ref()?;
        troubles.plight.cut(Some(side.clone()), *one_way);
        let plight = &troubles.plight;
        let rest = |from, to, message| (!plight.is_cut(from, to)).then_some(message);
        self.network.rewrite(rest);
        self.tell_all_of_cut(rules);
        Some(())
    }

    /// The cut is over.
    pub(super) fn heal(&mut self, rules: &Rules) -> Option<()> {
        self.troubles.as_mut()?.plight.side.take()?;
        self.tell_all_of_cut(rules);
        Some(())
    }

    fn tell_all_of_cut(&mut self, rules: &Rules) {
        let Some(Cut { side, told_at_once: true, .. }) = &rules.cut else { return };
        let nodes = NodeId::all(self.nodes.len());
        for observer in nodes.clone() {
            for node in nodes.clone().filter(|&it| side.contains(it) != side.contains(observer)) {
                if self.violation.is_none() {
                    let _nothing_new = self.notify(observer, node, rules);
                }
            }
        }
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
