//! `lab messages`.

use clap::Args;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Size};
use lab::count::criteria::{self, Compare};
use lab::count::messages::{AtWaiting, Load, Measure, table, waiting_table};
use lab::label::wrapped;
use serde::Serialize;

use super::names;
use super::registry::{Fits, WithEntries, algorithm, fits};
use super::{Outcome, say, say_aside, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab messages
  cargo lab messages --algorithms lamport,ricart_agrawala --nodes 4,16
  cargo lab messages --algorithms maekawa --loads alone,saturated --json
  cargo lab messages --algorithms raymond_k --nodes 16 --k 2
  cargo lab messages --algorithms raymond,naimi_trehel --nodes 1000000
  cargo lab messages --criteria
  cargo lab messages --algorithms banta_efficient,banta_k --nodes 50 --waiting 1,5,10,25,49")]
pub(crate) struct Messages {
    /// Algorithms to run, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_parser = names::name)]
    algorithms: Vec<String>,
    /// Numbers of nodes, separated by commas [default: ten sizes from 2 to 16, those that the
    /// algorithm allows]
    #[arg(long, value_delimiter = ',')]
    nodes: Vec<usize>,
    /// How many users may be inside at a time, for the algorithms that let in several [default: a
    /// third of the nodes]
    #[arg(long)]
    k: Option<usize>,
    /// Loads, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    loads: Vec<Load>,
    /// Numbers of waiting requests, separated by commas: counts Banta's chapters 5 and 6 beside the
    /// thesis's formula [default: 50 nodes]
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["loads", "seed"])]
    waiting: Vec<usize>,
    /// Compare by messages per entry, client delay, synchronization delay and load [default: 16
    /// nodes, or the most that the algorithm allows]
    #[arg(long, conflicts_with_all = ["waiting", "loads"])]
    criteria: bool,
    /// The seed of the simulations
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object per row instead of tables
    #[arg(long)]
    json: bool,
}

impl Messages {
    /// The default sizes.
    const NODES: [usize; 10] = [2, 3, 4, 6, 7, 9, 10, 13, 15, 16];

    /// The default size for Banta's cycles.
    const WAITING_NODES: [usize; 1] = [50];

    /// Counts messages, prints the rows, and says whether all are as the formulas say.
    pub(crate) fn run(&self) -> Outcome {
        if self.criteria {
            self.run_criteria()
        } else if self.waiting.is_empty() {
            self.run_loads()
        } else {
            self.run_waiting()
        }
    }

    fn run_criteria(&self) -> Outcome {
        let mut rows = Vec::new();
        for (algorithm, sizes) in self.clusters(&Self::NODES)? {
            // Of the usual sizes, the largest.
            let first = if self.nodes.is_empty() { sizes.len() - 1 } else { 0 };
            for &size in &sizes[first..] {
                let row = algorithm.build(size, WithEntries(Compare { seed: self.seed }));
                rows.push(row.map_err(|error| error.to_string())?);
            }
        }
        if self.json {
            for (entries_at_a_time, row) in &rows {
                say_json(&Compared { row, entries_at_a_time: *entries_at_a_time });
            }
            return Ok(true);
        }
        let several: Vec<_> = rows
            .iter()
            .filter(|(k, _)| *k > 1)
            .map(|(k, row)| format!("{k} of {} nodes in {}", row.nodes, row.algorithm))
            .collect();
        say(criteria::table(&rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()));
        if !several.is_empty() {
            let several = format!("Inside at a time may be {}.", several.join(", "));
            say(wrapped("", &several).trim_end());
        }
        Ok(true)
    }

    fn run_waiting(&self) -> Outcome {
        let clusters = self.clusters(&Self::WAITING_NODES)?;
        let waiting = || self.waiting.iter().copied().map(AtWaiting);
        for size in clusters.iter().flat_map(|(_, sizes)| sizes) {
            waiting().try_for_each(|waiting| waiting.check(size.nodes))?;
        }
        let mut rows = Vec::new();
        for (algorithm, sizes) in clusters {
            for size in sizes {
                for waiting in waiting() {
                    let row = algorithm.build(size, waiting);
                    rows.push(row.map_err(|error| error.to_string())??);
                }
            }
        }
        if self.json {
            rows.iter().for_each(say_json);
        } else {
            say(waiting_table(&rows));
        }
        Ok(rows.iter().all(|row| row.ok))
    }

    fn run_loads(&self) -> Outcome {
        let mut all_ok = true;
        for (algorithm, sizes) in self.clusters(&Self::NODES)? {
            let mut rows = Vec::new();
            for size in sizes {
                for load in self.loads() {
                    let row = algorithm.build(size, Measure { load, seed: self.seed });
                    rows.push(row.map_err(|error| error.to_string())?);
                }
            }
            all_ok &= rows.iter().all(|row| row.ok);
            if self.json {
                rows.iter().for_each(say_json);
            } else {
                say(table(&rows));
            }
        }
        Ok(all_ok)
    }

    fn loads(&self) -> Vec<Load> {
        if self.loads.is_empty() { Load::ALL.to_vec() } else { self.loads.clone() }
    }

    /// The algorithms that were named, or all to which the question applies.
    fn chosen(&self) -> Result<Vec<&'static Algorithm>, String> {
        // Algorithms with cycles rely on Tmax.
        let in_cycles = |it: &Algorithm| it.within_tmax || self.waiting.is_empty();
        if self.algorithms.is_empty() {
            let able = |it: &&Algorithm| in_cycles(it) && (it.several_entries || self.k.is_none());
            return Ok(ALGORITHMS.iter().filter(able).collect());
        }
        let named: Result<Vec<_>, _> = self.algorithms.iter().map(|name| algorithm(name)).collect();
        let named = named?;
        if let Some(other) = named.iter().find(|it| !in_cycles(it)) {
            let cyclic = ALGORITHMS.iter().filter(|it| in_cycles(it)).map(|it| it.name);
            let cyclic = cyclic.collect::<Vec<_>>().join(", ");
            return Err(format!("--waiting is for {cyclic}: '{other}' has no cycles"));
        }
        Ok(named)
    }

    /// The clusters to run, at least one per algorithm. All of them can be built. If the algorithms
    /// were not named, a size that an algorithm does not allow is skipped with a notice.
    fn clusters(&self, usual: &[usize]) -> Result<Vec<(&'static Algorithm, Vec<Size>)>, String> {
        let nodes = if self.nodes.is_empty() { usual } else { &self.nodes };
        let (named, told) = (!self.algorithms.is_empty(), !self.nodes.is_empty());
        let mut clusters = Vec::new();
        let mut left_out: Vec<Vec<&str>> = vec![Vec::new(); nodes.len()];
        let mut why = None;
        for algorithm in self.chosen()? {
            let mut sizes = Vec::new();
            for (&nodes, left_out) in nodes.iter().zip(&mut left_out) {
                let size = Size { nodes, entries: self.k };
                match algorithm.build(size, Fits) {
                    Ok(()) => sizes.push(size),
                    Err(error) if named && told => return Err(error.to_string()),
                    Err(error) => {
                        left_out.push(algorithm.name);
                        why = Some(error);
                    }
                }
            }
            if !sizes.is_empty() {
                clusters.push((algorithm, sizes));
            } else if named && let Some(why) = &why {
                return Err(why.to_string());
            }
        }
        if clusters.is_empty() {
            return Err(why.map_or_else(String::new, |why| why.to_string()));
        }
        for (nodes, names) in
            nodes.iter().zip(left_out).filter(|(_, names)| told && !names.is_empty())
        {
            let names = names.join(", ");
            say_aside(format_args!(
                "not for {nodes} nodes: {names} (named with --algorithms, each says why)"
            ));
        }
        Ok(clusters)
    }
}

/// The default sizes that an algorithm allows.
pub(super) fn usual_sizes(algorithm: &'static Algorithm) -> Vec<Size> {
    let sizes = Messages::NODES.map(Size::of).into_iter();
    sizes.filter(|&size| fits(algorithm, size)).collect()
}

/// A comparison, and how many may be inside at a time.
#[derive(Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    row: &'a criteria::Row,
    entries_at_a_time: usize,
}
