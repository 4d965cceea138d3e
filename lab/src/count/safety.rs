//! What it costs to be safe: messages per entry and client delay of an algorithm as it is in its
//! paper, over a link, and with link, detector and recovery; while nothing goes wrong, and while
//! messages are lost.

use std::fmt::Write;

use exclusion::message::registry::{Algorithm, RegistryError, Shipped, Visitor};
use exclusion::message::sim::{Delay, Fault, SimError, Simulation, Workload};
use exclusion::message::{Detector, Link, Protocol, Recovering};
use serde::Serialize;

use super::faults::size;

/// What an entry costs on average.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Price {
    /// Messages per entry, without heartbeats.
    pub messages: f64,
    /// Heartbeats per T: they are sent whether anybody asks or not.
    pub heartbeats: f64,
    /// From asking to entering, in T.
    pub delay: f64,
}

/// What safety costs an algorithm.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Safety {
    /// The algorithm.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// As it is in its paper.
    pub plain: Price,
    /// Over a link.
    pub link: Price,
    /// With a link, a detector and recovery.
    pub recovering: Price,
    /// The same, where a tenth of all messages is lost.
    pub losing: Price,
}

/// How many seeds each is run with.
const SEEDS: u64 = 4;

/// How many entries there are for each node.
const ROUNDS: u64 = 20;

/// Which part of the messages is lost, where some are.
const LOST: f64 = 0.1;

impl Safety {
    /// Measures an algorithm in the simulator.
    ///
    /// # Errors
    /// If there is no such cluster, or a run goes wrong.
    pub fn of(algorithm: &'static Algorithm) -> Result<Self, String> {
        let measured: Result<_, RegistryError> = algorithm.build(size(algorithm), Measure);
        let measured = measured.map_err(|error| error.to_string())?;
        measured.map_err(|error| format!("{algorithm}: {error}"))
    }
}

struct Measure;

impl Visitor for Measure {
    type Output = Result<Safety, SimError>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let recovering = Recovering::over(algorithm, cluster.clone()).expect("it is a cluster");
        let stack: Vec<_> = Link::over(recovering).into_iter().map(Detector::reliable).collect();
        Ok(Safety {
            algorithm: algorithm.name,
            nodes: cluster.len(),
            plain: price(&cluster, 0.0)?,
            link: price(&Link::over(cluster), 0.0)?,
            recovering: price(&stack, 0.0)?,
            losing: price(&stack, LOST)?,
        })
    }
}

/// The mean over some runs in which each user asks again 2 to 20 T after it has left.
fn price<P: Protocol>(cluster: &[P], lost: f64) -> Result<Price, SimError> {
    let (mut entries, mut messages, mut heartbeats) = (0, 0, 0);
    let (mut delay, mut time) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let wanting = cluster.len();
        let workload = Workload::Saturated { wanting, entries: ROUNDS * wanting as u64 };
        let report = Simulation::new(cluster.to_vec())
            .delay(Delay::Uniform(0.5, 1.0))
            .workload(workload)
            .outside(Delay::Uniform(2.0, 20.0))
            .seed(seed)
            .fault_at(0.0, Fault::Lose(lost))
            .run()?;
        let beats = report.messages.of("HEARTBEAT");
        entries += report.entries;
        messages += report.messages.total() - beats;
        heartbeats += beats;
        delay += report.client_delay.map_or(0.0, |delay| delay.mean) / SEEDS as f64;
        time += report.end.as_units();
    }
    Ok(Price {
        messages: messages as f64 / entries as f64,
        heartbeats: heartbeats as f64 / time,
        delay,
    })
}

/// The prices as a table for the documentation, a row for each algorithm.
pub fn markdown(prices: &[Safety]) -> String {
    let mut table = "\
| algorithm | nodes | plain | delay | link | delay | link, detector, recovery | delay \
| a tenth lost | delay |
|---|---|---|---|---|---|---|---|---|---|
"
    .to_owned();
    for Safety { algorithm, nodes, plain, link, recovering, losing } in prices {
        write!(table, "| `{algorithm}` | {nodes} |").expect("a string takes it");
        for Price { messages, delay, .. } in [plain, link, recovering, losing] {
            write!(table, " {messages:.1} | {delay:.1} T |").expect("a string takes it");
        }
        table.push('\n');
    }
    table
}
