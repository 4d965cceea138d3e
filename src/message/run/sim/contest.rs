//! Elections in the simulator: who calls when, who goes down and comes back, and who leads then.

use std::fmt;

use super::faults::{Fault, Notices};
use super::plan::{Aim, Deed, Plan, RandomFaults};
use super::settings::Settings;
use super::world::{View, World};
use super::{Delay, SimCause, SimError, Workload};
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
    plan: Plan<Unattended<E>>,
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
            plan: Plan::default(),
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

    fault_settings!(Unattended<E>);

    /// So many nodes, chosen by the seed, crash at moments before `within`, and come back after
    /// `down_for`, if at all.
    pub fn crashes_at_random(self, crashes: usize, within: f64, down_for: Option<f64>) -> Self {
        let random = RandomFaults { crashes, within, down_for, ..RandomFaults::default() };
        self.faults_at_random(random)
    }

    /// From a time on, the first node that leads, as far as it knows, is hit.
    pub fn aim_at_leader(self, time: f64, deed: Deed) -> Self {
        let leads = |node: &Unattended<E>| {
            let leadership = node.0.leadership();
            leadership.is_some_and(|leadership| leadership.leader == node.0.id())
        };
        self.aim_at(time, leads, deed)
    }

    network_settings!();

    /// Who calls and who is down from the beginning, for the formula. None if somebody calls or
    /// goes down later: no formula is about that.
    pub fn circumstances(&self) -> Option<Circumstances> {
        let initiators = self.calls.iter().map(|&(time, node)| (time <= 0.0).then_some(node));
        let initiators = initiators.collect::<Option<_>>()?;
        let crashed = self.plan.down.clone();
        self.plan.is_over_at_once().then_some(Circumstances { initiators, crashed })
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
        let at = |&(time, node): &(f64, NodeId)| (Time::units(time), node);
        let calls = self.calls.iter().map(at).collect();
        let world = World::new(Unattended::all(self.nodes), self.settings);
        let world = world.befallen_by(self.plan).with_calls(calls);
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
        let known = |node: NodeId| {
            ClusterError::check_node(node, count).map(drop).map_err(SimCause::Cluster)
        };
        self.calls.iter().try_for_each(|(_, node)| known(*node))?;
        let setting = |wrong: String| Err(SimCause::Setting(wrong));
        let down = &self.plan.down;
        if NodeId::all(count).all(|node| down.contains(&node)) {
            return setting("all nodes are down: leave one that can lead".to_owned());
        }
        if let Some((_, node)) = self.calls.iter().find(|(_, node)| down.contains(node)) {
            return setting(format!("{node} is down and cannot call: name one that lives"));
        }
        if let Some((time, _)) = self.calls.iter().find(|it| !(0.0..=1e12).contains(&it.0)) {
            return setting(format!("nothing can happen at {time}: take 0 or later"));
        }
        self.plan.check(count)?;
        let delays = [self.settings.delay, Delay::Constant(self.settings.period.unwrap_or(0.0))];
        delays.iter().try_for_each(|delay| delay.check()).map_err(SimCause::Setting)
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
