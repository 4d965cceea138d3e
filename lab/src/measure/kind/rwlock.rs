//! Read-write locks.
//!
//! | scene | what the threads do | what a wait is |
//! |---|---|---|
//! | `read`, `write` | one thread reads, or writes, and nothing else | not timed |
//! | `mostly_reads` | half a microsecond inside, as long outside; one entry in 20 writes | from the call to going in |
//! | `writer_among_readers` | the same, but one thread only writes, and the others only read | the same, of the writer |

use std::io;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use exclusion::{BakeryRwLock, Bypass, PolicyRwLock};

use super::{Candidate, Scene};
use crate::measure::drive::{Round, Seen, drive};
use crate::measure::workload::Workload;

/// A read-write lock around a number.
trait Shared: Sync + Send {
    const NAME: &'static str;
    fn fresh() -> Self;
    fn read<R>(&self, section: impl FnOnce(&u64) -> R) -> R;
    fn write<R>(&self, section: impl FnOnce(&mut u64) -> R) -> R;
}

macro_rules! shared {
    ($($(#[$doc:meta])* $subject:ident = $name:literal, $lock:ty, $new:path,
        |$this:ident| $read:expr, $write:expr;)*) => {
        $(
            $(#[$doc])*
            struct $subject($lock);

            impl Shared for $subject {
                const NAME: &'static str = $name;

                fn fresh() -> Self {
                    Self($new(0))
                }

                #[inline]
                fn read<R>(&self, section: impl FnOnce(&u64) -> R) -> R {
                    let $this = &self.0;
                    section(&$read)
                }

                #[inline]
                fn write<R>(&self, section: impl FnOnce(&mut u64) -> R) -> R {
                    let $this = &self.0;
                    section(&mut $write)
                }
            }
        )*
    };
}

shared! {
    /// Ours, which nobody passes.
    Ours = "bakery", BakeryRwLock<u64>, BakeryRwLock::new, |lock| lock.read(), lock.write();
    /// Ours, whose line newcomers may pass.
    OursBypass = "bakery_bypass", PolicyRwLock<u64, Bypass>, PolicyRwLock::new,
        |lock| lock.read(), lock.write();
    /// The standard library's.
    Std = "std", std::sync::RwLock<u64>, std::sync::RwLock::new,
        |lock| lock.read().expect("nobody panics"), lock.write().expect("nobody panics");
    /// parking_lot's.
    ParkingLot = "parking_lot", parking_lot::RwLock<u64>, parking_lot::RwLock::new,
        |lock| lock.read(), lock.write();
}

/// How many entries are made between two looks at the phase.
const BATCH: u64 = 64;

fn alone<S: Shared>(
    threads: usize,
    slice: Duration,
    enter: impl Fn(&S) + Sync,
) -> io::Result<Round> {
    let lock = CachePadded::new(S::fresh());
    drive((0..threads).collect(), slice, |_, phase| {
        let mut seen = Seen::nothing();
        phase.enter();
        while !phase.is_over() {
            for _ in 0..BATCH {
                enter(&lock);
            }
            seen.enter(BATCH, phase);
        }
        seen.ended()
    })
}

fn read<S: Shared>(threads: usize, slice: Duration) -> io::Result<Round> {
    alone::<S>(threads, slice, |lock| _ = lock.read(|number| std::hint::black_box(*number)))
}

fn write<S: Shared>(threads: usize, slice: Duration) -> io::Result<Round> {
    alone::<S>(threads, slice, |lock| lock.write(|number| *number += 1))
}

/// Every so many entries of a thread write.
const WRITES_ONE_IN: u64 = 20;

fn mostly_reads<S: Shared>(threads: usize, slice: Duration) -> io::Result<Round> {
    mixed::<S>(threads, slice, true, |thread, entry| (entry + thread) % WRITES_ONE_IN == 0)
}

fn writer_among_readers<S: Shared>(threads: usize, slice: Duration) -> io::Result<Round> {
    mixed::<S>(threads, slice, false, |thread, _| thread == 0)
}

/// Threads that read and write, by their number and that of their entry. Waits of readers are noted
/// only if told so.
fn mixed<S: Shared>(
    threads: usize,
    slice: Duration,
    notes_readers: bool,
    writes: impl Fn(u64, u64) -> bool + Sync,
) -> io::Result<Round> {
    let lock = CachePadded::new(S::fresh());
    let work = Workload::Short.work();
    drive((0..threads as u64).collect(), slice, |thread, phase| {
        let mut seen = Seen::nothing();
        phase.enter();
        for entry in 0.. {
            let called = Instant::now();
            let is_write = writes(thread, entry);
            let waited = if is_write {
                lock.write(|number| {
                    let waited = called.elapsed();
                    *number += 1;
                    work.run();
                    waited
                })
            } else {
                lock.read(|number| {
                    let waited = called.elapsed();
                    std::hint::black_box(*number);
                    work.run();
                    waited
                })
            };
            if is_write || notes_readers {
                seen.wait(waited, phase);
            }
            seen.enter(1, phase);
            if phase.is_over() {
                break;
            }
            work.run();
        }
        seen.ended()
    })
}

/// A candidate for each lock.
macro_rules! candidates {
    ($scene:ident) => {
        vec![
            Candidate { name: Ours::NAME, measure: $scene::<Ours> },
            Candidate { name: OursBypass::NAME, measure: $scene::<OursBypass> },
            Candidate { name: Std::NAME, measure: $scene::<Std> },
            Candidate { name: ParkingLot::NAME, measure: $scene::<ParkingLot> },
        ]
    };
}

pub(super) fn scenes() -> Vec<Scene> {
    let none = "not timed";
    let inside = "from the call to going in";
    vec![
        Scene { name: "read", threads: 1, wait: none, candidates: candidates!(read) },
        Scene { name: "write", threads: 1, wait: none, candidates: candidates!(write) },
        Scene {
            name: "mostly_reads_2",
            threads: 2,
            wait: inside,
            candidates: candidates!(mostly_reads),
        },
        Scene {
            name: "mostly_reads_8",
            threads: 8,
            wait: inside,
            candidates: candidates!(mostly_reads),
        },
        Scene {
            name: "writer_among_readers",
            threads: 8,
            wait: "from the call of the only writer to going in",
            candidates: candidates!(writer_among_readers),
        },
    ]
}
