//! A run as it is played again: what each node knows after each step.
//!
//! Nothing is told a second time. The trace is given to the same machines once more, and what they
//! know is read from them.

use std::collections::HashMap;

use exclusion::message::{Event, Happening, Machine, NodeId, Notice, Trace, facts, replay_watched};
use serde::Serialize;

/// What the nodes know, step by step.
///
/// Only what changes in the run is kept: a node's number, its neighbours and its quorum are the
/// same throughout.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Played {
    /// What there is to know: the names of the parts of a node's state.
    pub names: Vec<String>,
    /// What each node knows at first, in the order of the names.
    pub start: Vec<Vec<String>>,
    /// What happens.
    pub steps: Vec<Step>,
}

/// A step: an input with its outputs, or something that befalls a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Step {
    /// How many events of the trace have happened by its end.
    pub events: usize,
    /// At which node.
    pub node: u32,
    /// What happens, in words.
    pub says: String,
    /// What the node knows from now on, by the place of its name, where that changes.
    pub learns: Vec<(usize, String)>,
}

impl Played {
    /// Plays a trace again. It ends where the machines do something else than is written, or refuse
    /// an input: a counterexample may end so.
    pub fn of<P: Machine>(cluster: Vec<P>, trace: &Trace) -> Self {
        let mut moments: Vec<(usize, Vec<Known>)> = Vec::new();
        let mut known: Vec<Known> = Vec::new();
        let watched = replay_watched(cluster, trace, |at| {
            if known.is_empty() {
                known = at.nodes.iter().map(Known::of).collect();
            } else if let Some(event) = trace.events.get(at.events.start) {
                // No other node has done anything.
                known[event.node.index()] = Known::of(&at.nodes[event.node.index()]);
            }
            moments.push((at.events.end, known.clone()));
        });
        let mut played = Self::between(&moments, trace);
        if watched.is_err() {
            played.end_with_what_is_left(moments.last().map_or(0, |(end, _)| *end), trace);
        }
        played
    }

    fn between(moments: &[(usize, Vec<Known>)], trace: &Trace) -> Self {
        let Some((_, first)) = moments.first() else { return Self::default() };
        let names = changing(moments);
        let row = |known: &Known| names.iter().map(|name| known.of_name(name)).collect::<Vec<_>>();
        let start: Vec<Vec<String>> = first.iter().map(row).collect();
        let kinds = kinds(trace);
        let mut now = start.clone();
        let mut steps = Vec::new();
        for pair in moments.windows(2) {
            let [(begin, _), (end, known)] = pair else { continue };
            let events = &trace.events[*begin..*end];
            let Some(node) = events.first().map(|event| event.node) else { continue };
            let then = row(&known[node.index()]);
            let before = std::mem::replace(&mut now[node.index()], then.clone());
            let learns = then.into_iter().zip(before).enumerate();
            let learns = learns.filter(|(_, (then, before))| then != before);
            steps.push(Step {
                events: *end,
                node: node.0,
                says: in_words(events, &kinds),
                learns: learns.map(|(place, (then, _))| (place, then)).collect(),
            });
        }
        Self { names, start, steps }
    }

    /// A last step for what the machines did not do.
    fn end_with_what_is_left(&mut self, done: usize, trace: &Trace) {
        let left = &trace.events[done..];
        if let Some(first) = left.first() {
            let says = format!("{}, which it refuses", in_words(left, &kinds(trace)));
            let (events, node) = (trace.events.len(), first.node.0);
            self.steps.push(Step { events, node, says, learns: Vec::new() });
        }
    }

    /// What a node knows after so many steps, by name.
    pub fn known(&self, node: NodeId, steps: usize) -> Vec<(&str, &str)> {
        let mut row: Vec<&str> = self.start[node.index()].iter().map(String::as_str).collect();
        for step in self.steps[..steps].iter().filter(|step| step.node == node.0) {
            for (place, value) in &step.learns {
                row[*place] = value;
            }
        }
        self.names.iter().map(String::as_str).zip(row).collect()
    }
}

/// What a node knows: names and values.
#[derive(Clone, PartialEq, Eq)]
struct Known(Vec<(String, String)>);

impl Known {
    fn of<P: Machine>(node: &P) -> Self {
        Self(facts(node).into_iter().map(|fact| (fact.name, fact.value)).collect())
    }

    fn of_name(&self, name: &str) -> String {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or_else(String::new, |(_, value)| value.clone())
    }
}

/// The names of what changes at some node, in the order of the fields.
fn changing(moments: &[(usize, Vec<Known>)]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for (_, known) in moments {
        for (name, _) in known.iter().flat_map(|known| &known.0) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let first = &moments[0].1;
    let changes = |name: &&str| {
        moments.iter().any(|(_, known)| {
            known.iter().zip(first).any(|(now, then)| now.of_name(name) != then.of_name(name))
        })
    };
    names.into_iter().filter(changes).map(str::to_owned).collect()
}

/// The kinds of the messages, by number.
fn kinds(trace: &Trace) -> HashMap<u64, &str> {
    let sent = trace.events.iter().filter_map(|event| match &event.happening {
        Happening::Sends { message, kind, .. } => Some((*message, kind.as_str())),
        _ => None,
    });
    sent.collect()
}

/// What happens in a step: "n1 receives REQUEST from n0, sends CONFIRM to n0".
fn in_words(events: &[Event], kinds: &HashMap<u64, &str>) -> String {
    let kind = |message: &u64| kinds.get(message).copied().unwrap_or("a message");
    let mut parts: Vec<String> = Vec::new();
    let mut sent: Vec<(&str, Vec<String>)> = Vec::new();
    for event in events {
        parts.push(match &event.happening {
            Happening::Sends { to, kind, .. } => {
                match sent.iter_mut().find(|(known, _)| known == kind) {
                    Some((_, to_whom)) => to_whom.push(to.to_string()),
                    None => sent.push((kind, vec![to.to_string()])),
                }
                continue;
            }
            Happening::Requests => "wants in".to_owned(),
            Happening::Receives { from, message } => {
                format!("receives {} from {from}", kind(message))
            }
            Happening::Misses { from, message } => {
                format!("never gets {} from {from}", kind(message))
            }
            Happening::Doubles { from, message } => {
                format!("will get {} from {from} twice", kind(message))
            }
            Happening::Settles(leadership) if leadership.leader == event.node => "leads".to_owned(),
            Happening::Settles(leadership) => format!("follows {}", leadership.leader),
            Happening::TimesOut(_) => "has waited long enough".to_owned(),
            Happening::SetsTimer { periods: 1, .. } => "sets a timer for one period".to_owned(),
            Happening::SetsTimer { periods, .. } => format!("sets a timer for {periods} periods"),
            Happening::Learns(Notice::Recovered) => "recovers".to_owned(),
            _ => {
                let (text, node) = (event.to_string(), format!(" {} ", event.node));
                text.split_once(&node).map_or(text.clone(), |(_, rest)| rest.to_owned())
            }
        });
    }
    let sends = sent.into_iter().map(|(kind, to)| format!("sends {kind} to {}", to.join(", ")));
    parts.extend(sends);
    let node = events.first().map_or_else(String::new, |event| event.node.to_string());
    format!("{node} {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use exclusion::message::sim::{Simulation, Workload};
    use exclusion::message::{Input, Outbox, RicartAgrawala, replay, step};

    use super::*;

    fn run() -> (Vec<RicartAgrawala>, Trace) {
        let cluster = RicartAgrawala::cluster(3).expect("three are enough");
        let wanted = Workload::Script(vec![(0.0, NodeId(0)), (0.5, NodeId(1))]);
        let run = Simulation::new(cluster.clone()).workload(wanted).traced().run();
        (cluster, run.expect("nothing befalls it").trace.expect("it was traced"))
    }

    #[test]
    fn after_each_step_it_is_what_the_machines_know() {
        let (cluster, trace) = run();
        let played = Played::of(cluster.clone(), &trace);
        assert!(played.names.iter().any(|name| name == "held back"), "{:?}", played.names);
        assert!(!played.names.iter().any(|name| name == "me"), "it never changes");
        assert_eq!(played.steps.last().expect("it has steps").events, trace.events.len());
        for (count, step) in played.steps.iter().enumerate() {
            let prefix = Trace { events: trace.events[..step.events].to_vec() };
            let nodes = replay(cluster.clone(), &prefix).expect("it happens again");
            for node in NodeId::all(3) {
                let own = facts(&nodes[node.index()]);
                for (name, value) in played.known(node, count + 1) {
                    let fact = own.iter().find(|fact| fact.name == name).expect("its own");
                    assert_eq!(fact.value, value, "{name} of {node} after {}", step.says);
                }
            }
        }
    }

    #[test]
    fn a_step_is_told_in_words() {
        let (cluster, trace) = run();
        let played = Played::of(cluster, &trace);
        assert_eq!(played.steps[0].says, "n0 wants in, sends REQUEST to n1, n2");
        assert!(played.steps.iter().any(|step| step.says.contains("receives REQUEST from n1")));
        assert!(played.steps.iter().any(|step| step.says.contains("enters")));
    }

    #[test]
    fn what_a_machine_refuses_is_the_last_step() {
        let (cluster, mut trace) = run();
        let twice = trace.events[0].clone();
        trace.events.truncate(3);
        trace.events.push(twice);
        let mut out = Outbox::new();
        let mut node = cluster[0].clone();
        step(&mut node, Input::Request, &mut out).expect("it was idle");
        out.drain().count();
        step(&mut node, Input::Request, &mut out).expect_err("it waits");
        let played = Played::of(cluster, &trace);
        let last = played.steps.last().expect("it has steps");
        assert_eq!((last.events, last.says.as_str()), (4, "n0 wants in, which it refuses"));
    }
}
