//! Whether algorithms survive a fault with the layers that are made for that, and what these cost:
//! run in the simulator.

use exclusion::message::registry::{Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::Workload;
use exclusion::message::sim::{Deed, Delay, Fault, Report, SimCause, SimError, Simulation, View};
use exclusion::message::{
    Claims, Detector, FromRegistry, Link, Machine, NodeId, Recovering, Role, Violation,
};
use serde::Serialize;

/// What befalls a cluster while it is simulated.
#[derive(Clone, PartialEq, Debug)]
pub enum Blow {
    /// The first node that has the role dies, and comes back after a while, if at all.
    Crash {
        /// Its role.
        role: Role,
        /// Only this node may die, if one is named: node 0 or 1.
        only: Option<NodeId>,
        /// After which time it comes back.
        back_after: Option<f64>,
    },
    /// A message of this kind is lost.
    LoseOne(&'static str),
    /// Each message is lost with this probability.
    Loss(f64),
    /// These nodes are cut off for a while.
    Cut(Vec<NodeId>),
}

impl Blow {
    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Crash { role, back_after: None, .. } => format!("{role} dies"),
            Self::Crash { role, back_after: Some(_), .. } => format!("{role} dies and comes back"),
            Self::LoseOne(kind) => format!("{kind} lost"),
            Self::Loss(chance) => format!("loss {chance}"),
            Self::Cut(side) => {
                let side: Vec<_> = side.iter().map(NodeId::to_string).collect();
                format!("{} cut off", side.join(" "))
            }
        }
    }
}

/// What came of simulated runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Survival {
    /// `served`, or what went wrong.
    pub verdict: String,
    /// Messages per entry, with all that the layers send.
    pub messages: f64,
    /// Those of them by which detectors tell that their nodes live.
    pub heartbeats: f64,
    /// Messages about views in a run: what it takes to go on without a node, or with it again.
    pub view_messages: f64,
    /// From asking to entering, on average, in T.
    pub delay: f64,
}

impl Survival {
    /// Whether everybody that lived was served, one at a time.
    pub fn is_served(&self) -> bool {
        self.verdict == SERVED
    }
}

const SERVED: &str = "served";

/// When all heals, and how long one may wait from then on.
const HEALS_AT: f64 = 150.0;
const WITHIN: f64 = 400.0;

/// From when on something befalls the nodes: the second round is under way.
const BEGINS_AT: f64 = 10.0;

/// How many seeds each fault is tried with.
const SEEDS: u64 = 4;

/// Runs the algorithm as it is in its paper.
pub struct Plain<'a>(pub &'a Blow);

/// Runs the algorithm with the layers that are made for the fault: a link against loss; a link, a
/// detector and recovery against crashes and cuts.
pub struct Layered<'a>(pub &'a Blow);

/// A size at which a cut leaves a majority, and at which there is such an arrangement.
pub fn size(algorithm: &'static Algorithm) -> Size {
    struct Fits;
    impl Visitor for Fits {
        type Output = ();
        fn visit<P: Shipped>(self, _: &'static Algorithm, _: Vec<P>) {}
    }
    let fits = |nodes: &usize| algorithm.build(Size::of(*nodes), Fits).is_ok();
    Size::of([5, 6, 7, 3].into_iter().find(fits).unwrap_or(algorithm.nodes_to_show))
}

impl Visitor for Plain<'_> {
    type Output = Survival;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> Survival {
        survive(&cluster, self.0, |role, _| role.test::<P>(), false)
    }
}

impl Visitor for Layered<'_> {
    type Output = Survival;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Survival {
        match self.0 {
            Blow::LoseOne(_) | Blow::Loss(_) => {
                survive(&Link::over(cluster), self.0, |role, _| role.test::<Link<P>>(), false)
            }
            Blow::Crash { .. } | Blow::Cut(_) => {
                let recovering = Recovering::over(algorithm, cluster).expect("it is a cluster");
                let across = matches!(self.0, Blow::Cut(_));
                // Across a cut a node that lives cannot be told apart from a dead one.
                let gated = |node: Recovering<_>| if across { node.gated() } else { node };
                let stack = recovering.into_iter().map(gated).map(Link::new);
                let stack: Vec<_> = stack.map(Detector::reliable).collect();
                let mut survival = survive(&stack, self.0, in_role::<P>, true);
                if survival.is_served() && survival.view_messages == 0.0 {
                    survival.verdict = "nothing befell it".to_owned();
                }
                survival
            }
        }
    }
}

type Stack<P> = Detector<Link<Recovering<FromRegistry<P>>>>;

/// Whether a node is hit.
type Fits<P> = fn(&P) -> bool;

/// Whether the lock of a node has this role, and it is the one that is meant: the layers know of no
/// token.
fn in_role<P: Shipped>(role: Role, only: Option<NodeId>) -> Fits<Stack<P>> {
    fn has<P: Shipped>(node: &Stack<P>, role: Role) -> bool {
        node.inner().inner().lock().is_some_and(|lock| role.is_of(lock))
    }
    match (role, only) {
        (Role::Idle, Some(NodeId(0))) => |node| node.id() == NodeId(0) && has(node, Role::Idle),
        (Role::Idle, Some(_)) => |node| node.id() == NodeId(1) && has(node, Role::Idle),
        (Role::Idle, None) => |node| has(node, Role::Idle),
        (Role::IdleWithToken, _) => |node| has(node, Role::IdleWithToken),
        (Role::Requester, _) => |node| has(node, Role::Requester),
        _ => |node| has(node, Role::Holder),
    }
}

/// What detectors and views say.
const VIEWS: [&str; 5] = ["HALT", "STATE", "PROMISED", "LEFT", "INSTALL"];

/// Runs a cluster with several seeds, until one goes wrong.
fn survive<P: Claims>(
    cluster: &[P],
    blow: &Blow,
    test: fn(Role, Option<NodeId>) -> Fits<P>,
    fenced: bool,
) -> Survival {
    let mut survival = Survival {
        verdict: SERVED.to_owned(),
        messages: 0.0,
        heartbeats: 0.0,
        view_messages: 0.0,
        delay: 0.0,
    };
    let (mut entries, mut messages, mut heartbeats) = (0, 0, 0);
    for seed in 0..SEEDS {
        match run(cluster, blow, test, fenced, seed) {
            Ok(report) => {
                entries += report.entries;
                messages += report.messages.total();
                heartbeats += report.messages.of("HEARTBEAT");
                let about_views = VIEWS.iter().map(|kind| report.messages.of(kind)).sum::<u64>();
                survival.view_messages += about_views as f64 / SEEDS as f64;
                let delay = report.client_delay.map_or(0.0, |delay| delay.mean);
                survival.delay += delay / SEEDS as f64;
            }
            Err(error) => {
                survival.verdict = verdict(&error);
                return survival;
            }
        }
    }
    survival.messages = messages as f64 / entries as f64;
    survival.heartbeats = heartbeats as f64 / entries as f64;
    survival
}

fn run<P: Claims>(
    cluster: &[P],
    blow: &Blow,
    test: fn(Role, Option<NodeId>) -> Fits<P>,
    fenced: bool,
    seed: u64,
) -> Result<Report, SimError> {
    let wanting = cluster.len();
    let simulation = Simulation::new(cluster.to_vec())
        .delay(Delay::Uniform(0.5, 1.0))
        .workload(Workload::Saturated { wanting, entries: 10 * wanting as u64 })
        .outside(Delay::Uniform(2.0, 20.0))
        .seed(seed)
        .most_events(3_000_000)
        .ignoring_refused()
        .healed_at(HEALS_AT, WITHIN);
    let simulation = match blow {
        Blow::Crash { role, only, back_after } => {
            simulation.aim_at(BEGINS_AT, test(*role, *only), Deed::Crash(*back_after))
        }
        Blow::LoseOne(kind) => simulation.fault_at(BEGINS_AT, Fault::LoseNext(kind)),
        Blow::Loss(chance) => simulation.fault_at(0.0, Fault::Lose(*chance)),
        Blow::Cut(side) => simulation.fault_at(BEGINS_AT, Fault::Cut(side.clone())),
    };
    // A holder that is cut off may be overtaken: then exclusion is promised of what is fenced.
    if fenced && matches!(blow, Blow::Cut(_)) {
        return simulation.overlapping().run_checking(fences_differ);
    }
    simulation.run()
}

/// No two users are inside with the same fence. Where several may be inside together, they may have
/// the same one.
fn fences_differ<P: Claims>(view: &View<'_, P>) -> Result<(), String> {
    if view.nodes[0].entries_at_a_time() > 1 {
        return Ok(());
    }
    let living = view.nodes.iter().filter(|node| !view.is_down(node.id()));
    let mut fences: Vec<_> = living.filter_map(|node| Some(node.admission()?.fence)).collect();
    fences.sort_unstable();
    match fences.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(format!("two are inside with fence {}", twice[0])),
        None => Ok(()),
    }
}

fn verdict(error: &SimError) -> String {
    match &error.cause {
        SimCause::Violation(Violation::Deadlock(some) | Violation::NotServed(some)) => {
            let some: Vec<_> = some.iter().map(NodeId::to_string).collect();
            format!("{} block", some.join(" "))
        }
        SimCause::Violation(Violation::NotExclusive(_)) => "unsafe".to_owned(),
        _ => error.to_string(),
    }
}
