//! What travels comes back as it was; and whatever else arrives is refused with nothing changed, or is a step.
//!
//! Each run of the attack prints its seed. `WIRE_SEED` repeats it, `WIRE_INPUTS` asks for more inputs, and
//! `WIRE_ALGORITHMS` for some algorithms only, separated by commas. The long run:
//!
//! ```sh
//! WIRE_INPUTS=10000000 cargo test --release --all-features --test wire -- --nocapture
//! ```
#![cfg(feature = "serde")]

mod common;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use common::by_hand::ByHand;
use common::chance::{Chance, fresh_seed, from_environment};
use common::tamper::{
    from_bytes, from_tree, tamper_with_bytes, tamper_with_tree, to_bytes, to_tree,
};
use exclusion::message::banta_efficient::Late;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Portable, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, ClusterError, Input, Lamport, Message, NaimiTrehel, NaimiTrehelQueue, NodeId, Outbox,
    Phase, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
    SinghalHeuristic, Timer, TokenRing, Trace, Tree, Violation, replay, step_lock,
};
use serde_json::{Value, json};

/// A value is the same after it was written and read, in either way.
fn survives<T: Portable + PartialEq + Debug>(value: &T) {
    let bytes = to_bytes(value);
    assert_eq!(from_bytes(&bytes).as_ref(), Some(value), "as {bytes:?}");
    let text = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read, *value, "as {text}");
}

/// Runs of a few nodes: each state, each message and each trace survives.
struct Survives;

impl Visitor for Survives {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let n = cluster.len();
        for (seed, workload) in (0..).zip([
            Workload::Saturated { wanting: n, entries: 3 * n as u64 },
            Workload::Poisson { rate: 0.3, entries: 2 * n as u64 },
        ]) {
            let simulation = Simulation::new(cluster.clone()).seed(seed).traced();
            let simulation = simulation.delay(Delay::Exponential(1.0)).workload(workload);
            let report = simulation.run_checking(|view| {
                view.nodes.iter().for_each(survives);
                view.in_flight().for_each(|(_, _, message)| survives(message));
                Ok(())
            });
            let report = report.unwrap_or_else(|error| panic!("{algorithm}: {error}"));
            let trace = report.trace.expect("it was asked for");
            survives(&trace);
            let read: Trace = from_bytes(&to_bytes(&trace)).expect("it survives");
            replay(cluster.clone(), &read).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        }
    }
}

#[test]
fn messages_states_and_traces_are_the_same_after_their_way_through_bytes() {
    for algorithm in ALGORITHMS {
        let built = [2, 3, 5, 6, 7].map(|nodes| algorithm.build(Size::of(nodes), Survives));
        assert!(built.iter().any(Result::is_ok), "{algorithm} has none of these sizes");
    }
}

/// A trace that was tampered with is read, and replayed, as far as it goes.
struct TamperedTrace<'a>(&'a mut Chance);

impl Visitor for TamperedTrace<'_> {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let workload = Workload::AllAtOnce { rounds: 1 };
        let report = Simulation::new(cluster.clone()).workload(workload).traced().run();
        let trace = report.unwrap_or_else(|error| panic!("{algorithm}: {error}")).trace;
        let tree = to_tree(&trace.expect("it was asked for"));
        for _ in 0..20 {
            let mut tampered = tree.clone();
            tamper_with_tree(&mut tampered, &tree, cluster.len(), self.0);
            if let Some(trace) = from_tree::<Trace>(tampered) {
                // It may well be as good as before: what counts is that there is an answer.
                let _ = replay(cluster.clone(), &trace);
                let _ = trace.to_string().parse::<Trace>();
            }
        }
    }
}

#[test]
fn a_trace_that_was_tampered_with_replays_or_is_refused() {
    let seed = from_environment("WIRE_SEED").unwrap_or_else(fresh_seed);
    println!("WIRE_SEED={seed}");
    let mut chance = Chance(seed);
    for algorithm in ALGORITHMS {
        let size = Size::of(algorithm.nodes_to_show);
        algorithm.build(size, TamperedTrace(&mut chance)).expect("it can be shown");
    }
}

/// What was given to nodes, and what came of it.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Bytes that are no message.
    unreadable: u64,
    given: u64,
    /// Of those given.
    accepted: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.unreadable += other.unreadable;
        self.given += other.given;
        self.accepted += other.accepted;
    }
}

/// A cluster under attack.
struct Attack<'a, P: Shipped> {
    algorithm: &'static Algorithm,
    /// A run among honest nodes, until something forged is accepted.
    world: ByHand<P>,
    /// Each node as it was before its last input.
    before: Vec<P>,
    /// Messages that have been sent, most of them in earlier runs; and their bytes.
    seen: &'a [(P::Message, Vec<u8>)],
    out: Outbox<P::Message>,
    chance: &'a mut Chance,
    tally: Tally,
}

/// Whether a forgery that a node has accepted stays with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    TakeBack,
}

impl<P: Shipped> Attack<'_, P> {
    /// Gives a node any input: it is refused with nothing changed, or is a step. Says which.
    fn give(&mut self, node: NodeId, input: Input<P::Message>, then: Then) -> bool {
        let place = node.index();
        let (machine, user) = (&mut self.world.nodes[place], &mut self.world.users[place]);
        let (user_before, out) = (*user, &mut self.out);
        let stepped =
            catch_unwind(AssertUnwindSafe(|| step_lock(machine, user, input.clone(), out)));
        let complaint = match stepped {
            Err(_) => Some("panics".to_owned()),
            Ok(Err(Violation::Unexpected(_))) => {
                let unchanged = *machine == self.before[place] && *user == user_before;
                (!unchanged || !out.is_empty()).then(|| "refuses it, but has changed".to_owned())
            }
            Ok(Err(other)) => Some(other.to_string()),
            Ok(Ok(())) => {
                let from_a_peer = match input {
                    Input::Receive { from, .. } => from != node && from.index() < self.before.len(),
                    _ => true,
                };
                match then {
                    Then::GoOn => {
                        self.before[place].clone_from(&self.world.nodes[place]);
                        self.world.take(node, &mut self.out);
                    }
                    Then::TakeBack => {
                        self.world.nodes[place].clone_from(&self.before[place]);
                        self.world.users[place] = user_before;
                        self.out.clear();
                    }
                }
                if from_a_peer {
                    return true;
                }
                Some("accepts what no peer has sent".to_owned())
            }
        };
        if let Some(complaint) = complaint {
            let state = &self.before[place];
            panic!("{}: {node} {complaint}: {input:?} to {state:?}", self.algorithm);
        }
        false
    }

    /// A message as it may come from the wire.
    fn forge(&mut self) -> Option<P::Message> {
        let nodes = self.before.len();
        let chance = &mut *self.chance;
        let Some((real, bytes)) = chance.pick(self.seen) else {
            let bytes: Vec<u8> = (0..chance.below(12)).map(|_| chance.next() as u8).collect();
            return from_bytes(&bytes);
        };
        let (other, other_bytes) = chance.pick(self.seen).expect("there is one");
        let times = 1 + chance.below(3);
        match chance.below(16) {
            0 => Some(real.clone()),
            1 => {
                let bytes: Vec<u8> = (0..chance.below(12)).map(|_| chance.next() as u8).collect();
                from_bytes(&bytes)
            }
            2..6 => {
                let (mut tree, other) = (to_tree(real), to_tree(other));
                (0..times).for_each(|_| tamper_with_tree(&mut tree, &other, nodes, chance));
                from_tree(tree)
            }
            _ => {
                let mut bytes = bytes.clone();
                (0..times).for_each(|_| tamper_with_bytes(&mut bytes, other_bytes, nodes, chance));
                from_bytes(&bytes)
            }
        }
    }

    /// Gives a node a forged message, and counts it.
    fn give_forged(&mut self, from: NodeId, to: NodeId, message: P::Message, then: Then) {
        self.tally.given += 1;
        let accepted = self.give(to, Input::Receive { from, message }, then);
        self.tally.accepted += u64::from(accepted);
    }

    /// One of the nodes, or one that is not.
    fn anybody(&mut self) -> NodeId {
        match self.chance.below(self.before.len() + 2) {
            stranger if stranger == self.before.len() + 1 => NodeId(self.chance.next() as u32),
            node => NodeId::at(node),
        }
    }

    /// What is forged here meets every state of this moment, and leaves no trace.
    fn probe(&mut self, forgeries: usize) {
        let nodes = self.before.len();
        for _ in 0..forgeries {
            let Some(message) = self.forge() else {
                self.tally.unreadable += 1;
                continue;
            };
            if nodes <= 7 && self.chance.once_in(4) {
                for to in NodeId::all(nodes) {
                    for from in NodeId::all(nodes + 1).chain([NodeId(u32::MAX)]) {
                        self.give_forged(from, to, message.clone(), Then::TakeBack);
                    }
                }
            } else {
                for _ in 0..8 {
                    let (from, to) = (self.anybody(), NodeId::at(self.chance.below(nodes)));
                    self.give_forged(from, to, message.clone(), Then::TakeBack);
                }
            }
        }
    }

    /// What is forged here and accepted stays, and the run goes on with it.
    fn poison(&mut self, inputs: usize) {
        let nodes = self.before.len();
        for _ in 0..inputs {
            if self.chance.once_in(3) {
                let Some((node, input)) = self.next_input(false) else { continue };
                let leaves = input == Input::Release;
                let accepted = self.give(node, input, Then::GoOn);
                assert!(accepted || !leaves, "{}: {node} cannot leave", self.algorithm);
            } else if self.chance.once_in(16) {
                let (node, timer) = (NodeId::at(self.chance.below(nodes)), self.chance.below(3));
                self.give(node, Input::Timeout(Timer(timer as u32)), Then::GoOn);
            } else if let Some(message) = self.forge() {
                let (from, to) = (self.anybody(), NodeId::at(self.chance.below(nodes)));
                self.give_forged(from, to, message, Then::GoOn);
            } else {
                self.tally.unreadable += 1;
            }
        }
    }

    /// Something that may happen next: a message arrives, a timer runs out, a user leaves or asks. Where messages
    /// must be in time, a timer runs out when none is in flight.
    fn next_input(&mut self, in_time: bool) -> Option<(NodeId, Input<P::Message>)> {
        let ByHand { users, in_flight, timers, .. } = &mut self.world;
        let chance = &mut *self.chance;
        let mut user_who = |phase| {
            let who: Vec<_> = (0..users.len()).filter(|&user| users[user] == phase).collect();
            chance.pick(&who).map(|&user| NodeId::at(user))
        };
        let (inside, idle) = (user_who(Phase::Inside), user_who(Phase::Idle));
        for way in (0..4).cycle().skip(chance.below(4)).take(4) {
            match way {
                0 if !in_flight.is_empty() => {
                    let any = chance.below(in_flight.len());
                    let first = match P::CHANNELS {
                        Channels::AnyOrder => any,
                        Channels::Fifo => first_of_its_channel(in_flight, any),
                    };
                    let (from, to, message) = in_flight.remove(first).expect("it is there");
                    return Some((to, Input::Receive { from, message }));
                }
                1 if !timers.is_empty() && (in_flight.is_empty() || !in_time) => {
                    let (node, timer) = timers.swap_remove(chance.below(timers.len()));
                    return Some((node, Input::Timeout(timer)));
                }
                2 => {
                    if let Some(node) = inside {
                        return Some((node, Input::Release));
                    }
                }
                3 => {
                    if let Some(node) = idle {
                        return Some((node, Input::Request));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The first message in flight from the same node to the same node.
fn first_of_its_channel<M>(in_flight: &VecDeque<(NodeId, NodeId, M)>, any: usize) -> usize {
    let ends = |&(from, to, _): &(NodeId, NodeId, M)| (from, to);
    let channel = ends(&in_flight[any]);
    in_flight.iter().position(|it| ends(it) == channel).expect("it is there")
}

/// Honest runs, each stopped somewhere; then forged messages.
struct Siege<'a> {
    inputs: u64,
    chance: &'a mut Chance,
}

/// How many real messages are kept to be forged.
const SEEN: usize = 200;

impl Visitor for Siege<'_> {
    type Output = Tally;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Tally {
        let mut seen: Vec<(P::Message, Vec<u8>)> = Vec::new();
        let mut tally = Tally::default();
        let in_time = algorithm.within_tmax && algorithm.arrangement != Some("hardened");
        while tally.given < self.inputs {
            let mut attack = Attack {
                algorithm,
                before: cluster.clone(),
                world: ByHand::new(cluster.clone()),
                seen: &[],
                out: Outbox::new(),
                chance: &mut *self.chance,
                tally: Tally::default(),
            };
            for node in NodeId::all(cluster.len()) {
                attack.give(node, Input::Start, Then::GoOn);
            }
            for _ in 0..attack.chance.below(100) {
                let sent_before = attack.world.in_flight.len();
                let Some((node, input)) = attack.next_input(in_time) else { break };
                let said = format!("{input:?}");
                let legal = attack.give(node, input, Then::GoOn);
                assert!(legal, "{algorithm}: {node} refuses what is legal: {said}");
                let sent = attack.world.in_flight.iter().skip(sent_before.saturating_sub(1));
                for (_, _, message) in sent {
                    let known = (message.clone(), to_bytes(message));
                    if seen.len() < SEEN {
                        seen.push(known);
                    } else {
                        seen[attack.chance.below(SEEN)] = known;
                    }
                }
            }
            let mut attack = Attack { seen: &seen, ..attack };
            attack.probe(16);
            attack.poison(60);
            tally.add(attack.tally);
        }
        tally
    }
}

/// Algorithms that trust what they have decoded.
const TRUSTING: [&str; 2] = ["Maekawa", "SuzukiKasami"];

/// So many inputs unless `WIRE_INPUTS` says otherwise: a few seconds, without optimisation.
const INPUTS: u64 = 100_000;

#[test]
fn whatever_arrives_is_refused_with_nothing_changed_or_is_a_step() {
    let seed = from_environment("WIRE_SEED").unwrap_or_else(fresh_seed);
    let inputs: u64 = from_environment("WIRE_INPUTS").unwrap_or(INPUTS);
    let chosen: Option<String> = from_environment("WIRE_ALGORITHMS");
    println!("WIRE_SEED={seed} WIRE_INPUTS={inputs}");

    let is_chosen = |algorithm: &&Algorithm| match &chosen {
        Some(names) => names.split(',').any(|name| name == algorithm.name),
        None => !TRUSTING.contains(&algorithm.implemented_by),
    };
    let algorithms: Vec<_> = ALGORITHMS.iter().filter(is_chosen).collect();
    assert!(!algorithms.is_empty(), "no algorithm is called {chosen:?}");
    // Small clusters are soon in every state; a large one goes past a word of a set.
    let sizes = |algorithm: &Algorithm| {
        let small = [2, 3, 4, 5, 6, 7].into_iter();
        let sizes = small.chain([13, 66]).map(Size::of);
        let fits = |size: &Size| algorithm.check(*size).is_ok();
        let mut sizes: Vec<_> = sizes.filter(fits).collect();
        if algorithm.several_entries {
            sizes.extend([Size::of(5).with_entries(4), Size::of(6).with_entries(3)]);
        }
        sizes
    };
    let mut total = Tally::default();
    let started = Instant::now();
    for (position, algorithm) in (1..).zip(&algorithms) {
        let due = inputs * position / algorithms.len() as u64;
        let mut sizes = sizes(algorithm);
        let mut tally = Tally::default();
        // Each size gets its share of what is due; what cannot be built leaves it to the others.
        while let Some(size) = sizes.pop() {
            let left = due.saturating_sub(total.given + tally.given);
            let share = left / (sizes.len() as u64 + 1);
            // A run of its own for each, so that it can be repeated alone.
            let mut chance = Chance(seed ^ size.nodes as u64);
            let siege = Siege { inputs: share, chance: &mut chance };
            if let Ok(besieged) = algorithm.build(size, siege) {
                tally.add(besieged);
            }
        }
        total.add(tally);
        let Tally { unreadable, given, accepted } = tally;
        println!("{algorithm}: {given} inputs, {accepted} accepted; {unreadable} unreadable");
        assert!(accepted > 0 && accepted < given, "{algorithm} is not put to the test");
    }
    let Tally { unreadable, given, accepted } = total;
    let rate = given as f64 / started.elapsed().as_secs_f64();
    println!(
        "{given} inputs to {} algorithms, {accepted} accepted, {unreadable} unreadable; \
         {rate:.0} a second, WIRE_SEED={seed}",
        algorithms.len()
    );
}

/// The message of this kind that is in flight to the node is accepted as it is. With something else in one place of
/// it, it is refused.
fn only_as_it_is<P: Shipped>(cluster: &ByHand<P>, to: u32, kind: &str, wrong: &[(&str, Value)]) {
    let is_it = |(_, at, message): &&(NodeId, NodeId, P::Message)| {
        *at == NodeId(to) && message.kind() == kind
    };
    let (from, _, real) = cluster.in_flight.iter().find(is_it).expect("it is in flight");
    for (place, value) in wrong {
        let mut tree = to_tree(real);
        *tree.pointer_mut(place).unwrap_or_else(|| panic!("no {place} in {real:?}")) =
            value.clone();
        refuses(cluster, to, from.0, tree);
    }
    let message = real.clone();
    cluster.clone().give(to, Input::Receive { from: *from, message }).expect("it can occur");
}

/// The node refuses the message, with nothing changed.
fn refuses<P: Shipped>(cluster: &ByHand<P>, to: u32, from: u32, message: Value) {
    let message: P::Message = from_tree(message.clone())
        .unwrap_or_else(|| panic!("{message} is no message, and so is refused by whoever reads"));
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
    // It asked at 1, and no confirmation is so early; nor so late that there were no time left to leave at.
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
fn who_has_confirmed_a_request_has_no_older_one() {
    let mut cluster = ByHand::new(RicartAgrawala::cluster(3).unwrap());
    cluster.request(2);
    cluster.deliver_all();
    cluster.release(2);
    cluster.request(2);
    cluster.deliver(1, is("REQUEST"));
    refuses(&cluster, 2, 0, json!({"Request": 0}));
    let mut confirmed = cluster.clone();
    confirmed.deliver(2, is("CONFIRM"));
    refuses(&confirmed, 2, 1, json!({"Request": 1}));
    // Without the confirmation it may have: its request is slow.
    let request = from_tree(json!({"Request": 1})).expect("a message");
    cluster.give(2, Input::Receive { from: NodeId(1), message: request }).unwrap();
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
    // A state that was brought to the limit: as many requests as can be counted are held back, and owed.
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

    let behind = [json!([4]), json!([2, u32::MAX]), json!([2, 2]), json!([2, 1]), json!([2, 0])];
    let cluster = with_queue(NaimiTrehelQueue::cluster(4));
    only_as_it_is(&cluster, 1, "TOKEN", &at("/Token", &behind));
    // A queue that a forged request got into names nobody twice, when the token is sent.
    let mut cluster = with_queue(NaimiTrehelQueue::cluster(4));
    let request = from_tree(json!({"Request": 3})).expect("a message");
    cluster.give(1, Input::Receive { from: NodeId(0), message: request }).unwrap();
    cluster.deliver(1, is("TOKEN"));
    cluster.release(1);
    only_as_it_is(&cluster, 2, "TOKEN", &[]);

    let whole = [json!([]), json!([2, 1]), json!([1, 4]), json!([1, 2, 2]), json!([1, 1])];
    let with_sender = json!([1, 2, 0]);
    let cluster = with_queue(BantaSimple::cluster(4));
    let wrong = at("/Token/0", &[&whole[..], &[with_sender.clone()]].concat());
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
    only_as_it_is(&cluster, 1, "TOKEN", &[("/Token/1", json!(MAX))]);

    let cluster = with_queue(BantaFair::cluster(4));
    let wrong = at("/Token/0/queue", &[&whole[..], &[with_sender]].concat());
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
    let wrong = at("/Token/queue", &[&whole[..], &[without_good_site.clone()]].concat());
    only_as_it_is(&cluster, 1, "TOKEN", &wrong);
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
