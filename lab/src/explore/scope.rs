//! What can be explored, with all that it claims: the algorithms and elections of the registry,
//! locks that start from an election, and the locks over registers.

use exclusion::message::check::{Check, Timers, Users};
use exclusion::message::registry::{
    Algorithm, ElectionAlgorithm, Electorate, RegistryError, Shipped, Size, Visitor,
};
use exclusion::message::{Channels, ClusterError, Graph, NodeId, Protocol};

use super::elected::{ELECTED, with_elected};
use super::exploration::ModelVisitor;
use super::readers_program::RwBakery;
use super::registers::Contention;
use super::seat_program::{Bakery, BlackWhite, Program, Tournament};

/// What befalls nodes only when no message is in flight, and no timer runs. A bound, where a whole
/// exploration does not fit.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub enum AtRest {
    /// Both happen at any step.
    #[default]
    Neither,
    /// Nodes crash only then, and recover at any step.
    Crashes,
    /// Nodes crash at any step, and recover only then.
    Recoveries,
    /// Nodes crash and recover only then.
    Both,
}

/// What is to be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// How many times each node's user wants in; of an election, how many times each node calls it.
    pub requests: Vec<u8>,
    /// In which order messages arrive. None: as the algorithm needs it.
    pub channels: Option<Channels>,
    /// When timers run out.
    pub timers: Timers,
    /// When users ask and leave.
    pub users: Users,
    /// How many users may be inside at a time, if the algorithm lets in several. None: two.
    pub entries: Option<usize>,
    /// How many times a node may crash. Elections only, and locks that start from one.
    pub crashes: u8,
    /// How many times a node that has crashed may recover.
    pub recoveries: u8,
    /// Which of both happen only when the cluster rests.
    pub at_rest: AtRest,
    /// The graph of an election that runs on any. None: the complete one; where a lock starts from
    /// it, a line.
    pub graph: Option<Graph>,
}

impl Scope {
    /// This many nodes, each of whose users wants in this many times.
    pub fn new(nodes: usize, requests: u8) -> Self {
        Self::of(vec![requests; nodes])
    }

    /// One node per number: how many times its user wants in.
    pub fn of(requests: impl Into<Vec<u8>>) -> Self {
        let (timers, users) = (Timers::InTime, Users::AnyTime);
        Self {
            requests: requests.into(),
            channels: None,
            timers,
            users,
            entries: None,
            crashes: 0,
            recoveries: 0,
            at_rest: AtRest::Neither,
            graph: None,
        }
    }

    /// The same, where nodes may crash, and recover, so many times.
    #[must_use]
    pub fn with_faults(self, crashes: u8, recoveries: u8) -> Self {
        Self { crashes, recoveries, ..self }
    }

    /// The same cluster, whose nodes crash and recover as this scope says.
    pub(super) fn befall<P: Protocol>(&self, check: Check<P>) -> Check<P> {
        let check = check.crashes(self.crashes).recoveries(self.recoveries);
        match self.at_rest {
            AtRest::Neither => check,
            AtRest::Crashes => check.crashes_at_rest(),
            AtRest::Recoveries => check.recoveries_at_rest(),
            AtRest::Both => check.crashes_at_rest().recoveries_at_rest(),
        }
    }

    /// The same, where timers may run out at any moment.
    #[must_use]
    pub fn late(self) -> Self {
        Self { timers: Timers::AnyTime, ..self }
    }
}

/// Explores a cluster within a scope, with all that its algorithm claims.
pub(super) struct Within<'a, V> {
    pub(super) scope: &'a Scope,
    pub(super) visitor: V,
}

impl<V: ModelVisitor> Visitor for Within<'_, V> {
    type Output = V::Output;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> V::Output {
        let Self { scope, visitor } = self;
        let wanted = NodeId::all(scope.requests.len()).zip(&scope.requests);
        let check = wanted
            .fold(Check::new(cluster), |check, (node, &times)| check.requests_of(node, times))
            .channels(scope.channels.unwrap_or(P::CHANNELS))
            .timers(scope.timers)
            .users(scope.users);
        visitor.visit(algorithm.name, check.as_claimed())
    }
}

/// A lock over registers, within a scope. If three or fewer want in, each but once, they may also
/// withdraw, once, and come back.
fn contention<A: Program>(
    scope: &Scope,
    make: fn(A, usize) -> Contention<A>,
    lock: A,
) -> Contention<A> {
    let few = scope.requests.iter().map(|&times| usize::from(times)).sum::<usize>() <= 3;
    let once = few && scope.requests.iter().all(|&times| times <= 1);
    let made = make(lock, scope.requests.len());
    Contention { entries: scope.requests.clone(), withdrawals: u8::from(once), ..made }
}

/// The most nodes. With more, an exploration would hardly begin.
pub const MOST_NODES: usize = 8;

/// How many users may be inside at a time by default: two, if the cluster allows it.
pub(super) fn usual_entries(nodes: usize) -> usize {
    nodes.saturating_sub(1).clamp(1, 2)
}

/// A lock over registers. It sends no messages and sets no timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterLock {
    /// Lamport's bakery.
    Bakery,
    /// The bakery with readers.
    RwBakery,
    /// The bakery with readers, of which two may be inside at a time.
    RwBakeryOfTwo,
    /// The bakery whose tickets are bounded, since they have one of two colours.
    BlackWhiteBakery,
    /// A tree of locks for two.
    Tournament,
}

impl RegisterLock {
    /// Every lock over registers.
    pub const ALL: [Self; 5] = [
        Self::Bakery,
        Self::RwBakery,
        Self::RwBakeryOfTwo,
        Self::BlackWhiteBakery,
        Self::Tournament,
    ];

    /// Its name, as commands take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bakery => "bakery",
            Self::RwBakery => "rw_bakery",
            Self::RwBakeryOfTwo => "rw_bakery_of_two",
            Self::BlackWhiteBakery => "black_white",
            Self::Tournament => "tournament",
        }
    }

    /// The lock of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lock| lock.name() == name)
    }

    fn with_model<V: ModelVisitor>(
        self,
        scope: &Scope,
        visitor: V,
    ) -> Result<V::Output, RegistryError> {
        let (name, seats) = (self.name(), scope.requests.len());
        if seats > MOST_NODES {
            return Err(RegistryError::TooManyNodes { algorithm: name, most: MOST_NODES });
        }
        ClusterError::check_size(seats).map_err(|why| RegistryError::Unfit(name, why))?;
        Ok(match self {
            Self::Bakery => {
                let lock = Bakery { seats, flaw: None };
                visitor.visit(name, contention(scope, Contention::first_come, lock))
            }
            Self::RwBakery => {
                let lock = RwBakery { seats, most: seats, flaw: None };
                visitor.visit(name, contention(scope, Contention::first_come, lock))
            }
            Self::RwBakeryOfTwo => {
                let lock = RwBakery { seats, most: 2, flaw: None };
                visitor.visit(name, contention(scope, Contention::first_come, lock))
            }
            Self::BlackWhiteBakery => {
                let lock = BlackWhite { seats, hasty: false };
                visitor.visit(name, contention(scope, Contention::first_come, lock))
            }
            Self::Tournament => {
                let lock = Tournament { seats, leaf_first: false };
                visitor.visit(name, contention(scope, Contention::unordered, lock))
            }
        })
    }
}

/// Makes the model of an algorithm, or of a lock over registers, with all that it claims, and shows
/// it to the visitor.
///
/// # Errors
/// If there is no such algorithm, or not for this number of nodes or of users inside at a time.
pub fn with_check<V: ModelVisitor>(
    name: &str,
    scope: &Scope,
    visitor: V,
) -> Result<V::Output, RegistryError> {
    if let Some(lock) = RegisterLock::named(name) {
        return lock.with_model(scope, visitor);
    }
    let nodes = scope.requests.len();
    let fits = |algorithm| match nodes {
        0..=MOST_NODES => Ok(()),
        _ => Err(RegistryError::TooManyNodes { algorithm, most: MOST_NODES }),
    };
    if let Ok(election) = ElectionAlgorithm::named(name) {
        fits(election.name)?;
        let of = scope.graph.clone().map_or(Electorate::of(nodes), Electorate::on);
        return election.build(&of, Within { scope, visitor });
    }
    if ELECTED.contains(&name) {
        return with_elected(name, scope, visitor).expect("it is listed");
    }
    let algorithm = Algorithm::named(name)?;
    fits(algorithm.name)?;
    let usual = algorithm.several_entries.then(|| usual_entries(nodes));
    let size = Size { nodes, entries: scope.entries.or(usual) };
    algorithm.build(size, Within { scope, visitor })
}
