//! `lab list`.

use std::fmt::Write;

use clap::Args;
use exclusion::message::Channels;
use exclusion::message::registry::{ALGORITHMS, Algorithm, ELECTIONS, ElectionAlgorithm, Size};
use lab::explore::broken::{BROKEN, Broken};
use lab::explore::elected::ELECTED;
use lab::explore::scope::RegisterLock;
use lab::measure::contention::measurables;
use serde::Serialize;

use super::registry::fits;
use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab list
  cargo lab list --json
  cargo lab list --markdown
  cargo lab list --markdown --brief
  cargo lab list --markdown --elections")]
pub(crate) struct List {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Print the table of algorithms that the documentation has
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Only what each algorithm costs, as the README has it
    #[arg(long, requires = "markdown")]
    brief: bool,
    /// The table of elections that the documentation has
    #[arg(long, requires = "markdown", conflicts_with = "brief")]
    elections: bool,
}

/// An entry of the list.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Listed {
    Algorithm {
        name: &'static str,
        implemented_by: &'static str,
        paper: &'static str,
        family: String,
        arrangement: Option<&'static str>,
        messages_per_entry: String,
        order: &'static str,
        channels: &'static str,
        several_entries: bool,
        within_tmax: bool,
        nodes: String,
        most_nodes: usize,
    },
    Election {
        name: &'static str,
        implemented_by: &'static str,
        paper: &'static str,
        arrangement: Option<&'static str>,
        graph: String,
        messages: &'static str,
        needs: &'static str,
        channels: &'static str,
        within_tmax: bool,
        detector: bool,
        stands_crashes: bool,
        most_nodes: usize,
    },
    Lock {
        name: &'static str,
        /// None if there is no limit.
        most_threads: Option<usize>,
    },
    RegisterLock {
        name: &'static str,
    },
    ElectedLock {
        name: &'static str,
    },
    Broken {
        name: &'static str,
        why: &'static str,
        violates: &'static str,
    },
}

impl From<&'static Algorithm> for Listed {
    fn from(algorithm: &'static Algorithm) -> Self {
        Self::Algorithm {
            name: algorithm.name,
            implemented_by: algorithm.implemented_by,
            paper: algorithm.paper,
            family: algorithm.family.to_string(),
            arrangement: algorithm.arrangement,
            messages_per_entry: algorithm.messages.replace("**", ""),
            order: algorithm.order,
            channels: channels(algorithm),
            several_entries: algorithm.several_entries,
            within_tmax: algorithm.within_tmax,
            nodes: sizes(algorithm),
            most_nodes: algorithm.most_nodes,
        }
    }
}

impl From<&'static ElectionAlgorithm> for Listed {
    fn from(algorithm: &'static ElectionAlgorithm) -> Self {
        Self::Election {
            name: algorithm.name,
            implemented_by: algorithm.implemented_by,
            paper: algorithm.paper,
            arrangement: algorithm.arrangement,
            graph: algorithm.ground.to_string(),
            messages: algorithm.messages,
            needs: algorithm.needs,
            channels: in_words(algorithm.channels),
            within_tmax: algorithm.within_tmax,
            detector: algorithm.detector,
            stands_crashes: algorithm.stands_crashes,
            most_nodes: algorithm.most_nodes,
        }
    }
}

fn locks() -> impl Iterator<Item = Listed> {
    let lock = |lock: lab::measure::contention::Measurable| Listed::Lock {
        name: lock.name,
        most_threads: (lock.most_threads < usize::MAX).then_some(lock.most_threads),
    };
    measurables().into_iter().map(lock)
}

impl List {
    pub(crate) fn run(&self) -> Outcome {
        if self.markdown {
            let table = match (self.brief, self.elections) {
                (true, _) => brief(),
                (_, true) => elections(),
                _ => markdown(),
            };
            say(table.trim_end());
            return Ok(true);
        }
        let broken =
            |&Broken { name, why, violates }: &Broken| Listed::Broken { name, why, violates };
        let groups: [(&str, Vec<Listed>); 6] = [
            (
                "Algorithms (`lab messages`, `lab check`, `lab diagram`)",
                ALGORITHMS.iter().map(Listed::from).collect(),
            ),
            (
                "Elections (`lab elect`, `lab check`, `lab diagram`)",
                ELECTIONS.iter().map(Listed::from).collect(),
            ),
            ("Locks beside their peers (`lab locks`)", locks().collect()),
            (
                "Locks over registers (`lab check`)",
                RegisterLock::ALL.map(|it| Listed::RegisterLock { name: it.name() }).into(),
            ),
            (
                "Locks that start from an election (`lab check`)",
                ELECTED.iter().map(|name| Listed::ElectedLock { name }).collect(),
            ),
            (
                "Broken on purpose, to be refuted (`lab check`, `lab diagram`)",
                BROKEN.iter().map(broken).collect(),
            ),
        ];
        for (title, listed) in groups {
            if self.json {
                listed.iter().for_each(say_json);
            } else {
                say(format_args!("{title}\n{}", listed.iter().map(line).collect::<String>()));
            }
        }
        Ok(true)
    }
}

/// A line for people; two of an algorithm.
fn line(listed: &Listed) -> String {
    match listed {
        Listed::Algorithm {
            name,
            paper,
            family,
            arrangement,
            messages_per_entry,
            order,
            channels,
            several_entries,
            within_tmax,
            nodes,
            ..
        } => {
            let on = arrangement.map_or_else(String::new, |it| format!(", {it}"));
            let k = if *several_entries { "; k inside at a time, 1 to n-1" } else { "" };
            let tmax = if *within_tmax { ", within Tmax" } else { "" };
            format!(
                "  {name:26}{paper}, {family}{on}; {nodes} nodes{k}\n  {:26}messages per entry: \
                 {messages_per_entry}; served: {order}; channels: {channels}{tmax}\n",
                ""
            )
        }
        Listed::Election { name, paper, arrangement, graph, messages, needs, .. } => {
            let on = arrangement.map_or_else(String::new, |it| format!(", {it}"));
            format!(
                "  {name:26}{paper}{on}; on: {graph}\n  {:26}messages: {messages}; needs: {needs}\n",
                ""
            )
        }
        Listed::Lock { name, most_threads: None } => format!("  {name}\n"),
        Listed::Lock { name, most_threads: Some(most) } => {
            format!("  {name:26}at most {most} threads\n")
        }
        Listed::RegisterLock { name } | Listed::ElectedLock { name } => format!("  {name}\n"),
        Listed::Broken { name, why, violates } => format!("  {name:32}{violates}: {why}\n"),
    }
}

/// The algorithms as a table: one row for each that is not an arrangement of another.
fn markdown() -> String {
    let mut table = "| algorithm | paper | messages per entry | order of service | channels |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.arrangement.is_none()) {
        let Algorithm { name, paper, messages, order, .. } = algorithm;
        let channels = match algorithm.channels {
            Channels::AnyOrder if algorithm.within_tmax => "any order, **within Tmax**",
            Channels::AnyOrder => "any order",
            Channels::Fifo => "**first in, first out**",
        };
        writeln!(table, "| `{name}` | {paper} | {messages} | {order} | {channels} |")
            .expect("a string takes it");
    }
    table
}

/// The elections as a table.
fn elections() -> String {
    let mut table = "| election | paper | on | messages | needs | stands crashes |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    for election in ELECTIONS {
        let ElectionAlgorithm { name, paper, ground, messages, needs, .. } = election;
        let with = election.arrangement.map_or_else(String::new, |it| format!(", {it}"));
        let stands = if election.stands_crashes { "yes" } else { "no" };
        writeln!(
            table,
            "| `{name}` | {paper}{with} | {ground} | {messages} | {needs} | {stands} |"
        )
        .expect("a string takes it");
    }
    table
}

/// The same algorithms, with their costs.
fn brief() -> String {
    let mut table = "| algorithm | messages per entry |\n|---|---|\n".to_owned();
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.arrangement.is_none()) {
        let Algorithm { name, messages, .. } = algorithm;
        writeln!(table, "| `{name}` | {messages} |").expect("a string takes it");
    }
    table
}

fn channels(algorithm: &Algorithm) -> &'static str {
    in_words(algorithm.channels)
}

fn in_words(channels: Channels) -> &'static str {
    match channels {
        Channels::AnyOrder => "any order",
        Channels::Fifo => "first in, first out",
    }
}

/// The numbers of nodes for which an algorithm can be built: a range, or the first of those that
/// its arrangement allows.
fn sizes(algorithm: &'static Algorithm) -> String {
    let able = |nodes: &usize| fits(algorithm, Size::of(*nodes));
    let few: Vec<_> = (2..=31).filter(able).collect();
    if few.len() == 30 {
        return format!("2 to {}", algorithm.most_nodes);
    }
    let more = if (32..=64).any(|nodes| able(&nodes)) { ", …" } else { "" };
    few.iter().map(usize::to_string).collect::<Vec<_>>().join(", ") + more
}
