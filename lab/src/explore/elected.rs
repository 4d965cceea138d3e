//! Locks that start from an election, explored: the election and the lock together.
//!
//! The first and the last node call the election. A lock that is elected on a graph of any kind is
//! explored on a line, unless the scope has another.

use exclusion::message::banta_efficient::Late;
use exclusion::message::check::{Check, Timers};
use exclusion::message::registry::{ElectionAlgorithm, Ground, RegistryError};
use exclusion::message::ring_election::{Announcement, Choice};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, Bully, BullyHalt, CentralCoordinator,
    ChangRoberts, ClusterError, Elected, Extinction, Graph, Inherits, LeLann, NaimiTrehel,
    NaimiTrehelQueue, NodeId, Raymond, Renamed, RicartAgrawalaToken, RingElection,
    SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing, TellsAll, TokenRing,
    Topology, Tree, banta_k,
};

use super::exploration::ModelVisitor;
use super::scope::{MOST_NODES, Scope, usual_entries};

macro_rules! elected {
    ($($name:literal: $lock:ty, $plan:expr, from $election:expr;)*) => {
        /// Every lock that is explored with the election that it starts from: its name, `_by_`, and
        /// the name of the election.
        pub const ELECTED: &[&str] = &[$($name),*];

        /// Makes the model of a lock that starts from an election, and shows it to the visitor.
        /// None if there is no such lock.
        pub fn with_elected<V: ModelVisitor>(
            name: &str,
            scope: &Scope,
            visitor: V,
        ) -> Option<Result<V::Output, RegistryError>> {
            match name {
                $($name => {
                    let check = check::<_, $lock>($name, scope, $plan, $election);
                    Some(check.map(|check| visitor.visit($name, check)))
                })*
                _ => None,
            }
        }
    };
}

elected! {
    "central_coordinator_by_bully": CentralCoordinator, |_| Ok(()), from bullies;
    "central_coordinator_by_bully_halt": CentralCoordinator, |_| Ok(()),
        from |scope| BullyHalt::cluster(scope.requests.len());
    "central_coordinator_by_bully_majority": CentralCoordinator, |_| Ok(()),
        from |scope| BullyHalt::gated(scope.requests.len());
    "central_coordinator_by_ring_election": CentralCoordinator, |_| Ok(()),
        from |scope| RingElection::cluster(scope.requests.len());
    "central_coordinator_by_ring_election_to_all": CentralCoordinator, |_| Ok(()),
        from |scope| {
            RingElection::with(scope.requests.len(), Choice::Lowest, Announcement::ToAll)
        };
    "central_coordinator_by_chang_roberts": CentralCoordinator, |_| Ok(()),
        from |scope| ChangRoberts::cluster(scope.requests.len());
    "central_coordinator_by_le_lann": CentralCoordinator, |_| Ok(()),
        from |scope| LeLann::cluster(scope.requests.len());
    "central_coordinator_by_extinction": CentralCoordinator, |_| Ok(()), from waves;
    "token_ring_by_bully": Renamed<TokenRing>, |_| Ok(()), from bullies;
    "token_ring_by_extinction": Renamed<TokenRing>, |_| Ok(()), from waves;
    "suzuki_kasami_by_extinction": Renamed<SuzukiKasami>,
        |scope| Topology::complete(scope.requests.len()), from waves;
    "suzuki_kasami_ring_by_extinction": Renamed<SuzukiKasami>,
        |scope| Topology::ring(scope.requests.len()), from waves;
    "suzuki_kasami_line_by_extinction": Renamed<SuzukiKasami>,
        |scope| Topology::line(scope.requests.len()), from waves;
    "suzuki_kasami_tree_by_extinction": Renamed<SuzukiKasami>,
        |scope| Topology::k_ary_tree(scope.requests.len(), 2), from waves;
    "suzuki_kasami_fifo_by_extinction": Renamed<SuzukiKasamiFifo>, |_| Ok(()), from waves;
    "suzuki_kasami_fifo_ring_by_extinction": Renamed<SuzukiKasamiFifoRing>, |_| Ok(()),
        from waves;
    "ricart_agrawala_token_by_extinction": Renamed<RicartAgrawalaToken>, |_| Ok(()), from waves;
    "singhal_heuristic_by_extinction": Renamed<SinghalHeuristic>, |_| Ok(()), from waves;
    "raymond_by_extinction": Raymond, |_| Ok(()), from waves;
    "raymond_star_by_extinction": Renamed<Raymond>, |scope| Tree::star(scope.requests.len()),
        from waves;
    "naimi_trehel_by_extinction": Renamed<NaimiTrehel>, |_| Ok(()), from waves;
    "naimi_trehel_queue_by_extinction": Renamed<NaimiTrehelQueue>, |_| Ok(()), from waves;
    "banta_simple_by_extinction": Renamed<BantaSimple>, |_| Ok(()), from waves;
    "banta_fair_by_extinction": Renamed<BantaFair>, |_| Ok(()), from waves;
    "banta_efficient_by_extinction": Renamed<BantaEfficient>, |_| Ok(Late::Strict), from waves;
    "banta_efficient_hardened_by_extinction": Renamed<BantaEfficient>, |_| Ok(Late::Hardened),
        from waves;
    "banta_k_by_extinction": Renamed<BantaK>, |scope| Ok(several(scope, Late::Strict)), from waves;
    "banta_k_hardened_by_extinction": Renamed<BantaK>, |scope| Ok(several(scope, Late::Hardened)),
        from waves;
}

fn bullies(scope: &Scope) -> Result<Vec<Bully>, ClusterError> {
    Bully::cluster(scope.requests.len())
}

fn waves(scope: &Scope) -> Result<Vec<Extinction>, ClusterError> {
    let line = || Graph::line(scope.requests.len());
    Ok(Extinction::over(&scope.graph.clone().map_or_else(line, Ok)?))
}

fn several(scope: &Scope, late: Late) -> banta_k::Plan {
    let entries = scope.entries.unwrap_or_else(|| usual_entries(scope.requests.len()));
    banta_k::Plan { entries, late }
}

/// The election that the lock of this name starts from.
///
/// # Panics
/// If it is none of [`ELECTED`].
pub fn election_of(name: &str) -> &'static ElectionAlgorithm {
    let election = name.split_once("_by_").and_then(|(_, it)| ElectionAlgorithm::named(it).ok());
    election.expect("each has the name of its election")
}

fn check<E: TellsAll, P: Inherits<E>>(
    name: &'static str,
    scope: &Scope,
    plan: fn(&Scope) -> Result<P::Plan, ClusterError>,
    election: fn(&Scope) -> Result<Vec<E>, ClusterError>,
) -> Result<Check<Elected<E, P>>, RegistryError> {
    let by = election_of(name);
    let nodes = scope.requests.len();
    if nodes > MOST_NODES {
        return Err(RegistryError::TooManyNodes { algorithm: name, most: MOST_NODES });
    }
    if scope.graph.is_some() && by.ground != Ground::AnyGraph {
        return Err(RegistryError::OwnGraph(by.name));
    }
    let unfit = |why| RegistryError::Unfit(name, why);
    ClusterError::check_size(nodes).map_err(unfit)?;
    let plan = plan(scope).map_err(unfit)?;
    if scope.entries.is_some_and(|entries| entries != P::entries(&plan)) {
        return Err(RegistryError::OneAtATime(name));
    }
    let initiators = [NodeId(0), NodeId::at(nodes - 1)];
    let cluster = Elected::planned(plan, election(scope).map_err(unfit)?, initiators);
    let wanted = NodeId::all(nodes).zip(&scope.requests);
    let check = wanted.fold(Check::new(cluster.map_err(unfit)?), |check, (node, &times)| {
        check.requests_of(node, times)
    });
    let check = match scope.channels {
        Some(channels) => check.channels(channels),
        None => check,
    };
    // A timer of one period is not one of two.
    let timers = match scope.timers {
        Timers::InTime if by.within_tmax => Timers::Timed,
        timers => timers,
    };
    let check = scope.befall(check.timers(timers).users(scope.users));
    // A node that may have missed the first election takes no part: its user waits for ever.
    Ok(if scope.crashes > 0 { check.may_block() } else { check })
}

#[cfg(test)]
mod tests {
    use exclusion::message::registry::{ALGORITHMS, Algorithm, Family};

    use super::*;

    #[test]
    fn each_is_a_lock_of_the_registry_and_an_election_of_it() {
        for name in ELECTED {
            let (lock, _) = name.split_once("_by_").expect("it has both");
            assert!(Algorithm::named(lock).is_ok(), "{name}");
            assert!(name.ends_with(election_of(name).name), "{name}");
        }
    }

    /// Raymond's other trees differ in nothing that an election could change.
    #[test]
    fn every_token_algorithm_starts_from_extinction() {
        let trees = ["raymond_ternary", "raymond_4ary", "raymond_line"];
        for algorithm in ALGORITHMS.iter().filter(|it| it.family == Family::Token) {
            let name = format!("{}_by_extinction", algorithm.name);
            let is_listed = ELECTED.contains(&&*name);
            assert_ne!(is_listed, trees.contains(&algorithm.name), "{name}");
        }
    }
}
