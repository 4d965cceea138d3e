//! A cluster of the strict mode as a model: nodes, disks, sessions that end, processes that die.
//!
//! | happens | then |
//! |---|---|
//! | a session breaks | each side notices in its own time; until then it may hear what was said before, and what it says is lost |
//! | a process dies | its disk stays; what it ran inside may go on without it (an orphan) |
//! | a process is started blank | its former life runs on elsewhere, cut off, perhaps with its user inside (a ghost) |

use std::collections::VecDeque;

use exclusion::message::check::{Model, Property};
use exclusion::message::{Blueprint, Fence, Machine, NodeId, Timer};
use exclusion_net::strict::{
    Digest, Input, Message, Output, Precautions, Record, Stage, Strict, User,
};

pub type MessageOf<B> = Message<<<B as Blueprint>::Lock as Machine>::Message>;

/// A session between two nodes, the first of which has the smaller number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Wire<M> {
    /// Which sides believe that it is up.
    open: [bool; 2],
    broken: bool,
    /// What is on its way to each side.
    towards: [VecDeque<M>; 2],
}

impl<M> Wire<M> {
    fn none() -> Self {
        Self { open: [false; 2], broken: false, towards: [VecDeque::new(), VecDeque::new()] }
    }
}

/// What a user does, and how often it still wants in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Seat<B: Blueprint> {
    /// None while the process is down.
    node: Option<Strict<B>>,
    disk: Record,
    /// How many lives there were. Each has a mark of its own.
    lives: u64,
    requests_left: u8,
    /// What a process that died ran inside.
    orphan: bool,
    /// The user of a former life that nobody here knows of.
    ghost: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct World<B: Blueprint> {
    seats: Vec<Seat<B>>,
    wires: Vec<Wire<MessageOf<B>>>,
    timers: Vec<(NodeId, u64, Timer)>,
    cuts: u8,
    crashes: u8,
    blanks: u8,
    /// How many sessions there were.
    connects: u8,
    /// Whether a later entry had no greater fence.
    fence_fell: bool,
    /// The greatest fence so far.
    fence: Option<Fence>,
    entries: u32,
    wrong: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    Connect(NodeId, NodeId),
    Cut(NodeId, NodeId),
    Notice { at: NodeId, peer: NodeId },
    Deliver { from: NodeId, to: NodeId },
    Timeout(NodeId, u64, Timer),
    Request(NodeId),
    Withdraw(NodeId),
    Leave(NodeId),
    Crash { node: NodeId, orphan: bool },
    Restart(NodeId),
    RestartBlank(NodeId),
    OrphanLeaves(NodeId),
    GhostLeaves(NodeId),
}

impl Act {
    /// Whether it may be relied on to come about.
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Cut(..) | Self::Crash { .. } | Self::RestartBlank(_))
    }
}

/// A cluster to be explored.
#[derive(Clone, Debug)]
pub struct Cluster<B: Blueprint> {
    pub blueprints: Vec<B>,
    pub precautions: Precautions,
    pub requests: u8,
    pub withdraws: bool,
    pub cuts: u8,
    pub crashes: u8,
    pub orphans: bool,
    /// Whether a node that comes back does not look for what its last life has left inside.
    pub forgets_orphans: bool,
    pub blanks: u8,
    /// A refused peer tries again for ever: look no further than so many sessions.
    pub most_connects: u8,
}

impl<B: Blueprint> Cluster<B> {
    /// So many nodes, each of which wants in once, and nothing goes wrong.
    pub fn of(blueprint: &B, nodes: usize) -> Self {
        Self {
            blueprints: vec![blueprint.clone(); nodes],
            precautions: Precautions::ALL,
            requests: 1,
            withdraws: false,
            cuts: 0,
            crashes: 0,
            orphans: false,
            forgets_orphans: false,
            blanks: 0,
            most_connects: u8::MAX,
        }
    }

    fn nodes(&self) -> usize {
        self.blueprints.len()
    }

    fn wire(&self, one: NodeId, other: NodeId) -> (usize, usize, usize) {
        let (low, high) = (one.index().min(other.index()), one.index().max(other.index()));
        let place = high * (high - 1) / 2 + low;
        (place, usize::from(one > other), usize::from(other > one))
    }

    /// A process of a node, at the start of a life.
    fn start(&self, at: NodeId, kept: Record, mark: u64, orphan: bool) -> Strict<B> {
        let blueprint = self.blueprints[at.index()].clone();
        // Nodes with another blueprint have another configuration.
        let first = self.blueprints.iter().position(|it| *it == blueprint).unwrap_or(0);
        let digest = Digest([u8::try_from(first).unwrap_or(u8::MAX); 32]);
        let node = Strict::new(blueprint, at, digest, kept, mark, 1).with(self.precautions);
        if orphan { node.with_orphans() } else { node }
    }

    fn give(&self, world: &mut World<B>, at: NodeId, input: Input<<B::Lock as Machine>::Message>) {
        let seat = &mut world.seats[at.index()];
        let Some(node) = &mut seat.node else { return };
        let outputs = match node.step(input) {
            Ok(outputs) => outputs,
            Err(refused) => {
                world.wrong = Some(format!("{at}: {}", refused.0));
                return;
            }
        };
        for output in outputs {
            match output {
                Output::Keep(record) => world.seats[at.index()].disk = record,
                Output::Send(to, message) => {
                    let (place, _, side) = self.wire(at, to);
                    let wire = &mut world.wires[place];
                    if !wire.broken {
                        wire.towards[side].push_back(message);
                    }
                }
                Output::End(peer, _) => {
                    let (place, side, _) = self.wire(at, peer);
                    world.wires[place].broken = true;
                    self.shut(world, place, side);
                }
                Output::SetTimer { epoch, timer, .. } => world.timers.push((at, epoch, timer)),
                Output::Enter(_, fence) => {
                    let several = self.blueprints[0].entries_at_a_time() > 1;
                    let grows = world.fence.is_none_or(|last| match several {
                        true => fence.epoch >= last.epoch,
                        false => fence > last,
                    });
                    world.fence_fell |= !grows;
                    world.fence = world.fence.max(Some(fence));
                    world.entries += 1;
                }
                Output::Begun(_) | Output::Over(..) => {}
            }
        }
        world.timers.sort_unstable();
        world.timers.dedup();
    }

    /// One side of a session is done with it.
    fn shut(&self, world: &mut World<B>, place: usize, side: usize) {
        let wire = &mut world.wires[place];
        wire.open[side] = false;
        wire.towards[side].clear();
        if wire.open == [false; 2] {
            *wire = Wire::none();
        }
    }

    /// A process is gone: its sessions break.
    fn stop(&self, world: &mut World<B>, at: NodeId) {
        world.seats[at.index()].node = None;
        world.timers.retain(|timer| timer.0 != at);
        for peer in at.others(self.nodes()) {
            let (place, side, _) = self.wire(at, peer);
            if world.wires[place].open[side] {
                world.wires[place].broken = true;
                self.shut(world, place, side);
            }
        }
    }

    fn begin(&self, world: &mut World<B>, at: NodeId) {
        let seat = &mut world.seats[at.index()];
        seat.lives += 1;
        let looks = seat.orphan && !self.forgets_orphans;
        let node = self.start(at, seat.disk.clone(), seat.lives, looks);
        seat.disk = node.record().clone();
        seat.node = Some(node);
    }
}

impl<B: Blueprint> World<B> {
    fn is_inside(seat: &Seat<B>) -> bool {
        seat.node.as_ref().is_some_and(|node| matches!(node.user(0), User::Inside(_)))
    }

    /// How many are inside, whoever knows of them.
    pub fn inside(&self) -> usize {
        let count = |seat: &Seat<B>| {
            usize::from(Self::is_inside(seat)) + usize::from(seat.orphan) + usize::from(seat.ghost)
        };
        self.seats.iter().map(count).sum()
    }

    /// What must not happen, if it has.
    pub fn wrong(&self, cluster: &Cluster<B>) -> Option<String> {
        if self.inside() > cluster.blueprints[0].entries_at_a_time() {
            return Some(format!("{} are inside", self.inside()));
        }
        self.wrong.clone().or_else(|| self.fence_fell.then(|| "a fence fell".to_owned()))
    }

    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Whether everybody is up, and nobody waits or will.
    pub fn is_done(&self) -> bool {
        let rests = |seat: &Seat<B>| {
            let user = seat.node.as_ref().map(|node| node.user(0));
            matches!(user, Some(User::Outside | User::GaveUp)) && seat.requests_left == 0
        };
        self.seats.iter().all(rests)
    }

    fn runs(&self) -> usize {
        let runs = |seat: &&Seat<B>| {
            seat.node.as_ref().is_some_and(|node| matches!(node.stage(), Stage::Running(_)))
        };
        self.seats.iter().filter(runs).count()
    }

    /// Lets everybody ask so many times more.
    pub fn ask_again(&mut self, requests: u8) {
        self.seats.iter_mut().for_each(|seat| seat.requests_left = requests);
    }

    /// Nothing goes wrong from now on.
    pub fn heal(&mut self) {
        (self.cuts, self.crashes, self.blanks, self.connects) = (0, 0, 0, 0);
    }
}

impl<B: Blueprint> Model for Cluster<B> {
    type State = World<B>;
    type Action = Act;

    fn init_states(&self) -> Vec<World<B>> {
        let nodes = self.nodes();
        let seat = |_| Seat {
            node: None,
            disk: Record::blank(nodes),
            lives: 0,
            requests_left: self.requests,
            orphan: false,
            ghost: false,
        };
        let mut world = World {
            seats: NodeId::all(nodes).map(seat).collect(),
            wires: vec![Wire::none(); nodes * (nodes - 1) / 2],
            timers: Vec::new(),
            cuts: self.cuts,
            crashes: self.crashes,
            blanks: self.blanks,
            connects: 0,
            fence_fell: false,
            fence: None,
            entries: 0,
            wrong: None,
        };
        NodeId::all(nodes).for_each(|at| self.begin(&mut world, at));
        vec![world]
    }

    fn actions(&self, world: &World<B>, acts: &mut Vec<Act>) {
        if world.wrong.is_some() {
            return;
        }
        for (one, other) in NodeId::pairs(self.nodes()) {
            let wire = &world.wires[self.wire(one, other).0];
            let both_up = [one, other].iter().all(|it| world.seats[it.index()].node.is_some());
            if wire.open == [false; 2] && both_up && world.connects < self.most_connects {
                acts.push(Act::Connect(one, other));
            }
            if wire.open == [true; 2] && !wire.broken && world.cuts > 0 {
                acts.push(Act::Cut(one, other));
            }
            for (side, at, peer) in [(0, one, other), (1, other, one)] {
                if wire.broken && wire.open[side] {
                    acts.push(Act::Notice { at, peer });
                }
                if wire.open[side] && !wire.towards[side].is_empty() {
                    acts.push(Act::Deliver { from: peer, to: at });
                }
            }
        }
        acts.extend(world.timers.iter().map(|&(node, epoch, it)| Act::Timeout(node, epoch, it)));
        for (at, seat) in NodeId::all(self.nodes()).zip(&world.seats) {
            if seat.orphan {
                acts.push(Act::OrphanLeaves(at));
            }
            if seat.ghost {
                acts.push(Act::GhostLeaves(at));
            }
            let Some(node) = &seat.node else {
                acts.push(Act::Restart(at));
                continue;
            };
            match node.user(0) {
                User::Outside | User::GaveUp if seat.requests_left > 0 => {
                    acts.push(Act::Request(at));
                }
                User::Waiting if self.withdraws => acts.push(Act::Withdraw(at)),
                User::Inside(_) => acts.push(Act::Leave(at)),
                _ => {}
            }
            if world.crashes > 0 {
                acts.push(Act::Crash { node: at, orphan: false });
                if self.orphans && World::is_inside(seat) {
                    acts.push(Act::Crash { node: at, orphan: true });
                }
            }
            if world.blanks > 0 {
                acts.push(Act::RestartBlank(at));
            }
        }
    }

    fn next_state(&self, world: &World<B>, act: Act) -> Option<World<B>> {
        let mut world = world.clone();
        match act {
            Act::Connect(one, other) => {
                let (place, ..) = self.wire(one, other);
                world.wires[place].open = [true; 2];
                world.connects = world.connects.saturating_add(1);
                self.give(&mut world, one, Input::Up(other));
                // It may have ended already.
                if world.wires[place].open[1] {
                    self.give(&mut world, other, Input::Up(one));
                }
            }
            Act::Cut(one, other) => {
                world.cuts -= 1;
                world.wires[self.wire(one, other).0].broken = true;
            }
            Act::Notice { at, peer } => {
                let (place, side, _) = self.wire(at, peer);
                self.shut(&mut world, place, side);
                self.give(&mut world, at, Input::Ended(peer));
            }
            Act::Deliver { from, to } => {
                let (place, side, _) = self.wire(to, from);
                let message = world.wires[place].towards[side].pop_front()?;
                self.give(&mut world, to, Input::Receive(from, message));
            }
            Act::Timeout(node, epoch, timer) => {
                world.timers.retain(|it| *it != (node, epoch, timer));
                self.give(&mut world, node, Input::Timeout { epoch, resource: 0, timer });
            }
            Act::Request(at) => {
                world.seats[at.index()].requests_left -= 1;
                self.give(&mut world, at, Input::Request(0));
            }
            Act::Withdraw(at) => self.give(&mut world, at, Input::Withdraw(0)),
            Act::Leave(at) => self.give(&mut world, at, Input::Release(0)),
            Act::Crash { node, orphan } => {
                world.crashes -= 1;
                world.seats[node.index()].orphan |= orphan;
                self.stop(&mut world, node);
            }
            Act::Restart(at) => self.begin(&mut world, at),
            Act::RestartBlank(at) => {
                world.blanks -= 1;
                let inside = World::is_inside(&world.seats[at.index()]);
                world.seats[at.index()].ghost |= inside;
                world.seats[at.index()].disk = Record::blank(self.nodes());
                self.stop(&mut world, at);
                self.begin(&mut world, at);
            }
            Act::OrphanLeaves(at) => {
                world.seats[at.index()].orphan = false;
                self.give(&mut world, at, Input::OrphansGone);
            }
            Act::GhostLeaves(at) => world.seats[at.index()].ghost = false,
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("mutual exclusion", |cluster: &Self, world: &World<B>| {
                world.inside() <= cluster.blueprints[0].entries_at_a_time()
            }),
            Property::always("fences grow", |_, world: &World<B>| !world.fence_fell),
            Property::always("expected inputs only", |_, world: &World<B>| world.wrong.is_none()),
            Property::sometimes("everybody enters", |cluster: &Self, world: &World<B>| {
                let wanted = u32::from(cluster.requests) * cluster.nodes() as u32;
                world.entries == wanted && world.is_done()
            }),
            Property::sometimes("all are in an epoch", |cluster: &Self, world: &World<B>| {
                world.runs() == cluster.nodes()
            }),
        ]
    }
}
