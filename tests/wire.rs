//! What travels comes back as it was. Whatever else arrives is refused with nothing changed, or is
//! a step.
//!
//! Each run of the attack prints its seed. `WIRE_SEED` repeats it, `WIRE_INPUTS` asks for more
//! inputs, and `WIRE_ALGORITHMS` for some algorithms only, separated by commas. The long run:
//!
//! ```sh
//! WIRE_INPUTS=10000000 cargo test --release --all-features --test wire -- --nocapture
//! ```
//!
//! A release leaves out what notices an overflow. To have it in, set
//! `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true` and `CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true`.
#![cfg(feature = "serde")]

mod common;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use common::by_hand::ByHand;
use common::chance::{Chance, fresh_seed, from_environment};
use common::tamper::{
    from_bytes, from_tree, noise, tamper_with_bytes, tamper_with_tree, to_bytes, to_tree,
};
use exclusion::message::registry::{
    ALGORITHMS, Algorithm, ELECTIONS, ElectionAlgorithm, ElectionVisitor, Electorate, Ground,
    Portable, Shipped, ShippedElection, Size, Visitor,
};
use exclusion::message::sim::{Contest, Delay, Fault, Notices, Simulation, Workload};
use exclusion::message::{
    Channels, Detector, Graph, Input, Link, NodeId, Notice, Outbox, Phase, Recovering, Timer,
    Trace, Unattended, Violation, replay, step_lock,
};

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

/// From whom, to whom, what.
type Envelope<M> = (NodeId, NodeId, M);

/// A cluster under attack.
struct Attack<'a, P: Shipped> {
    algorithm: &'static str,
    /// Whether its nodes call elections. Otherwise its users ask.
    elects: bool,
    /// Whether its nodes are told of failures.
    told: bool,
    /// A run among honest nodes, until something forged is accepted.
    world: ByHand<P>,
    /// Each node as it was before its last input.
    before: Vec<P>,
    /// Messages that have been sent, most of them in earlier runs.
    seen: &'a [Envelope<P::Message>],
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

    /// A message as it may come from the wire, from whom and to whom: often one that is in flight,
    /// so that it meets a node that waits for it.
    fn forge(&mut self) -> Option<Envelope<P::Message>> {
        let nodes = self.before.len();
        let chance = &mut *self.chance;
        let in_flight = self.world.in_flight.get(chance.below(2 * self.world.in_flight.len()));
        let real = in_flight.or_else(|| chance.pick(self.seen));
        let other = chance.pick(self.seen).or(real);
        let (Some((from, to, real)), Some((_, _, other))) = (real, other) else {
            let message = from_bytes(&noise(chance))?;
            return Some((self.anybody(), self.some_node(), message));
        };
        let times = 1 + chance.below(3);
        let message = match chance.below(16) {
            0 => real.clone(),
            1 => from_bytes(&noise(chance))?,
            2..6 => {
                let (mut tree, other) = (to_tree(real), to_tree(other));
                (0..times).for_each(|_| tamper_with_tree(&mut tree, &other, nodes, chance));
                from_tree(tree)?
            }
            _ => {
                let (mut bytes, other) = (to_bytes(real), to_bytes(other));
                (0..times).for_each(|_| tamper_with_bytes(&mut bytes, &other, nodes, chance));
                from_bytes(&bytes)?
            }
        };
        Some((*from, *to, message))
    }

    /// Gives a node a forged message, and counts it.
    fn give_forged(&mut self, (from, to, message): Envelope<P::Message>, then: Then) {
        self.tally.given += 1;
        let accepted = self.give(to, Input::Receive { from, message }, then);
        self.tally.accepted += u64::from(accepted);
    }

    fn some_node(&mut self) -> NodeId {
        NodeId::at(self.chance.below(self.before.len()))
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
            let Some((from, to, message)) = self.forge() else {
                self.tally.unreadable += 1;
                continue;
            };
            self.give_forged((from, to, message.clone()), Then::TakeBack);
            if nodes <= 7 && self.chance.once_in(4) {
                for to in NodeId::all(nodes) {
                    for from in NodeId::all(nodes + 1).chain([NodeId(u32::MAX)]) {
                        self.give_forged((from, to, message.clone()), Then::TakeBack);
                    }
                }
            } else {
                for _ in 0..4 {
                    let (from, to) = (self.anybody(), self.some_node());
                    self.give_forged((from, to, message.clone()), Then::TakeBack);
                }
            }
        }
    }

    /// What is forged here and accepted stays, and the run goes on with it.
    fn poison(&mut self, inputs: usize) {
        for _ in 0..inputs {
            if self.chance.once_in(3) {
                let Some((node, input)) = self.next_input(false) else { continue };
                let leaves = matches!(input, Input::Release | Input::Withdraw);
                let accepted = self.give(node, input, Then::GoOn);
                assert!(accepted || !leaves, "{}: {node} cannot leave", self.algorithm);
            } else if self.told && self.chance.once_in(16) {
                let notice = match self.chance.below(5) {
                    0 | 1 => Notice::Down(self.anybody()),
                    2 | 3 => Notice::Up(self.anybody()),
                    _ => Notice::Recovered,
                };
                let node = self.some_node();
                // A user dies with its node: here nobody would know.
                if notice != Notice::Recovered || self.world.users[node.index()].is_idle() {
                    self.give(node, Input::Notice(notice), Then::GoOn);
                }
            } else if self.chance.once_in(16) {
                let (node, timer) = (self.some_node(), Timer(self.chance.below(3) as u32));
                self.give(node, Input::Timeout(timer), Then::GoOn);
            } else if let Some((from, to, message)) = self.forge() {
                let (from, to) = match self.chance.below(3) {
                    0 => (self.anybody(), self.some_node()),
                    _ => (from, to),
                };
                self.give_forged((from, to, message), Then::GoOn);
            } else {
                self.tally.unreadable += 1;
            }
        }
    }

    /// Something that may happen next: a message arrives, a timer runs out, a user leaves, asks, or
    /// takes its request back if it can. Where messages must be in time, a timer runs out when none
    /// is in flight.
    fn next_input(&mut self, in_time: bool) -> Option<(NodeId, Input<P::Message>)> {
        let ByHand { users, in_flight, timers, .. } = &mut self.world;
        let chance = &mut *self.chance;
        let mut user_who = |phase| {
            let who: Vec<_> = (0..users.len()).filter(|&user| users[user] == phase).collect();
            chance.pick(&who).map(|&user| NodeId::at(user))
        };
        let (inside, idle) = (user_who(Phase::Inside), user_who(Phase::Idle));
        let waiting = user_who(Phase::Waiting).filter(|_| P::WITHDRAWS);
        if let Some(node) = waiting
            && chance.once_in(16)
        {
            return Some((node, Input::Withdraw));
        }
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
                        let elects = self.elects;
                        return Some((node, if elects { Input::Elect } else { Input::Request }));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The first message in flight from the same node to the same node.
fn first_of_its_channel<M>(in_flight: &VecDeque<Envelope<M>>, any: usize) -> usize {
    let ends = |&(from, to, _): &Envelope<M>| (from, to);
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
        // Where nothing is claimed of late messages, they come in time.
        let in_time = algorithm.within_tmax && P::most_messages(&cluster, false).is_none();
        self.besiege(algorithm.name, in_time, Kind::Lock, &cluster)
    }
}

/// The same with a layer below, or all of them.
struct LayersUnderSiege<'a>(Siege<'a>);

impl Visitor for LayersUnderSiege<'_> {
    type Output = Tally;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Tally {
        let Siege { inputs, chance } = self.0;
        let mut tally = Tally::default();
        let recovering =
            || Recovering::over(algorithm, cluster.clone()).expect("it is a cluster").into_iter();
        let layers = Kind::Layer;
        let name = algorithm.name;
        let links = Link::over(cluster.clone());
        tally.add(Siege { inputs, chance: &mut *chance }.besiege(name, false, layers, &links));
        let recover: Vec<_> = recovering().collect();
        tally.add(Siege { inputs, chance: &mut *chance }.besiege(name, false, layers, &recover));
        let gated: Vec<_> = recovering().map(Recovering::gated).collect();
        tally.add(Siege { inputs, chance: &mut *chance }.besiege(name, false, layers, &gated));
        let stack: Vec<_> = recovering().map(|it| Detector::unreliable(Link::new(it))).collect();
        tally.add(Siege { inputs, chance: &mut *chance }.besiege(name, false, layers, &stack));
        tally
    }
}

/// What is under siege.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lock,
    /// A lock that is told of failures.
    Layer,
    Election,
}

impl ElectionVisitor for Siege<'_> {
    type Output = Tally;

    fn visit<E: ShippedElection>(
        self,
        algorithm: &'static ElectionAlgorithm,
        cluster: Vec<E>,
    ) -> Tally {
        let cluster = Unattended::all(cluster);
        self.besiege(algorithm.name, algorithm.within_tmax, Kind::Election, &cluster)
    }
}

impl Siege<'_> {
    fn besiege<P: Shipped>(
        self,
        algorithm: &'static str,
        in_time: bool,
        kind: Kind,
        cluster: &[P],
    ) -> Tally {
        let mut seen: Vec<Envelope<P::Message>> = Vec::new();
        let mut tally = Tally::default();
        while tally.given < self.inputs {
            let mut attack = Attack {
                algorithm,
                elects: kind == Kind::Election,
                told: kind != Kind::Lock,
                before: cluster.to_vec(),
                world: ByHand::new(cluster.to_vec()),
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
                for envelope in sent {
                    if seen.len() < SEEN {
                        seen.push(envelope.clone());
                    } else {
                        seen[attack.chance.below(SEEN)].clone_from(envelope);
                    }
                }
            }
            let mut attack = Attack { seen: &seen, ..attack };
            attack.probe(8);
            attack.poison(120);
            tally.add(attack.tally);
        }
        tally
    }
}

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
        None => true,
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

#[test]
fn whatever_arrives_at_an_election_is_refused_with_nothing_changed_or_is_a_step() {
    let seed = from_environment("WIRE_SEED").unwrap_or_else(fresh_seed);
    let inputs: u64 = from_environment("WIRE_INPUTS").unwrap_or(INPUTS);
    println!("WIRE_SEED={seed} WIRE_INPUTS={inputs}");
    let sizes = [2, 3, 4, 5, 7, 13, 66];
    let share = inputs / (ELECTIONS.len() * sizes.len()) as u64;
    for algorithm in ELECTIONS {
        let mut tally = Tally::default();
        for nodes in sizes {
            let mut chance = Chance(seed ^ nodes as u64);
            let of = match algorithm.ground {
                Ground::AnyGraph => {
                    let edges = (2 * nodes).min(nodes * (nodes - 1) / 2);
                    Electorate::on(Graph::random(nodes, edges, seed).expect("so many fit"))
                }
                _ => Electorate::of(nodes),
            };
            let siege = Siege { inputs: share, chance: &mut chance };
            tally.add(algorithm.build(&of, siege).expect("any size fits"));
        }
        let Tally { unreadable, given, accepted } = tally;
        println!("{algorithm}: {given} inputs, {accepted} accepted; {unreadable} unreadable");
        assert!(accepted > 0 && accepted < given, "{algorithm} is not put to the test");
    }
}

/// Runs of a few nodes, some with faults: each state, message and trace of an election survives.
struct ElectionSurvives;

impl ElectionVisitor for ElectionSurvives {
    type Output = ();

    fn visit<E: ShippedElection>(self, algorithm: &'static ElectionAlgorithm, cluster: Vec<E>) {
        for seed in 0..5 {
            let contest = Contest::new(cluster.clone())
                .seed(seed)
                .delay(Delay::Uniform(0.0, 1.0))
                .initiators([NodeId(0)])
                .notices(Notices::ToAll)
                .traced();
            let contest = match algorithm.stands_crashes {
                true => contest.crashes_at_random(2, 6.0, Some(2.0)),
                false => contest,
            };
            let report = contest.run().unwrap_or_else(|error| panic!("{algorithm}: {error}"));
            let trace = report.trace.expect("it was asked for");
            survives(&trace);
            let read: Trace = from_bytes(&to_bytes(&trace)).expect("it survives");
            let nodes = replay(cluster.clone(), &read);
            nodes.unwrap_or_else(|error| panic!("{algorithm}: {error}")).iter().for_each(survives);
        }
        let mut world = ByHand::new(Unattended::all(cluster));
        world.give(0, Input::Elect).expect("it can be called");
        while let Some((from, to, message)) = world.in_flight.pop_front() {
            survives(&message);
            world.give(to.0, Input::Receive { from, message }).expect("it was sent");
            world.nodes.iter().for_each(survives);
        }
    }
}

#[test]
fn elections_are_the_same_after_their_way_through_bytes() {
    for algorithm in ELECTIONS {
        for nodes in [2, 3, 5] {
            algorithm.build(&Electorate::of(nodes), ElectionSurvives).expect("any size fits");
        }
    }
}

#[test]
fn whatever_arrives_at_a_layer_is_refused_with_nothing_changed_or_is_a_step() {
    let seed = from_environment("WIRE_SEED").unwrap_or_else(fresh_seed);
    let inputs = from_environment("WIRE_INPUTS").unwrap_or(INPUTS) / 20;
    println!("WIRE_SEED={seed}");
    let mut chance = Chance(seed);
    let mut tally = Tally::default();
    for name in ["lamport", "maekawa", "suzuki_kasami_fifo", "banta_efficient", "raymond_k"] {
        let algorithm = Algorithm::named(name).expect("there is one");
        for nodes in [2, 4] {
            let siege = LayersUnderSiege(Siege { inputs, chance: &mut chance });
            let built = algorithm.build(Size::of(nodes), siege);
            tally.add(built.expect("there are such clusters"));
        }
    }
    assert!(tally.accepted > 0 && tally.accepted < tally.given);
}

#[test]
fn layers_are_the_same_after_their_way_through_bytes() {
    struct Layers;

    impl Visitor for Layers {
        type Output = ();

        fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
            let nodes = Recovering::over(algorithm, cluster).expect("it is a cluster");
            let nodes: Vec<_> = Link::over(nodes).into_iter().map(Detector::unreliable).collect();
            let simulation = Simulation::new(nodes).fault_at(1.0, Fault::Crash(NodeId(1)));
            let simulation = simulation.fault_at(12.0, Fault::Recover(NodeId(1)));
            let run = simulation.workload(Workload::AllAtOnce { rounds: 2 }).run_checking(|view| {
                view.nodes.iter().for_each(survives);
                view.in_flight().for_each(|(_, _, message)| survives(message));
                Ok(())
            });
            assert!(run.is_ok(), "{algorithm}: {run:?}");
        }
    }

    for name in ["lamport", "maekawa", "suzuki_kasami_fifo", "banta_efficient", "raymond_k"] {
        let algorithm = Algorithm::named(name).expect("there is one");
        algorithm.build(Size::of(algorithm.nodes_to_show), Layers).expect("it is shown so");
    }
}
