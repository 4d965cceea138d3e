//! How far each algorithm, and each lock over registers, is explored when all are.

use exclusion::message::check::{Timers, Users};
use exclusion::message::{Channels, ClusterError, Graph};

use super::scope::Scope;

/// A scope of the table.
#[derive(Clone, Copy)]
struct Extent {
    /// How many times each user wants in.
    requests: &'static [u8],
    users: Users,
    timers: Timers,
    /// How many times a node may crash, and recover.
    faults: (u8, u8),
    /// The graph of an election that runs on any.
    graph: Option<fn(usize) -> Result<Graph, ClusterError>>,
    /// The channels, if not those that the algorithm needs.
    channels: Option<Channels>,
    /// Whether it takes no more than some seconds.
    soon: bool,
}

/// Users act at any moment, however slow messages are.
const fn slow(requests: &'static [u8]) -> Extent {
    Extent {
        requests,
        users: Users::AnyTime,
        timers: Timers::InTime,
        faults: (0, 0),
        graph: None,
        channels: None,
        soon: true,
    }
}

/// Quick: users act only when no message is in flight.
const fn quick(requests: &'static [u8]) -> Extent {
    Extent { users: Users::Unhurried, ..slow(requests) }
}

/// Timers run out at any moment, also before messages arrive.
const fn late(requests: &'static [u8]) -> Extent {
    Extent { timers: Timers::AnyTime, ..slow(requests) }
}

impl Extent {
    /// The same, where it takes longer than [`soon`] may.
    const fn long(self) -> Self {
        Self { soon: false, ..self }
    }

    /// The same, where nodes may crash, and recover, so many times.
    const fn with_faults(self, crashes: u8, recoveries: u8) -> Self {
        Self { faults: (crashes, recoveries), ..self }
    }

    /// The same on channels that keep order.
    const fn in_order(self) -> Self {
        Self { channels: Some(Channels::Fifo), ..self }
    }

    /// The same on a graph.
    const fn on(self, graph: fn(usize) -> Result<Graph, ClusterError>) -> Self {
        Self { graph: Some(graph), ..self }
    }

    fn scope(&self) -> Scope {
        let Self { users, timers, channels, faults: (crashes, recoveries), .. } = *self;
        let graph = self.graph.map(|graph| graph(self.requests.len()).expect("so many fit"));
        Scope { users, timers, channels, crashes, recoveries, graph, ..Scope::of(self.requests) }
    }
}

/// Two nodes twice each, three nodes, and four if the state space allows it.
const USUAL: &[Extent] = &[slow(&[2, 2]), slow(&[1; 3]), slow(&[2; 3]), slow(&[1; 4]).long()];

/// The same, where there are many messages.
const LARGE: &[Extent] =
    &[slow(&[2, 2]), slow(&[1; 3]), slow(&[2; 3]).long(), slow(&[1; 4]).long()];

/// Quick, and each user wants in often enough to exceed the bound on bypass.
const QUICK: &[Extent] = &[quick(&[3; 3]), quick(&[2; 4]).long()];

/// The same for algorithms whose bound on bypass is two per node.
const QUICK_TWICE: &[Extent] = &[quick(&[3; 3]), quick(&[3, 2, 2, 1]).long()];

/// The same for arrangements that four nodes do not allow.
const QUICK_THREE: &[Extent] = &[quick(&[3; 3])];

/// Timers run out at any moment: for algorithms that claim to be correct all the same.
const LATE: &[Extent] = &[late(&[1; 3]), late(&[2; 3])];

/// Registers: also a seat that is never taken, so that the others may withdraw; and one that is
/// taken twice.
const SEATS: &[Extent] = &[
    slow(&[2, 2]),
    slow(&[1; 3]),
    slow(&[2; 3]).long(),
    slow(&[1; 4]).long(),
    slow(&[1, 1, 1, 0]).long(),
    slow(&[2, 1, 1, 1]).long(),
];

/// The same, where a contender reads or writes as it likes. One that is taken twice is beyond
/// memory among four.
const SEATS_THAT_READ: &[Extent] = &[
    slow(&[2, 2]),
    slow(&[1; 3]).long(),
    slow(&[2; 3]).long(),
    slow(&[1; 4]).long(),
    slow(&[1, 1, 1, 0]).long(),
];

/// An election that stands crashes: without any, with one at any step, and with one that comes
/// back.
const STANDING: &[Extent] = &[
    slow(&[1, 0, 0]),
    slow(&[1; 3]).long(),
    slow(&[1, 0, 0]).with_faults(1, 0),
    slow(&[1, 0, 0, 0]).with_faults(1, 0).long(),
    slow(&[1, 0]).with_faults(1, 1),
    slow(&[1, 0, 0]).with_faults(1, 1).long(),
];

/// Five nodes, of which one calls, where nodes ask few others.
const FIVE: &[Extent] = &[slow(&[1, 0, 0, 0, 0])];

/// Two call, and a third may lose both lists without being missed.
const TWO_CALL: &[Extent] = &[slow(&[1, 1, 0]).with_faults(1, 1).in_order().long()];

/// An election on a ring that stands none.
const ROUND: &[Extent] = &[slow(&[1, 0, 0]), slow(&[1; 3]), slow(&[1; 4]), slow(&[1; 5]).long()];

/// A lock that starts from an election, where nobody goes down: all users of two nodes twice, and
/// of three once.
const STARTED: &[Extent] = &[slow(&[2, 2]), slow(&[1; 3])];

/// The same of two nodes. Three of Banta's that rely on Tmax deadlock: what comes before a node has
/// started waits for that, as if it took longer.
const STARTED_IN_TIME: &[Extent] = &[slow(&[2, 2])];

/// The same, and nodes may go down, before they have started or later, and come back.
const STARTED_AND_DOWN: &[Extent] = &[slow(&[2, 2]), slow(&[1; 2]).with_faults(1, 1)];

/// Three nodes, of which one may go down.
const STARTED_THREE_AND_DOWN: &[Extent] = &[slow(&[1; 3]), slow(&[1; 3]).with_faults(1, 0).long()];

/// What is explored of each, by name: first the locks over registers, then the algorithms in the
/// order of the registry, and locks that start from an election.
const SCOPES: &[(&str, &[&[Extent]])] = &[
    ("bakery", &[SEATS]),
    ("rw_bakery", &[SEATS_THAT_READ]),
    ("rw_bakery_of_two", &[SEATS_THAT_READ]),
    ("black_white", &[SEATS]),
    ("tournament", &[SEATS]),
    ("central_coordinator", &[USUAL, QUICK]),
    // By order of asking: the others come often enough to pass, however slow messages are.
    ("lamport", &[&[slow(&[2, 2]), slow(&[1; 3]), slow(&[3, 3]), slow(&[2, 1, 1]).long()], QUICK]),
    ("ricart_agrawala", &[LARGE, &[slow(&[3, 3]), slow(&[1, 3, 2]).long()], QUICK]),
    ("carvalho_roucairol", &[LARGE, QUICK]),
    ("singhal_dynamic", &[USUAL, QUICK]),
    ("maekawa", &[USUAL, QUICK]),
    // The circle of four does not meet.
    ("maekawa_circle", &[&[slow(&[2, 2]), slow(&[1; 3]), slow(&[2; 3])], QUICK_THREE]),
    (
        "maekawa_triangle",
        &[&[slow(&[1; 3]), slow(&[2; 3]), slow(&[1, 1, 1, 1, 0, 0]).long()], QUICK_THREE],
    ),
    (
        "maekawa_triangle_columns",
        &[&[slow(&[1; 3]), slow(&[2; 3]), slow(&[1, 1, 1, 0, 0, 0])], QUICK_THREE],
    ),
    (
        "maekawa_triangle_rows",
        &[&[slow(&[1; 3]), slow(&[2; 3]), slow(&[1, 1, 1, 0, 0, 0])], QUICK_THREE],
    ),
    ("maekawa_plane", &[&[slow(&[1, 1, 1, 0, 0, 0, 0]), quick(&[4, 3, 1, 0, 0, 0, 0]).long()]]),
    // Everybody is asked: twice each among three is beyond memory, and two of three twice takes 14
    // million states.
    ("majority", &[&[slow(&[2, 2]), slow(&[1; 3]).long()], QUICK]),
    ("weighted_majority", &[&[slow(&[2, 2]), slow(&[1; 3]).long()], QUICK]),
    ("majority_fixed", &[USUAL, QUICK]),
    ("weighted_majority_fixed", &[USUAL, QUICK]),
    (
        "raymond_k",
        &[
            &[slow(&[2, 2]), slow(&[1; 3]), slow(&[2, 1, 1]).long(), slow(&[1, 1, 1, 0]).long()],
            QUICK,
        ],
    ),
    ("token_ring", &[USUAL, QUICK]),
    ("suzuki_kasami", &[USUAL, QUICK]),
    ("suzuki_kasami_ring", &[USUAL, QUICK]),
    ("suzuki_kasami_line", &[USUAL, QUICK_TWICE]),
    ("suzuki_kasami_tree", &[USUAL, QUICK_TWICE]),
    ("suzuki_kasami_fifo", &[USUAL, QUICK]),
    ("suzuki_kasami_fifo_ring", &[USUAL, QUICK]),
    ("ricart_agrawala_token", &[USUAL, QUICK]),
    ("singhal_heuristic", &[USUAL, QUICK_TWICE]),
    ("raymond", &[USUAL, QUICK]),
    ("raymond_ternary", &[USUAL, &[slow(&[1; 5]).long()], QUICK]),
    ("raymond_4ary", &[USUAL, QUICK]),
    ("raymond_star", &[USUAL, QUICK]),
    ("raymond_line", &[USUAL, QUICK]),
    ("naimi_trehel", &[USUAL, QUICK]),
    ("naimi_trehel_queue", &[USUAL, QUICK]),
    ("banta_simple", &[USUAL, QUICK]),
    ("banta_fair", &[LARGE, QUICK]),
    ("banta_efficient", &[USUAL, QUICK]),
    ("banta_efficient_hardened", &[USUAL, QUICK, LATE]),
    ("banta_k", &[USUAL, QUICK]),
    ("banta_k_hardened", &[USUAL, QUICK, LATE]),
    ("bully", &[STANDING]),
    ("bully_halt", &[STANDING, FIVE]),
    (
        "bully_majority",
        &[&[
            slow(&[1, 0, 0]),
            slow(&[1, 0, 0]).with_faults(1, 0),
            slow(&[1, 0, 0]).with_faults(2, 0),
            slow(&[1, 0, 0, 0]).with_faults(1, 0).long(),
            slow(&[1, 0]).with_faults(1, 1),
            slow(&[1, 0, 0]).with_faults(1, 1).in_order(),
        ]],
    ),
    (
        "ring_election",
        &[STANDING, FIVE, TWO_CALL, &[slow(&[1, 0, 0, 0]).with_faults(1, 1).in_order().long()]],
    ),
    (
        "ring_election_to_all",
        &[
            &[
                slow(&[1, 0, 0]),
                slow(&[1, 0, 0]).with_faults(1, 0),
                slow(&[1, 0, 0]).with_faults(1, 1).long(),
            ],
            TWO_CALL,
        ],
    ),
    ("chang_roberts", &[ROUND]),
    ("le_lann", &[ROUND]),
    (
        "echo",
        &[&[
            slow(&[1, 0, 0, 0]).on(Graph::ring),
            slow(&[1, 0, 0, 0]),
            slow(&[1, 0, 0, 0, 0]).on(Graph::ring),
        ]],
    ),
    (
        "extinction",
        &[&[
            slow(&[1, 0, 0, 1]).on(Graph::ring),
            slow(&[1; 3]),
            slow(&[1, 0, 1, 0, 0]).on(Graph::ring),
        ]],
    ),
    ("central_coordinator_by_bully", &[STARTED_AND_DOWN]),
    ("central_coordinator_by_bully_halt", &[STARTED_AND_DOWN, STARTED_THREE_AND_DOWN]),
    ("central_coordinator_by_bully_majority", &[STARTED_AND_DOWN]),
    ("central_coordinator_by_ring_election", &[STARTED_AND_DOWN]),
    ("central_coordinator_by_ring_election_to_all", &[STARTED_AND_DOWN, STARTED_THREE_AND_DOWN]),
    ("central_coordinator_by_chang_roberts", &[STARTED]),
    ("central_coordinator_by_le_lann", &[STARTED]),
    ("central_coordinator_by_extinction", &[STARTED]),
    ("token_ring_by_bully", &[STARTED_IN_TIME]),
    ("token_ring_by_extinction", &[STARTED]),
    ("suzuki_kasami_by_extinction", &[STARTED]),
    ("suzuki_kasami_ring_by_extinction", &[STARTED]),
    ("suzuki_kasami_line_by_extinction", &[STARTED]),
    ("suzuki_kasami_tree_by_extinction", &[STARTED]),
    ("suzuki_kasami_fifo_by_extinction", &[STARTED]),
    ("suzuki_kasami_fifo_ring_by_extinction", &[STARTED]),
    ("ricart_agrawala_token_by_extinction", &[STARTED]),
    ("singhal_heuristic_by_extinction", &[STARTED]),
    ("raymond_by_extinction", &[STARTED]),
    ("raymond_star_by_extinction", &[STARTED]),
    ("naimi_trehel_by_extinction", &[STARTED]),
    ("naimi_trehel_queue_by_extinction", &[STARTED]),
    ("banta_simple_by_extinction", &[STARTED]),
    ("banta_fair_by_extinction", &[STARTED]),
    ("banta_efficient_by_extinction", &[STARTED_IN_TIME]),
    ("banta_efficient_hardened_by_extinction", &[STARTED]),
    ("banta_k_by_extinction", &[STARTED_IN_TIME]),
    ("banta_k_hardened_by_extinction", &[STARTED]),
];

fn extents() -> impl Iterator<Item = (&'static str, &'static Extent)> {
    let of = |&(name, groups): &(&'static str, &'static [&'static [Extent]])| {
        groups.iter().flat_map(|group| group.iter()).map(move |extent| (name, extent))
    };
    SCOPES.iter().flat_map(of)
}

/// Everything that is explored for the documentation: its name, and the scope.
pub fn all() -> Vec<(&'static str, Scope)> {
    extents().map(|(name, extent)| (name, extent.scope())).collect()
}

/// A part of [`all`] that takes some seconds.
pub fn soon() -> Vec<(&'static str, Scope)> {
    let soon = extents().filter(|(_, extent)| extent.soon);
    soon.map(|(name, extent)| (name, extent.scope())).collect()
}

#[cfg(test)]
mod tests {
    use exclusion::message::registry::{ALGORITHMS, Algorithm, ELECTIONS, Shipped, Size, Visitor};

    use super::super::elected::ELECTED;
    use super::super::scope::RegisterLock;
    use super::*;

    #[test]
    fn the_table_has_the_locks_the_algorithms_and_the_elections_in_the_order_of_the_registry() {
        let tabled: Vec<_> = SCOPES.iter().map(|(name, _)| *name).collect();
        let locks = RegisterLock::ALL.map(RegisterLock::name).into_iter();
        let known = locks.chain(ALGORITHMS.iter().map(|algorithm| algorithm.name));
        let known = known.chain(ELECTIONS.iter().map(|election| election.name));
        let known = known.chain(ELECTED.iter().copied());
        assert_eq!(tabled, known.collect::<Vec<_>>());
    }

    #[test]
    fn something_of_each_is_soon_explored() {
        let soon = soon();
        for (name, _) in SCOPES {
            assert!(soon.iter().any(|(it, _)| it == name), "nothing of {name} is");
        }
    }

    /// Whether an algorithm has timers that may run out too early, and claims a bound for that
    /// case.
    struct ClaimsToBearDelays;

    impl Visitor for ClaimsToBearDelays {
        type Output = bool;

        fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> bool {
            algorithm.within_tmax && P::most_messages(&cluster, false).is_some()
        }
    }

    #[test]
    fn timers_run_out_early_where_an_algorithm_claims_to_bear_it() {
        for algorithm in ALGORITHMS {
            let size = Size::of(algorithm.nodes_to_show);
            let claims = algorithm.build(size, ClaimsToBearDelays).expect("it can be shown");
            let mut extents = extents().filter(|(name, _)| *name == algorithm.name);
            let explored = extents.any(|(_, extent)| extent.timers == Timers::AnyTime);
            assert_eq!(explored, claims, "{algorithm}");
        }
    }
}
