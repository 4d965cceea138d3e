//! A network within one process that can be cut, delayed and made to lose.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use exclusion::message::NodeId;

use super::transport::{Later, MOST_BYTES, Service, Transport};

#[derive(Default)]
struct Inner {
    services: BTreeMap<NodeId, Arc<dyn Service>>,
    /// From whom to whom nothing comes through.
    cut: BTreeSet<(NodeId, NodeId)>,
    /// How many of a thousand messages are lost.
    loss: u32,
    /// The longest that a message takes.
    delay: Duration,
    /// Draws losses and delays.
    random: u64,
}

impl Inner {
    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.random;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// After which time a message comes through. None if it is lost.
    fn fate(&mut self, from: NodeId, to: NodeId) -> Option<Duration> {
        let (lost, late) = (self.draw() % 1000, self.draw());
        let micros = u64::try_from(self.delay.as_micros()).unwrap_or(u64::MAX).max(1);
        let is_cut = self.cut.contains(&(from, to));
        (!is_cut && lost >= u64::from(self.loss)).then(|| Duration::from_micros(late % micros))
    }
}

/// The wires between the nodes of one process. Clones are the same wires.
#[derive(Clone, Default)]
pub struct Wires(Arc<Mutex<Inner>>);

impl Wires {
    /// Wires on which everything comes through. The seed is for what will be lost and late.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner { random: seed, ..Inner::default() })))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A node's end of them.
    pub fn end(&self, me: NodeId) -> Arc<dyn Transport> {
        Arc::new(End { me, wires: self.clone() })
    }

    /// From now on this answers for a node.
    pub fn attach(&self, me: NodeId, service: Arc<dyn Service>) {
        self.with(|inner| inner.services.insert(me, service));
    }

    /// A node answers no more: calls to it fail.
    pub fn detach(&self, me: NodeId) {
        self.with(|inner| inner.services.remove(&me));
    }

    /// Nothing comes through from the one node to the other.
    pub fn cut_one_way(&self, from: NodeId, to: NodeId) {
        self.with(|inner| inner.cut.insert((from, to)));
    }

    /// Nothing comes through between these nodes and all others of so many.
    pub fn cut_off(&self, side: &[NodeId], nodes: usize) {
        for (one, other) in NodeId::pairs(nodes) {
            if side.contains(&one) != side.contains(&other) {
                self.cut_one_way(one, other);
                self.cut_one_way(other, one);
            }
        }
    }

    /// Everything comes through, but for what is lost.
    pub fn heal(&self) {
        self.with(|inner| inner.cut.clear());
    }

    /// So many of a thousand messages are lost, and the others take up to this time.
    pub fn disturb(&self, loss: u32, delay: Duration) {
        self.with(|inner| (inner.loss, inner.delay) = (loss, delay));
    }
}

struct End {
    me: NodeId,
    wires: Wires,
}

impl End {
    /// Takes a message from one node to another. A message that is lost takes for ever.
    async fn carry(&self, from: NodeId, to: NodeId) {
        match self.wires.with(|inner| inner.fate(from, to)) {
            Some(late) if late.is_zero() => {}
            Some(late) => tokio::time::sleep(late).await,
            None => std::future::pending().await,
        }
    }
}

impl Transport for End {
    fn call(&self, peer: NodeId, request: Vec<u8>) -> Later<'_, io::Result<Vec<u8>>> {
        Box::pin(async move {
            if request.len() > MOST_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.carry(self.me, peer).await;
            let service = self.wires.with(|inner| inner.services.get(&peer).cloned());
            let service = service.ok_or(io::ErrorKind::ConnectionRefused)?;
            // It is answered even if the caller does not wait for it.
            let me = self.me;
            let answer = tokio::spawn(async move { service.answer(me, request).await });
            let response = answer.await.map_err(io::Error::other)?;
            self.carry(peer, self.me).await;
            Ok(response)
        })
    }
}
