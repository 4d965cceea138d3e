//! What the tasks of a node share, and what it answers to the others.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use exclusion::message::NodeId;
use openraft::Raft;
use tokio::sync::{mpsc, oneshot, watch};

use super::actor::Delivery;
use super::identity::Identity;
use super::roster::{Command, Stale};
use super::settings::{Down, Settings};
use super::store::Types;
use super::transport::{Later, Service};
use super::wire::{Call, Caller, Reply, Request, encode};
use crate::strict::Life;

/// What the tasks of a node share.
pub(super) struct Shared {
    pub(super) settings: Settings,
    pub(super) life: Life,
    /// Why the node is down.
    pub(super) status: watch::Sender<Option<Down>>,
    pub(super) caller: Caller,
    identity: Mutex<Identity>,
    /// The latest life of each peer.
    lives: Mutex<BTreeMap<NodeId, u64>>,
    pub(super) raft: OnceLock<Raft<Types>>,
    deliveries: mpsc::Sender<Delivery>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(
        settings: Settings,
        identity: Identity,
        caller: Caller,
        deliveries: mpsc::Sender<Delivery>,
    ) -> Self {
        Self {
            settings,
            life: identity.life(),
            status: watch::Sender::new(None),
            caller,
            identity: Mutex::new(identity),
            lives: Mutex::default(),
            raft: OnceLock::new(),
            deliveries,
        }
    }

    pub(super) fn raft(&self) -> Option<&Raft<Types>> {
        self.raft.get()
    }

    /// The node is down from now on, if it is not yet. Hands over why.
    pub(super) fn stop(&self, why: Down) -> Down {
        self.status.send_if_modified(|status| {
            let is_first = status.is_none();
            status.get_or_insert(why);
            is_first
        });
        self.status.borrow().clone().unwrap_or(Down::Stopped)
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.settings.me.others(self.settings.nodes)
    }

    /// Has a command agreed on, by way of the leader.
    pub(super) async fn submit(&self, command: Command) -> io::Result<Result<u64, Stale>> {
        let raft = self.raft().ok_or(io::ErrorKind::NotConnected)?;
        let leader = raft.metrics().borrow().current_leader.ok_or(io::ErrorKind::NotConnected)?;
        let leader = NodeId(u32::try_from(leader).map_err(io::Error::other)?);
        if leader == self.settings.me {
            let written = raft.client_write(command).await.map_err(io::Error::other)?;
            return Ok(written.data.0);
        }
        let reply = self.caller.call(leader, Call::Submit(command), self.settings.lease).await?;
        match reply {
            Reply::Submitted(verdict) => Ok(verdict.0),
            other => Err(io::Error::other(format!("{leader} answers {other:?}"))),
        }
    }

    /// Says hello to a peer until it says welcome.
    async fn greet(&self, peer: NodeId) -> Result<(), Down> {
        let wait = self.settings.lease / 4;
        loop {
            match self.caller.call(peer, Call::Hello, wait).await {
                Ok(Reply::Welcome) => return Ok(()),
                Ok(Reply::Blank) => return Err(Down::Blank(peer)),
                Ok(Reply::Refused(why)) => return Err(Down::Foreign(peer, why)),
                Ok(other) => tracing::debug!(%peer, ?other, "no welcome yet"),
                Err(error) => tracing::debug!(%peer, %error, "no welcome yet"),
            }
            tokio::time::sleep(wait / 10).await;
        }
    }

    /// Lets the node take part, which at its first start needs a welcome of all others.
    pub(super) async fn be_welcomed(&self) -> Result<(), Down> {
        if locked(&self.identity).is_welcomed() {
            return Ok(());
        }
        for peer in self.peers() {
            self.greet(peer).await?;
        }
        locked(&self.identity).welcomed().map_err(disk)
    }

    /// Whether a request comes from a node that belongs.
    fn check(&self, from: NodeId, request: &Request) -> Result<(), Reply> {
        if from == self.settings.me || from.index() >= self.settings.nodes {
            return Err(Reply::Refused("there is no such node".to_owned()));
        }
        if request.digest != self.caller.digest {
            let (theirs, ours) = (request.digest, self.caller.digest);
            let why = format!("it has another configuration ({theirs}, ours is {ours})");
            tracing::warn!(%from, why, "a peer is refused");
            return Err(Reply::Refused(why));
        }
        match locked(&self.identity).meet(from, request.life.mark) {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!(%from, "a peer is refused: it has lost its memory");
                return Err(Reply::Blank);
            }
            Err(error) => {
                let why = self.stop(disk(error));
                return Err(Reply::NotNow(why.to_string()));
            }
        }
        let mut lives = locked(&self.lives);
        let latest = lives.entry(from).or_insert(0);
        if request.life.incarnation < *latest {
            return Err(Reply::Refused("a later life of the node is known".to_owned()));
        }
        *latest = request.life.incarnation;
        Ok(())
    }

    async fn reply(&self, from: NodeId, bytes: &[u8]) -> Reply {
        let stopped = self.status.borrow().clone();
        if let Some(why) = stopped {
            return Reply::NotNow(why.to_string());
        }
        let Ok(request) = postcard::from_bytes::<Request>(bytes) else {
            return Reply::Refused("it speaks another language".to_owned());
        };
        if let Err(refused) = self.check(from, &request) {
            return refused;
        }
        if let Call::Hello = request.call {
            return Reply::Welcome;
        }
        let Some(raft) = self.raft() else {
            return Reply::NotNow("it has not been welcomed by all yet".to_owned());
        };
        let not_now = |error: &dyn fmt::Display| Reply::NotNow(error.to_string());
        match request.call {
            Call::Hello => Reply::Welcome,
            Call::Append(rpc) => {
                raft.append_entries(rpc).await.map_or_else(|error| not_now(&error), Reply::Append)
            }
            Call::Vote(rpc) => {
                raft.vote(rpc).await.map_or_else(|error| not_now(&error), Reply::Vote)
            }
            Call::Snapshot { vote, meta, data } => {
                let snapshot = openraft::Snapshot { meta, snapshot: Box::new(data) };
                let installed = raft.install_full_snapshot(vote, snapshot).await;
                installed.map_or_else(|error| not_now(&error), Reply::Snapshot)
            }
            Call::Submit(command) => {
                if !may_submit(from, &command) {
                    return Reply::Refused("a node submits for itself only".to_owned());
                }
                let written = raft.client_write(command).await;
                written.map_or_else(|error| not_now(&error), |it| Reply::Submitted(it.data))
            }
            Call::Letters(batch) => {
                let (reply, receipt) = oneshot::channel();
                if self.deliveries.try_send((from, batch, reply)).is_err() {
                    return Reply::NotNow("it has too much to do".to_owned());
                }
                receipt.await.map_or_else(|error| not_now(&error), Reply::Letters)
            }
        }
    }
}

fn may_submit(from: NodeId, command: &Command) -> bool {
    match *command {
        Command::Admit { node, .. } | Command::Beat { node, .. } | Command::Leave { node, .. } => {
            node == from
        }
        Command::Raise { .. } => true,
        Command::Exclude { .. } => false,
    }
}

pub(super) fn disk(error: io::Error) -> Down {
    Down::Disk(error.to_string())
}

impl Service for Shared {
    fn answer(&self, from: NodeId, request: Vec<u8>) -> Later<'_, Vec<u8>> {
        Box::pin(async move {
            let reply = self.reply(from, &request).await;
            encode(&reply).unwrap_or_default()
        })
    }
}
