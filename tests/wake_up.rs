//! No wake-up is lost on the machine: a waiter that falls asleep just as another contender makes it
//! ready.
//!
//! A store may linger in a core's store buffer while the loads behind it go ahead. A waker that
//! looks for sleepers before its own change is out, at a sleeper that looks for the change before
//! it is counted, leaves that sleeper asleep for good. Loom explores the fences that forbid this.
//! Here they run as instructions: two threads do nothing but fall asleep and wake, thousands of
//! times, with the moment of the wake-up swept over the moment of falling asleep.

mod common;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::{Duration, Instant};

use common::sleepers::asleep;
use common::within_two_minutes;
use exclusion::BakeryMutex;
use exclusion::lock::Leased;
use exclusion::lock::raw::{Attendance, Place, RawLock, Waiting, Withdrawn};
use lock_api::{RawMutex, RawMutexTimed};

/// A word on a cache line of its own.
#[repr(align(128))]
struct Line(AtomicUsize);

impl Line {
    const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }
}

/// A raw lock that nobody ever wins: its contenders fall asleep, or ring the bell, and withdraw.
///
/// Its words hold the number of the round, so that nobody has to reset them.
struct Bell {
    /// The round for which the bell was rung.
    rung: Line,
    /// The round in which the sleeper is about to fall asleep.
    drowsy: Line,
    /// Written by the ringer just before it rings: what keeps its store buffer busy.
    clutter: [Line; Bell::CLUTTER],
}

#[derive(Clone, Copy)]
enum Role {
    /// Sleeps until the bell has been rung for this round.
    Sleeps { round: usize },
    /// Rings the bell for this round, so long after the sleeper is drowsy.
    Rings { round: usize, pauses: usize },
}

thread_local!(static ROLE: Cell<Option<Role>> = const { Cell::new(None) });

impl Bell {
    const CLUTTER: usize = 12;

    fn sleep(&self, round: usize, waiting: &impl Waiting) {
        self.drowsy.0.store(round, Release);
        let rung = || {
            let rung = self.rung.0.load(Relaxed) == round;
            if !rung {
                // Takes these lines from the ringer, whose stores to them then take their time.
                for line in &self.clutter {
                    std::hint::black_box(line.0.load(Relaxed));
                }
            }
            rung
        };
        let _ = waiting.wait(Place::of(&self.rung), rung);
    }

    fn ring(&self, round: usize, pauses: usize, waiting: &impl Waiting) {
        spin_until(|| self.drowsy.0.load(Acquire) == round);
        for _ in 0..pauses {
            std::hint::spin_loop();
        }
        for line in &self.clutter {
            line.0.store(round, Relaxed);
        }
        self.rung.0.store(round, Relaxed);
        waiting.wake(Place::of(&self.rung));
    }
}

// SAFETY: nobody enters.
unsafe impl RawLock for Bell {
    const SEATS: usize = 4;
    const UNLOCKED: Self = Self {
        rung: Line::new(),
        drowsy: Line::new(),
        clutter: [const { Line::new() }; Bell::CLUTTER],
    };

    unsafe fn acquire_among(
        &self,
        _: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        match ROLE.get().expect("a role") {
            Role::Sleeps { round } => self.sleep(round, waiting),
            Role::Rings { round, pauses } => self.ring(round, pauses, waiting),
        }
        Err(Withdrawn)
    }

    unsafe fn release(&self, _: usize) {}

    fn is_idle(&self, _: usize) -> bool {
        true
    }

    fn places(&self, _: usize, _: impl FnMut(Place)) {}
}

/// Longer than any scheduler keeps a thread that has been woken.
const FOR_GOOD: Duration = Duration::from_secs(10);

/// Spins, so that the two threads run on two cores, and yields at last, should there be only one.
fn spin_until(condition: impl Fn() -> bool) {
    let mut looks = 0;
    while !condition() {
        looks += 1;
        if looks % 4096 == 0 {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// Contends in this role. Nobody gets in: the lock is held from outside.
fn contend(mutex: &Leased<Bell, 1>, role: Role) {
    ROLE.set(Some(role));
    assert!(mutex.try_lock_for(2 * FOR_GOOD).is_none(), "nobody wins a bell");
}

#[test]
fn a_bell_rung_while_a_waiter_falls_asleep_wakes_it() {
    const ROUNDS: usize = 300_000;
    const OVER: usize = usize::MAX;
    /// From before the waiter is tired of spinning to well after it has fallen asleep.
    const MOST_PAUSES: usize = 400;

    let rounds = within_two_minutes(|| {
        // One newcomer may pass, so that waiters sleep after spinning, without yielding first.
        let mutex = Arc::new(Leased::<Bell, 1>::new());
        let _held_for_good = mutex.lock();
        let start = Instant::now();
        let played = Arc::new(AtomicUsize::new(0));
        let ringer = std::thread::spawn({
            let (mutex, played) = (Arc::clone(&mutex), Arc::clone(&played));
            move || {
                for round in 1..=ROUNDS {
                    spin_until(|| [round - 1, OVER].contains(&played.load(Acquire)));
                    if played.load(Acquire) == OVER {
                        return;
                    }
                    // A stride without a common factor: all lengths, neighbours far apart.
                    let pauses = round * 89 % MOST_PAUSES;
                    contend(&mutex, Role::Rings { round, pauses });
                }
            }
        });
        let mut round = 0;
        while round < ROUNDS && start.elapsed() < Duration::from_secs(3) {
            round += 1;
            let called = Instant::now();
            contend(&mutex, Role::Sleeps { round });
            assert!(called.elapsed() < FOR_GOOD, "nobody woke the sleeper of round {round}");
            played.store(round, Release);
        }
        played.store(OVER, Release);
        ringer.join().expect("the ringer does not panic");
        round
    });
    assert!(rounds > 100, "only {rounds} rounds: that says nothing");
}

/// A holder leaves while another thread falls asleep at the door, by that way of entering.
fn leave_while_a_waiter_falls_asleep(enter: fn(&BakeryMutex<usize>)) -> usize {
    const ROUNDS: usize = 300_000;
    const OVER: usize = usize::MAX;
    /// From how long before the waiter falls asleep to how long after.
    const ABOUT: usize = 40;

    within_two_minutes(move || {
        let mutex = BakeryMutex::new(0);
        // How long a waiter takes to fall asleep. Every other round improves on it.
        let mut pauses = 1_000;
        let (held, comes, done) = (Line::new(), Line::new(), Line::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1.. {
                    spin_until(|| [round, OVER].contains(&held.0.load(Acquire)));
                    if held.0.load(Acquire) == OVER {
                        return;
                    }
                    comes.0.store(round, Release);
                    enter(&mutex);
                    done.0.store(round, Release);
                }
            });
            let (start, mut round) = (Instant::now(), 0);
            while round < ROUNDS && start.elapsed() < Duration::from_secs(3) {
                round += 1;
                let guard = mutex.lock();
                held.0.store(round, Release);
                spin_until(|| comes.0.load(Acquire) == round);
                let is_measured = round.is_multiple_of(2);
                let off = if is_measured { ABOUT } else { round * 7 % (2 * ABOUT) };
                for _ in 0..pauses + off {
                    std::hint::spin_loop();
                }
                if is_measured {
                    pauses = if asleep(&mutex) == 0 { pauses + 5 } else { pauses.max(5) - 5 };
                }
                drop(guard);
                spin_until(|| done.0.load(Acquire) == round);
            }
            held.0.store(OVER, Release);
            assert_eq!(*mutex.lock(), round);
            round
        })
    })
}

#[test]
fn a_holder_that_leaves_while_a_waiter_falls_asleep_wakes_it() {
    let ways: [fn(&BakeryMutex<usize>); 2] =
        [|mutex| *mutex.lock() += 1, |mutex| mutex.with(|entries| *entries += 1)];
    for enter in ways {
        let rounds = leave_while_a_waiter_falls_asleep(enter);
        assert!(rounds > 100, "only {rounds} rounds: that says nothing");
    }
}
