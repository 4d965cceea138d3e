//! What can be explored, with all that it claims, and how far it is.

use exclusion::check::{Check, Since, Timers};
use exclusion::protocol::banta_efficient::Late;
use exclusion::protocol::quorum::Scheme;
use exclusion::protocol::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, ClusterError, GrantingSets, Lamport, Maekawa, NaimiTrehel, NaimiTrehelQueue, NodeId,
    Protocol, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
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
}

impl Scope {
    /// So many nodes, each of whose users wants in so often.
    pub fn new(nodes: usize, requests: u8) -> Self {
        Self::of(vec![requests; nodes])
    }

    /// As many nodes as there are numbers: so often each one's user wants in.
    pub fn of(requests: impl Into<Vec<u8>>) -> Self {
        Self { requests: requests.into(), channels: None, timers: Timers::InTime }
    }

    /// The same, where timers may run out at any moment.
    #[must_use]
    pub fn late(self) -> Self {
        Self { timers: Timers::AnyTime, ..self }
    }
}

/// A model that can be explored within a scope.
trait Scoped {
    fn within(self, scope: &Scope) -> Self;
}

impl<P: Protocol> Scoped for Check<P> {
    fn within(self, scope: &Scope) -> Self {
        let wanted = NodeId::all(scope.requests.len()).zip(&scope.requests);
        let check = wanted
            .fold(self, |check, (node, &times)| check.requests_of(node, times))
            .channels(scope.channels.unwrap_or(P::CHANNELS))
            .timers(scope.timers);
        match scope.timers {
            Timers::InTime => check,
            // Formulas suppose that messages come in time. Late ones are passed on, but not for ever.
            Timers::AnyTime => check.at_most(passing_on(scope.requests.len())),
        }
    }
}

impl<A: Program> Scoped for Contention<A> {
    /// Three or fewer who want in but once may also withdraw, once, and come back.
    fn within(self, scope: &Scope) -> Self {
        let once = scope.requests.len() <= 3 && scope.requests.iter().all(|&times| times <= 1);
        Self { entries: scope.requests.clone(), withdrawals: u8::from(once), ..self }
    }
}

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
                    let made = $make(scope.requests.len());
                    let made = made.map_err(|why| NoCluster::Unfit($name, why))?;
                    Ok(visitor.visit($name, made.within(scope)))
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

/// Nobody is passed by each other more than so often, since then.
fn patient<P: Protocol>(made: Made<P>, since: Since, times: usize) -> Made<P> {
    made.map(|check| {
        let most =
            std::env::var("B").map_or(times * (check.cluster().len() - 1), |b| b.parse().unwrap());
        check.bypass(since, u8::try_from(most).unwrap_or(u8::MAX))
    })
}

fn once_heard<P: Protocol>(made: Made<P>) -> Made<P> {
    patient(made, Since::Heard, 1)
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
    "black_white_bakery" => |n| seats(n, Contention::first_come, BlackWhite { seats: n });
    "tournament" => |n| seats(n, Contention::unordered, Tournament { seats: n, leaf_first: false });
    "central_coordinator" => |n| once_heard(checked(CentralCoordinator::cluster(n)));
    "lamport" => |n| patient(checked(Lamport::cluster(n)).map(Check::in_order), Since::Asked, 2);
    "ricart_agrawala" =>
        |n| patient(checked(RicartAgrawala::cluster(n)).map(Check::in_order), Since::Asked, 2);
    "carvalho_roucairol" => |n| once_heard(checked(CarvalhoRoucairol::cluster(n)));
    "singhal_dynamic" => |n| once_heard(checked(SinghalDynamic::cluster(n)));
    "maekawa" => |n| once_heard(checked(Maekawa::grid(n)));
    "maekawa_circle" => |n| once_heard(maekawa(circle(n)));
    "maekawa_triangle" => |n| once_heard(maekawa(
        GrantingSets::triangle(n, Scheme::Alternating).map_err(ClusterError::from)));
    "maekawa_plane" => |n| once_heard(maekawa(
        GrantingSets::projective_plane_of(n).map_err(ClusterError::from)));
    "majority" => |n| once_heard(maekawa(GrantingSets::majority(n).map_err(ClusterError::from)));
    "weighted_majority" => |n| once_heard(maekawa(weighted(n).map_err(ClusterError::from)));
    "raymond_k" => |n| once_heard(checked(RaymondK::cluster(n, k(n))));
    "token_ring" => |n| once_heard(with_token(TokenRing::cluster(n)));
    "suzuki_kasami" => |n| once_heard(with_token(SuzukiKasami::cluster(n)));
    "suzuki_kasami_ring" => |n| once_heard(suzuki_kasami(Topology::ring(n)));
    "suzuki_kasami_tree" => |n| once_heard(suzuki_kasami(Topology::line(n)));
    "ricart_agrawala_token" => |n| once_heard(with_token(RicartAgrawalaToken::cluster(n)));
    // Who waits may not have asked anybody: it will be asked. So there is no telling when it has been heard.
    "singhal_heuristic" => |n| with_token(SinghalHeuristic::cluster(n));
    "raymond" => |n| once_heard(with_token(Raymond::cluster(n)));
    "raymond_line" => |n| once_heard(raymond(Tree::line(n)));
    "naimi_trehel" => |n| once_heard(with_token(NaimiTrehel::cluster(n)));
    "naimi_trehel_queue" => |n| once_heard(with_token(NaimiTrehelQueue::cluster(n)));
    "banta_simple" =>
        |n| once_heard(with_token(BantaSimple::cluster(n))).map(|it| it.at_most(passing_on(n)));
    "banta_fair" => |n| once_heard(with_token(BantaFair::cluster(n)));
    "banta_efficient" => |n| once_heard(with_token(BantaEfficient::cluster(n, Late::Strict)));
    "banta_efficient_hardened" =>
        |n| once_heard(with_token(BantaEfficient::cluster(n, Late::Hardened)));
    "banta_k" => |n| once_heard(with_token(BantaK::cluster(n, k(n), Late::Strict)));
    "banta_k_hardened" => |n| once_heard(with_token(BantaK::cluster(n, k(n), Late::Hardened)));
}

/// A part of [`all`] that takes some seconds.
pub fn soon() -> Vec<(&'static str, Scope)> {
    let mut scopes = all();
    scopes.retain(|(name, scope)| {
        let nodes = scope.requests.len();
        let entries: u8 = scope.requests.iter().sum();
        let large = ["lamport", "ricart_agrawala", "carvalho_roucairol", "raymond_k", "banta_fair"];
        let large = large.contains(name) || name.contains("bakery");
        nodes == 2 || nodes == 3 && (entries <= 3 || !large)
    });
    scopes
}

/// What is explored of each algorithm when all are: two nodes twice each, three nodes, four where it fits. A few states
/// more where messages are many; and where timers matter, with timers that run out at any moment.
pub fn all() -> Vec<(&'static str, Scope)> {
    let scopes = EXPLORABLE.iter().flat_map(|&name| {
        let two = Scope::new(2, 2);
        let three = [Scope::new(3, 1), Scope::new(3, 2)];
        let four = Scope::new(4, 1);
        let mut scopes = match name {
            // One who waits, and others who come often enough to pass it too often.
            "lamport" => vec![two, Scope::new(2, 3), Scope::new(3, 1), Scope::of([2, 1, 1])],
            "ricart_agrawala" => {
                let [once, twice] = three;
                vec![two, Scope::new(2, 3), once, twice, Scope::of([1, 3, 2]), four]
            }
            "raymond_k" => {
                let some = [[2, 1, 1].to_vec(), [1, 1, 1, 0].to_vec()].map(Scope::of);
                [two, Scope::new(3, 1)].into_iter().chain(some).collect()
            }
            // The circle of four does not meet.
            "maekawa_circle" => [two].into_iter().chain(three).collect(),
            "maekawa_triangle" => {
                three.into_iter().chain([Scope::of([1, 1, 1, 1, 0, 0])]).collect()
            }
            "maekawa_plane" => vec![Scope::of([1, 1, 1, 0, 0, 0, 0])],
            _ => [two].into_iter().chain(three).chain([four]).collect(),
        };
        if name.ends_with("hardened") {
            scopes.extend([Scope::new(3, 1).late(), Scope::new(3, 2).late()]);
        }
        scopes.into_iter().map(move |scope| (name, scope))
    });
    scopes.collect()
}
