//! Clusters as models for stateright.

use stateright::{Model, Property};

use super::election::ElectionClaims;
use super::network::Network;
use super::plight::Plight;
use super::state::{Action, Ghosts, Rules, State, Wish};
use crate::message::{
    Channels, Claims, ClusterError, Input, Machine, NodeId, NodeSet, Phase, Protocol, Stamp,
    TokenClaim,
};

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
    nodes: Vec<P>,
    requests: Vec<u8>,
    channels: Channels,
    timers: Timers,
    users: Users,
    most_passed: Option<u8>,
    most_sent: Option<f64>,
    invariant: Option<Invariant<P>>,
    token: Option<TokenClaim<P>>,
    stamp: Option<fn(&P) -> Option<Stamp>>,
    crashes: u8,
    /// The nodes that may crash.
    crashable: NodeSet,
    recoveries: u8,
    cut: Option<NodeSet>,
    pub(super) election: Option<ElectionClaims<P>>,
}

/// The invariant over nodes and messages in flight. None if the algorithm claims none.
type Invariant<P> =
    fn(&[P], &[(NodeId, NodeId, &<P as Machine>::Message)]) -> Option<Result<(), &'static str>>;

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
            crashable: NodeSet::of(nodes.len(), NodeId::all(nodes.len())),
            nodes,
            channels: P::CHANNELS,
            timers: Timers::InTime,
            users: Users::AnyTime,
            most_passed: None,
            most_sent: None,
            invariant: None,
            token: None,
            stamp: None,
            crashes: 0,
            recoveries: 0,
            cut: None,
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

    /// How many times a node may crash, at any moment. Its user dies with it. The others are told,
    /// sooner or later, by a detector that is right: of a crash after all that the node has sent to
    /// the one that is told, of a recovery before anything of the new life. A node that is back
    /// before somebody has been told was never down, as far as that one knows.
    #[must_use]
    pub fn crashes(mut self, crashes: u8) -> Self {
        self.crashes = crashes;
        self
    }

    /// Only these nodes may crash.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn crashes_of(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.crashable = NodeSet::of(self.nodes.len(), nodes);
        self
    }

    /// How many times a node that has crashed may recover, at any moment.
    #[must_use]
    pub fn recoveries(mut self, recoveries: u8) -> Self {
        self.recoveries = recoveries;
        self
    }

    /// Nothing passes between these nodes and the others, and each side is told that the other is
    /// down.
    ///
    /// # Panics
    /// If one of them is not there.
    #[must_use]
    pub fn cut(mut self, side: impl IntoIterator<Item = NodeId>) -> Self {
        self.cut = Some(NodeSet::of(self.nodes.len(), side));
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

    /// How many nodes may crash and recover, and whether the network is cut.
    pub fn faults(&self) -> (u8, u8, bool) {
        (self.crashes, self.recoveries, self.cut.is_some())
    }

    /// In which order messages arrive, when timers may run out, and when users may ask and leave.
    pub fn circumstances(&self) -> (Channels, Timers, Users) {
        (self.channels, self.timers, self.users)
    }

    fn is_exclusive(&self, state: &State<P>) -> bool {
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

    /// Whether a detector has something to tell.
    fn has_news(&self, state: &State<P>) -> bool {
        let nodes = NodeId::all(self.nodes.len());
        state.plight.is_some() && {
            let rules = self.rules();
            nodes.clone().any(|one| nodes.clone().any(|other| state.has_news(one, other, &rules)))
        }
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
            state.inside().all(|inside| state.waiting().all(|waits| stamp(inside) < stamp(waits)))
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

    fn wanted_in_all(&self) -> u32 {
        self.requests.iter().map(|&times| u32::from(times)).sum()
    }

    /// The bound on bypass, if the others want in often enough to exceed it.
    fn bound_on_passing(&self) -> Option<u8> {
        let waits = self.requests.iter().filter(|&&times| times > 0);
        let others = waits.map(|&times| self.wanted_in_all() - u32::from(times)).max().unwrap_or(0);
        self.most_passed.filter(|&most| others > u32::from(most))
    }

    fn ghosts(&self) -> Ghosts {
        // Count up to one more than the bound. That is enough to see a violation, and keeps the
        // state space finite.
        let one_too_many = |most: f64| (most * f64::from(self.wanted_in_all())) as u32 + 1;
        Ghosts { passed: self.bound_on_passing().is_some(), sent: self.most_sent.map(one_too_many) }
    }

    fn rules(&self) -> Rules {
        let timed = self.timers == Timers::Timed;
        Rules { ghosts: self.ghosts(), timed, cut: self.cut.clone() }
    }

    /// Whether a timer may run out that has so many periods left.
    fn may_run_out(&self, state: &State<P>, node: NodeId, left: u8) -> bool {
        match self.timers {
            Timers::AnyTime => true,
            Timers::InTime => !state.awaits(node),
            Timers::Timed => left == 0 && state.network.iter().all(|(_, _, sent)| sent.due > 0),
        }
    }

    /// What may befall the nodes, and what they are told.
    fn add_faults(&self, state: &State<P>, actions: &mut Vec<Action<P::Message>>) {
        let Some(plight) = &state.plight else { return };
        let rules = self.rules();
        let nodes = NodeId::all(self.nodes.len());
        for node in nodes.clone() {
            let is_down = plight.down.contains(node);
            if !is_down && plight.crashes_left > 0 && self.crashable.contains(node) {
                actions.push(Action::Crash(node));
            }
            if is_down && plight.recoveries_left > 0 {
                actions.push(Action::Recover(node));
            }
            let observers = nodes.clone().filter(|&it| state.has_news(it, node, &rules));
            actions.extend(observers.map(|observer| Action::Notify { observer, node }));
        }
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

impl<P: Protocol> Model for Check<P> {
    type State = State<P>;
    type Action = Action<P::Message>;

    fn init_states(&self) -> Vec<State<P>> {
        let user = |&requests_left| Wish { phase: Phase::Idle, requests_left, passed: 0 };
        let mut state = State {
            nodes: self.nodes.clone(),
            network: Network::new(self.channels),
            timers: Vec::new(),
            users: self.requests.iter().map(user).collect(),
            violation: None,
            sent: 0,
            plight: (self.crashes > 0 || self.cut.is_some())
                .then(|| Box::new(Plight::new(self.nodes.len(), self.crashes, self.recoveries))),
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
        let mut properties = vec![
            Property::always("mutual exclusion", Self::is_exclusive),
            Property::always("expected inputs only", Self::is_as_expected),
            Property::always("no deadlock", Self::is_alive),
            Property::sometimes("everybody enters", Self::is_done),
        ];
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
}
