//! `lab diagram`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exclusion::message::Trace;
use exclusion::message::actor::DataOf;
use exclusion::message::registry::{Algorithm, ElectionAlgorithm, Shipped, Size, Visitor};
use lab::count::elections::{TOLD, sketch};
use lab::draw::diagram::{Diagram, Unit};
use lab::draw::recording::record;
use lab::draw::scene::Scene;
use lab::draw::shiviz::shiviz;
use lab::draw::sketch::{Befallen, Sketch};
use lab::explore::broken::{BROKEN, Broken, with_broken};
use lab::explore::exploration::{Explored, Shown};
use lab::label::label;

use super::destination::Destination;
use super::explore::Explore;
use super::fates::Fates;
use super::names::{self, did_you_mean};
use super::registry::{WithEntries, algorithm, election};
use super::{Outcome, say, say_aside};

#[derive(Args)]
#[command(after_help = "\
An election with crashes, a cut or a graph of one's choice is drawn by `lab elect --diagram`.

Examples:
  cargo lab diagram carvalho_roucairol
  cargo lab diagram ricart_agrawala --nodes 3 --seed 1
  cargo lab diagram maekawa --nodes 4 --output maekawa.svg
  cargo lab diagram suzuki_kasami --from actors
  cargo lab diagram raymond_k --nodes 5 --k 3 --output -
  cargo lab diagram bully --nodes 5
  cargo lab diagram raymond --crash 0@4 --recover 0@12 --output crash.svg
  cargo lab diagram suzuki_kasami --nodes 5 --entries 8 --cut 0+1@4-15 --pause 3@2-6
  cargo lab diagram maekawa_1985
  cargo lab diagram naimi_trehel --nodes 5 --shiviz naimi_trehel.log")]
pub(crate) struct DiagramCommand {
    /// The algorithm to draw; or a broken variant, to draw its counterexample (`lab list` names
    /// them)
    #[arg(value_parser = names::name)]
    algorithm: String,
    /// What to draw [default: a simulated run that shows what is its own; counterexample for a
    /// broken variant]
    #[arg(long)]
    from: Option<From>,
    /// How many nodes [default: chosen for each algorithm]
    #[arg(long)]
    nodes: Option<usize>,
    /// How many users may be inside at a time, for the algorithms that let in several [default: a
    /// third of the nodes]
    #[arg(long)]
    k: Option<usize>,
    /// How many entries; for actors, how many of each node [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    entries: Option<u32>,
    /// The seed of a simulation at random [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Where to write the picture; `-` is the standard output [default: the algorithm's name and
    /// .svg]
    #[arg(long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    fates: Fates,
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
    /// A shortest counterexample of a broken variant
    Counterexample,
}

impl DiagramCommand {
    const WIDEST: u32 = 1200;
    const ENTRIES: u32 = 4;
    const SEED: u64 = 1;

    /// A larger picture would not be readable.
    const MOST_NODES: usize = 64;

    pub(crate) fn run(&self) -> Outcome {
        let name = &self.algorithm;
        let usual = match Broken::named(name) {
            Some(_) => From::Counterexample,
            None => From::Simulation,
        };
        let from = self.from.unwrap_or(usual);
        self.refuse_needless(from)?;
        let picture = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.svg")));
        let picture = Destination::new(&picture, "--output");
        let log = self.shiviz.as_ref().map(|path| Destination::new(path, "--shiviz"));
        if log.is_some_and(|log| log.is_same_as(picture)) {
            return Err(
                "the picture and the log would be the same file: name another with --shiviz"
                    .to_owned(),
            );
        }
        let entries = self.entries.unwrap_or(Self::ENTRIES);
        let drawn = match from {
            From::Simulation if ElectionAlgorithm::named(name).is_ok() => self.election()?,
            From::Actors if ElectionAlgorithm::named(name).is_ok() => {
                return Err(
                    "elections are drawn as they are simulated: leave --from actors out".to_owned()
                );
            }
            From::Simulation if !self.fates.is_empty() => self.befallen(entries)?,
            From::Simulation if self.is_usual() => {
                let scene = Scene::of(algorithm(name)?.name).expect("each has a scene");
                let title = format!("{name}, {} nodes", scene.nodes);
                let (nodes, unit) = (scene.nodes, Unit::MessageDelay);
                Drawn { title, nodes, unit, trace: scene.trace()?, violated: None }
            }
            From::Simulation => {
                let seed = self.seed.unwrap_or(Self::SEED);
                let sketch = Sketch { entries: u64::from(entries), seed };
                self.run_of_a_cluster(sketch, Unit::MessageDelay, |label, nodes| {
                    format!("{label}, {nodes} nodes, seed {seed}")
                })?
            }
            From::Actors => {
                self.run_of_a_cluster(Record(entries), Unit::Microsecond, |label, nodes| {
                    format!("{label}, {nodes} nodes as threads")
                })?
            }
            From::Counterexample => counterexample(name)?,
        };
        picture.prepare()?;
        let said = |line: String| {
            let aside =
                picture.is_standard_output() || log.is_some_and(Destination::is_standard_output);
            if aside { say_aside(line) } else { say(line) }
        };
        let Drawn { title, nodes, unit, trace, violated } = &drawn;
        if let Some(log) = log {
            log.prepare()?;
            log.write(&shiviz(trace))?;
            said(log.written());
        }
        let (nodes, widest) = (*nodes, Self::WIDEST);
        let diagram = Diagram { title, unit: *unit, nodes, widest, violated: *violated };
        picture.write(&diagram.svg(trace))?;
        said(picture.written());
        Ok(true)
    }

    /// Whether it is left to us what is simulated: then it is what shows the algorithm best.
    fn is_usual(&self) -> bool {
        let Self { nodes, k, entries, seed, .. } = self;
        nodes.is_none() && k.is_none() && entries.is_none() && seed.is_none()
    }

    /// Refuses options that mean nothing for what is drawn.
    fn refuse_needless(&self, from: From) -> Result<(), String> {
        let counterexample = from == From::Counterexample;
        let needless = [
            ("--nodes", self.nodes.is_some() && counterexample),
            ("--k", self.k.is_some() && counterexample),
            ("--entries", self.entries.is_some() && counterexample),
            ("--seed", self.seed.is_some() && from != From::Simulation),
            (
                "what befalls nodes",
                !self.fates.is_empty()
                    && (from != From::Simulation
                        || ElectionAlgorithm::named(&self.algorithm).is_ok()),
            ),
        ];
        match needless.into_iter().find(|(_, needless)| *needless) {
            Some((option, _)) => {
                Err(format!("{option} means nothing for what is drawn: leave it out"))
            }
            None => Ok(()),
        }
    }

    /// An election as it is simulated: the highest node is down where that may be, and the lowest
    /// calls.
    fn election(&self) -> Result<Drawn, String> {
        let algorithm = election(&self.algorithm)?;
        if self.k.is_some() || self.entries.is_some() {
            return Err("an election lets nobody in: leave --k and --entries out".to_owned());
        }
        let nodes = self.nodes.unwrap_or(algorithm.nodes_to_show);
        if nodes > TOLD {
            return Err(format!("{nodes} nodes are too many to draw: take at most {TOLD}"));
        }
        let seed = self.seed.unwrap_or(Self::SEED);
        let row = sketch(algorithm, nodes, seed)?;
        let title = format!("{algorithm}, {nodes} nodes, seed {seed}");
        Ok(Drawn { title, nodes, unit: Unit::MessageDelay, trace: row.trace, violated: None })
    }

    /// A run of the algorithm where it recovers, and what befalls its nodes.
    fn befallen(&self, entries: u32) -> Result<Drawn, String> {
        let seed = self.seed.unwrap_or(Self::SEED);
        let nodes = self.nodes.unwrap_or(algorithm(&self.algorithm)?.nodes_to_show);
        let faults = self.fates.faults(nodes)?;
        let sketch = Sketch { entries: u64::from(entries), seed };
        let befallen = Befallen { sketch, faults: &faults };
        self.run_of_a_cluster(befallen, Unit::MessageDelay, |label, nodes| {
            format!("{label}, {nodes} nodes, recovering, seed {seed}")
        })
    }

    /// A run of a cluster of the algorithm.
    fn run_of_a_cluster<V: Visitor<Output = Result<Trace, String>>>(
        &self,
        visitor: V,
        unit: Unit,
        title: impl Fn(&str, usize) -> String,
    ) -> Result<Drawn, String> {
        let algorithm = algorithm(&self.algorithm)?;
        let nodes = self.nodes.unwrap_or(algorithm.nodes_to_show);
        if nodes > Self::MOST_NODES {
            return Err(format!(
                "{nodes} nodes are too many to draw: take at most {}",
                Self::MOST_NODES
            ));
        }
        let size = Size { nodes, entries: self.k };
        let (k, trace) =
            algorithm.build(size, WithEntries(visitor)).map_err(|error| error.to_string())?;
        let title = title(&label(algorithm.name, k), nodes);
        Ok(Drawn { title, nodes, unit, trace: trace?, violated: None })
    }
}

/// What is to be drawn.
struct Drawn {
    title: String,
    nodes: usize,
    unit: Unit,
    trace: Trace,
    /// What a counterexample violates.
    violated: Option<&'static str>,
}

/// A shortest counterexample of a broken variant.
fn counterexample(name: &str) -> Result<Drawn, String> {
    let Some(broken) = Broken::named(name) else {
        let names: Vec<_> = BROKEN.iter().map(|broken| broken.name).collect();
        return Err(format!(
            "{}no broken variant is called '{name}'; there are {}",
            did_you_mean(name),
            names.join(", ")
        ));
    };
    let explored = with_broken(name, Explore::default()).expect("it is listed");
    match broken.counterexample(&explored) {
        Some(Shown::Trace(trace)) => Ok(Drawn {
            title: format!("{name}: {}", broken.why),
            nodes: explored.nodes,
            unit: Unit::Step,
            trace: trace.clone(),
            violated: Some(broken.violates),
        }),
        Some(Shown::Text(_)) => Err(format!(
            "{name} is about registers, which send no messages to draw: \
             `lab check {name}` shows it in words"
        )),
        None => Err(format!("{name} was not refuted")),
    }
}

/// Draws the first counterexample of an exploration, if it has one. Says what was done.
pub(super) fn draw_counterexample(
    explored: &Explored,
    picture: Destination<'_>,
) -> Result<String, String> {
    let found = explored.refuted().find_map(|finding| match &finding.counterexample {
        Some(Shown::Trace(trace)) => Some((finding.property, trace)),
        _ => None,
    });
    let Some((property, trace)) = found else {
        // A file of that name is not of this exploration.
        picture.remove()?;
        return Ok(format!("{}: there is no counterexample to draw", explored.algorithm));
    };
    let title = format!("{}: '{property}' does not hold", explored.algorithm);
    let (nodes, widest) = (explored.nodes, DiagramCommand::WIDEST);
    let violated = Some(property);
    let diagram = Diagram { title: &title, unit: Unit::Step, nodes, widest, violated };
    picture.write(&diagram.svg(trace))?;
    Ok(picture.written())
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
