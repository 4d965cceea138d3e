//! What can be explored, with all that it claims, and how far it is.

use exclusion::message::check::{Check, Timers, Users};
use exclusion::message::registry::{ALGORITHMS, Algorithm, RegistryError, Shipped, Size, Visitor};
use exclusion::message::{Channels, ClusterError, NodeId};

use super::exploration::ModelVisitor;
use super::registers::Contention;
use super::seat_program::{Bakery, BlackWhite, Program, Tournament};

/// What is to be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// How many times each node's user wants in.
    pub requests: Vec<u8>,
    /// In which order messages arrive; as the algorithm needs it, if it is not said.
    pub channels: Option<Channels>,
    /// When timers run out.
    pub timers: Timers,
    /// When users ask and leave.
    pub users: Users,
}

impl Scope {
    /// So many nodes, each of whose users wants in so often.
    pub fn new(nodes: usize, requests: u8) -> Self {
        Self::of(vec![requests; nodes])
    }

    /// As many nodes as there are numbers: so often each one's user wants in.
    pub fn of(requests: impl Into<Vec<u8>>) -> Self {
        let (timers, users) = (Timers::InTime, Users::AnyTime);
        Self { requests: requests.into(), channels: None, timers, users }
    }

    /// The same, where messages are quicker than users.
    #[must_use]
    pub fn quick(self) -> Self {
        Self { users: Users::Unhurried, ..self }
    }

    /// The same, where timers may run out at any moment.
    #[must_use]
    pub fn late(self) -> Self {
        Self { timers: Timers::AnyTime, ..self }
    }
}

/// Explores a cluster within a scope, with all that its algorithm claims.
struct Within<'a, V> {
    scope: &'a Scope,
    visitor: V,
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

/// A lock over registers, within a scope. If three or fewer want in, each but once, they may also withdraw, once, and
/// come back.
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

/// How many nodes there may be: with more, not even a beginning is explored.
pub const MOST_NODES: usize = 8;

/// The locks over registers: they send no messages, and set no timers.
pub const REGISTERS: [&str; 3] = ["bakery", "black_white_bakery", "tournament"];

/// Makes the check of an algorithm, or of a lock over registers, with all that it claims, and does something with it.
///
/// # Errors
/// If there is no such algorithm, or not for so many nodes.
pub fn with_check<V: ModelVisitor>(
    name: &str,
    scope: &Scope,
    visitor: V,
) -> Result<V::Output, RegistryError> {
    let nodes = scope.requests.len();
    if let Some(&lock) = REGISTERS.iter().find(|&&lock| lock == name) {
        if nodes > MOST_NODES {
            return Err(RegistryError::TooManyNodes { algorithm: lock, most: MOST_NODES });
        }
        ClusterError::check_size(nodes).map_err(|why| RegistryError::Unfit(lock, why))?;
        return Ok(match lock {
            "bakery" => {
                let lock = Bakery { seats: nodes, flaw: None };
                visitor.visit("bakery", contention(scope, Contention::first_come, lock))
            }
            "black_white_bakery" => {
                let lock = BlackWhite { seats: nodes, hasty: false };
                visitor.visit("black_white_bakery", contention(scope, Contention::first_come, lock))
            }
            _ => {
                let lock = Tournament { seats: nodes, leaf_first: false };
                visitor.visit("tournament", contention(scope, Contention::unordered, lock))
            }
        });
    }
    let algorithm = Algorithm::named(name)?;
    if nodes > MOST_NODES {
        let algorithm = algorithm.name;
        return Err(RegistryError::TooManyNodes { algorithm, most: MOST_NODES });
    }
    // Two inside at a time show what there is to see, where so many can be.
    let k = nodes.saturating_sub(1).clamp(1, 2);
    let size = Size { nodes, entries: algorithm.several_entries.then_some(k) };
    algorithm.build(size, Within { scope, visitor })
}

/// A part of [`all`] that takes some seconds.
pub fn soon() -> Vec<(&'static str, Scope)> {
    let mut scopes = all();
    scopes.retain(|(name, scope)| {
        let nodes = scope.requests.len();
        let entries: u8 = scope.requests.iter().sum();
        let large = ["lamport", "ricart_agrawala", "carvalho_roucairol", "raymond_k", "banta_fair"];
        let large = large.contains(name) || REGISTERS.contains(name);
        let quick = scope.users == Users::Unhurried;
        nodes == 2 || nodes == 3 && (entries <= 3 || quick || !large)
    });
    scopes
}

/// Two nodes twice each, three nodes, and four where it fits: how many times each wants in.
const USUAL: &[&[u8]] = &[&[2, 2], &[1, 1, 1], &[2, 2, 2], &[1, 1, 1, 1]];

/// Where messages are quick: each often enough to pass the others too often.
const QUICK: &[&[u8]] = &[&[3, 3, 3], &[2, 2, 2, 2]];

/// What is explored of each algorithm when all are: slow and quick messages; and where it is claimed that nothing is lost
/// by it, timers that run out at any moment.
pub fn all() -> Vec<(&'static str, Scope)> {
    let names = REGISTERS.into_iter().chain(ALGORITHMS.iter().map(|algorithm| algorithm.name));
    let scopes = names.flat_map(|name| {
        let (slow, quick): (&[&[u8]], _) = match name {
            // A seat that is never taken, so that the others may withdraw; and one who comes twice.
            name if REGISTERS.contains(&name) => (
                &[&[2, 2], &[1, 1, 1], &[2, 2, 2], &[1, 1, 1, 1], &[1, 1, 1, 0], &[2, 1, 1, 1]],
                &[][..],
            ),
            // By order of asking: the others come often enough to pass, however slow messages are. Many messages.
            "lamport" => (&[&[2, 2], &[1, 1, 1], &[3, 3], &[2, 1, 1]], QUICK),
            "ricart_agrawala" => {
                (&[&[2, 2], &[1, 1, 1], &[2, 2, 2], &[1, 1, 1, 1], &[3, 3], &[1, 3, 2]], QUICK)
            }
            "raymond_k" => (&[&[2, 2], &[1, 1, 1], &[2, 1, 1], &[1, 1, 1, 0]], QUICK),
            // The circle of four does not meet.
            "maekawa_circle" => (&[&[2, 2], &[1, 1, 1], &[2, 2, 2]], &QUICK[..1]),
            "maekawa_triangle" => (&[&[1, 1, 1], &[2, 2, 2], &[1, 1, 1, 1, 0, 0]], &QUICK[..1]),
            "maekawa_plane" => (&[&[1, 1, 1, 0, 0, 0, 0]], &[&[4, 3, 1, 0, 0, 0, 0][..]][..]),
            "suzuki_kasami_line" | "suzuki_kasami_tree" | "singhal_heuristic" => {
                (USUAL, &[&[3, 3, 3][..], &[3, 2, 2, 1]][..])
            }
            _ => (USUAL, QUICK),
        };
        let late: &[&[u8]] =
            if name.ends_with("hardened") { &[&[1, 1, 1], &[2, 2, 2]] } else { &[] };
        let slow = slow.iter().map(|&requests| Scope::of(requests));
        let quick = quick.iter().map(|&requests| Scope::of(requests).quick());
        let late = late.iter().map(|&requests| Scope::of(requests).late());
        slow.chain(quick).chain(late).map(move |scope| (name, scope)).collect::<Vec<_>>()
    });
    scopes.collect()
}
