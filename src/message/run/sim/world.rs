//! A simulation in progress.

use std::collections::{BTreeMap, VecDeque};

use super::contest::Script;
use super::delay::Transit;
use super::error::{SimCause, SimError};
use super::faults::{Fault, Plight};
use super::queue::Queue;
use super::report::{Report, Sample};
use super::workload::Arrivals;
use super::{Delay, Settings};
use crate::message::random::Random;
use crate::message::run::scribe::Scribe;
use crate::message::{
    Input, Message, NodeId, Outbox, Output, Phase, Protocol, Time, Timer, Traffic, Violation,
    step_lock,
};

/// A future event.
#[derive(Debug)]
pub(super) enum Coming<M> {
    /// A user arrives. If it has not left yet, its request joins its backlog.
    Arrival(NodeId),
    Leaving(NodeId),
    Delivery {
        from: NodeId,
        to: NodeId,
        number: u64,
        message: M,
    },
    /// In which life of the node it was set.
    Timeout(NodeId, Timer, u32),
    Call(NodeId),
    Fault(Fault),
    /// A node's detector looks at another.
    Look(NodeId, NodeId),
}

/// A node's user, and the times of its requests.
#[derive(Clone, Default, Debug)]
struct Client {
    phase: Phase,
    /// The arrivals that have not led to a request yet.
    backlog: VecDeque<Time>,
    /// The arrival of the request that is being served.
    came_at: Time,
    /// When its node was given that request.
    asked_at: Time,
    /// The number of that request, counted over all nodes.
    number: u64,
}

/// A simulation after a step.
pub struct View<'a, P: Protocol> {
    /// The nodes.
    pub nodes: &'a [P],
    /// The time.
    pub time: Time,
    queue: &'a Queue<Coming<P::Message>>,
    plight: Option<&'a Plight>,
}

impl<P: Protocol> View<'_, P> {
    /// Whether a node is down.
    pub fn is_down(&self, node: NodeId) -> bool {
        self.plight.is_some_and(|plight| plight.down.contains(node))
    }

    /// The messages in flight: sender, receiver, message. In no order.
    pub fn in_flight(&self) -> impl Iterator<Item = (NodeId, NodeId, &P::Message)> {
        self.queue.iter().filter_map(|coming| match coming {
            Coming::Delivery { from, to, message, .. } => Some((*from, *to, message)),
            _ => None,
        })
    }
}

pub(super) struct World<P: Protocol> {
    pub(super) nodes: Vec<P>,
    users: Vec<Client>,
    out: Outbox<P::Message>,
    pub(super) now: Time,
    queue: Queue<Coming<P::Message>>,
    transit: Transit,
    random: Random,
    stay: Delay,
    stay_outside: Delay,
    pub(super) period: f64,
    arrivals: Arrivals,
    /// Arrivals, calls and faults that are announced but have not happened.
    announced: u64,
    /// Messages and timers in flight.
    in_flight: u64,
    /// Users that wait or are inside.
    active: u64,
    inside: usize,
    most_events: u64,
    /// None where nothing befalls the nodes.
    pub(super) plight: Option<Box<Plight>>,
    /// Who is down from the beginning.
    missing: Vec<NodeId>,
    /// When a node last settled on a leader.
    pub(super) settled_at: Time,
    pub(super) tally: Tally,
}

impl<P: Protocol> World<P> {
    pub(super) fn new(nodes: Vec<P>, settings: Settings) -> Self {
        let count = nodes.len();
        Self {
            users: vec![Client::default(); count],
            nodes,
            out: Outbox::new(),
            now: Time::default(),
            queue: Queue::new(),
            transit: Transit::new(settings.delay, settings.channels),
            random: Random::new(settings.seed),
            stay: settings.inside,
            stay_outside: settings.outside,
            period: settings.period.unwrap_or(settings.delay.bound()),
            arrivals: Arrivals::new(settings.workload, count),
            announced: 0,
            in_flight: 0,
            active: 0,
            inside: 0,
            most_events: settings.most_events,
            plight: None,
            missing: Vec::new(),
            settled_at: Time::default(),
            tally: Tally::new(count, settings.traced),
        }
    }

    /// The same, where more happens than what users do.
    pub(super) fn with(mut self, script: Script) -> Self {
        let Script { calls, down, faults, notices } = script;
        if !(down.is_empty() && faults.is_empty()) {
            self.plight = Some(Box::new(Plight::new(self.nodes.len(), &notices)));
        }
        self.missing = down;
        faults.into_iter().for_each(|(time, fault)| self.schedule(time, Coming::Fault(fault)));
        calls.into_iter().for_each(|(time, node)| self.schedule(time, Coming::Call(node)));
        self
    }

    pub(super) fn run(
        self,
        check: impl FnMut(&View<'_, P>) -> Result<(), String>,
    ) -> Result<Report, SimError> {
        self.finish(check).map(|world| world.tally.report(world.now))
    }

    /// Runs it to the end, and keeps it.
    pub(super) fn finish(
        mut self,
        mut check: impl FnMut(&View<'_, P>) -> Result<(), String>,
    ) -> Result<Self, SimError> {
        match self.go_on(&mut check) {
            Ok(()) => Ok(self),
            Err(cause) => Err(SimError {
                time: self.now,
                cause,
                trace: self.tally.scribe.map(|scribe| scribe.trace),
            }),
        }
    }

    fn go_on(
        &mut self,
        check: &mut impl FnMut(&View<'_, P>) -> Result<(), String>,
    ) -> Result<(), SimCause> {
        for node in NodeId::all(self.nodes.len()) {
            self.give(node, Input::Start, 0)?;
        }
        let missing = std::mem::take(&mut self.missing);
        self.begin_without(&missing)?;
        loop {
            let silent = self.active == 0 && (self.in_flight == 0 || !P::RESTS);
            if silent {
                self.tally.end_episode();
                if self.announced == 0 {
                    let next = self.arrivals.at_silence(self.now, &mut self.random);
                    if next.is_empty() {
                        return Ok(());
                    }
                    next.into_iter().for_each(|arrival| self.announce(arrival));
                }
            }
            let Some((time, coming)) = self.queue.pop() else {
                let waiting = self.users_in(Phase::Waiting);
                return Err(SimCause::Violation(Violation::Deadlock(waiting)));
            };
            if self.tally.events == self.most_events {
                return Err(SimCause::TooManyEvents(self.most_events));
            }
            self.tally.events += 1;
            self.now = time;
            self.handle(coming)?;
            let (nodes, queue, plight) = (&self.nodes[..], &self.queue, self.plight.as_deref());
            check(&View { nodes, time: self.now, queue, plight }).map_err(SimCause::Check)?;
        }
    }

    #[inline]
    fn handle(&mut self, coming: Coming<P::Message>) -> Result<(), SimCause> {
        match coming {
            Coming::Delivery { from, to, number, message } => {
                self.in_flight -= 1;
                if let Some(plight) = &self.plight {
                    if plight.down.contains(to) || plight.is_cut(from, to) {
                        return Ok(());
                    }
                    // Whoever was told that the sender is down hears first that it is up.
                    if plight.was_told(to, from) {
                        self.notify(to, from)?;
                    }
                }
                self.tally.load[to.index()] += 1;
                self.give(to, Input::Receive { from, message }, number)
            }
            Coming::Timeout(node, timer, life) => {
                self.in_flight -= 1;
                if self.life(node) != life {
                    return Ok(());
                }
                self.give(node, Input::Timeout(timer), 0)
            }
            Coming::Call(node) => {
                self.announced -= 1;
                let is_down = self.plight.as_ref().is_some_and(|it| it.down.contains(node));
                if is_down { Ok(()) } else { self.give(node, Input::Elect, 0) }
            }
            Coming::Fault(fault) => {
                self.announced -= 1;
                self.befall(&fault)
            }
            Coming::Look(observer, node) => {
                self.announced -= 1;
                self.notify(observer, node)
            }
            Coming::Arrival(node) => {
                self.announced -= 1;
                let next = self.arrivals.after_arrival(self.now, &mut self.random);
                next.into_iter().for_each(|arrival| self.announce(arrival));
                if self.users[node.index()].phase.is_idle() {
                    self.ask(node, self.now)
                } else {
                    self.users[node.index()].backlog.push_back(self.now);
                    Ok(())
                }
            }
            Coming::Leaving(node) => self.leave(node),
        }
    }

    fn announce(&mut self, (time, node): (Time, NodeId)) {
        self.schedule(time, Coming::Arrival(node));
    }

    /// Puts down what will come in any case.
    pub(super) fn schedule(&mut self, time: Time, coming: Coming<P::Message>) {
        self.announced += 1;
        self.queue.push(time, coming);
    }

    fn life(&self, node: NodeId) -> u32 {
        self.plight.as_ref().map_or(0, |plight| plight.life(node))
    }

    fn ask(&mut self, node: NodeId, came_at: Time) -> Result<(), SimCause> {
        self.active += 1;
        let user = &mut self.users[node.index()];
        user.came_at = came_at;
        user.asked_at = self.now;
        user.number = self.tally.ask(self.now);
        self.give(node, Input::Request, 0)
    }

    fn enter(&mut self, node: NodeId) -> Result<(), SimCause> {
        self.inside += 1;
        self.tally.enter(&self.users[node.index()], self.now, self.inside);
        if self.inside > self.nodes[node.index()].entries_at_a_time() {
            let inside = self.users_in(Phase::Inside);
            return Err(SimCause::Violation(Violation::NotExclusive(inside)));
        }
        let stay = self.stay.draw(&mut self.random);
        self.queue.push(self.now.after(stay), Coming::Leaving(node));
        Ok(())
    }

    fn leave(&mut self, node: NodeId) -> Result<(), SimCause> {
        self.active -= 1;
        self.inside -= 1;
        self.tally.leave(self.now);
        let user = &mut self.users[node.index()];
        let came_before = user.backlog.pop_front();
        self.give(node, Input::Release, 0)?;
        if let Some(came_at) = came_before {
            return self.ask(node, came_at);
        }
        if self.arrivals.after_leaving() {
            match self.stay_outside.draw(&mut self.random) {
                0 => return self.ask(node, self.now),
                stay => self.announce((self.now.after(stay), node)),
            }
        }
        Ok(())
    }

    /// Gives a node an input, and performs its outputs: sends its messages, sets its timers, and
    /// lets its user in. If the input is a message, `number` is that of the message.
    #[inline]
    pub(super) fn give(
        &mut self,
        node: NodeId,
        input: Input<P::Message>,
        number: u64,
    ) -> Result<(), SimCause> {
        let (machine, user) = (&mut self.nodes[node.index()], &mut self.users[node.index()]);
        if let Some(scribe) = &mut self.tally.scribe {
            scribe.input(self.now, node, &input, number);
        }
        let outcome = step_lock(machine, &mut user.phase, input, &mut self.out);
        let mut entered = false;
        for output in self.out.drain() {
            let number = match &mut self.tally.scribe {
                Some(scribe) => scribe.output(self.now, node, &output),
                None => 0,
            };
            match output {
                Output::Send { to, message } => {
                    self.in_flight += 1;
                    self.tally.send(node, &message);
                    if self.plight.as_ref().is_some_and(|plight| plight.is_cut(node, to)) {
                        self.in_flight -= 1;
                        continue;
                    }
                    let arrival = self.transit.arrival(self.now, node, to, &mut self.random);
                    self.queue.push(arrival, Coming::Delivery { from: node, to, number, message });
                }
                Output::SetTimer { timer, periods } => {
                    self.in_flight += 1;
                    // One tick more than the periods, so that every message that was sent in time
                    // has arrived before.
                    let wait = Time::units(self.period * f64::from(periods)).0;
                    let life = self.plight.as_ref().map_or(0, |plight| plight.life(node));
                    let due = self.now.after(wait).after(1);
                    self.queue.push(due, Coming::Timeout(node, timer, life));
                }
                Output::Leader(_) => self.settled_at = self.now,
                Output::Enter => entered = true,
            }
        }
        outcome.map_err(SimCause::Violation)?;
        if entered { self.enter(node) } else { Ok(()) }
    }

    fn users_in(&self, phase: Phase) -> Vec<NodeId> {
        let nodes = NodeId::all(self.users.len());
        nodes.filter(|node| self.users[node.index()].phase == phase).collect()
    }
}

/// What goes into the report.
pub(super) struct Tally {
    entries: u64,
    requests: u64,
    events: u64,
    pub(super) messages: Traffic,
    sent: u64,
    /// Messages and entries at the end of the last episode.
    episode: (u64, u64),
    per_entry: Sample,
    client_delay: Sample,
    sync_delay: Sample,
    /// The times of exits, while others waited, that no entry has followed yet.
    left_at: VecDeque<Time>,
    /// The waiting requests, by time and number, and how often each has been bypassed.
    waiting: Option<BTreeMap<(Time, u64), u64>>,
    bypass: u64,
    most_inside: usize,
    load: Vec<u64>,
    pub(super) scribe: Option<Scribe>,
}

impl Tally {
    fn new(nodes: usize, traced: bool) -> Self {
        Self {
            entries: 0,
            requests: 0,
            events: 0,
            messages: Traffic::default(),
            sent: 0,
            episode: (0, 0),
            per_entry: Sample::default(),
            client_delay: Sample::default(),
            sync_delay: Sample::default(),
            left_at: VecDeque::new(),
            waiting: (nodes <= Report::COUNTED).then(BTreeMap::new),
            bypass: 0,
            most_inside: 0,
            load: vec![0; nodes],
            scribe: traced.then(Scribe::default),
        }
    }

    #[inline]
    fn send<M: Message>(&mut self, from: NodeId, message: &M) {
        self.sent += 1;
        self.messages.count(message.kind());
        self.load[from.index()] += 1;
    }

    /// Counts a request, and gives it a number.
    fn ask(&mut self, now: Time) -> u64 {
        self.requests += 1;
        if let Some(waiting) = &mut self.waiting {
            waiting.insert((now, self.requests), 0);
        }
        self.requests
    }

    fn enter(&mut self, user: &Client, now: Time, inside: usize) {
        self.entries += 1;
        self.most_inside = self.most_inside.max(inside);
        self.client_delay.add(Time(now.0 - user.came_at.0).as_units(), 1.0);
        if let Some(left_at) = self.left_at.pop_front() {
            self.sync_delay.add(Time(now.0 - left_at.0).as_units(), 1.0);
        }
        if let Some(waiting) = &mut self.waiting {
            let passed = waiting.remove(&(user.asked_at, user.number)).unwrap_or(0);
            self.bypass = self.bypass.max(passed);
            // Requests of the same moment do not bypass each other.
            for passed in waiting.range_mut(..(user.asked_at, 0)).map(|(_, passed)| passed) {
                *passed += 1;
            }
        }
    }

    fn leave(&mut self, now: Time) {
        if self.requests > self.entries {
            self.left_at.push_back(now);
        }
    }

    fn end_episode(&mut self) {
        let (messages, entries) = (self.sent - self.episode.0, self.entries - self.episode.1);
        if entries > 0 {
            self.per_entry.add(messages as f64 / entries as f64, entries as f64);
            self.episode = (self.sent, self.entries);
        }
        self.left_at.clear();
    }

    fn report(self, end: Time) -> Report {
        Report {
            entries: self.entries,
            messages: self.messages,
            per_entry: self.per_entry.spread(),
            client_delay: self.client_delay.spread(),
            sync_delay: self.sync_delay.spread(),
            bypass: self.waiting.map(|_| self.bypass),
            most_inside: self.most_inside,
            load: self.load,
            events: self.events,
            end,
            trace: self.scribe.map(|scribe| scribe.trace),
        }
    }
}
