//! What can be explored, with all that it claims, and how far it is.

use exclusion::message::banta_efficient::Late;
use exclusion::message::check::{Check, Timers, Users};
use exclusion::message::quorum::Scheme;
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, ClusterError, GrantingSets, Lamport, Maekawa, NaimiTrehel, NaimiTrehelQueue, NodeId,
    Ordered, Protocol, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
    SinghalHeuristic, SuzukiKasami, TokenBased, TokenRing, Topology, Tree,
};

use crate::catalogue::{NoCluster, weighted};
use crate::exploration::ModelVisitor;
use crate::registers::Contention;
use crate::seat_program::{Bakery, BlackWhite, Program, Tournament};

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

/// A model that can be explored within a scope.
trait Scoped {
    fn within(self, name: &str, scope: &Scope) -> Self;
}

impl<P: Protocol> Scoped for Check<P> {
    /// Where messages are quick, nobody is passed by each other more than once; or twice, where it may be out of turn.
    fn within(self, name: &str, scope: &Scope) -> Self {
        let nodes = scope.requests.len();
        let wanted = NodeId::all(nodes).zip(&scope.requests);
        let check = wanted
            .fold(self, |check, (node, &times)| check.requests_of(node, times))
            .channels(scope.channels.unwrap_or(P::CHANNELS))
            .timers(scope.timers)
            .users(scope.users);
        let check = match scope.users {
            Users::AnyTime => check,
            Users::Unhurried if OUT_OF_TURN.contains(&name) => patient(check, 2),
            Users::Unhurried => patient(check, 1),
        };
        match scope.timers {
            Timers::InTime => check,
            // Late requests are passed on, but not for ever.
            Timers::AnyTime if name.ends_with("hardened") => check.at_most(passing_on(nodes)),
            // Only the formulas of Banta's cycles suppose that messages come in time: then they claim nothing.
            Timers::AnyTime
                if name.starts_with("banta_efficient") || name.starts_with("banta_k") =>
            {
                check.at_most(f64::INFINITY)
            }
            Timers::AnyTime => check,
        }
    }
}

impl<A: Program> Scoped for Contention<A> {
    /// If three or fewer want in, each but once, they may also withdraw, once, and come back.
    fn within(self, _: &str, scope: &Scope) -> Self {
        let few = scope.requests.iter().map(|&times| usize::from(times)).sum::<usize>() <= 3;
        let once = few && scope.requests.iter().all(|&times| times <= 1);
        Self { entries: scope.requests.clone(), withdrawals: u8::from(once), ..self }
    }
}

/// How many nodes there may be: with more, not even a beginning is explored.
pub const MOST_NODES: usize = 8;

/// Where the token serves whoever waits on its way; and where one may wait to be asked.
const OUT_OF_TURN: [&str; 3] = ["suzuki_kasami_line", "suzuki_kasami_tree", "singhal_heuristic"];

/// The locks over registers: they send no messages, and set no timers.
pub const REGISTERS: [&str; 3] = ["bakery", "black_white_bakery", "tournament"];

macro_rules! explorations {
    ($($name:literal => $make:expr;)*) => {
        /// The names of all algorithms that can be explored.
        pub const EXPLORABLE: &[&str] = &[$($name),*];

        /// Makes the check of an algorithm, with all that it claims, and does something with it.
        ///
        /// # Errors
        /// If there is no such algorithm, or not for so many nodes.
        pub fn with_check<V: ModelVisitor>(
            name: &str,
            scope: &Scope,
            visitor: V,
        ) -> Result<V::Output, NoCluster> {
            match name {
                $($name => {
                    let nodes = scope.requests.len();
                    if nodes > MOST_NODES {
                        return Err(NoCluster::TooManyNodes($name, MOST_NODES));
                    }
                    let made = $make(nodes).map_err(|why| NoCluster::Unfit($name, why))?;
                    Ok(visitor.visit($name, made.within($name, scope)))
                })*
                _ => Err(NoCluster::unknown(name, EXPLORABLE)),
            }
        }
    };
}

type Made<P> = Result<Check<P>, ClusterError>;

/// An algorithm that keeps to the cost that it states.
fn checked<P: Protocol>(cluster: Result<Vec<P>, ClusterError>) -> Made<P> {
    cluster.map(|cluster| Check::new(cluster).at_its_cost())
}

/// The same, with a token.
fn with_token<P: TokenBased>(cluster: Result<Vec<P>, ClusterError>) -> Made<P> {
    checked(cluster).map(Check::one_token)
}

fn maekawa(sets: Result<GrantingSets, ClusterError>) -> Made<Maekawa> {
    checked(sets.map(|sets| Maekawa::cluster(&sets)))
}

/// Each node granted by itself and the next: where plain voting deadlocks.
fn circle(nodes: usize) -> Result<GrantingSets, ClusterError> {
    ClusterError::check_size(nodes)?;
    let pair = |node| [NodeId::at(node), NodeId::at((node + 1) % nodes)];
    Ok(GrantingSets::new((0..nodes).map(pair))?)
}

fn suzuki_kasami(topology: Result<Topology, ClusterError>) -> Made<SuzukiKasami> {
    with_token(topology.map(|topology| SuzukiKasami::over(&topology)))
}

fn raymond(tree: Result<Tree, ClusterError>) -> Made<Raymond> {
    with_token(tree.map(|tree| Raymond::over(&tree)))
}

/// What an entry costs at most where requests are passed on, as far as it is explored.
fn passing_on(nodes: usize) -> f64 {
    (2 * (nodes - 1)).max(nodes) as f64
}

fn k(nodes: usize) -> usize {
    nodes.saturating_sub(1).clamp(1, 2)
}

/// Nobody is passed by each other more than so often.
fn patient<P: Protocol>(check: Check<P>, times: usize) -> Check<P> {
    let most = times * (check.cluster().len() - 1);
    check.bypass(u8::try_from(most).unwrap_or(u8::MAX))
}

/// By order of asking: each other may pass once with a request that was confirmed before, and once with one on its way.
fn in_order<P: Ordered>(made: Made<P>) -> Made<P> {
    made.map(|check| patient(check.in_order(), 2))
}

fn seats<A: Program>(
    seats: usize,
    make: fn(A, usize) -> Contention<A>,
    lock: A,
) -> Result<Contention<A>, ClusterError> {
    ClusterError::check_size(seats)?;
    Ok(make(lock, seats))
}

explorations! {
    "bakery" => |n| seats(n, Contention::first_come, Bakery { seats: n, flaw: None });
    "black_white_bakery" => |n| seats(n, Contention::first_come, BlackWhite { seats: n, hasty: false });
    "tournament" => |n| seats(n, Contention::unordered, Tournament { seats: n, leaf_first: false });
    "central_coordinator" => |n| checked(CentralCoordinator::cluster(n));
    "lamport" => |n| in_order(checked(Lamport::cluster(n)));
    "ricart_agrawala" =>
        |n| in_order(checked(RicartAgrawala::cluster(n)));
    "carvalho_roucairol" => |n| checked(CarvalhoRoucairol::cluster(n));
    "singhal_dynamic" => |n| checked(SinghalDynamic::cluster(n));
    "maekawa" => |n| checked(Maekawa::grid(n));
    "maekawa_circle" => |n| maekawa(circle(n));
    "maekawa_triangle" => |n| maekawa(
        GrantingSets::triangle(n, Scheme::Alternating).map_err(ClusterError::from));
    "maekawa_plane" => |n| maekawa(
        GrantingSets::projective_plane_of(n).map_err(ClusterError::from));
    "majority" => |n| maekawa(GrantingSets::majority(n).map_err(ClusterError::from));
    "weighted_majority" => |n| maekawa(weighted(n).map_err(ClusterError::from));
    "raymond_k" => |n| checked(RaymondK::cluster(n, k(n)));
    "token_ring" => |n| with_token(TokenRing::cluster(n));
    "suzuki_kasami" => |n| with_token(SuzukiKasami::cluster(n));
    "suzuki_kasami_ring" => |n| suzuki_kasami(Topology::ring(n));
    "suzuki_kasami_line" => |n| suzuki_kasami(Topology::line(n));
    "suzuki_kasami_tree" => |n| suzuki_kasami(Topology::k_ary_tree(n, 2));
    "ricart_agrawala_token" => |n| with_token(RicartAgrawalaToken::cluster(n));
    "singhal_heuristic" => |n| with_token(SinghalHeuristic::cluster(n));
    "raymond" => |n| with_token(Raymond::cluster(n));
    "raymond_line" => |n| raymond(Tree::line(n));
    "naimi_trehel" => |n| with_token(NaimiTrehel::cluster(n));
    "naimi_trehel_queue" => |n| with_token(NaimiTrehelQueue::cluster(n));
    "banta_simple" =>
        |n| with_token(BantaSimple::cluster(n)).map(|it| it.at_most(passing_on(n)));
    "banta_fair" => |n| with_token(BantaFair::cluster(n));
    "banta_efficient" => |n| with_token(BantaEfficient::cluster(n, Late::Strict));
    "banta_efficient_hardened" =>
        |n| with_token(BantaEfficient::cluster(n, Late::Hardened));
    "banta_k" => |n| with_token(BantaK::cluster(n, k(n), Late::Strict));
    "banta_k_hardened" => |n| with_token(BantaK::cluster(n, k(n), Late::Hardened));
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
    let scopes = EXPLORABLE.iter().flat_map(|&name| {
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
            name if OUT_OF_TURN.contains(&name) => (USUAL, &[&[3, 3, 3][..], &[3, 2, 2, 1]][..]),
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
