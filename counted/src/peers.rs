//! Two locks of the literature on the same registers, to compare with.

use crate::lock::counting::{AtomicUsize, Backoff};
use crate::lock::sync::Ordering::{Acquire, Relaxed, Release};

/// A ticket lock: one word to draw from, one word that all waiters look at.
#[derive(Debug)]
pub struct Ticket {
    next: AtomicUsize,
    serving: AtomicUsize,
}

impl Ticket {
    /// A lock that nobody holds.
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub const fn new() -> Self {
        Self { next: AtomicUsize::new(0), serving: AtomicUsize::new(0) }
    }

    /// Enters and leaves.
    pub fn run(&self, section: impl FnOnce()) {
        let ticket = self.next.fetch_add(1, Relaxed);
        let backoff = Backoff::new();
        while self.serving.load(Acquire) != ticket {
            backoff.snooze();
        }
        section();
        self.serving.store(ticket + 1, Release);
    }
}

/// The queue lock of Mellor-Crummey and Scott (1991): each waiter looks at a word of its own.
#[derive(Debug)]
pub struct Mcs {
    /// The last in line, plus one.
    tail: AtomicUsize,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// The one behind, plus one.
    next: AtomicUsize,
    waits: AtomicUsize,
}

impl Mcs {
    /// A lock for so many threads that nobody holds.
    pub fn new(threads: usize) -> Self {
        let node = || Node { next: AtomicUsize::new(0), waits: AtomicUsize::new(0) };
        Self { tail: AtomicUsize::new(0), nodes: (0..threads).map(|_| node()).collect() }
    }

    /// Enters and leaves, as that thread.
    pub fn run(&self, thread: usize, section: impl FnOnce()) {
        let node = &self.nodes[thread];
        node.next.store(0, Relaxed);
        let before = self.tail.swap(thread + 1, Acquire);
        if before != 0 {
            node.waits.store(1, Relaxed);
            self.nodes[before - 1].next.store(thread + 1, Release);
            let backoff = Backoff::new();
            while node.waits.load(Acquire) != 0 {
                backoff.snooze();
            }
        }
        section();
        if node.next.load(Acquire) == 0 {
            if self.tail.compare_exchange(thread + 1, 0, Release, Relaxed).is_ok() {
                return;
            }
            let backoff = Backoff::new();
            while node.next.load(Acquire) == 0 {
                backoff.snooze();
            }
        }
        self.nodes[node.next.load(Relaxed) - 1].waits.store(0, Release);
    }
}
