//! What is claimed of locks.

use stateright::Property;

use super::model::{Check, Timers, Users};
use super::state::State;
use crate::message::{Claims, Machine, NodeId, Protocol};

/// The invariant over nodes and messages in flight. None if the algorithm claims none.
pub(super) type Invariant<P> =
    fn(&[P], &[(NodeId, NodeId, &<P as Machine>::Message)]) -> Option<Result<(), &'static str>>;

impl<P: Protocol> Check<P> {
    pub(super) fn lock_properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always("mutual exclusion", Self::is_exclusive),
            Property::always("expected inputs only", Self::is_as_expected),
            Property::sometimes("everybody enters", Self::is_done),
        ];
        if !self.may_block {
            properties.insert(2, Property::always("no deadlock", Self::is_alive));
        }
        if self.requests.iter().filter(|&&requests| requests > 0).count() > 1 {
            properties.push(Property::sometimes("two contend", Self::is_contended));
        }
        if self.invariant.is_some() {
            properties.push(Property::always("invariant", Self::keeps_invariant));
        }
        if self.token.is_some() {
            properties.push(Property::always("one token", Self::has_one_token));
        }
        if self.stamp.is_some() {
            properties.push(Property::always("order", Self::is_in_order));
        }
        if self.bound_on_passing().is_some() {
            properties.push(Property::always("bypass", Self::is_patient));
        }
        if self.most_sent.is_some() {
            properties.push(Property::always("cost", Self::is_at_its_cost));
        }
        properties
    }

    pub(super) fn is_exclusive(&self, state: &State<P>) -> bool {
        state.inside().count() <= self.nodes[0].entries_at_a_time()
    }

    pub(super) fn is_as_expected(&self, state: &State<P>) -> bool {
        state.violation.is_none()
    }

    fn is_alive(&self, state: &State<P>) -> bool {
        state.violation.is_some()
            || !state.is_silent()
            || state.waiting().next().is_none()
            || self.has_news(state)
    }

    /// Whether nobody that lives waits. What went wrong is told elsewhere.
    pub(super) fn nobody_waits(&self, state: &State<P>) -> bool {
        state.violation.is_some() || state.waiting().next().is_none()
    }

    fn keeps_invariant(&self, state: &State<P>) -> bool {
        let in_flight: Vec<_> = state.in_flight().collect();
        self.invariant.is_none_or(|invariant| {
            invariant(&state.nodes, &in_flight).is_none_or(|holds| holds.is_ok())
        })
    }

    fn is_done(&self, state: &State<P>) -> bool {
        state.users.iter().all(|user| user.requests_left == 0 && user.phase.is_idle())
    }

    fn is_contended(&self, state: &State<P>) -> bool {
        state.waiting().count() + state.inside().count() >= 2
    }

    fn has_one_token(&self, state: &State<P>) -> bool {
        self.token.as_ref().is_none_or(|token| {
            let held = state.nodes.iter().filter(|node| (token.has)(node)).count();
            let sent = state.in_flight().filter(|(_, _, message)| (token.is)(message)).count();
            held + sent == 1
        })
    }

    fn is_in_order(&self, state: &State<P>) -> bool {
        self.stamp.is_none_or(|stamp| {
            let stamp = |node: NodeId| stamp(&state.nodes[node.index()]);
            // A waiter without a stamp could not ask yet.
            let mut waiting = state.waiting().filter_map(stamp);
            waiting.all(|waits| state.inside().all(|inside| stamp(inside) < Some(waits)))
        })
    }

    fn is_patient(&self, state: &State<P>) -> bool {
        self.most_passed.is_none_or(|most| state.users.iter().all(|user| user.passed <= most))
    }

    fn is_at_its_cost(&self, state: &State<P>) -> bool {
        let left: u32 = state.users.iter().map(|user| u32::from(user.requests_left)).sum();
        let asked = self.wanted_in_all() - left;
        self.most_sent.is_none_or(|most| f64::from(state.sent) <= most * f64::from(asked))
    }

    pub(super) fn wanted_in_all(&self) -> u32 {
        self.requests.iter().map(|&times| u32::from(times)).sum()
    }

    /// The bound on bypass, if the others want in often enough to exceed it.
    pub(super) fn bound_on_passing(&self) -> Option<u8> {
        let waits = self.requests.iter().filter(|&&times| times > 0);
        let others = waits.map(|&times| self.wanted_in_all() - u32::from(times)).max().unwrap_or(0);
        self.most_passed.filter(|&most| others > u32::from(most))
    }
}

impl<P: Claims> Check<P> {
    /// Claims all that the algorithm [claims](Claims) about itself: its bound on messages, its
    /// invariant, its token, its order, and its bound on bypass for these [users](Users).
    #[must_use]
    pub fn as_claimed(self) -> Self {
        let mut check = self.keeps_its_invariant().at_its_cost();
        check.token = P::token();
        check.stamp = P::order();
        let bypass = P::bypass(&check.nodes);
        let most = match check.users {
            Users::AnyTime => bypass.always,
            Users::Unhurried => bypass.quick,
        };
        check.most_passed = most.map(|most| u8::try_from(most).unwrap_or(u8::MAX));
        check
    }

    /// Claims that the algorithm's own [invariant](Claims::invariant) holds, if it has one.
    #[must_use]
    pub fn keeps_its_invariant(mut self) -> Self {
        let has_one = P::invariant(&self.nodes, &[]).is_some();
        self.invariant = has_one.then_some(P::invariant as Invariant<P>);
        self
    }

    /// Claims that no more messages are sent than the algorithm's [bound](Claims::most_messages)
    /// allows, if it has one.
    #[must_use]
    pub fn at_its_cost(self) -> Self {
        let most = P::most_messages(&self.nodes, self.timers == Timers::InTime);
        self.at_most(most.unwrap_or(f64::INFINITY))
    }
}
