//! What is particular to single algorithms of the permission family.

mod common;

use common::happened_before::{out_of_order, requests};
use exclusion::message::quorum::Scheme;
use exclusion::message::sim::{Delay, Report, SimCause, Simulation, Workload};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Channels, ClusterError, Input, Lamport, Maekawa, NodeId,
    Outbox, Protocol, Quorums, RaymondK, RicartAgrawala, SinghalDynamic, Violation, central,
    lamport, maekawa, ricart_agrawala, step,
};

/// A busy run with delays at random, traced.
fn busy<P: Protocol>(nodes: Vec<P>, seed: u64) -> Report {
    let wanting = nodes.len();
    Simulation::new(nodes)
        .seed(seed)
        .delay(Delay::Exponential(1.0))
        .inside(Delay::Exponential(0.5))
        .workload(Workload::Poisson { rate: 0.5, entries: 20 * wanting as u64 })
        .traced()
        .run()
        .unwrap()
}

fn served_out_of_order<P: Protocol>(nodes: &[P]) -> Option<u64> {
    (0..50).find(|&seed| {
        let trace = busy(nodes.to_vec(), seed).trace.unwrap();
        out_of_order(&requests(&trace, nodes.len())).is_some()
    })
}

#[test]
fn lamport_and_ricart_agrawala_serve_in_the_order_of_happened_before() {
    for n in [2, 3, 5, 8] {
        assert_eq!(served_out_of_order(&Lamport::cluster(n).unwrap()), None);
        assert_eq!(served_out_of_order(&RicartAgrawala::cluster(n).unwrap()), None);
    }
}

#[test]
fn carvalho_roucairol_and_singhal_do_not_and_the_check_notices() {
    assert!(served_out_of_order(&CarvalhoRoucairol::cluster(5).unwrap()).is_some());
    assert!(served_out_of_order(&SinghalDynamic::cluster(5).unwrap()).is_some());
}

fn messages_of_entries<P: Protocol>(nodes: Vec<P>, script: &[u32]) -> u64 {
    let times = script.iter().enumerate();
    let script = times.map(|(at, &node)| (100.0 * at as f64, NodeId(node))).collect();
    Simulation::new(nodes).workload(Workload::Script(script)).run().unwrap().messages.total()
}

#[test]
fn who_enters_again_undisturbed_sends_nothing() {
    for n in [2, 3, 7, 16] {
        let carvalho = || CarvalhoRoucairol::cluster(n).unwrap();
        let first = messages_of_entries(carvalho(), &[1]);
        assert_eq!(first, 2 * (n as u64 - 1));
        assert_eq!(messages_of_entries(carvalho(), &[1, 1, 1, 1]), first);
        // Node 0 asks everybody, node 1 then asks node 0 back, and nobody else.
        assert_eq!(messages_of_entries(carvalho(), &[1, 0, 1]), 2 * first + 2);

        let singhal = || SinghalDynamic::cluster(n).unwrap();
        assert_eq!(messages_of_entries(singhal(), &[0, 0]), 0, "the first asks nobody");
        assert_eq!(messages_of_entries(singhal(), &[1, 1]), 2);
    }
}

#[test]
fn singhal_asks_half_on_average_when_nodes_come_at_random() {
    let n = 16;
    let report = Simulation::new(SinghalDynamic::cluster(n).unwrap())
        .seed(1)
        .workload(Workload::Poisson { rate: 0.001, entries: 10_000 })
        .run()
        .unwrap();
    let mean = report.per_entry.unwrap().mean;
    assert!((mean - (n as f64 - 1.0)).abs() < 0.5, "{mean} is not about n-1");
}

#[test]
fn singhal_and_carvalho_ask_nearly_everybody_when_all_always_want_in() {
    // Between two entries of a node all others enter, so all must be asked: 2(n-1), not 3(n-1)/2.
    fn saturated<P: Protocol>(nodes: Vec<P>) -> f64 {
        let wanting = nodes.len();
        let workload = Workload::Saturated { wanting, entries: 100 * wanting as u64 };
        Simulation::new(nodes).workload(workload).run().unwrap().per_entry.unwrap().mean
    }
    for n in [4, 8, 16] {
        let most = 2.0 * (n as f64 - 1.0);
        for mean in [
            saturated(SinghalDynamic::cluster(n).unwrap()),
            saturated(CarvalhoRoucairol::cluster(n).unwrap()),
        ] {
            assert!(mean > 0.95 * most && mean <= most, "{mean} of {most} at n={n}");
        }
    }
}

#[test]
fn a_node_that_hears_of_no_requests_does_not_stay_older_for_ever() {
    // Nobody asks node 0, so its clock would stand still but for the confirmations.
    let sets = [vec![0, 2, 3, 4], vec![1, 2, 3, 4], vec![2, 3, 4], vec![3, 4, 2], vec![4, 2, 3]];
    let sets = Quorums::new(sets.map(|set| set.into_iter().map(NodeId))).unwrap();
    let long_before = (0..100).map(|at| (100.0 * f64::from(at), NodeId(1)));
    let then = (0..40).flat_map(|_| [(20_000.0, NodeId(1)), (20_000.0, NodeId(0))]);
    let script: Vec<_> = long_before.chain(then).collect();
    let bypass = |seed| {
        let simulation = Simulation::new(Maekawa::cluster(&sets)).seed(seed);
        let simulation = simulation.delay(Delay::Exponential(1.0)).inside(Delay::Constant(0.0));
        simulation.workload(Workload::Script(script.clone())).run().unwrap().bypass.unwrap()
    };
    let most = (0..20).map(bypass).max().unwrap();
    assert!(most <= 4, "passed {most} times");
}

#[test]
fn a_younger_request_gives_way() {
    let report = Simulation::new(Maekawa::grid(9).unwrap())
        .delay(Delay::Exponential(1.0))
        .workload(Workload::AllAtOnce { rounds: 20 })
        .run()
        .unwrap();
    let [inquiries, given_back] = ["INQUIRE", "RELINQUISH"].map(|kind| report.messages.of(kind));
    assert!(0 < given_back && given_back <= inquiries, "{}", report.messages);
}

#[test]
fn alternating_schemes_balance_the_load_of_a_triangle() {
    let load = |scheme| {
        let sets = Quorums::triangle(15, scheme).unwrap();
        let report = Simulation::new(Maekawa::cluster(&sets))
            .workload(Workload::InTurn { rounds: 2 })
            .run()
            .unwrap();
        (*report.load.iter().min().unwrap(), *report.load.iter().max().unwrap())
    };
    // Every node is asked by 2t sets in two rounds, two of them its own; a message has two ends.
    assert_eq!(load(Scheme::Alternating), (48, 48));
    let (least, most) = load(Scheme::Column);
    assert!(most > 2 * least, "{least} to {most}");
}

#[test]
fn lamport_without_order_goes_wrong() {
    let wrong = (0..200).any(|seed| {
        Simulation::new(Lamport::cluster(3).unwrap())
            .seed(seed)
            .channels(Channels::AnyOrder)
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Saturated { wanting: 3, entries: 30 })
            .run()
            .is_err()
    });
    assert!(wrong, "it needs channels that keep order");
}

#[test]
fn k_enter_at_a_time_and_no_more() {
    for (n, k) in [(3, 2), (5, 3), (7, 1), (16, 8)] {
        let report = Simulation::new(RaymondK::cluster(n, k).unwrap())
            .workload(Workload::Saturated { wanting: n, entries: 200 })
            .inside(Delay::Constant(10.0))
            .run()
            .unwrap();
        assert_eq!(report.most_inside, k);
    }
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    for n in [0, 1] {
        let few = ClusterError::TooFewNodes(n);
        assert_eq!(CentralCoordinator::cluster(n), Err(few.clone()));
        assert_eq!(Lamport::cluster(n), Err(few.clone()));
        assert_eq!(RicartAgrawala::cluster(n), Err(few.clone()));
        assert_eq!(CarvalhoRoucairol::cluster(n), Err(few.clone()));
        assert_eq!(SinghalDynamic::cluster(n), Err(few.clone()));
        assert_eq!(RaymondK::cluster(n, 1), Err(few));
        assert_eq!(Maekawa::grid(n), Err(ClusterError::TooFewNodes(n)));
    }
    let stranger = CentralCoordinator::coordinated_by(NodeId(3), 3).unwrap_err();
    assert_eq!(stranger.to_string(), "there is no n3: the nodes are n0 to n2");
    for k in [0, 3] {
        let error = RaymondK::cluster(3, k).unwrap_err();
        assert_eq!(error, ClusterError::Entries { entries: k, nodes: 3 });
    }
}

/// Gives a message to a node that cannot expect it: an error, and nothing has changed.
fn refuses<P: Protocol>(node: &P, from: u32, message: P::Message) -> String {
    let mut node_after = node.clone();
    let mut out = Outbox::new();
    let input = Input::Receive { from: NodeId(from), message };
    let error = step(&mut node_after, input, &mut out).unwrap_err();
    assert!(node_after == *node && out.is_empty());
    error.to_string()
}

fn asked<P: Protocol>(nodes: &[P], me: u32) -> P {
    let mut node = nodes[me as usize].clone();
    step(&mut node, Input::Request, &mut Outbox::new()).unwrap();
    node
}

#[test]
fn messages_that_cannot_occur_are_named_and_change_nothing() {
    let nodes = CentralCoordinator::cluster(3).unwrap();
    let error = refuses(&nodes[1], 0, central::Message::Grant);
    assert!(error.starts_with("n1 cannot take GRANT from n0: it does not wait"), "{error}");
    refuses(&nodes[1], 2, central::Message::Request);
    refuses(&asked(&nodes, 1), 2, central::Message::Grant);
    refuses(&nodes[0], 1, central::Message::Release);

    let nodes = Lamport::cluster(3).unwrap();
    refuses(&nodes[0], 1, lamport::Message::Confirm(1));
    refuses(&nodes[0], 1, lamport::Message::Release(1));
    refuses(&nodes[0], 0, lamport::Message::Request(1));
    refuses(&nodes[0], 1, lamport::Message::Request(0));

    use ricart_agrawala::Message::{Confirm, Request};
    let nodes = RicartAgrawala::cluster(3).unwrap();
    refuses(&nodes[0], 1, Confirm(1));
    refuses(&nodes[0], 0, Request(1));
    let nodes = CarvalhoRoucairol::cluster(3).unwrap();
    refuses(&nodes[0], 1, Confirm(1));
    let nodes = SinghalDynamic::cluster(3).unwrap();
    refuses(&nodes[2], 1, Confirm(1));

    let nodes = Maekawa::grid(4).unwrap();
    let request = exclusion::message::Stamp { time: 1, node: NodeId(1) };
    refuses(&nodes[0], 1, maekawa::Message::Release(request));
    refuses(&nodes[0], 2, maekawa::Message::Request(request));
    refuses(&nodes[0], 1, maekawa::Message::Confirm(request, 1));
    refuses(&nodes[0], 1, maekawa::Message::Inquire(request));
    // The grid's corner opposite is no arbiter of node 0; node 1 has not granted node 2's request.
    let ours = exclusion::message::Stamp { time: 1, node: NodeId(0) };
    refuses(&asked(&nodes, 0), 3, maekawa::Message::Inquire(ours));
    refuses(&asked(&nodes, 1), 2, maekawa::Message::Relinquish(request));
    refuses(&asked(&nodes, 1), 2, maekawa::Message::Release(request));
}

#[test]
fn a_clock_at_its_limit_refuses_the_request_and_not_the_peers() {
    let mut nodes = RicartAgrawala::with_clocks_at(u64::MAX, 2).unwrap();
    let before = nodes.clone();
    let mut out = Outbox::new();
    let error = step(&mut nodes[0], Input::Request, &mut out).unwrap_err();
    assert!(error.to_string().contains("the logical clock is at its limit"), "{error}");
    assert_eq!(nodes, before);

    // One before the limit there is one more entry in it.
    let nodes = RicartAgrawala::with_clocks_at(u64::MAX - 1, 2).unwrap();
    let alone = |entries| Workload::Alone { node: NodeId(0), entries };
    assert_eq!(Simulation::new(nodes.clone()).workload(alone(1)).run().unwrap().entries, 1);
    let error = Simulation::new(nodes).workload(alone(2)).run().unwrap_err();
    assert!(matches!(error.cause, SimCause::Violation(Violation::Unexpected(_))), "{error}");
}
