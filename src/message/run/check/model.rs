//! Clusters as models for stateright.

use stateright::{Model, Property};

use super::election::ElectionClaims;
use super::faults::Faults;
use super::lock::Invariant;
use super::network::Network;
use super::state::{Action, Ghosts, Rules, State, Wish};
use crate::message::{Channels, ClusterError, Input, NodeId, Phase, Protocol, Stamp, TokenClaim};

/// When a timer may run out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Timers {
    /// Only when no message is in flight to its node or from it. A node that broadcasts and then
    /// waits for two periods may rely on that: all others have received it, and what they had sent
    /// before has arrived.
    InTime,
    /// At any moment, as if messages took any time.
    AnyTime,
    /// When their periods are over. A message takes at most one period. Time is counted in whole
    /// periods: a message that is sent at one tick arrives before the next but one, a timer of d
    /// periods runs out d ticks later, after the messages that are due by then. Bounds are closed,
    /// so every order of events that is possible in continuous time is possible so
    /// (Henzinger, Manna and Pnueli 1992), but for timers that would have to run out before a
    /// message that is due at the same moment.
    Timed,
}

/// When users may ask and leave.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Users {
    /// At any moment.
    AnyTime,
    /// Only when no message is in flight: otherwise a delayed request can be overtaken without
    /// bound.
    Unhurried,
}

/// A cluster to be explored. See the [module](super).
#[derive(Clone, Debug)]
pub struct Check<P: Protocol> {
    pub(super) nodes: Vec<P>,
    pub(super) requests: Vec<u8>,
    /// How many times each user may take a request back.
    withdrawals: u8,
    channels: Channels,
    pub(super) timers: Timers,
    pub(super) users: Users,
    pub(super) most_passed: Option<u8>,
    pub(super) most_sent: Option<f64>,
    pub(super) invariant: Option<Invariant<P>>,
    pub(super) token: Option<TokenClaim<P>>,
    pub(super) stamp: Option<fn(&P) -> Option<Stamp>>,
    pub(super) faults: Faults<P>,
    pub(super) all_served: bool,
    pub(super) may_block: bool,
    pub(super) election: Option<ElectionClaims<P>>,
}

impl<P: Protocol> Check<P> {
    /// A cluster in which each user wants in once, on the channels that the protocol needs.
    ///
    /// # Panics
    /// If the nodes are [no cluster](ClusterError::check_places): too few, in the wrong order, or
    /// of several.
    pub fn new(nodes: Vec<P>) -> Self {
        if let Err(error) = ClusterError::check_places(&nodes) {
            panic!("{error}");
        }
        Self {
            requests: vec![1; nodes.len()],
            withdrawals: 0,
            faults: Faults::none(nodes.len()),
            nodes,
            channels: P::CHANNELS,
            timers: Timers::InTime,
            users: Users::AnyTime,
            most_passed: None,
            most_sent: None,
            invariant: None,
            token: None,
            stamp: None,
            all_served: false,
            may_block: false,
            election: None,
        }
    }

    /// How many times each user wants in.
    #[must_use]
    pub fn requests(mut self, times: u8) -> Self {
        self.requests.fill(times);
        self
    }

    /// How many times one user wants in.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn requests_of(mut self, node: NodeId, times: u8) -> Self {
        self.requests[node.index()] = times;
        self
    }

    /// How many times each user may take a request back, while it waits, at any moment. Of the
    /// requests that it makes, so many fewer lead to an entry.
    #[must_use]
    pub fn withdrawals(mut self, times: u8) -> Self {
        self.withdrawals = times;
        self
    }

    /// In which order messages arrive.
    #[must_use]
    pub fn channels(mut self, channels: Channels) -> Self {
        self.channels = channels;
        self
    }

    /// When timers may run out.
    #[must_use]
    pub fn timers(mut self, timers: Timers) -> Self {
        self.timers = timers;
        self
    }

    /// When users may ask and leave.
    #[must_use]
    pub fn users(mut self, users: Users) -> Self {
        self.users = users;
        self
    }

    /// Claims a bound on bypass: between a user's request and its entry, at most `most` other users
    /// enter.
    #[must_use]
    pub fn bypass(mut self, most: u8) -> Self {
        self.most_passed = Some(most);
        self
    }

    /// Claims that at most `messages` messages are sent per request. Then no message is forwarded
    /// for ever. If there is no deadlock and every timer leads to a message, every waiter is served
    /// once the others stop asking. A bound that is not finite claims nothing.
    #[must_use]
    pub fn at_most(mut self, messages: f64) -> Self {
        self.most_sent = messages.is_finite().then_some(messages);
        self
    }

    /// Claims that there is exactly one token, which `token` recognises.
    #[must_use]
    pub fn one_token(mut self, token: TokenClaim<P>) -> Self {
        self.token = Some(token);
        self
    }

    /// Claims that a user that is inside has an older request than every waiter, by their stamps.
    #[must_use]
    pub fn in_order(mut self, stamp: fn(&P) -> Option<Stamp>) -> Self {
        self.stamp = Some(stamp);
        self
    }

    /// The nodes in the initial state.
    pub fn cluster(&self) -> &[P] {
        &self.nodes
    }

    /// How many times each user wants in.
    pub fn wanted(&self) -> &[u8] {
        &self.requests
    }

    /// In which order messages arrive, when timers may run out, and when users may ask and leave.
    pub fn circumstances(&self) -> (Channels, Timers, Users) {
        (self.channels, self.timers, self.users)
    }

    fn ghosts(&self) -> Ghosts {
        // Count up to one more than the bound. That is enough to see a violation, and keeps the
        // state space finite.
        let one_too_many = |most: f64| (most * f64::from(self.wanted_in_all())) as u32 + 1;
        Ghosts { passed: self.bound_on_passing().is_some(), sent: self.most_sent.map(one_too_many) }
    }

    fn rules(&self) -> Rules {
        let timed = self.timers == Timers::Timed;
        let Faults { cut, ignores_refused, .. } = &self.faults;
        let (cut, ignores_refused) = (cut.clone(), *ignores_refused);
        Rules { ghosts: self.ghosts(), timed, cut, ignores_refused }
    }

    /// Whether a timer may run out that has so many periods left.
    fn may_run_out(&self, state: &State<P>, node: NodeId, left: u8) -> bool {
        match self.timers {
            Timers::AnyTime => true,
            Timers::InTime => !state.awaits(node),
            Timers::Timed => left == 0 && state.network.iter().all(|(_, _, sent)| sent.due > 0),
        }
    }
}

impl<P: Protocol> Model for Check<P> {
    type State = State<P>;
    type Action = Action<P::Message>;

    fn init_states(&self) -> Vec<State<P>> {
        let withdrawals_left = self.withdrawals;
        let user = |&requests_left| Wish {
            phase: Phase::Idle,
            requests_left,
            withdrawals_left,
            passed: 0,
        };
        let mut state = State {
            nodes: self.nodes.clone(),
            network: Network::new(self.channels),
            timers: Vec::new(),
            users: self.requests.iter().map(user).collect(),
            violation: None,
            sent: 0,
            troubles: self.faults.troubles(self.nodes.len()).map(Box::new),
        };
        let rules = self.rules();
        for node in NodeId::all(self.nodes.len()) {
            state.give(node, Input::Start, &rules);
        }
        vec![state]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Self::Action>) {
        if state.violation.is_some() {
            return;
        }
        let users_act = self.users == Users::AnyTime || state.network.is_empty();
        let users = NodeId::all(state.users.len()).zip(&state.users);
        for (node, user) in users.filter(|(node, _)| users_act && !state.is_down(*node)) {
            match user.phase {
                Phase::Idle if user.requests_left > 0 && self.election.is_some() => {
                    actions.push(Action::Elect(node));
                }
                Phase::Idle if user.requests_left > 0 => actions.push(Action::Request(node)),
                Phase::Inside => actions.push(Action::Leave(node)),
                Phase::Waiting if user.withdrawals_left > 0 => {
                    actions.push(Action::Withdraw(node));
                }
                Phase::Idle | Phase::Waiting => {}
            }
        }
        let deliveries = state.network.deliverable().into_iter();
        // Whoever was told that the sender is down hears first that it is up.
        let heard = deliveries.filter(|(from, to, _)| !state.was_told(*to, *from));
        actions.extend(heard.map(|(from, to, sent)| {
            let message = sent.message;
            Action::Deliver { from, to, message }
        }));
        let mut last = None;
        for &(node, timer, left) in &state.timers {
            let may_run_out = self.may_run_out(state, node, left);
            if may_run_out && last.replace((node, timer)) != Some((node, timer)) {
                actions.push(Action::Timeout(node, timer));
            }
        }
        self.add_faults(state, actions);
        if self.timers == Timers::Timed && state.may_tick() {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, state: &State<P>, action: Self::Action) -> Option<State<P>> {
        state.after(&action, &self.rules())
    }

    fn format_action(&self, action: &Self::Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        if let Some(claims) = &self.election {
            return claims.properties();
        }
        self.lock_properties()
    }
}
