//! `lab elect`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use exclusion::message::registry::{ELECTIONS, ElectionAlgorithm, Electorate, Ground};
use exclusion::message::sim::{Delay, Fault};
use exclusion::message::{ClusterError, Graph, NodeId};
use lab::count::arrangements::{Arrangements, on_all_rings};
use lab::count::elections::{Poll, Row, TOLD, story, table, tree};
use lab::draw::diagram::{Diagram, Unit};

use super::destination::Destination;
use super::graph::{self, graph};
use super::names;
use super::registry::election;
use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Ends with 1 if not all nodes that live settle on one leader, as where the network is cut, or if that
costs other than the formula says.

Examples:
  cargo lab elect
  cargo lab elect bully --nodes 5 --crash 4
  cargo lab elect bully --nodes 6 --crash 5 --initiators 2 --json
  cargo lab elect bully --nodes 5 --initiators 0,2 --cut 0,1 --diagram split-brain.svg
  cargo lab elect bully --nodes 4 --crash 3@1.5 --recover 3@12 --delays random --seed 7
  cargo lab elect ring_election --nodes 6 --crash 5,2 --initiators 0,1
  cargo lab elect chang_roberts --nodes 7 --initiators all
  cargo lab elect chang_roberts --nodes 7 --all-arrangements
  cargo lab elect echo --nodes 1024 --graph hypercube
  cargo lab elect extinction --nodes 12 --graph random:20:3 --initiators 1,4,9
  cargo lab elect bully --nodes 6 --crash 5 --initiators each")]
pub(crate) struct ElectCommand {
    /// The election to hold (`lab list` names them) [default: each, beside its formula]
    #[arg(value_parser = names::name)]
    algorithm: Option<String>,
    /// How many nodes [default: as many as show best what it does]
    #[arg(long)]
    nodes: Option<usize>,
    /// The graph, for an election that runs on any [default: complete]
    #[arg(long, requires = "algorithm", long_help = format!("The graph, for an election that runs on any: {} [default: complete]", graph::HELP))]
    graph: Option<String>,
    /// Who is down, separated by commas: from the beginning, or from a time on, as NODE@TIME
    #[arg(long, value_delimiter = ',', requires = "algorithm")]
    crash: Vec<String>,
    /// Who comes back, and when, as NODE@TIME, separated by commas
    #[arg(long, value_delimiter = ',', requires = "crash")]
    recover: Vec<String>,
    /// Cut these nodes off from the others, from the beginning
    #[arg(long, value_delimiter = ',', requires = "algorithm")]
    cut: Vec<u32>,
    /// Who calls the election, separated by commas; or all; or each, to hold one election for each
    /// that calls alone [default: the lowest that is not down]
    #[arg(long, value_delimiter = ',', requires = "algorithm")]
    initiators: Vec<String>,
    /// Hold chang_roberts on every ring of so many nodes, all calling: fewest, most and mean
    #[arg(
        long,
        requires = "algorithm",
        conflicts_with_all =
            ["graph", "crash", "recover", "cut", "initiators", "delays", "seed", "diagram"]
    )]
    all_arrangements: bool,
    /// How long messages take
    #[arg(long, default_value = "constant")]
    delays: Delays,
    /// The seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw the election, as SVG
    #[arg(long, value_name = "PATH", requires = "algorithm")]
    diagram: Option<PathBuf>,
    /// Print one JSON object per election
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Delays {
    /// T each
    Constant,
    /// Anything up to T
    Random,
}

impl ElectCommand {
    pub(crate) fn run(&self) -> Outcome {
        if self.all_arrangements {
            return self.hold_on_all_rings();
        }
        let rows = match &self.algorithm {
            Some(name) => self.hold(election(name)?)?,
            None => self.hold_each()?,
        };
        if let (Some(path), [row]) = (&self.diagram, &rows[..]) {
            self.draw(row, path)?;
        }
        if self.json {
            rows.iter().for_each(say_json);
        } else {
            if let [row] = &rows[..] {
                self.tell(row);
            }
            say(table(&rows).trim_end());
        }
        Ok(rows.iter().all(|row| row.ok))
    }

    fn hold_on_all_rings(&self) -> Outcome {
        let algorithm = election(self.algorithm.as_deref().unwrap_or_default())?;
        if algorithm.name != "chang_roberts" {
            return Err(format!(
                "{algorithm} costs the same in every arrangement, or has none: name chang_roberts"
            ));
        }
        let found = on_all_rings(self.nodes.unwrap_or(algorithm.nodes_to_show))?;
        if self.json {
            say_json(&found);
        } else {
            let Arrangements { nodes, arrangements, least, most, mean, total, .. } = found;
            say(format_args!(
                "{nodes} nodes, {arrangements} arrangements, and all nodes call. ELECTION messages:"
            ));
            let n = nodes as u64;
            say(format_args!("  fewest  {least:>8}  2n-1: {}", 2 * n - 1));
            say(format_args!("  most    {most:>8}  n(n+1)/2: {}", n * (n + 1) / 2));
            let expected = found.expected_total;
            say(format_args!(
                "  mean    {mean:>8.3}  n*H(n): {expected}/{arrangements}, counted: \
                 {total}/{arrangements}"
            ));
        }
        Ok(found.ok)
    }

    /// Each election once: the highest is down where that may be, and the lowest calls.
    fn hold_each(&self) -> Result<Vec<Row>, String> {
        let hold = |algorithm: &'static ElectionAlgorithm| {
            let nodes = self.nodes.unwrap_or(algorithm.nodes_to_show);
            let top = nodes.checked_sub(1).filter(|_| algorithm.stands_crashes).map(NodeId::at);
            let poll = Poll {
                graph: ground(algorithm, None),
                initiators: vec![NodeId(0)],
                crashed: top.into_iter().collect(),
                faults: Vec::new(),
                delay: self.delay(),
                seed: self.seed,
            };
            built(algorithm, &Electorate::of(nodes), &poll)
        };
        ELECTIONS.iter().map(hold).collect()
    }

    /// The election that the options say; or several, one for each that calls.
    fn hold(&self, algorithm: &'static ElectionAlgorithm) -> Result<Vec<Row>, String> {
        let nodes = self.nodes.unwrap_or(algorithm.nodes_to_show);
        let chosen = self.graph.as_ref().map(|text| graph(text, nodes)).transpose()?;
        let name = ground(algorithm, chosen.as_ref());
        let electorate = chosen.map_or(Electorate::of(nodes), Electorate::on);
        // First whether they are there at all, then what becomes of them.
        self.check_members(nodes)?;
        let (crashed, faults) = (self.crashed()?, self.faults(nodes)?);
        check_fates(nodes, &crashed, &faults)?;
        let initiators = self.initiators(nodes, &crashed)?;
        let poll =
            Poll { graph: name, initiators, crashed, faults, delay: self.delay(), seed: self.seed };
        if !self.is_by_each() {
            return Ok(vec![built(algorithm, &electorate, &poll)?]);
        }
        if self.diagram.is_some() {
            return Err("a picture shows one election: name who calls with --initiators".into());
        }
        let alone = |&caller: &NodeId| Poll { initiators: vec![caller], ..poll.clone() };
        let polls = poll.initiators.iter().map(alone);
        polls.map(|poll| built(algorithm, &electorate, &poll)).collect()
    }

    fn is_by_each(&self) -> bool {
        self.initiators == ["each"]
    }

    fn delay(&self) -> Delay {
        match self.delays {
            Delays::Constant => Delay::Constant(1.0),
            Delays::Random => Delay::Uniform(0.0, 1.0),
        }
    }

    fn check_members(&self, nodes: usize) -> Result<(), String> {
        ClusterError::check_size(nodes).map_err(|error| error.to_string())?;
        let named = self.crash.iter().chain(&self.recover).map(|text| Ok(moment(text)?.0));
        let cut = self.cut.iter().map(|&node| Ok(NodeId(node)));
        named.chain(cut).try_for_each(|node: Result<NodeId, String>| {
            ClusterError::check_node(node?, nodes).map(drop).map_err(|error| error.to_string())
        })
    }

    /// Who is down from the beginning.
    fn crashed(&self) -> Result<Vec<NodeId>, String> {
        let mut crashed = Vec::new();
        for text in &self.crash {
            match moment(text)? {
                (node, None) if crashed.contains(&node) => {
                    return Err(format!("{node} is down already: name it once with --crash"));
                }
                (node, None) => crashed.push(node),
                (_, Some(_)) => {}
            }
        }
        Ok(crashed)
    }

    /// Who goes down later, who comes back, and who is cut off.
    fn faults(&self, nodes: usize) -> Result<Vec<(f64, Fault)>, String> {
        let mut faults = Vec::new();
        for text in &self.crash {
            if let (node, Some(time)) = moment(text)? {
                faults.push((time, Fault::Crash(node)));
            }
        }
        for text in &self.recover {
            let (node, time) = moment(text)?;
            let time = time.ok_or_else(|| format!("say when {node} comes back: as {text}@5"))?;
            faults.push((time, Fault::Recover(node)));
        }
        if !self.cut.is_empty() {
            let mut side: Vec<_> = self.cut.iter().copied().map(NodeId).collect();
            side.sort_unstable();
            side.dedup();
            if side.len() == nodes {
                return Err("a cut leaves somebody on the other side: name fewer with --cut".into());
            }
            faults.push((0.0, Fault::Cut(side)));
        }
        Ok(faults)
    }

    fn initiators(&self, nodes: usize, crashed: &[NodeId]) -> Result<Vec<NodeId>, String> {
        let live = NodeId::all(nodes).filter(|node| !crashed.contains(node));
        let mut initiators = match &self.initiators[..] {
            [] => live.take(1).collect(),
            [all] if all == "all" || self.is_by_each() => live.collect(),
            named => named
                .iter()
                .map(|text| match moment(text) {
                    Ok((node, None)) => Ok(node),
                    _ => Err(format!("'{text}' is no initiator: take a number, all, or each")),
                })
                .collect::<Result<Vec<_>, String>>()?,
        };
        initiators.sort_unstable();
        initiators.dedup();
        Ok(initiators)
    }

    fn draw(&self, row: &Row, path: &Path) -> Result<(), String> {
        let picture = Destination::new(path, "--diagram");
        if picture.is_standard_output() {
            return Err("the story is on the standard output: name a file with --diagram".into());
        }
        if row.nodes > TOLD {
            return Err(format!("{} nodes are too many to draw: take at most {TOLD}", row.nodes));
        }
        let cut = if self.cut.is_empty() { "" } else { ", cut" };
        let title = format!("{}, {} nodes{cut}", row.algorithm, row.nodes);
        let (unit, nodes) = (Unit::MessageDelay, row.nodes);
        let diagram = Diagram { title: &title, unit, nodes, widest: 1200, violated: None };
        picture.prepare()?;
        picture.write(&diagram.svg(&row.trace))
    }

    fn tell(&self, row: &Row) {
        if row.nodes <= TOLD {
            say(story(&row.trace));
        }
        say(self.summary(row));
        if let Some(parents) = row.parents.as_ref().filter(|_| row.nodes <= TOLD) {
            say(format_args!("The tree, each node to its parent: {}.", tree(parents)));
        }
        if let Some(error) = &row.error {
            say(format_args!("It went wrong: {error}."));
        }
        let kinds: Vec<_> =
            row.by_kind.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        say(format_args!("{}\n", kinds.join(", ")));
    }

    /// What came of it, in a sentence.
    fn summary(&self, row: &Row) -> String {
        let leaders: Vec<_> = row.leaders.iter().map(|node| format!("n{node}")).collect();
        let Row { nodes, messages, time, .. } = row;
        let is_cut = !self.cut.is_empty();
        match (row.leader, &row.leaders[..]) {
            (_, [_, _, ..]) if row.is_tree_alone() => {
                format!("{} have decided, each for itself.", leaders.join(" and "))
            }
            (_, [_, _, ..]) => {
                let part = if is_cut { "each in its part" } else { "at the same time" };
                format!("{} lead, {part}.", leaders.join(" and "))
            }
            (Some(root), _) if row.is_tree_alone() => format!(
                "n{root} has decided: the tree spans all {nodes} nodes. It took {messages} \
                 messages, and {time:.1} T."
            ),
            (Some(leader), _) => format!(
                "n{leader} leads. It took {messages} messages, and {time:.1} T until all knew."
            ),
            (None, [leader]) if is_cut => {
                format!("n{leader} leads its part; the others have no leader.")
            }
            (None, [leader]) => format!("n{leader} leads, but not all that live have settled."),
            (None, []) => {
                "The election stops before all that live have settled on a leader.".to_owned()
            }
        }
    }
}

/// Refuses a recovery of a node that is not down, and an end with nobody alive.
fn check_fates(nodes: usize, crashed: &[NodeId], faults: &[(f64, Fault)]) -> Result<(), String> {
    let mut down: BTreeSet<_> = crashed.iter().copied().collect();
    let mut faults: Vec<_> = faults.iter().collect();
    faults.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (time, fault) in faults {
        match fault {
            Fault::Crash(node) if !down.insert(*node) => {
                return Err(format!(
                    "{node} is down already at {time}: name it once with --crash, or let it come \
                     back before, with --recover"
                ));
            }
            Fault::Recover(node) if !down.remove(node) => {
                return Err(format!(
                    "{node} is not down at {time}, and cannot come back: crash it before, with \
                     --crash"
                ));
            }
            _ => {}
        }
    }
    if down.len() == nodes {
        return Err("all nodes are down: leave one that can lead out of --crash".to_owned());
    }
    Ok(())
}

/// What it runs on, in a word.
fn ground(algorithm: &ElectionAlgorithm, graph: Option<&Graph>) -> String {
    match (algorithm.ground, graph) {
        (Ground::AnyGraph, Some(graph)) => graph.to_string(),
        (Ground::AnyGraph, None) => Ground::Complete.to_string(),
        (ground, _) => ground.to_string(),
    }
}

fn built(
    algorithm: &'static ElectionAlgorithm,
    electorate: &Electorate,
    poll: &Poll,
) -> Result<Row, String> {
    algorithm.build(electorate, poll).map_err(|error| graph::in_words(&error))?
}

/// A node, and a time if one is named.
fn moment(text: &str) -> Result<(NodeId, Option<f64>), String> {
    let wrong = || format!("'{text}' is no node: take a number, or a number and a time as 4@2.5");
    let (node, time) = match text.split_once('@') {
        Some((node, time)) => (node, Some(time.parse().map_err(|_| wrong())?)),
        None => (text, None),
    };
    Ok((NodeId(node.trim_start_matches('n').parse().map_err(|_| wrong())?), time))
}
