//! What is particular to single algorithms of the permission family.

mod common;

use common::by_hand::ByHand;
use common::happened_before::{out_of_order, requests};
use exclusion::message::quorum::Scheme;
use exclusion::message::sim::{Delay, Report, SimCause, Simulation, Workload};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Channels, ClusterError, Input, Lamport, Maekawa,
    Majority, Message, NodeId, Outbox, Protocol, Quorums, RaymondK, RicartAgrawala, SinghalDynamic,
    Stamp, Violation, central, lamport, maekawa, majority, ricart_agrawala, step,
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

/// What the nodes of Maekawa's algorithm and of the majority say to each other, by kind.
fn kind(wanted: &'static str) -> impl Fn(&majority::Message) -> bool {
    move |message| message.kind() == wanted
}

/// The same, about a request of this node.
fn of(wanted: &'static str, node: u32) -> impl Fn(&majority::Message) -> bool {
    use majority::Message::{Confirm, Inquire, Release, Relinquish, Request};
    move |message| match *message {
        Request(request)
        | Confirm(request, _)
        | Inquire(request)
        | Relinquish(request)
        | Release(request) => message.kind() == wanted && request.node == NodeId(node),
    }
}

#[test]
fn any_majority_will_do() {
    // Of five nodes two are slow: whichever they are, three are enough.
    for slow in [[1, 2], [1, 3], [2, 4], [3, 4]] {
        let mut cluster = ByHand::new(Majority::cluster(5).unwrap());
        cluster.request(0);
        let quick: Vec<_> = (1..5).filter(|node| !slow.contains(node)).collect();
        for &node in &quick {
            cluster.deliver(node, kind("REQUEST"));
            assert_eq!(cluster.entered, [], "two of five are no majority");
            cluster.deliver(0, kind("CONFIRM"));
        }
        assert_eq!(cluster.entered, [NodeId(0)]);
        // The slow ones confirm while it is inside, and when it has left: both are taken.
        cluster.deliver(slow[0], kind("REQUEST"));
        cluster.deliver(slow[1], kind("REQUEST"));
        cluster.deliver(0, kind("CONFIRM"));
        cluster.release(0);
        cluster.deliver(0, kind("CONFIRM"));
        cluster.request(0);
        cluster.deliver_all();
        assert_eq!(cluster.entries_of(0), 2);
    }
}

#[test]
fn half_of_the_weight_is_no_majority() {
    let alone = |weights: &[u64]| {
        let mut cluster = ByHand::new(Majority::weighted(weights).unwrap());
        cluster.request(0);
        cluster.entries_of(0)
    };
    assert_eq!([alone(&[3, 1, 1]), alone(&[2, 1, 1]), alone(&[1, 1])], [1, 0, 0]);
    assert_eq!(alone(&[u64::MAX, u64::MAX]), 0, "weights may sum past 64 bits");
}

#[test]
fn a_release_may_overtake_its_request() {
    let mut cluster = ByHand::new(Majority::cluster(3).unwrap());
    cluster.request(0);
    cluster.deliver(1, kind("REQUEST"));
    cluster.deliver(0, kind("CONFIRM"));
    cluster.release(0);
    // At node 2 the REQUEST comes last: it is over, and node 2's confirmation is free for another.
    cluster.deliver(2, kind("RELEASE"));
    cluster.deliver(2, kind("REQUEST"));
    assert!(!cluster.in_flight.iter().any(|(from, ..)| *from == NodeId(2)), "nothing to say");
    cluster.deliver(1, kind("RELEASE"));
    cluster.request(1);
    cluster.deliver(2, kind("REQUEST"));
    cluster.deliver(1, kind("CONFIRM"));
    assert_eq!(cluster.entered, [0, 1].map(NodeId));
}

#[test]
fn the_next_request_ends_the_one_before() {
    let mut cluster = ByHand::new(Majority::cluster(3).unwrap());
    for _ in 0..2 {
        cluster.request(0);
        cluster.deliver(1, kind("REQUEST"));
        cluster.deliver(0, kind("CONFIRM"));
        cluster.release(0);
        cluster.deliver(1, kind("RELEASE"));
    }
    // Node 2 has heard nothing yet: it confirms the first request, and the second when that comes.
    cluster.deliver(2, kind("REQUEST"));
    cluster.deliver(2, kind("REQUEST"));
    let said: Vec<_> = cluster.in_flight.iter().filter(|it| it.0 == NodeId(2)).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    cluster.deliver_all();
    assert_eq!(cluster.entered, [0, 0].map(NodeId));
}

#[test]
fn an_inquiry_may_overtake_its_confirmation_and_a_relinquishing_its_release() {
    let mut cluster = ByHand::new(Majority::cluster(3).unwrap());
    // Node 2 confirms node 1, then hears of node 0, which is older.
    cluster.request(0);
    cluster.request(1);
    cluster.deliver(2, of("REQUEST", 1));
    cluster.deliver(2, of("REQUEST", 0));
    cluster.deliver(1, kind("INQUIRE"));
    cluster.deliver(1, kind("CONFIRM"));
    assert_eq!(cluster.entered, [], "it gave back what came late");
    // Node 0 enters with node 1, which gives way to it.
    cluster.deliver(1, of("REQUEST", 0));
    cluster.deliver(0, kind("CONFIRM"));
    assert_eq!(cluster.entered, [NodeId(0)]);
    // Node 1 is served before node 2 hears that it was given anything back.
    cluster.deliver(0, of("REQUEST", 1));
    cluster.release(0);
    cluster.deliver(1, of("RELEASE", 0));
    cluster.deliver(1, kind("CONFIRM"));
    assert_eq!(cluster.entered, [0, 1].map(NodeId));
    cluster.release(1);
    cluster.deliver(2, of("RELEASE", 1));
    cluster.deliver(2, of("RELINQUISH", 1));
    cluster.deliver_all();
    cluster.request(2);
    cluster.deliver_all();
    assert_eq!(cluster.entered, [0, 1, 2].map(NodeId));
}

#[test]
fn the_majority_that_is_quickest_is_quicker_than_a_fixed_one() {
    let n = 15;
    fn wait<P: Protocol>(nodes: Vec<P>) -> f64 {
        let workload = Workload::Poisson { rate: 0.001, entries: 2000 };
        let simulation = Simulation::new(nodes).delay(Delay::Exponential(1.0)).workload(workload);
        simulation.run().unwrap().client_delay.unwrap().mean
    }
    let (any, fixed) = (
        wait(Majority::cluster(n).unwrap()),
        wait(Maekawa::cluster(&Quorums::majority(n).unwrap())),
    );
    assert!(any < 0.7 * fixed, "{any} T for any, {fixed} T for fixed sets");
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
        assert_eq!(Majority::cluster(n), Err(few.clone()));
        assert_eq!(Majority::weighted(&vec![1; n]), Err(few.clone()));
        assert_eq!(RaymondK::cluster(n, 1), Err(few));
        assert_eq!(Maekawa::grid(n), Err(ClusterError::TooFewNodes(n)));
    }
    let stranger = CentralCoordinator::coordinated_by(NodeId(3), 3).unwrap_err();
    assert_eq!(stranger.to_string(), "there is no n3: the nodes are n0 to n2");
    let weightless = Majority::weighted(&[1, 0, 1]).unwrap_err();
    assert_eq!(weightless.to_string(), "n1 has weight 0: give it 1 or more");
    assert!(Majority::node(NodeId(3), 3).is_err());
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

/// Gives a message to a node that can expect it.
fn takes<P: Protocol>(node: &mut P, from: u32, message: P::Message) {
    let input = Input::Receive { from: NodeId(from), message };
    step(node, input, &mut Outbox::new()).expect("it can occur");
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
}

fn stamp(time: u64, node: u32) -> Stamp {
    Stamp { time, node: NodeId(node) }
}

#[test]
fn what_maekawas_arbiters_and_candidates_cannot_hear_is_refused() {
    let nodes = Maekawa::grid(4).unwrap();
    let request = stamp(1, 1);
    refuses(&nodes[0], 1, maekawa::Message::Release(request));
    refuses(&nodes[0], 2, maekawa::Message::Request(request));
    refuses(&nodes[0], 1, maekawa::Message::Confirm(request, 1));
    refuses(&nodes[0], 1, maekawa::Message::Inquire(request));
    // The grid's corner opposite is no arbiter of node 0, nor a candidate; node 1 has not granted
    // node 2's request.
    let ours = stamp(1, 0);
    refuses(&asked(&nodes, 0), 3, maekawa::Message::Inquire(ours));
    refuses(&nodes[0], 3, maekawa::Message::Request(stamp(1, 3)));
    refuses(&asked(&nodes, 1), 2, maekawa::Message::Relinquish(request));
    refuses(&asked(&nodes, 1), 2, maekawa::Message::Release(request));
    // No request has time 0; no arbiter confirms before it is asked, or again; nobody inquires
    // about what is to come.
    refuses(&nodes[0], 1, maekawa::Message::Request(stamp(0, 1)));
    let mut waiting = asked(&nodes, 0);
    refuses(&waiting, 1, maekawa::Message::Confirm(ours, 0));
    refuses(&waiting, 1, maekawa::Message::Inquire(stamp(2, 0)));
    takes(&mut waiting, 1, maekawa::Message::Confirm(ours, 7));
    refuses(&waiting, 1, maekawa::Message::Confirm(ours, 7));
    // From itself it hears nothing by way of others.
    for message in [
        maekawa::Message::Request(stamp(2, 0)),
        maekawa::Message::Confirm(ours, 1),
        maekawa::Message::Inquire(ours),
        maekawa::Message::Relinquish(ours),
        maekawa::Message::Release(ours),
    ] {
        refuses(&waiting, 0, message);
    }
    // A candidate asks once, and again only when it has left; and gives back only what it was asked
    // for.
    let mut arbiter = nodes[0].clone();
    takes(&mut arbiter, 1, maekawa::Message::Request(stamp(2, 1)));
    refuses(&arbiter, 1, maekawa::Message::Request(stamp(2, 1)));
    refuses(&arbiter, 1, maekawa::Message::Request(stamp(1, 1)));
    refuses(&arbiter, 1, maekawa::Message::Relinquish(stamp(2, 1)));
    takes(&mut arbiter, 2, maekawa::Message::Request(stamp(1, 2)));
    takes(&mut arbiter.clone(), 1, maekawa::Message::Relinquish(stamp(2, 1)));
    // When it has asked again, it has left, and has nothing to give back.
    takes(&mut arbiter, 1, maekawa::Message::Request(stamp(3, 1)));
    refuses(&arbiter, 1, maekawa::Message::Request(stamp(4, 1)));
    refuses(&arbiter, 1, maekawa::Message::Relinquish(stamp(2, 1)));
    takes(&mut arbiter, 1, maekawa::Message::Release(stamp(2, 1)));
}

#[test]
fn what_the_nodes_of_a_majority_cannot_hear_is_refused() {
    use majority::Message::{Confirm, Inquire, Release, Relinquish, Request};
    let nodes = Majority::cluster(4).unwrap();
    let (theirs, ours) = (stamp(1, 1), stamp(1, 0));
    refuses(&nodes[0], 2, Request(theirs));
    refuses(&nodes[0], 1, Request(stamp(0, 1)));
    refuses(&nodes[0], 1, Relinquish(theirs));
    refuses(&nodes[0], 2, Release(theirs));
    refuses(&nodes[0], 4, Release(stamp(1, 4)));
    // It has asked nothing yet, so nothing can be confirmed or asked back.
    refuses(&nodes[0], 1, Confirm(ours, 1));
    refuses(&nodes[0], 1, Inquire(ours));
    let mut waiting = asked(&nodes, 0);
    for message in [Confirm(ours, 0), Confirm(stamp(2, 0), 2), Confirm(theirs, 1)] {
        refuses(&waiting, 1, message);
    }
    refuses(&waiting, 1, Inquire(stamp(2, 0)));
    refuses(&waiting, 1, Inquire(theirs));
    for message in
        [Request(stamp(2, 0)), Confirm(ours, 1), Inquire(ours), Relinquish(ours), Release(ours)]
    {
        refuses(&waiting, 0, message);
    }
    takes(&mut waiting, 1, Inquire(ours));
    refuses(&waiting, 1, Inquire(ours));
    takes(&mut waiting, 2, Confirm(ours, 1));
    refuses(&waiting, 2, Confirm(ours, 1));
    takes(&mut waiting, 3, Confirm(ours, 1));
    assert!(waiting.phase().is_inside());
    // Inside, node 1's confirmation comes late, once.
    takes(&mut waiting, 1, Confirm(ours, 1));
    refuses(&waiting, 1, Confirm(ours, 1));
    takes(&mut waiting, 1, Inquire(ours));

    let mut arbiter = nodes[0].clone();
    takes(&mut arbiter, 1, Request(stamp(2, 1)));
    refuses(&arbiter, 1, Request(stamp(2, 1)));
    refuses(&arbiter, 1, Relinquish(stamp(2, 1)));
    refuses(&arbiter, 1, Relinquish(stamp(3, 1)));
    takes(&mut arbiter, 1, Request(stamp(1, 1)));
    takes(&mut arbiter, 1, Release(stamp(2, 1)));
    refuses(&arbiter, 1, Release(stamp(2, 1)));
    takes(&mut arbiter, 1, Release(stamp(1, 1)));
    // Clocks end with a refusal.
    takes(&mut arbiter, 1, Request(stamp(u64::MAX, 1)));
    let before = arbiter.clone();
    step(&mut arbiter, Input::Request, &mut Outbox::new()).expect_err("the clock is at its limit");
    assert_eq!(arbiter, before);
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
