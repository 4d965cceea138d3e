//! Calls over sessions: the transport of nodes that are processes.
//!
//! A session with each peer carries the requests and the responses of both sides. Each request has
//! a number, and its response has the same. When a session ends, the calls over it fail.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::{FromRegistry, NodeId};
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::medium::{Directory, Medium};
use super::node::Node;
use super::settings::{Down, Settings};
use super::shared::disk;
use super::transport::{Later, Service, Transport};
use crate::link::quic::{self, QuicLink};
use crate::link::{Event, Link};

/// How many requests of one peer may be under way.
const MOST_REQUESTS: usize = 64;

/// How many calls to one peer may be under way.
const MOST_CALLS: usize = 256;

/// How many orders may wait.
const MOST_ORDERS: usize = 1024;

#[derive(Serialize, Deserialize)]
enum Frame {
    Request(u64, Vec<u8>),
    Response(u64, Vec<u8>),
}

enum Order {
    Call { peer: NodeId, request: Vec<u8>, reply: oneshot::Sender<Vec<u8>> },
    Respond { peer: NodeId, number: u64, response: Vec<u8> },
    Serve(Weak<dyn Service>),
}

/// Calls over the sessions of a link.
pub(super) struct Sessions {
    orders: mpsc::Sender<Order>,
}

impl Sessions {
    /// Takes over a link to so many nodes. It is closed when this is dropped.
    pub(super) fn over<L: Link>(link: L, nodes: usize) -> Arc<Self> {
        let (orders, taken) = mpsc::channel(MOST_ORDERS);
        let switchboard = Switchboard {
            link,
            service: None,
            calls: (0..nodes).map(|_| None).collect(),
            requests: (0..nodes).map(|_| Arc::new(Semaphore::new(MOST_REQUESTS))).collect(),
            last: 0,
            orders: orders.downgrade(),
        };
        tokio::spawn(switchboard.run(taken));
        Arc::new(Self { orders })
    }

    /// From now on this answers the calls of other nodes.
    pub(super) async fn serve(&self, service: &Arc<dyn Service>) {
        // An error says that the link is closed.
        let _ = self.orders.send(Order::Serve(Arc::downgrade(service))).await;
    }
}

impl Transport for Sessions {
    fn call(&self, peer: NodeId, request: Vec<u8>) -> Later<'_, io::Result<Vec<u8>>> {
        Box::pin(async move {
            let (reply, response) = oneshot::channel();
            let asked = self.orders.send(Order::Call { peer, request, reply }).await;
            asked.map_err(|_| io::ErrorKind::BrokenPipe)?;
            response.await.map_err(|_| io::ErrorKind::NotConnected.into())
        })
    }
}

/// The calls to a peer that are under way, by their numbers.
type Calls = BTreeMap<u64, oneshot::Sender<Vec<u8>>>;

struct Switchboard<L> {
    link: L,
    service: Option<Weak<dyn Service>>,
    /// None while there is no session with the peer.
    calls: Vec<Option<Calls>>,
    requests: Vec<Arc<Semaphore>>,
    /// The number of the last call.
    last: u64,
    orders: mpsc::WeakSender<Order>,
}

impl<L: Link> Switchboard<L> {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            tokio::select! {
                event = self.link.next() => match event {
                    Some(event) => self.take_event(event),
                    None => break,
                },
                order = orders.recv() => match order {
                    Some(order) => self.take_order(order),
                    None => break,
                },
            }
        }
        self.link.close().await;
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Up(peer) => self.calls[peer.index()] = Some(Calls::new()),
            Event::Ended(peer, why) => {
                tracing::debug!(%peer, why, "a session has ended");
                self.calls[peer.index()] = None;
            }
            Event::Frame(peer, bytes) => match postcard::from_bytes(&bytes) {
                Ok(Frame::Request(number, request)) => self.answer(peer, number, request),
                Ok(Frame::Response(number, response)) => {
                    let calls = self.calls[peer.index()].as_mut();
                    if let Some(reply) = calls.and_then(|calls| calls.remove(&number)) {
                        // The caller may have given up.
                        let _ = reply.send(response);
                    }
                }
                Err(_) => self.end(peer, "it speaks another language"),
            },
        }
    }

    fn end(&mut self, peer: NodeId, why: &str) {
        tracing::warn!(%peer, why, "a session is ended");
        self.link.end(peer, why);
        self.calls[peer.index()] = None;
    }

    fn answer(&mut self, peer: NodeId, number: u64, request: Vec<u8>) {
        let Ok(permit) = Arc::clone(&self.requests[peer.index()]).try_acquire_owned() else {
            return self.end(peer, "it asks too much at once");
        };
        let service = self.service.as_ref().and_then(Weak::upgrade);
        let (Some(service), Some(orders)) = (service, self.orders.upgrade()) else { return };
        tokio::spawn(async move {
            let response = service.answer(peer, request).await;
            // What it holds goes first: a node that ends waits for nobody.
            drop(service);
            let _ = orders.send(Order::Respond { peer, number, response }).await;
            drop(permit);
        });
    }

    fn take_order(&mut self, order: Order) {
        match order {
            Order::Serve(service) => self.service = Some(service),
            Order::Respond { peer, number, response } => {
                self.send(peer, &Frame::Response(number, response));
            }
            Order::Call { peer, request, reply } => {
                let Some(calls) = self.calls.get_mut(peer.index()).and_then(Option::as_mut) else {
                    return;
                };
                calls.retain(|_, reply| !reply.is_closed());
                if calls.len() < MOST_CALLS {
                    self.last += 1;
                    calls.insert(self.last, reply);
                    self.send(peer, &Frame::Request(self.last, request));
                }
            }
        }
    }

    fn send(&mut self, peer: NodeId, frame: &Frame) {
        match postcard::to_stdvec(frame) {
            Ok(bytes) => self.link.send(peer, bytes),
            Err(error) => tracing::error!(%peer, %error, "a frame cannot be written"),
        }
    }
}

/// Starts a node as a process of a cluster, with its configuration, its key and its directory, and
/// with leases of this length.
///
/// ```no_run
/// use std::time::Duration;
///
/// use exclusion_net::{Configuration, SecretKey, Settings, majority};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = Settings {
///     configuration: Configuration::read("cluster.toml".as_ref())?,
///     me: 1,
///     secret: SecretKey::read("1.key".as_ref())?,
///     data: "data/1".into(),
/// };
/// let node = majority::start(settings, Duration::from_secs(3)).await?;
/// let guard = node.lock("deploy").await?;
/// println!("inside, with fence {}", guard.fence());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If it is no member, has another key, or its directory or address cannot be used.
pub async fn start(settings: crate::Settings, lease: Duration) -> Result<Node, Down> {
    let crate::Settings { configuration, me, secret, data } = settings;
    let membership = &configuration.membership;
    let node = membership.node(me).ok_or(Down::NoMember(me))?;
    let member = membership.member(node);
    if member.key != secret.public() {
        return Err(Down::Key(me));
    }
    let medium = Directory::open(data.join("majority")).map_err(disk)?;
    let peers = membership.members().iter();
    let link = QuicLink::bind(quic::Settings {
        me: node,
        secret,
        listen: member.listen.unwrap_or(member.address),
        peers: peers.map(|it| quic::Peer { key: it.key, address: it.address }).collect(),
        alpn: b"exclusion-net-majority/1".to_vec(),
        idle_timeout: configuration.idle_timeout,
    });
    let link = link.await.map_err(|error| Down::Listen(error.to_string()))?;
    let nodes = membership.members().len();
    let sessions = Sessions::over(link, nodes);
    let settings = Settings {
        me: node,
        nodes,
        resources: configuration.resources.clone(),
        lease,
        period: configuration.period,
        snapshot_every: Settings::SNAPSHOT_EVERY,
    };
    let transport = Arc::clone(&sessions) as Arc<dyn Transport>;
    let opening = Opening { settings, medium: Arc::new(medium), transport };
    let opened = configuration.algorithm.build(configuration.size(), opening);
    let node = opened.map_err(|error| Down::Engine(error.to_string()))??;
    sessions.serve(&node.service()).await;
    Ok(node)
}

/// Opens a node, whatever its algorithm.
struct Opening {
    settings: Settings,
    medium: Arc<dyn Medium>,
    transport: Arc<dyn Transport>,
}

impl Visitor for Opening {
    type Output = Result<Node, Down>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let Self { settings, medium, transport } = self;
        Node::open(settings, FromRegistry::of(algorithm, &cluster), medium, transport)
    }
}
