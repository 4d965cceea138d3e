//! `lab diagram`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use exclusion::message::Trace;
use exclusion::message::actor::DataOf;
use exclusion::message::registry::{Algorithm, Shipped, Size, Visitor};
use lab::draw::diagram::{Diagram, Unit};
use lab::draw::recording::record;
use lab::draw::shiviz::shiviz;
use lab::draw::sketch::Sketch;
use lab::explore::broken::{BROKEN, with_broken};
use lab::explore::exploration::{Explored, Shown};

use super::check::Explore;
use super::{Outcome, prepare, say, write};

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
    /// How many nodes [default: as many as show best what it does]
    #[arg(long)]
    nodes: Option<usize>,
    /// How many entries; of actors, how many each [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    entries: Option<u32>,
    /// Where chance starts from, in a simulation [default: 1]
    #[arg(long)]
    seed: Option<u64>,
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
    const ENTRIES: u32 = 4;
    const SEED: u64 = 1;

    /// More would be no picture that anybody looks at.
    const MOST_NODES: usize = 64;

    pub(crate) fn run(&self) -> Outcome {
        let Self { algorithm, from, .. } = self;
        let needless = [
            ("--nodes", self.nodes.is_some() && *from == From::Counterexample),
            ("--entries", self.entries.is_some() && *from == From::Counterexample),
            ("--seed", self.seed.is_some() && *from != From::Simulation),
        ];
        if let Some((option, _)) = needless.into_iter().find(|(_, needless)| *needless) {
            return Err(format!("{option} means nothing for what is drawn: leave it out"));
        }
        let output = self.output.clone();
        let output = output.unwrap_or_else(|| PathBuf::from(format!("{algorithm}.svg")));
        let (nodes, entries) = (
            self.nodes.unwrap_or_else(|| {
                Algorithm::named(algorithm).map_or(3, |algorithm| algorithm.nodes_to_show)
            }),
            self.entries.unwrap_or(Self::ENTRIES),
        );
        let (trace, nodes, title, unit) = match from {
            From::Simulation => {
                let seed = self.seed.unwrap_or(Self::SEED);
                let sketch = Sketch { entries: u64::from(entries), seed };
                let title = format!("{algorithm}, {nodes} nodes, seed {seed}");
                (self.with_cluster(nodes, sketch)??, nodes, title, Unit::MessageDelay)
            }
            From::Actors => {
                let title = format!("{algorithm}, {nodes} nodes as threads");
                (self.with_cluster(nodes, Record(entries))??, nodes, title, Unit::Microsecond)
            }
            From::Counterexample => {
                let (trace, nodes, title) = counterexample(algorithm)?;
                (trace, nodes, title, Unit::Step)
            }
        };
        prepare(&output, "--output")?;
        if let Some(path) = &self.shiviz {
            prepare(path, "--shiviz")?;
            write(path, &shiviz(&trace), "--shiviz")?;
            say(format_args!("wrote {}", path.display()));
        }
        let diagram = Diagram { title: &title, unit, nodes, widest: Self::WIDEST };
        write(&output, &diagram.svg(&trace), "--output")?;
        say(format_args!("wrote {}", output.display()));
        Ok(true)
    }

    fn with_cluster<V: Visitor>(&self, nodes: usize, visitor: V) -> Result<V::Output, String> {
        if nodes > Self::MOST_NODES {
            return Err(format!(
                "{nodes} nodes are too many to draw: take at most {}",
                Self::MOST_NODES
            ));
        }
        let built = Algorithm::named(&self.algorithm)
            .and_then(|algorithm| algorithm.build(Size::of(nodes), visitor));
        built.map_err(|error| {
            let broken = BROKEN.iter().any(|broken| broken.name == self.algorithm);
            let hint = if broken {
                "; to draw what is wrong with it, take --from counterexample"
            } else {
                ""
            };
            format!("{error}{hint}")
        })
    }
}

/// What is wrong with a broken variant, in the shortest way.
fn counterexample(name: &str) -> Result<(Trace, usize, String), String> {
    let Some(broken) = BROKEN.iter().find(|broken| broken.name == name) else {
        let names: Vec<_> = BROKEN.iter().map(|broken| broken.name).collect();
        return Err(format!(
            "no broken variant is called '{name}'; there are {}",
            names.join(", ")
        ));
    };
    let explored = with_broken(name, Explore::default()).expect("it is listed");
    match broken.counterexample(&explored) {
        Some(Shown::Trace(trace)) => {
            Ok((trace.clone(), explored.nodes, format!("{name}: {}", broken.why)))
        }
        Some(Shown::Text(_)) => Err(format!(
            "{name} is about registers, which send no messages to draw: `lab check --broken` shows it in words"
        )),
        None => Err(format!("{name} was not refuted")),
    }
}

/// Draws the first counterexample of an exploration, if it has one. Says what was done.
pub(super) fn draw_counterexample(explored: &Explored, path: &Path) -> Result<String, String> {
    let found = explored.refuted().find_map(|finding| match &finding.counterexample {
        Some(Shown::Trace(trace)) => Some((finding.property, trace)),
        _ => None,
    });
    let Some((property, trace)) = found else {
        // What may lie there is not of this exploration.
        std::fs::remove_file(path).map_err(|error| error.to_string())?;
        return Ok(format!("{}: there is no counterexample to draw", explored.algorithm));
    };
    let title = format!("{}: '{property}' does not hold", explored.algorithm);
    let (nodes, widest) = (explored.nodes, DiagramCommand::WIDEST);
    let diagram = Diagram { title: &title, unit: Unit::Step, nodes, widest };
    write(path, &diagram.svg(trace), "--diagram")?;
    Ok(format!("wrote {}", path.display()))
}

/// A run among threads.
struct Record(u32);

impl Visitor for Record {
    type Output = Result<Trace, String>;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> Self::Output
    where
        DataOf<P, ()>: Send + Sync,
    {
        record(cluster, self.0)
    }
}
