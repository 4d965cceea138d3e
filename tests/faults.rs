//! What befalls nodes and messages in the simulator and the checker: that it happens, is written
//! down, and can be replayed.
#![cfg(feature = "check")]

use exclusion::message::check::{Check, Checker, Model, trace_of};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{
    Deed, Delay, Fault, Notices, RandomFaults, Report, SimCause, SimError, Simulation, Workload,
};
use exclusion::message::{
    CentralCoordinator, Detector, Fenced, Happening, Lamport, Link, Maekawa, NodeId, Protocol,
    Quorums, Recovering, RicartAgrawala, Role, SuzukiKasami, TokenRing, Trace, Violation, replay,
};

fn all_at_once() -> Workload {
    Workload::AllAtOnce { rounds: 1 }
}

fn violation(outcome: Result<Report, SimError>) -> (Violation, Trace) {
    let error = outcome.expect_err("something is wrong");
    let SimCause::Violation(violation) = error.cause else { panic!("{error}") };
    (violation, error.trace.expect("it was traced"))
}

fn counts(trace: &Trace, is_it: fn(&Happening) -> bool) -> usize {
    trace.events.iter().filter(|event| is_it(&event.happening)).count()
}

#[test]
fn a_holder_that_dies_takes_the_others_down_with_it() {
    let cluster = CentralCoordinator::cluster(3).unwrap();
    let simulation = Simulation::new(cluster.clone()).workload(all_at_once()).traced();
    let outcome = simulation.aim_at_role(0.0, Role::Holder, Deed::Crash(None)).run();
    let (violation, trace) = violation(outcome);
    assert_eq!(violation, Violation::Deadlock(vec![NodeId(1), NodeId(2)]));
    assert_eq!(counts(&trace, |it| *it == Happening::Crashes), 1);
    assert_eq!(trace.to_string().parse::<Trace>().as_ref(), Ok(&trace));
    replay(cluster, &trace).expect("it happens again as it is written");
}

#[test]
fn an_idle_client_of_the_coordinator_may_die() {
    let simulation = Simulation::new(CentralCoordinator::cluster(3).unwrap());
    let script = vec![(0.0, NodeId(1)), (5.0, NodeId(0)), (6.0, NodeId(1))];
    let report = simulation
        .workload(Workload::Script(script))
        .fault_at(0.5, Fault::Crash(NodeId(2)))
        .run()
        .expect("nobody needs it");
    assert_eq!(report.entries, 3);
}

#[test]
fn a_node_that_stands_still_goes_on_with_all_that_came_to_it() {
    let cluster = RicartAgrawala::cluster(3).unwrap();
    let report = Simulation::new(cluster.clone())
        .workload(all_at_once())
        .fault_at(0.5, Fault::Pause(NodeId(2)))
        .healed_at(30.0, 20.0)
        .traced()
        .run()
        .expect("it goes on");
    assert_eq!(report.entries, 3);
    assert!(report.end.as_units() > 30.0, "{}", report.end);
    let trace = report.trace.expect("it was traced");
    assert_eq!(counts(&trace, |it| *it == Happening::Pauses), 1);
    assert_eq!(counts(&trace, |it| *it == Happening::Resumes), 1);
    replay(cluster, &trace).expect("it happens again as it is written");
}

#[test]
fn whoever_still_waits_after_all_has_healed_is_named() {
    let cluster = TokenRing::cluster(3).unwrap();
    let simulation = Simulation::new(cluster).workload(all_at_once()).traced();
    // The ring never rests: without a bound, nobody would notice.
    let outcome = simulation.fault_at(0.0, Fault::LoseNext("TOKEN")).healed_at(40.0, 20.0).run();
    let (violation, trace) = violation(outcome);
    assert_eq!(violation, Violation::NotServed(vec![NodeId(1), NodeId(2)]));
    assert_eq!(counts(&trace, |it| matches!(it, Happening::Misses { .. })), 1);
}

#[test]
fn a_cut_may_be_one_way() {
    let run = |fault| {
        let simulation = Simulation::new(CentralCoordinator::cluster(2).unwrap()).traced();
        let script = Workload::Script(vec![(1.0, NodeId(1))]);
        simulation.workload(script).fault_at(0.0, fault).run()
    };
    // The coordinator is node 0. The request is lost either way; a grant only if node 0 is cut off.
    for (fault, kinds) in [
        (Fault::Cut(vec![NodeId(1)]), vec!["REQUEST"]),
        (Fault::CutOneWay(vec![NodeId(1)]), vec!["REQUEST"]),
        (Fault::CutOneWay(vec![NodeId(0)]), vec!["REQUEST", "GRANT"]),
    ] {
        let (violation, trace) = violation(run(fault.clone()));
        assert_eq!(violation, Violation::Deadlock(vec![NodeId(1)]));
        let sent: Vec<_> = trace
            .events
            .iter()
            .filter_map(|event| match &event.happening {
                Happening::Sends { kind, .. } => Some(kind.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(sent, kinds, "{fault:?}");
        assert_eq!(counts(&trace, |it| matches!(it, Happening::Misses { .. })), 1, "{fault:?}");
    }
}

#[test]
fn slow_nodes_keep_their_channels_in_order() {
    let report = Simulation::new(CentralCoordinator::cluster(3).unwrap())
        .workload(Workload::Saturated { wanting: 3, entries: 60 })
        .fault_at(3.0, Fault::Slow(NodeId(1), 10.0))
        .fault_at(31.0, Fault::Slow(NodeId(1), 1.0))
        .run()
        .expect("it is only slow");
    assert_eq!(report.entries, 60);
}

#[test]
fn a_lost_token_is_missed_by_all_and_a_lost_request_until_another_asks() {
    let run = |kind, script: &[(f64, NodeId)]| {
        let simulation = Simulation::new(SuzukiKasami::cluster(3).unwrap()).traced();
        let script = Workload::Script(script.to_vec());
        simulation.workload(script).fault_at(0.0, Fault::LoseNext(kind)).run()
    };
    let (first, second) = ((0.0, NodeId(1)), (9.0, NodeId(2)));
    let (blocks, trace) = violation(run("TOKEN", &[first, second]));
    assert_eq!(blocks, Violation::Deadlock(vec![NodeId(1), NodeId(2)]));
    replay(SuzukiKasami::cluster(3).unwrap(), &trace).expect("it happens again as it is written");
    // The request is lost on its way to the node that has the token.
    assert_eq!(violation(run("REQUEST", &[first])).0, Violation::Deadlock(vec![NodeId(1)]));
    // The other node has heard of it, and tells the token.
    assert_eq!(run("REQUEST", &[first, second]).expect("both are served").entries, 2);
}

#[test]
fn a_seed_gives_the_same_bytes_again() {
    let random = RandomFaults {
        within: 40.0,
        crashes: 1,
        pauses: 2,
        cuts: 1,
        one_way_cuts: 1,
        slow: 1,
        lasting: 7.0,
        loss: 0.02,
        duplication: 0.1,
        ..RandomFaults::default()
    };
    let mut outcomes = Vec::new();
    for seed in 0..60 {
        let run = || {
            Simulation::new(Lamport::cluster(4).unwrap())
                .delay(Delay::Exponential(1.0))
                .workload(Workload::Saturated { wanting: 4, entries: 12 })
                .seed(seed)
                .faults_at_random(random)
                .notices(Notices::ToAll)
                .ignoring_refused()
                .healed_at(100.0, 100.0)
                .traced()
                .run()
        };
        let trace = |outcome: Result<Report, SimError>| match outcome {
            Ok(report) => report.trace,
            Err(error) => error.trace,
        };
        let (once, again) = (trace(run()).expect("traced"), trace(run()).expect("traced"));
        assert_eq!(once.to_string(), again.to_string(), "seed {seed}");
        assert_eq!(once.to_string().parse::<Trace>().as_ref(), Ok(&once), "seed {seed}");
        if let Err(error) = replay(Lamport::cluster(4).unwrap(), &once) {
            panic!("seed {seed}: {error}");
        }
        outcomes.push(once);
    }
    let happens = |is_it: fn(&Happening) -> bool| outcomes.iter().any(|it| counts(it, is_it) > 0);
    assert!(happens(|it| matches!(it, Happening::Crashes)));
    assert!(happens(|it| matches!(it, Happening::Misses { .. })));
    assert!(happens(|it| matches!(it, Happening::Doubles { .. })));
    assert!(happens(|it| matches!(it, Happening::CutOff(_))));
    assert!(happens(|it| matches!(it, Happening::Rejoins)));
    assert!(happens(|it| matches!(it, Happening::Pauses)));
    assert!(happens(|it| matches!(it, Happening::Resumes)));
}

/// Everything at once, over the link, by this seed. What is written of it, or what went wrong.
struct Storm(u64);

impl Visitor for Storm {
    type Output = String;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> String {
        let random = RandomFaults {
            within: 20.0,
            crashes: 1,
            down_for: Some(5.0),
            pauses: 1,
            cuts: 1,
            one_way_cuts: 1,
            slow: 1,
            lasting: 4.0,
            loss: 0.1,
            duplication: 0.1,
        };
        let entries = 4 * cluster.len() as u64;
        let run = Simulation::new(Link::over(cluster))
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Poisson { rate: 0.5, entries })
            .patience(Delay::Exponential(10.0))
            .seed(self.0)
            .faults_at_random(random)
            .notices(Notices::ToAll)
            .ignoring_refused()
            .healed_at(40.0, 40.0)
            .most_events(20_000)
            .traced()
            .run();
        // A plain algorithm does not survive a crash: what counts is that it ends in the same way.
        match run {
            Ok(report) => format!("{:?}", (report.entries, report.messages, report.trace)),
            Err(error) => format!("{error} {:?}", error.trace),
        }
    }
}

#[test]
fn a_seed_gives_the_same_bytes_again_for_every_algorithm_of_the_registry() {
    for algorithm in ALGORITHMS {
        let run = |seed| {
            let size = Size::of(algorithm.nodes_to_show);
            algorithm.build(size, Storm(seed)).expect("it is shown so")
        };
        let [one, other] = [7, 8].map(run);
        assert_eq!((&one, &other), (&run(7), &run(8)), "{algorithm}");
        assert_ne!(one, other, "{algorithm}: the seed counts");
    }
}

#[test]
fn faults_that_make_no_sense_are_refused() {
    let says = |fault| {
        let simulation = Simulation::new(Lamport::cluster(3).unwrap());
        simulation.fault_at(1.0, fault).run().expect_err("it makes no sense").to_string()
    };
    assert!(says(Fault::Crash(NodeId(3))).contains("n3"));
    assert!(says(Fault::Pause(NodeId(4))).contains("n4"));
    assert!(says(Fault::CutOneWay(vec![NodeId(5)])).contains("n5"));
    assert!(says(Fault::Lose(1.5)).contains("0 to 1"));
    assert!(says(Fault::Double(-0.5)).contains("0 to 1"));
    assert!(says(Fault::Slow(NodeId(0), -1.0)).contains("no delay"));
}

#[test]
fn the_checker_finds_whom_a_crash_leaves_waiting() {
    let check = |role| {
        let check = Check::new(CentralCoordinator::cluster(3).unwrap()).untold().serving_all();
        check.crashes(1).crashes_of([NodeId(1), NodeId(2)]).crashes_of_role(role)
    };
    let stuck = |check: &Check<_>| {
        let progress = check.progress().expect("it was asked for");
        let stuck = progress.find_stuck(check, 100_000).expect("few states");
        stuck.map(|path| trace_of(check, path))
    };
    assert_eq!(stuck(&check(Role::Idle)), None, "an idle client may die");
    for role in [Role::Requester, Role::Holder] {
        let trace = stuck(&check(role)).expect("the coordinator waits for the dead");
        assert_eq!(counts(&trace, |it| *it == Happening::Crashes), 1, "{trace}");
        replay(CentralCoordinator::cluster(3).unwrap(), &trace).expect("as written");
    }
}

#[test]
fn lamport_with_one_lost_message_is_refuted_and_without_it_holds() {
    let check = |losses| Check::new(Lamport::cluster(2).unwrap()).losses(losses).serving_all();
    let stuck = |losses| {
        let check = check(losses).ignoring_refused();
        let progress = check.progress().expect("it was asked for");
        let stuck = progress.find_stuck(&check, 100_000).expect("few states");
        stuck.map(|path| trace_of(&check, path))
    };
    assert_eq!(stuck(0), None);
    check(0).checker().spawn_bfs().join().assert_properties();
    let trace = stuck(1).expect("a message is missing");
    assert_eq!(counts(&trace, |it| matches!(it, Happening::Misses { .. })), 1, "{trace}");
    replay(Lamport::cluster(2).unwrap(), &trace).expect("as written");
}

#[test]
fn a_doubled_message_is_refused_or_does_harm() {
    // A second grant comes to a node that has left: it refuses it.
    let check = Check::new(CentralCoordinator::cluster(2).unwrap()).duplicates(1).only("GRANT");
    let checker = check.clone().checker().spawn_bfs().join();
    let path = checker.discovery("expected inputs only").expect("it is refused");
    let trace = trace_of(&check, path);
    assert_eq!(counts(&trace, |it| matches!(it, Happening::Doubles { .. })), 1, "{trace}");
    let check = check.ignoring_refused();
    let checker = check.checker().spawn_bfs().join();
    assert!(checker.discovery("mutual exclusion").is_none());
}

#[test]
fn a_wrong_suspicion_is_told_and_taken_back() {
    let check = Check::new(RicartAgrawala::cluster(2).unwrap()).mistakes(1).serving_all();
    let checker = check.clone().checker().spawn_bfs().join();
    checker.assert_properties();
    let calm = Check::new(RicartAgrawala::cluster(2).unwrap()).checker().spawn_bfs().join();
    assert!(checker.unique_state_count() > calm.unique_state_count());
    let progress = check.progress().expect("it was asked for");
    assert!(progress.find_stuck(&check, 100_000).expect("few states").is_none());
}

/// A cut of two and three with the holder among the two, then healed.
fn holder_among_the_minority<P: Shipped>(name: &str, cluster: Vec<P>) {
    let algorithm = Algorithm::named(name).unwrap();
    let nodes = Recovering::over(algorithm, cluster).unwrap();
    let stack = nodes.into_iter().map(|node| Detector::unreliable(Link::new(node.gated())));
    let mut disk = Fenced::new(());
    let mut fences = Vec::new();
    let mut refused = Vec::new();
    let mut members = Vec::new();
    // Node 0 is inside before the cut, and stays until it is over.
    let script = [(0.0, 0), (60.0, 3), (60.0, 4), (400.0, 1), (400.0, 2), (500.0, 0)];
    let script = script.map(|(time, node)| (time, NodeId(node)));
    let report = Simulation::new(stack.collect())
        .workload(Workload::Script(script.to_vec()))
        .inside(Delay::Constant(200.0))
        .fault_at(20.0, Fault::Cut(vec![NodeId(0), NodeId(1)]))
        .fault_at(300.0, Fault::Heal)
        .healed_at(300.0, 1500.0)
        .overlapping()
        .run_checking(|view| {
            for node in view.nodes {
                let Some(admission) = node.admission() else { continue };
                match disk.write(admission.fence) {
                    Ok(()) if fences.last() != Some(&admission.fence) => {
                        fences.push(admission.fence);
                    }
                    Ok(()) => {}
                    Err(_) if refused.contains(&admission.fence) => {}
                    Err(_) => refused.push(admission.fence),
                }
            }
            members = view.nodes.iter().map(|it| it.inner().inner().view().cloned()).collect();
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(report.entries, script.len() as u64, "{name}");
    assert_eq!(report.most_inside, 2, "{name}: the old holder is inside beside the new one");
    assert_eq!(refused, fences[..1], "{name}: what the old holder writes is refused");
    assert!(fences.is_sorted() && fences.len() == script.len(), "{name}: {fences:?}");
    let first = members[0].as_ref().expect("it has a view");
    assert_eq!(first.members.len(), 5, "{name}: all are back");
    assert!(members.iter().all(|view| view.as_ref() == Some(first)), "{name}: one view");
}

#[test]
fn a_holder_in_the_minority_of_a_cut_is_overtaken_and_what_it_writes_is_refused() {
    holder_among_the_minority("lamport", Lamport::cluster(5).unwrap());
    holder_among_the_minority("suzuki_kasami", SuzukiKasami::cluster(5).unwrap());
    let grid = Quorums::grid(5).unwrap();
    holder_among_the_minority("maekawa", Maekawa::cluster(&grid));
    holder_among_the_minority("central_coordinator", CentralCoordinator::cluster(5).unwrap());
}

#[test]
fn lamport_holds_over_the_link_whatever_is_lost() {
    for seed in 0..50 {
        let report = Simulation::new(Link::over(Lamport::cluster(3).unwrap()))
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Saturated { wanting: 3, entries: 30 })
            .fault_at(0.0, Fault::Lose(0.2))
            .fault_at(0.0, Fault::Double(0.2))
            .seed(seed)
            .run();
        let report = report.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(report.entries, 30, "seed {seed}");
    }
}

/// 001: Maekawa's algorithm stands the death of a node outside the voting sets of those who ask.
#[test]
fn a_node_outside_the_voting_set_may_die_as_long_as_nobody_asks_it() {
    let quorums = Quorums::grid(4).unwrap();
    let asks = |node: NodeId| quorums.of(node).iter().any(|set| set.contains(NodeId(3)));
    let stuck = |only_outside: bool| {
        let mut check = Check::new(Maekawa::cluster(&quorums)).untold().serving_all();
        for node in NodeId::all(4).filter(|node| *node == NodeId(3) || only_outside && asks(*node))
        {
            check = check.requests_of(node, 0);
        }
        let check = check.crashes(1).crashes_of([NodeId(3)]);
        let progress = check.progress().expect("it was asked for");
        progress.find_stuck(&check, 2_000_000).expect("few states").is_some()
    };
    assert!(!stuck(true), "nobody needs it");
    assert!(stuck(false), "whoever asks it waits for ever");
}
