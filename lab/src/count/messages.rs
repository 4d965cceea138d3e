//! Messages per entry: measured in the simulator, beside the formula.

use std::fmt::Write;
use std::ops::RangeInclusive;

use clap::ValueEnum;
use exclusion::message::Cost;
use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::sim::{Delay, Simulation, Workload};
use serde::Serialize;

use crate::label::{label, wrapped};

/// The load of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// One node after the other, each when the cluster is silent
    Alone,
    /// A node at random, now and then
    Light,
    /// All nodes at the same moment, again and again
    All,
    /// All nodes always
    Saturated,
}

impl Load {
    /// Every load.
    pub const ALL: [Self; 4] = [Self::Alone, Self::Light, Self::All, Self::Saturated];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Light => "light",
            Self::All => "all",
            Self::Saturated => "saturated",
        }
    }

    /// A workload of about this many entries; at least one per node.
    fn workload(self, nodes: usize, entries: u64) -> Workload {
        let entries = entries.max(nodes as u64);
        match self {
            Self::Alone => Workload::InTurn { rounds: 1 },
            Self::Light => Workload::Poisson { rate: 0.001, entries },
            Self::All => Workload::AllAtOnce { rounds: entries.div_ceil(nodes as u64) },
            Self::Saturated => Workload::Saturated { wanting: nodes, entries },
        }
    }

    /// What the formula promises for this load.
    fn promise(self, cost: &Cost) -> &RangeInclusive<f64> {
        if self == Self::Alone { &cost.alone } else { &cost.contended }
    }
}

/// What one algorithm costs under one load.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// How many may be inside at a time.
    pub entries_at_a_time: usize,
    /// The load.
    pub load: Load,
    /// How many entries there were.
    pub entries: u64,
    /// Messages per entry: the least of any episode between two moments of silence,
    pub min: f64,
    /// over the whole run,
    pub mean: f64,
    /// and the most.
    pub max: f64,
    /// What the algorithm's formula says, in its own words,
    pub formula: &'static str,
    /// at least,
    pub least: f64,
    /// and at most: null if there is no bound.
    pub most: f64,
    /// Whether the formula holds: exactly if alone, else within the bounds.
    pub ok: bool,
    /// Why the run failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Measures a cluster under a load.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The load.
    pub load: Load,
    /// The seed of the simulation.
    pub seed: u64,
}

impl Measure {
    /// Runs are cut to about this many messages.
    const MESSAGES: f64 = 2_000_000.0;
    const ENTRIES_PER_NODE: u64 = 100;
}

impl Visitor for Measure {
    type Output = Row;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Row {
        self.measure(algorithm, cluster)
    }
}

impl Measure {
    /// Measures any cluster.
    pub(crate) fn measure<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Row {
        let Self { load, seed } = self;
        let (nodes, entries_at_a_time) = (cluster.len(), cluster[0].entries_at_a_time());
        let cost = P::cost(&cluster).expect("every algorithm of the registry has a formula");
        let promise = load.promise(&cost).clone();
        // Without a bound on messages, only the entries are bounded.
        let most = if promise.end().is_finite() { promise.end().max(1.0) } else { 1.0 };
        let affordable = (Self::MESSAGES / most) as u64;
        let entries = affordable.min(Self::ENTRIES_PER_NODE * nodes as u64);
        let delay =
            if load == Load::Alone { Delay::Constant(1.0) } else { Delay::Exponential(1.0) };
        let run = Simulation::new(cluster)
            .seed(seed)
            .delay(delay)
            .workload(load.workload(nodes, entries))
            .run();
        let mut row = Row {
            algorithm: algorithm.name,
            nodes,
            entries_at_a_time,
            load,
            entries: 0,
            min: 0.0,
            mean: 0.0,
            max: 0.0,
            formula: cost.formula,
            least: *promise.start(),
            most: *promise.end(),
            ok: false,
            error: None,
        };
        match run {
            Ok(report) => {
                let measured = report.per_entry.expect("there were entries");
                row.entries = report.entries;
                (row.min, row.mean, row.max) = (measured.min, measured.mean, measured.max);
                row.ok = if load == Load::Alone {
                    (measured.min, measured.max) == (row.least, row.most)
                } else {
                    promise.contains(&measured.min) && promise.contains(&measured.max)
                };
            }
            Err(error) => row.error = Some(error.to_string()),
        }
        row
    }
}

/// What Banta's algorithms cost when m requests wait at the beginning of each cycle.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingRow {
    /// Its name.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// How many may be inside at a time.
    pub entries_at_a_time: usize,
    /// How many requests wait: m.
    pub waiting: usize,
    /// Messages per entry, over many cycles.
    pub mean: f64,
    /// What the formula says, without messages to oneself.
    pub formula: f64,
    /// What the thesis says.
    pub thesis: f64,
    /// Whether it is exactly as the formula says.
    pub ok: bool,
}

/// Measures a cluster at m waiting. Chapter 6, which lets in several, has another formula than
/// chapter 5.
#[derive(Clone, Copy, Debug)]
pub struct AtWaiting(pub usize);

impl AtWaiting {
    /// Checks that this many of the nodes can wait.
    ///
    /// # Errors
    /// If not, and how many can.
    pub fn check(self, nodes: usize) -> Result<(), String> {
        let Self(waiting) = self;
        if waiting == 0 || waiting >= nodes {
            return Err(format!("{waiting} of {nodes} nodes cannot wait: take 1 to {}", nodes - 1));
        }
        Ok(())
    }
}

impl Visitor for AtWaiting {
    type Output = Result<WaitingRow, String>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let Self(waiting) = self;
        let (nodes, entries_at_a_time) = (cluster.len(), cluster[0].entries_at_a_time());
        self.check(nodes)?;
        let several = usize::from(algorithm.several_entries);
        // Of m+1 nodes that want in, the good site is outside when its cycle begins. The first
        // cycles are left out.
        let sent = |cycles: u64| {
            let workload =
                Workload::Saturated { wanting: waiting + 1, entries: cycles * waiting as u64 };
            let simulation = Simulation::new(cluster.clone())
                .inside(Delay::Constant(100.0))
                .outside(Delay::Constant(10.0))
                .workload(workload);
            simulation
                .run()
                .map(|report| report.messages.total())
                .map_err(|error| error.to_string())
        };
        let mean = (sent(60)? - sent(20)?) as f64 / (40 * waiting) as f64;
        let share = |messages: usize| messages as f64 / waiting as f64;
        let formula = share(nodes - 1 - several) + 1.0 + several as f64;
        let thesis = share(nodes) + 1.0 + several as f64;
        let ok = (mean - formula).abs() < 1e-9;
        Ok(WaitingRow {
            algorithm: algorithm.name,
            nodes,
            entries_at_a_time,
            waiting,
            mean,
            formula,
            thesis,
            ok,
        })
    }
}

/// Rows at m waiting as a table.
pub fn waiting_table(rows: &[WaitingRow]) -> String {
    let mut text = format!(
        "{:43}{:>33}\n{:26}{:>8}{:>9}{:>11}{:>11}{:>11}\n",
        "", "messages per entry", "algorithm", "nodes", "waiting", "measured", "formula", "thesis"
    );
    for row in rows {
        let verdict = if row.ok { "ok" } else { "NOT OK" };
        writeln!(
            text,
            "{:26}{:>8}{:>9}{:>11.2}{:>11.2}{:>11.2}  {verdict}",
            label(row.algorithm, row.entries_at_a_time),
            row.nodes,
            row.waiting,
            row.mean,
            row.formula,
            row.thesis
        )
        .expect("a string takes it");
    }
    text
}

/// Rows as a table that a person can read.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:40}{:>16}\n{:26}{:>5} {:9}{:>7}{:>8}  formula\n",
        "", "messages per entry", "algorithm", "nodes", "load", "mean", "max"
    );
    for row in rows {
        let verdict = match (&row.error, row.ok) {
            (Some(error), _) => format!("FAILED: {error}"),
            (None, true) => "ok".to_owned(),
            (None, false) => "NOT OK".to_owned(),
        };
        let promised = if row.least == row.most {
            format!("{}", row.least)
        } else {
            let most = if row.most.is_finite() { row.most.to_string() } else { "any".to_owned() };
            format!("{} to {most}", row.least)
        };
        let head = format!(
            "{:26}{:>5} {:9}{:>7.2}{:>8.2}  ",
            label(row.algorithm, row.entries_at_a_time),
            row.nodes,
            row.load.name(),
            row.mean,
            row.max,
        );
        text += &wrapped(&head, &format!("{} = {promised}: {verdict}", row.formula));
    }
    text
}
