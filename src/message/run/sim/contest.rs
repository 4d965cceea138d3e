//! Elections in the simulator: who calls when, who goes down and comes back, and who leads then.

use std::fmt;

use super::faults::{Fault, Notices};
use super::settings::Settings;
use super::world::{View, World};
use super::{Delay, SimCause, SimError, Workload};
use crate::message::random::Random;
use crate::message::{
    Channels, Circumstances, ClusterError, Election, Leadership, NodeId, NodeSet, Time, Trace,
    Traffic, Unattended,
};

/// An election to be simulated: a cluster, a network, who calls, and what befalls them.
///
/// ```
/// use exclusion::message::{Bully, NodeId};
/// use exclusion::message::sim::Contest;
///
/// // The coordinator of five is down, and node 1 notices: m = 3.
/// let contest = Contest::new(Bully::cluster(5)?).without([NodeId(4)]);
/// let report = contest.initiators([NodeId(1)]).run()?;
/// assert_eq!(report.leader.map(|it| it.leader), Some(NodeId(3)));
/// assert_eq!(report.messages.total(), 3 * 3 + 5 - 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "call `run`"]
pub struct Contest<E> {
    nodes: Vec<E>,
    settings: Settings,
    calls: Vec<(f64, NodeId)>,
    down: Vec<NodeId>,
    faults: Vec<(f64, Fault)>,
    notices: Notices,
    at_random: Option<RandomCrashes>,
}

#[derive(Clone, Copy, Debug)]
struct RandomCrashes {
    crashes: usize,
    within: f64,
    down_for: Option<f64>,
}

/// What is to happen, apart from what the nodes do.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) calls: Vec<(Time, NodeId)>,
    pub(super) down: Vec<NodeId>,
    pub(super) faults: Vec<(Time, Fault)>,
    pub(super) notices: Notices,
}

impl<E: Election> Contest<E> {
    /// Messages take T, nobody goes down, and nobody calls.
    pub fn new(nodes: Vec<E>) -> Self {
        Self {
            nodes,
            settings: Settings {
                workload: Workload::Script(Vec::new()),
                ..Settings::new(E::CHANNELS)
            },
            calls: Vec::new(),
            down: Vec::new(),
            faults: Vec::new(),
            notices: Notices::ToNobody,
            at_random: None,
        }
    }

    /// Who calls an election at the beginning.
    pub fn initiators(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.calls.extend(nodes.into_iter().map(|node| (0.0, node)));
        self
    }

    /// A node calls an election at a time.
    pub fn call_at(mut self, time: f64, node: NodeId) -> Self {
        self.calls.push((time, node));
        self
    }

    /// Who is down from the beginning. Whoever is told of crashes knows it.
    pub fn without(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
        self.down.extend(nodes);
        self
    }

    /// Something befalls the cluster at a time.
    pub fn fault_at(mut self, time: f64, fault: Fault) -> Self {
        self.faults.push((time, fault));
        self
    }

    /// So many nodes, chosen by the seed, crash at moments before `within`, and come back after
    /// `down_for`, if at all.
    pub fn crashes_at_random(mut self, crashes: usize, within: f64, down_for: Option<f64>) -> Self {
        self.at_random = Some(RandomCrashes { crashes, within, down_for });
        self
    }

    /// Who is told which nodes are down.
    pub fn notices(mut self, notices: Notices) -> Self {
        self.notices = notices;
        self
    }

    network_settings!();

    /// Who calls and who is down from the beginning, for the formula.
    pub fn circumstances(&self) -> Circumstances {
        let initiators = self.calls.iter().map(|&(_, node)| node).collect();
        Circumstances { initiators, crashed: self.down.clone() }
    }

    /// Runs it until nothing is in flight and nothing is to come.
    ///
    /// # Errors
    /// Nodes that are no cluster, a setting that makes no sense, an input that a node refuses, or
    /// too many events.
    pub fn run(self) -> Result<ContestReport, SimError> {
        self.run_checking(|_| Ok(()))
    }

    /// Runs it, and calls `check` after each step. An error that the check returns ends the run.
    ///
    /// # Errors
    /// As [`run`](Self::run), and those of the check.
    pub fn run_checking(
        self,
        check: impl FnMut(&View<'_, Unattended<E>>) -> Result<(), String>,
    ) -> Result<ContestReport, SimError> {
        let count = self.nodes.len();
        let wrong = |cause| SimError { time: Time::default(), cause, trace: None };
        ClusterError::check_places(&self.nodes).map_err(|it| wrong(SimCause::Cluster(it)))?;
        self.check().map_err(wrong)?;
        let script = self.script();
        let world = World::new(Unattended::all(self.nodes), self.settings).with(script);
        let mut world = world.finish(check)?;
        let nodes: Vec<_> = world.nodes.iter().map(|node| &node.0).collect();
        let down = world.plight().map(|plight| plight.down.clone());
        let down = down.unwrap_or_else(|| NodeSet::empty(count));
        let live = NodeSet::of(count, NodeId::all(count).filter(|&node| !down.contains(node)));
        let views: Vec<_> = nodes.iter().map(|node| node.leadership()).collect();
        let settled = E::is_done(&nodes, &live);
        let leader = live.iter().find_map(|node| views[node.index()]).filter(|_| settled);
        Ok(ContestReport {
            messages: std::mem::take(&mut world.tally.messages),
            leader,
            settled,
            invariant: E::invariant(&nodes).unwrap_or(Ok(())),
            parents: nodes.iter().map(|node| node.parent()).collect(),
            views,
            down: down.iter().collect(),
            time: world.settled_at,
            end: world.now,
            trace: world.tally.scribe.take().map(|scribe| scribe.trace),
        })
    }

    fn check(&self) -> Result<(), SimCause> {
        let count = self.nodes.len();
        let known = |&node: &NodeId| {
            ClusterError::check_node(node, count).map(drop).map_err(SimCause::Cluster)
        };
        self.calls.iter().map(|(_, node)| node).chain(&self.down).try_for_each(known)?;
        for (_, fault) in &self.faults {
            match fault {
                Fault::Crash(node) | Fault::Recover(node) => known(node)?,
                Fault::Cut(side) => side.iter().try_for_each(known)?,
                Fault::Heal => {}
            }
        }
        let setting = |wrong: String| Err(SimCause::Setting(wrong));
        if NodeId::all(count).all(|node| self.down.contains(&node)) {
            return setting("all nodes are down: leave one that can lead".to_owned());
        }
        if let Some((_, node)) = self.calls.iter().find(|(_, node)| self.down.contains(node)) {
            return setting(format!("{node} is down and cannot call: name one that lives"));
        }
        if self.at_random.is_some_and(|random| random.crashes > count) {
            return setting(format!("there are {count} nodes to crash: take no more"));
        }
        let times = self.calls.iter().map(|it| it.0).chain(self.faults.iter().map(|it| it.0));
        let times = times.chain(self.at_random.iter().map(|random| random.within));
        if let Some(time) = times.into_iter().find(|time| !(0.0..=1e12).contains(time)) {
            return setting(format!("nothing can happen at {time}: take 0 or later"));
        }
        let delays = [self.settings.delay, Delay::Constant(self.settings.period.unwrap_or(0.0))];
        delays.iter().try_for_each(|delay| delay.check()).map_err(SimCause::Setting)
    }

    fn script(&self) -> Script {
        let mut faults: Vec<_> = self.faults.clone();
        if let Some(RandomCrashes { crashes, within, down_for }) = self.at_random {
            let mut random = Random::new(!self.settings.seed);
            let mut nodes: Vec<_> = NodeId::all(self.nodes.len()).collect();
            for _ in 0..crashes {
                let node = nodes.swap_remove(random.below(nodes.len()));
                let time = random.fraction() * within;
                faults.push((time, Fault::Crash(node)));
                faults.extend(down_for.map(|after| (time + after, Fault::Recover(node))));
            }
        }
        let at = |time: f64| Time::units(time);
        Script {
            calls: self.calls.iter().map(|&(time, node)| (at(time), node)).collect(),
            down: self.down.clone(),
            faults: faults.into_iter().map(|(time, fault)| (at(time), fault)).collect(),
            notices: self.notices.clone(),
        }
    }
}

/// What came of an election.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ContestReport {
    /// The messages, by kind. What was sent to the dead counts.
    pub messages: Traffic,
    /// Whether all nodes that live have settled on the same leader, who lives; of the echo
    /// algorithm, whether the initiator has decided.
    pub settled: bool,
    /// The leader, if so.
    pub leader: Option<Leadership>,
    /// Whom each node has for its leader. What the dead believed is among them.
    pub views: Vec<Option<Leadership>>,
    /// Each node's parent in the tree, where one is built.
    pub parents: Vec<Option<NodeId>>,
    /// Whether what the algorithm claims of its nodes holds.
    pub invariant: Result<(), &'static str>,
    /// Who is down at the end.
    pub down: Vec<NodeId>,
    /// When the last node settled.
    pub time: Time,
    /// When nothing was in flight any more.
    pub end: Time,
    /// Every event, if it was [asked for](Contest::traced).
    pub trace: Option<Trace>,
}

impl ContestReport {
    /// The nodes that live and lead, as far as they know.
    pub fn leaders(&self) -> Vec<NodeId> {
        let leads = |node: &NodeId| {
            let view = self.views[node.index()];
            view.is_some_and(|view| view.leader == *node) && !self.down.contains(node)
        };
        NodeId::all(self.views.len()).filter(leads).collect()
    }
}

impl fmt::Display for ContestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.leader {
            Some(leader) => writeln!(f, "leader    {leader}")?,
            None => writeln!(f, "leader    none that all agree on")?,
        }
        writeln!(f, "messages  {} ({})", self.messages.total(), self.messages)?;
        writeln!(f, "settled   after {}", self.time)
    }
}
