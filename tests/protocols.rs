//! One suite for every algorithm of the registry: exact costs, safety and service under random
//! delays, actors under threads, golden traces. A new algorithm is tested as soon as it is in the
//! registry.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::within_two_minutes;
use exclusion::message::actor::{Cluster, DataOf, Down};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Report, Simulation, Workload};
use exclusion::message::{
    Channels, Claims, Cost, Happening, Input, NodeId, Outbox, Output, Protocol, RaymondK,
    TokenRing, Trace, replay, step,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const SIZES: [usize; 11] = [2, 3, 4, 6, 7, 9, 10, 13, 15, 16, 21];

/// Something that every cluster must pass.
trait Test: Copy {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>)
    where
        DataOf<P, ()>: Send + Sync;
}

/// A test, as the registry wants it.
struct Visit<T>(T);

impl<T: Test> Visitor for Visit<T> {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>)
    where
        DataOf<P, ()>: Send + Sync,
    {
        self.0.run(algorithm.name, cluster);
    }
}

/// Every algorithm passes the test in each of these sizes that it can have; and so do some that are
/// in no list.
fn every_algorithm_passes(test: impl Test, sizes: &[usize]) {
    for algorithm in ALGORITHMS {
        let built = sizes.iter().map(|&nodes| algorithm.build(Size::of(nodes), Visit(test)));
        assert!(built.filter(Result::is_ok).count() > 0, "{algorithm} has none of these sizes");
    }
    for &nodes in sizes {
        test.run("token_ring_without_pause", TokenRing::with_hop_delay(0, nodes).unwrap());
        for entries in [2, nodes / 2] {
            if let Ok(cluster) = RaymondK::cluster(nodes, entries) {
                let name = if entries == 2 { "raymond_2" } else { "raymond_half" };
                test.run(name, cluster);
            }
        }
    }
}

fn cost<P: Claims>(nodes: &[P]) -> Cost {
    P::cost(nodes).expect("a formula")
}

fn report_of<P: Protocol>(name: &str, simulation: Simulation<P>) -> Report {
    simulation.run().unwrap_or_else(|error| {
        let trace = error.trace.clone().unwrap_or_default();
        panic!("{name}: {error}\n{trace}")
    })
}

#[derive(Clone, Copy)]
struct Alone;

impl Test for Alone {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let (n, cost) = (nodes.len(), cost(&nodes));
        let report = report_of(name, Simulation::new(nodes));
        assert_eq!(report.entries, n as u64, "{name}");
        let measured = report.per_entry.expect("entries");
        let promised = (*cost.alone.start(), *cost.alone.end());
        assert_eq!((measured.min, measured.max), promised, "{name}, n={n}");
    }
}

#[test]
fn alone_it_costs_the_formula_to_the_message() {
    every_algorithm_passes(Alone, &SIZES);
}

#[derive(Clone, Copy)]
struct Contended;

impl Test for Contended {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let (n, cost) = (nodes.len(), cost(&nodes));
        for workload in [
            Workload::AllAtOnce { rounds: 20 },
            Workload::Saturated { wanting: n, entries: 50 * n as u64 },
            Workload::Saturated { wanting: n.div_ceil(2), entries: 50 * n as u64 },
            Workload::Poisson { rate: 0.1, entries: 50 * n as u64 },
        ] {
            for delay in [Delay::Constant(1.0), Delay::Exponential(1.0)] {
                let simulation = Simulation::new(nodes.clone()).delay(delay).seed(n as u64);
                let report = report_of(name, simulation.workload(workload.clone()));
                let measured = report.per_entry.expect("entries");
                let within = cost.contended.contains(&measured.min)
                    && cost.contended.contains(&measured.max);
                assert!(within, "{name}, n={n} {workload:?} {delay:?}: {measured} not in {cost:?}");
            }
        }
    }
}

#[test]
fn contended_it_costs_within_the_bounds() {
    every_algorithm_passes(Contended, &SIZES);
}

/// A run that proptest chooses, and prints when it fails.
fn runs(n: usize) -> impl Strategy<Value = (u64, Delay, Delay, Workload)> {
    let delay = prop_oneof![
        Just(Delay::Constant(1.0)),
        Just(Delay::Uniform(0.0, 2.0)),
        Just(Delay::Exponential(1.0)),
    ];
    let stay = prop_oneof![Just(Delay::Constant(0.0)), Just(Delay::Exponential(3.0))];
    (any::<u64>(), delay, stay, 0..4_usize, 1..100_u32).prop_map(
        move |(seed, delay, stay, kind, percent)| {
            let entries = 10 * n as u64;
            let wanting = (n * percent as usize).div_ceil(100);
            let workload = match kind {
                0 => Workload::AllAtOnce { rounds: 5 },
                1 => Workload::Saturated { wanting, entries },
                2 => Workload::Poisson { rate: f64::from(percent) / 50.0, entries },
                _ => Workload::InTurn { rounds: 2 },
            };
            (seed, delay, stay, workload)
        },
    )
}

#[derive(Clone, Copy)]
struct AnyDelays;

impl AnyDelays {
    /// So many runs of each algorithm, over all its sizes. `PROPTEST_CASES` asks for more.
    fn cases() -> u32 {
        Config::default().cases.div_ceil(SIZES.len() as u32 - 3)
    }
}

impl Test for AnyDelays {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let n = nodes.len();
        // Failures print their seed.
        let config =
            Config { failure_persistence: None, cases: Self::cases(), ..Config::default() };
        let outcome = TestRunner::new(config).run(&runs(n), |(seed, delay, stay, workload)| {
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
                // Not exclusive, a deadlock, or an unexpected message: each is an error.
                let report =
                    simulation.run().map_err(|error| TestCaseError::fail(error.to_string()))?;
                let expected = match workload {
                    Workload::AllAtOnce { rounds } | Workload::InTurn { rounds } => {
                        rounds * n as u64
                    }
                    Workload::Saturated { entries, .. } | Workload::Poisson { entries, .. } => {
                        entries
                    }
                    _ => unreachable!("not chosen"),
                };
                prop_assert_eq!(report.entries, expected);
            }
            Ok(())
        });
        if let Err(failure) = outcome {
            panic!("{name}, n={n}: {failure}");
        }
    }
}

#[test]
fn any_delays_keep_it_safe_and_serve_everybody() {
    every_algorithm_passes(AnyDelays, &SIZES);
}

#[derive(Clone, Copy)]
struct SameSeed;

impl Test for SameSeed {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let n = nodes.len();
        let simulation = Simulation::new(nodes.clone())
            .seed(42)
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Saturated { wanting: n, entries: 5 * n as u64 })
            .traced();
        let report = report_of(name, simulation.clone());
        assert_eq!(report, report_of(name, simulation.clone()));
        let other = report_of(name, simulation.seed(43));
        assert_ne!(report.trace, other.trace, "{name}: another seed, another run");

        let trace = report.trace.expect("it was asked for");
        let read = trace.to_string().parse().expect("what is written can be read");
        assert_eq!(trace, read, "{name}");
        replay(nodes.clone(), &trace).unwrap_or_else(|error| panic!("{name}: {error}"));

        // A trace that was tampered with does not replay.
        let mut tampered = trace;
        let entry = tampered.events.iter().rposition(|event| event.happening == Happening::Enters);
        tampered.events.remove(entry.expect("somebody entered"));
        replay(nodes, &tampered).expect_err("an entry is missing");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_its_trace_replays() {
    every_algorithm_passes(SameSeed, &[2, 3, 4, 6, 7]);
}

#[derive(Clone, Copy)]
struct Impossible;

impl Test for Impossible {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let mut node = nodes[0].clone();
        let mut out = Outbox::new();
        step(&mut node, Input::Release, &mut out).expect_err("nobody is inside");
        assert!(node == nodes[0] && out.is_empty(), "{name}");

        step(&mut node, Input::Request, &mut out).expect("idle");
        out.clear();
        let asked = node.clone();
        step(&mut node, Input::Request, &mut out).expect_err("it has asked");
        assert!(node == asked && out.is_empty(), "{name}");

        // Whatever is said by a node that does not exist.
        let mut mouth = Outbox::new();
        step(&mut nodes[1].clone(), Input::Request, &mut mouth).expect("idle");
        for output in mouth.drain() {
            let Output::Send { message, .. } = output else { continue };
            let stranger = NodeId::at(nodes.len());
            let input = Input::Receive { from: stranger, message };
            step(&mut node, input, &mut out).expect_err("there is no such node");
            assert!(node == asked && out.is_empty(), "{name}");
        }
    }
}

#[test]
fn what_cannot_happen_is_refused_and_changes_nothing() {
    every_algorithm_passes(Impossible, &[2, 3, 4, 6, 7]);
}

#[derive(Clone, Copy)]
struct Places;

impl Test for Places {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>)
    where
        DataOf<P, ()>: Send + Sync,
    {
        let refused = |nodes: Vec<P>| {
            let simulated = Simulation::new(nodes.clone()).run().map(|_| ());
            assert!(simulated.unwrap_err().to_string().contains("stands"), "{name}");
            let started = Cluster::start(nodes.clone(), ()).map(|_| ());
            assert!(started.unwrap_err().to_string().contains("stands"), "{name}");
            let replayed = replay(nodes, &Trace::default()).map(|_| ());
            assert!(replayed.unwrap_err().to_string().contains("stands"), "{name}");
        };
        for (position, node) in nodes.iter().enumerate() {
            assert_eq!((node.id(), node.nodes()), (NodeId::at(position), nodes.len()), "{name}");
        }
        let mut swapped = nodes.clone();
        swapped.swap(0, 1);
        refused(swapped);
        let mut twice = nodes.clone();
        twice[0] = nodes[1].clone();
        refused(twice);
        refused([&nodes[..], &nodes[..]].concat());
    }
}

#[test]
fn nodes_in_the_wrong_order_or_twice_or_of_two_clusters_are_refused() {
    every_algorithm_passes(Places, &[3, 4, 6, 7]);
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

#[derive(Clone, Copy)]
struct Actors;

impl Test for Actors {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>)
    where
        DataOf<P, ()>: Send + Sync,
    {
        let name = name.to_owned();
        let gentle = Algorithm::named(&name).is_ok_and(|algorithm| algorithm.within_tmax);
        let Pace { rounds, period } = if gentle { GENTLE } else { BRISK };
        within_two_minutes(move || {
            let (n, at_a_time, cost) = (nodes.len(), nodes[0].entries_at_a_time(), cost(&nodes));
            // A user that enters increments; `inside` counts those that are there.
            let counters = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
            let builder = Cluster::builder().resource("counters", nodes, ());
            let cluster = builder.period(period).start().expect("it starts");
            std::thread::scope(|scope| {
                for mut handle in cluster.handles() {
                    let (inside, entries) = &*counters;
                    let name = &name;
                    scope.spawn(move || {
                        for _ in 0..rounds {
                            let _guard = handle.lock().expect("nobody dies");
                            assert!(inside.fetch_add(1, Ordering::Relaxed) < at_a_time, "{name}");
                            // Two steps, so that an increment would be lost if two did it at the
                            // same time.
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
            assert_eq!(counters.1.load(Ordering::Relaxed), n * rounds, "{name}");
            // After the shutdown, by when the last answers have been given too.
            let ended = cluster.shutdown();
            assert_eq!(ended.down, Down::Shutdown, "{name}");
            let messages = ended.messages.total() as f64 / (n * rounds) as f64;
            assert!(cost.contended.contains(&messages), "{name}: {messages} per entry, {cost:?}");
        });
    }
}

#[test]
fn actors_lose_no_increment() {
    // Four nodes, or as few as the arrangement can have.
    for algorithm in ALGORITHMS {
        let built = [4, 3, 6, 7].map(Size::of);
        let built = built.into_iter().find_map(|size| algorithm.build(size, Visit(Actors)).ok());
        built.unwrap_or_else(|| panic!("{algorithm} has none of these sizes"));
    }
    Actors.run("token_ring_without_pause", TokenRing::with_hop_delay(0, 4).unwrap());
}

/// Small runs as they were when somebody last read them. `UPDATE_TRACES=1` writes them anew.
#[derive(Clone, Copy)]
struct Golden;

impl Test for Golden {
    fn run<P: Shipped>(self, name: &str, nodes: Vec<P>) {
        let workload = Workload::Script(vec![(0.0, NodeId(0)), (0.5, NodeId(2)), (0.5, NodeId(1))]);
        let report = report_of(name, Simulation::new(nodes).workload(workload).traced());
        let trace = report.trace.expect("it was asked for").to_string();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/traces/{name}.txt"));
        if std::env::var_os("UPDATE_TRACES").is_some() {
            std::fs::write(&path, &trace).expect("the trace can be written");
        }
        let golden =
            std::fs::read_to_string(&path).expect("a golden trace; UPDATE_TRACES=1 writes it");
        assert!(trace == golden, "{name} differs from its golden trace. It is now:\n{trace}");
    }
}

#[test]
fn small_runs_are_as_written() {
    for algorithm in ALGORITHMS {
        let built = [3, 7].into_iter().map(Size::of);
        let built = built.map(|size| algorithm.build(size, Visit(Golden))).find(Result::is_ok);
        built.unwrap_or_else(|| panic!("{algorithm} has no small cluster")).unwrap();
    }
    Golden.run("token_ring_without_pause", TokenRing::with_hop_delay(0, 3).unwrap());
    Golden.run("raymond_2", RaymondK::cluster(3, 2).unwrap());
}

#[test]
fn every_golden_trace_is_of_an_algorithm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let elsewhere = ["token_ring_without_pause", "raymond_2"];
    for file in std::fs::read_dir(folder).expect("the traces are there") {
        let path = file.expect("a file").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let known = Algorithm::named(name).is_ok() || elsewhere.contains(&name);
        assert!(known, "no algorithm is called {name}: remove its trace");
    }
}
