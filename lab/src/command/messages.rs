//! `lab messages`.

use clap::Args;
use lab::catalogue::{NAMES, NoCluster, with_cluster};
use lab::messages::{Load, Measure, table};

use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab messages
  lab messages --algorithms lamport,ricart_agrawala --nodes 4,16,64
  lab messages --algorithms maekawa --loads alone,saturated --json")]
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
    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object a row instead of tables
    #[arg(long)]
    json: bool,
}

/// A part of it, for the tour.
pub(crate) fn taste() -> Outcome {
    let loads = vec![Load::Alone, Load::Saturated];
    Messages { algorithms: Vec::new(), nodes: vec![7], loads, seed: 1, json: false }.run()
}

impl Messages {
    const NODES: [usize; 10] = [2, 3, 4, 6, 7, 9, 10, 13, 15, 16];

    /// Counts messages, prints what comes, and says whether all was as the formulas say.
    pub(crate) fn run(&self) -> Outcome {
        let algorithms: Vec<&str> = if self.algorithms.is_empty() {
            NAMES.to_vec()
        } else {
            self.algorithms.iter().map(String::as_str).collect()
        };
        let nodes = if self.nodes.is_empty() { &Self::NODES[..] } else { &self.nodes };
        // A size that was not asked for, for this algorithm by name, is left out where it cannot be.
        let may_skip = self.nodes.is_empty() || self.algorithms.is_empty();

        let mut all_ok = true;
        for algorithm in algorithms {
            let mut rows = Vec::new();
            for &nodes in nodes {
                for load in self.loads_for(algorithm) {
                    match with_cluster(algorithm, nodes, Measure { load, seed: self.seed }) {
                        Ok(row) => rows.push(row),
                        Err(NoCluster::Unfit(..)) if may_skip && nodes >= 2 => {}
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

    fn loads_for(&self, algorithm: &str) -> impl Iterator<Item = Load> {
        let loads = if self.loads.is_empty() { Load::ALL.to_vec() } else { self.loads.clone() };
        // Under contention it deadlocks, which is its point.
        let deadlocks = algorithm == "maekawa_voting";
        loads.into_iter().filter(move |&load| load == Load::Alone || !deadlocks)
    }
}
