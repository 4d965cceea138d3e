//! The models that loom explores, and how they are run and counted.
//!
//! A model is an ordinary function over the shipped types. [`hold`] runs it to the end of its
//! search and prints how many executions that took; [`refuted`] runs it with one edge weakened, or
//! as it is if it is wrong on purpose, and wants loom to find an execution that goes wrong.

pub mod condvar;
pub mod deaf;
pub mod gate;
pub mod models;
pub mod pooled;
pub mod readers;

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use exclusion::lock::lines::Limits;

/// Branches in one execution. No model that holds comes near it.
const MOST_BRANCHES: usize = 10_000;

/// How much of a model loom explores.
#[derive(Clone, Copy)]
pub enum Search {
    /// Every execution.
    Exhaustive,
    /// Every execution with at most this many preemptions in all. Not exhaustive.
    Preemptions(usize),
}

fn explore(search: Search, model: fn(), executions: &Arc<AtomicUsize>) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = MOST_BRANCHES;
    builder.preemption_bound = match search {
        Search::Exhaustive => None,
        Search::Preemptions(most) => Some(most),
    };
    let executions = Arc::clone(executions);
    builder.check(move || {
        executions.fetch_add(1, Relaxed);
        exclusion::lock::time::stands_still();
        exclusion::lock::lines::limit(Limits::default());
        model();
    });
}

/// Says how many preemptions to search instead of those in the source.
const PREEMPTIONS: &str = "LOOM_TESTS_PREEMPTIONS";

/// Runs `model`, which must hold in every execution searched.
pub fn hold(name: &str, search: Search, model: fn()) {
    let search = match (search, std::env::var(PREEMPTIONS)) {
        (Search::Preemptions(_), Ok(most)) => {
            Search::Preemptions(most.parse().expect("a number of preemptions"))
        }
        (search, _) => search,
    };
    let executions = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    explore(search, model, &executions);
    let searched = match search {
        Search::Exhaustive => "exhaustive".to_owned(),
        Search::Preemptions(most) => format!("at most {most} preemptions"),
    };
    report(name, "holds", &searched, executions.load(Relaxed), start);
}

/// What goes wrong.
#[derive(Clone, Copy)]
pub enum Finding {
    /// Two at the data, or one that does not know what the last one did.
    Race,
    /// Two have won the raw lock of a drop-in type.
    TwoWinners,
    /// Everybody sleeps.
    Deadlock,
    /// A line that is not there yet, as far as the thread knows.
    NoLine,
}

impl Finding {
    fn message(self) -> &'static str {
        match self {
            Self::Race => "Causality violation",
            Self::TwoWinners => "two have won the raw lock",
            Self::Deadlock => "deadlock",
            Self::NoLine => "null pointer dereference",
        }
    }
}

/// What is wrong with a model that loom must refute.
#[derive(Clone, Copy)]
pub enum Wrong {
    /// The edge of this name is weakened.
    Weakened(&'static str),
    /// The model itself is wrong, in the way that this name says.
    OnPurpose(&'static str),
}

impl Wrong {
    fn name(self) -> &'static str {
        match self {
            Self::Weakened(name) | Self::OnPurpose(name) => name,
        }
    }
}

/// Runs `model`, which loom must refute. `test` is the name of the calling test.
///
/// The search runs in a process of its own, by calling the same test again: what loom finds is
/// often a deadlock, and a deadlocked model cannot be unwound.
pub fn refuted(test: &str, wrong: Wrong, finding: Finding, search: Search, model: fn()) {
    if std::env::var_os(CHILD).is_some() {
        return search_for_mistake(wrong, search, model);
    }
    let start = Instant::now();
    let child = Command::new(std::env::current_exe().expect("this test has a file"))
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("this test can be run again");
    let output = String::from_utf8_lossy(&child.stdout);
    let name = wrong.name();
    let (_, outcome) = output
        .lines()
        .find_map(|line| line.split_once(FOUND))
        .unwrap_or_else(|| panic!("loom does not notice what is wrong with {name}:\n{output}"));
    let (executions, found) = outcome.split_once(' ').expect("a count and what was found");
    assert!(found.contains(finding.message()), "{name} led to something else: {found}");
    report(name, "refuted", found, executions.parse().expect("a count"), start);
}

const CHILD: &str = "LOOM_TESTS_CHILD";
const FOUND: &str = "loom found after ";

/// Ends the process at the first panic, which is what loom found.
fn search_for_mistake(wrong: Wrong, search: Search, model: fn()) {
    let executions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executions);
    std::panic::set_hook(Box::new(move |info| {
        let found =
            info.payload_as_str().unwrap_or("a panic").lines().collect::<Vec<_>>().join(" ");
        println!("\n{FOUND}{} {found}", counted.load(Relaxed));
        std::process::exit(1);
    }));
    match wrong {
        Wrong::Weakened(edge) => {
            exclusion::lock::edge::weaken(edge, || explore(search, model, &executions));
        }
        Wrong::OnPurpose(_) => explore(search, model, &executions),
    }
    println!("nothing in {} executions", executions.load(Relaxed));
}

/// Straight to stderr, past the test harness, which would capture it.
fn report(name: &str, verdict: &str, how: &str, executions: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let line = format!("{verdict:8} {name:44} {executions:9} executions {seconds:7.2} s  {how}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr is writable");
}
