//! The simulator: what it measures, and that it notices what is wrong.

mod common;

use common::hello::Hello;
use exclusion::message::sim::{Delay, SimCause, Simulation, Spread, Workload};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Channels, Exclusive, Lamport, Machine, Maekawa, NodeId,
    Outbox, Phase, Protocol, Quorums, RaymondK, Refused, RicartAgrawala, Shared, SinghalDynamic,
    Time, Timer, Violation, replay,
};

/// A protocol that is wrong in a way to choose.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Flawed {
    me: NodeId,
    flaw: Flaw,
    phase: Phase,
    peer: NodeId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    LetsEverybodyIn,
    LetsNobodyIn,
    LetsInUnasked,
    NeverRests,
    WritesToNobody,
    ForgetsItsUser,
}

impl Machine for Flawed {
    type Message = Hello;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.request()?;
        match self.flaw {
            Flaw::LetsEverybodyIn => self.phase.enter(out),
            Flaw::LetsNobodyIn => {}
            Flaw::LetsInUnasked | Flaw::NeverRests => out.send(self.peer, Hello),
            Flaw::ForgetsItsUser => self.phase = Phase::Idle,
            Flaw::WritesToNobody => out.send(NodeId(7), Hello),
        }
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, from: NodeId, _: Hello, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        match self.flaw {
            Flaw::LetsInUnasked => out.enter(),
            _ => out.send(from, Hello),
        }
        Ok(())
    }
}

impl Protocol for Flawed {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

fn flawed(flaw: Flaw) -> Simulation<Flawed> {
    let nodes = [(0, 1), (1, 0)].map(|(me, peer)| Flawed {
        me: NodeId(me),
        flaw,
        phase: Phase::Idle,
        peer: NodeId(peer),
    });
    Simulation::new(nodes.to_vec())
        .workload(Workload::Script(vec![(0.0, NodeId(0)), (0.5, NodeId(1))]))
}

#[test]
fn two_inside_are_noticed_and_the_trace_shows_how() {
    let error = flawed(Flaw::LetsEverybodyIn).traced().run().unwrap_err();
    assert_eq!(
        error.cause,
        SimCause::Violation(Violation::NotExclusive([0, 1].map(NodeId).to_vec()))
    );
    assert_eq!(error.time, Time::units(0.5));
    assert_eq!(
        error.trace.unwrap().to_string(),
        "\
0.000000 n0 requests
0.000000 n0 enters
0.500000 n1 requests
0.500000 n1 enters
"
    );
}

#[test]
fn who_is_never_let_in_is_named() {
    let error = flawed(Flaw::LetsNobodyIn).run().unwrap_err();
    assert_eq!(error.cause, SimCause::Violation(Violation::Deadlock([0, 1].map(NodeId).to_vec())));
    assert!(error.to_string().contains("[n0, n1] wait"), "{error}");
}

#[test]
fn an_entry_that_nobody_asked_for_is_noticed() {
    let workload = Workload::Alone { node: NodeId(0), entries: 1 };
    let error = flawed(Flaw::LetsInUnasked).workload(workload).run().unwrap_err();
    assert_eq!(error.cause, SimCause::Violation(Violation::NotAsked(NodeId(1))));
}

#[test]
fn a_node_that_does_not_know_where_its_user_is_is_noticed() {
    let error = flawed(Flaw::ForgetsItsUser).run().unwrap_err();
    let (phase, user) = (Phase::Idle, Phase::Waiting);
    let violation = Violation::WrongPhase { node: NodeId(0), phase, user };
    assert_eq!(error.cause, SimCause::Violation(violation));
}

#[test]
fn a_message_to_nobody_is_noticed() {
    let error = flawed(Flaw::WritesToNobody).run().unwrap_err();
    assert_eq!(
        error.cause,
        SimCause::Violation(Violation::NoSuchNode { from: NodeId(0), to: NodeId(7) })
    );
}

#[test]
fn a_run_without_end_ends_at_the_limit() {
    let error = flawed(Flaw::NeverRests).most_events(1000).run().unwrap_err();
    assert_eq!(error.cause, SimCause::TooManyEvents(1000));
}

#[test]
fn a_check_of_ones_own_ends_the_run() {
    let outcome = Simulation::new(RicartAgrawala::cluster(3).unwrap()).run_checking(|view| {
        if view.in_flight().count() > 1 { Err("two messages at a time".to_owned()) } else { Ok(()) }
    });
    assert_eq!(outcome.unwrap_err().cause, SimCause::Check("two messages at a time".to_owned()));
}

fn exactly(units: f64) -> Option<Spread> {
    Some(Spread { min: units, mean: units, max: units })
}

#[test]
fn delays_are_those_of_the_papers() {
    let saturated = || Workload::Saturated { wanting: 4, entries: 40 };
    // Alone: a request and its answer. Contended: the release to the coordinator, then the grant.
    let central = || CentralCoordinator::coordinated_by(NodeId(0), 4).unwrap();
    let alone = Workload::Alone { node: NodeId(1), entries: 3 };
    assert_eq!(
        Simulation::new(central()).workload(alone).run().unwrap().client_delay,
        exactly(2.0)
    );
    let among_others = Workload::Script((1..4).map(|node| (0.0, NodeId(node))).collect());
    let report = Simulation::new(central()).workload(among_others).run().unwrap();
    assert_eq!(report.sync_delay, exactly(2.0));

    let ricart = || RicartAgrawala::cluster(4).unwrap();
    assert_eq!(Simulation::new(ricart()).run().unwrap().client_delay, exactly(2.0));
    assert_eq!(
        Simulation::new(ricart()).workload(saturated()).run().unwrap().sync_delay,
        exactly(1.0)
    );
    let lamport = || Lamport::cluster(4).unwrap();
    assert_eq!(Simulation::new(lamport()).run().unwrap().client_delay, exactly(2.0));
    assert_eq!(
        Simulation::new(lamport()).workload(saturated()).run().unwrap().sync_delay,
        exactly(1.0)
    );
    let carvalho = CarvalhoRoucairol::cluster(4).unwrap();
    let report = Simulation::new(carvalho).workload(saturated()).run().unwrap();
    assert_eq!(report.sync_delay.unwrap().max, 1.0, "or 0, for a node that enters again");
    let singhal = SinghalDynamic::cluster(4).unwrap();
    let report = Simulation::new(singhal).workload(saturated()).run().unwrap();
    assert_eq!(report.sync_delay.unwrap().max, 1.0, "or 0, for a node that enters again");
    // The release to an arbiter, and its confirmation to the next; one of them may be the arbiter
    // itself.
    let plane = Maekawa::cluster(&Quorums::projective_plane(3).unwrap());
    let all = Workload::Saturated { wanting: 13, entries: 200 };
    let delay = Simulation::new(plane).workload(all).run().unwrap().sync_delay.unwrap();
    assert!(delay.min >= 1.0 && delay.max <= 2.0, "{delay}");
}

#[test]
fn each_place_that_falls_free_has_its_own_delay() {
    // Two leave together, two enter a message later: each waited for one of them.
    let report = Simulation::new(RaymondK::cluster(5, 2).unwrap())
        .workload(Workload::Script(NodeId::all(5).map(|node| (0.0, node)).collect()))
        .run()
        .unwrap();
    assert_eq!(report.most_inside, 2);
    assert_eq!(report.sync_delay, exactly(1.0));
}

#[test]
fn who_comes_again_too_early_waits_from_then_on() {
    // Alone it takes 2 to enter, and 1 inside; the second time it came at 0.5 and enters at 5.
    let script = vec![(0.0, NodeId(0)), (0.5, NodeId(0))];
    let ricart = Simulation::new(RicartAgrawala::cluster(2).unwrap());
    let delay = ricart.workload(Workload::Script(script)).run().unwrap().client_delay.unwrap();
    assert_eq!((delay.min, delay.max), (2.0, 4.5));
}

#[test]
fn who_is_passed_is_counted() {
    // Node 2 asks first, but its request is slow in no way: by (time, node) the others go first.
    let script = [(0.0, 2), (0.5, 0), (0.5, 1)].map(|(time, node)| (time, NodeId(node))).to_vec();
    let ricart = Simulation::new(RicartAgrawala::cluster(3).unwrap());
    assert_eq!(ricart.workload(Workload::Script(script.clone())).run().unwrap().bypass, Some(2));
    // The coordinator serves as requests reach it, and all are equally far away but its own.
    let central = CentralCoordinator::coordinated_by(NodeId(2), 3).unwrap();
    assert_eq!(
        Simulation::new(central).workload(Workload::Script(script)).run().unwrap().bypass,
        Some(0)
    );
}

#[test]
fn the_coordinator_bears_the_load() {
    let report = Simulation::new(CentralCoordinator::cluster(5).unwrap()).run().unwrap();
    assert_eq!(report.load, [12, 3, 3, 3, 3]);
    assert_eq!(
        report.messages.iter().collect::<Vec<_>>(),
        [("GRANT", 4), ("RELEASE", 4), ("REQUEST", 4)]
    );
}

#[test]
fn fifo_channels_keep_order_and_others_do_not() {
    let overtaken = |channels| {
        (0..20).any(|seed| {
            let report = Simulation::new(Lamport::cluster(2).unwrap())
                .seed(seed)
                .channels(channels)
                .delay(Delay::Uniform(0.0, 5.0))
                .workload(Workload::Saturated { wanting: 2, entries: 20 })
                .run();
            report.is_err()
        })
    };
    assert!(!overtaken(Channels::Fifo));
    assert!(overtaken(Channels::AnyOrder));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let simulation = || Simulation::new(RicartAgrawala::cluster(3).unwrap());
    let refused = |simulation: Simulation<RicartAgrawala>| {
        let error = simulation.run().unwrap_err();
        assert!(matches!(error.cause, SimCause::Setting(_)), "{error}");
        error.to_string()
    };
    let none = Simulation::<RicartAgrawala>::new(Vec::new()).run().unwrap_err();
    assert!(matches!(none.cause, SimCause::Cluster(_)), "{none}");
    for delay in [
        Delay::Constant(-1.0),
        Delay::Constant(f64::NAN),
        Delay::Uniform(2.0, 1.0),
        Delay::Exponential(f64::INFINITY),
    ] {
        assert!(refused(simulation().delay(delay)).contains("is no delay"));
        assert!(refused(simulation().inside(delay)).contains("is no delay"));
    }
    for workload in [
        Workload::Alone { node: NodeId(3), entries: 1 },
        Workload::Poisson { rate: 0.0, entries: 1 },
        Workload::Poisson { rate: 1e-300, entries: 1 },
        Workload::Saturated { wanting: 0, entries: 1 },
        Workload::Saturated { wanting: 4, entries: 1 },
        Workload::Script(vec![(-1.0, NodeId(0))]),
        Workload::Script(vec![(0.0, NodeId(3))]),
    ] {
        refused(simulation().workload(workload));
    }
}

/// Enters two periods after it has asked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Patient {
    me: NodeId,
    phase: Phase,
}

impl Machine for Patient {
    type Message = Hello;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.request()?;
        out.set_timer(Timer(7), 2);
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, _: NodeId, _: Hello, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        Err(Refused("nobody says anything"))
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        assert_eq!(timer, Timer(7));
        self.phase.enter(out);
        Ok(())
    }
}

impl Protocol for Patient {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

#[test]
fn timers_count_in_the_longest_that_a_message_takes() {
    let patient =
        || Simulation::new(NodeId::all(2).map(|me| Patient { me, phase: Phase::Idle }).collect());
    // A tick more, so that a message that is sent just in time comes before.
    let tick = Time(1).as_units();
    let exactly = |units: f64| exactly(units + tick);
    let delay = |simulation: Simulation<Patient>| simulation.run().unwrap().client_delay;
    assert_eq!(delay(patient()), exactly(2.0));
    assert_eq!(delay(patient().delay(Delay::Uniform(0.5, 1.5))), exactly(3.0));
    assert_eq!(delay(patient().period(0.25)), exactly(0.5));

    let report = patient().traced().run().unwrap();
    replay(
        NodeId::all(2).map(|me| Patient { me, phase: Phase::Idle }).collect(),
        &report.trace.unwrap(),
    )
    .unwrap();
}
