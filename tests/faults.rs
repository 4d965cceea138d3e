//! What befalls nodes and messages in the simulator and the checker: that it happens, is written
//! down, and can be replayed.
#![cfg(feature = "check")]

use exclusion::message::check::{Check, Checker, Model, trace_of};
use exclusion::message::sim::{
    Deed, Delay, Fault, Notices, RandomFaults, Report, SimCause, SimError, Simulation, Workload,
};
use exclusion::message::{
    CentralCoordinator, Happening, Lamport, NodeId, RicartAgrawala, Role, SuzukiKasami, TokenRing,
    Trace, Violation, replay,
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
