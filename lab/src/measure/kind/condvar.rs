//! Condition variables, each with its mutex.
//!
//! | scene | what an entry is | what a wait is |
//! |---|---|---|
//! | `ping_pong` | a turn that one of two threads passes to the other | from passing the turn to having it again |
//! | `notify_all` | a waiter of 32 that goes on with the mutex | from the notification to having the mutex |

use std::io;
use std::ops::DerefMut;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use exclusion::{BakeryCondvar, BakeryMutex, Bypass, PolicyCondvar, Strict};

use super::{Candidate, Scene};
use crate::measure::drive::{Phase, Round, Seen, drive};

/// A mutex and its condition variable.
trait Pair {
    const NAME: &'static str;
    type Mutex<T: Send>: Sync + Send;
    type Guard<'a, T: Send + 'a>: DerefMut<Target = T>;
    type Condvar: Sync + Send;

    fn mutex<T: Send>(value: T) -> Self::Mutex<T>;
    fn condvar() -> Self::Condvar;
    fn lock<T: Send>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T>;
    fn wait<'a, T: Send>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T>;
    fn notify_one(condvar: &Self::Condvar);
    fn notify_all(condvar: &Self::Condvar);
}

/// Pairs with the interface of lock_api.
macro_rules! lock_api_pairs {
    ($($(#[$doc:meta])* $pair:ident = $name:literal, $mutex:ty, $new:expr, $guard:ty,
        $condvar:ty;)*) => {
        $(
            $(#[$doc])*
            struct $pair;

            impl Pair for $pair {
                const NAME: &'static str = $name;
                type Mutex<T: Send> = $mutex;
                type Guard<'a, T: Send + 'a> = $guard;
                type Condvar = $condvar;

                fn mutex<T: Send>(value: T) -> Self::Mutex<T> {
                    $new(value)
                }

                fn condvar() -> Self::Condvar {
                    <$condvar>::new()
                }

                fn lock<T: Send>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
                    mutex.lock()
                }

                fn wait<'a, T: Send>(
                    condvar: &Self::Condvar,
                    mut guard: Self::Guard<'a, T>,
                ) -> Self::Guard<'a, T> {
                    condvar.wait(&mut guard);
                    guard
                }

                fn notify_one(condvar: &Self::Condvar) {
                    condvar.notify_one();
                }

                fn notify_all(condvar: &Self::Condvar) {
                    condvar.notify_all();
                }
            }
        )*
    };
}

lock_api_pairs! {
    /// Ours, which nobody passes.
    Ours = "bakery", BakeryMutex<T>, BakeryMutex::new,
        exclusion::BakeryMutexGuard<'a, T, Strict>, BakeryCondvar;
    /// Ours, whose line newcomers may pass.
    OursBypass = "bakery_bypass", BakeryMutex<T, Bypass>, BakeryMutex::with_policy,
        exclusion::BakeryMutexGuard<'a, T, Bypass>, PolicyCondvar<Bypass>;
    /// parking_lot's.
    ParkingLot = "parking_lot", parking_lot::Mutex<T>, parking_lot::Mutex::new,
        parking_lot::MutexGuard<'a, T>, parking_lot::Condvar;
}

/// The standard library's.
struct Std;

const SOUND: &str = "nobody panics";

impl Pair for Std {
    const NAME: &'static str = "std";
    type Mutex<T: Send> = std::sync::Mutex<T>;
    type Guard<'a, T: Send + 'a> = std::sync::MutexGuard<'a, T>;
    type Condvar = std::sync::Condvar;

    fn mutex<T: Send>(value: T) -> Self::Mutex<T> {
        std::sync::Mutex::new(value)
    }

    fn condvar() -> Self::Condvar {
        std::sync::Condvar::new()
    }

    fn lock<T: Send>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
        mutex.lock().expect(SOUND)
    }

    fn wait<'a, T: Send>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T> {
        condvar.wait(guard).expect(SOUND)
    }

    fn notify_one(condvar: &Self::Condvar) {
        condvar.notify_one();
    }

    fn notify_all(condvar: &Self::Condvar) {
        condvar.notify_all();
    }
}

/// Whose turn it is among two, and whether the other has gone home.
#[derive(Default)]
struct Table {
    turn: usize,
    is_over: bool,
}

fn ping_pong<P: Pair>(threads: usize, slice: Duration) -> io::Result<Round> {
    let table = CachePadded::new((P::mutex(Table::default()), P::condvar()));
    drive((0..threads).collect(), slice, |me, phase| {
        let (mutex, condvar) = &*table;
        let mut seen = Seen::nothing();
        let mut passed_at = Instant::now();
        let mut is_first = true;
        loop {
            let mut table = P::lock(mutex);
            while table.turn != me && !table.is_over {
                table = P::wait(condvar, table);
            }
            table.turn = 1 - me;
            // The thread that sees the end first takes the other with it.
            table.is_over |= phase.is_over();
            let is_over = table.is_over;
            drop(table);
            P::notify_one(condvar);
            if std::mem::take(&mut is_first) {
                phase.enter();
            } else {
                seen.wait(passed_at.elapsed(), phase);
            }
            seen.enter(1, phase);
            if is_over {
                return seen.ended();
            }
            passed_at = Instant::now();
        }
    })
}

/// A crowd that waits for one thread to begin the next generation.
struct Crowd {
    waiting: usize,
    generation: u64,
    notified_at: Instant,
    is_over: bool,
}

struct Square<P: Pair> {
    crowd: P::Mutex<Crowd>,
    next: P::Condvar,
    all_wait: P::Condvar,
}

fn notify_all<P: Pair>(threads: usize, slice: Duration) -> io::Result<Round> {
    let crowd = Crowd { waiting: 0, generation: 0, notified_at: Instant::now(), is_over: false };
    let square = CachePadded::new(Square::<P> {
        crowd: P::mutex(crowd),
        next: P::condvar(),
        all_wait: P::condvar(),
    });
    let waiters = threads - 1;
    drive((0..threads).collect(), slice, |me, phase| {
        phase.enter();
        if me == 0 {
            notify::<P>(&square, waiters, phase)
        } else {
            wait::<P>(&square, waiters, phase)
        }
    })
}

fn notify<P: Pair>(square: &Square<P>, waiters: usize, phase: &Phase) -> Seen {
    loop {
        let mut crowd = P::lock(&square.crowd);
        while crowd.waiting < waiters {
            crowd = P::wait(&square.all_wait, crowd);
        }
        crowd.waiting = 0;
        crowd.generation += 1;
        crowd.is_over = phase.is_over();
        crowd.notified_at = Instant::now();
        let is_over = crowd.is_over;
        P::notify_all(&square.next);
        drop(crowd);
        if is_over {
            return Seen::nothing().ended();
        }
    }
}

fn wait<P: Pair>(square: &Square<P>, waiters: usize, phase: &Phase) -> Seen {
    let mut seen = Seen::nothing();
    loop {
        let mut crowd = P::lock(&square.crowd);
        let generation = crowd.generation;
        crowd.waiting += 1;
        if crowd.waiting == waiters {
            P::notify_one(&square.all_wait);
        }
        while crowd.generation == generation {
            crowd = P::wait(&square.next, crowd);
        }
        let (waited, is_over) = (crowd.notified_at.elapsed(), crowd.is_over);
        drop(crowd);
        seen.wait(waited, phase);
        seen.enter(1, phase);
        if is_over {
            return seen.ended();
        }
    }
}

/// A candidate for each pair.
macro_rules! candidates {
    ($scene:ident: $($pair:ident)*) => {
        vec![$(Candidate { name: $pair::NAME, measure: $scene::<$pair> }),*]
    };
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene {
            name: "ping_pong",
            threads: 2,
            wait: "from passing the turn to having it again",
            candidates: candidates!(ping_pong: Ours OursBypass Std ParkingLot),
        },
        Scene {
            name: "notify_all",
            threads: 33,
            wait: "from the notification of 32 waiters to having the mutex",
            candidates: candidates!(notify_all: Ours OursBypass Std ParkingLot),
        },
    ]
}
