//! Each pair of a store and a later load that a full fence keeps in order, on real threads.
//!
//! A store may linger in a core's store buffer while the loads behind it go ahead. Then each of two
//! threads can miss what the other has just written, and both enter, or one is not woken. Loom
//! explores the fences in the source. Here they run as instructions: two threads meet at the same
//! moment, again and again, with the moment of the one swept over that of the other, and with
//! stores before it that keep its store buffer busy.
//!
//! | pair | what would go wrong | aimed at by |
//! |---|---|---|
//! | `bakery::DOORWAY`, `TURN` against each other | two inside | `bakeries` |
//! | `black_white::DOORWAY`, `TURN` against each other | two inside | `black_white_bakeries` |
//! | `peterson::RAISE`, `GIVE_WAY` against each other | two inside | `petersons` |
//! | `priority::RAISE` against itself | two inside | `priorities` |
//! | `condition::HAND_OVER` against `pooled::CALL` | a waiter sleeps on | `a_waiter_is_..` |
//! | `pooled::CALL` against `waiting::SLEEP` | a waiter sleeps on | `tests/wake_up.rs` |
//! | `parking::WAKE` against `parking::SLEEP` | a waiter sleeps on | `tests/wake_up.rs` |
//! | raw fences against `parking::SLEEP` | a waiter sleeps on | `contenders_..`, unaimed |
#![cfg(not(exclusion_loom))]

mod common;

use std::hint::spin_loop;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use common::within_two_minutes;
use exclusion::lock::raw::{
    Attendance, Bakery, BlackWhiteBakery, Packed, Padded, Peterson, Place, Priority, RawLock,
    Tournament, Waiting, Withdrawn,
};
use exclusion::lock::{Leased, Seat, Seated};
use exclusion::{BakeryCondvar, BakeryMutex};
use lock_api::{Mutex, RawMutex};

/// One litmus at a time: its threads need the cores.
static CORES: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn have_the_cores() -> std::sync::MutexGuard<'static, ()> {
    CORES.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A word on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicUsize);

/// What the two threads of a litmus share.
#[derive(Default)]
struct Meeting {
    /// Which round each of them has come to.
    rounds: [Line; 2],
    /// Written by each before it enters, and read by the other before: stores to them take long.
    clutter: [[Line; 6]; 2],
    is_over: AtomicBool,
}

impl Meeting {
    /// Comes to a round, and waits for the other. Says whether there is one.
    fn meet(&self, side: usize, round: usize) -> bool {
        for line in &self.clutter[1 - side] {
            std::hint::black_box(line.0.load(Relaxed));
        }
        self.rounds[side].0.store(round, Release);
        let mut looks = 0;
        while self.rounds[1 - side].0.load(Acquire) < round {
            looks += 1;
            if looks % 4096 == 0 {
                if self.is_over.load(Relaxed) {
                    return false;
                }
                std::thread::yield_now();
            }
            spin_loop();
        }
        !self.is_over.load(Relaxed)
    }

    /// Fills the store buffer.
    fn clutter(&self, side: usize, round: usize) {
        for line in &self.clutter[side] {
            line.0.store(round, Relaxed);
        }
    }
}

/// Who is inside: neither, the one, the other.
#[derive(Default)]
struct Inside(Line);

impl Inside {
    /// Is inside for a moment. Says whether it was alone.
    fn visit(&self, side: usize) -> bool {
        let before = self.0.0.load(Relaxed);
        self.0.0.store(1 + side, Relaxed);
        for _ in 0..30 {
            spin_loop();
        }
        let after = self.0.0.load(Relaxed);
        self.0.0.store(0, Relaxed);
        before == 0 && after == 1 + side
    }
}

/// Has two threads enter at the same moment until `time` is over or they meet inside. Says in how
/// many rounds, and whether they met.
fn meet_inside<L: RawLock + 'static>(time: Duration) -> (usize, bool) {
    const MOST_PAUSES: usize = 64;
    let _cores = have_the_cores();
    within_two_minutes(move || {
        let mut cell = Seated::<L, Inside>::new(Inside::default());
        let [left, right] = first_two(&mut cell);
        let meeting = Meeting::default();
        let end = Instant::now() + time;
        let run = |mut seat: Seat<'_, L, Inside>, side: usize| {
            let mut round = 0;
            loop {
                round += 1;
                if !meeting.meet(side, round) {
                    return (round, false);
                }
                // Strides without a common factor: all differences, neighbours far apart.
                let pauses = round * [37, 53][side] % MOST_PAUSES;
                for _ in 0..pauses {
                    spin_loop();
                }
                meeting.clutter(side, round);
                let is_alone = seat.lock().visit(side);
                if !is_alone || round % 256 == 0 && Instant::now() > end {
                    meeting.is_over.store(true, Relaxed);
                    return (round, !is_alone);
                }
            }
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| run(right, 1));
            let (rounds, met) = run(left, 0);
            (rounds, met | other.join().expect("no thread panics").1)
        })
    })
}

/// Seats of two contenders that meet at every level.
fn first_two<L: RawLock>(cell: &mut Seated<L, Inside>) -> [Seat<'_, L, Inside>; 2] {
    // SAFETY: two different seats, each given to one thread, as long as the cell is borrowed.
    [0, 1].map(|number| unsafe { cell.seat_unchecked(number) })
}

/// Long enough for hundreds of thousands of rounds, if the two have a core each.
const SOME_TIME: Duration = Duration::from_millis(700);

fn nobody_meets<L: RawLock + 'static>(name: &str) {
    let (rounds, met) = meet_inside::<L>(SOME_TIME);
    println!("{name}: {rounds} rounds");
    assert!(!met, "{name}: two were inside in round {rounds}");
    assert!(rounds > 100, "{name}: only {rounds} rounds: that says nothing");
}

/// A test of a lock in both layouts.
macro_rules! nobody_meets_in {
    ($($name:ident: $lock:ident $([$seats:literal])?;)*) => {$(
        #[test]
        fn $name() {
            nobody_meets::<$lock<$($seats,)? Packed>>("packed");
            nobody_meets::<$lock<$($seats,)? Padded>>("padded");
        }
    )*};
}

nobody_meets_in! {
    bakeries: Bakery[2];
    black_white_bakeries: BlackWhiteBakery[2];
    petersons: Peterson;
    priorities: Priority;
}

#[test]
fn tournaments() {
    nobody_meets::<Tournament<4>>("of four");
}

/// Peterson's lock as it stands in textbooks, without a fence.
struct Unfenced {
    want: [Line; 2],
    turn: Line,
}

// SAFETY: it is not. Only a litmus is to see that.
unsafe impl RawLock for Unfenced {
    const SEATS: usize = 2;
    const UNLOCKED: Self =
        Self { want: [const { Line(AtomicUsize::new(0)) }; 2], turn: Line(AtomicUsize::new(0)) };

    unsafe fn acquire_among(
        &self,
        side: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        self.want[side].0.store(1, Release);
        self.turn.0.store(side, Release);
        waiting.wait(Place::of(&self.want[1 - side]), || {
            self.want[1 - side].0.load(Acquire) == 0 || self.turn.0.load(Acquire) != side
        })
    }

    unsafe fn release(&self, side: usize) {
        self.want[side].0.store(0, Release);
    }

    fn is_idle(&self, side: usize) -> bool {
        self.want[side].0.load(Relaxed) == 0
    }

    fn places(&self, _: usize, _: impl FnMut(Place)) {}
}

#[test]
fn without_a_fence_two_meet_inside() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return println!("skipped: one core sees its own stores");
    }
    let (rounds, met) = meet_inside::<Unfenced>(Duration::from_secs(60));
    println!("met in round {rounds}");
    assert!(met, "not in {rounds} rounds: then the others say nothing");
}

/// A thread notifies, without the mutex, just as the holder leaves the mutex. One of the two must
/// see that the waiter is to be woken.
#[test]
fn a_waiter_is_notified_as_the_holder_leaves() {
    const MOST_PAUSES: usize = 300;
    let _cores = have_the_cores();
    let rounds = within_two_minutes(|| {
        let (mutex, condvar) = (BakeryMutex::new((0, 0)), BakeryCondvar::new());
        let meeting = Meeting::default();
        std::thread::scope(|scope| {
            // The waiter: says in which round it waits, and in which it was woken.
            scope.spawn(|| {
                let mut guard = mutex.lock();
                for round in 1.. {
                    guard.0 = round;
                    condvar.wait(&mut guard);
                    guard.1 = round;
                    if meeting.is_over.load(Relaxed) {
                        return;
                    }
                }
            });
            // The notifier.
            scope.spawn(|| {
                for round in 1.. {
                    if !meeting.meet(1, round) {
                        return;
                    }
                    for _ in 0..round * 89 % MOST_PAUSES {
                        spin_loop();
                    }
                    meeting.clutter(1, round);
                    assert!(condvar.notify_one(), "the waiter waits");
                }
            });
            let start = Instant::now();
            for round in 1.. {
                while mutex.lock().0 != round {
                    std::thread::yield_now();
                }
                let guard = mutex.lock();
                if start.elapsed() > 2 * SOME_TIME {
                    meeting.is_over.store(true, Relaxed);
                    drop(guard);
                    while !condvar.notify_one() {}
                    return round;
                }
                meeting.meet(0, round);
                for _ in 0..round * 53 % MOST_PAUSES {
                    spin_loop();
                }
                drop(guard);
                while mutex.try_lock().is_none_or(|guard| guard.1 != round) {
                    std::thread::yield_now();
                }
            }
            unreachable!("time is over at last")
        })
    });
    println!("{rounds} rounds");
    assert!(rounds > 100, "only {rounds} rounds: that says nothing");
}

/// Three threads on two seats, with next to nothing between their entries: they fall asleep and are
/// woken all the time, also by a contender in the middle of its doorway.
fn nobody_sleeps_for_good<R: RawMutex + Send + Sync + 'static>() {
    let _cores = have_the_cores();
    let entries = within_two_minutes(|| {
        let mutex = Mutex::<R, usize>::new(0);
        let end = Instant::now() + SOME_TIME;
        std::thread::scope(|scope| {
            let run = || {
                let mut entries = 0;
                while entries % 64 != 0 || Instant::now() < end {
                    *mutex.lock() += 1;
                    entries += 1;
                }
                entries
            };
            let others = [scope.spawn(run), scope.spawn(run)];
            let entries =
                run() + others.map(|it| it.join().expect("no panic")).iter().sum::<usize>();
            assert_eq!(entries, *mutex.lock());
            entries
        })
    });
    assert!(entries > 100, "only {entries} entries: that says nothing");
}

#[test]
fn contenders_that_wake_others_in_the_middle_of_an_acquire_lose_nobody() {
    nobody_sleeps_for_good::<Leased<Bakery<2>, 0>>();
    nobody_sleeps_for_good::<Leased<BlackWhiteBakery<2>, 0>>();
    nobody_sleeps_for_good::<Leased<Peterson, 0>>();
    nobody_sleeps_for_good::<Leased<Priority, 0>>();
}
