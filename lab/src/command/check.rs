//! `lab check`.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exclusion::message::Channels;
use exclusion::message::check::{Model, Timers, Users};
use indicatif::{ProgressBar, ProgressStyle};
use lab::explore::broken::{BROKEN, with_broken};
use lab::explore::erased::Erased;
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor, Shown};
use lab::explore::scope::{MOST_NODES, REGISTERS, Scope, all, soon, with_check};

use super::diagram::draw_counterexample;
use super::{Outcome, prepare, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab check ricart_agrawala --nodes 3
  lab check lamport --channels any
  lab check banta_efficient --nodes 3 --timers any-time
  lab check lamport --channels any --diagram lamport.svg
  lab check ricart_agrawala --nodes 2 --requests 1,4
  lab check raymond --nodes 3 --requests 3 --quick
  lab check --soon
  lab check --all --json
  lab check --broken
  lab check naimi_trehel --nodes 3 --explore")]
pub(crate) struct CheckCommand {
    /// The algorithm to explore
    #[arg(required_unless_present_any = ["all", "soon", "broken"])]
    algorithm: Option<String>,
    /// Every algorithm, as far as it is explored for the documentation
    #[arg(long, conflicts_with_all = ["algorithm", "explore"])]
    all: bool,
    /// A part of all that takes some seconds
    #[arg(long, conflicts_with_all = ["algorithm", "all", "explore"])]
    soon: bool,
    /// Every variant that is wrong on purpose: each must be refuted
    #[arg(long, conflicts_with_all = ["algorithm", "all", "soon", "explore"])]
    broken: bool,
    /// How many nodes
    #[arg(long, default_value_t = 3, conflicts_with_all = Self::LISTS)]
    nodes: usize,
    /// How many times each user wants in; node by node, separated by commas, where that differs
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "1",
        value_parser = clap::value_parser!(u8).range(0..=20),
        conflicts_with_all = Self::LISTS
    )]
    requests: Vec<u8>,
    /// In which order messages arrive [default: as the algorithm needs it]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    channels: Option<Order>,
    /// When timers run out [default: in-time]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    timers: Option<When>,
    /// Let users ask and leave only when no message is on its way, and claim a bound on how many pass one who waits, where the
    /// others want in often enough to break it
    #[arg(long, conflicts_with_all = Self::LISTS)]
    quick: bool,
    /// Give up after so many states, counted as often as they are come to
    #[arg(long, default_value_t = Self::MOST_STATES)]
    most_states: usize,
    /// Print one JSON object a row
    #[arg(long)]
    json: bool,
    /// Print rows as the documentation has them
    #[arg(long, conflicts_with_all = ["json", "explore"])]
    markdown: bool,
    /// Draw the first counterexample, as SVG
    #[arg(long, value_name = "PATH", conflicts_with_all = ["all", "soon", "broken", "explore"])]
    diagram: Option<PathBuf>,
    /// Show it in stateright's Explorer, on this machine only, until interrupted
    #[arg(long, conflicts_with_all = ["json", "most_states"])]
    explore: bool,
    /// At which port the Explorer listens
    #[arg(
        long,
        default_value_t = 3000,
        requires = "explore",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    port: u16,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// First in, first out
    Fifo,
    /// Any
    Any,
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    /// Only when nothing is on its way to the node or from it
    InTime,
    /// At any moment
    AnyTime,
}

impl CheckCommand {
    const MOST_STATES: usize = 1_000_000_000;

    /// What says by itself what is explored.
    const LISTS: [&str; 3] = ["all", "soon", "broken"];

    pub(crate) fn run(&self) -> Outcome {
        if self.most_states == 0 {
            return Err("--most-states takes 1 or more".to_owned());
        }
        if self.broken {
            return self.run_broken();
        }
        let scope = Scope {
            requests: self.requests()?,
            channels: self.channels.map(|order| match order {
                Order::Fifo => Channels::Fifo,
                Order::Any => Channels::AnyOrder,
            }),
            timers: match self.timers {
                None | Some(When::InTime) => Timers::InTime,
                Some(When::AnyTime) => Timers::AnyTime,
            },
            users: if self.quick { Users::Unhurried } else { Users::AnyTime },
        };
        let registers = |algorithm: &String| REGISTERS.contains(&algorithm.as_str());
        let of_messages = self.channels.is_some() || self.timers.is_some() || self.quick;
        if self.algorithm.as_ref().is_some_and(registers) && of_messages {
            return Err(
                "locks over registers have neither messages nor timers: leave those options out"
                    .to_owned(),
            );
        }
        let wanted = match self.algorithm.as_deref() {
            Some(algorithm) if self.explore => return self.serve(algorithm, &scope),
            Some(algorithm) => vec![(algorithm, scope)],
            None if self.soon => soon(),
            None => all(),
        };
        if let Some(path) = &self.diagram {
            prepare(path, "--diagram")?;
        }
        self.say_heading();
        let mut all_hold = true;
        for (algorithm, scope) in wanted {
            let explore = Explore { most_states: self.most_states };
            let explored =
                with_check(algorithm, &scope, explore).map_err(|error| error.to_string())?;
            all_hold &= explored.verdict == "holds";
            self.tell(&explored);
            if let Some(path) = &self.diagram {
                // The rows are on the standard output.
                eprintln!("{}", draw_counterexample(&explored, path)?);
            }
        }
        Ok(all_hold)
    }

    /// Serves a check to a browser on this machine.
    fn serve(&self, algorithm: &str, scope: &Scope) -> Outcome {
        let model = with_check(algorithm, scope, Forget).map_err(|error| error.to_string())?;
        let address = (Ipv4Addr::LOCALHOST, self.port);
        // The server would not say why it cannot.
        TcpListener::bind(address).map_err(|error| {
            format!("port {} cannot be had ({error}): name another with --port", self.port)
        })?;
        say(format_args!("{algorithm} at http://localhost:{}, until interrupted", self.port));
        model.checker().serve(address);
        Ok(true)
    }

    fn requests(&self) -> Result<Vec<u8>, String> {
        if self.nodes > MOST_NODES {
            return Err(format!("so many nodes would take too long: take at most {MOST_NODES}"));
        }
        match self.requests[..] {
            [each] => Ok(vec![each; self.nodes]),
            ref listed if listed.len() == self.nodes => Ok(listed.to_vec()),
            ref listed => Err(format!(
                "--requests has {} numbers for {} nodes: take one for all, or one for each",
                listed.len(),
                self.nodes
            )),
        }
    }

    /// Every variant that is wrong on purpose must be refuted, in what it is known to violate.
    fn run_broken(&self) -> Outcome {
        self.say_heading();
        let mut all_refuted = true;
        for broken in BROKEN {
            let explore = Explore { most_states: self.most_states };
            let explored = with_broken(broken.name, explore).expect("it is listed");
            all_refuted &= broken.is_refuted(&explored);
            if self.markdown {
                say(broken.markdown(&explored));
                continue;
            }
            if !self.json {
                say(format_args!("\n{}", broken.why));
            }
            self.tell(&explored);
        }
        Ok(all_refuted)
    }

    fn say_heading(&self) {
        if !self.json && !self.markdown {
            say(heading());
        }
    }

    fn tell(&self, explored: &Explored) {
        if self.json {
            return say_json(explored);
        }
        if self.markdown {
            return say(explored.markdown());
        }
        say(row(explored));
        for finding in explored.refuted() {
            let how = finding.counterexample.as_ref().map(Shown::to_string);
            let how = how.as_deref().unwrap_or("it never happens\n");
            say(format_args!("\n'{}' does not hold:\n{how}", finding.property));
        }
    }
}

/// Explores a check, with progress.
#[derive(Clone, Copy)]
pub(crate) struct Explore {
    /// Gives up after so many states.
    pub(crate) most_states: usize,
}

impl Default for Explore {
    fn default() -> Self {
        Self { most_states: CheckCommand::MOST_STATES }
    }
}

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        // Draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{msg} {pos} states, {per_sec}")
                .expect("a sound template"),
        );
        let progress = |states: usize, depth: usize| {
            bar.set_message(format!("{name}, depth {depth}:"));
            bar.set_position(states as u64);
        };
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let explorer = Explorer { threads, most_states: self.most_states, progress: &progress };
        let explored = explorer.explore(name, model);
        bar.finish_and_clear();
        explored
    }
}

/// Forgets what a check is of.
struct Forget;

impl ModelVisitor for Forget {
    type Output = Erased;

    fn visit<M>(self, _: &'static str, model: M) -> Erased
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        Erased::new(model)
    }
}

pub(super) fn heading() -> String {
    format!(
        "{:32}{:>6}{:>10}  {:10}{:>10}{:>7}{:>9}  verdict",
        "algorithm", "nodes", "requests", "channels", "states", "depth", "seconds"
    )
}

pub(super) fn row(explored: &Explored) -> String {
    let Explored { algorithm, nodes, requests, channels, states, depth, seconds, verdict, .. } =
        explored;
    format!(
        "{algorithm:32}{nodes:>6}{requests:>10}  {channels:10}{states:>10}{depth:>7}{seconds:>9.1}  {verdict}"
    )
}
