//! Exhaustive explorations: which there are, and what came of them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::time::{Duration, Instant};

use exclusion::check::{Check, Checker, HasDiscoveries, Model, Path, Property, Timers, trace_of};
use exclusion::protocol::banta_efficient::Late;
use exclusion::protocol::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, ClusterError, GrantingSets, Lamport, Maekawa, NaimiTrehel, NaimiTrehelQueue, NodeId,
    Protocol, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
    SinghalHeuristic, SuzukiKasami, TokenRing, Topology, Tree,
};
use serde::Serialize;

use crate::catalogue::NoCluster;
use crate::registers::Contention;
use crate::seat_program::{Bakery, BlackWhite, Program, Tournament};

/// What is to be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scope {
    /// How many nodes.
    pub nodes: usize,
    /// How many times each user wants in.
    pub requests: u8,
    /// How many times more node 0's does.
    pub more_of_first: u8,
    /// In which order messages arrive; as the algorithm needs it, if it is not said.
    pub channels: Option<Channels>,
    /// When timers run out.
    pub timers: Timers,
}

impl Scope {
    /// So many nodes, each of whose users wants in so often.
    pub const fn new(nodes: usize, requests: u8) -> Self {
        Self { nodes, requests, more_of_first: 0, channels: None, timers: Timers::InTime }
    }

    fn apply<M: Scoped>(self, model: M) -> M {
        model.within(self)
    }
}

/// A model that can be explored within a scope.
trait Scoped {
    fn within(self, scope: Scope) -> Self;
}

impl<P: Protocol> Scoped for Check<P> {
    fn within(self, scope: Scope) -> Self {
        self.requests(scope.requests)
            .requests_of(NodeId(0), scope.requests + scope.more_of_first)
            .channels(scope.channels.unwrap_or(P::CHANNELS))
            .timers(scope.timers)
    }
}

/// What came of an exploration.
#[derive(Clone, Debug, Serialize)]
pub struct Explored {
    /// What was explored.
    pub algorithm: String,
    /// How many nodes.
    pub nodes: usize,
    /// How many times each user wanted in; node by node where that differs.
    pub requests: String,
    /// In which order messages arrived: `fifo` or `any`; and `, late` if timers ran out at any moment.
    pub channels: &'static str,
    /// How many states there are.
    pub states: usize,
    /// How long the longest way to one is.
    pub depth: usize,
    /// How long it took.
    pub seconds: f64,
    /// `holds`, `refuted`, or `unfinished` if the limit of states came first.
    pub verdict: &'static str,
    /// The properties, and for each that does not hold how.
    pub properties: Vec<Finding>,
}

/// What came of a property.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Its name.
    pub property: &'static str,
    /// Whether it holds; null if that was not found out.
    pub holds: Option<bool>,
    /// A shortest way to where it does not, event by event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<String>,
}

impl Explored {
    /// The properties that do not hold.
    pub fn refuted(&self) -> impl Iterator<Item = &Finding> {
        self.properties.iter().filter(|finding| finding.holds == Some(false))
    }
}

/// A model that can tell what it is of, and what happened on a way through it.
pub trait Explorable:
    Model<State: Clone + PartialEq + Debug + Hash, Action: Clone + PartialEq + Debug> + Clone
{
    /// How many nodes, or seats.
    fn nodes(&self) -> usize;

    /// How many times each wants in; one by one where that differs.
    fn requests(&self) -> String;

    /// In which order messages arrive; for registers, there are none.
    fn channels(&self) -> &'static str;

    /// What happened, event by event.
    fn trace(&self, path: Path<Self::State, Self::Action>) -> String;
}

impl<P: Protocol> Explorable for Check<P> {
    fn nodes(&self) -> usize {
        self.cluster().len()
    }

    fn requests(&self) -> String {
        let wanted = self.wanted();
        if wanted.iter().all(|times| *times == wanted[0]) {
            wanted[0].to_string()
        } else {
            wanted.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
        }
    }

    fn channels(&self) -> &'static str {
        match self.network() {
            (Channels::Fifo, Timers::InTime) => "fifo",
            (Channels::Fifo, Timers::AnyTime) => "fifo, late",
            (Channels::AnyOrder, Timers::InTime) => "any",
            (Channels::AnyOrder, Timers::AnyTime) => "any, late",
        }
    }

    fn trace(&self, path: Path<Self::State, Self::Action>) -> String {
        trace_of(self, path).to_string()
    }
}

/// How to explore.
#[derive(Clone, Copy)]
pub struct Explorer<'a> {
    /// On how many threads.
    pub threads: usize,
    /// After how many states to give up.
    pub most_states: usize,
    /// Told now and then how many states have been found, and how deep.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Explorer<'_> {
    /// Explores everything that can happen. What does not hold is shown in a shortest way.
    pub fn explore<M>(&self, algorithm: &str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let start = Instant::now();
        let builder = model.clone().checker().threads(self.threads);
        let checker = builder.target_state_count(self.most_states).spawn_bfs();
        while !checker.is_done() {
            (self.progress)(checker.unique_state_count(), checker.max_depth());
            let pause = if start.elapsed() < Duration::from_secs(1) { 5 } else { 100 };
            std::thread::sleep(Duration::from_millis(pause));
        }
        let checker = checker.join();
        let unfinished = checker.state_count() >= self.most_states;
        let mut discoveries = checker.discoveries();
        let finding = |property: &Property<M>| {
            let found = discoveries.remove(property.name);
            // What must always hold is refuted by a discovery, what must sometimes hold by the lack of one.
            let always = property.expectation.discovery_is_failure();
            // What a discovery says is certain; what the lack of one says, only at the end.
            let holds = (found.is_some() || !unfinished).then_some(found.is_some() != always);
            let counterexample = found
                .filter(|_| always)
                .map(|path| model.trace(shortest(&model, property.name, path)));
            Finding { property: property.name, holds, counterexample }
        };
        let findings: Vec<_> = model.properties().iter().map(finding).collect();
        let refuted = findings.iter().any(|finding| finding.counterexample.is_some());
        let all_hold = findings.iter().all(|finding| finding.holds == Some(true));
        Explored {
            algorithm: algorithm.to_owned(),
            nodes: model.nodes(),
            requests: model.requests(),
            channels: model.channels(),
            states: checker.unique_state_count(),
            depth: checker.max_depth(),
            seconds: start.elapsed().as_secs_f64(),
            verdict: match (refuted, unfinished, all_hold) {
                (true, ..) | (false, false, false) => "refuted",
                (false, true, _) => "unfinished",
                (false, false, true) => "holds",
            },
            properties: findings,
        }
    }
}

/// A shortest way to where the property does not hold. What a checker found need not be one: it goes on looking, and
/// keeps what it found last.
fn shortest<M>(
    model: &M,
    property: &'static str,
    found: Path<M::State, M::Action>,
) -> Path<M::State, M::Action>
where
    M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
{
    let mut best = found;
    // No way of `too_short` states leads there; the best one does.
    let mut too_short = 0;
    loop {
        let states = best.clone().into_states().len();
        if too_short + 1 >= states {
            return best;
        }
        let middle = too_short.midpoint(states);
        // The checker's limit is a depth that it does not look at any more.
        let checker = model.clone().checker().target_max_depth(middle + 1);
        let found = HasDiscoveries::AnyOf(BTreeSet::from([property]));
        match checker.finish_when(found).spawn_bfs().join().discovery(property) {
            Some(shorter) => best = shorter,
            None => too_short = middle,
        }
    }
}

/// Does something with a model, whatever it is of.
pub trait ModelVisitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<M>(self, name: &'static str, model: M) -> Self::Output
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static;
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
            scope: Scope,
            visitor: V,
        ) -> Result<V::Output, NoCluster> {
            match name {
                $($name => {
                    let made = $make(scope.nodes).map_err(|why| NoCluster::Unfit($name, why))?;
                    Ok(visitor.visit($name, scope.apply(made)))
                })*
                _ => Err(NoCluster::UnknownAlgorithm(name.to_owned())),
            }
        }
    };
}

type Made<P> = Result<Check<P>, ClusterError>;

fn checked<P: Protocol>(cluster: Result<Vec<P>, ClusterError>) -> Made<P> {
    cluster.map(Check::new)
}

fn maekawa(sets: Result<GrantingSets, ClusterError>) -> Made<Maekawa> {
    sets.map(|sets| Check::new(Maekawa::cluster(&sets)))
}

/// Each node granted by itself and the next: where plain voting deadlocks.
fn circle(nodes: usize) -> Result<GrantingSets, ClusterError> {
    ClusterError::check_size(nodes)?;
    let pair = |node| [NodeId::at(node), NodeId::at((node + 1) % nodes)];
    Ok(GrantingSets::new((0..nodes).map(pair))?)
}

fn suzuki_kasami(topology: Result<Topology, ClusterError>) -> Made<SuzukiKasami> {
    topology.map(|topology| Check::new(SuzukiKasami::over(&topology)).one_token())
}

fn k(nodes: usize) -> usize {
    nodes.saturating_sub(1).clamp(1, 2)
}

impl<A: Program> Scoped for Contention<A> {
    /// Each wants in so often. Three or fewer who want in but once may also withdraw, once, and come back. Where each
    /// enters once, nobody can be passed too often.
    fn within(self, scope: Scope) -> Self {
        let withdrawals = u8::from(scope.requests == 1 && self.seats <= 3);
        let most_passed = self.most_passed.filter(|_| scope.requests > 1);
        Self { entries: scope.requests, withdrawals, most_passed, ..self }
    }
}

impl<A: Program + Debug> Explorable for Contention<A> {
    fn nodes(&self) -> usize {
        self.seats
    }

    fn requests(&self) -> String {
        self.entries.to_string()
    }

    fn channels(&self) -> &'static str {
        "registers"
    }

    fn trace(&self, path: Path<Self::State, Self::Action>) -> String {
        path.into_actions().into_iter().map(|action| format!("{action:?}\n")).collect()
    }
}

fn bakery(seats: usize) -> Result<Contention<Bakery>, ClusterError> {
    ClusterError::check_size(seats)?;
    Ok(Contention::first_come(Bakery { seats, flaw: None }, seats))
}

fn black_white(seats: usize) -> Result<Contention<BlackWhite>, ClusterError> {
    ClusterError::check_size(seats)?;
    Ok(Contention::first_come(BlackWhite { seats }, seats))
}

fn tournament(seats: usize) -> Result<Contention<Tournament>, ClusterError> {
    ClusterError::check_size(seats)?;
    Ok(Contention::unordered(Tournament { seats, leaf_first: false }, seats))
}

explorations! {
    "bakery" => bakery;
    "black_white_bakery" => black_white;
    "tournament" => tournament;
    "central_coordinator" => |n| checked(CentralCoordinator::cluster(n));
    "lamport" => |n| checked(Lamport::cluster(n)).map(Check::in_order);
    "ricart_agrawala" => |n| checked(RicartAgrawala::cluster(n)).map(Check::in_order);
    "carvalho_roucairol" => |n| checked(CarvalhoRoucairol::cluster(n));
    "singhal_dynamic" => |n| checked(SinghalDynamic::cluster(n));
    "maekawa" => |n| checked(Maekawa::grid(n));
    "maekawa_circle" => |n| maekawa(circle(n));
    "majority" => |n| maekawa(GrantingSets::majority(n).map_err(ClusterError::from));
    "raymond_k" => |n| checked(RaymondK::cluster(n, k(n)));
    "token_ring" => |n| checked(TokenRing::cluster(n)).map(Check::one_token);
    "suzuki_kasami" => |n| checked(SuzukiKasami::cluster(n)).map(Check::one_token);
    "suzuki_kasami_ring" => |n| suzuki_kasami(Topology::ring(n));
    "suzuki_kasami_tree" => |n| suzuki_kasami(Topology::line(n));
    "ricart_agrawala_token" => |n| checked(RicartAgrawalaToken::cluster(n)).map(Check::one_token);
    "singhal_heuristic" => |n| checked(SinghalHeuristic::cluster(n)).map(Check::one_token);
    "raymond" => |n| checked(Raymond::cluster(n)).map(Check::one_token);
    "raymond_line" => |n| checked(Tree::line(n).map(|it| Raymond::over(&it))).map(Check::one_token);
    "naimi_trehel" => |n| checked(NaimiTrehel::cluster(n)).map(Check::one_token);
    "naimi_trehel_queue" => |n| checked(NaimiTrehelQueue::cluster(n)).map(Check::one_token);
    "banta_simple" => |n| checked(BantaSimple::cluster(n)).map(Check::one_token);
    "banta_fair" => |n| checked(BantaFair::cluster(n)).map(Check::one_token);
    "banta_efficient" =>
        |n| checked(BantaEfficient::cluster(n, Late::Strict)).map(Check::one_token);
    "banta_efficient_hardened" =>
        |n| checked(BantaEfficient::cluster(n, Late::Hardened)).map(Check::one_token);
    "banta_k" => |n| checked(BantaK::cluster(n, k(n), Late::Strict)).map(Check::one_token);
    "banta_k_hardened" => |n| checked(BantaK::cluster(n, k(n), Late::Hardened)).map(Check::one_token);
}

/// What is explored of each algorithm when all are: two nodes twice each, three nodes, four where it fits. A few states
/// more where messages are many; and where timers matter, with timers that run out at any moment.
pub fn all() -> Vec<(&'static str, Scope)> {
    let late = |scope: Scope| Scope { timers: Timers::AnyTime, ..scope };
    let one_more = |scope: Scope| Scope { more_of_first: 1, ..scope };
    let mut scopes = Vec::new();
    for &name in EXPLORABLE {
        scopes.push((name, Scope::new(2, 2)));
        scopes.push((name, Scope::new(3, 1)));
        match name {
            // Too many messages for more.
            "lamport" => scopes.push((name, Scope::new(2, 3))),
            "raymond_k" => scopes.push((name, one_more(Scope::new(3, 1)))),
            _ => scopes.push((name, Scope::new(3, 2))),
        }
        let four = !matches!(
            name,
            "lamport" | "ricart_agrawala" | "carvalho_roucairol" | "raymond_k" | "maekawa_circle"
        );
        if four {
            scopes.push((name, Scope::new(4, 1)));
        }
        if name.ends_with("hardened") {
            scopes.extend([Scope::new(3, 1), Scope::new(3, 2)].map(|scope| (name, late(scope))));
        }
    }
    scopes
}
