//! Locks that recover: explored with a crash at every step, with recoveries, and with detectors
//! that err.
//!
//! The gate explores what takes seconds. The rest, which takes minutes for each algorithm, by
//!
//! ```sh
//! RECOVERY_NODES=3 RECOVERY_ALGORITHMS=all RECOVERY_STATES=600000 \
//!     cargo test --release --all-features --test recovery -- --nocapture a_crash_at_any_step
//! RECOVERY_NODES=3 RECOVERY_ALGORITHMS=all RECOVERY_STATES=600000 RECOVERY_SCOPE=two \
//!     cargo test --release --all-features --test recovery -- --nocapture a_crash_and_a_recovery
//! ```
//!
//! Where there are more states than `RECOVERY_STATES`, a narrower scope is taken, and named. The
//! first one that is tried is the widest, or that which `RECOVERY_SCOPE` begins the name of.
#![cfg(feature = "check")]

mod common;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use common::by_hand::ByHand;
use common::chance::{fresh_seed, from_environment};
use common::exhaust::exhaust;
use exclusion::message::check::{Check, Model, State, Users};
use exclusion::message::fault::{recovery, view};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{RandomFaults, Simulation, Workload};
use exclusion::message::{
    Detector, Epoch, Fence, Fenced, FromRegistry, Input, Link, NodeId, Notice, Phase, Protocol,
    Recovering, SuzukiKasami,
};

type Recovers<P> = Recovering<FromRegistry<P>>;

/// What may befall the nodes.
#[derive(Clone, Copy)]
struct Explore {
    crashes: u8,
    recoveries: u8,
}

/// More states than any exploration of the gate has.
const MOST_STATES: usize = 40_000_000;

/// When things may happen, from the widest scope to the narrowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    AllAsk,
    TwoAsk,
    TwoAskUnhurried,
    OneAsks,
    OneAsksUnhurried,
    OneAsksUnhurriedAtRest,
}

const SCOPES: [(Scope, &str); 6] = [
    (Scope::AllAsk, "all ask"),
    (Scope::TwoAsk, "two ask"),
    (Scope::TwoAskUnhurried, "two ask, and act when no message is in flight"),
    (Scope::OneAsks, "one asks"),
    (Scope::OneAsksUnhurried, "one asks, and acts when no message is in flight"),
    (Scope::OneAsksUnhurriedAtRest, "one asks; all but notices when no message is in flight"),
];

impl Scope {
    fn of<P: Protocol>(self, check: Check<P>) -> Check<P> {
        let two = |check: Check<P>| check.requests_of(NodeId(2), 0);
        let one = |check: Check<P>| two(check).requests_of(NodeId(0), 0);
        match self {
            Self::AllAsk => check,
            Self::TwoAsk => two(check),
            Self::TwoAskUnhurried => two(check).users(Users::Unhurried),
            Self::OneAsks => one(check),
            Self::OneAsksUnhurried => one(check).users(Users::Unhurried),
            Self::OneAsksUnhurriedAtRest => {
                one(check).users(Users::Unhurried).crashes_at_rest().recoveries_at_rest()
            }
        }
    }
}

impl Visitor for Explore {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let most = from_environment("RECOVERY_STATES").unwrap_or(MOST_STATES);
        let first: String = from_environment("RECOVERY_SCOPE").unwrap_or_default();
        let first = SCOPES.iter().position(|(_, name)| name.starts_with(&first));
        let first = first.expect("RECOVERY_SCOPE is the beginning of a scope's name");
        let scopes = if cluster.len() > 2 { &SCOPES[first..] } else { &SCOPES[..1] };
        let nodes = Recovers::over(algorithm, cluster).expect("it is a cluster");
        let check = Check::new(nodes).crashes(self.crashes).recoveries(self.recoveries);
        for (scope, name) in scopes {
            let explored = exhaust(algorithm.name, &scope.of(check.clone()), most);
            println!("{algorithm}: {explored}: {name}");
            if explored.states.is_some() {
                return;
            }
        }
        panic!("{algorithm}: too many states in every scope");
    }
}

fn explore(gate: &[&str], explore: Explore) {
    let nodes = from_environment("RECOVERY_NODES").unwrap_or(2);
    let wanted = from_environment("RECOVERY_ALGORITHMS").unwrap_or_else(|| gate.join(","));
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|it| it == name);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_wanted(algorithm.name)) {
        if let Err(error) = algorithm.build(Size::of(nodes), explore) {
            println!("{error}");
        }
    }
}

#[test]
fn a_crash_at_any_step_leaves_exclusion_and_everybody_alive_served() {
    explore(&["all"], Explore { crashes: 1, recoveries: 0 });
}

#[test]
fn a_crash_and_a_recovery_at_any_step_leave_exclusion_and_everybody_alive_served() {
    explore(&["all"], Explore { crashes: 1, recoveries: 1 });
}

/// The same among three, of algorithms that have few states so.
#[test]
fn a_crash_at_any_step_among_three_leaves_exclusion_and_everybody_alive_served() {
    let quick = ["central_coordinator", "suzuki_kasami_fifo_ring", "raymond", "raymond_line"];
    for name in quick.into_iter().chain(["naimi_trehel", "naimi_trehel_queue"]) {
        let algorithm = Algorithm::named(name).expect("there is one");
        let explore = Explore { crashes: 1, recoveries: 0 };
        algorithm.build(Size::of(3), explore).expect("three are enough");
    }
}

/// The fences under which users are inside.
fn fences<P: Shipped>(state: &State<Recovers<P>>) -> Vec<Fence> {
    let admission = |node: NodeId| state.nodes[node.index()].admission();
    state.inside().filter_map(admission).map(|admission| admission.fence).collect()
}

/// A detector that errs once, and views that need a majority.
struct Erring;

impl Visitor for Erring {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let nodes = Recovers::over(algorithm, cluster).expect("it is a cluster");
        let nodes = nodes.into_iter().map(Recovering::gated).collect();
        let check = Check::new(nodes).requests(0).requests_of(NodeId(0), 1);
        let check = check.requests_of(NodeId(1), 1).mistakes(1).serving_all();
        let (mut two_inside, mut states) = (false, 0);
        every_state(&check, |state| {
            states += 1;
            assert_eq!(state.violation, None, "{algorithm}");
            let fences = fences(state);
            two_inside |= fences.len() > 1;
            let distinct = fences.iter().collect::<HashSet<_>>().len() == fences.len();
            assert!(distinct, "{algorithm}: {state:#?}");
        });
        println!("{algorithm}: {states} states");
        assert!(two_inside, "{algorithm}: plain exclusion holds");
        let progress = check.progress().expect("it is claimed");
        let stuck = progress.find_stuck(&check, MOST_STATES).expect("few enough states");
        assert!(stuck.is_none(), "{algorithm}: {stuck:?}");
    }
}

/// Looks at every state.
fn every_state<P: Protocol>(check: &Check<P>, mut look: impl FnMut(&State<P>)) {
    let mut seen = HashSet::new();
    let mut to_visit = check.init_states();
    while let Some(state) = to_visit.pop() {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        look(&state);
        let mut actions = Vec::new();
        check.actions(&state, &mut actions);
        to_visit.extend(actions.into_iter().filter_map(|it| check.next_state(&state, it)));
    }
}

#[test]
fn with_a_detector_that_errs_plain_exclusion_is_refuted_and_fenced_exclusion_holds() {
    let gate = || "central_coordinator".to_owned();
    let wanted: String = from_environment("RECOVERY_ALGORITHMS").unwrap_or_else(gate);
    for algorithm in ALGORITHMS.iter().filter(|it| wanted.split(',').any(|name| name == it.name)) {
        algorithm.build(Size::of(3), Erring).expect("three are enough");
    }
}

fn suzuki_kasami(nodes: usize) -> Vec<Recovers<SuzukiKasami>> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    let cluster = SuzukiKasami::cluster(nodes).expect("enough nodes");
    Recovering::over(algorithm, cluster).expect("it is a cluster")
}

#[test]
fn without_the_detectors_notice_a_crash_blocks() {
    let check = Check::new(suzuki_kasami(2)).crashes(1).untold().serving_all();
    let progress = check.progress().expect("it is claimed");
    assert!(progress.find_stuck(&check, MOST_STATES).expect("few states").is_some());
}

#[test]
fn a_crash_and_a_restart_within_one_round_trip_end_the_view_and_the_next_user_is_told() {
    let mut world = ByHand::new(Link::over(suzuki_kasami(2)));
    world.request(0);
    assert_eq!(world.entries_of(0), 1, "it has the token");
    world.request(1);
    // Node 0 dies inside, and is back before the request arrives.
    world.users[0] = Phase::Idle;
    world.give(0, Input::Notice(Notice::Recovered)).expect("it restarts");
    world.deliver_all();
    assert_eq!(world.entries_of(1), 1);
    let admission = world.nodes[1].admission().expect("it is inside");
    assert!(admission.perhaps_inside.contains(NodeId(0)), "{admission:?}");
    world.release(1);
    world.request(0);
    world.deliver_all();
    let admission = world.nodes[0].admission().expect("it is inside").clone();
    assert!(admission.perhaps_inside.is_empty(), "that one has been told");
    assert!(admission.fence > Fence { epoch: Epoch::default(), entry: u64::MAX });
}

#[test]
fn after_a_cut_with_the_holder_in_the_minority_fences_grow_and_its_write_is_refused() {
    let nodes = suzuki_kasami(5).into_iter().map(Recovering::gated).collect();
    let mut world = ByHand::new(nodes);
    let mut cell = Fenced::new("nothing");
    let fence = |world: &ByHand<Recovers<SuzukiKasami>>, node: usize| {
        world.nodes[node].admission().expect("it is inside").fence
    };
    world.request(0);
    let old = fence(&world, 0);
    *cell.write(old).expect("nobody else was here") = "first";
    // Nothing passes between {0, 1} and {2, 3, 4}, and each side takes the other for dead.
    let is_cut = |one: u32, other: u32| (one < 2) != (other < 2);
    for observer in 0..5 {
        for node in (0..5).filter(|&node| is_cut(observer, node)) {
            let down = Notice::Down(NodeId(node));
            world.give(observer, Input::Notice(down)).expect("it can occur");
        }
    }
    world.request(1);
    world.request(3);
    let deliver = |world: &mut ByHand<_>| {
        while let Some((from, to, message)) = world.in_flight.pop_front() {
            if !is_cut(NodeId::index(from) as u32, NodeId::index(to) as u32) {
                let receive = Input::Receive { from, message };
                world.give(to.0, receive).expect("it can occur");
            }
        }
    };
    deliver(&mut world);
    assert_eq!((world.entries_of(1), world.entries_of(3)), (0, 1), "a minority admits nobody");
    assert!(world.nodes[1].view().is_none());
    let new = fence(&world, 3);
    assert!(new > old);
    *cell.write(new).expect("it is the greatest") = "second";
    assert!(cell.write(old).is_err(), "the old holder has been overtaken");

    // The cut is over.
    for observer in 0..5 {
        for node in (0..5).filter(|&node| is_cut(observer, node)) {
            let up = Notice::Up(NodeId(node));
            world.give(observer, Input::Notice(up)).expect("it can occur");
        }
    }
    world.deliver_all();
    world.release(0);
    world.deliver_all();
    world.release(3);
    world.deliver_all();
    assert_eq!(world.entries_of(1), 1, "all are served");
    assert!(fence(&world, 1) > new);
    let views: HashSet<_> = world.nodes.iter().map(|node| node.view().cloned()).collect();
    assert_eq!(views.len(), 1, "{views:?}");
    let view = views.into_iter().next().flatten().expect("all are in it");
    assert_eq!(view.members.len(), 5);
    *cell.write(fence(&world, 1)).expect("it is the greatest") = "third";
    assert_eq!(cell.into_inner(), "third");
}

/// `INSTALL` is long on its way to node 2, while the others enter again and again and tell it so.
#[test]
fn a_node_that_would_have_to_keep_too_much_calls_a_view_that_begins_with_itself() {
    let mut world = ByHand::new(suzuki_kasami(4));
    for observer in 0..3 {
        let down = Input::Notice(Notice::Down(NodeId(3)));
        world.give(observer, down).expect("it can occur");
    }
    let mut held = Vec::new();
    let mut deliver = |world: &mut ByHand<Recovers<SuzukiKasami>>| {
        while let Some((from, to, message)) = world.in_flight.pop_front() {
            let installs =
                matches!(message, recovery::Message::View(view::Message::Install { .. }));
            match to.0 {
                3 => {}
                2 if installs => held.push((from, message)),
                _ => world.give(to.0, Input::Receive { from, message }).expect("it can occur"),
            }
        }
    };
    deliver(&mut world);
    let promised = world.nodes[2].promised();
    assert!(world.nodes[2].view().is_none(), "it has halted");
    let mut entries = 0;
    while world.nodes[2].promised() == promised {
        let user = entries % 2;
        world.request(user);
        deliver(&mut world);
        world.release(user);
        deliver(&mut world);
        entries += 1;
        assert!(entries < 1100, "it keeps without end");
    }
    assert!(entries > 1000, "it keeps what may come");
    for (from, message) in held {
        world.give(2, Input::Receive { from, message }).expect("it can occur");
    }
    let epochs: HashSet<_> = world.nodes[..3].iter().map(|node| node.view().cloned()).collect();
    assert_eq!(epochs.len(), 1, "all are in the view that it has called: {epochs:?}");
    world.request(2);
    world.deliver_all();
    assert_eq!(world.entries_of(2), 1);
}

type Stack<P> = Detector<Link<Recovers<P>>>;

/// Detector, link and recovery in the simulator, with loss, duplication, a crash and a recovery.
struct Storm(u64);

impl Visitor for Storm {
    type Output = (String, u64);

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> (String, u64) {
        let Self(seed) = self;
        let nodes = Recovers::over(algorithm, cluster).expect("it is a cluster");
        let nodes: Vec<Stack<P>> = Link::over(nodes).into_iter().map(Detector::reliable).collect();
        let entries = 10;
        let faults = RandomFaults {
            within: 30.0,
            crashes: 1,
            down_for: (seed % 2 == 0).then_some(20.0),
            duplication: 0.1,
            ..RandomFaults::default()
        };
        let run = Simulation::new(nodes)
            .seed(seed)
            .workload(Workload::Poisson { rate: 0.2, entries })
            .faults_at_random(faults)
            .healed_at(60.0, 400.0)
            .most_events(1_000_000)
            .traced()
            .run();
        let report = run.unwrap_or_else(|error| panic!("{algorithm}, seed {seed}: {error}"));
        (report.trace.expect("it was asked for").to_string(), report.entries)
    }
}

#[test]
fn the_whole_stack_serves_all_that_live_in_the_simulator_and_a_seed_gives_the_same_bytes() {
    let runs: u64 = from_environment("RECOVERY_RUNS").unwrap_or(200);
    let seed: u64 = from_environment("RECOVERY_SEED").unwrap_or_else(|| fresh_seed() >> 8);
    println!("RECOVERY_SEED={seed} RECOVERY_RUNS={runs}");
    for (run, algorithm) in (seed..seed + runs).zip(ALGORITHMS.iter().cycle()) {
        let size = Size::of(algorithm.nodes_to_show);
        let (trace, entries) = algorithm.build(size, Storm(run)).expect("it is shown so");
        assert!(entries > 0, "{algorithm}, seed {run}");
        if run % 10 == 0 {
            let again = algorithm.build(size, Storm(run)).expect("it is shown so");
            assert_eq!((trace, entries), again, "{algorithm}, seed {run}");
        }
    }
}
