//! Entries per second of clusters of actors, beside the floor: as many messages through the same
//! channels, with no protocol and no users.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use exclusion::message::Protocol;
use exclusion::message::actor::{Cluster, DataOf};

/// How long the last `wanting` nodes of a cluster take for about `entries` entries, and what was
/// sent.
///
/// # Panics
/// If the cluster does not start, or goes down.
pub fn time_of_entries<P>(nodes: Vec<P>, wanting: usize, entries: u64) -> Timing
where
    P: Protocol<Message: Send> + Send + 'static,
    DataOf<P, ()>: Send + Sync,
{
    let each = entries.div_ceil(wanting as u64);
    let cluster = Cluster::start(nodes, ()).expect("the cluster starts");
    let handles = cluster.handles().into_iter().rev().take(wanting);
    let start = Barrier::new(wanting + 1);
    let begun = std::thread::scope(|scope| {
        for mut handle in handles {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for _ in 0..each {
                    drop(handle.lock().expect("nobody dies"));
                }
            });
        }
        start.wait();
        Instant::now()
    });
    let took = begun.elapsed();
    Timing { entries: each * wanting as u64, took, messages: cluster.shutdown().messages.total() }
}

/// What was timed.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// How many entries there were.
    pub entries: u64,
    /// How long they took.
    pub took: Duration,
    /// How many messages they took.
    pub messages: u64,
}

impl Timing {
    /// Entries per second.
    pub fn rate(&self) -> f64 {
        self.entries as f64 / self.took.as_secs_f64()
    }

    /// Messages per entry.
    pub fn per_entry(&self) -> f64 {
        self.messages as f64 / self.entries as f64
    }
}

/// A message without a protocol.
enum Ball {
    /// Throw it back to this thread.
    Out(usize),
    /// Back where it came from.
    Back,
    /// Not to be thrown back: an entry of an odd number of messages has one.
    OneWay,
    Stop,
}

/// The floor under [`time_of_entries`]: how long `threads` threads, of which `wanting` play for
/// themselves, take to bounce as many messages. For each entry a thread throws its balls to the
/// others all at once, as a request does, and goes on when they are back.
///
/// # Panics
/// If there are fewer than two messages to an entry, or fewer than two threads.
pub fn time_of_bouncing(threads: usize, wanting: usize, entries: u64, per_entry: usize) -> Timing {
    assert!(threads >= 2 && per_entry >= 2, "nobody to play with");
    let each = entries.div_ceil(wanting as u64);
    let (inboxes, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| channel()).unzip();
    let playing = AtomicUsize::new(wanting);
    let start = Barrier::new(threads + 1);
    let begun = std::thread::scope(|scope| {
        for (me, inbox) in receivers.into_iter().enumerate() {
            let (inboxes, playing, start) = (inboxes.clone(), &playing, &start);
            scope.spawn(move || {
                start.wait();
                let plays = me >= threads - wanting;
                let mut games = if plays { each } else { 0 };
                let mut missing = if plays { serve(me, &inboxes, per_entry) } else { 0 };
                for ball in inbox {
                    match ball {
                        Ball::Out(from) => send(&inboxes[from], Ball::Back),
                        Ball::OneWay => {}
                        Ball::Back => missing -= 1,
                        Ball::Stop => return,
                    }
                    if games > 0 && missing == 0 {
                        games -= 1;
                        if games > 0 {
                            missing = serve(me, &inboxes, per_entry);
                        } else if playing.fetch_sub(1, Ordering::AcqRel) == 1 {
                            inboxes.iter().for_each(|inbox| send(inbox, Ball::Stop));
                        }
                    }
                }
            });
        }
        start.wait();
        Instant::now()
    });
    let entries = each * wanting as u64;
    Timing { entries, took: begun.elapsed(), messages: entries * per_entry as u64 }
}

/// Throws the balls of one entry. Returns how many will come back.
fn serve(me: usize, inboxes: &[Sender<Ball>], per_entry: usize) -> usize {
    let back = per_entry / 2;
    for ball in 0..per_entry - back {
        let to = (me + 1 + ball % (inboxes.len() - 1)) % inboxes.len();
        send(&inboxes[to], if ball < back { Ball::Out(me) } else { Ball::OneWay });
    }
    back
}

fn send(inbox: &Sender<Ball>, ball: Ball) {
    // Fails if the receiver has stopped: then nobody waits for it.
    let _ = inbox.send(ball);
}
