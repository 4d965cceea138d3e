//! What is particular to the token family: one token, counts and orders of service.

mod common;

use common::by_hand::ByHand;
use common::load::{mean, saturated};
use exclusion::message::banta_efficient::Late;
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, Channels, Claims, ClusterError, Event,
    Happening, NaimiTrehel, NaimiTrehelQueue, NodeId, Protocol, Raymond, RicartAgrawalaToken,
    SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing, TokenRing, Topology,
    Trace, Tree, suzuki_kasami_fifo,
};

/// One token at every step, held or on its way, whatever the delays.
fn one_token<P: Claims>(nodes: &[P]) {
    let token = P::token().expect("a token is the permission");
    let n = nodes.len();
    for (seed, delay) in
        (0..30).zip([Delay::Exponential(1.0), Delay::Uniform(0.0, 2.0)].into_iter().cycle())
    {
        for workload in [
            Workload::Saturated { wanting: n, entries: 10 * n as u64 },
            Workload::Poisson { rate: 0.2, entries: 10 * n as u64 },
        ] {
            let simulation = Simulation::new(nodes.to_vec()).seed(seed).delay(delay);
            let outcome = simulation.workload(workload).run_checking(|view| {
                let held = view.nodes.iter().filter(|node| (token.has)(node)).count();
                let sent = view.in_flight().filter(|(_, _, message)| (token.is)(message)).count();
                match held + sent {
                    1 => Ok(()),
                    tokens => Err(format!("{tokens} tokens")),
                }
            });
            if let Err(error) = outcome {
                panic!("{error}");
            }
        }
    }
}

#[test]
fn there_is_one_token_at_every_step() {
    for n in [2, 5, 9] {
        one_token(&TokenRing::cluster(n).unwrap());
        one_token(&SuzukiKasami::cluster(n).unwrap());
        one_token(&SuzukiKasami::over(&Topology::ring(n).unwrap()));
        one_token(&SuzukiKasami::over(&Topology::star(n).unwrap()));
        one_token(&SuzukiKasamiFifo::cluster(n).unwrap());
        one_token(&SuzukiKasamiFifoRing::cluster(n).unwrap());
        one_token(&RicartAgrawalaToken::cluster(n).unwrap());
        one_token(&SinghalHeuristic::cluster(n).unwrap());
        one_token(&Raymond::cluster(n).unwrap());
        one_token(&NaimiTrehel::cluster(n).unwrap());
        one_token(&NaimiTrehelQueue::cluster(n).unwrap());
        one_token(&BantaSimple::cluster(n).unwrap());
        one_token(&BantaFair::cluster(n).unwrap());
        one_token(&BantaEfficient::cluster(n, Late::Strict).unwrap());
        one_token(&BantaK::cluster(n, n - 1, Late::Strict).unwrap());
    }
}

#[test]
#[should_panic(expected = "2 tokens")]
fn two_tokens_are_noticed() {
    // Node 1 comes from another cluster, and brings its token along.
    let mut nodes = RicartAgrawalaToken::cluster(4).unwrap();
    nodes[1] = {
        let mut other = ByHand::new(RicartAgrawalaToken::cluster(4).unwrap());
        other.request(1);
        other.deliver_all();
        other.release(1);
        other.nodes[1].clone()
    };
    one_token(&nodes);
}

#[test]
fn a_saturated_ring_sends_one_message_an_entry() {
    for n in [2, 3, 8, 16] {
        assert_eq!(mean(TokenRing::cluster(n).unwrap(), saturated(n)), 1.0);
    }
}

#[test]
fn an_idle_ring_never_rests() {
    // One entry early, one late: the token goes round in between, once in a number of periods.
    let n = 4;
    let script = Workload::Script(vec![(0.0, NodeId(0)), (1000.0, NodeId(0))]);
    let idle = |hop_delay| {
        let ring = TokenRing::with_hop_delay(hop_delay, n).unwrap();
        Simulation::new(ring).workload(script.clone()).run().unwrap().messages.total()
    };
    assert!(idle(0) > 900, "a message a unit of time: {}", idle(0));
    assert!((90..=110).contains(&idle(9)), "a message in ten: {}", idle(9));
}

#[test]
fn suzuki_kasami_sends_nothing_or_n() {
    for n in [2, 3, 4, 7, 9, 13, 16] {
        let report = Simulation::new(SuzukiKasami::cluster(n).unwrap())
            .delay(Delay::Exponential(1.0))
            .workload(Workload::Poisson { rate: 0.001, entries: 200 })
            .run()
            .unwrap();
        let [requests, tokens] = ["REQUEST", "TOKEN"].map(|kind| report.messages.of(kind));
        assert_eq!(requests, tokens * (n as u64 - 1), "a token for n-1 requests");
        assert!(tokens < report.entries, "a node that has the token sends nothing");
    }
}

#[test]
fn suzuki_kasami_on_a_ring_sends_at_most_2n_minus_2() {
    for n in [2, 3, 5, 9, 16] {
        let ring = || SuzukiKasami::over(&Topology::ring(n).unwrap());
        let most = 2.0 * n as f64 - 2.0;
        assert!(mean(ring(), saturated(n)) <= most);
        assert!(mean(ring(), Workload::AllAtOnce { rounds: 20 }) <= most);
        // A token that rests is met by the request, and goes the rest of the way: n in all.
        assert_eq!(mean(ring(), Workload::Script(vec![(0.0, NodeId(1))])), n as f64);
    }
}

#[test]
fn raymond_sends_at_most_twice_the_diameter_and_about_four_when_all_want_in() {
    for n in [7, 15, 63, 255] {
        let tree = Tree::k_ary(n, 2).unwrap();
        let light = mean(Raymond::over(&tree), Workload::Poisson { rate: 0.001, entries: 2000 });
        assert!(light <= 2.0 * tree.diameter() as f64);
        let dearest = Simulation::new(Raymond::over(&tree))
            .workload(Workload::Poisson { rate: 0.001, entries: 2000 })
            .run()
            .unwrap();
        assert!(dearest.per_entry.unwrap().max <= 2.0 * tree.diameter() as f64);
        let heavy = mean(Raymond::over(&tree), saturated(n));
        // Each edge of the tree is passed about twice while everybody enters once, each time with a
        // request before.
        assert!((3.0..=4.5).contains(&heavy), "{heavy} at n={n}");
    }
}

#[test]
fn naimi_trehel_sends_about_log_n_messages() {
    for n in [16_usize, 64, 256, 1024] {
        let light = || Workload::Poisson { rate: 0.001, entries: 5000 };
        let plain = mean(NaimiTrehel::cluster(n).unwrap(), light());
        let log = (n as f64).ln();
        // A request's way is the harmonic number of n on average, and the token's is 1.
        assert!(plain > 0.7 * log && plain < log + 2.0, "{plain} at n={n}, ln n = {log}");
        let queued = mean(NaimiTrehelQueue::cluster(n).unwrap(), light());
        assert!(queued <= plain + 0.5, "{queued} with a queue, {plain} without");
        // When many want in, requests are kept where they are: the queue pays.
        let plain = mean(NaimiTrehel::cluster(n).unwrap(), saturated(n));
        let queued = mean(NaimiTrehelQueue::cluster(n).unwrap(), saturated(n));
        assert!(queued <= plain, "{queued} with a queue, {plain} without, when all want in");
    }
}

#[test]
fn singhal_asks_about_half() {
    for n in [8, 16, 32] {
        let light = Workload::Poisson { rate: 0.001, entries: 5000 };
        let mean = mean(SinghalHeuristic::cluster(n).unwrap(), light);
        let half = (n as f64 + 1.0) / 2.0;
        assert!((mean - half).abs() < 0.1 * half, "{mean} is not about {half}");
    }
}

/// For each request, the most that any other node entered while it waited.
fn most_entries_of_another(trace: &Trace, n: usize) -> usize {
    let mut waiting: Vec<Option<Vec<usize>>> = vec![None; n];
    let mut most = 0;
    for event in &trace.events {
        match event.happening {
            Happening::Requests => waiting[event.node.index()] = Some(vec![0; n]),
            Happening::Enters => {
                waiting[event.node.index()] = None;
                for counts in waiting.iter_mut().flatten() {
                    counts[event.node.index()] += 1;
                    most = most.max(counts[event.node.index()]);
                }
            }
            _ => {}
        }
    }
    most
}

fn patience<P: Protocol>(nodes: &[P]) -> usize {
    let n = nodes.len();
    let simulation = Simulation::new(nodes.to_vec()).workload(saturated(n)).traced();
    most_entries_of_another(&simulation.run().unwrap().trace.unwrap(), n)
}

#[test]
fn nobody_is_passed_twice_by_the_same_node() {
    for n in [3, 6, 11] {
        // A waiting node is queued, or next in the round, by the time that the token comes back to
        // any node.
        assert_eq!(patience(&TokenRing::cluster(n).unwrap()), 1);
        assert_eq!(patience(&SuzukiKasami::cluster(n).unwrap()), 1);
        assert_eq!(patience(&SuzukiKasamiFifo::cluster(n).unwrap()), 1);
        assert_eq!(patience(&SuzukiKasamiFifoRing::cluster(n).unwrap()), 1);
        assert_eq!(patience(&RicartAgrawalaToken::cluster(n).unwrap()), 1);
        assert_eq!(patience(&NaimiTrehel::cluster(n).unwrap()), 1);
        assert!(patience(&NaimiTrehelQueue::cluster(n).unwrap()) <= 2);
        assert!(patience(&BantaFair::cluster(n).unwrap()) <= 2);
        assert!(patience(&BantaEfficient::cluster(n, Late::Strict).unwrap()) <= 2);
    }
}

/// In which order nodes enter when all always want in, and stay long enough for requests to be
/// heard.
fn order<P: Protocol>(nodes: Vec<P>) -> Vec<NodeId> {
    let n = nodes.len();
    let workload = Workload::Saturated { wanting: n, entries: 3 * n as u64 };
    let simulation = Simulation::new(nodes).inside(Delay::Constant(2.0)).workload(workload);
    let trace = simulation.traced().run().unwrap().trace.unwrap();
    entries(&trace)
}

/// Who entered, in order.
fn entries(trace: &Trace) -> Vec<NodeId> {
    let enters = |event: &&Event| event.happening == Happening::Enters;
    trace.events.iter().filter(enters).map(|event| event.node).collect()
}

#[test]
fn tokens_without_a_queue_go_round() {
    let n = 5;
    let round: Vec<_> = (0..3).flat_map(|_| NodeId::all(n)).collect();
    assert_eq!(order(TokenRing::cluster(n).unwrap()), round);
    assert_eq!(order(RicartAgrawalaToken::cluster(n).unwrap()), round);
    assert_eq!(order(SinghalHeuristic::cluster(n).unwrap()), round);
}

#[test]
fn suzuki_kasamis_queue_is_first_in_first_out() {
    // Nodes 1 and 3 wait while node 0 is inside; node 2 asks while node 1 is. A scan by number
    // would serve node 2 next.
    let script = [(0.0, 0), (0.5, 1), (0.5, 3), (4.5, 2)].map(|(time, node)| (time, NodeId(node)));
    fn served<P: Protocol>(nodes: Vec<P>, script: &[(f64, NodeId)]) -> Vec<NodeId> {
        let simulation = Simulation::new(nodes).inside(Delay::Constant(3.0)).traced();
        entries(
            &simulation.workload(Workload::Script(script.to_vec())).run().unwrap().trace.unwrap(),
        )
    }
    let queue = served(SuzukiKasami::cluster(4).unwrap(), &script);
    assert_eq!(queue, [0, 1, 3, 2].map(NodeId));
    let scan = served(RicartAgrawalaToken::cluster(4).unwrap(), &script);
    assert_eq!(scan, [0, 1, 2, 3].map(NodeId));
}

#[test]
fn suzuki_kasamis_queue_grows_in_the_order_of_increasing_numbers() {
    // While node 3 is inside, all others ask: node 0 for the third time, node 1 for the second,
    // nodes 2 and 4 for the first. Of these two, node 4 comes after node 3.
    let before = [(0.0, 0), (10.0, 0), (20.0, 1), (30.0, 3)];
    let then = [(33.0, 0), (33.1, 1), (33.2, 2), (33.3, 4)];
    let script: Vec<_> =
        before.iter().chain(&then).map(|&(time, node)| (time, NodeId(node))).collect();
    fn served<P: Protocol>(nodes: Vec<P>, script: Vec<(f64, NodeId)>) -> Vec<NodeId> {
        let simulation = Simulation::new(nodes).inside(Delay::Constant(5.0)).traced();
        entries(&simulation.workload(Workload::Script(script)).run().unwrap().trace.unwrap())
    }
    let order = [0, 0, 1, 3, 4, 2, 1, 0].map(NodeId);
    assert_eq!(served(SuzukiKasami::cluster(5).unwrap(), script.clone()), order);
    // Where requests are counted, those that nobody heard do not count: node 0 had the token.
    let order = [0, 0, 1, 3, 4, 0, 2, 1].map(NodeId);
    assert_eq!(served(SuzukiKasamiFifo::cluster(5).unwrap(), script), order);
}

/// Requests and tokens of Suzuki's and Kasami's algorithm without numbers.
fn is_request(message: &suzuki_kasami_fifo::Message) -> bool {
    matches!(message, suzuki_kasami_fifo::Message::Request)
}

#[test]
fn a_request_without_a_number_that_has_been_served_does_not_call_the_token_back() {
    let mut cluster = ByHand::new(SuzukiKasamiFifo::cluster(3).unwrap());
    // Node 1's request to node 2 is slow. The token goes from node 0 to node 1, back, and to node
    // 2.
    cluster.request(1);
    cluster.deliver(0, is_request);
    cluster.deliver(1, |message| !is_request(message));
    cluster.release(1);
    cluster.request(0);
    cluster.deliver(1, is_request);
    cluster.deliver(0, |message| !is_request(message));
    cluster.request(2);
    cluster.deliver(0, is_request);
    cluster.release(0);
    cluster.deliver(2, |message| !is_request(message));
    cluster.release(2);
    // Now it comes, and the token stays.
    cluster.deliver_all();
    let token = SuzukiKasamiFifo::token().expect("a token is the permission");
    assert!((token.has)(&cluster.nodes[2]));
    assert_eq!(cluster.entered, [1, 0, 2].map(NodeId));
}

#[test]
fn a_ring_without_overtaking_sends_at_most_n_and_needs_the_order() {
    for n in [2, 3, 5, 9, 16] {
        let ring = || SuzukiKasamiFifoRing::cluster(n).unwrap();
        for seed in 0..10 {
            for workload in [saturated(n), Workload::AllAtOnce { rounds: 20 }] {
                let simulation = Simulation::new(ring()).seed(seed).delay(Delay::Exponential(1.0));
                let report = simulation.workload(workload).run().unwrap();
                assert!(report.per_entry.unwrap().max <= n as f64);
            }
        }
        // Once round, wherever the token rests.
        let once = |node: u32| mean(ring(), Workload::Script(vec![(0.0, NodeId(node))]));
        assert!((1..n as u32).all(|node| once(node) == n as f64));
    }
    let wrong = (0..200).any(|seed| {
        Simulation::new(SuzukiKasamiFifoRing::cluster(3).unwrap())
            .seed(seed)
            .channels(Channels::AnyOrder)
            .delay(Delay::Exponential(1.0))
            .workload(Workload::AllAtOnce { rounds: 20 })
            .run()
            .is_err()
    });
    assert!(wrong, "it needs channels that keep order");
}

#[test]
fn the_more_children_a_node_has_the_fewer_messages_raymond_sends() {
    // As many as fill a tree with four children each.
    for n in [21, 85, 341] {
        let trees = [1, 2, 3, 4, n].map(|children| Tree::k_ary(n, children).unwrap());
        let bounds = trees.each_ref().map(|tree| {
            let cost = Raymond::cost(&Raymond::over(tree)).unwrap();
            assert_eq!(*cost.contended.end(), 2.0 * tree.diameter() as f64);
            *cost.contended.end()
        });
        assert!(bounds.is_sorted_by(|more, less| more > less), "n={n}: {bounds:?}");
        assert_eq!((bounds[0], bounds[4]), (2.0 * (n as f64 - 1.0), 4.0), "a line, a star");
        let dearest = trees.map(|tree| {
            let light = Workload::Poisson { rate: 0.001, entries: 4000 };
            let report = Simulation::new(Raymond::over(&tree)).workload(light).run().unwrap();
            report.per_entry.unwrap().max
        });
        assert!(dearest.is_sorted_by(|more, less| more > less), "n={n}: {dearest:?}");
        // A balanced tree is about as high as the logarithm to the base of k, and D is twice that.
        for (children, bound) in [(2.0_f64, bounds[1]), (3.0, bounds[2]), (4.0, bounds[3])] {
            assert!(
                bound <= 4.0 * ((n as f64).ln() / children.ln() + 1.0),
                "k={children}: {bound}"
            );
        }
    }
}

/// Only node 1 knows that node 0 wants in, and would give the token to node 2 first; which gives it
/// back.
#[test]
fn the_token_tells_who_wants_in() {
    use exclusion::message::singhal_heuristic::Message;
    let request = |message: &Message| matches!(message, Message::Request(_));
    let token = |message: &Message| matches!(message, Message::Token(_));
    let mut cluster = ByHand::new(SinghalHeuristic::cluster(3).unwrap());
    cluster.request(1);
    cluster.deliver(0, request);
    cluster.request(0);
    cluster.deliver(1, request);
    cluster.deliver(1, token);
    // Node 2's request to node 0 is slow, and so is node 1's next.
    cluster.request(2);
    cluster.deliver(1, request);
    cluster.release(1);
    cluster.request(1);
    cluster.deliver(2, request);
    cluster.deliver(2, token);
    cluster.release(2);
    cluster.deliver(0, token);
    assert_eq!(cluster.entered, [1, 2, 0].map(NodeId));
}

#[test]
fn a_late_request_that_has_been_served_does_not_hide_the_token() {
    use exclusion::message::singhal_heuristic::Message;
    let request = |message: &Message| matches!(message, Message::Request(_));
    let token = |message: &Message| matches!(message, Message::Token(_));
    let mut cluster = ByHand::new(SinghalHeuristic::cluster(3).unwrap());
    // Node 2 is served, while its request to node 1 is slow.
    cluster.request(2);
    cluster.deliver(0, request);
    cluster.deliver(2, token);
    cluster.release(2);
    // Node 0, then node 1 is served, and the token rests there.
    cluster.request(0);
    cluster.deliver(2, request);
    cluster.deliver(0, token);
    cluster.request(1);
    cluster.deliver(0, request);
    cluster.release(0);
    cluster.deliver(1, token);
    cluster.release(1);
    // Now node 2's old request comes to node 1; and node 2 wants in again, and nobody else does.
    cluster.deliver_all();
    cluster.request(2);
    cluster.deliver_all();
    assert_eq!(cluster.entries_of(2), 2);
}

#[test]
fn a_request_that_was_overtaken_does_not_count_again() {
    use exclusion::message::suzuki_kasami::Message;
    let mut cluster = ByHand::new(SuzukiKasami::cluster(3).unwrap());
    cluster.request(1);
    cluster.deliver(0, |message| matches!(message, Message::Request(..)));
    cluster.deliver(1, |message| matches!(message, Message::Token(_)));
    cluster.release(1);
    cluster.request(2);
    cluster.deliver(1, |message| matches!(message, Message::Request(NodeId(2), _)));
    cluster.deliver(2, |message| matches!(message, Message::Token(_)));
    cluster.release(2);
    // Only now site 1's old request arrives: it has been served, and the token stays.
    cluster.deliver(2, |message| matches!(message, Message::Request(NodeId(1), _)));
    let token = SuzukiKasami::token().expect("a token is the permission");
    assert!((token.has)(&cluster.nodes[2]));
}

#[test]
fn the_idle_holder_sends_the_token_at_once() {
    let mut cluster = ByHand::new(NaimiTrehel::cluster(3).unwrap());
    cluster.request(2);
    cluster.deliver_all();
    assert_eq!(cluster.entered, [NodeId(2)]);
}

#[test]
fn clusters_that_cannot_be_are_refused() {
    for n in [0, 1] {
        let few = ClusterError::TooFewNodes(n);
        assert_eq!(TokenRing::cluster(n), Err(few.clone()));
        assert_eq!(SuzukiKasami::cluster(n), Err(few.clone()));
        assert_eq!(SuzukiKasamiFifo::cluster(n), Err(few.clone()));
        assert_eq!(SuzukiKasamiFifoRing::cluster(n), Err(few.clone()));
        assert_eq!(RicartAgrawalaToken::cluster(n), Err(few.clone()));
        assert_eq!(SinghalHeuristic::cluster(n), Err(few.clone()));
        assert_eq!(Raymond::cluster(n), Err(few.clone()));
        assert_eq!(NaimiTrehel::cluster(n), Err(few.clone()));
        assert_eq!(NaimiTrehelQueue::cluster(n), Err(few.clone()));
        assert_eq!(BantaSimple::cluster(n), Err(few.clone()));
        assert_eq!(BantaFair::cluster(n), Err(few.clone()));
        assert_eq!(BantaEfficient::cluster(n, Late::Strict), Err(few.clone()));
        assert_eq!(BantaK::cluster(n, 1, Late::Strict), Err(few));
    }
    for k in [0, 3] {
        let refused = Err(ClusterError::Entries { entries: k, nodes: 3 });
        assert_eq!(BantaK::cluster(3, k, Late::Strict), refused);
    }
}
