//! Sessions over QUIC: iroh, without relays and without discovery.
//!
//! | rule | why |
//! |---|---|
//! | of two nodes the one with the smaller number dials | no two dials cross |
//! | a session that a peer dials ends the one before it | the peer has noticed first that it is over |
//! | both sides are authenticated by their public keys | a node that is no member is refused |
//! | the name of the protocol has its version | another version is refused in the handshake |
//! | a stream in each direction, and no more | order |
//! | nothing heard for the idle timeout is the end | QUIC's own default is half a minute |

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use exclusion::message::NodeId;
use iroh::endpoint::{Connection, IdleTimeout, PortmapperConfig, QuicTransportConfig, VarInt};
use iroh::endpoint::{ConnectionError, Incoming, presets};
use iroh::{Endpoint, EndpointAddr};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tracing::{debug, info, warn};

use super::outbox::{Outbox, Outgoing, outbox};
use super::{Event, Link};
use crate::frame;
use crate::keys::{PublicKey, SecretKey};

/// The code with which a session is closed. The reason is in words.
const CLOSED: u32 = 1;
/// How much of the words a peer is told.
const MOST_REASON: usize = 300;
/// How many handshakes may be under way.
const MOST_HANDSHAKES: usize = 64;
/// How many events may wait for the node. The peers wait then, as QUIC's windows make them.
const MOST_EVENTS: usize = 1024;
/// How many frames are written at once at most.
const MOST_AT_ONCE: usize = 64;
/// The pause before a node dials again: the shortest, and the longest after many failures.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(800));

/// Where a peer is, and by which key it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) key: PublicKey,
    pub(crate) address: SocketAddr,
}

/// What a link is to be.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) me: NodeId,
    pub(crate) secret: SecretKey,
    /// Where it listens.
    pub(crate) listen: SocketAddr,
    /// All nodes, itself included.
    pub(crate) peers: Vec<Peer>,
    /// The name of the protocol, with its version.
    pub(crate) alpn: Vec<u8>,
    pub(crate) idle_timeout: Duration,
}

/// What the tasks of the sessions tell the link. Each session has a number.
#[derive(Debug)]
struct Told {
    peer: NodeId,
    session: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    Up(Connection, Outbox),
    Frame(Vec<u8>),
    Ended(String),
}

/// What the tasks share.
#[derive(Debug)]
struct Shared {
    me: NodeId,
    endpoint: Endpoint,
    peers: Vec<Peer>,
    alpn: Vec<u8>,
    events: mpsc::Sender<Told>,
    next_session: AtomicU64,
}

#[derive(Debug)]
struct Session {
    number: u64,
    connection: Connection,
    outbox: Outbox,
}

/// The sessions of one node.
#[derive(Debug)]
pub(crate) struct QuicLink {
    endpoint: Endpoint,
    told: mpsc::Receiver<Told>,
    sessions: Vec<Option<Session>>,
    /// What is to be told before anything else.
    first: VecDeque<Event>,
    tasks: Vec<AbortHandle>,
}

impl QuicLink {
    /// Binds to the address, and begins to dial and to listen.
    pub(crate) async fn bind(settings: Settings) -> io::Result<Self> {
        let Settings { me, secret, listen, peers, alpn, idle_timeout } = settings;
        let endpoint = Endpoint::builder(presets::Minimal)
            .secret_key(secret.to_iroh())
            .alpns(vec![alpn.clone()])
            .transport_config(transport(idle_timeout)?)
            .clear_ip_transports()
            .clear_relay_transports()
            .clear_address_lookup()
            .portmapper_config(PortmapperConfig::Disabled)
            .bind_addr(listen)
            .map_err(io::Error::other)?
            .bind()
            .await
            .map_err(|why| io::Error::other(format!("cannot listen on {listen}: {why:#}")))?;
        let (events, told) = mpsc::channel(MOST_EVENTS);
        let nodes = peers.len();
        let shared = Arc::new(Shared {
            me,
            endpoint: endpoint.clone(),
            peers,
            alpn,
            events,
            next_session: AtomicU64::new(1),
        });
        let mut tasks = vec![tokio::spawn(shared.clone().listen(idle_timeout)).abort_handle()];
        for peer in me.others(nodes).filter(|peer| *peer > me) {
            tasks.push(tokio::spawn(shared.clone().dial(peer)).abort_handle());
        }
        let sessions = (0..nodes).map(|_| None).collect();
        Ok(Self { endpoint, told, sessions, first: VecDeque::new(), tasks })
    }

    /// Takes a session away, and closes it.
    fn shut(&mut self, peer: NodeId, why: &str) -> bool {
        let session = self.sessions[peer.index()].take();
        if let Some(session) = &session {
            close(&session.connection, why);
        }
        session.is_some()
    }
}

fn transport(idle_timeout: Duration) -> io::Result<QuicTransportConfig> {
    let idle = IdleTimeout::try_from(idle_timeout).map_err(io::Error::other)?;
    let alive = idle_timeout / 4;
    Ok(QuicTransportConfig::builder()
        .max_idle_timeout(Some(idle))
        .keep_alive_interval(alive)
        .default_path_max_idle_timeout(idle_timeout)
        .default_path_keep_alive_interval(alive)
        .initial_rtt(Duration::from_millis(100))
        .max_concurrent_uni_streams(VarInt::from_u32(1))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(1 << 20))
        .receive_window(VarInt::from_u32(1 << 20))
        .send_window(1 << 20)
        .build())
}

fn close(connection: &Connection, why: &str) {
    let mut end = why.len().min(MOST_REASON);
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    connection.close(VarInt::from_u32(CLOSED), &why.as_bytes()[..end]);
}

/// Why a connection is over, in words. What a peer says is shown as text without line ends.
fn in_words(why: &ConnectionError) -> String {
    match why {
        ConnectionError::ApplicationClosed(closed) => {
            let reason = String::from_utf8_lossy(&closed.reason);
            let reason: String = reason.chars().filter(|it| !it.is_control()).collect();
            format!("it says: {reason}")
        }
        ConnectionError::TimedOut => "nothing was heard of it".to_owned(),
        other => other.to_string(),
    }
}

impl Shared {
    async fn listen(self: Arc<Self>, limit: Duration) {
        let handshakes = Arc::new(Semaphore::new(MOST_HANDSHAKES));
        while let Some(incoming) = self.endpoint.accept().await {
            let Ok(permit) = handshakes.clone().try_acquire_owned() else {
                incoming.refuse();
                continue;
            };
            let shared = self.clone();
            tokio::spawn(async move {
                let accepted = tokio::time::timeout(limit, shared.accept(incoming)).await;
                drop(permit);
                if let Ok(Some((peer, connection))) = accepted {
                    shared.serve(peer, connection).await;
                }
            });
        }
    }

    /// Lets in a member with a smaller number.
    async fn accept(&self, incoming: Incoming) -> Option<(NodeId, Connection)> {
        let from = incoming.remote_addr();
        let connection = match incoming.await {
            Ok(connection) => connection,
            Err(why) => {
                warn!(?from, "refused in the handshake: {why:#}");
                return None;
            }
        };
        let key = PublicKey::from_iroh(&connection.remote_id());
        let peer = self.peers.iter().position(|peer| peer.key == key);
        match peer.and_then(|peer| NodeId::all(self.peers.len()).nth(peer)) {
            Some(peer) if peer < self.me => Some((peer, connection)),
            Some(_) => {
                close(&connection, "the node with the smaller number dials");
                None
            }
            None => {
                warn!(?from, %key, "refused: no member has this key");
                metrics::counter!("exclusion_net_refused_total").increment(1);
                close(&connection, "no member of this cluster has your key");
                None
            }
        }
    }

    /// Dials a peer for ever.
    async fn dial(self: Arc<Self>, peer: NodeId) {
        let Peer { key, address } = self.peers[peer.index()];
        let to = EndpointAddr::new(key.to_iroh()).with_ip_addr(address);
        let (shortest, longest) = PAUSES;
        let (mut pause, mut said) = (shortest, String::new());
        loop {
            let since = Instant::now();
            match self.endpoint.connect(to.clone(), &self.alpn).await {
                Ok(connection) => {
                    said.clear();
                    self.serve(peer, connection).await;
                }
                Err(why) => {
                    let why = format!("{why:#}");
                    if why != said {
                        info!(%peer, %address, "cannot reach it yet: {why}");
                        said = why;
                    }
                }
            }
            // What lasted is no failure.
            pause = if since.elapsed() > longest { shortest } else { (pause * 2).min(longest) };
            // Some time more or less, so that nodes that have fallen out fall in step again.
            tokio::time::sleep(pause.mul_f64(0.5 + f64::from(crate::keys::random_byte()) / 255.0))
                .await;
        }
    }

    /// Runs a session until it ends.
    async fn serve(&self, peer: NodeId, connection: Connection) {
        // Relaxed: nothing but a number that is not used twice.
        let session = self.next_session.fetch_add(1, Ordering::Relaxed);
        let (outbox, outgoing) = outbox();
        let tell = async |what| self.events.send(Told { peer, session, what }).await.is_ok();
        if !tell(What::Up(connection.clone(), outbox)).await {
            return;
        }
        let writer = tokio::spawn(write(connection.clone(), outgoing));
        let why = match self.read(peer, session, &connection).await {
            Ok(()) => "it has closed its stream".to_owned(),
            Err(why) => match connection.close_reason() {
                Some(reason) => in_words(&reason),
                None => why.to_string(),
            },
        };
        close(&connection, &why);
        writer.abort();
        tell(What::Ended(why)).await;
    }

    async fn read(&self, peer: NodeId, session: u64, connection: &Connection) -> io::Result<()> {
        let stream = connection.accept_uni().await.map_err(io::Error::other)?;
        let mut stream = BufReader::new(stream);
        while let Some(bytes) = frame::read(&mut stream).await? {
            let told = Told { peer, session, what: What::Frame(bytes) };
            if self.events.send(told).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Writes what is put into the outbox, several frames at once if they are there.
async fn write(connection: Connection, mut outgoing: Outgoing) -> io::Result<()> {
    let mut stream = connection.open_uni().await.map_err(io::Error::other)?;
    let mut buffer = Vec::new();
    while let Some(frame) = outgoing.next().await {
        buffer.clear();
        frame::push(&mut buffer, &frame)?;
        for _ in 1..MOST_AT_ONCE {
            let Some(frame) = outgoing.ready() else { break };
            frame::push(&mut buffer, &frame)?;
        }
        stream.write_all(&buffer).await.map_err(io::Error::other)?;
        stream.flush().await?;
    }
    Ok(())
}

impl Link for QuicLink {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.first.pop_front() {
                return Some(event);
            }
            let Told { peer, session: number, what } = self.told.recv().await?;
            let is_current = |session: &mut Session| session.number == number;
            match what {
                What::Up(connection, outbox) => {
                    if self.shut(peer, "a later session has taken its place") {
                        let why = "it has begun a later session".to_owned();
                        self.first.push_back(Event::Ended(peer, why));
                    }
                    debug!(%peer, session = number, "a session is up");
                    self.sessions[peer.index()] = Some(Session { number, connection, outbox });
                    self.first.push_back(Event::Up(peer));
                }
                What::Frame(bytes) => {
                    if self.sessions[peer.index()].as_mut().is_some_and(is_current) {
                        return Some(Event::Frame(peer, bytes));
                    }
                }
                What::Ended(why) => {
                    if self.sessions[peer.index()].take_if(is_current).is_some() {
                        return Some(Event::Ended(peer, why));
                    }
                }
            }
        }
    }

    fn send(&mut self, peer: NodeId, frame: Vec<u8>) {
        let Some(session) = &self.sessions[peer.index()] else { return };
        if let Err(why) = session.outbox.put(frame) {
            self.shut(peer, why);
            self.first.push_back(Event::Ended(peer, why.to_owned()));
        }
    }

    fn end(&mut self, peer: NodeId, why: &str) {
        self.shut(peer, why);
        // What was not told yet is of the session that this was called for, or of one after it
        // that is closed now.
        self.first.retain(|event| match event {
            Event::Up(it) | Event::Ended(it, _) | Event::Frame(it, _) => *it != peer,
        });
    }

    async fn close(&mut self) {
        for task in self.tasks.drain(..) {
            task.abort();
        }
        for peer in NodeId::all(self.sessions.len()) {
            self.shut(peer, "the node is shut down");
        }
        self.endpoint.close().await;
    }
}

impl Drop for QuicLink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Addresses on loopback that are free for now.
    fn addresses(count: usize) -> Vec<SocketAddr> {
        let bind = |_| std::net::UdpSocket::bind("127.0.0.1:0").expect("there are some");
        let sockets: Vec<_> = (0..count).map(bind).collect();
        sockets.iter().map(|socket| socket.local_addr().expect("it is bound")).collect()
    }

    fn all_settings(count: usize) -> Vec<Settings> {
        let keys: Vec<_> = (0..count).map(|_| SecretKey::generate()).collect();
        let all = keys.iter().zip(addresses(count));
        let peers: Vec<_> = all.map(|(key, address)| Peer { key: key.public(), address }).collect();
        let settings = |(me, secret): (NodeId, SecretKey)| Settings {
            me,
            secret,
            listen: peers[me.index()].address,
            peers: peers.clone(),
            alpn: b"test/1".to_vec(),
            idle_timeout: Duration::from_secs(3),
        };
        NodeId::all(count).zip(keys).map(settings).collect()
    }

    async fn next(link: &mut QuicLink) -> Event {
        tokio::time::timeout(LIMIT, link.next()).await.expect("it happens").expect("it is open")
    }

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    #[tokio::test]
    async fn a_session_carries_frames_in_order_ends_for_both_and_begins_anew() {
        let mut settings = all_settings(2).into_iter();
        let mut a = QuicLink::bind(settings.next().unwrap()).await.unwrap();
        let mut b = QuicLink::bind(settings.next().unwrap()).await.unwrap();
        assert_eq!(next(&mut a).await, Event::Up(B));
        assert_eq!(next(&mut b).await, Event::Up(A));
        for number in 0..200 {
            a.send(B, vec![number; 100 * usize::from(number)]);
            b.send(A, vec![number]);
        }
        for number in 0..200 {
            assert_eq!(next(&mut a).await, Event::Frame(B, vec![number]));
            let frame = vec![number; 100 * usize::from(number)];
            assert_eq!(next(&mut b).await, Event::Frame(A, frame));
        }
        b.end(A, "enough is enough");
        let Event::Ended(B, why) = next(&mut a).await else { panic!("it has ended") };
        assert!(why.contains("enough is enough"), "{why}");
        assert_eq!(next(&mut a).await, Event::Up(B));
        assert_eq!(next(&mut b).await, Event::Up(A));
        a.close().await;
        let Event::Ended(A, why) = next(&mut b).await else { panic!("it has ended") };
        assert!(why.contains("shut down"), "{why}");
    }

    #[tokio::test]
    async fn a_peer_that_takes_nothing_loses_its_session() {
        let mut settings = all_settings(2).into_iter();
        let mut a = QuicLink::bind(settings.next().unwrap()).await.unwrap();
        let mut b = QuicLink::bind(settings.next().unwrap()).await.unwrap();
        assert_eq!(next(&mut a).await, Event::Up(B));
        assert_eq!(next(&mut b).await, Event::Up(A));
        // Nobody asks b for what comes. Sending never waits, and ends at some time.
        let mut sent = 0;
        while a.sessions[B.index()].is_some() {
            a.send(B, vec![0; frame::MOST_BYTES]);
            sent += 1;
            assert!(sent < 10_000, "there is no bound");
        }
        assert!(matches!(next(&mut a).await, Event::Ended(B, why) if why.contains("slowly")));
    }

    #[tokio::test]
    async fn a_frame_that_is_too_long_ends_the_session() {
        let mut settings = all_settings(2).into_iter();
        let (a, b) = (settings.next().unwrap(), settings.next().unwrap());
        let to = EndpointAddr::new(b.peers[1].key.to_iroh()).with_ip_addr(b.peers[1].address);
        let mut b = QuicLink::bind(b).await.unwrap();
        // A member in its wrong mind.
        let endpoint = Endpoint::builder(presets::Minimal)
            .secret_key(a.secret.to_iroh())
            .clear_ip_transports()
            .bind_addr(a.listen)
            .unwrap();
        let endpoint = endpoint.bind().await.unwrap();
        let connecting = endpoint.connect(to, &a.alpn);
        let connection = tokio::time::timeout(LIMIT, connecting).await.unwrap().unwrap();
        assert_eq!(next(&mut b).await, Event::Up(A));
        let mut stream = connection.open_uni().await.unwrap();
        stream.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
        let Event::Ended(A, why) = next(&mut b).await else { panic!("it has ended") };
        assert!(why.contains("are allowed"), "{why}");
    }

    #[tokio::test]
    async fn another_version_and_a_stranger_get_no_session() {
        for stranger in [false, true] {
            let mut settings = all_settings(2);
            if stranger {
                settings[0].secret = SecretKey::generate();
            } else {
                settings[0].alpn = b"test/2".to_vec();
            }
            let mut settings = settings.into_iter();
            let mut a = QuicLink::bind(settings.next().unwrap()).await.unwrap();
            let mut b = QuicLink::bind(settings.next().unwrap()).await.unwrap();
            let told = tokio::time::timeout(Duration::from_secs(2), b.next());
            let other = tokio::time::timeout(Duration::from_secs(2), async {
                loop {
                    // A stranger has a session for a moment, until it is told why not.
                    if let Some(Event::Ended(_, why)) = a.next().await {
                        assert!(why.contains("your key"), "{why}");
                    }
                }
            });
            let (told, _): (_, Result<(), _>) = tokio::join!(told, other);
            assert!(told.is_err(), "{told:?}");
        }
    }
}
