//! What may befall a cluster that is explored, and how that is said.

use super::model::Check;
use super::network::Sent;
use super::plight::{Budgets, Cut, Troubles};
use super::state::{Action, State};
use crate::message::{Claims, Message, NodeId, NodeSet, Protocol, Role};

/// What may befall the nodes and their messages.
#[derive(Clone, Debug)]
pub(super) struct Faults<P: Protocol> {
    pub(super) budgets: Budgets,
    /// The nodes that may crash.
    crashable: NodeSet,
    /// When a node may crash, if not at any moment.
    crashes_when: Option<fn(&State<P>, NodeId) -> bool>,
    /// Whether nodes crash, and recover, only when the cluster rests.
    crashes_at_rest: bool,
    recoveries_at_rest: bool,
    /// Only messages of this kind may be lost or doubled.
    kind: Option<&'static str>,
    pub(super) cut: Option<Cut>,
    /// Whether a detector tells the nodes of crashes.
    is_told: bool,
    pub(super) ignores_refused: bool,
}

impl<P: Protocol> Faults<P> {
    /// Nothing does.
    pub(super) fn none(nodes: usize) -> Self {
        Self {
            budgets: Budgets::default(),
            crashable: NodeSet::of(nodes, NodeId::all(nodes)),
            crashes_when: None,
            crashes_at_rest: false,
            recoveries_at_rest: false,
            kind: None,
            cut: None,
            is_told: true,
            ignores_refused: false,
        }
    }

    /// Before any of it has happened. None if nothing can.
    pub(super) fn troubles(&self, nodes: usize) -> Option<Troubles> {
        let any = self.budgets != Budgets::default() || self.cut.is_some();
        any.then(|| Troubles::new(nodes, self.budgets, self.cut.as_ref()))
    }
}

impl<P: Protocol> Check<P> {
    /// How many times a node may crash, at any moment. Its user dies with it. The others are told,
    /// sooner or later, by a detector that is right: of a crash after all that the node has sent to
    /// the one that is told, of a recovery before anything of the new life. A node that is back
    /// before somebody has been told was never down, as far as that one knows.
    #[must_use]
    pub fn crashes(mut self, crashes: u8) -> Self {
        self.faults.budgets.crashes = crashes;
        self
    }

    /// Only these nodes may crash.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn crashes_of(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.faults.crashable = NodeSet::of(self.nodes.len(), nodes);
        self
    }

    /// How many times a node that has crashed may recover, at any moment.
    #[must_use]
    pub fn recoveries(mut self, recoveries: u8) -> Self {
        self.faults.budgets.recoveries = recoveries;
        self
    }

    /// A node may crash only while this is so. For example, only a node whose user is inside.
    #[must_use]
    pub fn crashes_when(mut self, may: fn(&State<P>, NodeId) -> bool) -> Self {
        self.faults.crashes_when = Some(may);
        self
    }

    /// Nodes crash only when the cluster rests: no message is in flight, and no timer runs. What
    /// nodes are told may come later. A bound for clusters that are too large to be explored
    /// whole: every way through the recovery is still tried.
    #[must_use]
    pub fn crashes_at_rest(mut self) -> Self {
        self.faults.crashes_at_rest = true;
        self
    }

    /// The same for recoveries: every way through the crash is still tried.
    #[must_use]
    pub fn recoveries_at_rest(mut self) -> Self {
        self.faults.recoveries_at_rest = true;
        self
    }

    /// How many messages may be lost. Of those between two nodes that arrive in order, the next one
    /// may.
    #[must_use]
    pub fn losses(mut self, losses: u8) -> Self {
        self.faults.budgets.losses = losses;
        self
    }

    /// How many messages may arrive once more than they were sent. Where messages arrive in order,
    /// the second time comes next.
    #[must_use]
    pub fn duplicates(mut self, duplicates: u8) -> Self {
        self.faults.budgets.duplicates = duplicates;
        self
    }

    /// Only messages of this kind may be lost or doubled.
    #[must_use]
    pub fn only(mut self, kind: &'static str) -> Self {
        self.faults.kind = Some(kind);
        self
    }

    /// How many times a detector may err: a node is told that another is down, which is not. Sooner
    /// or later it is told the truth, and in any case before anything of the other arrives.
    #[must_use]
    pub fn mistakes(mut self, mistakes: u8) -> Self {
        self.faults.budgets.mistakes = mistakes;
        self
    }

    /// Nobody is told of crashes and cuts.
    #[must_use]
    pub fn untold(mut self) -> Self {
        self.faults.is_told = false;
        self
    }

    /// A message that a node refuses is as good as lost, where it else is a violation. Under faults
    /// nodes may get what nobody would send them otherwise.
    #[must_use]
    pub fn ignoring_refused(mut self) -> Self {
        self.faults.ignores_refused = true;
        self
    }

    /// Claims that from every state, whatever has befallen the nodes, all that live and wait can be
    /// served if nothing more befalls them: see [`progress`](Self::progress).
    #[must_use]
    pub fn serving_all(mut self) -> Self {
        self.all_served = true;
        self
    }

    /// A user may wait for ever, as where faults befall nodes that do not recover their lock. Then
    /// `no deadlock` is not claimed.
    #[must_use]
    pub fn may_block(mut self) -> Self {
        self.may_block = true;
        self
    }

    /// Nothing ever passes between these nodes and the others, and each side is told, sooner or
    /// later, that the other is down.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn cut(mut self, side: impl IntoIterator<Item = NodeId>) -> Self {
        let side = NodeSet::of(self.nodes.len(), side);
        self.faults.cut =
            Some(Cut { side, begins: false, ends: false, one_way: false, told_at_once: false });
        self
    }

    /// The same, but the cut begins at any moment. What is on its way then is lost.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn cut_later(mut self, side: impl IntoIterator<Item = NodeId>) -> Self {
        let side = NodeSet::of(self.nodes.len(), side);
        self.faults.cut =
            Some(Cut { side, begins: true, ends: false, one_way: false, told_at_once: false });
        self
    }

    /// The same, but the cut begins at any moment, once, and is over at any later one. Then each
    /// side is told, sooner or later, that the other is up.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn cut_for_a_while(mut self, side: impl IntoIterator<Item = NodeId>) -> Self {
        let side = NodeSet::of(self.nodes.len(), side);
        self.faults.cut =
            Some(Cut { side, begins: true, ends: true, one_way: false, told_at_once: false });
        self
    }

    /// Only what the named side of the cut sends is lost. What is sent to it arrives.
    #[must_use]
    pub fn one_way(mut self) -> Self {
        if let Some(cut) = &mut self.faults.cut {
            cut.one_way = true;
        }
        self
    }

    /// All are told of a cut that [begins](Self::cut_later) at that very moment, and of its end.
    #[must_use]
    pub fn told_at_once(mut self) -> Self {
        if let Some(cut) = &mut self.faults.cut {
            cut.told_at_once = true;
        }
        self
    }

    /// How much may befall the nodes, and whether the network is cut.
    pub fn faults(&self) -> (Budgets, bool) {
        (self.faults.budgets, self.faults.cut.is_some())
    }

    /// Whether nodes crash, and recover, only when the cluster rests.
    pub fn faults_at_rest(&self) -> (bool, bool) {
        (self.faults.crashes_at_rest, self.faults.recoveries_at_rest)
    }

    /// The nodes that a cut, once it has begun, keeps a node from reaching.
    pub(super) fn beyond_the_cut(&self, from: NodeId) -> Vec<NodeId> {
        let nodes = self.nodes.len();
        let Some(cut) = &self.faults.cut else { return Vec::new() };
        let begun = Cut { begins: false, ..cut.clone() };
        Troubles::new(nodes, Budgets::default(), Some(&begun)).plight.beyond_reach(from, nodes)
    }

    /// What may befall the nodes, and what they are told.
    pub(super) fn add_faults(&self, state: &State<P>, actions: &mut Vec<Action<P::Message>>) {
        let Some(troubles) = &state.troubles else { return };
        let nodes = NodeId::all(self.nodes.len());
        let rests = state.network.is_empty() && state.timers.is_empty();
        let crashes_left = troubles.left.crashes > 0 && (rests || !self.faults.crashes_at_rest);
        let recoveries_left =
            troubles.left.recoveries > 0 && (rests || !self.faults.recoveries_at_rest);
        for node in nodes.clone() {
            let is_down = troubles.plight.down.contains(node);
            let may_crash = || self.faults.crashes_when.is_none_or(|may| may(state, node));
            let in_danger = !is_down && crashes_left && self.faults.crashable.contains(node);
            if in_danger && may_crash() {
                actions.push(Action::Crash(node));
            }
            if is_down && recoveries_left {
                actions.push(Action::Recover(node));
            }
            let observers =
                nodes.clone().filter(|&it| self.faults.is_told && state.has_news(it, node));
            actions.extend(observers.map(|observer| Action::Notify { observer, node }));
            if troubles.left.mistakes > 0 && !is_down {
                let others = nodes.clone().filter(|&it| it != node && !state.is_down(it));
                let fooled = others.filter(|&it| !state.was_told(it, node));
                actions.extend(fooled.map(|observer| Action::Suspect { observer, node }));
            }
        }
        self.add_losses(state, troubles, actions);
        if troubles.may_be_cut {
            actions.push(Action::Cut);
        }
        let may_end = |cut: &Cut| cut.ends && troubles.plight.side.is_some();
        if self.faults.cut.as_ref().is_some_and(may_end) {
            actions.push(Action::Heal);
        }
    }

    /// What may befall the messages. What was sent to a node that is down is lost anyway.
    fn add_losses(
        &self,
        state: &State<P>,
        troubles: &Troubles,
        actions: &mut Vec<Action<P::Message>>,
    ) {
        let Budgets { losses, duplicates, .. } = troubles.left;
        if losses == 0 && duplicates == 0 {
            return;
        }
        for (from, to, Sent { message, .. }) in state.network.deliverable() {
            let is_it = self.faults.kind.is_none_or(|kind| kind == message.kind());
            if !is_it || state.is_down(to) {
                continue;
            }
            if losses > 0 {
                actions.push(Action::Lose { from, to, message: message.clone() });
            }
            if duplicates > 0 && !state.was_told(to, from) {
                actions.push(Action::Double { from, to, message });
            }
        }
    }

    /// Whether a detector tells a node something, sooner or later.
    pub(super) fn has_news(&self, state: &State<P>) -> bool {
        let nodes = NodeId::all(self.nodes.len());
        let told = |one| nodes.clone().any(|other| state.has_news(one, other));
        self.faults.is_told && state.troubles.is_some() && nodes.clone().any(told)
    }
}

impl<P: Claims> Check<P> {
    /// Only a node that has this role may crash.
    #[must_use]
    pub fn crashes_of_role(self, role: Role) -> Self {
        self.crashes_when(match role {
            Role::Idle => |state, node| Role::Idle.is_of(&state.nodes[node.index()]),
            Role::IdleWithToken => {
                |state, node| Role::IdleWithToken.is_of(&state.nodes[node.index()])
            }
            Role::Requester => |state, node| Role::Requester.is_of(&state.nodes[node.index()]),
            Role::Holder => |state, node| Role::Holder.is_of(&state.nodes[node.index()]),
        })
    }
}
