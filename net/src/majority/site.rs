//! A node's locks, in the views that the roster gives it: the machine, without input and output.
//!
//! A new view closes every lock of the old one, and nothing of it counts any more: no permission,
//! no vote, no token. Each resource begins anew with a fresh lock over the members, and waiting
//! users ask again. So every algorithm recovers in the same way, as in
//! [`Recovering`](exclusion::message::Recovering).
//!
//! | message | when | to |
//! |---|---|---|
//! | `FREE(resource, fence)` | a view has begun, and the sender's user of an earlier one is outside | all members |
//! | of a lock | the lock sends it | a member |
//!
//! The lock of a resource opens when all members are free of earlier users. A member that is alive
//! and inside is waited for, so a view that only admits a node takes nothing from anybody. A
//! member that is dead or cut off is excluded by a later view, and by then its lease is over.
//!
//! The channels carry each message once and in order, within a view between two members.

use std::collections::BTreeMap;

use exclusion::message::{Admission, Blueprint, Fence, Machine, NodeId, NodeSet, Refused, Timer};
use exclusion::message::{Input as LockInput, Output as LockOutput, Protocol, Violation};
use serde::{Deserialize, Serialize};

pub use super::desk::User;
use super::desk::{Desk, Lock};
use super::roster::Roster;

/// How many messages a node keeps for each lock that is open elsewhere before it is here.
const MOST_EARLY: usize = 4096;

/// The greatest entry that is believed.
const MOST: u64 = u64::MAX >> 1;

type LockOf<B> = <B as Blueprint>::Lock;
type Inner<B> = <LockOf<B> as Machine>::Message;
type Out<B> = Vec<Output<Inner<B>>>;

/// What members say to each other within a view.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Letter<M> {
    /// No user of an earlier view is inside here.
    Free {
        /// Which resource, by its place in the configuration.
        resource: u32,
        /// The greatest fence of the resource that the sender knows of.
        fence: Option<Fence>,
    },
    /// About a lock.
    Lock {
        /// Which resource, by its place in the configuration.
        resource: u32,
        /// The greatest entry of the view that the sender knows of; 0 if it knows of none.
        entry: u64,
        /// What the lock says.
        message: M,
    },
}

/// What a site wants done, in this order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Output<M> {
    /// Send a letter to a member, in the present view.
    Send(NodeId, Letter<M>),
    /// Say when so many periods have passed, if the view is still the same.
    SetTimer {
        /// The epoch of the view.
        epoch: u64,
        /// Whose it is.
        resource: usize,
        /// Which one.
        timer: Timer,
        /// So many.
        periods: u32,
    },
    /// The user of a resource is inside. Say so when it has been [told](Site::told).
    Enter(usize, Admission),
    /// The user of a resource is inside, and has been excluded: others may enter.
    Lost(usize),
}

/// The locks of a node. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site<B: Blueprint> {
    blueprint: B,
    me: NodeId,
    incarnation: u64,
    nodes: usize,
    /// Of the last view that it was told of.
    epoch: u64,
    /// None if it is not one of them.
    members: Vec<NodeId>,
    lost: BTreeMap<NodeId, u64>,
    desks: Vec<Desk<LockOf<B>>>,
}

impl<B: Blueprint> Site<B> {
    /// A node in one of its lives, before any view.
    pub fn new(blueprint: B, me: NodeId, incarnation: u64, nodes: usize, resources: usize) -> Self {
        Self {
            blueprint,
            me,
            incarnation,
            nodes,
            epoch: 0,
            members: Vec::new(),
            lost: BTreeMap::new(),
            desks: (0..resources).map(|_| Desk::new(nodes)).collect(),
        }
    }

    /// The epoch of the last view that it was told of.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The members of the view; none if this node is not among them.
    pub fn members(&self) -> &[NodeId] {
        &self.members
    }

    /// Where the user of a resource is.
    pub fn user(&self, resource: usize) -> User {
        self.desks[resource].user
    }

    /// The lock of a resource, if it is open and there is another member.
    pub fn lock(&self, resource: usize) -> Option<&LockOf<B>> {
        match &self.desks[resource].lock {
            Lock::Among(lock) => Some(lock),
            Lock::Alone | Lock::Closed => None,
        }
    }

    /// The greatest fence of a resource that it knows to have been given to a user.
    pub fn fence(&self, resource: usize) -> Option<Fence> {
        self.desks[resource].fence
    }

    /// A roster was agreed on. If its view is a later one, it holds from now on.
    pub fn install(&mut self, roster: &Roster) -> Out<B> {
        let mut out = Vec::new();
        if roster.epoch() <= self.epoch {
            return out;
        }
        let seat = roster.seat(self.me).filter(|seat| seat.incarnation == self.incarnation);
        // Whether it was a member of every view since the last that it was told of.
        let stayed = !self.members.is_empty() && seat.is_some_and(|seat| seat.since <= self.epoch);
        self.epoch = roster.epoch();
        self.lost = roster.lost().collect();
        self.members = match seat {
            Some(_) => roster.members().map(|(node, _)| node).collect(),
            None => Vec::new(),
        };
        for (resource, desk) in self.desks.iter_mut().enumerate() {
            desk.close();
            if desk.is_inside() && !stayed {
                out.push(Output::Lost(resource));
            }
        }
        for resource in 0..self.desks.len() {
            self.tell_free(resource, &mut out);
        }
        out
    }

    /// Says that no user of an earlier view is inside, if that is so.
    fn tell_free(&mut self, resource: usize, out: &mut Out<B>) {
        let desk = &mut self.desks[resource];
        if self.members.is_empty() || desk.is_inside() || desk.free.contains_key(&self.me) {
            return;
        }
        desk.free.insert(self.me, desk.fence);
        for &member in self.members.iter().filter(|&&member| member != self.me) {
            let letter = Letter::Free { resource: number(resource), fence: desk.fence };
            out.push(Output::Send(member, letter));
        }
        self.try_to_open(resource, out);
    }

    /// Opens the lock of a resource, if all members are free of earlier users.
    fn try_to_open(&mut self, resource: usize, out: &mut Out<B>) {
        let desk = &mut self.desks[resource];
        if desk.lock != Lock::Closed || self.members.iter().any(|it| !desk.free.contains_key(it)) {
            return;
        }
        desk.fence = desk.free.values().copied().max().flatten().max(desk.fence);
        // A node that was lost before somebody entered is known to that one.
        let told = desk.fence.map_or(0, |fence| fence.epoch.number);
        let untold = self.lost.iter().filter(|&(_, &epoch)| epoch > told);
        desk.perhaps_inside = NodeSet::of(self.nodes, untold.map(|(&node, _)| node));
        let place = self.members.iter().position(|&member| member == self.me);
        desk.lock = match (self.members.len(), place) {
            (1, _) => Lock::Alone,
            (count, Some(place)) => Lock::Among(self.blueprint.build(NodeId::at(place), count)),
            (_, None) => return,
        };
        let early = std::mem::take(&mut desk.early);
        let mut inputs = vec![LockInput::Start];
        if desk.user == User::Waiting {
            inputs.push(LockInput::Request);
        }
        for input in inputs {
            let done = self.desks[resource].give(input, self.epoch);
            let done = done.expect("a fresh lock takes a start and a request");
            self.follow(resource, done, out);
        }
        for (from, entry, message) in early {
            // What a member cannot have sent is not missed.
            let _ = self.hand_over(from, resource, entry, message, out);
        }
    }

    /// A letter has come from a member, in the present view.
    ///
    /// # Errors
    /// If no member can have sent it. Nothing has changed then.
    pub fn receive(&mut self, from: NodeId, letter: Letter<Inner<B>>) -> Result<Out<B>, Refused> {
        if from == self.me || !self.members.contains(&from) {
            return Err(Refused("only another member of the view takes part in its locks"));
        }
        let (Letter::Free { resource, .. } | Letter::Lock { resource, .. }) = letter;
        let resource = resource as usize;
        let mut out = Vec::new();
        match letter {
            Letter::Free { fence, .. } => {
                let epoch = self.epoch;
                let desk = self.desk(resource)?;
                if desk.free.contains_key(&from) {
                    return Err(Refused("a member is free once in a view"));
                }
                if fence.is_some_and(|it| it.epoch.number >= epoch || it.entry > MOST) {
                    return Err(Refused("a fence of an earlier view is of an earlier epoch"));
                }
                desk.free.insert(from, fence);
                self.try_to_open(resource, &mut out);
            }
            Letter::Lock { entry, message, .. } => {
                let desk = self.desk(resource)?;
                if entry > MOST || !desk.free.contains_key(&from) {
                    return Err(Refused("a member is free before its lock says anything"));
                }
                if desk.lock == Lock::Closed {
                    if desk.early.len() >= MOST_EARLY {
                        return Err(Refused("so much before a lock is open"));
                    }
                    desk.early.push_back((from, entry, message));
                } else {
                    self.hand_over(from, resource, entry, message, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    fn hand_over(
        &mut self,
        from: NodeId,
        resource: usize,
        entry: u64,
        message: Inner<B>,
        out: &mut Out<B>,
    ) -> Result<(), Refused> {
        let place = self.members.iter().position(|&member| member == from);
        let place = place.ok_or(Refused("only a member takes part"))?;
        let desk = &mut self.desks[resource];
        let done = desk.receive(NodeId::at(place), entry, message, self.epoch);
        self.follow(resource, done.map_err(refused)?, out);
        Ok(())
    }

    /// A timer of a lock has run out, that was set in the view of this epoch.
    ///
    /// # Errors
    /// If there is no such timer.
    pub fn timeout(
        &mut self,
        epoch: u64,
        resource: usize,
        timer: Timer,
    ) -> Result<Out<B>, Refused> {
        if epoch != self.epoch {
            return Ok(Vec::new());
        }
        let done = self.desk(resource)?.give(LockInput::Timeout(timer), epoch).map_err(refused)?;
        Ok(self.followed(resource, done))
    }

    /// The user of a resource wants in.
    ///
    /// # Errors
    /// If it waits or is inside, or there is no such resource.
    pub fn request(&mut self, resource: usize) -> Result<Out<B>, Refused> {
        let epoch = self.epoch;
        let desk = self.desk(resource)?;
        match desk.user {
            User::Outside | User::GaveUp => {}
            User::Waiting => return Err(Refused("it has asked already")),
            User::Inside(_) => return Err(Refused("it is inside")),
        }
        let before = desk.user;
        let done = desk.request(epoch).inspect_err(|_| desk.user = before).map_err(refused)?;
        Ok(self.followed(resource, done))
    }

    /// The user of a resource has been told that it is inside, and who may have died there.
    pub fn told(&mut self, resource: usize) {
        if let Some(desk) = self.desks.get_mut(resource)
            && let User::Inside(fence) = desk.user
        {
            desk.fence = desk.fence.max(Some(fence));
        }
    }

    /// The user of a resource leaves.
    ///
    /// # Errors
    /// If it is not inside.
    pub fn release(&mut self, resource: usize) -> Result<Out<B>, Refused> {
        let epoch = self.epoch;
        let desk = self.desk(resource)?;
        if !desk.is_inside() {
            return Err(Refused("it is not inside"));
        }
        let done = desk.release(epoch).map_err(refused)?;
        let mut out = self.followed(resource, done);
        self.tell_free(resource, &mut out);
        Ok(out)
    }

    /// The user of a resource waits no longer.
    ///
    /// # Errors
    /// If it does not wait.
    pub fn withdraw(&mut self, resource: usize) -> Result<Out<B>, Refused> {
        let epoch = self.epoch;
        let desk = self.desk(resource)?;
        if desk.user != User::Waiting {
            return Err(Refused("it does not wait"));
        }
        let done = desk.withdraw(epoch).map_err(refused)?;
        Ok(self.followed(resource, done))
    }

    fn desk(&mut self, resource: usize) -> Result<&mut Desk<LockOf<B>>, Refused> {
        self.desks.get_mut(resource).ok_or(Refused("there is no such resource"))
    }

    fn followed(&mut self, resource: usize, done: Vec<LockOutput<Inner<B>>>) -> Out<B> {
        let mut out = Vec::new();
        self.follow(resource, done, &mut out);
        out
    }

    /// Does what a lock wants done.
    fn follow(&mut self, resource: usize, done: Vec<LockOutput<Inner<B>>>, out: &mut Out<B>) {
        let (epoch, entry) = (self.epoch, self.desks[resource].entry);
        for output in done {
            match output {
                LockOutput::Send { to, message } => {
                    let letter = Letter::Lock { resource: number(resource), entry, message };
                    out.push(Output::Send(self.members[to.index()], letter));
                }
                LockOutput::SetTimer { timer, periods } => {
                    out.push(Output::SetTimer { epoch, resource, timer, periods });
                }
                LockOutput::Enter => {
                    let desk = &mut self.desks[resource];
                    if let User::Inside(fence) = desk.user {
                        let nobody = NodeSet::empty(self.nodes);
                        let first = std::mem::replace(&mut desk.perhaps_inside, nobody.clone());
                        let perhaps_inside = if fence.entry == 1 { first } else { nobody };
                        out.push(Output::Enter(resource, Admission { fence, perhaps_inside }));
                    }
                }
                // A lock of the registry has no leader to tell of.
                _ => {}
            }
        }
    }

    /// How many users may be inside a lock at a time.
    pub fn entries_at_a_time(&self) -> usize {
        self.blueprint.entries_at_a_time()
    }

    /// Whether the lock of the view considers the user of a resource to be inside.
    pub fn is_inside(&self, resource: usize) -> bool {
        match &self.desks[resource].lock {
            Lock::Closed => false,
            Lock::Alone => self.desks[resource].is_inside(),
            Lock::Among(lock) => lock.phase().is_inside(),
        }
    }
}

fn number(resource: usize) -> u32 {
    u32::try_from(resource).expect("there are few resources")
}

/// What the lock refuses.
fn refused(violation: Violation) -> Refused {
    tracing::debug!(%violation, "a lock refuses an input");
    Refused("the algorithm cannot have sent this here")
}
