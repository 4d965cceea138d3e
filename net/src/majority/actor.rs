//! The task of a node that has its locks: users, letters, views and the lease come together here.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use exclusion::message::{Admission, Blueprint, Machine, NodeId, Timer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::guard::Guard;
use super::post::Post;
use super::roster::{Command, Roster, Seat};
use super::settings::Down;
use super::shared::Shared;
use super::site::{Letter, Output, Site, User};
use super::wire::{Batch, Receipt};

/// What happens to a node's locks.
pub(super) enum Event {
    /// A user wants in.
    Lock { resource: usize, user: u64, reply: oneshot::Sender<Result<Guard, Down>> },
    /// A user waits no longer.
    Withdraw { resource: usize, user: u64 },
    /// A user leaves.
    Release { resource: usize },
    /// A timer of a lock has run out.
    Timeout { epoch: u64, resource: usize, timer: Timer },
    /// Nobody is let in any more. Says whether nobody is inside either.
    Close { reply: oneshot::Sender<bool> },
}

/// A batch, and where its receipt goes.
pub(super) type Delivery = (NodeId, Batch, oneshot::Sender<Receipt>);

type Inner<B> = <<B as Blueprint>::Lock as Machine>::Message;

struct Waiter {
    user: u64,
    reply: oneshot::Sender<Result<Guard, Down>>,
}

/// A resource's users at this node.
#[derive(Default)]
struct Users {
    waiting: VecDeque<Waiter>,
    /// Tells the guard that it is lost.
    holder: Option<watch::Sender<bool>>,
    /// The lock has let a user in, but there is no lease.
    held_back: Option<Admission>,
}

/// Where a node's locks are run.
pub(super) struct Actor<B: Blueprint> {
    pub(super) shared: Arc<Shared>,
    pub(super) site: Site<B>,
    users: Vec<Users>,
    posts: BTreeMap<NodeId, Arc<Post>>,
    /// How many letters of the view have come from each member.
    taken: BTreeMap<NodeId, u64>,
    /// Who has said in this view what it cannot say.
    cut_off: Vec<NodeId>,
    lease: watch::Sender<Option<Instant>>,
    /// The last beat of this node's heart, and when those were sent that are not applied yet.
    beat: u64,
    sent: BTreeMap<u64, Instant>,
    /// When a beat of each member was first seen.
    seen: BTreeMap<NodeId, (Seat, Instant)>,
    events: mpsc::UnboundedSender<Event>,
    /// The node shuts down.
    closing: bool,
}

impl<B> Actor<B>
where
    B: Blueprint + Send + 'static,
    B::Lock: Send,
    Inner<B>: Serialize + DeserializeOwned + Send,
{
    pub(super) fn new(
        shared: Arc<Shared>,
        site: Site<B>,
        posts: BTreeMap<NodeId, Arc<Post>>,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        let users = shared.settings.resources.iter().map(|_| Users::default()).collect();
        Self {
            shared,
            site,
            users,
            posts,
            taken: BTreeMap::new(),
            cut_off: Vec::new(),
            lease: watch::Sender::new(None),
            beat: 0,
            sent: BTreeMap::new(),
            seen: BTreeMap::new(),
            events,
            closing: false,
        }
    }

    /// Runs until the node stops. Hands over why.
    pub(super) async fn run(
        mut self,
        mut events: mpsc::UnboundedReceiver<Event>,
        mut deliveries: mpsc::Receiver<Delivery>,
        mut roster: watch::Receiver<Roster>,
    ) {
        let Some(raft) = self.shared.raft().cloned() else { return };
        let (mut engine, mut status) = (raft.metrics(), self.shared.status.subscribe());
        let mut beats = tokio::time::interval(self.shared.settings.lease / 4);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        roster.mark_changed();
        let why = loop {
            let lease = *self.lease.borrow();
            let ended = async {
                match lease {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                Some(event) = events.recv() => self.take_event(event),
                Some((from, batch, reply)) = deliveries.recv() => {
                    let (receipt, done) = self.take_batch(from, batch);
                    let _ = reply.send(receipt);
                    done
                }
                Ok(()) = roster.changed() => {
                    let now = roster.borrow_and_update().clone();
                    self.take_roster(&now)
                }
                _ = beats.tick() => {
                    let (now, metrics) = (roster.borrow().clone(), engine.borrow().clone());
                    self.beat(&now, metrics.current_leader == Some(u64::from(self.me().0)));
                    Ok(())
                }
                () = ended => {
                    self.lapse();
                    Ok(())
                }
                changed = engine.changed() => match &engine.borrow().running_state {
                    Ok(()) if changed.is_ok() => Ok(()),
                    Ok(()) => Err(Down::Stopped),
                    Err(fatal) => Err(Down::Engine(fatal.to_string())),
                },
                () = async { drop(status.wait_for(Option::is_some).await) } => Err(Down::Stopped),
            };
            if let Err(why) = done {
                break why;
            }
        };
        let why = self.shared.stop(why);
        self.lapse();
        for users in &mut self.users {
            for waiter in users.waiting.drain(..) {
                let _ = waiter.reply.send(Err(why.clone()));
            }
        }
        while let Ok(event) = events.try_recv() {
            if let Event::Lock { reply, .. } = event {
                let _ = reply.send(Err(why.clone()));
            }
        }
        if let Err(error) = raft.shutdown().await {
            tracing::warn!(%error, "the consensus engine did not end well");
        }
    }

    fn me(&self) -> NodeId {
        self.shared.settings.me
    }

    fn take_event(&mut self, event: Event) -> Result<(), Down> {
        match event {
            Event::Lock { reply, .. } if self.closing => {
                let _ = reply.send(Err(Down::Stopped));
                Ok(())
            }
            Event::Lock { resource, user, reply } => {
                self.users[resource].waiting.push_back(Waiter { user, reply });
                self.ask(resource)
            }
            Event::Withdraw { resource, user } => {
                self.users[resource].waiting.retain(|waiter| waiter.user != user);
                self.withdraw(resource)
            }
            Event::Close { reply } => {
                self.closing = true;
                for resource in 0..self.users.len() {
                    for waiter in self.users[resource].waiting.drain(..) {
                        let _ = waiter.reply.send(Err(Down::Stopped));
                    }
                    self.withdraw(resource)?;
                    if self.users[resource].held_back.take().is_some() {
                        self.leave(resource)?;
                    }
                }
                let _ = reply.send(self.users.iter().all(|users| users.holder.is_none()));
                Ok(())
            }
            Event::Release { resource } => {
                self.users[resource].holder = None;
                self.leave(resource)
            }
            Event::Timeout { epoch, resource, timer } => {
                let done = self.site.timeout(epoch, resource, timer).map_err(own_mistake)?;
                self.follow(done)
            }
        }
    }

    /// Asks the lock of a resource, if a user waits and none is inside.
    fn ask(&mut self, resource: usize) -> Result<(), Down> {
        let wanted = !self.users[resource].waiting.is_empty();
        if wanted && matches!(self.site.user(resource), User::Outside | User::GaveUp) {
            let done = self.site.request(resource).map_err(own_mistake)?;
            self.follow(done)?;
        }
        Ok(())
    }

    /// Takes the request for a resource back, if no user waits.
    fn withdraw(&mut self, resource: usize) -> Result<(), Down> {
        let wanted = !self.users[resource].waiting.is_empty();
        if !wanted && self.site.user(resource) == User::Waiting {
            let done = self.site.withdraw(resource).map_err(own_mistake)?;
            self.follow(done)?;
        }
        Ok(())
    }

    /// Leaves the lock of a resource, and asks again for the next user.
    fn leave(&mut self, resource: usize) -> Result<(), Down> {
        let done = self.site.release(resource).map_err(own_mistake)?;
        self.follow(done)?;
        self.ask(resource)
    }

    fn take_batch(&mut self, from: NodeId, batch: Batch) -> (Receipt, Result<(), Down>) {
        let Batch { epoch, first, letters } = batch;
        if epoch > self.site.epoch() {
            return (Receipt::Early, Ok(()));
        }
        let is_member = self.site.members().contains(&from);
        if epoch < self.site.epoch() || !is_member || self.cut_off.contains(&from) {
            return (Receipt::Over, Ok(()));
        }
        let mut next = self.taken.get(&from).copied().unwrap_or(0);
        if first > next {
            // It was told of more than it has brought.
            return (Receipt::Taken(next), Ok(()));
        }
        let known = usize::try_from(next - first).unwrap_or(usize::MAX);
        for letter in letters.into_iter().skip(known) {
            let letter: Option<Letter<Inner<B>>> = postcard::from_bytes(&letter).ok();
            let taken = letter.and_then(|letter| {
                let refused = |why| tracing::warn!(%from, ?why, "a member is cut off");
                self.site.receive(from, letter).map_err(refused).ok()
            });
            let Some(done) = taken else {
                self.cut_off.push(from);
                return (Receipt::Over, Ok(()));
            };
            next += 1;
            self.taken.insert(from, next);
            if let Err(down) = self.follow(done) {
                return (Receipt::Over, Err(down));
            }
        }
        (Receipt::Taken(next), Ok(()))
    }

    fn take_roster(&mut self, roster: &Roster) -> Result<(), Down> {
        let now = Instant::now();
        self.seen.retain(|&node, _| roster.seat(node).is_some());
        for (node, seat) in roster.members() {
            if self.seen.get(&node).is_none_or(|(known, _)| *known != seat) {
                self.seen.insert(node, (seat, now));
            }
        }
        let incarnation = self.shared.life.incarnation;
        if roster.epoch() > self.site.epoch() {
            let done = self.site.install(roster);
            let epoch = self.site.epoch();
            tracing::info!(epoch, members = ?self.site.members(), "a view begins");
            self.taken.clear();
            self.cut_off.clear();
            self.posts.values().for_each(|post| post.begin(epoch));
            self.follow(done)?;
        }
        let mine = roster.seat(self.me()).filter(|seat| seat.incarnation == incarnation);
        match mine {
            Some(seat) => self.renew(seat.beat, now),
            None => {
                self.lapse();
                Ok(())
            }
        }
    }

    /// A beat of this node was applied: its lease counts from when it was sent.
    fn renew(&mut self, beat: u64, now: Instant) -> Result<(), Down> {
        let later = self.sent.split_off(&(beat + 1));
        let applied = std::mem::replace(&mut self.sent, later);
        let Some(&sent) = applied.get(&beat) else { return Ok(()) };
        if (*self.lease.borrow()).is_some_and(|until| until <= now) {
            self.lapse();
        }
        let until = sent + self.shared.settings.lease;
        if until <= now {
            return Ok(());
        }
        self.lease.send_replace(Some(until));
        for resource in 0..self.users.len() {
            if let Some(admission) = self.users[resource].held_back.take() {
                self.admit(resource, admission)?;
            }
        }
        Ok(())
    }

    /// There is no lease any more, so no guard can be trusted.
    fn lapse(&mut self) {
        for users in &mut self.users {
            if let Some(holder) = &users.holder {
                holder.send_replace(true);
            }
        }
        self.lease.send_replace(None);
    }

    /// The heart beats. The leader also looks whose heart does not.
    fn beat(&mut self, roster: &Roster, leads: bool) {
        if self.closing {
            return;
        }
        let (node, incarnation) = (self.me(), self.shared.life.incarnation);
        self.beat += 1;
        self.sent.insert(self.beat, Instant::now());
        // What has not been applied for so long gives no lease.
        while self.sent.len() > 64 {
            self.sent.pop_first();
        }
        let beat = self.beat;
        let is_member = roster.seat(node).is_some_and(|seat| seat.incarnation == incarnation);
        let fence = (0..self.users.len()).filter_map(|it| self.site.fence(it)).max();
        self.submit(match is_member {
            true => Command::Beat { node, incarnation, beat, fence },
            false => Command::Admit { node, incarnation, beat },
        });
        if leads {
            let patience = self.shared.settings.patience();
            let silent = self.seen.iter().filter(|(_, (_, since))| since.elapsed() > patience);
            let silent: Vec<_> = silent.map(|(&node, &(seat, _))| (node, seat)).collect();
            for (silent, seat) in silent.into_iter().filter(|&(silent, _)| silent != node) {
                let Seat { incarnation, beat, .. } = seat;
                self.submit(Command::Exclude { node: silent, incarnation, beat });
            }
        }
    }

    fn submit(&self, command: Command) {
        let shared = Arc::clone(&self.shared);
        let wait = shared.settings.lease;
        tokio::spawn(async move {
            match tokio::time::timeout(wait, shared.submit(command.clone())).await {
                Ok(Ok(Ok(_))) => {}
                Ok(Ok(Err(stale))) => tracing::debug!(?command, %stale, "nothing changed"),
                Ok(Err(error)) => tracing::debug!(?command, %error, "not submitted"),
                Err(_) => tracing::debug!(?command, "no answer"),
            }
        });
    }

    /// Does what the site wants done.
    fn follow(&mut self, done: Vec<Output<Inner<B>>>) -> Result<(), Down> {
        for output in done {
            match output {
                Output::Send(to, letter) => {
                    let letter = postcard::to_stdvec(&letter)
                        .map_err(|error| Down::Engine(error.to_string()))?;
                    if !self.posts.get(&to).is_some_and(|post| post.push(letter)) {
                        return Err(Down::Overflow(to));
                    }
                }
                Output::SetTimer { epoch, resource, timer, periods } => {
                    let (events, wait) = (self.events.clone(), self.shared.settings.period);
                    tokio::spawn(async move {
                        tokio::time::sleep(wait * periods).await;
                        let _ = events.send(Event::Timeout { epoch, resource, timer });
                    });
                }
                Output::Enter(resource, admission) => self.admit(resource, admission)?,
                Output::Lost(resource) => {
                    if let Some(holder) = &self.users[resource].holder {
                        holder.send_replace(true);
                    } else if self.users[resource].held_back.take().is_some() {
                        self.leave(resource)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The lock of a resource has let a user in.
    fn admit(&mut self, resource: usize, admission: Admission) -> Result<(), Down> {
        if (*self.lease.borrow()).is_none_or(|until| until <= Instant::now()) {
            self.users[resource].held_back = Some(admission);
            return Ok(());
        }
        let (tell, lost) = watch::channel(false);
        let mut guard = Guard {
            admission,
            resource,
            lost,
            lease: self.lease.subscribe(),
            events: self.events.clone(),
        };
        self.users[resource].holder = Some(tell);
        let fence = guard.fence();
        while let Some(waiter) = self.users[resource].waiting.pop_front() {
            match waiter.reply.send(Ok(guard)) {
                Ok(()) => {
                    self.site.told(resource);
                    tracing::debug!(resource, %fence, "a user enters");
                    return Ok(());
                }
                // It has gone meanwhile. Another takes its place.
                Err(returned) => match returned {
                    Ok(unused) => guard = unused,
                    Err(_) => return Ok(()),
                },
            }
        }
        // Nobody waits any more: dropping the guard releases.
        Ok(())
    }
}

/// The site refuses what this node may do.
fn own_mistake(refused: exclusion::message::Refused) -> Down {
    Down::Engine(format!("a lock refuses its own user: {}", refused.0))
}
