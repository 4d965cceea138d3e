//! What is claimed of elections.

use stateright::Property;

use super::model::Check;
use super::progress::Progress;
use super::state::{Action, State};
use crate::message::{Agreement, Election, Leadership, NodeId, NodeSet, Protocol, Unattended};

/// What is claimed of an election.
#[derive(Clone, Debug)]
pub(super) struct ElectionClaims<P: Protocol> {
    leadership: fn(&P) -> Option<Leadership>,
    is_done: fn(&State<P>) -> bool,
    can_settle: fn(&State<P>) -> bool,
    invariant: fn(&State<P>) -> Option<Result<(), &'static str>>,
    has_invariant: bool,
    agreement: Agreement,
    /// Whether all can settle.
    all_settle: bool,
}

impl<P: Protocol> ElectionClaims<P> {
    pub(super) fn properties(&self) -> Vec<Property<Check<P>>> {
        let mut properties = Vec::new();
        if self.agreement == Agreement::InEpoch {
            properties.push(Property::always("agreement", Check::agrees));
        }
        properties.push(Property::always("expected inputs only", Check::is_as_expected));
        if self.all_settle {
            properties.push(Property::sometimes("all settle", Check::is_settled));
        } else {
            properties.push(Property::sometimes("some settle", Check::has_views));
        }
        if self.has_invariant {
            properties.push(Property::always("invariant", Check::keeps_election_invariant));
        }
        if self.agreement == Agreement::Always {
            properties.push(Property::always("one leader", Check::has_one_leader));
        }
        properties
    }
}

impl<E: Election> Check<Unattended<E>> {
    /// All that can happen to an election that nobody calls yet: see
    /// [`initiators`](Self::initiators).
    ///
    /// ```
    /// use exclusion::message::check::{Check, Checker, Model, Timers};
    /// use exclusion::message::{Bully, NodeId};
    ///
    /// let check = Check::election(Bully::cluster(3)?).initiators([NodeId(0)]);
    /// let check = check.timers(Timers::Timed).crashes(1);
    /// check.clone().checker().spawn_bfs().join().assert_properties();
    /// let progress = check.progress().expect("it is an election");
    /// assert!(progress.find_stuck(&check, 1_000_000)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn election(nodes: Vec<E>) -> Self {
        let has_invariant = E::invariant(&nodes.iter().collect::<Vec<_>>()).is_some();
        let mut check = Self::new(Unattended::all(nodes)).requests(0);
        check.election = Some(ElectionClaims {
            leadership: |node| node.0.leadership(),
            is_done: |state| {
                let live = NodeSet::of(state.nodes.len(), state.live());
                E::is_done(&machines(&state.nodes), &live)
            },
            can_settle: |state| {
                let live = NodeSet::of(state.nodes.len(), state.live());
                E::can_settle(&machines(&state.nodes), &live)
            },
            invariant: |state| E::invariant(&machines(&state.nodes)),
            has_invariant,
            agreement: E::AGREEMENT,
            all_settle: true,
        });
        check
    }

    /// Who calls an election, once, at any moment.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn initiators(self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        nodes.into_iter().fold(self, |check, node| check.requests_of(node, 1))
    }

    /// Claims no more that all can settle: in a network that is cut they cannot.
    #[must_use]
    pub fn settling_apart(mut self) -> Self {
        if let Some(claims) = &mut self.election {
            claims.all_settle = false;
        }
        self
    }

    /// Claims another agreement than the algorithm [does](Election::AGREEMENT).
    #[must_use]
    pub fn agreeing(mut self, agreement: Agreement) -> Self {
        if let Some(claims) = &mut self.election {
            claims.agreement = agreement;
        }
        self
    }
}

fn machines<E>(nodes: &[Unattended<E>]) -> Vec<&E> {
    nodes.iter().map(|node| &node.0).collect()
}

impl<P: Protocol> Check<P> {
    /// What must be possible from every state, if anything.
    pub fn progress(&self) -> Option<Progress<Self>> {
        let settling = Progress {
            name: "all can settle",
            goal: Self::is_settled_or_was_never_called,
            // Nobody need call again for the others to settle.
            counts: |action| !action.is_fault() && !matches!(action, Action::Elect(_)),
        };
        let serving = Progress {
            name: "all can be served",
            goal: Self::nobody_waits,
            // Nobody need ask, or give up, for the others to be served.
            counts: |action| {
                !action.is_fault() && !matches!(action, Action::Request(_) | Action::Withdraw(_))
            },
        };
        match &self.election {
            Some(claims) => claims.all_settle.then_some(settling),
            None => self.all_served.then_some(serving),
        }
    }

    /// What the nodes that live have settled on.
    fn views(&self, state: &State<P>) -> Vec<Leadership> {
        let Some(claims) = &self.election else { return Vec::new() };
        let leadership = |node: NodeId| (claims.leadership)(&state.nodes[node.index()]);
        state.live().filter_map(leadership).collect()
    }

    fn has_views(&self, state: &State<P>) -> bool {
        !self.views(state).is_empty()
    }

    fn agrees(&self, state: &State<P>) -> bool {
        let views = self.views(state);
        let agree = |one: &Leadership, other: &Leadership| {
            one.epoch != other.epoch || one.leader == other.leader
        };
        views.iter().all(|one| views.iter().all(|other| agree(one, other)))
    }

    fn has_one_leader(&self, state: &State<P>) -> bool {
        let views = self.views(state);
        views.iter().all(|view| view.leader == views[0].leader)
    }

    fn keeps_election_invariant(&self, state: &State<P>) -> bool {
        let claims = self.election.as_ref();
        claims.and_then(|claims| (claims.invariant)(state)).is_none_or(|holds| holds.is_ok())
    }

    fn is_settled(&self, state: &State<P>) -> bool {
        let silent = state.network.is_empty() && state.timers.is_empty();
        silent && self.election.as_ref().is_some_and(|claims| (claims.is_done)(state))
    }

    /// Whether too few live to settle, and none of them has a leader.
    fn is_beyond_settling(&self, state: &State<P>) -> bool {
        let can_settle = |claims: &ElectionClaims<P>| (claims.can_settle)(state);
        !self.has_views(state) && !self.election.as_ref().is_some_and(can_settle)
    }

    /// Where nobody has called yet, nothing need come of it. What went wrong is told elsewhere.
    fn is_settled_or_was_never_called(&self, state: &State<P>) -> bool {
        let asked = |(user, &wanted): (&super::state::Wish, &u8)| user.requests_left < wanted;
        let called = state.users.iter().zip(self.wanted()).any(asked);
        let recoveries_left = state.troubles.as_ref().map(|troubles| troubles.left.recoveries);
        let came_back = recoveries_left.is_some_and(|left| left < self.faults.budgets.recoveries);
        !(called || came_back)
            || state.violation.is_some()
            || self.is_settled(state)
            || self.is_beyond_settling(state)
    }
}
