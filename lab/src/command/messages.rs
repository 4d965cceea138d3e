//! `lab messages`.

use clap::Args;
use exclusion::message::registry::{ALGORITHMS, Algorithm, RegistryError, Size};
use lab::count::criteria::{self, Compare};
use lab::count::messages::{AtWaiting, Load, Measure, table, waiting_table};

use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab messages
  lab messages --algorithms lamport,ricart_agrawala --nodes 4,16
  lab messages --algorithms maekawa --loads alone,saturated --json
  lab messages --algorithms raymond,naimi_trehel --nodes 1000000
  lab messages --criteria
  lab messages --algorithms banta_efficient,banta_k --nodes 50 --waiting 1,5,10,25,49")]
pub(crate) struct Messages {
    /// Algorithms to run, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Numbers of nodes, separated by commas [default: ten sizes from 2 to 16, as far as the algorithm can]
    #[arg(long, value_delimiter = ',')]
    nodes: Vec<usize>,
    /// How much is wanted, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    loads: Vec<Load>,
    /// Banta's chapters 5 and 6 with so many requests waiting, separated by commas, beside the thesis's formula
    #[arg(long, value_delimiter = ',')]
    waiting: Vec<usize>,
    /// Compare by bandwidth, client delay, synchronization delay and load [default: 16 nodes, or 15 or 13]
    #[arg(long, conflicts_with_all = ["waiting", "loads"])]
    criteria: bool,
    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object a row instead of tables
    #[arg(long)]
    json: bool,
}

impl Messages {
    /// The sizes that are measured unless told otherwise.
    pub(super) const NODES: [usize; 10] = [2, 3, 4, 6, 7, 9, 10, 13, 15, 16];

    /// The algorithms that go in cycles.
    const CYCLES: [&str; 4] =
        ["banta_efficient", "banta_efficient_hardened", "banta_k", "banta_k_hardened"];

    /// Counts messages, prints what comes, and says whether all was as the formulas say.
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
        for algorithm in self.chosen()? {
            if self.nodes.is_empty() {
                rows.extend(compare(algorithm, self.seed).map_err(|error| error.to_string())?);
            }
            for &nodes in &self.nodes {
                match algorithm.build(Size::of(nodes), Compare { seed: self.seed }) {
                    Ok(row) => rows.push(row),
                    Err(RegistryError::Unfit(..)) if self.algorithms.is_empty() && nodes >= 2 => {}
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
        if self.json {
            rows.iter().for_each(say_json);
        } else {
            say(criteria::table(&rows));
        }
        Ok(true)
    }

    /// The algorithms that were named, or all.
    fn chosen(&self) -> Result<Vec<&'static Algorithm>, String> {
        if self.algorithms.is_empty() {
            return Ok(ALGORITHMS.iter().collect());
        }
        let named = self.algorithms.iter().map(|name| Algorithm::named(name));
        named.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    fn run_waiting(&self) -> Outcome {
        let cyclic = |algorithm: &&Algorithm| Self::CYCLES.contains(&algorithm.name);
        let algorithms: Vec<_> = if self.algorithms.is_empty() {
            ALGORITHMS.iter().filter(cyclic).collect()
        } else {
            self.chosen()?
        };
        let nodes = if self.nodes.is_empty() { &[50][..] } else { &self.nodes };
        let mut rows = Vec::new();
        for algorithm in algorithms {
            if !cyclic(&algorithm) {
                let cycles = Self::CYCLES.join(", ");
                return Err(format!("--waiting is for {cycles}: '{algorithm}' has no cycles"));
            }
            for &nodes in nodes {
                for &waiting in &self.waiting {
                    let row = algorithm.build(Size::of(nodes), AtWaiting(waiting));
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
        let nodes = if self.nodes.is_empty() { &Self::NODES[..] } else { &self.nodes };
        // A size that was not asked for, for this algorithm by name, is left out where it cannot be.
        let may_skip = self.nodes.is_empty() || self.algorithms.is_empty();

        let mut all_ok = true;
        for algorithm in self.chosen()? {
            let mut rows = Vec::new();
            for &nodes in nodes {
                for load in self.loads() {
                    match algorithm.build(Size::of(nodes), Measure { load, seed: self.seed }) {
                        Ok(row) => rows.push(row),
                        Err(RegistryError::Unfit(..)) if may_skip && nodes >= 2 => {}
                        Err(error) => return Err(error.to_string()),
                    }
                }
            }
            all_ok &= rows.iter().all(|row| row.ok);
            if self.json {
                rows.iter().for_each(say_json);
            } else if !rows.is_empty() {
                say(table(&rows));
            }
        }
        Ok(all_ok)
    }

    fn loads(&self) -> Vec<Load> {
        if self.loads.is_empty() { Load::ALL.to_vec() } else { self.loads.clone() }
    }
}

/// An algorithm by all criteria, at the largest usual size that it can be for.
pub(super) fn compare(
    algorithm: &'static Algorithm,
    seed: u64,
) -> Result<Option<criteria::Row>, RegistryError> {
    for &nodes in Messages::NODES.iter().rev() {
        match algorithm.build(Size::of(nodes), Compare { seed }) {
            Err(RegistryError::Unfit(..)) => {}
            outcome => return outcome.map(Some),
        }
    }
    Ok(None)
}
