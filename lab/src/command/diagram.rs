//! `lab diagram`.

use std::path::PathBuf;

use clap::Args;
use exclusion::protocol::{Protocol, Trace};
use exclusion::sim::{Delay, Simulation, Workload};
use lab::catalogue::{Visitor, with_cluster};
use lab::diagram::{shiviz, svg};

use super::{Outcome, say};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab diagram ricart_agrawala --nodes 3 --seed 1
  lab diagram maekawa --nodes 4 --output maekawa.svg
  lab diagram naimi_trehel --nodes 5 --shiviz naimi_trehel.log")]
pub(crate) struct Diagram {
    /// The algorithm to draw
    algorithm: String,
    /// How many nodes
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// How many entries
    #[arg(long, default_value_t = 4)]
    entries: u64,
    /// Where chance starts from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to write the picture [default: the algorithm's name and .svg]
    #[arg(long)]
    output: Option<PathBuf>,
    /// Also write a log for ShiViz
    #[arg(long)]
    shiviz: Option<PathBuf>,
}

impl Diagram {
    pub(crate) fn run(&self) -> Outcome {
        let run = Traced { entries: self.entries, seed: self.seed };
        let trace =
            with_cluster(&self.algorithm, self.nodes, run).map_err(|error| error.to_string())??;
        let Self { algorithm, nodes, seed, .. } = self;
        let picture = svg(&trace, &format!("{algorithm}, {nodes} nodes, seed {seed}"));
        let output =
            self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{algorithm}.svg")));
        write(&output, &picture)?;
        if let Some(path) = &self.shiviz {
            write(path, &shiviz(&trace))?;
        }
        Ok(true)
    }
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| {
        format!("{} cannot be written ({error}): name another with --output", path.display())
    })?;
    say(format_args!("wrote {}", path.display()));
    Ok(())
}

/// A small simulated run.
struct Traced {
    entries: u64,
    seed: u64,
}

impl Visitor for Traced {
    type Output = Result<Trace, String>;

    fn visit<P: Protocol>(self, _: &'static str, cluster: Vec<P>) -> Self::Output {
        let simulation = Simulation::new(cluster)
            .seed(self.seed)
            .delay(Delay::Uniform(0.6, 1.4))
            .workload(Workload::Poisson { rate: 0.7, entries: self.entries })
            .traced();
        let outcome = simulation.run();
        // A run that ends in a deadlock is worth a picture too.
        match outcome {
            Ok(report) => Ok(report.trace.unwrap_or_default()),
            Err(error) => error.trace.clone().ok_or_else(|| error.to_string()),
        }
    }
}
