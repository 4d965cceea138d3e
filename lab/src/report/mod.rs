//! One page that shows what the lab found: locks, messages, explorations, and every algorithm with
//! a diagram.
//!
//! The page is made from [`Findings`], which its caller has measured. It needs no network. A script
//! in it steps through the runs; without it each picture shows its run as a whole.

mod algorithms;
mod explorations;
mod failures;
mod fair;
mod html;
mod locks;
mod messages;
mod opening;
pub mod stories;

use exclusion::message::Trace;

use crate::count::{criteria, elections, messages as counted};
use crate::draw::recovery::Recovery;
use crate::draw::scene::Scene;
use crate::explore::broken::Broken;
use crate::explore::exploration::Explored;
use crate::explore::faults::Cell;
use crate::measure::contention;
use crate::played::Played;

/// The variant whose counterexample is shown.
pub const COUNTEREXAMPLE: &str = "maekawa_1985";

/// What the page is made from.
#[derive(Debug, Default)]
pub struct Findings {
    /// Locks under contention.
    pub locks: Vec<contention::Row>,
    /// Messages per entry, for all sizes and loads.
    pub messages: Vec<counted::Row>,
    /// Messages per entry of Banta's algorithms, by how many wait.
    pub waiting: Vec<counted::WaitingRow>,
    /// The algorithms by all criteria, at the largest size of each.
    pub criteria: Vec<criteria::Row>,
    /// What was explored and holds.
    pub explored: Vec<Explored>,
    /// What is broken on purpose and was refuted.
    pub broken: Vec<(Broken, Explored)>,
    /// A small run of each algorithm.
    pub sketches: Vec<(&'static Scene, Trace, Played)>,
    /// A small run of each election.
    pub elections: Vec<elections::Row>,
    /// Runs in which a node dies and the others go on.
    pub recoveries: Vec<Recovery>,
    /// What a fault does to each algorithm.
    pub faults: Vec<Cell>,
}

/// Which commands have measured what, as they are typed after `cargo lab`.
#[derive(Clone, Debug)]
pub struct Commands {
    /// The uncontended locks.
    pub uncontended: String,
    /// The locks under contention.
    pub contended: String,
    /// The locks under contention, beside busy threads.
    pub busy: String,
    /// Messages per entry.
    pub messages: String,
    /// Banta's algorithms, by how many wait.
    pub waiting: String,
    /// The criteria.
    pub criteria: String,
}

/// The page.
pub fn page(findings: &Findings, commands: &Commands) -> String {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let lead = format!(
        "<p>Mutual exclusion built from reads and writes, and from messages: what the lab \
         measured, counted and explored in one run on a machine with {cores} cores. Below each \
         figure is the command that makes it.</p>\n{}",
        opening::lead(findings)
    );
    let sections = [
        fair::section(findings, commands),
        locks::section(findings, commands),
        messages::section(findings, commands),
        failures::section(findings),
        explorations::section(findings),
        algorithms::section(findings),
    ];
    html::page("exclusion: what the lab found", &lead, &sections)
}
