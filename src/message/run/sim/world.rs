//! A simulation in progress.

use std::collections::VecDeque;

use super::delay::{Ticks, Transit};
use super::error::{SimCause, SimError};
use super::faults::{Fault, Troubles};
use super::plan::Plan;
use super::queue::Queue;
use super::report::Report;
use super::settings::Settings;
use super::tally::{Asked, Tally};
use super::workload::Arrivals;
use crate::message::random::Random;
use crate::message::run::plight::Plight;
use crate::message::{
    Channels, Input, NodeId, Outbox, Output, Phase, Protocol, Time, Timer, Violation, step_lock,
};

/// A future event.
#[derive(Debug)]
pub(super) enum Coming<M> {
    /// A user arrives. If it has not left yet, its request joins its backlog.
    Arrival(NodeId),
    /// In which life of the node its user entered.
    Leaving(NodeId, u32),
    Delivery {
        from: NodeId,
        to: NodeId,
        number: u64,
        message: M,
    },
    /// In which life of the node it was set.
    Timeout(NodeId, Timer, u32),
    Call(NodeId),
    Fault(Box<Fault>),
    /// A node's detector looks at another.
    Look(NodeId, NodeId),
    /// Once all has healed: has anybody waited too long?
    Reminder,
    /// A user's patience is at its end, if it still waits with the request of this number.
    Patience(NodeId, u64),
}

/// A node's user, and the times of its requests.
#[derive(Clone, Default, Debug)]
pub(super) struct Client {
    pub(super) phase: Phase,
    /// The arrivals that have not led to a request yet.
    pub(super) backlog: VecDeque<Time>,
    /// The request that is being served.
    pub(super) asked: Asked,
    /// Whether nobody wants it any more, and it stands all the same.
    pub(super) stands: bool,
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
    pub(super) users: Vec<Client>,
    out: Outbox<P::Message>,
    pub(super) now: Time,
    pub(super) queue: Queue<Coming<P::Message>>,
    pub(super) transit: Transit,
    pub(super) random: Random,
    stay: Ticks,
    stay_outside: Ticks,
    /// How long users wait, if not for ever.
    pub(super) patience: Option<Ticks>,
    pub(super) period: f64,
    arrivals: Arrivals,
    /// Arrivals that are announced but have not happened.
    pub(super) announced: u64,
    /// Calls, faults and looks of detectors that are still to come.
    pub(super) ahead: u64,
    /// Messages and timers in flight.
    pub(super) in_flight: u64,
    /// Users that wait or are inside.
    pub(super) active: u64,
    pub(super) inside: usize,
    most_events: u64,
    seed: u64,
    channels: Channels,
    /// None where nothing befalls the nodes.
    pub(super) troubles: Option<Box<Troubles<P>>>,
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
            stay: settings.inside.into(),
            stay_outside: settings.outside.into(),
            patience: settings.patience.map(Ticks::from),
            period: settings.period.unwrap_or(settings.delay.bound()),
            arrivals: Arrivals::new(settings.workload, count),
            announced: 0,
            ahead: 0,
            in_flight: 0,
            active: 0,
            inside: 0,
            most_events: settings.most_events,
            seed: settings.seed,
            channels: settings.channels,
            troubles: None,
            missing: Vec::new(),
            settled_at: Time::default(),
            tally: Tally::new(count, settings.traced),
        }
    }

    /// The same, where something befalls the nodes.
    pub(super) fn befallen_by(mut self, mut plan: Plan<P>) -> Self {
        if plan.is_empty() {
            return self;
        }
        let count = self.nodes.len();
        self.missing = std::mem::take(&mut plan.down);
        let faults = plan.timed(count, self.seed);
        self.troubles = Some(Box::new(Troubles::new(count, plan, self.channels, self.seed)));
        for (time, fault) in faults {
            self.schedule(time, Coming::Fault(Box::new(fault)));
        }
        self
    }

    /// The same, where nodes call elections.
    pub(super) fn with_calls(mut self, calls: Vec<(Time, NodeId)>) -> Self {
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
                    if next.is_empty() && self.ahead == 0 {
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
            if self.troubles.is_some() {
                self.handle_befallen(coming)?;
            } else {
                self.handle(coming)?;
            }
            let (nodes, queue, plight) = (&self.nodes[..], &self.queue, self.plight());
            check(&View { nodes, time: self.now, queue, plight }).map_err(SimCause::Check)?;
        }
    }

    // Always: it has two callers, and the one that no fault befalls must not pay for the other.
    #[inline(always)]
    pub(super) fn handle(&mut self, coming: Coming<P::Message>) -> Result<(), SimCause> {
        match coming {
            Coming::Delivery { from, to, number, message } => {
                self.in_flight -= 1;
                self.tally.load[to.index()] += 1;
                self.give(to, Input::Receive { from, message }, number)
            }
            Coming::Timeout(node, timer, _) => {
                self.in_flight -= 1;
                self.give(node, Input::Timeout(timer), 0)
            }
            Coming::Call(node) => {
                self.ahead -= 1;
                self.give(node, Input::Elect, 0)
            }
            Coming::Fault(fault) => {
                self.ahead -= 1;
                self.befall(&fault)
            }
            Coming::Look(observer, node) => {
                self.ahead -= 1;
                self.notify(observer, node)
            }
            Coming::Arrival(node) => {
                self.announced -= 1;
                self.announce_after_arrival();
                if self.users[node.index()].phase.is_idle() {
                    self.ask(node, self.now)
                } else if self.users[node.index()].stands {
                    self.take_over(node, self.now);
                    Ok(())
                } else {
                    self.users[node.index()].backlog.push_back(self.now);
                    Ok(())
                }
            }
            Coming::Leaving(node, _) => self.leave(node),
            Coming::Reminder => self.check_service(),
            Coming::Patience(node, number) => self.give_up(node, number),
        }
    }

    pub(super) fn announce_after_arrival(&mut self) {
        let next = self.arrivals.after_arrival(self.now, &mut self.random);
        next.into_iter().for_each(|arrival| self.announce(arrival));
    }

    fn announce(&mut self, (time, node): (Time, NodeId)) {
        self.announced += 1;
        self.queue.push(time, Coming::Arrival(node));
    }

    /// Puts down what will come in any case.
    pub(super) fn schedule(&mut self, time: Time, coming: Coming<P::Message>) {
        self.ahead += 1;
        self.queue.push(time, coming);
    }

    pub(super) fn plight(&self) -> Option<&Plight> {
        self.troubles.as_ref().map(|troubles| &troubles.plight)
    }

    fn life(&self, node: NodeId) -> u32 {
        self.troubles.as_ref().map_or(0, |troubles| troubles.life(node))
    }

    pub(super) fn ask(&mut self, node: NodeId, came_at: Time) -> Result<(), SimCause> {
        self.active += 1;
        let (asked_at, number) = (self.now, self.tally.ask(self.now));
        self.users[node.index()].asked = Asked { came_at, asked_at, number };
        if self.patience.is_some() {
            self.wait_patiently(node);
        }
        self.give(node, Input::Request, 0)
    }

    fn enter(&mut self, node: NodeId) -> Result<(), SimCause> {
        self.inside += 1;
        let user = &self.users[node.index()];
        self.tally.enter(user.asked, self.now, self.inside, user.stands);
        let may_overlap = || self.troubles.as_ref().is_some_and(|troubles| troubles.may_overlap);
        if self.inside > self.nodes[node.index()].entries_at_a_time() && !may_overlap() {
            let inside = self.users_in(Phase::Inside);
            return Err(SimCause::Violation(Violation::NotExclusive(inside)));
        }
        // Nobody is there to stay, if the request stood.
        let stays = !std::mem::take(&mut self.users[node.index()].stands);
        let stay = if stays { self.stay.draw(&mut self.random) } else { 0 };
        self.queue.push(self.now.after(stay), Coming::Leaving(node, self.life(node)));
        Ok(())
    }

    fn leave(&mut self, node: NodeId) -> Result<(), SimCause> {
        self.active -= 1;
        self.inside -= 1;
        self.tally.leave(self.now);
        let user = &mut self.users[node.index()];
        let came_before = user.backlog.pop_front();
        self.give(node, Input::Release, 0)?;
        self.go_on_outside(node, came_before)
    }

    /// A user is outside again: who wants in next at its node, and when?
    #[inline]
    pub(super) fn go_on_outside(
        &mut self,
        node: NodeId,
        came_before: Option<Time>,
    ) -> Result<(), SimCause> {
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
                    self.tally.send(node, &message);
                    let arrival = match self.troubles.as_deref_mut() {
                        None => self.transit.arrival(self.now, node, to, &mut self.random),
                        Some(troubles) if troubles.plight.is_cut(node, to) => {
                            troubles.missed.push((node, to, number));
                            continue;
                        }
                        Some(troubles) => {
                            let random = &mut self.random;
                            let arrival = self.transit.arrival(self.now, node, to, random);
                            troubles.slowed(self.now, node, to, arrival)
                        }
                    };
                    self.in_flight += 1;
                    self.queue.push(arrival, Coming::Delivery { from: node, to, number, message });
                }
                Output::SetTimer { timer, periods } => {
                    self.in_flight += 1;
                    // One tick more than the periods, so that every message that was sent in time
                    // has arrived before.
                    let wait = Time::units(self.period * f64::from(periods)).0;
                    let life = self.troubles.as_ref().map_or(0, |troubles| troubles.life(node));
                    let due = self.now.after(wait).after(1);
                    self.queue.push(due, Coming::Timeout(node, timer, life));
                }
                Output::Leader(_) => self.settled_at = self.now,
                Output::Enter => entered = true,
            }
        }
        match outcome {
            Ok(()) if entered => self.enter(node),
            Ok(()) => Ok(()),
            Err(violation) => self.refuse(node, number, violation),
        }
    }

    pub(super) fn users_in(&self, phase: Phase) -> Vec<NodeId> {
        let nodes = NodeId::all(self.users.len());
        nodes.filter(|node| self.users[node.index()].phase == phase).collect()
    }
}
