//! What an entry costs over loopback, beside the floor: the same engine, and nothing of an
//! algorithm, that bounces as many messages.
//!
//! All nodes are in one process, each with an endpoint, a disk and a loop of its own.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use exclusion::message::NodeId;
use exclusion::message::registry::Algorithm;

use crate::keys::SecretKey;
use crate::link::quic::{Peer, QuicLink, Settings as LinkSettings};
use crate::link::{Event, Link};
use crate::{Configuration, Node, Settings};

/// About as long as a message of a lock.
const FRAME: [u8; 16] = [7; 16];

/// What was measured of an algorithm.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Figures {
    /// The algorithm.
    pub algorithm: &'static str,
    /// Messages per entry of a user that is alone, at the node with the greatest number.
    pub messages: f64,
    /// The median time that such a user takes to enter and to leave.
    pub alone: Duration,
    /// The median time in which the engine bounces as many messages. None if there are none.
    pub floor: Option<Duration>,
    /// How many entries per second there are when all nodes want in.
    pub saturated: f64,
    /// Messages per entry then.
    pub messages_saturated: f64,
}

/// Addresses on loopback that are free for now.
fn addresses(count: usize) -> io::Result<Vec<SocketAddr>> {
    let bound = (0..count).map(|_| UdpSocket::bind("127.0.0.1:0"));
    let bound = bound.collect::<io::Result<Vec<_>>>()?;
    bound.iter().map(UdpSocket::local_addr).collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Measures an algorithm with so many nodes and entries, with its data in a folder.
///
/// # Errors
/// If the nodes cannot be started.
pub async fn measure(
    algorithm: &'static Algorithm,
    nodes: usize,
    entries: usize,
    folder: &Path,
) -> Result<Figures, Box<dyn std::error::Error>> {
    let nodes = start(algorithm, nodes, folder).await?;
    let last = nodes.last().ok_or("no nodes")?.handle("one")?;
    drop(last.lock().await?);
    let before = sent(&nodes).await?;
    let mut times = Vec::with_capacity(entries);
    for _ in 0..entries {
        let since = Instant::now();
        drop(last.lock().await?);
        times.push(since.elapsed());
    }
    let messages = (sent(&nodes).await? - before) as f64 / entries as f64;

    let (before, since) = (sent(&nodes).await?, Instant::now());
    let mut users = tokio::task::JoinSet::new();
    let each = entries.div_ceil(nodes.len());
    for node in &nodes {
        let handle = node.handle("one")?;
        users.spawn(async move {
            for _ in 0..each {
                drop(handle.lock().await?);
            }
            Ok::<_, crate::Down>(())
        });
    }
    while let Some(done) = users.join_next().await {
        done??;
    }
    let all = (each * nodes.len()) as f64;
    let saturated = all / since.elapsed().as_secs_f64();
    let messages_saturated = (sent(&nodes).await? - before) as f64 / all;
    let count = nodes.len();
    for node in &nodes {
        node.shutdown().await;
    }
    let floor = match (messages / 2.0).round() as usize {
        0 => None,
        bounces => Some(floor(count, bounces, entries).await?),
    };
    let (algorithm, alone) = (algorithm.name, median(times));
    Ok(Figures { algorithm, messages, alone, floor, saturated, messages_saturated })
}

async fn start(
    algorithm: &'static Algorithm,
    nodes: usize,
    folder: &Path,
) -> Result<Vec<Node>, Box<dyn std::error::Error>> {
    let keys: Vec<_> = (0..nodes).map(|_| SecretKey::generate()).collect();
    let mut text = format!(
        "algorithm = \"{algorithm}\"\nresources = [\"one\"]\nidle_timeout_ms = 5000\n\
         period_ms = 10\n"
    );
    for ((key, address), id) in keys.iter().zip(addresses(nodes)?).zip(1..) {
        let key = key.public();
        text += &format!("[[member]]\nid = {id}\nkey = \"{key}\"\naddress = \"{address}\"\n");
    }
    let configuration: Configuration = text.parse()?;
    let mut started = Vec::new();
    for (secret, me) in keys.into_iter().zip(1..) {
        let data = folder.join(format!("{algorithm}-{me}"));
        let configuration = configuration.clone();
        started.push(Node::start(Settings { configuration, me, secret, data }).await?);
    }
    Ok(started)
}

/// How many messages all nodes have sent.
async fn sent(nodes: &[Node]) -> Result<u64, crate::Down> {
    let mut sent = 0;
    for node in nodes {
        sent += node.status().await?.messages_sent;
    }
    Ok(sent)
}

/// The median time in which a node sends so many frames to others, and has them back.
async fn floor(nodes: usize, bounces: usize, rounds: usize) -> io::Result<Duration> {
    let keys: Vec<_> = (0..nodes).map(|_| SecretKey::generate()).collect();
    let peers = keys.iter().zip(addresses(nodes)?);
    let peers: Vec<_> = peers.map(|(key, address)| Peer { key: key.public(), address }).collect();
    let mut links = Vec::new();
    for (me, secret) in NodeId::all(nodes).zip(keys) {
        let listen = peers[me.index()].address;
        let (alpn, idle_timeout) = (b"exclusion-net/bounce".to_vec(), Duration::from_secs(5));
        let settings =
            LinkSettings { me, secret, listen, peers: peers.clone(), alpn, idle_timeout };
        links.push(QuicLink::bind(settings).await?);
    }
    let mut sender = links.pop().expect("there are some");
    let bouncers: Vec<_> = links.into_iter().map(|link| tokio::spawn(bounce(link))).collect();
    let mut up = 0;
    while up < nodes - 1 {
        up += usize::from(matches!(sender.next().await, Some(Event::Up(_))));
    }
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let since = Instant::now();
        for (_, to) in (0..bounces).zip(NodeId::all(nodes - 1).cycle()) {
            sender.send(to, FRAME.to_vec());
        }
        let mut back = 0;
        while back < bounces {
            back += usize::from(matches!(sender.next().await, Some(Event::Frame(..))));
        }
        times.push(since.elapsed());
    }
    bouncers.iter().for_each(tokio::task::JoinHandle::abort);
    sender.close().await;
    Ok(median(times))
}

async fn bounce(mut link: QuicLink) {
    while let Some(event) = link.next().await {
        if let Event::Frame(from, frame) = event {
            link.send(from, frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn messages_are_those_of_the_formula() {
        let folder = crate::scratch::Folder::new("bench");
        for (name, messages) in [("ricart_agrawala", 4.0), ("lamport", 6.0)] {
            let algorithm = Algorithm::named(name).unwrap();
            let figures = measure(algorithm, 3, 20, folder.path()).await.unwrap();
            // What is still under way when the count is taken may be missing or too much.
            assert!((figures.messages - messages).abs() < 0.5, "{figures:?}");
            assert!(figures.floor.is_some() && figures.saturated > 0.0);
        }
    }
}
