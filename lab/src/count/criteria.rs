//! The three criteria by which these algorithms are compared: bandwidth, client delay and synchronization delay; and how
//! the work is spread over the nodes.

use std::fmt::Write;

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::sim::{Delay, Report, Simulation, Workload};
use serde::Serialize;

use super::messages::{Load, Measure};

/// What an algorithm costs by each criterion. None where it does not get that far: plain voting deadlocks.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// What its formula says of the messages, in its own words.
    pub formula: &'static str,
    /// Messages an entry on average, one node after the other;
    pub alone: Option<f64>,
    /// now and then a node, at random;
    pub light: Option<f64>,
    /// and all nodes always.
    pub saturated: Option<f64>,
    /// From wanting in to being inside, with hardly ever anybody else about, on average, in units of T.
    pub client_delay: Option<f64>,
    /// From one's leaving to the next one's entering, when all always want in, on average, in units of T.
    pub sync_delay: Option<f64>,
    /// Messages that each node sends or receives for an entry of anybody, when all always want in.
    pub load: Vec<f64>,
}

/// Compares a cluster by all criteria.
#[derive(Clone, Copy, Debug)]
pub struct Compare {
    /// Where chance starts from.
    pub seed: u64,
}

impl Compare {
    const ROUNDS: u64 = 40;
}

impl Visitor for Compare {
    type Output = Row;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Row {
        let nodes = cluster.len();
        let mean = |load| {
            let row = Measure { load, seed: self.seed }.measure(algorithm, cluster.clone());
            row.error.is_none().then_some(row.mean)
        };
        // Messages and stays take exactly T, so that delays come out in whole T.
        let run = |workload| -> Option<Report> {
            let delay = Delay::Constant(1.0);
            let simulation = Simulation::new(cluster.clone()).seed(self.seed).delay(delay);
            simulation.workload(workload).run().ok()
        };
        let entries = Self::ROUNDS * nodes as u64;
        // So seldom that nobody meets another; and not in turn, for that is the order of a ring.
        let alone = run(Workload::Poisson { rate: 0.001, entries });
        let saturated = run(Workload::Saturated { wanting: nodes, entries });
        let load = saturated.as_ref().map_or_else(Vec::new, |report| {
            report.load.iter().map(|&count| count as f64 / report.entries as f64).collect()
        });
        Row {
            algorithm: algorithm.name,
            nodes,
            formula: P::cost(&cluster).expect("every algorithm has a formula").formula,
            alone: mean(Load::Alone),
            light: mean(Load::Light),
            saturated: mean(Load::Saturated),
            client_delay: alone.and_then(|report| report.client_delay).map(|delay| delay.mean),
            sync_delay: saturated.and_then(|report| report.sync_delay).map(|delay| delay.mean),
            load,
        }
    }
}

/// A figure, or that there is none.
pub fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

/// Rows as a table that a person can read.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:26}{:>6}{:>9}{:>9}{:>11}{:>14}{:>12}{:>14}\n",
        "algorithm",
        "nodes",
        "alone",
        "light",
        "saturated",
        "client delay",
        "sync delay",
        "busiest node"
    );
    for row in rows {
        let busiest = row.load.iter().copied().reduce(f64::max);
        let [alone, light, saturated, client, sync, busiest] =
            [row.alone, row.light, row.saturated, row.client_delay, row.sync_delay, busiest]
                .map(figure);
        writeln!(
            text,
            "{:26}{:>6}{alone:>9}{light:>9}{saturated:>11}{client:>12} T{sync:>10} T{busiest:>14}",
            row.algorithm, row.nodes,
        )
        .expect("a string takes it");
    }
    text
}
