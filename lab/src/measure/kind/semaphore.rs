//! Semaphores.
//!
//! | scene | what the threads do | what a wait is |
//! |---|---|---|
//! | `try_acquire`, `acquire` | one thread takes a permit and gives it back, and nothing else | not timed |
//! | `two_of_eight` | eight threads share two permits: half a microsecond with one, as long without | from the call to having it |
//!
//! The standard library and parking_lot have no semaphore. Theirs is the one that people write: a
//! number behind a mutex, and a condition variable. tokio's waits in asynchronous code only, so
//! here it never waits.

use std::io;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use exclusion::{BakerySemaphore, Bypass, Strict};

use super::{Candidate, Scene};
use crate::measure::drive::{Round, Seen, drive};
use crate::measure::workload::Workload;

/// A semaphore that gives a permit if that means no waiting.
trait Tried: Sync + Send {
    const NAME: &'static str;
    fn fresh(permits: usize) -> Self;
    fn try_acquire<R>(&self, inside: impl FnOnce() -> R) -> Option<R>;
}

/// A semaphore that waits.
trait Waited: Tried {
    fn acquire<R>(&self, inside: impl FnOnce() -> R) -> R;
}

macro_rules! ours {
    ($($(#[$doc:meta])* $subject:ident = $name:literal, $policy:ty;)*) => {
        $(
            $(#[$doc])*
            struct $subject(BakerySemaphore<$policy>);

            impl Tried for $subject {
                const NAME: &'static str = $name;

                fn fresh(permits: usize) -> Self {
                    Self(BakerySemaphore::with_policy(permits))
                }

                #[inline]
                fn try_acquire<R>(&self, inside: impl FnOnce() -> R) -> Option<R> {
                    let _permit = self.0.try_acquire()?;
                    Some(inside())
                }
            }

            impl Waited for $subject {
                #[inline]
                fn acquire<R>(&self, inside: impl FnOnce() -> R) -> R {
                    let _permit = self.0.acquire();
                    inside()
                }
            }
        )*
    };
}

ours! {
    /// Ours, which nobody passes.
    Ours = "bakery", Strict;
    /// Ours, whose line newcomers may pass.
    OursBypass = "bakery_bypass", Bypass;
}

/// A number behind a mutex, and a condition variable.
macro_rules! by_hand {
    ($($(#[$doc:meta])* $subject:ident = $name:literal, $mutex:ty, $condvar:ty,
        |$this:ident, $guard:ident| $lock:expr, $wait:expr;)*) => {
        $(
            $(#[$doc])*
            struct $subject {
                free: $mutex,
                freed: $condvar,
            }

            impl $subject {
                fn leave(&self) {
                    let $this = self;
                    *$lock += 1;
                    self.freed.notify_one();
                }
            }

            impl Tried for $subject {
                const NAME: &'static str = $name;

                fn fresh(permits: usize) -> Self {
                    Self { free: <$mutex>::new(permits), freed: <$condvar>::new() }
                }

                #[inline]
                fn try_acquire<R>(&self, inside: impl FnOnce() -> R) -> Option<R> {
                    let $this = self;
                    let mut free = $lock;
                    *free = free.checked_sub(1)?;
                    drop(free);
                    let result = inside();
                    self.leave();
                    Some(result)
                }
            }

            impl Waited for $subject {
                #[inline]
                fn acquire<R>(&self, inside: impl FnOnce() -> R) -> R {
                    let $this = self;
                    let mut $guard = $lock;
                    while *$guard == 0 {
                        $wait;
                    }
                    *$guard -= 1;
                    drop($guard);
                    let result = inside();
                    self.leave();
                    result
                }
            }
        )*
    };
}

by_hand! {
    /// Of the standard library's parts.
    Std = "std", std::sync::Mutex<usize>, std::sync::Condvar, |this, guard|
        this.free.lock().expect("nobody panics"),
        guard = this.freed.wait(guard).expect("nobody panics");
    /// Of parking_lot's parts.
    ParkingLot = "parking_lot", parking_lot::Mutex<usize>, parking_lot::Condvar, |this, guard|
        this.free.lock(), this.freed.wait(&mut guard);
}

/// tokio's.
struct Tokio(tokio::sync::Semaphore);

impl Tried for Tokio {
    const NAME: &'static str = "tokio";

    fn fresh(permits: usize) -> Self {
        Self(tokio::sync::Semaphore::new(permits))
    }

    #[inline]
    fn try_acquire<R>(&self, inside: impl FnOnce() -> R) -> Option<R> {
        let _permit = self.0.try_acquire().ok()?;
        Some(inside())
    }
}

/// How many permits there are.
const PERMITS: usize = 2;

/// How many entries are made between two looks at the phase.
const BATCH: u64 = 64;

fn alone<S: Tried>(
    threads: usize,
    slice: Duration,
    enter: impl Fn(&S) + Sync,
) -> io::Result<Round> {
    let semaphore = CachePadded::new(S::fresh(PERMITS));
    drive((0..threads).collect(), slice, |_, phase| {
        let mut seen = Seen::nothing();
        phase.enter();
        while !phase.is_over() {
            for _ in 0..BATCH {
                enter(&semaphore);
            }
            seen.enter(BATCH, phase);
        }
        seen.ended()
    })
}

fn try_acquire<S: Tried>(threads: usize, slice: Duration) -> io::Result<Round> {
    alone::<S>(threads, slice, |semaphore| {
        semaphore.try_acquire(|| std::hint::black_box(())).expect("nobody else has a permit");
    })
}

fn acquire<S: Waited>(threads: usize, slice: Duration) -> io::Result<Round> {
    alone::<S>(threads, slice, |semaphore| semaphore.acquire(|| std::hint::black_box(())))
}

fn two_of_eight<S: Waited>(threads: usize, slice: Duration) -> io::Result<Round> {
    let semaphore = CachePadded::new(S::fresh(PERMITS));
    let work = Workload::Short.work();
    drive((0..threads).collect(), slice, |_, phase| {
        let mut seen = Seen::nothing();
        phase.enter();
        while !phase.is_over() {
            let called = Instant::now();
            let waited = semaphore.acquire(|| {
                let waited = called.elapsed();
                work.run();
                waited
            });
            seen.wait(waited, phase);
            seen.enter(1, phase);
            work.run();
        }
        seen.ended()
    })
}

/// A candidate for each semaphore.
macro_rules! candidates {
    ($scene:ident: $($subject:ident)*) => {
        vec![$(Candidate { name: $subject::NAME, measure: $scene::<$subject> }),*]
    };
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            name: "try_acquire",
            threads: 1,
            wait: "not timed",
            candidates: candidates!(try_acquire: Ours OursBypass Std ParkingLot Tokio),
        },
        Scene {
            name: "acquire",
            threads: 1,
            wait: "not timed",
            candidates: candidates!(acquire: Ours OursBypass Std ParkingLot),
        },
        Scene {
            name: "two_of_eight",
            threads: 8,
            wait: "from the call to having a permit",
            candidates: candidates!(two_of_eight: Ours OursBypass Std ParkingLot),
        },
    ]
}
