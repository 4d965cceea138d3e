//! A node that runs: the machine of the [strict mode](crate::strict) with its disk, its sessions
//! and its users.

mod down;
mod driver;
mod handle;
mod line;
mod order;
mod status;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::{FromRegistry, NodeId};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

pub use down::{Down, NoSuchResource, StartError};
pub use handle::{Guard, Handle};
pub use status::{PeerStatus, ResourceStatus, Status};

use crate::keys::{SecretKey, random};
use crate::link::Link;
use crate::link::quic::{self, QuicLink};
use crate::membership::{Configuration, PROTOCOL_VERSION};
use crate::store::{Store, StoreError, clear, try_to_clear};
use crate::strict::{Precautions, Record, Strict};
use driver::Driver;
use order::{Desk, Order};

/// What a node is to be.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What all nodes have in common.
    pub configuration: Configuration,
    /// Which member it is.
    pub me: u32,
    /// The key by which it proves that.
    pub secret: SecretKey,
    /// The directory for what it must not forget. It is made if there is none. A node whose
    /// directory is lost is refused by the others.
    pub data: PathBuf,
}

/// A node that runs.
///
/// It goes on as long as this, a [`Handle`] or a [`Guard`] is there, unless it is
/// [shut down](Self::shutdown).
#[derive(Debug)]
pub struct Node {
    desk: Desk,
    configuration: Configuration,
    incarnation: u64,
}

impl Node {
    /// Starts a node, in the background of the runtime that this is called in. It says hello as
    /// soon as nothing of an earlier life is inside.
    ///
    /// # Errors
    /// If it is no member, has another key, or its directory or address cannot be used.
    pub async fn start(settings: Settings) -> Result<Self, StartError> {
        Self::start_with(settings, Precautions::ALL).await
    }

    /// The same with a precaution left out, to show what it is for.
    #[doc(hidden)]
    pub async fn start_with(
        settings: Settings,
        precautions: Precautions,
    ) -> Result<Self, StartError> {
        let Settings { configuration, me, secret, data } = settings;
        let (store, node) = open(&configuration, me, &secret, &data)?;
        let kept = store.read()?;
        let peers = configuration.membership.members().iter();
        let member = configuration.membership.member(node);
        let link = QuicLink::bind(quic::Settings {
            me: node,
            secret,
            listen: member.listen.unwrap_or(member.address),
            peers: peers.map(|it| quic::Peer { key: it.key, address: it.address }).collect(),
            alpn: format!("exclusion-net/{PROTOCOL_VERSION}").into_bytes(),
            idle_timeout: configuration.idle_timeout,
        });
        let link = link.await.map_err(StartError::Listen)?;
        Ok(Self::start_over(link, configuration, node, store, kept, precautions)?)
    }

    /// Starts a node over a link.
    fn start_over<L: Link>(
        link: L,
        configuration: Configuration,
        me: NodeId,
        store: Store,
        kept: Record,
        precautions: Precautions,
    ) -> Result<Self, StoreError> {
        let (size, algorithm) = (configuration.size(), configuration.algorithm);
        let starting = Starting { link, configuration, me, store, kept, precautions };
        algorithm.build(size, starting).expect("the configuration was checked")
    }

    /// A handle of a resource.
    ///
    /// # Errors
    /// If the configuration has none of this name.
    pub fn handle(&self, name: &str) -> Result<Handle, NoSuchResource> {
        let Configuration { resources, period, .. } = &self.configuration;
        match self.configuration.resource(name) {
            Some(place) => Ok(Handle::new(self.desk.clone(), place, name, *period)),
            None => Err(NoSuchResource { name: name.to_owned(), names: resources.clone() }),
        }
    }

    /// How it is.
    ///
    /// # Errors
    /// If it is shut down, or cannot go on.
    pub async fn status(&self) -> Result<Status, Down> {
        let (reply, answer) = oneshot::channel();
        let _ = self.desk.orders.send(Order::Status(reply));
        answer.await.map_err(|_| self.desk.over.borrow().clone().unwrap_or(Down::Closed))
    }

    /// An operator says that nothing of the node of this number is running, and that it may begin
    /// anew without its memory. All other nodes must be told. Of this word nothing is checked: if
    /// it is wrong, two may be inside.
    ///
    /// # Errors
    /// If there is no such peer, or the cluster is whole. The text says which.
    pub async fn replace(&self, id: u32) -> Result<(), String> {
        let peer = self.configuration.membership.node(id);
        let peer = peer.ok_or_else(|| format!("the configuration has no member {id}"))?;
        let (reply, answer) = oneshot::channel();
        let _ = self.desk.orders.send(Order::Replace(peer, reply));
        answer.await.unwrap_or_else(|_| Err(Down::Closed.to_string()))
    }

    /// Shuts it down. Users that wait get an error. Those that are inside are told that their guard
    /// is [lost](Guard::lost), and the node waits for them to leave; then it ends its sessions.
    pub async fn shutdown(&self) {
        let (reply, done) = oneshot::channel();
        let _ = self.desk.orders.send(Order::Shutdown(reply));
        let _ = done.await;
    }

    /// Resolves when it is being shut down or cannot go on, and says which.
    pub async fn over(&self) -> Down {
        let mut over = self.desk.over.clone();
        let why = over.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or(Down::Closed)
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.desk.store
    }

    pub(crate) fn incarnation(&self) -> u64 {
        self.incarnation
    }
}

/// The same as [`Node::replace`], for a node that does not run.
///
/// # Errors
/// If there is no such member, or the directory cannot be used.
pub fn replace_while_down(settings: &Settings, id: u32) -> Result<(), StartError> {
    let Settings { configuration, me, secret, data } = settings;
    let peer = configuration.membership.node(id).ok_or(StartError::NoMember(id))?;
    let (store, _) = open(configuration, *me, secret, data)?;
    let mut record = store.read()?;
    record.known[peer.index()] = None;
    Ok(store.keep(&record)?)
}

/// Opens the directory of a member, if the key is right.
fn open(
    configuration: &Configuration,
    me: u32,
    secret: &SecretKey,
    data: &std::path::Path,
) -> Result<(Store, NodeId), StartError> {
    let node = configuration.membership.node(me).ok_or(StartError::NoMember(me))?;
    let (wanted, given) = (configuration.membership.member(node).key, secret.public());
    if wanted != given {
        return Err(StartError::Key { me, wanted, given });
    }
    Ok((Store::open(data, configuration, me)?, node))
}

/// Starts a node, whatever its algorithm.
struct Starting<L> {
    link: L,
    configuration: Configuration,
    me: NodeId,
    store: Store,
    kept: Record,
    precautions: Precautions,
}

impl<L: Link> Visitor for Starting<L> {
    type Output = Result<Node, StoreError>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let Self { link, configuration, me, store, kept, precautions } = self;
        let blueprint = FromRegistry::of(algorithm, &cluster);
        let resources = configuration.resources.len();
        let digest = configuration.digest();
        let mut machine = Strict::new(blueprint, me, digest, kept, random(), resources);
        machine = machine.with(precautions);
        store.keep(machine.record())?;
        let incarnation = machine.life().incarnation;

        let mut left = store.left_inside()?;
        left.retain(|path| !try_to_clear(path).unwrap_or(false));
        if !left.is_empty() {
            machine = machine.with_orphans();
        }
        let (orders, taken) = mpsc::unbounded_channel();
        let (tell_over, over) = watch::channel(None);
        if !left.is_empty() {
            tracing::warn!(count = left.len(), "commands of an earlier life are still inside");
            let orders = orders.downgrade();
            tokio::spawn(async move {
                for path in left {
                    if let Err(why) = clear(&path).await {
                        let path = path.display();
                        tracing::error!("{path}: {why}: it is not known whether it is inside");
                        return;
                    }
                }
                if let Some(orders) = orders.upgrade() {
                    let _ = orders.send(Order::OrphansGone);
                }
            });
        }
        let desk = Desk { orders, over, store: Arc::new(store) };
        let driver = Driver::new(machine, link, &desk, &configuration, taken, tell_over);
        let span = tracing::info_span!("node", me = configuration.membership.member(me).id);
        tokio::spawn(driver.run().instrument(span));
        Ok(Node { desk, configuration, incarnation })
    }
}
