//! What cannot have been sent is refused: each check of an algorithm by name, with a message in
//! which one thing is wrong.
#![cfg(feature = "serde")]

mod common;

use std::slice::from_ref;

use common::by_hand::ByHand;
use common::tamper::{from_tree, to_tree};
use exclusion::message::banta_efficient::Late;
use exclusion::message::registry::Shipped;
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    ClusterError, Input, Lamport, Message, NaimiTrehel, NaimiTrehelQueue, NodeId, Phase, Raymond,
    RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic, SinghalHeuristic, TokenRing,
    Tree, Violation, lamport,
};
use serde_json::{Value, json};

/// The message of this kind that is in flight to the node is accepted as it is. With something else
/// in one place of it, it is refused.
fn only_as_it_is<P: Shipped>(cluster: &ByHand<P>, to: u32, kind: &str, wrong: &[(&str, Value)]) {
    let (from, real) = in_flight(cluster, to, kind);
    for (place, value) in wrong {
        refuses(cluster, to, from.0, with(real, place, value));
    }
    let message = real.clone();
    cluster.clone().give(to, Input::Receive { from, message }).expect("it can occur");
}

/// With this in one place of it, the message of this kind that is in flight to the node is no
/// message any more, and so never gets to a node.
fn cannot_be_read<P: Shipped>(
    cluster: &ByHand<P>,
    to: u32,
    kind: &str,
    place: &str,
    wrong: &[Value],
) {
    let (_, real) = in_flight(cluster, to, kind);
    assert_eq!(from_tree::<P::Message>(to_tree(real)).as_ref(), Some(real));
    for value in wrong {
        let read: Option<P::Message> = from_tree(with(real, place, value));
        assert!(read.is_none(), "{read:?}");
    }
}

/// The message of this kind that is in flight to the node, and its sender.
fn in_flight<'a, P: Shipped>(
    cluster: &'a ByHand<P>,
    to: u32,
    kind: &str,
) -> (NodeId, &'a P::Message) {
    let is_it = |(_, at, message): &&(NodeId, NodeId, P::Message)| {
        *at == NodeId(to) && message.kind() == kind
    };
    let (from, _, real) = cluster.in_flight.iter().find(is_it).expect("it is in flight");
    (*from, real)
}

/// The message with something else in one place of it.
fn with<M: serde::Serialize + std::fmt::Debug>(real: &M, place: &str, value: &Value) -> Value {
    let mut tree = to_tree(real);
    *tree.pointer_mut(place).unwrap_or_else(|| panic!("no {place} in {real:?}")) = value.clone();
    tree
}

/// The node refuses the message, with nothing changed.
fn refuses<P: Shipped>(cluster: &ByHand<P>, to: u32, from: u32, message: Value) {
    let message: P::Message = from_tree(message.clone())
        .unwrap_or_else(|| panic!("{message} is no message, and so its reader refuses it"));
    let mut after = cluster.clone();
    let said = format!("{message:?}");
    let input = Input::Receive { from: NodeId(from), message };
    let Err(Violation::Unexpected(_)) = after.give(to, input) else {
        panic!("n{to} takes {said} from n{from}: {:?}", cluster.nodes[to as usize]);
    };
    assert!(after.nodes == cluster.nodes && after.users == cluster.users, "{said}");
}

/// Everybody has asked, and nothing has arrived.
fn all_ask<P: Shipped>(nodes: Result<Vec<P>, ClusterError>) -> ByHand<P> {
    let mut cluster = ByHand::new(nodes.expect("enough nodes"));
    (0..cluster.nodes.len()).for_each(|node| cluster.request(node as u32));
    cluster
}

/// A kind of message, to deliver.
fn is<M: Message>(kind: &'static str) -> impl Fn(&M) -> bool {
    move |message| message.kind() == kind
}

const MAX: u64 = u64::MAX;

#[test]
fn a_coordinator_hears_of_its_own_user_only_from_it() {
    let mut cluster = ByHand::new(CentralCoordinator::cluster(3).unwrap());
    refuses(&cluster, 0, 0, json!("Request"));
    refuses(&cluster, 0, 3, json!("Request"));
    cluster.request(0);
    for message in ["Request", "Release", "Grant"] {
        refuses(&cluster, 0, 0, json!(message));
    }
    cluster.release(0);
    cluster.request(1);
    cluster.deliver(0, is("REQUEST"));
    cluster.request(0);
    for message in ["Request", "Release", "Grant"] {
        refuses(&cluster, 0, 0, json!(message));
    }
}

#[test]
fn lamports_queue_takes_what_fits_its_times() {
    let mut cluster = all_ask(Lamport::cluster(2));
    cluster.deliver(1, is("REQUEST"));
    // It asked at 1, and no confirmation is so early; nor so late that no time is left to leave at.
    only_as_it_is(
        &cluster,
        0,
        "REQUEST",
        &[("/Request", json!(0)), ("/Request", json!(MAX)), ("/Request", json!(MAX - 1))],
    );
    let confirmations = [json!({"Confirm": 1}), json!({"Confirm": MAX})];
    confirmations.into_iter().for_each(|wrong| refuses(&cluster, 0, 1, wrong));
    // Node 0 goes first, so node 1 cannot have left.
    cluster.deliver(0, is("REQUEST"));
    refuses(&cluster, 0, 1, json!({"Release": 9}));
    cluster.deliver(0, is("CONFIRM"));
    refuses(&cluster, 0, 1, json!({"Release": 9}));
    cluster.release(0);
    // Node 0 waits for node 1, which may leave; but not at a time after which node 0 could not.
    cluster.request(0);
    cluster.deliver_all();
    refuses(&cluster, 0, 1, json!({"Release": MAX}));
    cluster.release(1);
    only_as_it_is(&cluster, 0, "RELEASE", &[]);
}

#[test]
fn lamports_users_ask_only_if_there_is_a_time_to_leave_and_a_count_of_what_is_owed() {
    let with = |field: &str, value: Value| {
        let mut cluster = ByHand::new(Lamport::cluster(2).unwrap());
        let mut tree = to_tree(&cluster.nodes[0]);
        tree[field] = value;
        cluster.nodes[0] = from_tree(tree).expect("a state");
        cluster
    };
    for mut full in [
        with("clock", json!(MAX)),
        with("clock", json!(MAX - 1)),
        with("unconfirmed", json!([0, u32::MAX])),
    ] {
        let before = full.nodes.clone();
        full.give(0, Input::Request).unwrap_err();
        assert_eq!(full.nodes, before);
    }
    let mut in_time = with("clock", json!(MAX - 2));
    in_time.request(0);
    in_time
        .give(0, Input::Receive { from: NodeId(1), message: lamport::Message::Confirm(MAX) })
        .unwrap_err();
}

#[test]
fn requests_have_a_time_and_confirmations_a_later_one() {
    fn checked<P: Shipped>(cluster: Result<Vec<P>, ClusterError>) {
        let mut cluster = ByHand::new(cluster.expect("enough nodes"));
        // Node 1 asks at 1, and hears of it; so it asks at 2 the next time.
        cluster.request(1);
        only_as_it_is(&cluster, 0, "REQUEST", &[("/Request", json!(0))]);
        cluster.deliver_all();
        cluster.release(1);
        cluster.request(0);
        cluster.deliver_all();
        cluster.release(0);
        cluster.request(1);
        cluster.deliver(0, is("REQUEST"));
        only_as_it_is(&cluster, 1, "CONFIRM", &[("/Confirm", json!(1)), ("/Confirm", json!(0))]);
    }
    checked(RicartAgrawala::cluster(2));
    checked(CarvalhoRoucairol::cluster(2));
    checked(SinghalDynamic::cluster(2));
}

#[test]
fn who_has_confirmed_a_request_has_no_older_one_unless_it_has_withdrawn() {
    let mut cluster = ByHand::new(RicartAgrawala::cluster(3).unwrap());
    cluster.request(2);
    cluster.deliver_all();
    cluster.release(2);
    cluster.request(2);
    cluster.deliver(1, is("REQUEST"));
    refuses(&cluster, 2, 0, json!({"Request": 0}));
    let mut confirmed = cluster.clone();
    confirmed.deliver(2, is("CONFIRM"));
    // Slow requests: one that waits, and one that was withdrawn. Both are confirmed.
    for mut cluster in [cluster, confirmed] {
        let request = from_tree(json!({"Request": 1})).expect("a message");
        cluster.give(2, Input::Receive { from: NodeId(1), message: request }).unwrap();
        assert!(cluster.in_flight.iter().any(|(from, to, _)| (from.0, to.0) == (2, 1)));
    }
}

#[test]
fn nobody_cancels_what_was_not_asked() {
    let cluster = all_ask(Lamport::cluster(2));
    refuses(&cluster, 0, 1, json!({"Cancel": 5}));
    let cluster = all_ask(CentralCoordinator::cluster(2));
    for was_queued in [true, false] {
        refuses(&cluster, 1, 0, json!({"Cancelled": {"was_queued": was_queued}}));
    }
    refuses(&cluster, 1, 0, json!("Cancel"));
    let mut withdrawn = ByHand::new(CentralCoordinator::cluster(3).unwrap());
    withdrawn.request(1);
    withdrawn.give(1, Input::Withdraw).unwrap();
    refuses(&withdrawn, 1, 2, json!({"Cancelled": {"was_queued": true}}));
    withdrawn.deliver_all();
    refuses(&withdrawn, 1, 0, json!("Grant"));
}

#[test]
fn raymonds_answers_are_counted_without_end() {
    let mut cluster = all_ask(RaymondK::cluster(3, 2));
    cluster.deliver(1, is("REQUEST"));
    cluster.deliver_all();
    refuses(&cluster, 0, 1, json!({"Request": 0}));
    for answers in [0, 2, u32::MAX] {
        refuses(&cluster, 0, 1, json!({"Confirm": {"answers": answers, "time": 9}}));
    }
    refuses(&all_ask(RaymondK::cluster(3, 2)), 0, 1, json!({"Confirm": {"answers": 1, "time": 0}}));
    // A state at the limit: as many requests as can be counted are held back, or are not answered.
    let full = |field: &str, node: &RaymondK| {
        let mut tree = to_tree(node);
        tree[field] = json!([u32::MAX, u32::MAX, u32::MAX]);
        from_tree::<RaymondK>(tree).expect("a state")
    };
    cluster.nodes[0] = full("held_back", &cluster.nodes[0]);
    refuses(&cluster, 0, 1, json!({"Request": 9}));
    let mut idle = ByHand::new(RaymondK::cluster(3, 2).unwrap());
    idle.nodes[0] = full("owed_to_us", &idle.nodes[0]);
    idle.give(0, Input::Request).unwrap_err();
}

#[test]
fn a_ring_has_one_token_and_one_direction() {
    let mut cluster = ByHand::new(TokenRing::with_hop_delay(0, 3).unwrap());
    refuses(&cluster, 0, 2, json!(null));
    cluster.give(0, Input::Start).unwrap();
    refuses(&cluster, 1, 2, json!(null));
    only_as_it_is(&cluster, 1, "TOKEN", &[]);
}

#[test]
fn a_token_of_another_cluster_is_refused() {
    let mut cluster = all_ask(RicartAgrawalaToken::cluster(3));
    cluster.deliver(0, is("REQUEST"));
    cluster.release(0);
    let sizes = [json!([]), json!([1, 0]), json!([1, 0, 0, 0])];
    // Node 1 waits for its first entry.
    let numbers = [json!([1, 1, 0]), json!([1, MAX, 0]), json!([1, MAX - 1, 0])];
    let wrong: Vec<_> = sizes.iter().chain(&numbers).map(|it| ("/Token", it.clone())).collect();
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
}

#[test]
fn requests_are_numbered_from_one_and_come_once() {
    let mut cluster = ByHand::new(RicartAgrawalaToken::cluster(3).unwrap());
    cluster.request(1);
    // The token is at node 0, and knows that node 1 has not entered.
    let wrong = [("/Request", json!(0)), ("/Request", json!(2)), ("/Request", json!(MAX))];
    only_as_it_is(&cluster, 0, "REQUEST", &wrong);
    // Node 2 does not have it, so there may have been others.
    only_as_it_is(&cluster, 2, "REQUEST", &wrong[..1]);
    cluster.deliver(2, is("REQUEST"));
    refuses(&cluster, 2, 1, json!({"Request": 1}));

    let mut cluster = ByHand::new(SinghalHeuristic::cluster(3).unwrap());
    cluster.request(1);
    only_as_it_is(&cluster, 0, "REQUEST", &wrong);
    cluster.request(2);
    only_as_it_is(&cluster, 1, "REQUEST", &wrong[..1]);

    let mut cluster = ByHand::new(BantaFair::cluster(3).unwrap());
    cluster.request(1);
    let wrong = [0, 2, MAX].map(|number| ("/Request/1", json!(number)));
    only_as_it_is(&cluster, 0, "REQUEST", &wrong);
    only_as_it_is(&cluster, 0, "REQUEST", &[("/Request/0", json!(3)), ("/Request/0", json!(0))]);
}

#[test]
fn nobody_counts_further_than_there_are_numbers() {
    fn at_the_limit<P: Shipped>(cluster: Result<Vec<P>, ClusterError>, numbers: &str) {
        let mut cluster = ByHand::new(cluster.expect("enough nodes"));
        let mut tree = to_tree(&cluster.nodes[1]);
        tree[numbers][1] = json!(MAX);
        cluster.nodes[1] = from_tree(tree).expect("a state");
        let before = cluster.nodes.clone();
        cluster.give(1, Input::Request).unwrap_err();
        assert!(cluster.nodes == before && cluster.users[1] == Phase::Idle);
    }
    at_the_limit(RicartAgrawalaToken::cluster(3), "heard");
    at_the_limit(SinghalHeuristic::cluster(3), "heard");
    at_the_limit(BantaFair::cluster(3), "settled");
}

#[test]
fn singhals_token_knows_who_waits_for_it() {
    let mut cluster = ByHand::new(SinghalHeuristic::cluster(3).unwrap());
    cluster.request(1);
    cluster.deliver(0, is("REQUEST"));
    let heard = [json!([0, 1]), json!([0, 0, 0]), json!([0, 2, 0]), json!([0, MAX, 0])];
    let served = [json!([0, 0]), json!([0, 1, 0]), json!([0, MAX, 0]), json!([0, 0, 1])];
    let heard = heard.map(|wrong| ("/Token/heard", wrong));
    let served = served.map(|wrong| ("/Token/served", wrong));
    only_as_it_is(&cluster, 1, "TOKEN", &[heard, served].concat());
}

#[test]
fn raymonds_requests_come_from_where_the_token_is_not() {
    let mut cluster = ByHand::new(Raymond::over(&Tree::line(3).unwrap()));
    refuses(&cluster, 1, 0, json!("Request"));
    refuses(&cluster, 0, 2, json!("Request"));
    refuses(&cluster, 1, 0, json!("Token"));
    // Node 0 has sent the token to node 1, wants it back, and its request is quicker.
    cluster.request(1);
    cluster.deliver(0, is("REQUEST"));
    cluster.request(0);
    only_as_it_is(&cluster, 1, "REQUEST", &[]);
}

#[test]
fn naimis_and_trehels_requests_do_not_go_round() {
    let mut cluster = ByHand::new(NaimiTrehel::cluster(4).unwrap());
    cluster.request(0);
    cluster.request(1);
    let wrong = [("/Request", json!(0)), ("/Request", json!(4)), ("/Request", json!(u32::MAX))];
    only_as_it_is(&cluster, 0, "REQUEST", &wrong);
    cluster.deliver(0, is("REQUEST"));
    refuses(&cluster, 0, 2, json!({"Request": 1}));
    cluster.request(2);
    cluster.deliver(0, is("REQUEST"));
    refuses(&cluster, 0, 3, json!({"Request": 1}));
    refuses(&cluster, 0, 3, json!({"Request": 2}));

    let mut cluster = ByHand::new(NaimiTrehelQueue::cluster(4).unwrap());
    refuses(&cluster, 1, 2, json!({"Request": 0}));
    cluster.request(0);
    cluster.request(1);
    only_as_it_is(&cluster, 0, "REQUEST", &wrong);
    cluster.deliver(0, is("REQUEST"));
    refuses(&cluster, 0, 2, json!({"Request": 1}));
}

#[test]
fn queues_name_who_waits_and_nobody_twice() {
    // Nodes 1 to 3 have asked node 0, which sends the token to node 1.
    fn with_queue<P: Shipped>(cluster: Result<Vec<P>, ClusterError>) -> ByHand<P> {
        let mut cluster = all_ask(cluster);
        (1..cluster.nodes.len()).for_each(|_| cluster.deliver(0, is("REQUEST")));
        cluster.release(0);
        cluster
    }
    let at = |place: &'static str, queues: &[Value]| -> Vec<(&'static str, Value)> {
        queues.iter().map(|queue| (place, queue.clone())).collect()
    };

    let twice = [json!([1, 2, 2]), json!([1, 1]), json!([1, 3, 2, 3]), json!([9, 9])];
    let behind = [json!([4]), json!([2, u32::MAX]), json!([2, 1]), json!([2, 0])];
    let cluster = with_queue(NaimiTrehelQueue::cluster(4));
    cannot_be_read(&cluster, 1, "TOKEN", "/Token", &twice);
    only_as_it_is(&cluster, 1, "TOKEN", &at("/Token", &behind));
    // A queue that a forged request got into names nobody twice, when the token is sent.
    let mut cluster = with_queue(NaimiTrehelQueue::cluster(4));
    let request = from_tree(json!({"Request": 3})).expect("a message");
    cluster.give(1, Input::Receive { from: NodeId(0), message: request }).unwrap();
    cluster.deliver(1, is("TOKEN"));
    refuses(&cluster, 1, 0, json!({"Request": 2}));
    cluster.release(1);
    only_as_it_is(&cluster, 2, "TOKEN", &[]);

    let whole = [json!([]), json!([2, 1]), json!([1, 4])];
    let with_sender = json!([1, 2, 0]);
    let cluster = with_queue(BantaSimple::cluster(4));
    cannot_be_read(&cluster, 1, "TOKEN", "/Token/0", &twice);
    let wrong = at("/Token/0", &[&whole[..], from_ref(&with_sender)].concat());
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
    only_as_it_is(&cluster, 1, "TOKEN", &[("/Token/1", json!(MAX))]);

    let cluster = with_queue(BantaFair::cluster(4));
    cannot_be_read(&cluster, 1, "TOKEN", "/Token/0/queue", &twice);
    let wrong = at("/Token/0/queue", &[&whole[..], from_ref(&with_sender)].concat());
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
    let served = [json!([1, 0, 0]), json!([1, 1, 0, 0]), json!([1, MAX, 0, 0])];
    only_as_it_is(&cluster, 1, "TOKEN", &at("/Token/0/served", &served));
    only_as_it_is(&cluster, 1, "TOKEN", &[("/Token/1", json!(MAX))]);

    let good = |place, wrong: &[u64]| -> Vec<(&'static str, Value)> {
        wrong.iter().map(|&wrong| (place, json!(wrong))).collect()
    };
    let mut cluster = with_queue(BantaEfficient::cluster(4, Late::Strict));
    cluster.time_out(0);
    let without_good_site = json!([1, 2]);
    let wrong = at("/Token/queue", &[&whole[..], from_ref(&without_good_site)].concat());
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
    let with_good_site = [json!([2, 3]), json!([1, 3, 4])];
    cannot_be_read(&cluster, 1, "TOKEN", "/Token/queue", &twice);
    only_as_it_is(&cluster, 1, "TOKEN", &at("/Token/queue", &with_good_site));
    only_as_it_is(&cluster, 1, "TOKEN", &good("/Token/free", &[0, 2, u64::from(u32::MAX)]));
    only_as_it_is(&cluster, 1, "TOKEN", &good("/Token/good/site", &[0, 4]));
    only_as_it_is(&cluster, 1, "TOKEN", &good("/Token/good/epoch", &[MAX]));

    let mut cluster = with_queue(BantaK::cluster(4, 2, Late::Hardened));
    cluster.time_out(0);
    only_as_it_is(&cluster, 1, "TOKEN", &at("/Token/queue", &[without_good_site]));
    only_as_it_is(&cluster, 1, "TOKEN", &good("/Token/free", &[3, u64::from(u32::MAX)]));
}

#[test]
fn a_site_waits_for_the_token_once() {
    let mut cluster = all_ask(BantaK::cluster(4, 1, Late::Strict));
    (1..4).for_each(|_| cluster.deliver(0, is("REQUEST")));
    cluster.release(0);
    cluster.time_out(0);
    cluster.deliver(1, is("TOKEN"));
    let (from, _, token) = cluster.in_flight.back().expect("the token").clone();
    cluster.deliver(2, is("TOKEN"));
    assert_eq!(cluster.users[2], Phase::Waiting, "until site 1 leaves");
    refuses(&cluster, 2, from.0, to_tree(&token));
}

#[test]
fn news_of_a_good_site_go_to_others() {
    fn checked<P: Shipped>(cluster: Result<Vec<P>, ClusterError>) {
        let mut cluster = ByHand::new(cluster.expect("enough nodes"));
        cluster.request(1);
        cluster.deliver(0, is("REQUEST"));
        // Site 0 says that site 1 is good to ask: not to site 1 itself, nor of site 0.
        let sites = [0, 2, 4, u64::from(u32::MAX)].map(|wrong| ("/Update/site", json!(wrong)));
        let epochs = [0, MAX].map(|wrong| ("/Update/epoch", json!(wrong)));
        only_as_it_is(&cluster, 2, "UPDATE", &[&sites[..], &epochs].concat());
    }
    checked(BantaSimple::cluster(4));
    checked(BantaFair::cluster(4));
    checked(BantaEfficient::cluster(4, Late::Strict));
    checked(BantaEfficient::cluster(4, Late::Hardened));
    checked(BantaK::cluster(4, 2, Late::Strict));

    // Whoever has the token knows the latest.
    fn with_the_token<P: Shipped>(cluster: Result<Vec<P>, ClusterError>) {
        let cluster = ByHand::new(cluster.expect("enough nodes"));
        refuses(&cluster, 0, 1, json!({"Update": {"site": 2, "epoch": 1}}));
    }
    with_the_token(BantaSimple::cluster(3));
    with_the_token(BantaFair::cluster(3));
    with_the_token(BantaEfficient::cluster(3, Late::Hardened));
}

#[test]
fn a_site_asks_once_and_its_request_does_not_come_back() {
    fn checked<P: Shipped>(cluster: Result<Vec<P>, ClusterError>) {
        let mut cluster = all_ask(cluster);
        cluster.deliver(0, is("REQUEST"));
        refuses(&cluster, 0, 2, json!({"Request": 1}));
        refuses(&cluster, 0, 1, json!({"Request": 4}));
        refuses(&cluster, 0, 1, json!({"Request": 0}));
        // Nor when it is on the token's queue.
        cluster.deliver(0, is("REQUEST"));
        cluster.release(0);
        if let Some((0, timer)) = cluster.timers.first().map(|&(node, timer)| (node.0, timer)) {
            refuses(&cluster, 0, 2, json!({"Request": 1}));
            cluster.give(0, Input::Timeout(timer)).unwrap();
        }
        cluster.deliver(1, is("TOKEN"));
        refuses(&cluster, 1, 0, json!({"Request": 2}));
    }
    checked(BantaSimple::cluster(4));
    checked(BantaEfficient::cluster(4, Late::Strict));
    checked(BantaEfficient::cluster(4, Late::Hardened));

    // Site 1 would pass the request on to site 0, which made it.
    let cluster = ByHand::new(BantaSimple::cluster(3).unwrap());
    refuses(&cluster, 1, 2, json!({"Request": 0}));
    let cluster = ByHand::new(BantaEfficient::cluster(3, Late::Hardened).unwrap());
    refuses(&cluster, 1, 2, json!({"Request": 0}));
}
