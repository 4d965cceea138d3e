//! What a fault does to each algorithm as it is in its paper: explored, each cell with its shortest
//! trace.
//!
//! One node dies in a role, or one message of a kind is lost, and nobody is told. The exploration
//! finds the worst that can come of it.

use std::collections::BTreeSet;

use exclusion::message::check::{Check, Outcome, State, TooManyStates, Users, trace_of};
use exclusion::message::registry::{Algorithm, Family, RegistryError, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{NodeId, Protocol, Role, Trace};

use crate::played::Played;

/// What befalls a cluster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Plague {
    /// A node dies in this role.
    Dies(Seat),
    /// A message of this kind is lost.
    Lost(&'static str),
}

/// In which role a node dies: those of users, and one on which others depend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Seat {
    /// Its user wants nothing, and nobody depends on it.
    Idle,
    /// Its user wants nothing, but it has the token.
    IdleWithToken,
    /// Its user waits.
    Requester,
    /// Its user is inside.
    Holder,
    /// Its user wants nothing, and others depend on it: the coordinator, an arbiter of a request
    /// under way, or an inner node of a tree.
    Arbiter,
}

impl Seat {
    /// Every one, in the order of the table.
    pub const ALL: [Self; 5] =
        [Self::Idle, Self::IdleWithToken, Self::Requester, Self::Holder, Self::Arbiter];

    /// Its name, as commands take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => Role::Idle.name(),
            Self::IdleWithToken => Role::IdleWithToken.name(),
            Self::Requester => Role::Requester.name(),
            Self::Holder => Role::Holder.name(),
            Self::Arbiter => "arbiter",
        }
    }

    /// The one of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|seat| seat.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{name}' is no role: take one of {names}")
        })
    }
}

impl Plague {
    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::Dies(seat) => format!("{} dies", seat.name()),
            Self::Lost(kind) => format!("{kind} lost"),
        }
    }
}

/// What a fault does to an algorithm.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The algorithm.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// The fault.
    pub plague: Plague,
    /// The worst that comes of it. None if it cannot befall this algorithm.
    pub outcome: Option<Outcome>,
    /// Who is never served.
    pub blocked: Vec<NodeId>,
    /// A shortest way to the worst, unless it is harmless.
    pub trace: Option<Trace>,
    /// That way as it is played again.
    pub played: Option<Played>,
    /// How many states were explored.
    pub states: usize,
}

impl Cell {
    /// The outcome in a word.
    pub fn verdict(&self) -> String {
        self.outcome.map_or_else(|| "cannot be".to_owned(), |outcome| outcome.to_string())
    }

    /// How many steps the trace takes.
    pub fn steps(&self) -> usize {
        // A step is a unit of time.
        let last = self.trace.as_ref().and_then(|trace| trace.events.last());
        last.map_or(0, |event| event.time.as_units() as usize)
    }
}

/// How far an algorithm is explored.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How many nodes. Each user wants in once.
    pub nodes: usize,
    /// Whether the user of node 1 wants in twice, so that somebody comes after its first entry who
    /// has entered before.
    again: bool,
    /// Whether it takes no more than a second or so.
    pub soon: bool,
    users: Users,
}

/// How far this algorithm is explored: three nodes where its arrangement allows that, four on a
/// grid, so that a node is outside a quorum.
pub fn reach(algorithm: &Algorithm) -> Reach {
    let slow = |again, soon| Reach { nodes: 3, again, soon, users: Users::AnyTime };
    // Users act only when no message is in flight: otherwise there are too many states.
    let quick = |nodes| Reach { nodes, again: true, soon: true, users: Users::Unhurried };
    match algorithm.name {
        "maekawa" => quick(4),
        "majority" | "weighted_majority" => quick(3),
        "lamport" => slow(false, false),
        _ => slow(true, true),
    }
}

/// Explores what a fault does to an algorithm.
///
/// # Errors
/// If there is no such cluster, or too many states.
pub fn explore(algorithm: &'static Algorithm, plague: Plague) -> Result<Cell, String> {
    let explored = algorithm.build(Size::of(reach(algorithm).nodes), Explore(plague));
    explored.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// The faults that can befall an algorithm, in the order of the table.
///
/// # Errors
/// If there is no such cluster.
pub fn plagues(algorithm: &'static Algorithm) -> Result<Vec<Plague>, RegistryError> {
    let kinds = algorithm.build(Size::of(reach(algorithm).nodes), Kinds)?;
    let dies = Seat::ALL.into_iter().map(Plague::Dies);
    Ok(dies.chain(kinds.into_iter().map(Plague::Lost)).collect())
}

/// Which kinds of messages an algorithm sends, found by running it under load.
struct Kinds;

impl Visitor for Kinds {
    type Output = BTreeSet<&'static str>;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let mut kinds = BTreeSet::new();
        for seed in 0..8 {
            let wanting = cluster.len();
            let report = Simulation::new(cluster.clone())
                .workload(Workload::Saturated { wanting, entries: 100 })
                .outside(Delay::Exponential(2.0))
                .delay(Delay::Exponential(1.0))
                .seed(seed)
                .run()
                .expect("nothing befalls it");
            kinds.extend(report.messages.iter().map(|(kind, _)| kind));
        }
        kinds
    }
}

struct Explore(Plague);

/// More states than any exploration of the table has.
const MOST_STATES: usize = 20_000_000;

impl Visitor for Explore {
    type Output = Result<Cell, TooManyStates>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let nodes = cluster.len();
        let Reach { users, again, .. } = reach(algorithm);
        let check = Check::new(cluster).untold().ignoring_refused().users(users);
        let check = if again { check.requests_of(NodeId(1), 2) } else { check };
        let check = match self.0 {
            Plague::Dies(seat) => dying(check.crashes(1), algorithm, seat),
            Plague::Lost(kind) => check.losses(1).only(kind),
        };
        let aftermath = check.aftermath(MOST_STATES)?;
        let trace = aftermath.path.map(|path| trace_of(&check, path));
        let played = trace.as_ref().map(|trace| Played::of(check.cluster().to_vec(), trace));
        Ok(Cell {
            algorithm: algorithm.name,
            nodes,
            plague: self.0,
            outcome: aftermath.happened.then_some(aftermath.outcome),
            blocked: aftermath.blocked,
            trace,
            played,
            states: aftermath.states,
        })
    }
}

/// Lets only a node in this role die.
fn dying<P: Shipped>(check: Check<P>, algorithm: &Algorithm, seat: Seat) -> Check<P> {
    let nodes = check.cluster().len();
    let others_depend = Depended::of(algorithm, nodes);
    let role = match seat {
        Seat::Idle => Role::Idle,
        Seat::IdleWithToken => Role::IdleWithToken,
        Seat::Requester => Role::Requester,
        Seat::Holder => Role::Holder,
        Seat::Arbiter => return others_depend.dying(check),
    };
    let check = check.crashes_of_role(role);
    match others_depend {
        Depended::Nodes(some) => {
            check.crashes_of(NodeId::all(nodes).filter(|node| !some.contains(node)))
        }
        Depended::Asked | Depended::Nobody => check,
    }
}

/// A node on which others depend always, although its user wants nothing.
pub fn pivot(algorithm: &Algorithm, nodes: usize) -> Option<NodeId> {
    match Depended::of(algorithm, nodes) {
        Depended::Nodes(some) => some.first().copied(),
        Depended::Asked | Depended::Nobody => None,
    }
}

/// On whom others depend although its user wants nothing.
enum Depended {
    /// On these nodes, always.
    Nodes(Vec<NodeId>),
    /// On any node, while a request is under way.
    Asked,
    /// On nobody in particular.
    Nobody,
}

impl Depended {
    fn of(algorithm: &Algorithm, nodes: usize) -> Self {
        let ends = |node: &NodeId| node.index() == 0 || node.index() + 1 == nodes;
        match (algorithm.name, algorithm.implemented_by, algorithm.family) {
            (_, "CentralCoordinator", _) => Self::Nodes(vec![NodeId(0)]),
            ("raymond_line", ..) => {
                Self::Nodes(NodeId::all(nodes).filter(|node| !ends(node)).collect())
            }
            // Three nodes: a root and its leaves.
            (_, "Raymond", _) => Self::Nodes(vec![NodeId(0)]),
            (.., Family::Quorum) => Self::Asked,
            _ => Self::Nobody,
        }
    }

    fn dying<P: Shipped>(self, check: Check<P>) -> Check<P> {
        match self {
            Self::Nodes(some) => check.crashes_of_role(Role::Idle).crashes_of(some),
            Self::Asked => check.crashes_when(is_asked),
            Self::Nobody => check.crashes_of([]),
        }
    }
}

/// Whether a node is idle while another waits or is inside.
fn is_asked<P: Protocol>(state: &State<P>, node: NodeId) -> bool {
    let others = state.waiting().chain(state.inside()).any(|other| other != node);
    others && state.phase(node).is_idle()
}

/// The cells as a table for the documentation, a row for each algorithm. Where the shortest way to
/// the worst is longer than nothing, its number of steps stands behind it.
pub fn markdown(cells: &[Cell]) -> String {
    let mut text = "\
| algorithm | nodes | idle dies | idle with the token dies | requester dies | holder dies \
| coordinator, arbiter or inner node dies | a message is lost |
|---|---|---|---|---|---|---|---|
"
    .to_owned();
    let mut rest = cells;
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|cell| cell.algorithm == first.algorithm).count();
        let (row, others) = rest.split_at(count);
        text += &format!("| `{}` | {} |", first.algorithm, first.nodes);
        for seat in Seat::ALL {
            let cell = row.iter().find(|cell| cell.plague == Plague::Dies(seat));
            text += &format!(" {} |", cell.map_or_else(String::new, in_short));
        }
        let lost = row.iter().filter_map(|cell| match (cell.plague, cell.outcome) {
            (Plague::Lost(kind), Some(_)) => Some(format!("{kind}: {}", in_short(cell))),
            _ => None,
        });
        text += &format!(" {} |\n", lost.collect::<Vec<_>>().join("; "));
        rest = others;
    }
    text
}

/// The outcome, and how many steps lead to it. Nothing if the fault cannot be.
fn in_short(cell: &Cell) -> String {
    match (cell.outcome, cell.steps()) {
        (None, _) => String::new(),
        (Some(outcome), 0) => outcome.to_string(),
        (Some(outcome), steps) => format!("{outcome} ({steps})"),
    }
}
