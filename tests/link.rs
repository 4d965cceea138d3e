//! The link gives the channels that it promises, and every algorithm runs over it.
//!
//! The gate runs a part of the random runs. The long run:
//!
//! ```sh
//! LINK_RUNS=1000000 cargo test --release --all-features --test link -- --nocapture random
//! ```
//!
//! A run that fails prints its seed; `LINK_SEED` repeats the runs from there. Likewise the gate
//! explores what takes seconds; the rest, which takes minutes for each algorithm, by
//!
//! ```sh
//! LINK_NODES=3 LINK_STATES=600000 \
//!     cargo test --release --all-features --test link -- --nocapture whatever_is_lost_once
//! ```
#![cfg(feature = "check")]

mod common;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use common::by_hand::ByHand;
use common::chance::{fresh_seed, from_environment};
use common::exhaust::exhaust;
use exclusion::message::banta_efficient::Late;
use exclusion::message::check::{Action, Check, Checker, Model, Outcome, Progress, State, Users};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, RandomFaults, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, Channels, Claims, Exclusive, Input, Lamport, Link, Machine, Message, NodeId,
    Notice, Outbox, Phase, Protocol, Refused,
};

/// An item of a sender's life.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Item {
    life: u8,
    number: u8,
}

impl Message for Item {
    fn kind(&self) -> &'static str {
        "ITEM"
    }
}

/// Sends the next item to the other node whenever its user asks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Courier<const ORDERED: bool> {
    me: NodeId,
    phase: Phase,
    life: u8,
    sent: u8,
    /// What has come in this life.
    received: Vec<Item>,
    /// What has come in all lives: nobody else keeps that through a restart.
    ever: Vec<Item>,
    /// Whether it was told of a restart of the other.
    notices: u8,
}

fn couriers<const ORDERED: bool>() -> Vec<Link<Courier<ORDERED>>> {
    let courier = |me| Courier {
        me,
        phase: Phase::Idle,
        life: 0,
        sent: 0,
        received: Vec::new(),
        ever: Vec::new(),
        notices: 0,
    };
    Link::over(NodeId::all(2).map(courier).collect())
}

impl<const ORDERED: bool> Machine for Courier<ORDERED> {
    type Message = Item;

    const CHANNELS: Channels = if ORDERED { Channels::Fifo } else { Channels::AnyOrder };

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

    fn request(&mut self, out: &mut Outbox<Item>) -> Result<(), Refused> {
        self.phase.request()?;
        out.send(NodeId(1 - self.me.0), Item { life: self.life, number: self.sent });
        self.sent += 1;
        self.phase.enter(out);
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Item>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, _: NodeId, item: Item, _: &mut Outbox<Item>) -> Result<(), Refused> {
        self.received.push(item);
        self.ever.push(item);
        Ok(())
    }

    fn notice(&mut self, notice: Notice, _: &mut Outbox<Item>) -> Result<(), Refused> {
        match notice {
            Notice::Recovered => {
                self.life += 1;
                (self.phase, self.sent) = (Phase::Idle, 0);
                self.received.clear();
            }
            Notice::Down(_) => self.notices += 1,
            _ => {}
        }
        Ok(())
    }
}

impl<const ORDERED: bool> Protocol for Courier<ORDERED> {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }

    // Both may send at the same time.
    fn entries_at_a_time(&self) -> usize {
        2
    }
}

impl<const ORDERED: bool> Claims for Courier<ORDERED> {}

/// Looks at every state. Says how many there are.
fn every_state<P: Protocol>(check: &Check<P>, mut look: impl FnMut(&State<P>)) -> usize {
    let mut seen = HashSet::new();
    let mut to_visit = check.init_states();
    while let Some(state) = to_visit.pop() {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        if !seen.insert(hasher.finish()) {
            continue;
        }
        look(&state);
        let mut actions = Vec::new();
        check.actions(&state, &mut actions);
        to_visit.extend(actions.into_iter().filter_map(|it| check.next_state(&state, it)));
    }
    seen.len()
}

fn is_each_once(items: &[Item]) -> bool {
    items.iter().collect::<HashSet<_>>().len() == items.len()
}

fn gives_its_channels<const ORDERED: bool>() {
    let check = Check::new(couriers::<ORDERED>()).requests_of(NodeId(0), 2).losses(2).duplicates(1);
    let mut overtaken = false;
    let states = every_state(&check, |state| {
        assert_eq!(state.violation, None);
        for node in &state.nodes {
            let received = &node.inner().received;
            assert!(is_each_once(received), "{state:#?}");
            let in_order = received.is_sorted_by_key(|item| item.number);
            assert!(in_order || !ORDERED, "{state:#?}");
            overtaken |= !in_order;
        }
    });
    assert!(states > 1000, "{states}");
    assert_ne!(overtaken, ORDERED, "where order is not needed, it is not waited for");
    let all_arrive = Progress::<Check<Link<Courier<ORDERED>>>> {
        name: "all arrive",
        goal: |_, state| {
            let [one, other] = [0, 1].map(|it| state.nodes[it].inner());
            let all = usize::from(one.sent) == other.received.len();
            all && usize::from(other.sent) == one.received.len()
        },
        counts: |action| !action.is_fault() && !matches!(action, Action::Request(_)),
    };
    assert!(all_arrive.find_stuck(&check, 1_000_000).expect("few states").is_none());
}

#[test]
fn each_message_arrives_exactly_once_whatever_is_lost_doubled_or_reordered() {
    gives_its_channels::<false>();
}

#[test]
fn where_order_is_needed_messages_arrive_as_they_were_sent() {
    gives_its_channels::<true>();
}

#[test]
fn nothing_of_a_former_life_arrives_and_a_restart_is_noticed_by_the_link_alone() {
    let check = Check::new(couriers::<true>()).requests(1).requests_of(NodeId(0), 2);
    let check = check.crashes(1).recoveries(1).duplicates(1).losses(1).untold();
    let mut noticed = false;
    every_state(&check, |state| {
        assert_eq!(state.violation, None);
        for node in &state.nodes {
            let Courier { received, ever, notices, .. } = node.inner();
            assert!(is_each_once(ever), "{state:#?}");
            let in_order = received.is_sorted_by_key(|item| (item.life, item.number));
            assert!(in_order, "{state:#?}");
            assert!(*notices <= 1, "{state:#?}");
            noticed |= *notices == 1;
        }
    });
    assert!(noticed);
}

#[test]
fn what_is_lost_is_sent_again_and_what_was_kept_for_a_former_life_is_not() {
    let mut world = ByHand::new(couriers::<true>());
    world.request(0);
    let lost = world.in_flight.pop_front().expect("it was sent");
    world.time_out(0);
    assert_eq!(world.in_flight.front(), Some(&lost));
    world.deliver_all();
    assert_eq!(world.nodes[0].kept(), 0, "its receipt has come");

    world.release(0);
    world.request(0);
    assert_eq!(world.nodes[0].kept(), 1);
    world.give(1, Input::Notice(Notice::Recovered)).expect("it restarts");
    world.deliver_all();
    assert_eq!(world.nodes[0].kept(), 0, "it is dropped");
    assert_eq!(world.nodes[0].inner().notices, 1, "and its machine is told");
    assert_eq!(world.nodes[1].inner().received, [], "nothing of before has come");
}

#[test]
fn lamport_with_one_lost_message_is_refuted_and_holds_over_the_link() {
    let plain = Check::new(Lamport::cluster(2).expect("two are enough")).losses(1).serving_all();
    let progress = plain.progress().expect("it is claimed");
    assert!(progress.find_stuck(&plain, 1_000_000).expect("few states").is_some());
    let over = Check::new(Link::over(Lamport::cluster(2).expect("two are enough")));
    let over = over.losses(1).serving_all();
    over.clone().checker().spawn_bfs().join().assert_properties();
    let progress = over.progress().expect("it is claimed");
    assert!(progress.find_stuck(&over, 1_000_000).expect("few states").is_none());
}

/// What may befall the messages, and who asks, from the widest scope to the narrowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Scope {
    name: &'static str,
    asking: u32,
    losses: u8,
    duplicates: u8,
    users: Users,
}

const fn scope(name: &'static str, asking: u32, losses: u8, duplicates: u8) -> Scope {
    Scope { name, asking, losses, duplicates, users: Users::AnyTime }
}

const SCOPES: [Scope; 6] = [
    scope("all ask, 1 lost, 1 doubled", u32::MAX, 1, 1),
    scope("two ask, 1 lost, 1 doubled", 2, 1, 1),
    scope("two ask, 1 lost", 2, 1, 0),
    scope("one asks, 1 lost, 1 doubled", 1, 1, 1),
    Scope { users: Users::Unhurried, ..scope("two ask and act in silence, 1 lost", 2, 1, 0) },
    scope("one asks, 1 lost", 1, 1, 0),
];

/// Sent again, a message comes later than the bound on which the strict algorithm relies.
#[test]
fn a_bound_on_delays_is_none_over_a_link_that_loses() {
    let check = |cluster| {
        let check = Check::new(Link::over(cluster)).requests_of(NodeId(0), 0).losses(1);
        check.only("UPDATE").aftermath(1_000_000).expect("few states").outcome
    };
    let strict = BantaEfficient::cluster(3, Late::Strict).expect("three are enough");
    assert_eq!(check(strict), Outcome::OneUntilAsked);
    let hardened = BantaEfficient::cluster(3, Late::Hardened).expect("three are enough");
    assert_eq!(check(hardened), Outcome::Harmless);
}

/// Over the link, with small budgets, as far as that ends within so many states.
struct Exhaust(usize);

impl Visitor for Exhaust {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let nodes = cluster.len() as u32;
        let check = Check::new(Link::over(cluster));
        for Scope { name, asking, losses, duplicates, users } in SCOPES {
            if asking < u32::MAX && asking >= nodes {
                continue;
            }
            // One that relies on a bound on delays has none where messages are lost.
            let is_strict = algorithm.within_tmax && algorithm.arrangement.is_none();
            let losses = if is_strict { 0 } else { losses };
            if losses + duplicates == 0 {
                continue;
            }
            let mut check = check.clone().losses(losses).duplicates(duplicates).users(users);
            // Of those that ask, the last node has neither token nor desk.
            for node in (0..nodes).rev().skip(asking as usize) {
                check = check.requests_of(NodeId(node), 0);
            }
            let explored = exhaust(algorithm.name, &check, self.0);
            println!("{algorithm}, {nodes} nodes: {explored}: {name}");
            if explored.states.is_some() {
                return;
            }
        }
        // Its nodes never rest, so the link's numbers grow for ever.
        assert!(!P::RESTS, "{algorithm}: too many states in every scope");
    }
}

#[test]
fn over_the_link_every_algorithm_holds_whatever_is_lost_once_and_doubled_once() {
    let nodes = from_environment("LINK_NODES").unwrap_or(2);
    let most = from_environment("LINK_STATES").unwrap_or(12_000);
    let wanted: String = from_environment("LINK_ALGORITHMS").unwrap_or_else(|| "all".to_owned());
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|it| it == name);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_wanted(algorithm.name)) {
        if let Err(error) = algorithm.build(Size::of(nodes), Exhaust(most)) {
            println!("{error}");
        }
    }
}

/// A run by this seed.
struct Run(u64);

impl Visitor for Run {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let Self(seed) = self;
        let entries = 2 * cluster.len() as u64;
        // An algorithm that relies on a bound on delays has none where messages are lost: sent
        // again, they come later than that.
        let (loss, delay) = match algorithm.within_tmax {
            true => (0.0, Delay::Uniform(0.0, 1.0)),
            false => ((seed % 4) as f64 / 10.0, Delay::Exponential(1.0)),
        };
        let duplication = (seed / 4 % 4) as f64 / 10.0;
        let faults = RandomFaults { within: 20.0, loss, duplication, ..RandomFaults::default() };
        let run = Simulation::new(Link::over(cluster))
            .seed(seed)
            .delay(delay)
            .workload(Workload::Poisson { rate: 0.5, entries })
            .faults_at_random(faults)
            .most_events(1_000_000)
            .run();
        let report = run.unwrap_or_else(|error| panic!("{algorithm}, LINK_SEED={seed}: {error}"));
        assert_eq!(report.entries, entries, "{algorithm}, LINK_SEED={seed}");
    }
}

#[test]
fn every_algorithm_serves_all_over_the_link_in_random_runs() {
    let runs: u64 = from_environment("LINK_RUNS").unwrap_or(1000);
    let seed: u64 = from_environment("LINK_SEED").unwrap_or_else(|| fresh_seed() >> 8);
    println!("LINK_SEED={seed} LINK_RUNS={runs}");
    for (run, algorithm) in (0..runs).zip(ALGORITHMS.iter().cycle()) {
        let nodes = if run % 3 == 0 { algorithm.nodes_to_show } else { 3 };
        let size = [nodes, algorithm.nodes_to_show].map(Size::of);
        let built = algorithm.build(size[0], Run(seed + run));
        built.or_else(|_| algorithm.build(size[1], Run(seed + run))).expect("it is shown so");
    }
}
