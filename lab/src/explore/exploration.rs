//! Exhaustive explorations: how to explore a model, and the result.

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::time::{Duration, Instant};

use exclusion::message::check::{
    Check, Checker, HasDiscoveries, Model, Path, Progress, Property, Timers, Users, trace_of,
};
use exclusion::message::{Channels, Protocol, Time, Trace};
use serde::{Serialize, Serializer};

use crate::label::label;
use crate::played::Played;

/// The result of an exploration.
#[derive(Clone, Debug, Serialize)]
pub struct Explored {
    /// What was explored.
    pub algorithm: String,
    /// How many nodes.
    pub nodes: usize,
    /// How many may be inside at a time.
    pub entries_at_a_time: usize,
    /// How many times each user wanted in; node by node where that differs.
    pub requests: String,
    /// In which order messages arrived: `fifo` or `any`; `, quick` if users acted only when none
    /// was in flight; and `, late` if timers ran out at any moment.
    pub channels: String,
    /// How many states there are.
    pub states: usize,
    /// The depth: the greatest distance of a state from the initial one, in steps.
    pub depth: usize,
    /// How long it took.
    pub seconds: f64,
    /// `holds`, `refuted`, or `unfinished` if the limit of states came first.
    pub verdict: &'static str,
    /// The properties, and for each that does not hold how.
    pub properties: Vec<Finding>,
}

/// The result for a property.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its name.
    pub property: &'static str,
    /// Whether it holds; null if that was not found out.
    pub holds: Option<bool>,
    /// A shortest counterexample, event by event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Shown>,
    /// The counterexample as it is played again, where it is among nodes.
    #[serde(skip)]
    pub played: Option<Played>,
}

impl Explored {
    /// A row of the table in the documentation: what was explored, and what it claims.
    pub fn markdown(&self) -> String {
        let Self { algorithm, nodes, requests, channels, states, depth, verdict, .. } = self;
        let claims = self.claims().join(", ");
        format!(
            "| `{algorithm}` | {nodes} | {requests} | {channels} | {states} | {depth} | {claims} \
             | {verdict} |"
        )
    }

    /// Its name in a table for people, with k where several may be inside at a time.
    pub fn label(&self) -> String {
        label(&self.algorithm, self.entries_at_a_time)
    }

    /// What is claimed to hold always, in a word each.
    pub fn claims(&self) -> Vec<&'static str> {
        let claims = self.properties.iter().filter_map(|finding| match finding.property {
            "mutual exclusion" => Some("exclusion"),
            "expected inputs only" => Some("inputs"),
            "one token" => Some("token"),
            "first come, first served" => Some("first come"),
            other if Self::is_possibility(other) => None,
            other => Some(other),
        });
        claims.collect()
    }

    /// Whether a property is about what can be reached. It shows that the others are not vacuous.
    pub fn is_possibility(property: &str) -> bool {
        matches!(
            property,
            "everybody enters" | "two contend" | "two read" | "all settle" | "some settle"
        )
    }

    /// The properties that do not hold.
    pub fn refuted(&self) -> impl Iterator<Item = &Finding> {
        self.properties.iter().filter(|finding| finding.holds == Some(false))
    }
}

/// What happened on a way through a model, event by event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// Among nodes: it can be drawn.
    Trace(Trace),
    /// Among registers.
    Text(String),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A step is a unit of time. Only the passing of a period leaves no event. Whoever reads
            // the trace takes it for a comment.
            Self::Trace(trace) => {
                let mut next = Time::units(1.0);
                for event in &trace.events {
                    while next < event.time {
                        writeln!(f, "# {next} a period passes")?;
                        next = next.after(Time::TICKS);
                    }
                    if event.time == next {
                        next = next.after(Time::TICKS);
                    }
                    writeln!(f, "{event}")?;
                }
                Ok(())
            }
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Shown {
    /// How many steps it takes.
    pub fn steps(&self) -> usize {
        match self {
            // A step is a unit of time.
            Self::Trace(trace) => trace.events.last().map_or(0, |it| it.time.as_units() as usize),
            Self::Text(text) => text.lines().count(),
        }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A model that describes itself, and the events of a path through it.
pub trait Explorable:
    Model<State: Clone + PartialEq + Debug + Hash, Action: Clone + PartialEq + Debug> + Clone
{
    /// How many nodes, or seats.
    fn nodes(&self) -> usize;

    /// How many times each wants in.
    fn requests(&self) -> &[u8];

    /// How many may be inside at a time.
    fn entries_at_a_time(&self) -> usize;

    /// In which order messages arrive; for registers, there are none.
    fn channels(&self) -> String;

    /// What happened, event by event.
    fn show(&self, path: Path<Self::State, Self::Action>) -> Shown;

    /// What the nodes know at each step of what was shown.
    fn played(&self, _shown: &Shown) -> Option<Played> {
        None
    }

    /// What must be possible from every state, if anything.
    fn progress(&self) -> Option<Progress<Self>> {
        None
    }
}

impl<P: Protocol> Explorable for Check<P> {
    fn nodes(&self) -> usize {
        self.cluster().len()
    }

    fn requests(&self) -> &[u8] {
        self.wanted()
    }

    fn entries_at_a_time(&self) -> usize {
        self.cluster()[0].entries_at_a_time()
    }

    fn channels(&self) -> String {
        let (channels, timers, users) = self.circumstances();
        let order = match channels {
            Channels::Fifo => "fifo",
            Channels::AnyOrder => "any",
        };
        let quick = match users {
            Users::AnyTime => "",
            Users::Unhurried => ", quick",
        };
        let late = match timers {
            Timers::InTime => "",
            Timers::AnyTime => ", late",
            Timers::Timed => ", timed",
        };
        let (budgets, is_cut) = self.faults();
        let times = |count, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        let (crashes_rest, recoveries_rest) = self.faults_at_rest();
        let down = if crashes_rest { "down at rest" } else { "down" };
        let up = if recoveries_rest { "up at rest" } else { "up" };
        let befalls: String = [
            times(budgets.crashes, down),
            times(budgets.recoveries, up),
            times(budgets.losses, "lost"),
            times(budgets.duplicates, "doubled"),
            times(budgets.mistakes, "wrongly suspected"),
        ]
        .concat();
        let cut = if is_cut { ", cut" } else { "" };
        format!("{order}{quick}{late}{befalls}{cut}")
    }

    fn progress(&self) -> Option<Progress<Self>> {
        Check::progress(self)
    }

    fn show(&self, path: Path<Self::State, Self::Action>) -> Shown {
        Shown::Trace(trace_of(self, path))
    }

    fn played(&self, shown: &Shown) -> Option<Played> {
        match shown {
            Shown::Trace(trace) => Some(Played::of(self.cluster().to_vec(), trace)),
            Shown::Text(_) => None,
        }
    }
}

/// How to explore.
#[derive(Clone, Copy)]
pub struct Explorer<'a> {
    /// On how many threads.
    pub threads: usize,
    /// After how many states to give up.
    pub most_states: usize,
    /// Told now and then how many states have been found, and how deep.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Explorer<'_> {
    /// Explores all reachable states. A property that does not hold gets a shortest counterexample.
    pub fn explore<M>(&self, algorithm: &str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let start = Instant::now();
        let builder = model.clone().checker().threads(self.threads);
        let checker = builder.target_state_count(self.most_states).spawn_bfs();
        while !checker.is_done() {
            (self.progress)(checker.unique_state_count(), checker.max_depth());
            let pause = if start.elapsed() < Duration::from_secs(1) { 5 } else { 100 };
            std::thread::sleep(Duration::from_millis(pause));
        }
        let checker = checker.join();
        let unfinished = checker.state_count() >= self.most_states;
        let mut discoveries = checker.discoveries();
        let finding = |property: &Property<M>| {
            let found = discoveries.remove(property.name);
            // What must always hold is refuted by a discovery, what must sometimes hold by the lack
            // of one.
            let always = property.expectation.discovery_is_failure();
            // What a discovery says is certain; what the lack of one says, only at the end.
            let holds = (found.is_some() || !unfinished).then_some(found.is_some() != always);
            let counterexample = found
                .filter(|_| always)
                .map(|path| model.show(shortest(&model, property.name, path)));
            let played = counterexample.as_ref().and_then(|it| model.played(it));
            Finding { property: property.name, holds, counterexample, played }
        };
        let mut findings: Vec<_> = model.properties().iter().map(finding).collect();
        findings.extend(model.progress().map(|progress| {
            let stuck = progress.find_stuck(&model, self.most_states);
            let counterexample = stuck.clone().ok().flatten().map(|path| model.show(path));
            let holds = stuck.is_ok().then_some(counterexample.is_none());
            let played = counterexample.as_ref().and_then(|it| model.played(it));
            Finding { property: progress.name, holds, counterexample, played }
        }));
        let refuted = findings.iter().any(|finding| finding.counterexample.is_some());
        let all_hold = findings.iter().all(|finding| finding.holds == Some(true));
        Explored {
            algorithm: algorithm.to_owned(),
            nodes: model.nodes(),
            entries_at_a_time: model.entries_at_a_time(),
            requests: in_words(model.requests()),
            channels: model.channels(),
            states: checker.unique_state_count(),
            depth: checker.max_depth(),
            seconds: start.elapsed().as_secs_f64(),
            verdict: match (refuted, unfinished, all_hold) {
                (true, ..) | (false, false, false) => "refuted",
                (false, true, _) => "unfinished",
                (false, false, true) => "holds",
            },
            properties: findings,
        }
    }
}

/// How many times each wants in: one number if all are alike, else all.
pub fn in_words(requests: &[u8]) -> String {
    let alike = requests.iter().all(|times| *times == requests[0]);
    let shown = if alike { &requests[..1] } else { requests };
    shown.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// A shortest counterexample. The one that the checker found need not be shortest: it goes on
/// searching, and keeps the last.
fn shortest<M>(
    model: &M,
    property: &'static str,
    found: Path<M::State, M::Action>,
) -> Path<M::State, M::Action>
where
    M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
{
    let mut best = found;
    // No path of `too_short` states leads there; the best one does.
    let mut too_short = 0;
    loop {
        let states = best.clone().into_states().len();
        if too_short + 1 >= states {
            return best;
        }
        let middle = too_short.midpoint(states);
        // The checker's limit is a depth that it does not look at any more.
        let checker = model.clone().checker().target_max_depth(middle + 1);
        let found = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        match checker.finish_when(found).spawn_bfs().join().discovery(property) {
            Some(shorter) => best = shorter,
            None => too_short = middle,
        }
    }
}

/// A function over models of all types.
pub trait ModelVisitor {
    /// The result.
    type Output;

    /// Calls it.
    fn visit<M>(self, name: &'static str, model: M) -> Self::Output
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static;
}
