//! The locks of a node in the views that it is given: explored, whatever the order of events.

use std::collections::{BTreeMap, VecDeque};

use exclusion::message::registry::Algorithm;
use exclusion::message::{Admission, Blueprint, Fence, FromRegistry, Machine, NodeId, NodeSet};
use exclusion::message::{RicartAgrawala, SuzukiKasami};
use exclusion_net::majority::site::{Letter, Output, Site, User};
use exclusion_net::majority::{Command, Roster};
use stateright::{Checker, Model, Property};

type Inner<B> = <<B as Blueprint>::Lock as Machine>::Message;
type Channels<B> = BTreeMap<(NodeId, NodeId), (u64, VecDeque<Letter<Inner<B>>>)>;

/// Sites with one resource, views that come when they like, and leases.
struct Views<B> {
    blueprint: B,
    nodes: usize,
    /// How many changes of the view, and how many requests of each user, there are.
    changes: usize,
    requests: &'static [u8],
    /// Whether a node is excluded only when its lease has ended.
    clocks: bool,
    /// Whether a lock opens only when all members are free of earlier users.
    flaw: Flaw,
}

/// What is left out, to see what it is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// A node says that it is free although its user is inside.
    FreeTooEarly,
    /// Letters of an earlier view are taken in a later one.
    OldLetters,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World<B: Blueprint> {
    roster: Roster,
    sites: Vec<Site<B>>,
    channels: Channels<B>,
    /// Whether each node has a lease.
    leased: Vec<bool>,
    /// Whom the lock has let in, without a lease.
    held_back: Vec<Option<Admission>>,
    /// Who has a guard that it trusts.
    trusts: Vec<bool>,
    requests: Vec<u8>,
    changes: usize,
    /// The fences that were given, in this order.
    given: Vec<Fence>,
    /// Who was told that somebody may have died inside.
    told: Vec<NodeSet>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Request(usize),
    Release(usize),
    Deliver(NodeId, NodeId),
    /// The lease of a node ends, or a beat of a member is agreed on.
    Lapse(usize),
    Renew(usize),
    /// A node that has no lease is excluded, or one that is out is admitted.
    Exclude(usize),
    Admit(usize),
    /// A site learns which view holds.
    Learn(usize),
}

impl<B: Blueprint> Views<B> {
    fn follow(&self, world: &mut World<B>, me: usize, done: Vec<Output<Inner<B>>>) {
        for output in done {
            match output {
                Output::Send(to, letter) => {
                    let channel = world.channels.get_mut(&(NodeId::at(me), to));
                    channel.expect("there is one to every node").1.push_back(letter);
                }
                Output::Enter(_, admission) => {
                    world.held_back[me] = Some(admission);
                    self.let_in(world, me);
                }
                Output::Lost(_) => {
                    world.trusts[me] = false;
                    if world.held_back[me].take().is_some() {
                        let done = world.sites[me].release(0).expect("its lock has let it in");
                        self.follow(world, me, done);
                    }
                }
                Output::SetTimer { .. } => unreachable!("these algorithms have no timers"),
            }
        }
    }

    /// Lets a user in, if its node has a lease. Else it is held back.
    fn let_in(&self, world: &mut World<B>, me: usize) {
        if world.leased[me]
            && let Some(admission) = world.held_back[me].take()
        {
            world.sites[me].told(0);
            world.trusts[me] = true;
            world.given.push(admission.fence);
            world.told.push(admission.perhaps_inside);
        }
    }

    fn learn(&self, world: &mut World<B>, me: usize) {
        let roster = world.roster.clone();
        let is_inside = matches!(world.sites[me].user(0), User::Inside(_));
        if self.flaw == Flaw::FreeTooEarly && is_inside && world.trusts[me] {
            // As if its user were outside.
            let done = world.sites[me].release(0).expect("it is inside");
            self.follow(world, me, done);
        }
        let done = world.sites[me].install(&roster);
        let epoch = world.sites[me].epoch();
        let mut old = Vec::new();
        for (&pair, channel) in &mut world.channels {
            if pair.0 == NodeId::at(me) {
                old.push((pair, std::mem::replace(channel, (epoch, VecDeque::new())).1));
            }
        }
        self.follow(world, me, done);
        if self.flaw == Flaw::OldLetters {
            // They are numbered within their view. So where views are not told apart, an old letter
            // is taken for a new one of its number.
            for (pair, letters) in old {
                world.channels.get_mut(&pair).expect("it is there").1.extend(letters);
            }
        }
    }
}

impl<B: Blueprint> Model for Views<B> {
    type State = World<B>;
    type Action = Action;

    fn init_states(&self) -> Vec<World<B>> {
        let nodes = self.nodes;
        let mut roster = Roster::new(u32::try_from(nodes).expect("few"));
        for node in NodeId::all(nodes) {
            roster.apply(&Command::Admit { node, incarnation: 1, beat: 0 }).expect("it is new");
        }
        let site = |me| Site::new(self.blueprint.clone(), me, 1, nodes, 1);
        let mut world = World {
            roster,
            sites: NodeId::all(nodes).map(site).collect(),
            channels: NodeId::pairs(nodes)
                .flat_map(|(one, other)| [(one, other), (other, one)])
                .map(|pair| (pair, (0, VecDeque::new())))
                .collect(),
            leased: vec![true; nodes],
            held_back: vec![None; nodes],
            trusts: vec![false; nodes],
            requests: vec![0; nodes],
            changes: 0,
            given: Vec::new(),
            told: Vec::new(),
        };
        for me in 0..nodes {
            self.learn(&mut world, me);
        }
        // All have heard that all are free. Later views begin in any order.
        for (from, to) in world.channels.keys().copied().collect::<Vec<_>>() {
            world = self.next_state(&world, Action::Deliver(from, to)).expect("it is free");
        }
        vec![world]
    }

    fn actions(&self, _: &World<B>, actions: &mut Vec<Action>) {
        for me in 0..self.nodes {
            actions.extend([Action::Request(me), Action::Release(me), Action::Learn(me)]);
            actions.extend([Action::Lapse(me), Action::Renew(me)]);
            actions.extend([Action::Exclude(me), Action::Admit(me)]);
        }
        for (one, other) in NodeId::pairs(self.nodes) {
            actions.extend([Action::Deliver(one, other), Action::Deliver(other, one)]);
        }
    }

    fn next_state(&self, last: &World<B>, action: Action) -> Option<World<B>> {
        let mut next = last.clone();
        match action {
            Action::Request(me) => {
                if last.requests[me] >= self.requests[me] || last.sites[me].user(0) != User::Outside
                {
                    return None;
                }
                next.requests[me] += 1;
                let done = next.sites[me].request(0).expect("it is outside");
                self.follow(&mut next, me, done);
            }
            Action::Release(me) => {
                // A user that is not trusted any more leaves too.
                let is_inside = matches!(last.sites[me].user(0), User::Inside(_));
                if !is_inside || last.held_back[me].is_some() {
                    return None;
                }
                next.trusts[me] = false;
                let done = next.sites[me].release(0).expect("it is inside");
                self.follow(&mut next, me, done);
            }
            Action::Deliver(from, to) => {
                let site = &last.sites[to.index()];
                let (epoch, letters) = next.channels.get_mut(&(from, to))?;
                let is_member = site.members().contains(&from);
                if *epoch > site.epoch() || letters.is_empty() {
                    return None;
                }
                let letter = letters.pop_front()?;
                // What is of an earlier view is not taken.
                if *epoch == site.epoch() && is_member {
                    match next.sites[to.index()].receive(from, letter) {
                        Ok(done) => self.follow(&mut next, to.index(), done),
                        Err(_) if self.flaw == Flaw::OldLetters => {}
                        Err(refused) => panic!("a letter was refused: {refused}"),
                    }
                }
            }
            Action::Lapse(me) => {
                if !last.leased[me] {
                    return None;
                }
                (next.leased[me], next.trusts[me]) = (false, false);
            }
            Action::Renew(me) => {
                // It was a member all the time, as far as it knows, and it is one.
                let seat = last.roster.seat(NodeId::at(me))?;
                let knows = last.sites[me].members().contains(&NodeId::at(me));
                if last.leased[me] || !knows || seat.since > last.sites[me].epoch() {
                    return None;
                }
                next.leased[me] = true;
                self.let_in(&mut next, me);
            }
            Action::Exclude(me) => {
                let node = NodeId::at(me);
                let seat = last.roster.seat(node)?;
                if (self.clocks && last.leased[me]) || last.changes >= self.changes {
                    return None;
                }
                next.changes += 1;
                let (incarnation, beat) = (seat.incarnation, seat.beat);
                next.roster.apply(&Command::Exclude { node, incarnation, beat }).ok()?;
            }
            Action::Admit(me) => {
                let node = NodeId::at(me);
                if last.roster.seat(node).is_some() || last.changes >= self.changes {
                    return None;
                }
                next.changes += 1;
                let beat = next.roster.epoch();
                next.roster.apply(&Command::Admit { node, incarnation: 1, beat }).ok()?;
            }
            Action::Learn(me) => {
                if last.sites[me].epoch() == last.roster.epoch() {
                    return None;
                }
                self.learn(&mut next, me);
                if last.roster.seat(NodeId::at(me)).is_none() {
                    (next.leased[me], next.trusts[me]) = (false, false);
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always("fences grow", |_: &Self, world: &World<B>| {
                world.given.is_sorted_by(|one, other| one < other)
            }),
            Property::always("fences differ", |_, world: &World<B>| {
                let mut given = world.given.clone();
                given.sort();
                given.is_sorted_by(|one, other| one < other)
            }),
            Property::always("one guard is trusted", |_, world: &World<B>| {
                world.trusts.iter().filter(|&&trusts| trusts).count() <= 1
            }),
            Property::sometimes("entries in two views", |_, world: &World<B>| {
                let epochs = world.given.iter().map(|fence| fence.epoch);
                epochs.clone().min() < epochs.max()
            }),
            Property::sometimes("somebody is told of a loss", |_, world: &World<B>| {
                world.told.iter().any(|lost| !lost.is_empty())
            }),
        ];
        if !self.clocks {
            // Two may trust their guards, and the later fence may be given first.
            properties.retain(|it| !["one guard is trusted", "fences grow"].contains(&it.name));
            properties
                .push(Property::sometimes("two guards are trusted", |_, world: &World<B>| {
                    world.trusts.iter().filter(|&&trusts| trusts).count() > 1
                }));
        }
        properties
    }
}

fn ricart_agrawala(nodes: usize) -> FromRegistry<RicartAgrawala> {
    let algorithm = Algorithm::named("ricart_agrawala").expect("there is one");
    FromRegistry::of(algorithm, &RicartAgrawala::cluster(nodes).expect("enough"))
}

fn suzuki_kasami(nodes: usize) -> FromRegistry<SuzukiKasami> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    FromRegistry::of(algorithm, &SuzukiKasami::cluster(nodes).expect("enough"))
}

fn views<B>(blueprint: B, nodes: usize, changes: usize, requests: &'static [u8]) -> Views<B> {
    Views { blueprint, nodes, changes, requests, clocks: true, flaw: Flaw::None }
}

fn holds<B>(model: Views<B>)
where
    B: Blueprint + Send + Sync + 'static,
    B::Lock: Send + Sync,
    Inner<B>: Send + Sync,
{
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn two_sites_through_two_changes_of_the_view() {
    holds(views(ricart_agrawala(2), 2, 2, &[2, 2]));
    holds(views(suzuki_kasami(2), 2, 2, &[2, 2]));
}

#[test]
fn where_clocks_err_two_guards_are_trusted_and_their_fences_differ() {
    let model = Views { clocks: false, ..views(suzuki_kasami(2), 2, 2, &[1, 1]) };
    holds(model);
}

#[test]
fn a_site_that_is_free_too_early_lets_two_in() {
    let model = Views { flaw: Flaw::FreeTooEarly, ..views(suzuki_kasami(2), 2, 2, &[2, 2]) };
    let checker = model.checker().threads(2).spawn_bfs().join();
    checker.assert_any_discovery("one guard is trusted");
}

#[test]
fn letters_of_an_earlier_view_let_two_in() {
    let model = Views { flaw: Flaw::OldLetters, ..views(suzuki_kasami(2), 2, 2, &[2, 2]) };
    let checker = model.checker().threads(2).spawn_bfs().join();
    assert!(
        checker.discovery("one guard is trusted").is_some()
            || checker.discovery("fences differ").is_some(),
        "old letters must do harm"
    );
}

#[test]
fn three_sites_through_a_change_of_the_view() {
    holds(views(suzuki_kasami(3), 3, 1, &[1, 1, 0]));
}
