//! Elections: run in the simulator, counted beside their formulas, and told step by step.

use std::collections::BTreeMap;
use std::fmt::Write;

use exclusion::message::registry::{
    ElectionAlgorithm, ElectionVisitor, Electorate, Ground, ShippedElection,
};
use exclusion::message::sim::{Contest, Delay, Fault, Notices};
use exclusion::message::{Event, Happening, NodeId, Notice, Trace};
use serde::Serialize;

use crate::label::wrapped;
use crate::played::Played;

/// An election to be run.
#[derive(Clone, Debug)]
pub struct Poll {
    /// The name of the graph.
    pub graph: String,
    /// Who calls it.
    pub initiators: Vec<NodeId>,
    /// Who is down from the beginning.
    pub crashed: Vec<NodeId>,
    /// What befalls the nodes later, and when.
    pub faults: Vec<(f64, Fault)>,
    /// How long messages take.
    pub delay: Delay,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// What came of an election.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// On which graph.
    pub graph: String,
    /// Who called it.
    pub initiators: Vec<u32>,
    /// Who was down at the end.
    pub crashed: Vec<u32>,
    /// How many messages were sent.
    pub messages: u64,
    /// How many of each kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// The formula, if there is one for these circumstances,
    pub formula: Option<&'static str>,
    /// at least,
    pub least: Option<u64>,
    /// and at most.
    pub most: Option<u64>,
    /// Who leads, if all that live agree; of the echo algorithm, who has decided.
    pub leader: Option<u32>,
    /// Whether all that live have settled on one that lives.
    pub settled: bool,
    /// How many of those that live have settled on anybody.
    pub knowing: usize,
    /// Where a tree is built, each node's parent; none for the root, and where no wave came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parents: Option<Vec<Option<u32>>>,
    /// When the last one settled, in T, to the thousandth.
    pub time: f64,
    /// Whether they settled, at the cost that the formula says.
    pub ok: bool,
    /// The nodes that lead, as far as they know: several after a cut.
    pub leaders: Vec<u32>,
    /// If it was not even a run, why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What happened.
    #[serde(skip)]
    pub trace: Trace,
    /// What the nodes know at each step of it.
    #[serde(skip)]
    pub played: Played,
}

impl Row {
    /// What is not as it should be, in a few words.
    fn flaw(&self) -> Option<&'static str> {
        let flaw = match self.leaders[..] {
            _ if self.ok => return None,
            _ if self.error.is_some() => "the invariant fails",
            [_, _, ..] => "several lead",
            [_] if !self.settled => "not all have settled",
            [] if !self.settled => "nobody leads",
            _ => "not the formula",
        };
        Some(flaw)
    }

    /// Whether only those that have decided know of it: nobody is elected, a tree is built.
    pub fn is_tree_alone(&self) -> bool {
        self.parents.is_some() && self.knowing == self.leaders.len()
    }
}

impl ElectionVisitor for &Poll {
    type Output = Result<Row, String>;

    fn visit<E: ShippedElection>(
        self,
        algorithm: &'static ElectionAlgorithm,
        cluster: Vec<E>,
    ) -> Self::Output {
        let nodes = cluster.len();
        let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
        // A detector tells everybody. Otherwise whoever calls has noticed.
        let notices =
            if algorithm.detector { Notices::ToAll } else { Notices::To(self.initiators.clone()) };
        let contest = Contest::new(cluster.clone())
            .initiators(self.initiators.iter().copied())
            .without(self.crashed.iter().copied())
            .notices(notices)
            .delay(self.delay)
            .seed(self.seed);
        let contest = if nodes <= TOLD { contest.traced() } else { contest };
        let faults = self.faults.iter().cloned();
        let contest = faults.fold(contest, |contest, (time, fault)| contest.fault_at(time, fault));
        let cost = contest.circumstances().and_then(|it| E::cost(&cluster, &it));
        let report = contest.run().map_err(|error| error.to_string())?;
        let messages = report.messages.total();
        let is_down = |node: &NodeId| report.down.contains(node);
        let live = NodeId::all(nodes).filter(|node| !is_down(node));
        let knowing = live.filter(|node| report.views[node.index()].is_some()).count();
        let parents = || report.parents.iter().map(|parent| parent.map(|it| it.0)).collect();
        let within = cost.as_ref().is_none_or(|cost| cost.messages.contains(&messages));
        let trace = report.trace.clone().unwrap_or_default();
        Ok(Row {
            algorithm: algorithm.name,
            nodes,
            graph: self.graph.clone(),
            initiators: numbers(&self.initiators),
            crashed: numbers(&report.down),
            messages,
            by_kind: report.messages.iter().collect(),
            formula: cost.as_ref().map(|cost| cost.formula),
            least: cost.as_ref().map(|cost| *cost.messages.start()),
            most: cost.as_ref().map(|cost| *cost.messages.end()),
            leader: report.leader.map(|it| it.leader.0),
            settled: report.settled,
            knowing,
            parents: (algorithm.ground == Ground::AnyGraph).then(parents),
            time: (report.time.as_units() * 1000.0).round() / 1000.0,
            ok: report.settled && within && report.invariant.is_ok(),
            leaders: numbers(&report.leaders()),
            error: report.invariant.err().map(str::to_owned),
            played: Played::of(cluster, &trace),
            trace,
        })
    }
}

/// A small run to be drawn: the highest node is down where that may be, and the lowest calls.
///
/// # Errors
/// If there is no such cluster, or it is no run.
pub fn sketch(
    algorithm: &'static ElectionAlgorithm,
    nodes: usize,
    seed: u64,
) -> Result<Row, String> {
    let top = nodes.checked_sub(1).filter(|_| algorithm.stands_crashes).map(NodeId::at);
    let poll = Poll {
        graph: String::new(),
        initiators: vec![NodeId(0)],
        crashed: top.into_iter().collect(),
        faults: Vec::new(),
        delay: Delay::Uniform(0.6, 1.0),
        seed,
    };
    algorithm.build(&Electorate::of(nodes), &poll).map_err(|error| error.to_string())?
}

/// Up to so many nodes a run is told step by step.
pub const TOLD: usize = 16;

/// What happened, a step a line: who noticed, who asked whom, who leads.
pub fn story(trace: &Trace) -> String {
    let mut lines = String::new();
    let mut kinds = BTreeMap::new();
    let mut events = trace.events.iter().peekable();
    while let Some(event) = events.next() {
        if let Happening::CutOff(beyond) = &event.happening {
            let mut this_side = vec![event.node];
            // Both sides are told, node by node.
            while let Some(other) = events.next_if(|it| is_cut(it)) {
                if other.happening == event.happening {
                    this_side.push(other.node);
                }
            }
            let (time, here, there) = (event.time.as_units(), listed(&this_side), listed(beyond));
            writeln!(lines, "  {time:>7.2} T  the network is cut: {here} | {there}")
                .expect("a string takes it");
            continue;
        }
        let Some(said) = input(event, &kinds) else { continue };
        let mut sent: Vec<(&str, Vec<String>)> = Vec::new();
        let mut settles = None;
        while let Some(output) = events.next_if(|it| is_output(it)) {
            match &output.happening {
                Happening::Sends { to, kind, message, .. } => {
                    kinds.insert(*message, kind.as_str());
                    match sent.iter_mut().find(|(known, _)| known == kind) {
                        Some((_, receivers)) => receivers.push(to.to_string()),
                        None => sent.push((kind, vec![to.to_string()])),
                    }
                }
                Happening::Settles(leadership) => settles = Some(leadership),
                _ => {}
            }
        }
        let sent = sent.iter().map(|(kind, to)| format!("sends {kind} to {}", to.join(", ")));
        let settles = settles.map(|leadership| format!("settles on {leadership}"));
        let does: Vec<_> = sent.chain(settles).collect();
        let does = if does.is_empty() { String::new() } else { format!(": {}", does.join("; ")) };
        let head = format!("  {:>7.2} T  ", event.time.as_units());
        lines += &wrapped(&head, &format!("{} {said}{does}", event.node));
    }
    lines
}

/// The tree that a wave has left: each node with its parent.
pub fn tree(parents: &[Option<u32>]) -> String {
    let edges = parents.iter().enumerate().filter_map(|(node, parent)| Some((node, (*parent)?)));
    let edges: Vec<_> = edges.map(|(node, parent)| format!("n{node} to n{parent}")).collect();
    edges.join(", ")
}

fn listed(nodes: &[NodeId]) -> String {
    nodes.iter().map(NodeId::to_string).collect::<Vec<_>>().join(", ")
}

fn is_cut(event: &Event) -> bool {
    matches!(event.happening, Happening::CutOff(_))
}

fn is_output(event: &Event) -> bool {
    matches!(
        event.happening,
        Happening::Sends { .. } | Happening::SetsTimer { .. } | Happening::Settles(_)
    )
}

/// An input in words; none for what is no input.
fn input(event: &Event, kinds: &BTreeMap<u64, &str>) -> Option<String> {
    Some(match &event.happening {
        Happening::Calls => "calls an election".to_owned(),
        Happening::Crashes => "goes down".to_owned(),
        Happening::Learns(Notice::Down(node)) => format!("notices that {node} is down"),
        Happening::Learns(Notice::Up(node)) => format!("notices that {node} is up again"),
        Happening::Learns(_) => "comes back".to_owned(),
        Happening::TimesOut(_) => "has waited long enough".to_owned(),
        Happening::Receives { from, message } => {
            format!("gets {} from {from}", kinds.get(message).copied().unwrap_or("a message"))
        }
        _ => return None,
    })
}

const HEADINGS: [&str; 9] =
    ["algorithm", "nodes", "graph", "calls", "down", "leader", "messages", "time", "formula"];

/// The rows as a table for people.
pub fn table(rows: &[Row]) -> String {
    let lines: Vec<_> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let widths: [usize; 9] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    });
    let before_formula: usize = widths[..8].iter().map(|width| width + 2).sum();
    let mut table = String::new();
    for line in &lines {
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            match HEADINGS[column] {
                "algorithm" | "graph" => write!(table, "{cell:width$}  "),
                // A terminal has 80 columns.
                "formula" if before_formula + cell.chars().count() > 80 => {
                    table.truncate(table.trim_end().len());
                    writeln!(table, "\n    {cell}")
                }
                "formula" => writeln!(table, "{cell}"),
                _ => write!(table, "{cell:>width$}  "),
            }
            .expect("a string takes it");
        }
    }
    table
}

fn cells(row: &Row) -> [String; 9] {
    let calls = match row.initiators[..] {
        [node] => format!("n{node}"),
        ref several => format!("{} nodes", several.len()),
    };
    let bounds = match (row.least, row.most) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => String::new(),
    };
    let formula = row.formula.map(|it| format!("{it}: {bounds}"));
    let formula = formula.unwrap_or_else(|| "none for this".to_owned());
    let flaw = row.flaw().map(|flaw| format!("  <- {flaw}")).unwrap_or_default();
    [
        row.algorithm.to_owned(),
        row.nodes.to_string(),
        row.graph.clone(),
        calls,
        row.crashed.len().to_string(),
        row.leader.map_or_else(|| "none".to_owned(), |leader| format!("n{leader}")),
        row.messages.to_string(),
        format!("{:.1}", row.time),
        format!("{formula}{flaw}"),
    ]
}
