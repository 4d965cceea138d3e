//! The three criteria by which these algorithms are compared: bandwidth, client delay and
//! synchronization delay; and how the work is spread over the nodes. The worst cases stand beside
//! the means.

use std::fmt::Write;

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::sim::{Delay, Report, Simulation, Spread, Workload};
use serde::Serialize;

use crate::label::wrapped;

use super::chains::{hand_overs, spread, undisturbed};
use super::messages::{Load, Measure};

/// The least, the mean and the most of a figure.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub most: f64,
}

impl From<Spread> for Range {
    fn from(Spread { min, mean, max }: Spread) -> Self {
        Self { least: min, mean, most: max }
    }
}

/// What an algorithm costs by each criterion. None if the run ends before: plain voting deadlocks.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// What its formula says of the messages, in its own words.
    pub formula: &'static str,
    /// Messages per entry on average, one node after the other;
    pub alone: Option<f64>,
    /// a node at random, at a light load;
    pub light: Option<f64>,
    /// and all nodes always.
    pub saturated: Option<f64>,
    /// The mean client delay at a light load, in units of T: from wanting in to being inside.
    pub client_delay: Option<f64>,
    /// The mean synchronization delay when all always want in, in units of T: from an exit to the
    /// next entry.
    pub sync_delay: Option<f64>,
    /// Messages that each node sends or receives per entry of any node, when all always want in.
    pub load: Vec<f64>,
    /// Messages of the dearest entry, one node after the other;
    pub alone_worst: Option<f64>,
    /// and of the dearest episode at a light load.
    pub light_worst: Option<f64>,
    /// The longest client delay of those in the mean, in units of T.
    pub client_delay_worst: Option<f64>,
    /// The longest synchronization delay of those in the mean, in units of T.
    pub sync_delay_worst: Option<f64>,
    /// Messages of an entry, without contention.
    pub entry_messages: Option<Range>,
    /// Messages of an exit, without contention.
    pub exit_messages: Option<Range>,
    /// The longest causal chain of messages from the request to the entry, without contention.
    pub client_messages: Option<Range>,
    /// The longest causal chain of messages from an exit to the next entry, when all want in and
    /// when two do. If the cluster never rests, also when one does, whose own next entry counts.
    pub sync_messages: Option<Range>,
}

/// Compares a cluster by all criteria.
#[derive(Clone, Copy, Debug)]
pub struct Compare {
    /// The seed of the simulation.
    pub seed: u64,
}

impl Compare {
    const ROUNDS: u64 = 40;

    /// Traced runs are cut to about this many messages.
    const WRITTEN: f64 = 100_000.0;

    /// Messages and stays take exactly T, so that delays come out in whole T.
    fn simulation<P: Shipped>(self, cluster: &[P], workload: Workload) -> Simulation<P> {
        let simulation = Simulation::new(cluster.to_vec()).seed(self.seed);
        simulation.delay(Delay::Constant(1.0)).workload(workload)
    }

    /// Fills in what can only be read from traces.
    fn read_traces<P: Shipped>(self, cluster: &[P], row: &mut Row) {
        let nodes = cluster.len();
        let dearest = row.light.unwrap_or(1.0).max(row.saturated.unwrap_or(1.0)).max(1.0);
        let affordable = (Self::WRITTEN / dearest) as u64;
        let entries = (Self::ROUNDS * nodes as u64).min(affordable.max(nodes as u64));
        let trace = |workload| {
            let report = self.simulation(cluster, workload).traced().run().ok()?;
            report.trace
        };
        let alone = trace(Workload::Poisson { rate: 0.001, entries });
        let alone = alone.map_or_else(Vec::new, |trace| undisturbed(&trace, P::RESTS));
        let range = |counts: Vec<u64>| spread(counts).map(Range::from);
        row.entry_messages = range(alone.iter().map(|it| it.entering).collect());
        row.exit_messages = range(alone.iter().map(|it| it.leaving).collect());
        row.client_messages = range(alone.iter().map(|it| it.chain).collect());
        let wanting = [nodes, 2, 1].into_iter().filter(|&wanting| wanting > 1 || !P::RESTS);
        let saturated =
            wanting.filter_map(|wanting| trace(Workload::Saturated { wanting, entries }));
        row.sync_messages =
            range(saturated.flat_map(|trace| hand_overs(&trace, !P::RESTS)).collect());
    }
}

impl Visitor for Compare {
    type Output = Row;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Row {
        let nodes = cluster.len();
        let measure = |load| {
            let row = Measure { load, seed: self.seed }.measure(algorithm, cluster.clone());
            row.error.is_none().then_some((row.mean, row.max))
        };
        let run = |workload| -> Option<Report> { self.simulation(&cluster, workload).run().ok() };
        let entries = Self::ROUNDS * nodes as u64;
        // So seldom that there is no contention. Not in turn, since that is the order of a ring.
        let seldom = run(Workload::Poisson { rate: 0.001, entries });
        let busy = run(Workload::Saturated { wanting: nodes, entries });
        let load = busy.as_ref().map_or_else(Vec::new, |report| {
            report.load.iter().map(|&count| count as f64 / report.entries as f64).collect()
        });
        let [alone, light, saturated] = [Load::Alone, Load::Light, Load::Saturated].map(measure);
        let client_delay = seldom.and_then(|report| report.client_delay);
        let sync_delay = busy.and_then(|report| report.sync_delay);
        let mut row = Row {
            algorithm: algorithm.name,
            nodes,
            formula: P::cost(&cluster).expect("every algorithm has a formula").formula,
            alone: alone.map(|(mean, _)| mean),
            light: light.map(|(mean, _)| mean),
            saturated: saturated.map(|(mean, _)| mean),
            client_delay: client_delay.map(|delay| delay.mean),
            sync_delay: sync_delay.map(|delay| delay.mean),
            load,
            alone_worst: alone.map(|(_, most)| most),
            light_worst: light.map(|(_, most)| most),
            client_delay_worst: client_delay.map(|delay| delay.max),
            sync_delay_worst: sync_delay.map(|delay| delay.max),
            entry_messages: None,
            exit_messages: None,
            client_messages: None,
            sync_messages: None,
        };
        self.read_traces(&cluster, &mut row);
        row
    }
}

/// A figure, or that there is none.
pub fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

/// The least and the most of a count, or that there is none.
fn from_to(range: Option<Range>) -> String {
    match range {
        None => "-".to_owned(),
        Some(Range { least, most, .. }) if least == most => format!("{least}"),
        Some(Range { least, most, .. }) => format!("{least}-{most}"),
    }
}

/// Rows as a table that a person can read.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:25}{:>6}{:>7}{:>7}{:>10}{:>8}{:>8}{:>9}\n",
        "algorithm", "nodes", "alone", "light", "saturated", "client", "sync", "busiest"
    );
    for row in rows {
        let busiest = figure(row.load.iter().copied().reduce(f64::max));
        let delay = |delay| format!("{} T", figure(delay));
        writeln!(
            text,
            "{:25}{:>6}{:>7}{:>7}{:>10}{:>8}{:>8}{busiest:>9}",
            row.algorithm,
            row.nodes,
            figure(row.alone),
            figure(row.light),
            figure(row.saturated),
            delay(row.client_delay),
            delay(row.sync_delay),
        )
        .expect("a string takes it");
        let more = format!(
            "at worst: alone {}, light {}; enter {}, leave {}; chains: client {}, sync {}",
            figure(row.alone_worst),
            figure(row.light_worst),
            from_to(row.entry_messages),
            from_to(row.exit_messages),
            from_to(row.client_messages),
            from_to(row.sync_messages),
        );
        text += &wrapped("  ", &more);
    }
    text.push_str(
        "Messages per entry: one node after the other, a node at random now and then, and\n\
         all always. client, sync: the delays from the request to the entry, and from an\n\
         exit to the next entry; their chains are the messages that follow from each\n\
         other. enter, leave: least to most, without contention.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use exclusion::message::registry::Size;

    fn row(name: &str, nodes: usize) -> Row {
        let algorithm = Algorithm::named(name).expect("it is in the registry");
        algorithm.build(Size::of(nodes), Compare { seed: 1 }).expect("it can be built")
    }

    #[test]
    fn entering_and_leaving_cost_what_the_source_says() {
        let n = 8;
        let most = |range: Option<Range>| range.expect("it was measured").most as usize;
        for (name, enter, leave, client, sync) in [
            ("central_coordinator", 2, 1, 2, 2),
            ("ricart_agrawala", 2 * (n - 1), 0, 2, 1),
            ("token_ring", n - 1, 1, n, n),
        ] {
            let row = row(name, n);
            let most_of =
                [row.entry_messages, row.exit_messages, row.client_messages, row.sync_messages];
            assert_eq!(most_of.map(most), [enter, leave, client, sync], "{name}");
        }
        let ring = row("token_ring", n);
        assert_eq!(ring.client_messages.expect("it was measured").least, 0.0);
        assert_eq!(ring.sync_messages.expect("it was measured").least, 1.0);
    }

    #[test]
    fn worst_cases_are_no_better_than_means() {
        for name in ["carvalho_roucairol", "raymond", "suzuki_kasami_ring", "maekawa"] {
            let row = row(name, 9);
            for (mean, worst) in [
                (row.alone, row.alone_worst),
                (row.light, row.light_worst),
                (row.client_delay, row.client_delay_worst),
                (row.sync_delay, row.sync_delay_worst),
            ] {
                let (mean, worst) = (mean.expect("measured"), worst.expect("measured"));
                assert!(worst >= mean, "{name}: {worst} after {mean}");
            }
        }
        assert!(row("raymond", 9).light_worst > row("raymond", 9).light, "some are dearer");
    }
}
