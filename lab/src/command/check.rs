//! `lab check`.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use exclusion::message::Channels;
use exclusion::message::check::{Model, Timers, Users};
use exclusion::message::registry::{ELECTIONS, ElectionAlgorithm, RegistryError};
use lab::explore::broken::{BROKEN, Broken, with_broken};
use lab::explore::elected::ELECTED;
use lab::explore::erased::Erased;
use lab::explore::exploration::{Explorable, Explored, ModelVisitor, Shown};
use lab::explore::scope::{AtRest, MOST_NODES, RegisterLock, Scope, with_check};
use lab::explore::scopes::{all, soon};
use lab::label::wrapped;

use super::destination::Destination;
use super::diagram::draw_counterexample;
use super::explore::Explore;
use super::graph;
use super::names::{self, did_you_mean};
use super::{Outcome, say, say_aside, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab check ricart_agrawala --nodes 3
  cargo lab check lamport --nodes 2 --channels any
  cargo lab check banta_efficient --nodes 3 --timers any-time
  cargo lab check lamport --nodes 2 --channels any --diagram lamport.svg
  cargo lab check ricart_agrawala --nodes 2 --requests 1,4
  cargo lab check raymond --nodes 3 --requests 3 --quick
  cargo lab check raymond_k --nodes 3 --k 1
  cargo lab check bully --nodes 2 --crashes 1 --recoveries 1
  cargo lab check ring_election --channels fifo --crashes 1 --recoveries 1 --at-rest both
  cargo lab check extinction --nodes 4 --requests 1,0,0,1 --graph ring
  cargo lab check raymond_by_extinction
  cargo lab check central_coordinator_by_bully_halt --nodes 2 --crashes 1 --recoveries 1
  cargo lab check maekawa_1985
  cargo lab check --soon
  cargo lab check --all --json
  cargo lab check --broken
  cargo lab check naimi_trehel --nodes 3 --explore")]
pub(crate) struct CheckCommand {
    /// What to explore: an algorithm, an election, a lock that starts from one, a lock over
    /// registers, or a broken variant, which must be refuted (`lab list` names them)
    #[arg(required_unless_present_any = ["all", "soon", "broken"], value_parser = names::name)]
    algorithm: Option<String>,
    /// Every algorithm, as far as it is explored for the documentation
    #[arg(long, conflicts_with_all = ["algorithm", "explore"])]
    all: bool,
    /// The part of --all that takes a few seconds
    #[arg(long, conflicts_with_all = ["algorithm", "all", "explore"])]
    soon: bool,
    /// Every variant that is broken on purpose: each must be refuted
    #[arg(long, conflicts_with_all = ["algorithm", "all", "soon", "explore"])]
    broken: bool,
    /// How many nodes [default: 3]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    nodes: Option<usize>,
    /// How many times each user wants in, or each node calls an election; node by node, separated
    /// by commas, where that differs [default: 1; of an election, node 0 once]
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = clap::value_parser!(u8).range(0..=20),
        conflicts_with_all = Self::LISTS
    )]
    requests: Vec<u8>,
    /// How many times a node may crash, of an election or a lock that starts from one [default: 0]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    crashes: Option<u8>,
    /// How many times a node that has crashed may recover [default: 0]
    #[arg(long, requires = "crashes")]
    recoveries: Option<u8>,
    /// What befalls nodes only when no message is in flight and no timer runs, where all moments
    /// would be too many [default: neither]
    #[arg(long, requires = "crashes", value_name = "WHICH")]
    at_rest: Option<Rest>,
    /// The graph of an election that runs on any [default: complete]
    #[arg(long, conflicts_with_all = Self::LISTS, long_help = format!("The graph of an election that runs on any: {} [default: complete]", graph::HELP))]
    graph: Option<String>,
    /// How many users may be inside at a time, for the algorithms that let in several [default: 2;
    /// 1 for two nodes]
    #[arg(long, conflicts_with_all = Self::LISTS, conflicts_with = "markdown")]
    k: Option<usize>,
    /// In which order messages arrive [default: as the algorithm needs it]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    channels: Option<Order>,
    /// When timers run out [default: in-time]
    #[arg(long, conflicts_with_all = Self::LISTS)]
    timers: Option<When>,
    /// Let users ask and leave only when no message is in flight. Also checks the algorithm's bound
    /// on bypass, if users want in often enough to exceed it
    #[arg(long, conflicts_with_all = Self::LISTS)]
    quick: bool,
    /// Give up after this many states; a state counts each time that it is reached [default:
    /// 1000000000; 100000 for an election that relies on T with --timers any-time, where there is
    /// no end: it is called again and again]
    #[arg(long)]
    most_states: Option<usize>,
    /// Print one JSON object per row
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
    /// Only when no message is in flight to the node or from it. Of an election whose timers rely
    /// on T: after the periods that they are set for, and after the messages that are due by then
    InTime,
    /// At any moment
    AnyTime,
}

#[derive(Clone, Copy, ValueEnum)]
enum Rest {
    /// Nodes crash then, and recover at any step
    Crashes,
    /// Nodes recover then, and crash at any step
    Recoveries,
    /// Nodes crash and recover then
    Both,
}

impl CheckCommand {
    const NODES: usize = 3;

    /// The limit where there is no end of states: enough to find what is wrong.
    const MOST_WITHOUT_END: usize = 100_000;

    /// The options that say by themselves what is explored.
    const LISTS: [&str; 3] = ["all", "soon", "broken"];

    pub(crate) fn run(&self) -> Outcome {
        if self.most_states == Some(0) {
            return Err("--most-states takes 1 or more".to_owned());
        }
        let diagram = self.diagram.as_ref().map(|path| Destination::new(path, "--diagram"));
        if diagram.is_some_and(Destination::is_standard_output) {
            return Err(
                "the rows are on the standard output: name a file with --diagram".to_owned()
            );
        }
        let Some(name) = self.algorithm.as_deref() else {
            return if self.broken {
                self.refute(BROKEN, None)
            } else {
                self.explore_all(&if self.soon { soon() } else { all() }, None)
            };
        };
        if let Some(broken) = Broken::named(name) {
            self.refuse_scope("a broken variant has its own scope")?;
            if self.explore {
                return self.serve(name, with_broken(name, Forget).expect("it is listed"));
            }
            diagram.map_or(Ok(()), Destination::prepare)?;
            return self.refute(std::slice::from_ref(broken), diagram);
        }
        let scope = self.scope()?;
        if ElectionAlgorithm::named(name).is_ok() {
            let locks = ["--k", "--quick"];
            self.refuse(|option| locks.contains(&option), "an election lets nobody in")?;
        } else if !ELECTED.contains(&name) {
            let elections = ["--crashes", "--graph"];
            let why = "only elections, and locks that start from one, are explored so";
            self.refuse(|option| elections.contains(&option), why)?;
        }
        if RegisterLock::named(name).is_some() {
            let others = ["--nodes", "--requests"];
            let why =
                "locks over registers have neither messages nor timers, and let in one at a time";
            self.refuse(|option| !others.contains(&option), why)?;
        }
        // Errors come before anything is written.
        let model = with_check(name, &scope, Forget).map_err(in_words)?;
        if self.explore {
            return self.serve(name, model);
        }
        diagram.map_or(Ok(()), Destination::prepare)?;
        self.explore_all(&[(name, scope)], diagram)
    }

    /// The scope that the options name, for an algorithm or a lock.
    fn scope(&self) -> Result<Scope, String> {
        let requests = self.requests()?;
        let graph = self.graph.as_ref().map(|text| graph::graph(text, requests.len()));
        Ok(Scope {
            crashes: self.crashes.unwrap_or(0),
            recoveries: self.recoveries.unwrap_or(0),
            at_rest: match self.at_rest {
                None => AtRest::Neither,
                Some(Rest::Crashes) => AtRest::Crashes,
                Some(Rest::Recoveries) => AtRest::Recoveries,
                Some(Rest::Both) => AtRest::Both,
            },
            graph: graph.transpose()?,
            requests,
            channels: self.channels.map(|order| match order {
                Order::Fifo => Channels::Fifo,
                Order::Any => Channels::AnyOrder,
            }),
            timers: match self.timers {
                None | Some(When::InTime) => Timers::InTime,
                Some(When::AnyTime) => Timers::AnyTime,
            },
            users: if self.quick { Users::Unhurried } else { Users::AnyTime },
            entries: self.k,
        })
    }

    fn is_election(&self) -> bool {
        self.algorithm.as_deref().is_some_and(|name| ElectionAlgorithm::named(name).is_ok())
    }

    fn requests(&self) -> Result<Vec<u8>, String> {
        let nodes = self.nodes.unwrap_or(Self::NODES);
        if nodes > MOST_NODES {
            return Err(format!("so many nodes would take too long: take at most {MOST_NODES}"));
        }
        let requests = match self.requests[..] {
            [] if self.is_election() => (0..nodes).map(|node| u8::from(node == 0)).collect(),
            [] => vec![1; nodes],
            [each] => vec![each; nodes],
            ref listed if listed.len() == nodes => listed.to_vec(),
            ref listed => {
                return Err(format!(
                    "--requests has {} numbers for {nodes} nodes: \
                     take one for all, or one for each",
                    listed.len(),
                ));
            }
        };
        if nodes > 0 && requests.iter().all(|&times| times == 0) {
            return Err("where nobody wants in there is nothing to explore: take --requests of 1 \
                        or more for some node"
                .to_owned());
        }
        Ok(requests)
    }

    /// Refuses the options that say how far to explore.
    fn refuse_scope(&self, why: &str) -> Result<(), String> {
        self.refuse(|_| true, why)
    }

    /// Refuses some of the options that say how far to explore, if they were given.
    fn refuse(&self, refused: impl Fn(&str) -> bool, why: &str) -> Result<(), String> {
        let given = [
            ("--nodes", self.nodes.is_some()),
            ("--requests", !self.requests.is_empty()),
            ("--k", self.k.is_some()),
            ("--channels", self.channels.is_some()),
            ("--timers", self.timers.is_some()),
            ("--quick", self.quick),
            ("--crashes", self.crashes.is_some()),
            ("--graph", self.graph.is_some()),
        ];
        match given.into_iter().find(|(option, given)| *given && refused(option)) {
            Some((option, _)) => Err(format!("{why}: leave {option} out")),
            None => Ok(()),
        }
    }

    fn explorer(&self) -> Explore {
        Explore { most_states: self.most_states.unwrap_or_else(|| self.usual_limit()) }
    }

    /// After how many states to give up, unless it is said.
    fn usual_limit(&self) -> usize {
        let named = self.algorithm.as_deref().map(ElectionAlgorithm::named);
        let relies_on_time = named.is_some_and(|it| it.is_ok_and(|it| it.within_tmax));
        match self.timers {
            Some(When::AnyTime) if relies_on_time => Self::MOST_WITHOUT_END,
            _ => Explore::default().most_states,
        }
    }

    /// Explores one after the other: all must hold.
    fn explore_all(&self, wanted: &[(&str, Scope)], diagram: Option<Destination<'_>>) -> Outcome {
        self.say_heading();
        let mut all_hold = true;
        for (name, scope) in wanted {
            let explored = with_check(name, scope, self.explorer()).map_err(in_words)?;
            all_hold &= explored.verdict == "holds";
            self.tell(&explored);
            self.draw(&explored, diagram)?;
        }
        Ok(all_hold)
    }

    /// Explores variants that are broken on purpose: each must be refuted, in what it is known to
    /// violate.
    fn refute(&self, variants: &[Broken], diagram: Option<Destination<'_>>) -> Outcome {
        self.say_heading();
        let mut all_refuted = true;
        for broken in variants {
            let explored = with_broken(broken.name, self.explorer()).expect("it is listed");
            let refuted = broken.is_refuted(&explored);
            all_refuted &= refuted;
            if self.markdown {
                say(broken.markdown(&explored));
                continue;
            }
            if !self.json {
                say(format_args!("\nbroken on purpose: {}", broken.why));
            }
            self.tell(&explored);
            self.draw(&explored, diagram)?;
            if !refuted {
                say_aside(format_args!("{}: '{}' was not refuted", broken.name, broken.violates));
            }
        }
        Ok(all_refuted)
    }

    /// Serves a model to a browser on this machine.
    fn serve(&self, name: &str, model: Erased) -> Outcome {
        let address = (Ipv4Addr::LOCALHOST, self.port);
        // The server itself would not say why it cannot listen.
        TcpListener::bind(address).map_err(|error| {
            format!("port {} cannot be had ({error}): name another with --port", self.port)
        })?;
        say(format_args!("{name} at http://localhost:{}, until interrupted", self.port));
        model.checker().serve(address);
        Ok(true)
    }

    fn draw(&self, explored: &Explored, diagram: Option<Destination<'_>>) -> Result<(), String> {
        if let Some(diagram) = diagram {
            // The rows are on the standard output.
            say_aside(draw_counterexample(explored, diagram)?);
        }
        Ok(())
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

/// The error. For an unknown name it also lists what else can be explored.
fn in_words(error: RegistryError) -> String {
    match error {
        RegistryError::Unknown(ref name) => {
            let nearest = did_you_mean(name);
            let locks = RegisterLock::ALL.map(RegisterLock::name).join(", ");
            let elections: Vec<_> = ELECTIONS.iter().map(|election| election.name).collect();
            let elections = elections.join(", ");
            format!(
                "{nearest}{error}; elections: {elections}; locks over registers: {locks}; `lab list` names \
                 locks that start from an election, and the broken variants"
            )
        }
        _ => error.to_string(),
    }
}

/// Erases the type of a model.
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
        "{:32}{:>6}{:>9}{:>11}{:>6}{:>6}  verdict",
        "algorithm", "nodes", "requests", "states", "depth", "s"
    )
}

/// What was explored, what was found, and below it what holds.
pub(super) fn row(explored: &Explored) -> String {
    let Explored { nodes, requests, states, depth, seconds, verdict, .. } = explored;
    let first = format!(
        "{:32}{nodes:>6}{requests:>9}{states:>11}{depth:>6}{seconds:>6.1}  {verdict}\n",
        explored.label()
    );
    let (always, possible): (Vec<_>, Vec<_>) = explored
        .properties
        .iter()
        .filter(|finding| finding.holds == Some(true))
        .map(|finding| finding.property)
        .partition(|property| !Explored::is_possibility(property));
    let mut below = match explored.channels.as_str() {
        "" => String::new(),
        channels => format!("channels: {channels}; "),
    };
    below += &match always.is_empty() {
        true => "nothing holds".to_owned(),
        false => format!("always: {}", always.join(", ")),
    };
    if !possible.is_empty() {
        below += &format!("; possible: {}", possible.join(", "));
    }
    (first + &wrapped("  ", &below)).trim_end().to_owned()
}
