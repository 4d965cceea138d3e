//! `lab diagram`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use exclusion::protocol::{Protocol, Trace};
use lab::broken::{BROKEN, with_broken};
use lab::catalogue::{Visitor, with_cluster};
use lab::diagram::{Diagram, Unit};
use lab::exploration::{Explored, Shown};
use lab::recording::record;
use lab::shiviz::shiviz;
use lab::sketch::Sketch;

use super::check::Explore;
use super::{Outcome, say, write};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab diagram ricart_agrawala --nodes 3 --seed 1
  lab diagram maekawa --nodes 4 --output maekawa.svg
  lab diagram suzuki_kasami --from actors
  lab diagram maekawa_1985 --from counterexample
  lab diagram naimi_trehel --nodes 5 --shiviz naimi_trehel.log")]
pub(crate) struct DiagramCommand {
    /// The algorithm to draw; or a variant of `check --broken`, to draw its counterexample
    algorithm: String,
    /// Where what is drawn comes from
    #[arg(long, default_value = "simulation")]
    from: From,
    /// How many nodes
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// How many entries; of actors, how many each
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    entries: u32,
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// A simulated run: the same for the same seed
    Simulation,
    /// A run among threads, as it happened
    Actors,
    /// What a checker found wrong with a broken variant, in the shortest way
    Counterexample,
}

impl DiagramCommand {
    const WIDEST: u32 = 1200;

    pub(crate) fn run(&self) -> Outcome {
        let Self { algorithm, nodes, entries, seed, .. } = self;
        let (trace, title, unit) = match self.from {
            From::Simulation => {
                let sketch = Sketch { entries: u64::from(*entries), seed: *seed };
                let title = format!("{algorithm}, {nodes} nodes, seed {seed}");
                (self.with_cluster(sketch)??, title, Unit::MessageDelay)
            }
            From::Actors => {
                let title = format!("{algorithm}, {nodes} nodes as threads");
                (self.with_cluster(Record(*entries))??, title, Unit::Microsecond)
            }
            From::Counterexample => {
                let (trace, title) = counterexample(algorithm)?;
                (trace, title, Unit::Step)
            }
        };
        let diagram = Diagram { title: &title, unit, widest: Self::WIDEST };
        let default = || PathBuf::from(format!("{algorithm}.svg"));
        write(&self.output.clone().unwrap_or_else(default), &diagram.svg(&trace), "--output")?;
        if let Some(path) = &self.shiviz {
            write(path, &shiviz(&trace), "--shiviz")?;
        }
        Ok(true)
    }

    fn with_cluster<V: Visitor>(&self, visitor: V) -> Result<V::Output, String> {
        with_cluster(&self.algorithm, self.nodes, visitor).map_err(|error| error.to_string())
    }
}

/// What is wrong with a broken variant, in the shortest way.
fn counterexample(name: &str) -> Result<(Trace, String), String> {
    let Some(broken) = BROKEN.iter().find(|broken| broken.name == name) else {
        let names: Vec<_> = BROKEN.iter().map(|broken| broken.name).collect();
        return Err(format!(
            "no broken variant is called '{name}'; there are {}",
            names.join(", ")
        ));
    };
    let explored = with_broken(name, Explore::default()).expect("it is listed");
    match broken.counterexample(&explored) {
        Some(Shown::Trace(trace)) => Ok((trace.clone(), format!("{name}: {}", broken.why))),
        Some(Shown::Text(_)) => Err(format!(
            "{name} is about registers, which send no messages to draw: `lab check --broken` shows it in words"
        )),
        None => Err(format!("{name} was not refuted")),
    }
}

/// Draws the first counterexample of an exploration that has one.
pub(super) fn draw_counterexample(explored: &Explored, path: &Path) -> Result<(), String> {
    let found = explored.refuted().find_map(|finding| match &finding.counterexample {
        Some(Shown::Trace(trace)) => Some((finding.property, trace)),
        _ => None,
    });
    let Some((property, trace)) = found else {
        say(format_args!("{}: there is no counterexample to draw", explored.algorithm));
        return Ok(());
    };
    let title = format!("{}: '{property}' does not hold", explored.algorithm);
    let diagram = Diagram { title: &title, unit: Unit::Step, widest: DiagramCommand::WIDEST };
    write(path, &diagram.svg(trace), "--diagram")
}

/// A run among threads.
struct Record(u32);

impl Visitor for Record {
    type Output = Result<Trace, String>;

    fn visit<P>(self, _: &'static str, cluster: Vec<P>) -> Self::Output
    where
        P: Protocol<Message: Send> + Send + 'static,
    {
        record(cluster, self.0)
    }
}
