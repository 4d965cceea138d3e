//! `lab list`.

use std::fmt::Write;

use clap::Args;
use exclusion::message::Channels;
use exclusion::message::registry::{ALGORITHMS, Algorithm, ELECTIONS, ElectionAlgorithm, Size};
use lab::explore::broken::{BROKEN, Broken};
use lab::explore::elected::ELECTED;
use lab::explore::scope::RegisterLock;
use lab::label::wrapped;
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
  cargo lab list --markdown --elections")]
pub(crate) struct List {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Print the table of algorithms that the documentation has
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// The table of elections that the documentation has
    #[arg(long, requires = "markdown")]
    elections: bool,
}

/// An entry of the list.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Listed {
    Algorithm {
        name: &'static str,
        what: String,
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
        what: String,
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
        what: &'static str,
        /// None if there is no limit, or if it is not measured.
        most_threads: Option<usize>,
        /// Whether `lab locks` measures it.
        measured: bool,
        /// Whether `lab check` explores it, register by register.
        explored: bool,
    },
    /// A lock that starts from an election.
    #[serde(rename = "lock")]
    ElectedLock { name: &'static str, what: String },
    Broken {
        name: &'static str,
        /// What is wrong with it.
        what: &'static str,
        violates: &'static str,
    },
}

impl From<&'static Algorithm> for Listed {
    fn from(algorithm: &'static Algorithm) -> Self {
        let on = algorithm.arrangement.map_or_else(String::new, |it| format!(", {it}"));
        let messages = algorithm.messages.replace("**", "");
        Self::Algorithm {
            name: algorithm.name,
            what: format!("{}{on}; per entry: {messages}", algorithm.paper),
            implemented_by: algorithm.implemented_by,
            paper: algorithm.paper,
            family: algorithm.family.to_string(),
            arrangement: algorithm.arrangement,
            messages_per_entry: messages,
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
        let on = algorithm.arrangement.map_or_else(String::new, |it| format!(", {it}"));
        let (ground, messages) = (algorithm.ground, algorithm.messages);
        Self::Election {
            name: algorithm.name,
            what: format!("{}{on}; on: {ground}; messages: {messages}", algorithm.paper),
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

/// What is measured, and what is only explored.
fn locks() -> Vec<Listed> {
    let explored = |name: &str| RegisterLock::named(name).is_some();
    let measured = measurables().into_iter().map(|lock| Listed::Lock {
        name: lock.name,
        what: what_is(lock.name),
        most_threads: (lock.most_threads < usize::MAX).then_some(lock.most_threads),
        measured: true,
        explored: explored(lock.name),
    });
    let measured: Vec<_> = measured.collect();
    let others = RegisterLock::ALL.map(RegisterLock::name).into_iter();
    let others = others.filter(|name| measurables().iter().all(|lock| lock.name != *name));
    let others = others.map(|name| Listed::Lock {
        name,
        what: what_is(name),
        most_threads: None,
        measured: false,
        explored: true,
    });
    let others: Vec<_> = others.collect();
    measured.into_iter().chain(others).collect()
}

/// A lock in a few words.
fn what_is(lock: &str) -> &'static str {
    match lock {
        "bakery" => "BakeryMutex::lock: strict order of arrival",
        "bakery_with" => "BakeryMutex::with: strict order, sections run by one thread",
        "bakery_bypass" => "BakeryMutex<T, Bypass>: newcomers may pass for a while",
        "tournament" => "TournamentMutex: a tree of locks for two",
        "rw_bakery" => "the bakery with readers, over registers",
        "rw_bakery_of_two" => "the same, with at most two readers at a time",
        "black_white" => "Taubenfeld's bakery with bounded tickets",
        "std" => "std::sync::Mutex",
        "parking_lot" => "parking_lot::Mutex",
        "parking_lot_fair" => "parking_lot::FairMutex",
        "spin_ticket" => "spin::mutex::TicketMutex",
        "mcs" => "mcslock's queue lock, whose waiters yield",
        name if name.starts_with("bakery_bypass_") => {
            "BakeryMutex<T, Bypass<COUNT, MICROSECONDS>>: other bounds"
        }
        name if name.starts_with("peterson2") => "Peterson's lock for two, from owned seats",
        name if name.starts_with("bakery2") => "the bakery for two, from owned seats",
        _ => "",
    }
}

impl List {
    pub(crate) fn run(&self) -> Outcome {
        if self.markdown {
            let table = if self.elections { elections() } else { markdown() };
            say(table.trim_end());
            return Ok(true);
        }
        let broken =
            |&Broken { name, why, violates }: &Broken| Listed::Broken { name, what: why, violates };
        let groups: [(&str, Vec<Listed>); 5] = [
            (
                "Algorithms (`lab messages`, `lab check`, `lab diagram`)",
                ALGORITHMS.iter().map(Listed::from).collect(),
            ),
            (
                "Elections (`lab elect`, `lab check`, `lab diagram`)",
                ELECTIONS.iter().map(Listed::from).collect(),
            ),
            ("Locks (`lab locks`; those over registers `lab check`)", locks()),
            (
                "Locks that start from an election (`lab check`)",
                ELECTED
                    .iter()
                    .map(|name| Listed::ElectedLock { name, what: started(name) })
                    .collect(),
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

/// A lock that starts from an election, in a few words.
fn started(name: &str) -> String {
    let (lock, election) = name.split_once("_by_").unwrap_or((name, "election"));
    format!("{lock}, whose start is settled by {election}")
}

/// A line for people.
fn line(listed: &Listed) -> String {
    let (name, what) = match listed {
        Listed::Algorithm { name, what, .. } | Listed::Election { name, what, .. } => {
            (name, what.clone())
        }
        Listed::Lock { name, what, most_threads, .. } => {
            let most =
                most_threads.map_or_else(String::new, |it| format!("; at most {it} threads"));
            (name, format!("{what}{most}"))
        }
        Listed::ElectedLock { name, what } => (name, what.clone()),
        Listed::Broken { name, what, violates } => (name, format!("{violates}: {what}")),
    };
    wrapped(&format!("  {name:26} "), &what)
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
