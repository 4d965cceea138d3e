//! Random and PCT schedules of the shipped locks.
//!
//! `SCHEDULES` says how many per lock, `SEED` which is the first, `TRIAL` which lock alone. Each
//! seed is one schedule, so `SEED` with one schedule is a replay.

use std::io::Write;
use std::str::FromStr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Instant;

use counted::lock::Leased;
use counted::lock::counting::{AtomicUsize, Purpose};
use counted::lock::raw::{Attendance, Bakery, Place, RawLock, Waiting, Withdrawn};
use counted::schedule::{Failure, explore};
use counted::trials::{self, Trial, trials};

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} cannot be '{text}'")))
}

/// How many schedules per lock are a part of the test command.
const USUAL: u64 = 200;

#[test]
fn every_lock_stands_random_schedules() {
    let schedules = from_environment("SCHEDULES").unwrap_or(USUAL);
    let first = from_environment("SEED").unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(()) >> 16
    });
    let chosen: Option<String> = from_environment("TRIAL");
    for Trial { name, run } in trials() {
        if chosen.as_ref().is_some_and(|chosen| chosen != name) {
            continue;
        }
        let start = Instant::now();
        let outcome = explore(first, schedules, Purpose::Mistakes, run);
        let Failure { seed, what } = match outcome {
            Ok(_) => {
                let seconds = start.elapsed().as_secs_f64();
                let line =
                    format!("{name:28} {schedules} schedules from {first}, {seconds:.2} s\n");
                std::io::stderr().write_all(line.as_bytes()).expect("stderr is writable");
                continue;
            }
            Err(failure) => failure,
        };
        panic!(
            "{name}: {what}; see it again with TRIAL={name} SEED={seed} SCHEDULES=1 \
             cargo test -p counted --test schedules -- --nocapture"
        );
    }
}

/// The locks that are wrong on purpose, and what the schedules find.
fn finds(run: fn(u64), finding: &str) {
    let failure = explore(1, 20_000, Purpose::Mistakes, run).expect_err("it is wrong on purpose");
    assert!(failure.what.contains(finding), "{}", failure.what);
    let again = explore(failure.seed, 1, Purpose::Mistakes, run).expect_err("the same schedule");
    assert_eq!(again.what, failure.what, "a seed is a replay");
}

/// A bakery whose customers do not say that they choose.
struct Hasty([AtomicUsize; 5]);

// SAFETY: it is not. Only the schedules are to see that.
unsafe impl RawLock for Hasty {
    const SEATS: usize = 5;
    const UNLOCKED: Self = Self([const { AtomicUsize::new(0) }; 5]);

    unsafe fn acquire_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        let highest = present.seats(5).map(|other| self.0[other].load(Relaxed)).max();
        let ticket = highest.unwrap_or(0) + 1;
        self.0[seat].store(ticket, Release);
        waiting.wake(Place::of(&self.0[seat]));
        for other in present.seats(5) {
            let is_behind = || {
                let word = self.0[other].load(Acquire);
                word == 0 || (ticket, seat) <= (word, other)
            };
            if let Err(withdrawn) = waiting.wait(Place::of(&self.0[other]), is_behind) {
                self.0[seat].store(0, Release);
                return Err(withdrawn);
            }
        }
        Ok(())
    }

    unsafe fn release(&self, seat: usize) {
        self.0[seat].store(0, Release);
    }

    fn is_idle(&self, seat: usize) -> bool {
        self.0[seat].load(Relaxed) == 0
    }

    fn places(&self, seat: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.0[seat]));
    }
}

/// A bakery that does not say where others wait for a seat to leave.
struct Deaf(Bakery<5>);

// SAFETY: the bakery's. Only wake-ups are lost.
unsafe impl RawLock for Deaf {
    const SEATS: usize = 5;
    const UNLOCKED: Self = Self(<Bakery<5>>::UNLOCKED);

    unsafe fn acquire_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        // SAFETY: the same contract.
        unsafe { self.0.acquire_among(seat, present, waiting) }
    }

    unsafe fn release(&self, seat: usize) {
        // SAFETY: the same contract.
        unsafe { self.0.release(seat) };
    }

    fn is_idle(&self, seat: usize) -> bool {
        self.0.is_idle(seat)
    }

    fn places(&self, _: usize, _: impl FnMut(Place)) {}
}

#[test]
fn customers_that_do_not_say_that_they_choose_meet_inside() {
    finds(trials::owned::<Hasty, 5>, "inside");
    finds(trials::mutex::<Leased<Hasty>>, "two have won");
}

#[test]
fn a_wake_up_that_is_left_out_is_a_deadlock() {
    finds(trials::mutex::<Leased<Deaf>>, "deadlock");
}
