//! `lab check`.

use clap::{Args, ValueEnum};
use exclusion::check::{Check, Model, Timers};
use exclusion::protocol::{Channels, Protocol};
use indicatif::{ProgressBar, ProgressStyle};
use lab::exploration::{CheckVisitor, Explored, Explorer, Scope, all, with_check};

use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  lab check ricart_agrawala --nodes 3
  lab check lamport --channels any
  lab check banta_efficient --nodes 3 --timers any-time
  lab check --all --json
  lab check naimi_trehel --nodes 3 --explore")]
pub(crate) struct CheckCommand {
    /// The algorithm to explore
    #[arg(required_unless_present = "all")]
    algorithm: Option<String>,
    /// Every algorithm, as far as it is explored for the documentation
    #[arg(long, conflicts_with_all = ["algorithm", "explore"])]
    all: bool,
    /// How many nodes
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// How many times each user wants in
    #[arg(long, default_value_t = 1)]
    requests: u8,
    /// In which order messages arrive [default: as the algorithm needs it]
    #[arg(long)]
    channels: Option<Order>,
    /// When timers run out
    #[arg(long, default_value = "in-time")]
    timers: When,
    /// Give up after so many states
    #[arg(long, default_value_t = 50_000_000)]
    most_states: usize,
    /// Print one JSON object a row
    #[arg(long)]
    json: bool,
    /// Show it in stateright's Explorer, on this machine only, until interrupted
    #[arg(long)]
    explore: bool,
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
    const EXPLORER: &str = "localhost:3000";

    pub(crate) fn run(&self) -> Outcome {
        let scope = Scope {
            nodes: self.nodes,
            requests: self.requests,
            more_of_first: 0,
            channels: self.channels.map(|order| match order {
                Order::Fifo => Channels::Fifo,
                Order::Any => Channels::AnyOrder,
            }),
            timers: match self.timers {
                When::InTime => Timers::InTime,
                When::AnyTime => Timers::AnyTime,
            },
        };
        let wanted = match self.algorithm.as_deref() {
            Some(algorithm) if self.explore => {
                return with_check(algorithm, scope, Serve).map_err(|error| error.to_string());
            }
            Some(algorithm) => vec![(algorithm, scope)],
            None => all(),
        };
        if !self.json {
            say(heading());
        }
        let mut all_hold = true;
        for (algorithm, scope) in wanted {
            let explore = Explore { scope, most_states: self.most_states };
            let explored =
                with_check(algorithm, scope, explore).map_err(|error| error.to_string())?;
            all_hold &= explored.verdict == "holds";
            if self.json {
                say_json(&explored);
            } else {
                say(row(&explored));
                for finding in explored.refuted() {
                    let how = finding.counterexample.as_deref().unwrap_or("it never happens\n");
                    say(format_args!("\n'{}' does not hold:\n{how}", finding.property));
                }
            }
        }
        Ok(all_hold)
    }
}

/// Explores a check, with progress.
struct Explore {
    scope: Scope,
    most_states: usize,
}

impl CheckVisitor for Explore {
    type Output = Explored;

    fn visit<P>(self, name: &'static str, check: Check<P>) -> Explored
    where
        P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
    {
        // Draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{msg} {pos} states, {per_sec}")
                .expect("a sound template"),
        );
        let progress = |states: usize, depth: usize| {
            bar.set_message(format!("{name}, {} nodes, depth {depth}:", self.scope.nodes));
            bar.set_position(states as u64);
        };
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let explorer = Explorer { threads, most_states: self.most_states, progress: &progress };
        let explored = explorer.explore(name, self.scope, check);
        bar.finish_and_clear();
        explored
    }
}

/// Serves a check to a browser on this machine.
struct Serve;

impl CheckVisitor for Serve {
    type Output = bool;

    fn visit<P>(self, name: &'static str, check: Check<P>) -> bool
    where
        P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
    {
        say(format_args!("{name} at http://{}, until interrupted", CheckCommand::EXPLORER));
        check.checker().serve(CheckCommand::EXPLORER);
        true
    }
}

fn heading() -> String {
    format!(
        "{:26}{:>6}{:>10}  {:10}{:>10}{:>7}{:>9}  verdict",
        "algorithm", "nodes", "requests", "channels", "states", "depth", "seconds"
    )
}

fn row(explored: &Explored) -> String {
    let Explored { algorithm, nodes, requests, channels, states, depth, seconds, verdict, .. } =
        explored;
    format!(
        "{algorithm:26}{nodes:>6}{requests:>10}  {channels:10}{states:>10}{depth:>7}{seconds:>9.1}  {verdict}"
    )
}
