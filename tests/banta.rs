//! What is particular to Banta's algorithms: what their cycles cost, and the traps of the thesis.

mod common;

use common::by_hand::ByHand;
use common::load::{mean, saturated};
use exclusion::message::banta_efficient::{Late, Message as Cycle};
use exclusion::message::sim::{Delay, SimCause, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, Input, NodeId, Protocol, Violation, banta_fair,
    banta_simple,
};

/// Messages per entry when m requests wait at the beginning of each cycle: of m+1 nodes that want
/// in, the good site is outside. The first cycles are left out, to measure the steady state.
fn at_m_waiting<P: Protocol>(nodes: &[P], m: usize) -> f64 {
    let sent = |cycles: u64| {
        Simulation::new(nodes.to_vec())
            .inside(Delay::Constant(100.0))
            .outside(Delay::Constant(10.0))
            .workload(Workload::Saturated { wanting: m + 1, entries: cycles * m as u64 })
            .run()
            .unwrap()
            .messages
            .total()
    };
    (sent(60) - sent(20)) as f64 / (40 * m) as f64
}

#[test]
fn banta_costs_what_the_corrected_formula_says_and_less_than_the_thesis() {
    let n = 50;
    for m in [1, 5, 10, 25, 49] {
        let share = |messages: usize| messages as f64 / m as f64;
        let efficient = BantaEfficient::cluster(n, Late::Strict).unwrap();
        let measured = at_m_waiting(&efficient, m);
        assert!((measured - (share(n - 1) + 1.0)).abs() < 1e-9, "{measured} at m={m}");
        assert!(measured < share(n) + 1.0, "the thesis counts an update to oneself");

        let several = BantaK::cluster(n, 3, Late::Strict).unwrap();
        let measured = at_m_waiting(&several, m);
        assert!((measured - (share(n - 2) + 2.0)).abs() < 1e-9, "{measured} at m={m}, k entries");
        assert!(measured < share(n) + 2.0);
    }
}

#[test]
fn banta_needs_two_messages_when_all_want_in() {
    let n = 16;
    let simple = mean(BantaSimple::cluster(n).unwrap(), saturated(n));
    let fair = mean(BantaFair::cluster(n).unwrap(), saturated(n));
    assert!((1.8..2.4).contains(&simple), "{simple}");
    assert!((1.8..2.4).contains(&fair), "{fair}");
}

#[test]
fn k_are_inside_where_enough_want_in_and_one_where_few_do() {
    for (n, k) in [(4, 2), (9, 3), (10, 9)] {
        let cluster = || BantaK::cluster(n, k, Late::Strict).unwrap();
        let inside = |workload| {
            Simulation::new(cluster())
                .inside(Delay::Constant(50.0))
                .workload(workload)
                .run()
                .unwrap()
                .most_inside
        };
        assert_eq!(
            inside(saturated(n)),
            k.min(n - 2),
            "all but the good site and the site that began"
        );
        assert_eq!(inside(Workload::Script(vec![(0.0, NodeId(1)), (9.0, NodeId(2))])), 1);
    }
}

/// The chase: site 3's request reaches sites 1 and 2 in turn, each time when the token has just
/// left.
macro_rules! chase {
    ($cluster:expr, $protocol:ident, $rounds:expr) => {{
        use $protocol::Message;
        let token = |message: &Message| matches!(message, Message::Token(..));
        let update = |message: &Message| matches!(message, Message::Update(_));
        let request_of = |site: u32| {
            move |message: &Message| format!("{message:?}").starts_with(&format!("Request(n{site}"))
        };
        let mut cluster = ByHand::new($cluster);
        // Site 1 gets the token from site 0, and site 3 hears of it, then asks it; the request is
        // slow.
        cluster.request(1);
        cluster.deliver(0, request_of(1));
        cluster.deliver(1, token);
        cluster.deliver(3, update);
        cluster.deliver(2, update);
        cluster.request(3);
        let mut inside = 1;
        for _ in 0..$rounds {
            // The other one asks the site that is inside, which leaves: the token goes on.
            let other = 3 - inside;
            cluster.request(other);
            cluster.deliver(inside, request_of(other));
            cluster.release(inside);
            let goes_to =
                |site| cluster.in_flight.iter().any(|(_, to, it)| *to == site && token(it));
            if goes_to(NodeId(3)) {
                cluster.deliver(3, token);
                break;
            }
            cluster.deliver(other, token);
            // Only now the request of site 3 comes to where the token has been, and is passed on.
            cluster.deliver(inside, request_of(3));
            inside = other;
        }
        (cluster.entries_of(3), cluster.entered.len())
    }};
}

#[test]
fn a_request_may_chase_the_token_for_ever_in_chapter_4() {
    let (served, others) = chase!(BantaSimple::cluster(4).unwrap(), banta_simple, 100);
    assert_eq!(served, 0, "site 3 is never served");
    assert!(others > 100, "while the others enter {others} times");
}

#[test]
fn copies_end_the_chase_in_section_4_6() {
    let (served, others) = chase!(BantaFair::cluster(4).unwrap(), banta_fair, 100);
    assert_eq!(served, 1);
    assert!(others <= 5, "after {others} entries");
}

#[test]
fn an_old_good_site_update_is_ignored() {
    let update =
        |message: &banta_simple::Message| matches!(message, banta_simple::Message::Update(_));
    let token =
        |message: &banta_simple::Message| matches!(message, banta_simple::Message::Token(..));
    let request =
        |message: &banta_simple::Message| matches!(message, banta_simple::Message::Request(_));
    let mut cluster = ByHand::new(BantaSimple::cluster(4).unwrap());
    // Site 1, then site 2 becomes the good site; site 3 hears of both, of the second first.
    cluster.request(1);
    cluster.deliver(0, request);
    cluster.deliver(1, token);
    cluster.deliver(2, update);
    cluster.request(2);
    cluster.deliver(1, request);
    cluster.release(1);
    cluster.deliver(2, token);
    let old = cluster.in_flight.iter().position(|(from, to, _)| (from.0, to.0) == (0, 3)).unwrap();
    let old = cluster.in_flight.remove(old).unwrap();
    cluster.deliver(3, update);
    let informed = cluster.nodes[3].clone();
    cluster.in_flight.push_back(old);
    cluster.deliver(3, update);
    assert_eq!(cluster.nodes[3], informed);
    cluster.request(3);
    let (_, to, _) = cluster.in_flight.back().unwrap();
    assert_eq!(*to, NodeId(2), "site 3 asks the new good site");
}

#[test]
fn a_request_that_returns_to_its_sender_is_refused() {
    let simple = BantaSimple::cluster(3).unwrap();
    let mut cluster = ByHand::new(simple);
    cluster.request(1);
    let message = banta_simple::Message::Request(NodeId(1));
    let error = cluster.give(1, Input::Receive { from: NodeId(0), message }).unwrap_err();
    assert!(error.to_string().contains("its own request has come back"), "{error}");
    for late in [Late::Strict, Late::Hardened] {
        let mut cluster = ByHand::new(BantaEfficient::cluster(3, late).unwrap());
        cluster.request(1);
        let message = Cycle::Request(NodeId(1));
        cluster.give(1, Input::Receive { from: NodeId(0), message }).unwrap_err();
    }
    // Copies may send it back where it has been served: then it counts for nothing.
    let mut cluster = ByHand::new(BantaFair::cluster(3).unwrap());
    cluster.request(1);
    let before = cluster.nodes.clone();
    let message = banta_fair::Message::Request(NodeId(1), 1);
    cluster.give(1, Input::Receive { from: NodeId(0), message }).unwrap();
    assert_eq!(cluster.nodes, before);
}

fn request(message: &Cycle) -> bool {
    matches!(message, Cycle::Request(_))
}

fn token(message: &Cycle) -> bool {
    matches!(message, Cycle::Token(_))
}

fn release(message: &Cycle) -> bool {
    matches!(message, Cycle::Release)
}

#[test]
fn a_late_request_goes_behind_the_good_site() {
    let mut cluster = ByHand::new(BantaEfficient::cluster(4, Late::Strict).unwrap());
    cluster.request(1);
    cluster.deliver(0, request);
    // Site 0 waits for late requests now: site 1 is the good site, and site 2 has not heard of it.
    cluster.request(2);
    cluster.deliver(0, request);
    cluster.time_out(0);
    cluster.deliver(1, token);
    // Site 3 asks the good site in time, and belongs to the same cycle as site 2, after it.
    cluster.deliver(3, |message| matches!(message, Cycle::Update(_)));
    cluster.request(3);
    cluster.deliver(1, request);
    cluster.release(1);
    cluster.time_out(1);
    cluster.deliver(2, token);
    cluster.release(2);
    cluster.deliver(3, token);
    assert_eq!(cluster.entered, [1, 2, 3].map(NodeId));
}

#[test]
fn who_holds_the_token_and_waits_for_late_requests_is_late_itself() {
    let mut cluster = ByHand::new(BantaEfficient::cluster(3, Late::Strict).unwrap());
    cluster.request(1);
    cluster.deliver(0, request);
    cluster.request(0);
    assert!(cluster.entered.is_empty(), "it does not enter before site 1");
    cluster.time_out(0);
    cluster.deliver(1, token);
    cluster.release(1);
    cluster.time_out(1);
    cluster.deliver(0, token);
    assert_eq!(cluster.entered, [1, 0].map(NodeId));
}

/// Site 2 sends a request that takes longer than Tmax: it comes to site 0 when the token has left
/// for good.
fn tmax_violated(late: Late) -> ByHand<BantaEfficient> {
    let mut cluster = ByHand::new(BantaEfficient::cluster(3, late).unwrap());
    cluster.request(1);
    cluster.deliver(0, request);
    cluster.request(2);
    cluster.time_out(0);
    cluster.deliver(1, token);
    cluster.release(1);
    cluster.deliver_all();
    cluster
}

#[test]
fn with_tmax_violated_strict_starves_a_late_request_and_hardened_does_not() {
    let mut strict = tmax_violated(Late::Strict);
    assert_eq!(strict.entered, [NodeId(1)], "the request lies at site 0, where the token was");
    // Site 1 enters as often as it likes.
    for _ in 0..10 {
        strict.request(1);
        strict.release(1);
    }
    strict.deliver_all();
    assert_eq!(strict.entries_of(2), 0);

    let mut hardened = tmax_violated(Late::Hardened);
    hardened.time_out(1);
    hardened.deliver_all();
    assert_eq!(hardened.entries_of(2), 1);
}

#[test]
fn with_tmax_violated_in_the_simulator_hardened_serves_everybody() {
    fn run<P: Protocol>(nodes: Vec<P>, seed: u64) -> Result<(), SimCause> {
        let simulation = Simulation::new(nodes)
            .seed(seed)
            .delay(Delay::Exponential(1.0))
            .period(0.2)
            .workload(Workload::Poisson { rate: 0.3, entries: 100 });
        simulation.run().map(|_| ()).map_err(|error| error.cause)
    }
    let efficient = |late| BantaEfficient::cluster(5, late).unwrap();
    let several = |late| BantaK::cluster(5, 2, late).unwrap();
    for seed in 0..100 {
        assert_eq!(run(efficient(Late::Hardened), seed), Ok(()));
        assert_eq!(run(several(Late::Hardened), seed), Ok(()));
    }
    let stalls = (0..100).filter(|&seed| match run(efficient(Late::Strict), seed) {
        Ok(()) => false,
        Err(SimCause::Violation(Violation::Deadlock(_))) => true,
        Err(other) => panic!("{other:?}"),
    });
    assert!(stalls.count() > 0, "strict serves everybody, so nothing was violated");
}

#[test]
fn releases_may_come_before_the_token() {
    // Sites 1, 2 and 3 in a cycle of two entries, site 3 being the good one.
    let mut cluster = ByHand::new(BantaK::cluster(4, 2, Late::Strict).unwrap());
    cluster.request(0);
    for site in 1..4 {
        cluster.request(site);
    }
    for _ in 1..4 {
        cluster.deliver(0, request);
    }
    cluster.release(0);
    cluster.time_out(0);
    cluster.deliver(1, token);
    cluster.deliver(2, token);
    assert_eq!(cluster.entered, [0, 1, 2].map(NodeId));
    // Both leave before the token reaches the good site.
    cluster.release(1);
    cluster.release(2);
    cluster.deliver(3, release);
    cluster.deliver(3, release);
    assert_eq!(cluster.entries_of(3), 0, "it does not have the token yet");
    cluster.deliver(3, token);
    assert_eq!(cluster.entries_of(3), 1);
    // The semaphore is full again: the next cycle lets in two at once.
    for site in 0..3 {
        cluster.request(site);
    }
    cluster.deliver_all();
    cluster.release(3);
    cluster.time_out(3);
    cluster.deliver_all();
    assert_eq!(cluster.entered.len(), 6);
}

#[test]
fn the_good_site_waits_for_all_who_are_inside() {
    let mut cluster = ByHand::new(BantaK::cluster(4, 3, Late::Strict).unwrap());
    cluster.request(0);
    for site in 1..4 {
        cluster.request(site);
    }
    cluster.deliver_all();
    cluster.release(0);
    cluster.time_out(0);
    cluster.deliver_all();
    assert_eq!(cluster.entered, [0, 1, 2].map(NodeId), "the good site is last, and alone");
    cluster.release(2);
    cluster.deliver_all();
    assert_eq!(cluster.entries_of(3), 0);
    cluster.release(1);
    cluster.deliver_all();
    assert_eq!(cluster.entries_of(3), 1);
}
