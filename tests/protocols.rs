//! One suite for all protocols: exact costs, safety and service under random delays, actors under threads, golden
//! traces. Each protocol adds a line at the end.

mod common;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::within_two_minutes;
use exclusion::message::actor::Cluster;
use exclusion::message::banta_efficient::Late;
use exclusion::message::quorum::Scheme;
use exclusion::message::replay;
use exclusion::message::sim::{Delay, Report, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, Cost, GrantingSets, Happening, Input, Lamport, Maekawa, NaimiTrehel,
    NaimiTrehelQueue, NodeId, Outbox, Protocol, Raymond, RaymondK, RicartAgrawala,
    RicartAgrawalaToken, SinghalDynamic, SinghalHeuristic, SuzukiKasami, TokenRing, Topology, Tree,
    step,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const SIZES: [usize; 11] = [2, 3, 4, 6, 7, 9, 10, 13, 15, 16, 21];

/// Makes a cluster, where there is one of that size.
type Make<P> = fn(usize) -> Option<Vec<P>>;

/// A cluster of each size that there is.
fn clusters<P>(make: Make<P>) -> impl Iterator<Item = Vec<P>> {
    let clusters: Vec<_> = SIZES.into_iter().filter_map(make).collect();
    assert!(!clusters.is_empty(), "no size to test");
    clusters.into_iter()
}

fn cost<P: Protocol>(nodes: &[P]) -> Cost {
    P::cost(nodes).expect("a formula")
}

fn run<P: Protocol>(simulation: Simulation<P>) -> Report {
    simulation.run().unwrap_or_else(|error| {
        let trace = error.trace.clone().unwrap_or_default();
        panic!("{error}\n{trace}")
    })
}

fn alone_it_costs_the_formula_to_the_message<P: Protocol>(make: Make<P>) {
    for nodes in clusters(make) {
        let (n, cost) = (nodes.len(), cost(&nodes));
        let report = run(Simulation::new(nodes));
        assert_eq!(report.entries, n as u64);
        let measured = report.per_entry.expect("entries");
        assert_eq!((measured.min, measured.max), (*cost.alone.start(), *cost.alone.end()), "n={n}");
    }
}

fn contended_it_costs_within_the_bounds<P: Protocol>(make: Make<P>) {
    for nodes in clusters(make) {
        let (n, cost) = (nodes.len(), cost(&nodes));
        for workload in [
            Workload::AllAtOnce { rounds: 20 },
            Workload::Saturated { wanting: n, entries: 50 * n as u64 },
            Workload::Saturated { wanting: n.div_ceil(2), entries: 50 * n as u64 },
            Workload::Poisson { rate: 0.1, entries: 50 * n as u64 },
        ] {
            for delay in [Delay::Constant(1.0), Delay::Exponential(1.0)] {
                let simulation = Simulation::new(nodes.clone()).delay(delay).seed(n as u64);
                let report = run(simulation.workload(workload.clone()));
                let measured = report.per_entry.expect("entries");
                let within = cost.contended.contains(&measured.min)
                    && cost.contended.contains(&measured.max);
                assert!(within, "n={n} {workload:?} {delay:?}: {measured} not in {cost:?}");
            }
        }
    }
}

/// A run that proptest chooses, and prints when it fails.
fn runs(sizes: Vec<usize>) -> impl Strategy<Value = (usize, u64, Delay, Delay, Workload)> {
    let delay = prop_oneof![
        Just(Delay::Constant(1.0)),
        Just(Delay::Uniform(0.0, 2.0)),
        Just(Delay::Exponential(1.0)),
    ];
    let stay = prop_oneof![Just(Delay::Constant(0.0)), Just(Delay::Exponential(3.0))];
    let size = prop::sample::select(sizes);
    (size, any::<u64>(), delay, stay, 0..4_usize, 1..100_u32).prop_map(
        |(n, seed, delay, stay, kind, percent)| {
            let entries = 10 * n as u64;
            let wanting = (n * percent as usize).div_ceil(100);
            let workload = match kind {
                0 => Workload::AllAtOnce { rounds: 5 },
                1 => Workload::Saturated { wanting, entries },
                2 => Workload::Poisson { rate: f64::from(percent) / 50.0, entries },
                _ => Workload::InTurn { rounds: 2 },
            };
            (n, seed, delay, stay, workload)
        },
    )
}

fn any_delays_keep_it_safe_and_serve_everybody<P: Protocol>(make: Make<P>) {
    // Failures print their seed; PROPTEST_CASES asks for more runs.
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let sizes = clusters(make).map(|nodes| nodes.len()).collect();
    let outcome = runner.run(&runs(sizes), |(n, seed, delay, stay, workload)| {
        let nodes = make(n).expect("there is one of this size");
        for channels in [Channels::Fifo, Channels::AnyOrder] {
            if channels == Channels::AnyOrder && P::CHANNELS == Channels::Fifo {
                continue;
            }
            let simulation = Simulation::new(nodes.clone())
                .seed(seed)
                .delay(delay)
                .inside(stay)
                .channels(channels)
                .workload(workload.clone());
            // Not exclusive, stalled, or an unexpected message: each an error.
            let report =
                simulation.run().map_err(|error| TestCaseError::fail(error.to_string()))?;
            let expected = match workload {
                Workload::AllAtOnce { rounds } | Workload::InTurn { rounds } => rounds * n as u64,
                Workload::Saturated { entries, .. } | Workload::Poisson { entries, .. } => entries,
                Workload::Alone { .. } | Workload::Script(_) => unreachable!("not chosen"),
            };
            prop_assert_eq!(report.entries, expected);
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn the_same_seed_gives_the_same_run_and_its_trace_replays<P: Protocol>(make: Make<P>) {
    for nodes in clusters(make).take(4) {
        let n = nodes.len();
        let simulation = Simulation::new(nodes.clone())
            .seed(42)
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Saturated { wanting: n, entries: 5 * n as u64 })
            .traced();
        let report = run(simulation.clone());
        assert_eq!(report, run(simulation.clone()));
        assert_ne!(report.trace, run(simulation.seed(43)).trace, "another seed, another run");

        let trace = report.trace.expect("it was asked for");
        let read = trace.to_string().parse().expect("what is written can be read");
        assert_eq!(trace, read);
        replay(nodes.clone(), &trace).unwrap_or_else(|error| panic!("{error}"));

        // A trace that was tampered with does not replay.
        let mut tampered = trace;
        let entry = tampered.events.iter().rposition(|event| event.happening == Happening::Enters);
        tampered.events.remove(entry.expect("somebody entered"));
        replay(nodes, &tampered).expect_err("an entry is missing");
    }
}

fn what_cannot_happen_is_refused_and_changes_nothing<P: Protocol>(make: Make<P>) {
    for nodes in clusters(make).take(3) {
        let mut node = nodes[0].clone();
        let mut out = Outbox::new(NodeId(0));
        step(&mut node, Input::Release, &mut out).expect_err("nobody is inside");
        assert!(node == nodes[0] && out.is_empty());

        step(&mut node, Input::Request, &mut out).expect("idle");
        out.readdress(NodeId(0));
        let asked = node.clone();
        step(&mut node, Input::Request, &mut out).expect_err("it has asked");
        assert!(node == asked && out.is_empty());

        // Whatever is said by a node that does not exist.
        let mut mouth = Outbox::new(NodeId(1));
        step(&mut nodes[1].clone(), Input::Request, &mut mouth).expect("idle");
        for (_, message) in mouth.sent() {
            let stranger = NodeId::at(nodes.len());
            let input = Input::Receive { from: stranger, message };
            step(&mut node, input, &mut out).expect_err("there is no such node");
            assert!(node == asked && out.is_empty());
        }
    }
}

fn actors_lose_no_increment<P>(make: Make<P>, pace: Pace)
where
    P: Protocol<Message: Send> + Send + 'static,
{
    within_two_minutes(move || {
        let nodes = clusters(make).nth(2).or_else(|| clusters(make).next()).expect("a size");
        let (n, at_a_time, cost) = (nodes.len(), nodes[0].entries_at_a_time(), cost(&nodes));
        // Who enters increments; `inside` counts who is there.
        let counters = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let builder = Cluster::builder().resource("counters", nodes, counters.clone());
        let Pace { rounds, period } = pace;
        let cluster = builder.period(period).start().expect("it starts");
        std::thread::scope(|scope| {
            for mut handle in cluster.handles() {
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let guard = handle.lock().expect("nobody dies");
                        let (inside, entries) = &**guard;
                        assert!(inside.fetch_add(1, Ordering::Relaxed) < at_a_time);
                        // Two steps, so that an increment would be lost if two did it at the same time.
                        let seen = entries.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        if at_a_time == 1 {
                            entries.store(seen + 1, Ordering::Relaxed);
                        } else {
                            entries.fetch_add(1, Ordering::Relaxed);
                        }
                        inside.fetch_sub(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(counters.1.load(Ordering::Relaxed), n * rounds);
        // After the shutdown, by when the last answers have been given too.
        let messages = cluster.shutdown().total() as f64 / (n * rounds) as f64;
        assert!(cost.contended.contains(&messages), "{messages} messages an entry, {cost:?}");
    });
}

/// How often the users of actors enter, and how long a period is.
#[derive(Clone, Copy)]
struct Pace {
    rounds: usize,
    period: Duration,
}

const BRISK: Pace = Pace { rounds: 200, period: Duration::from_millis(1) };

/// For what relies on messages that take at most a period, whatever else the machine is doing.
const GENTLE: Pace = Pace { rounds: 8, period: Duration::from_millis(150) };

/// Small runs as they were when somebody last read them. `UPDATE_TRACES=1` writes them anew.
fn small_runs_are_as_written<P: Protocol>(make: Make<P>, name: &str) {
    let nodes = make(3).or_else(|| make(7)).expect("a small cluster");
    let workload = Workload::Script(vec![(0.0, NodeId(0)), (0.5, NodeId(2)), (0.5, NodeId(1))]);
    let report = run(Simulation::new(nodes).workload(workload).traced());
    let trace = report.trace.expect("it was asked for").to_string();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/traces/{name}.txt"));
    if std::env::var_os("UPDATE_TRACES").is_some() {
        std::fs::write(&path, &trace).expect("the trace can be written");
    }
    let golden = std::fs::read_to_string(&path).expect("a golden trace; UPDATE_TRACES=1 writes it");
    assert!(trace == golden, "{name} differs from its golden trace. It is now:\n{trace}");
}

/// A cluster with granting sets, where they exist for the size.
fn maekawa<E: Debug>(sets: Result<GrantingSets, E>) -> Option<Vec<Maekawa>> {
    sets.ok().map(|sets| Maekawa::cluster(&sets))
}

macro_rules! protocols {
    ($pace:ident $($name:ident: $make:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn actors_lose_no_increment() {
                super::actors_lose_no_increment($make, $pace);
            }

            protocols!(@tests $make;
                alone_it_costs_the_formula_to_the_message
                contended_it_costs_within_the_bounds
                any_delays_keep_it_safe_and_serve_everybody
                the_same_seed_gives_the_same_run_and_its_trace_replays
                what_cannot_happen_is_refused_and_changes_nothing
            );

            #[test]
            fn small_runs_are_as_written() {
                super::small_runs_are_as_written($make, stringify!($name));
            }
        })*
    };
    (@tests $make:expr; $($test:ident)*) => {
        $(#[test]
        fn $test() {
            super::$test($make);
        })*
    };
}

protocols! { BRISK
    central_coordinator: |n| CentralCoordinator::cluster(n).ok();
    lamport: |n| Lamport::cluster(n).ok();
    ricart_agrawala: |n| RicartAgrawala::cluster(n).ok();
    carvalho_roucairol: |n| CarvalhoRoucairol::cluster(n).ok();
    singhal_dynamic: |n| SinghalDynamic::cluster(n).ok();
    maekawa_grid: |n| maekawa(GrantingSets::grid(n));
    maekawa_triangle: |n| maekawa(GrantingSets::triangle(n, Scheme::Alternating));
    maekawa_plane: |n| maekawa(GrantingSets::projective_plane_of(n));
    majority: |n| maekawa(GrantingSets::majority(n));
    weighted_majority: |n| {
        let weights: Vec<_> = (1..=n as u64).collect();
        maekawa(GrantingSets::weighted_majority(&weights))
    };
    token_ring: |n| TokenRing::cluster(n).ok();
    token_ring_without_pause: |n| TokenRing::with_hop_delay(0, n).ok();
    suzuki_kasami: |n| SuzukiKasami::cluster(n).ok();
    suzuki_kasami_ring: |n| Topology::ring(n).ok().map(|ring| SuzukiKasami::over(&ring));
    suzuki_kasami_tree: |n| Topology::k_ary_tree(n, 2).ok().map(|tree| SuzukiKasami::over(&tree));
    ricart_agrawala_token: |n| RicartAgrawalaToken::cluster(n).ok();
    singhal_heuristic: |n| SinghalHeuristic::cluster(n).ok();
    raymond: |n| Raymond::cluster(n).ok();
    raymond_line: |n| Tree::line(n).ok().map(|line| Raymond::over(&line));
    raymond_star: |n| Tree::star(n).ok().map(|star| Raymond::over(&star));
    naimi_trehel: |n| NaimiTrehel::cluster(n).ok();
    naimi_trehel_queue: |n| NaimiTrehelQueue::cluster(n).ok();
    banta_simple: |n| BantaSimple::cluster(n).ok();
    banta_fair: |n| BantaFair::cluster(n).ok();
    raymond_2: |n| RaymondK::cluster(n, 2).ok();
    raymond_half: |n| RaymondK::cluster(n, n / 2).ok();
}

protocols! { GENTLE
    banta_efficient: |n| BantaEfficient::cluster(n, Late::Strict).ok();
    banta_efficient_hardened: |n| BantaEfficient::cluster(n, Late::Hardened).ok();
    banta_k: |n| BantaK::cluster(n, n.div_ceil(3), Late::Strict).ok();
    banta_k_hardened: |n| BantaK::cluster(n, n / 2, Late::Hardened).ok();
}
