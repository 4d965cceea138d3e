//! A node of the majority mode.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use exclusion::message::{Blueprint, Machine, NodeId};
use openraft::{EmptyNode, Raft};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::actor::{Actor, Delivery, Event};
use super::guard::Guard;
use super::identity::Identity;
use super::medium::Medium;
use super::network::Network;
use super::post::Post;
use super::roster::{Command, Roster};
use super::settings::{Down, Settings};
use super::shared::{Shared, disk};
use super::site::Site;
use super::state::StateStore;
use super::store::LogStore;
use super::transport::{Service, Transport};
use super::wire::Caller;
use crate::strict::Life;

/// How many batches of letters may wait to be taken.
const MOST_DELIVERIES: usize = 256;

type Inner<B> = <<B as Blueprint>::Lock as Machine>::Message;

/// A node of the majority mode. See the [module](super). Clones are the same node; it runs until it
/// is [stopped](Self::stop) or [shut down](Self::shutdown).
#[derive(Clone)]
pub struct Node {
    shared: Arc<Shared>,
    events: mpsc::UnboundedSender<Event>,
    roster: watch::Receiver<Roster>,
    running: watch::Receiver<bool>,
    ended: watch::Receiver<bool>,
    users: Arc<AtomicU64>,
}

impl Node {
    /// Starts a node, with what it has kept. Give its [service](Self::service) to what receives
    /// calls at once: the others wait for it.
    ///
    /// # Errors
    /// If the disk cannot be read or written, or has lost what was acknowledged.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn open<B>(
        settings: Settings,
        blueprint: B,
        medium: Arc<dyn Medium>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, Down>
    where
        B: Blueprint + Send + 'static,
        B::Lock: Send,
        Inner<B>: Serialize + DeserializeOwned + Send,
    {
        let nodes =
            u32::try_from(settings.nodes).map_err(|error| Down::Engine(error.to_string()))?;
        let log = LogStore::open(Arc::clone(&medium)).map_err(disk)?;
        let state = StateStore::open(Arc::clone(&medium), nodes).map_err(disk)?;
        let (identity, is_new) = Identity::open(medium).map_err(disk)?;
        if is_new && !(log.is_blank() && state.covers().is_none()) || log.purged() > state.covers()
        {
            return Err(Down::Disk("a part of the data directory is missing".to_owned()));
        }
        let (life, digest) = (identity.life(), settings.digest(&format!("{blueprint:?}")));
        let caller = Caller { transport, digest, life };
        let (deliveries, delivered) = mpsc::channel(MOST_DELIVERIES);
        let (events, happened) = mpsc::unbounded_channel();
        let (running, is_running) = watch::channel(false);
        let (ended, has_ended) = watch::channel(false);
        let shared = Arc::new(Shared::new(settings, identity, caller, deliveries));
        let node = Self {
            shared: Arc::clone(&shared),
            events: events.clone(),
            roster: state.watch(),
            running: is_running,
            ended: has_ended,
            users: Arc::default(),
        };
        tokio::spawn(async move {
            let mut status = shared.status.subscribe();
            let begun = tokio::select! {
                begun = begin(&shared, log, state.clone()) => begun,
                () = async { drop(status.wait_for(Option::is_some).await) } => Err(Down::Stopped),
            };
            match begun {
                Ok(()) => {
                    running.send_replace(true);
                    let roster = state.watch();
                    drop(state);
                    live(shared, blueprint, events, happened, delivered, roster).await;
                }
                Err(why) => drop(shared.stop(why)),
            }
            ended.send_replace(true);
        });
        Ok(node)
    }

    /// What answers the calls of other nodes.
    pub fn service(&self) -> Arc<dyn Service> {
        Arc::clone(&self.shared) as Arc<dyn Service>
    }

    /// Waits until the node takes part. The first start of a node needs all others, and a later one
    /// nobody.
    ///
    /// # Errors
    /// If it is down.
    pub async fn running(&self) -> Result<(), Down> {
        let mut running = self.running.clone();
        let begun = running.wait_for(|&it| it).await.is_ok();
        match self.shared.status.borrow().clone() {
            Some(why) => Err(why),
            None if begun => Ok(()),
            None => Err(Down::Stopped),
        }
    }

    /// Waits for a resource. Dropping the future takes the request back.
    ///
    /// # Errors
    /// If the node is down, or there is no such resource.
    pub async fn lock(&self, resource: &str) -> Result<Guard, Down> {
        let (_withdraw, reply) = self.ask(resource)?;
        reply.await.unwrap_or_else(|_| Err(self.down()))
    }

    /// The same until a deadline. None if it has passed.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub async fn lock_until(&self, resource: &str, end: Instant) -> Result<Option<Guard>, Down> {
        match tokio::time::timeout_at(end, self.lock(resource)).await {
            Ok(locked) => locked.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Locks a resource if no other node must be asked, and nobody of this node waits.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub async fn try_lock(&self, resource: &str) -> Result<Option<Guard>, Down> {
        let (withdraw, reply) = self.ask(resource)?;
        drop(withdraw);
        match reply.await {
            Ok(locked) => locked.map(Some),
            Err(_) => match self.shared.status.borrow().clone() {
                Some(why) => Err(why),
                None => Ok(None),
            },
        }
    }

    fn ask(&self, name: &str) -> Result<(Withdraw, oneshot::Receiver<Result<Guard, Down>>), Down> {
        let mut names = self.shared.settings.resources.iter();
        let resource = names.position(|it| it == name);
        let resource = resource.ok_or_else(|| Down::NoSuchResource(name.to_owned()))?;
        // Only that numbers differ matters.
        let user = self.users.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let asked = self.events.send(Event::Lock { resource, user, reply });
        asked.map_err(|_| self.down())?;
        Ok((Withdraw { resource, user, events: self.events.clone() }, answer))
    }

    fn down(&self) -> Down {
        self.shared.status.borrow().clone().unwrap_or(Down::Stopped)
    }

    /// The roster as this node knows it: the view, its members and the greatest fence.
    pub fn roster(&self) -> Roster {
        self.roster.borrow().clone()
    }

    /// Where the roster can be seen as it changes.
    pub fn rosters(&self) -> watch::Receiver<Roster> {
        self.roster.clone()
    }

    /// Which node leads the consensus, as far as this one knows.
    pub fn leader(&self) -> Option<NodeId> {
        let leader = self.shared.raft()?.metrics().borrow().current_leader?;
        u32::try_from(leader).ok().map(NodeId)
    }

    /// Which life of the node this is.
    pub fn life(&self) -> Life {
        self.shared.life
    }

    /// Makes all later fences greater than those of this epoch: for a cluster of which all nodes
    /// have lost their disks, while what they protect has not.
    ///
    /// # Errors
    /// If no majority can be reached, or the epoch is not greater than the present one.
    pub async fn raise(&self, epoch: u64) -> io::Result<u64> {
        let raised = self.shared.submit(Command::Raise { epoch }).await?;
        raised.map_err(io::Error::other)
    }

    /// Lets nobody in any more, leaves the view if nobody is inside, and stops. Guards that are
    /// left are lost, and the others wait until they can exclude this node.
    pub async fn shutdown(&self) {
        let (reply, is_free) = oneshot::channel();
        let closed = self.events.send(Event::Close { reply }).is_ok();
        if closed && is_free.await.unwrap_or(false) {
            let Life { incarnation, .. } = self.shared.life;
            let leave = Command::Leave { node: self.shared.settings.me, incarnation };
            let left = self.shared.submit(leave);
            let _ = tokio::time::timeout(self.shared.settings.lease, left).await;
        }
        self.stop().await;
    }

    /// Stops at once, as if the process had been killed.
    pub async fn stop(&self) {
        self.shared.stop(Down::Stopped);
        // An error says that it has ended.
        let _ = self.ended.clone().wait_for(|&it| it).await;
    }

    /// Waits until the node is down, and says why.
    pub async fn ended(&self) -> Down {
        let _ = self.ended.clone().wait_for(|&it| it).await;
        self.down()
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { me, .. } = self.shared.settings;
        f.debug_struct("Node").field("me", &me).field("life", &self.shared.life).finish()
    }
}

/// Takes a request back when it is dropped, unless it was granted.
struct Withdraw {
    resource: usize,
    user: u64,
    events: mpsc::UnboundedSender<Event>,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        let _ = self.events.send(Event::Withdraw { resource: self.resource, user: self.user });
    }
}

/// Starts the consensus engine, once the node may take part.
async fn begin(shared: &Shared, log: LogStore, state: StateStore) -> Result<(), Down> {
    shared.be_welcomed().await?;
    let engine = |error: &dyn fmt::Display| Down::Engine(error.to_string());
    let config = shared.settings.engine().validate().map_err(|error| engine(&error))?;
    let pause = Duration::from_millis(config.heartbeat_interval);
    let network = Network { caller: shared.caller.clone(), pause };
    let me = u64::from(shared.settings.me.0);
    let raft = Raft::new(me, Arc::new(config), network, log, state).await;
    let raft = raft.map_err(|error| engine(&error))?;
    if !raft.is_initialized().await.map_err(|error| engine(&error))? {
        let all = NodeId::all(shared.settings.nodes);
        let all: BTreeMap<_, _> = all.map(|node| (u64::from(node.0), EmptyNode {})).collect();
        // Another may have been faster, which is as good.
        if let Err(error) = raft.initialize(all).await {
            tracing::debug!(%error, "the cluster was begun by another");
        }
    }
    drop(shared.raft.set(raft));
    Ok(())
}

/// Runs the locks of a node until it stops.
async fn live<B>(
    shared: Arc<Shared>,
    blueprint: B,
    events: mpsc::UnboundedSender<Event>,
    happened: mpsc::UnboundedReceiver<Event>,
    delivered: mpsc::Receiver<Delivery>,
    roster: watch::Receiver<Roster>,
) where
    B: Blueprint + Send + 'static,
    B::Lock: Send,
    Inner<B>: Serialize + DeserializeOwned + Send,
{
    let Settings { me, nodes, lease, .. } = shared.settings;
    let posts: BTreeMap<_, _> = shared.peers().map(|peer| (peer, Post::new())).collect();
    let mut carriers = tokio::task::JoinSet::new();
    for (&peer, post) in &posts {
        let (post, caller) = (Arc::clone(post), shared.caller.clone());
        carriers.spawn(post.carry(caller, peer, lease / 4));
    }
    let resources = shared.settings.resources.len();
    let site = Site::new(blueprint, me, shared.life.incarnation, nodes, resources);
    Actor::new(shared, site, posts, events).run(happened, delivered, roster).await;
    // The carriers end as they are dropped.
}
