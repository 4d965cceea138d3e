//! A disk that fails when it is told to, and clusters in one process.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exclusion::message::registry::Algorithm;
use exclusion::message::{FromRegistry, NodeId, SuzukiKasami};
use exclusion_net::majority::{Down, Guard, Medium, Node, Roster, Settings, Wires};

#[derive(Default)]
struct Pieces {
    pieces: BTreeMap<String, Vec<u8>>,
    /// So many writes succeed. None: all.
    left: Option<usize>,
    /// How much of a torn append is left, in 256ths, and whether the rest is garbage.
    torn: (usize, bool),
}

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<Pieces>>);

impl Disk {
    fn with<T>(&self, act: impl FnOnce(&mut Pieces) -> T) -> T {
        act(&mut self.0.lock().expect("nobody panics with it"))
    }

    /// After so many more writes it fails for good. The write that fails leaves a part of its
    /// bytes, if it is an append.
    pub fn fail_after(&self, writes: usize, part: usize, garbage: bool) {
        self.with(|disk| (disk.left, disk.torn) = (Some(writes), (part, garbage)));
    }

    /// It works again, with what is there.
    pub fn mend(&self) {
        self.with(|disk| disk.left = None);
    }

    /// All bytes of a piece.
    pub fn piece(&self, name: &str) -> Vec<u8> {
        self.with(|disk| disk.pieces.get(name).cloned().unwrap_or_default())
    }

    /// Puts other bytes into a piece.
    pub fn set(&self, name: &str, bytes: Vec<u8>) {
        self.with(|disk| disk.pieces.insert(name.to_owned(), bytes));
    }

    /// A disk with the same bytes.
    pub fn copy(&self) -> Self {
        let pieces = self.with(|disk| disk.pieces.clone());
        Self(Arc::new(Mutex::new(Pieces { pieces, ..Pieces::default() })))
    }
}

impl Pieces {
    fn write(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => return Err(io::Error::from(io::ErrorKind::StorageFull)),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(())
    }
}

impl Medium for Disk {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.with(|disk| disk.pieces.get(name).cloned()))
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(|disk| {
            let written = disk.write();
            let piece = disk.pieces.entry(name.to_owned()).or_default();
            match &written {
                Ok(()) => piece.extend(bytes),
                Err(_) => {
                    let (part, garbage) = disk.torn;
                    let part = bytes.len() * part.min(256) / 256;
                    piece.extend(&bytes[..part]);
                    if garbage {
                        piece.extend(bytes[part..].iter().map(|byte| byte ^ 0xa5));
                    }
                    // Only the first failure tears.
                    disk.torn = (0, false);
                }
            }
            written
        })
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.with(|disk| {
            disk.write()?;
            disk.pieces.insert(name.to_owned(), bytes.to_vec());
            Ok(())
        })
    }

    fn truncate(&self, name: &str, length: u64) -> io::Result<()> {
        self.with(|disk| {
            disk.write()?;
            let length = usize::try_from(length).expect("it is in memory");
            disk.pieces.entry(name.to_owned()).or_default().truncate(length);
            Ok(())
        })
    }
}

/// How long a test waits for what must happen: it never asserts that something is quick.
pub const LIMIT: Duration = Duration::from_secs(120);

/// What is locked.
pub const RESOURCE: &str = "register";

/// The lease of a cluster under test.
pub const LEASE: Duration = Duration::from_millis(600);

/// How the lock is built, unless a test says otherwise.
pub fn blueprint(nodes: usize) -> FromRegistry<SuzukiKasami> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    FromRegistry::of(algorithm, &SuzukiKasami::cluster(nodes).expect("enough"))
}

/// Nodes in one process.
pub struct Cluster {
    pub wires: Wires,
    pub disks: Vec<Disk>,
    pub nodes: Vec<Option<Node>>,
}

impl Cluster {
    /// With fresh disks, and running.
    pub async fn start(nodes: usize, seed: u64) -> Self {
        let cluster = Self::open(nodes, seed);
        for node in cluster.nodes.iter().flatten() {
            within(node.running()).await.expect("nothing is wrong");
        }
        cluster
    }

    pub fn open(nodes: usize, seed: u64) -> Self {
        let disks = (0..nodes).map(|_| Disk::default()).collect();
        let mut cluster = Self { wires: Wires::new(seed), disks, nodes: vec![None; nodes] };
        for me in 0..nodes {
            cluster.revive(me).expect("a fresh disk");
        }
        cluster
    }

    pub fn settings(&self, me: usize) -> Settings {
        let settings = Settings::new(NodeId::at(me), self.nodes.len(), &[RESOURCE]);
        settings.with_lease(LEASE).with_snapshot_every(40)
    }

    /// Starts a node from its disk.
    pub fn revive(&mut self, me: usize) -> Result<Node, Down> {
        let (settings, disk) = (self.settings(me), Arc::new(self.disks[me].clone()));
        let id = NodeId::at(me);
        let node = Node::open(settings, blueprint(self.nodes.len()), disk, self.wires.end(id))?;
        self.wires.attach(id, node.service());
        self.nodes[me] = Some(node.clone());
        Ok(node)
    }

    /// Kills a node.
    pub async fn kill(&mut self, me: usize) {
        if let Some(node) = self.nodes[me].take() {
            self.wires.detach(NodeId::at(me));
            within(node.stop()).await;
        }
    }

    pub fn node(&self, me: usize) -> &Node {
        self.nodes[me].as_ref().expect("it runs")
    }

    pub async fn lock(&self, me: usize) -> Guard {
        within(self.node(me).lock(RESOURCE)).await.expect("it can be locked")
    }

    /// Waits until a node knows a roster that satisfies this.
    pub async fn until(&self, me: usize, condition: impl Fn(&Roster) -> bool) {
        let mut rosters = self.node(me).rosters();
        within(rosters.wait_for(|roster| condition(roster))).await.expect("it runs");
    }

    /// Waits until somebody leads, as this node knows.
    pub async fn leader(&self, me: usize) -> usize {
        let found = async {
            loop {
                if let Some(leader) = self.node(me).leader() {
                    return leader.index();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        within(found).await
    }

    pub async fn stop(mut self) {
        for me in 0..self.nodes.len() {
            self.kill(me).await;
        }
    }
}

/// Waits for something that must happen.
pub async fn within<T>(it: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, it).await.expect("it happens within minutes")
}
