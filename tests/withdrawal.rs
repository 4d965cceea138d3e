//! Users that wait no longer, and take their requests back.
#![cfg(feature = "check")]

use exclusion::message::check::{Check, Checker, Model};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Fault, Report, Simulation, Workload};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Claims, Happening, Input, Lamport, Link, Maekawa,
    Majority, NodeId, Outbox, Protocol, Raymond, RaymondK, Recovering, RicartAgrawala,
    SuzukiKasami, TokenRing, replay, step,
};

/// Each user may take a request back, once, at any point: exclusion, no refusal, no deadlock; from
/// every state all who wait can be served; and no request costs more than this.
fn withdraws<P>(name: &str, check: Check<P>, messages: f64)
where
    P: Claims + Protocol<Message: Send + Sync> + Send + Sync + 'static,
{
    let check = check.withdrawals(1).keeps_its_invariant().at_most(messages).serving_all();
    let checker = check.clone().checker().spawn_bfs().join();
    checker.assert_properties();
    eprintln!("{name}: {} states", checker.unique_state_count());
    let stuck = check.progress().expect("it claims so").find_stuck(&check, 4_000_000);
    if let Some(path) = stuck.expect("few enough states") {
        let actions: Vec<_> = path.into_actions().iter().map(ToString::to_string).collect();
        panic!("stuck after {actions:#?}");
    }
}

macro_rules! withdraw {
    ($($test:ident: $nodes:expr, $requests:expr, at most $messages:expr;)*) => {
        $(#[test]
        fn $test() {
            let mut check = Check::new($nodes);
            for (node, times) in (0..).zip($requests) {
                check = check.requests_of(NodeId(node), times);
            }
            withdraws(stringify!($test), check, f64::from($messages));
        })*
    };
}

withdraw! {
    the_coordinator_cancels: CentralCoordinator::cluster(3).unwrap(), [1, 2, 2], at most 5;
    lamport_cancels: Lamport::cluster(2).unwrap(), [2, 2], at most 3;
    lamport_cancels_among_three: Lamport::cluster(3).unwrap(), [1, 1, 0], at most 6;
    ricart_and_agrawala_confirm: RicartAgrawala::cluster(2).unwrap(), [3, 2], at most 2;
    ricart_and_agrawala_confirm_among_three:
        RicartAgrawala::cluster(3).unwrap(), [2, 1, 0], at most 4;
    carvalho_and_roucairol_confirm: CarvalhoRoucairol::cluster(2).unwrap(), [3, 2], at most 2;
    carvalho_and_roucairol_confirm_among_three:
        CarvalhoRoucairol::cluster(3).unwrap(), [2, 1, 0], at most 8;
    raymond_answers: RaymondK::cluster(3, 2).unwrap(), [2, 1, 0], at most 4;
    raymond_answers_where_one_enters: RaymondK::cluster(2, 1).unwrap(), [3, 2], at most 2;
    maekawa_releases: Maekawa::grid(2).unwrap(), [2, 2], at most 6;
    maekawa_releases_among_three: Maekawa::grid(3).unwrap(), [2, 1, 0], at most 12;
    majorities_release: Majority::cluster(2).unwrap(), [2, 2], at most 6;
    majorities_release_among_three: Majority::cluster(3).unwrap(), [1, 1, 0], at most 12;
    the_ring_goes_on: TokenRing::cluster(3).unwrap(), [2, 1, 1], at most f32::INFINITY;
    the_tree_goes_on: Raymond::cluster(3).unwrap(), [2, 2, 1], at most 4;
}

const PAGE: &str = include_str!("../docs/remedies.md");

/// What it says of itself is what it does, and what the table says.
struct Withdraws;

impl Visitor for Withdraws {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, mut cluster: Vec<P>) {
        let (mut out, name) = (Outbox::new(), algorithm.name);
        // In each, the last node has neither token nor desk: it waits.
        let last = cluster.last_mut().expect("it has nodes");
        step(last, Input::Request, &mut out).expect("it is idle");
        out.clear();
        let before = last.clone();
        let withdrawn = step(last, Input::Withdraw, &mut out);
        assert_eq!(withdrawn.is_ok(), P::WITHDRAWS, "{name}");
        assert_eq!(last.phase().is_idle(), P::WITHDRAWS, "{name}");
        assert!(P::WITHDRAWS || *last == before, "{name}");
        out.clear();
        let again = step(last, Input::Withdraw, &mut out);
        again.expect_err("it does not wait any more, or it cannot");
        let what = if P::WITHDRAWS { "taken back" } else { "stands" };
        let row = format!("| `{name}` | {what} |");
        // An arrangement does what its algorithm does, which has the row.
        let has_row = PAGE.lines().any(|line| line.starts_with(&row));
        assert!(algorithm.arrangement.is_some() || has_row, "docs/remedies.md lacks {row}");
    }
}

#[test]
fn an_algorithm_says_whether_a_request_can_be_taken_back() {
    for algorithm in ALGORITHMS {
        let size = Size { nodes: 3, entries: algorithm.several_entries.then_some(2) };
        algorithm.build(size, Withdraws).unwrap();
    }
}

/// Users that wait for about as long as they have to, by this seed: many give up, many do not.
struct Impatient(u64);

fn impatient<P: Protocol>(cluster: Vec<P>, seed: u64) -> Simulation<P> {
    let entries = 10 * cluster.len() as u64;
    Simulation::new(cluster)
        .seed(seed)
        .delay(Delay::Uniform(0.0, 1.0))
        .workload(Workload::Poisson { rate: 0.8, entries })
        .patience(Delay::Exponential(6.0))
        .most_events(1_000_000)
}

/// Whoever has not given up has been served, and whatever stands has been served too.
fn is_counted<P: Protocol>(name: &str, requests: u64, report: &Report) {
    let Report { entries, given_up, withdrawn, .. } = *report;
    if P::WITHDRAWS {
        assert_eq!(entries + withdrawn, requests, "{name}");
        assert_eq!(given_up, withdrawn, "{name}");
    } else {
        assert_eq!(withdrawn, 0, "{name}");
        // One that takes over the request before it shares its entry.
        assert!(entries <= requests && entries + given_up >= requests, "{name}");
    }
}

impl Visitor for Impatient {
    type Output = (u64, u64);

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> (u64, u64) {
        let Self(seed) = self;
        let (name, requests) = (algorithm.name, 10 * cluster.len() as u64);
        let report = impatient(cluster.clone(), seed).traced().run();
        let report = report.unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
        is_counted::<P>(name, requests, &report);
        let trace = report.trace.as_ref().expect("it was traced");
        let withdraws = |it: &&Happening| **it == Happening::Withdraws;
        let happened = trace.events.iter().map(|event| &event.happening);
        assert_eq!(happened.filter(withdraws).count() as u64, report.withdrawn, "{name}");
        replay(cluster.clone(), trace).unwrap_or_else(|error| panic!("{name}: {error}"));

        // The same over a link that loses, and with recovery: layers do what their lock does.
        if !algorithm.within_tmax {
            let over = impatient(Link::over(cluster.clone()), seed);
            let over = over.fault_at(0.0, Fault::Lose(0.1)).fault_at(0.0, Fault::Double(0.1)).run();
            let over = over.unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
            is_counted::<Link<P>>(name, requests, &over);
        }
        let recovering = Recovering::over(algorithm, cluster).expect("it is a cluster");
        let recovering = impatient(recovering, seed).run();
        let recovering = recovering.unwrap_or_else(|error| panic!("{name}, {seed}: {error}"));
        is_counted::<P>(name, requests, &recovering);
        (report.given_up, report.entries)
    }
}

#[test]
fn users_give_up_in_the_simulator_and_all_others_are_served() {
    for algorithm in ALGORITHMS {
        let (mut given_up, mut entries) = (0, 0);
        for seed in 0..4 {
            let size = Size::of(algorithm.nodes_to_show);
            let counts = algorithm.build(size, Impatient(seed)).expect("it is shown so");
            given_up += counts.0;
            entries += counts.1;
        }
        assert!(given_up > 0 && entries > 0, "{algorithm}: {given_up} of {entries} gave up");
    }
}

/// One user waits behind another that stays for long, and gives up.
#[test]
fn a_request_that_cannot_be_taken_back_stands_and_the_next_one_takes_it_over() {
    let run = |script: &[(f64, u32)]| {
        let script = script.iter().map(|&(time, node)| (time, NodeId(node))).collect();
        Simulation::new(SuzukiKasami::cluster(3).unwrap())
            .workload(Workload::Script(script))
            .inside(Delay::Constant(20.0))
            .patience(Delay::Constant(5.0))
            .run()
            .expect("nothing is wrong")
    };
    // It is let in at 21, and leaves at once.
    let report = run(&[(0.0, 0), (1.0, 1)]);
    assert_eq!((report.entries, report.given_up, report.withdrawn), (2, 1, 0));
    assert!(report.end.as_units() < 30.0, "{}", report.end);
    assert_eq!(report.client_delay.map(|delay| delay.max), Some(0.0), "nobody has waited for it");
    // The same user asks again at 18, and is served by the request that stands.
    let report = run(&[(0.0, 0), (1.0, 1), (18.0, 1)]);
    assert_eq!((report.entries, report.given_up), (2, 1));
    assert!(report.end.as_units() > 40.0, "{}", report.end);
    assert_eq!(report.client_delay.map(|delay| delay.max), Some(3.0));
}

#[test]
fn a_patience_that_makes_no_sense_is_refused() {
    let simulation = Simulation::new(RicartAgrawala::cluster(3).unwrap());
    let error = simulation.patience(Delay::Constant(-1.0)).run().unwrap_err();
    assert!(error.to_string().contains("no delay"), "{error}");
}
