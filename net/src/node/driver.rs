//! The loop of a node: what happens goes into the machine, and what it wants is done.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use exclusion::message::{Blueprint, Fence, Machine, NodeId, Timer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{Span, debug, error, info, warn};

use super::down::Down;
use super::handle::Guard;
use super::line::{Holder, Line};
use super::order::{Desk, Impatience, Order};
use super::status::{PeerStatus, ResourceStatus, Status};
use crate::frame;
use crate::link::{Event, Link};
use crate::membership::Configuration;
use crate::store::{Store, StoreError};
use crate::strict::{Input, Message, Output, Stage, Strict, Why};

/// How long a node that nobody wants anything of waits before it passes on what never rests.
const PACE: Duration = Duration::from_millis(1);

type MessageOf<B> = <<B as Blueprint>::Lock as Machine>::Message;

/// A timer of a lock: when, in which epoch, of which resource, and which.
type Alarm = Reverse<(Instant, u64, usize, Timer)>;

/// A node that runs.
pub(super) struct Driver<B: Blueprint, L> {
    machine: Strict<B>,
    link: L,
    store: Arc<Store>,
    configuration: Configuration,
    lines: Vec<Line>,
    alarms: BinaryHeap<Alarm>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// What guards need. Weak, so that a node that nobody holds ends.
    guards: Guards,
    tell_over: watch::Sender<Option<Down>>,
    shutdown: Option<oneshot::Sender<()>>,
    messages_sent: u64,
    /// Why the last session with each node has ended.
    ends: Vec<Option<String>>,
    /// Open as long as an epoch runs.
    epoch: Span,
}

/// What guards are made of.
struct Guards {
    orders: mpsc::WeakUnboundedSender<Order>,
    over: watch::Receiver<Option<Down>>,
}

impl<B, L> Driver<B, L>
where
    B: Blueprint + Send + 'static,
    B::Lock: Send,
    MessageOf<B>: Serialize + DeserializeOwned + Send,
    L: Link,
{
    pub(super) fn new(
        machine: Strict<B>,
        link: L,
        desk: &Desk,
        configuration: &Configuration,
        orders: mpsc::UnboundedReceiver<Order>,
        tell_over: watch::Sender<Option<Down>>,
    ) -> Self {
        Self {
            machine,
            link,
            store: desk.store.clone(),
            configuration: configuration.clone(),
            lines: configuration.resources.iter().map(|_| Line::default()).collect(),
            alarms: BinaryHeap::new(),
            orders,
            guards: Guards { orders: desk.orders.downgrade(), over: desk.over.clone() },
            tell_over,
            shutdown: None,
            messages_sent: 0,
            ends: vec![None; configuration.membership.members().len()],
            epoch: Span::none(),
        }
    }

    /// Runs until it is shut down, nobody holds anything of it, or it breaks.
    pub(super) async fn run(mut self) {
        let life = self.machine.life();
        let (algorithm, digest) = (self.configuration.algorithm, self.configuration.digest());
        info!(%life, %algorithm, configuration = %digest, "the node is up");
        let why = match self.serve().await {
            Ok(()) => Down::Closed,
            Err(why) => {
                error!("the node cannot go on: {why}");
                Down::Broken(why.to_string())
            }
        };
        self.refuse_all(&why);
        self.link.close().await;
        info!("the node is down: {why}");
        if let Some(done) = self.shutdown.take() {
            let _ = done.send(());
        }
    }

    async fn serve(&mut self) -> Result<(), StoreError> {
        loop {
            let alarm = self.alarms.peek().map(|Reverse(alarm)| alarm.0);
            let alarm = alarm.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            tokio::select! {
                event = self.link.next() => match event {
                    Some(event) => self.happens(event).await?,
                    None => return Ok(()),
                },
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order).await?,
                    None => return Ok(()),
                },
                () = tokio::time::sleep_until(alarm.into()) => self.ring().await?,
            }
            if self.shutdown.is_some() && self.lines.iter().all(|line| line.inside.is_none()) {
                return Ok(());
            }
        }
    }

    async fn happens(&mut self, event: Event) -> Result<(), StoreError> {
        match event {
            Event::Up(peer) => {
                debug!(peer = self.id_of(peer), "a session is up");
                self.give(Input::Up(peer)).await
            }
            Event::Ended(peer, why) => {
                self.note_end(peer, &why);
                self.give(Input::Ended(peer)).await
            }
            Event::Frame(peer, bytes) => match frame::decode::<Message<MessageOf<B>>>(&bytes) {
                Ok(message) => {
                    let rests =
                        <B::Lock as Machine>::RESTS || !self.lines.iter().all(Line::is_empty);
                    if !rests && matches!(message, Message::Lock { .. }) {
                        tokio::time::sleep(PACE).await;
                    }
                    self.give(Input::Receive(peer, message)).await
                }
                Err(why) => {
                    let why = Why::Unexpected(why.to_string()).to_string();
                    self.note_end(peer, &why);
                    self.link.end(peer, &why);
                    self.give(Input::Ended(peer)).await
                }
            },
        }
    }

    async fn obey(&mut self, order: Order) -> Result<(), StoreError> {
        match order {
            Order::Ask(resource, waiter) => {
                let runs = matches!(self.machine.stage(), Stage::Running(_));
                if self.shutdown.is_some() {
                    let _ = waiter.reply.send(Err(Down::Closed));
                } else if !runs && waiter.impatience != Impatience::None {
                    let _ = waiter.reply.send(Err(self.incomplete()));
                } else {
                    self.lines[resource].join(waiter);
                    self.ask_for_the_next(resource).await?;
                }
            }
            Order::GiveUp { resource, ticket } => {
                self.lines[resource].leave(ticket);
                self.withdraw_if_nobody_waits(resource).await?;
            }
            Order::Release { resource, ticket } => {
                if let Some(holder) = self.lines[resource].inside.take_if(|it| it.ticket == ticket)
                {
                    let inside = holder.since.elapsed();
                    debug!(resource = self.name(resource), fence = %holder.fence, "left");
                    metrics::histogram!("exclusion_net_inside_seconds").record(inside);
                    self.give(Input::Release(resource)).await?;
                    self.ask_for_the_next(resource).await?;
                }
            }
            Order::OrphansGone => {
                info!("nothing of an earlier life is inside any more");
                self.give(Input::OrphansGone).await?;
            }
            Order::Replace(peer, reply) => {
                let done = self.machine.step(Input::Replace(peer));
                let outcome = match done {
                    Ok(outputs) => {
                        warn!(peer = self.id_of(peer), "the operator takes it in without memory");
                        self.perform(outputs).await?;
                        Ok(())
                    }
                    Err(refused) => Err(refused.0.to_owned()),
                };
                let _ = reply.send(outcome);
            }
            Order::Status(reply) => {
                let _ = reply.send(self.status());
            }
            Order::Shutdown(reply) => {
                self.shutdown = Some(reply);
                self.refuse_all(&Down::Closed);
            }
        }
        Ok(())
    }

    /// The next alarm rings.
    async fn ring(&mut self) -> Result<(), StoreError> {
        if let Some(Reverse((_, epoch, resource, timer))) = self.alarms.pop() {
            self.give(Input::Timeout { epoch, resource, timer }).await?;
        }
        Ok(())
    }

    async fn ask_for_the_next(&mut self, resource: usize) -> Result<(), StoreError> {
        use crate::strict::User::{GaveUp, Outside};
        let wants = self.lines[resource].waiting() > 0;
        if wants && matches!(self.machine.user(resource), Outside | GaveUp) {
            self.give(Input::Request(resource)).await?;
        }
        Ok(())
    }

    async fn withdraw_if_nobody_waits(&mut self, resource: usize) -> Result<(), StoreError> {
        let waits = self.machine.user(resource) == crate::strict::User::Waiting;
        if waits && self.lines[resource].waiting() == 0 {
            self.give(Input::Withdraw(resource)).await?;
        }
        Ok(())
    }

    /// Gives the machine what it may be given, and does what it wants.
    async fn give(&mut self, input: Input<MessageOf<B>>) -> Result<(), StoreError> {
        match self.machine.step(input) {
            Ok(outputs) => self.perform(outputs).await,
            Err(refused) => {
                // Nothing has changed. It is a mistake here, and not of a peer.
                error!("the machine refuses what it was given: {}", refused.0);
                debug_assert!(false, "{}", refused.0);
                Ok(())
            }
        }
    }

    async fn perform(&mut self, outputs: Vec<Output<MessageOf<B>>>) -> Result<(), StoreError> {
        let mut outputs = VecDeque::from(outputs);
        while let Some(output) = outputs.pop_front() {
            match output {
                Output::Keep(record) => {
                    let store = self.store.clone();
                    let kept = tokio::task::spawn_blocking(move || store.keep(&record)).await;
                    kept.expect("keeping does not panic")?;
                }
                Output::Send(peer, message) => self.send(peer, &message),
                Output::End(peer, why) => {
                    let text = why.to_string();
                    match why {
                        Why::With(_) | Why::Disagree | Why::Lost => self.remember(peer, &text),
                        _ => self.note_end(peer, &text),
                    }
                    self.link.end(peer, &text);
                }
                Output::Begun(epoch) => {
                    self.epoch = tracing::info_span!("epoch", epoch);
                    self.epoch.in_scope(|| info!(epoch, "all nodes are here: the epoch begins"));
                    metrics::counter!("exclusion_net_epochs_total").increment(1);
                    self.ends.fill(None);
                }
                Output::Over(epoch, peer) => {
                    let peer = self.id_of(peer);
                    self.epoch.in_scope(|| info!(epoch, peer, "the epoch is over"));
                    self.epoch = Span::none();
                    self.alarms.clear();
                    let why = self.incomplete();
                    for resource in 0..self.lines.len() {
                        self.lines[resource].refuse_impatient(&why);
                        let waits = self.machine.user(resource) == crate::strict::User::Waiting;
                        if waits && self.lines[resource].waiting() == 0 {
                            let done = self.machine.step(Input::Withdraw(resource));
                            outputs.extend(done.expect("it waits"));
                        }
                    }
                }
                Output::SetTimer { epoch, resource, timer, periods } => {
                    let at = Instant::now() + self.configuration.period * periods;
                    self.alarms.push(Reverse((at, epoch, resource, timer)));
                }
                Output::Enter(resource, fence) => {
                    if !self.admit(resource, fence) {
                        let done = self.machine.step(Input::Release(resource));
                        outputs.extend(done.expect("it is inside"));
                    }
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, peer: NodeId, message: &Message<MessageOf<B>>) {
        metrics::counter!("exclusion_net_messages_sent_total", "kind" => message.kind())
            .increment(1);
        self.messages_sent += 1;
        match frame::encode(message) {
            Ok(bytes) => self.link.send(peer, bytes),
            Err(why) => error!("a message cannot be written: {why}"),
        }
    }

    /// Lets the next user in that still waits. Says whether there is one.
    fn admit(&mut self, resource: usize, fence: Fence) -> bool {
        let Some(waiter) = self.lines[resource].next() else { return false };
        let Some(orders) = self.guards.orders.upgrade() else { return false };
        let (over, store) = (self.guards.over.clone(), self.store.clone());
        let ticket = waiter.ticket;
        let guard = Guard::new(Desk { orders, over, store }, resource, ticket, fence);
        let name = self.name(resource);
        let waited = waiter.since.elapsed();
        waiter.span.in_scope(|| debug!(resource = name, %fence, ?waited, "entered"));
        let span = tracing::debug_span!(parent: &self.epoch, "inside", resource = name, %fence);
        let holder = Holder { ticket, fence, since: Instant::now(), _span: span };
        metrics::counter!("exclusion_net_entries_total").increment(1);
        metrics::histogram!("exclusion_net_wait_seconds").record(waited);
        // If it stops waiting now, the guard is dropped, and says so as any other does.
        self.lines[resource].inside = Some(holder);
        let _ = waiter.reply.send(Ok(guard));
        true
    }

    fn refuse_all(&mut self, why: &Down) {
        self.tell_over.send_if_modified(|over| {
            let first = over.is_none();
            over.get_or_insert_with(|| why.clone());
            first
        });
        self.lines.iter_mut().for_each(|line| line.refuse_all(why));
    }

    fn name(&self, resource: usize) -> &str {
        &self.configuration.resources[resource]
    }

    fn id_of(&self, node: NodeId) -> u32 {
        self.configuration.membership.member(node).id
    }

    /// Tells why a session has ended: loudly if that is news.
    fn note_end(&mut self, peer: NodeId, why: &str) {
        metrics::counter!("exclusion_net_sessions_ended_total").increment(1);
        let id = self.id_of(peer);
        if self.ends[peer.index()].as_deref() == Some(why) {
            debug!(peer = id, "the session has ended again: {why}");
        } else {
            warn!(peer = id, "the session has ended: {why}");
            self.ends[peer.index()] = Some(why.to_owned());
        }
    }

    /// Remembers why, unless something that says more is remembered.
    fn remember(&mut self, peer: NodeId, why: &str) {
        self.ends[peer.index()].get_or_insert_with(|| why.to_owned());
    }

    fn incomplete(&self) -> Down {
        let me = self.machine.id();
        let nodes = self.configuration.membership.members().len();
        let missing = me.others(nodes).filter(|peer| !self.machine.is_up(*peer));
        Down::Incomplete { missing: missing.map(|peer| self.id_of(peer)).collect() }
    }

    fn status(&self) -> Status {
        let me = self.machine.id();
        let peer = |peer: NodeId| PeerStatus {
            id: self.id_of(peer),
            is_up: self.machine.is_up(peer),
            last_end: self.ends[peer.index()].clone(),
        };
        let resource = |(name, line): (&String, &Line)| ResourceStatus {
            name: name.clone(),
            inside: line.inside.as_ref().map(|holder| holder.fence),
            waiting: line.waiting(),
        };
        Status {
            me: self.id_of(me),
            algorithm: self.configuration.algorithm.name.to_owned(),
            incarnation: self.machine.life().incarnation,
            epoch: match self.machine.stage() {
                Stage::Running(epoch) => Some(epoch),
                Stage::Gathering | Stage::Agreed(_) => None,
            },
            last_epoch: self.machine.record().epoch,
            is_awaited: self.machine.is_awaited(),
            messages_sent: self.messages_sent,
            peers: me.others(self.ends.len()).map(peer).collect(),
            resources: self.configuration.resources.iter().zip(&self.lines).map(resource).collect(),
        }
    }
}
