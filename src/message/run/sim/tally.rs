//! What is counted in a simulation.

use std::collections::{BTreeMap, VecDeque};

use super::report::{Report, Sample};
use crate::message::run::scribe::Scribe;
use crate::message::{Message, NodeId, Time, Traffic};

/// A request, and when it came.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Asked {
    /// The arrival of its user.
    pub(super) came_at: Time,
    /// When its node was given it.
    pub(super) asked_at: Time,
    /// Its number, counted over all nodes.
    pub(super) number: u64,
}

/// What goes into the report.
pub(super) struct Tally {
    entries: u64,
    requests: u64,
    /// The requests whose users died waiting, or took them back.
    forgotten: u64,
    /// The users that gave up, and the requests that they took back.
    pub(super) given_up: u64,
    pub(super) withdrawn: u64,
    pub(super) events: u64,
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
    pub(super) load: Vec<u64>,
    pub(super) scribe: Option<Scribe>,
}

impl Tally {
    pub(super) fn new(nodes: usize, traced: bool) -> Self {
        Self {
            entries: 0,
            requests: 0,
            forgotten: 0,
            given_up: 0,
            withdrawn: 0,
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
    pub(super) fn send<M: Message>(&mut self, from: NodeId, message: &M) {
        self.sent += 1;
        self.messages.count(message.kind());
        self.load[from.index()] += 1;
    }

    /// Counts a request, and gives it a number.
    pub(super) fn ask(&mut self, now: Time) -> u64 {
        self.requests += 1;
        if let Some(waiting) = &mut self.waiting {
            waiting.insert((now, self.requests), 0);
        }
        self.requests
    }

    /// A user enters, or nobody, if its request stood.
    pub(super) fn enter(&mut self, user: Asked, now: Time, inside: usize, stood: bool) {
        self.entries += 1;
        self.most_inside = self.most_inside.max(inside);
        if !stood {
            self.client_delay.add(Time(now.0 - user.came_at.0).as_units(), 1.0);
        }
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

    /// A user that waited has died, or has taken its request back.
    pub(super) fn forget(&mut self, user: Asked) {
        self.forgotten += 1;
        if let Some(waiting) = &mut self.waiting {
            waiting.remove(&(user.asked_at, user.number));
        }
    }

    pub(super) fn leave(&mut self, now: Time) {
        if self.requests - self.forgotten > self.entries {
            self.left_at.push_back(now);
        }
    }

    pub(super) fn end_episode(&mut self) {
        let (messages, entries) = (self.sent - self.episode.0, self.entries - self.episode.1);
        if entries > 0 {
            self.per_entry.add(messages as f64 / entries as f64, entries as f64);
            self.episode = (self.sent, self.entries);
        }
        self.left_at.clear();
    }

    pub(super) fn report(self, end: Time) -> Report {
        Report {
            entries: self.entries,
            messages: self.messages,
            per_entry: self.per_entry.spread(),
            client_delay: self.client_delay.spread(),
            sync_delay: self.sync_delay.spread(),
            bypass: self.waiting.map(|_| self.bypass),
            given_up: self.given_up,
            withdrawn: self.withdrawn,
            most_inside: self.most_inside,
            load: self.load,
            events: self.events,
            end,
            trace: self.scribe.map(|scribe| scribe.trace),
        }
    }
}
