//! Sessions within a process, for tests: they can be cut and healed.

use std::sync::{Arc, Mutex};

use exclusion::message::NodeId;
use tokio::sync::mpsc;

use super::{Event, Link};

/// What a node is told of a session, which has a number.
type Told = (u64, Event);

/// All sessions between some nodes.
#[derive(Debug)]
struct Sessions {
    next_number: u64,
    /// Where each node is told what happens. None while it is down.
    nodes: Vec<Option<mpsc::UnboundedSender<Told>>>,
    /// The number of the session of each pair that is up.
    up: Vec<Vec<Option<u64>>>,
    cut: Vec<Vec<bool>>,
}

/// A network between some nodes.
#[derive(Clone, Debug)]
pub(crate) struct Network(Arc<Mutex<Sessions>>);

impl Network {
    pub(crate) fn of(nodes: usize) -> Self {
        Self(Arc::new(Mutex::new(Sessions {
            next_number: 0,
            nodes: vec![None; nodes],
            up: vec![vec![None; nodes]; nodes],
            cut: vec![vec![false; nodes]; nodes],
        })))
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The link of a node that comes up.
    pub(crate) fn link(&self, me: NodeId) -> MemoryLink {
        let (sender, events) = mpsc::unbounded_channel();
        let mut sessions = self.sessions();
        let nodes = sessions.nodes.len();
        sessions.nodes[me.index()] = Some(sender);
        sessions.connect_all();
        drop(sessions);
        MemoryLink { network: self.clone(), me, events, mine: vec![None; nodes] }
    }

    /// Cuts two nodes off from each other, or heals that.
    pub(crate) fn cut(&self, one: NodeId, other: NodeId, cut: bool) {
        let mut sessions = self.sessions();
        sessions.cut[one.index()][other.index()] = cut;
        sessions.cut[other.index()][one.index()] = cut;
        if cut {
            sessions.end(one, other, "it is cut off", [true; 2]);
        }
        sessions.connect_all();
    }
}

impl Sessions {
    /// Begins the sessions that there can be.
    fn connect_all(&mut self) {
        for (one, other) in NodeId::pairs(self.nodes.len()) {
            let (low, high) = (one.index(), other.index());
            let both = self.nodes[low].is_some() && self.nodes[high].is_some();
            if both && self.up[low][high].is_none() && !self.cut[low][high] {
                self.next_number += 1;
                self.up[low][high] = Some(self.next_number);
                self.up[high][low] = Some(self.next_number);
                self.tell(one, Event::Up(other), self.next_number);
                self.tell(other, Event::Up(one), self.next_number);
            }
        }
    }

    fn tell(&self, node: NodeId, event: Event, number: u64) {
        if let Some(sender) = &self.nodes[node.index()] {
            let _ = sender.send((number, event));
        }
    }

    /// Ends a session, and tells the one side, the other, or both.
    fn end(&mut self, one: NodeId, other: NodeId, why: &str, told: [bool; 2]) {
        self.up[other.index()][one.index()] = None;
        if let Some(number) = self.up[one.index()][other.index()].take() {
            for (node, peer, told) in [(one, other, told[0]), (other, one, told[1])] {
                if told {
                    self.tell(node, Event::Ended(peer, why.to_owned()), number);
                }
            }
        }
    }
}

/// The sessions of one node.
#[derive(Debug)]
pub(crate) struct MemoryLink {
    network: Network,
    me: NodeId,
    events: mpsc::UnboundedReceiver<Told>,
    /// The number of the session with each peer, as far as this node was told.
    mine: Vec<Option<u64>>,
}

impl Link for MemoryLink {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let (number, event) = self.events.recv().await?;
            match &event {
                Event::Up(peer) => self.mine[peer.index()] = Some(number),
                Event::Ended(peer, _) => {
                    if self.mine[peer.index()].take_if(|mine| *mine == number).is_none() {
                        continue;
                    }
                }
                Event::Frame(peer, _) => {
                    if self.mine[peer.index()] != Some(number) {
                        continue;
                    }
                }
            }
            return Some(event);
        }
    }

    fn send(&mut self, peer: NodeId, frame: Vec<u8>) {
        let sessions = self.network.sessions();
        let number = sessions.up[self.me.index()][peer.index()];
        if let Some(number) = number.filter(|_| number == self.mine[peer.index()]) {
            sessions.tell(peer, Event::Frame(self.me, frame), number);
        }
    }

    fn end(&mut self, peer: NodeId, why: &str) {
        let Some(number) = self.mine[peer.index()].take() else { return };
        let mut sessions = self.network.sessions();
        if sessions.up[self.me.index()][peer.index()] == Some(number) {
            sessions.end(self.me, peer, why, [false, true]);
            sessions.connect_all();
        }
    }

    async fn close(&mut self) {
        self.leave();
    }
}

impl MemoryLink {
    fn leave(&mut self) {
        let mut sessions = self.network.sessions();
        sessions.nodes[self.me.index()] = None;
        for peer in self.me.others(self.mine.len()) {
            sessions.end(self.me, peer, "it has left", [false, true]);
        }
        self.events.close();
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        if !self.events.is_closed() {
            self.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    #[tokio::test]
    async fn a_session_carries_frames_in_order_and_ends_for_both() {
        let network = Network::of(2);
        let (mut a, mut b) = (network.link(A), network.link(B));
        assert_eq!(a.next().await, Some(Event::Up(B)));
        assert_eq!(b.next().await, Some(Event::Up(A)));
        a.send(B, vec![1]);
        a.send(B, vec![2]);
        assert_eq!(b.next().await, Some(Event::Frame(A, vec![1])));
        b.end(A, "enough");
        assert_eq!(a.next().await, Some(Event::Ended(B, "enough".to_owned())));
        // What was on its way in the old session does not come in the new one.
        assert_eq!(b.next().await, Some(Event::Up(A)));
        assert_eq!(a.next().await, Some(Event::Up(B)));
    }

    #[tokio::test]
    async fn a_cut_ends_a_session_until_it_heals() {
        let network = Network::of(2);
        let (mut a, mut b) = (network.link(A), network.link(B));
        assert_eq!(a.next().await, Some(Event::Up(B)));
        network.cut(A, B, true);
        assert!(matches!(a.next().await, Some(Event::Ended(B, _))));
        a.send(B, vec![1]);
        network.cut(A, B, false);
        assert_eq!(b.next().await, Some(Event::Up(A)));
        assert!(matches!(b.next().await, Some(Event::Ended(A, _))));
        assert_eq!(b.next().await, Some(Event::Up(A)));
        drop(a);
        assert!(matches!(b.next().await, Some(Event::Ended(A, _))));
    }
}
