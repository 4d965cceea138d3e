//! Random schedules of locking, trying, giving up and coming back, written down and replayed.
//!
//! Contenders take turns (see `common::baton`), so a failing schedule is printed, shrunk and kept
//! by proptest. What happens between two turns is loom's part. The baton orders all accesses of the
//! test's own.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use common::baton::{Baton, Patience, Runner};
use common::flawed::{Flawed, NOTHING, OPEN, STICKY};
use exclusion::lock::raw::{
    Bakery, BlackWhiteBakery, Narrow, Peterson, PetersonSwap, Priority, RawLock, RwBakery,
    Tournament, Waiting,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Waits however long it takes.
    Lock,
    /// Takes the lock or leaves.
    Try,
    /// Withdraws after this many looks.
    GiveUpAfter(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Lock),
        1 => Just(Step::Try),
        2 => (0..4_usize).prop_map(Step::GiveUpAfter),
    ];
    proptest::collection::vec(step, 1..6)
}

/// Plays the steps of each seat by the schedule, then round and round. Returns what went wrong.
fn play<L: RawLock>(scripts: &[Vec<Step>], schedule: Vec<usize>) -> Result<(), String> {
    let lock = &L::UNLOCKED;
    let inside = &AtomicUsize::new(0);
    let busy = &AtomicUsize::new(0);
    let wrong = &Mutex::new(None);
    let report = |what: String| {
        wrong.lock().unwrap().get_or_insert(what);
    };
    let turns = schedule.into_iter().chain(0..);

    Baton::race(L::SEATS, turns, |runner: Runner<'_>| {
        let seat = runner.number;
        for &step in &scripts[seat] {
            let alone = busy.fetch_add(1, Relaxed) == 0;
            let looks = match step {
                Step::Lock => None,
                Step::Try => Some(0),
                Step::GiveUpAfter(looks) => Some(looks),
            };
            // SAFETY: one contender a seat, and what it acquires it releases.
            let entered = unsafe { lock.acquire(seat, &Patience { runner, looks }) }.is_ok();
            if entered {
                if inside.fetch_add(1, Relaxed) != 0 {
                    report(format!("seat {seat} is not alone inside"));
                }
                runner.pass();
                inside.fetch_sub(1, Relaxed);
                // SAFETY: as above.
                unsafe { lock.release(seat) };
            } else if matches!(step, Step::Lock) {
                report(format!("seat {seat} gave up though told to wait"));
            } else if alone && looks == Some(0) {
                report(format!("seat {seat} was refused a free lock"));
            }
            busy.fetch_sub(1, Relaxed);
            runner.pass();
        }
    });

    for seat in 0..L::SEATS {
        // SAFETY: all contenders are gone.
        if !unsafe { lock.try_acquire(seat) } {
            report(format!("the lock was left held; seat {seat} cannot enter"));
            break;
        }
        // SAFETY: we have just acquired it.
        unsafe { lock.release(seat) };
    }
    wrong.lock().unwrap().take().map_or(Ok(()), Err)
}

macro_rules! any_schedule {
    ($($name:ident: $lock:ty, $seats:literal seats;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(150))]
            $(#[test]
            fn $name(
                scripts in proptest::collection::vec(steps(), $seats),
                schedule in proptest::collection::vec(0..$seats as usize, 0..40),
            ) {
                play::<$lock>(&scripts, schedule).map_err(TestCaseError::fail)?;
            })*
        }
    };
}

any_schedule! {
    bakery: Bakery<4>, 4 seats;
    bakery_with_few_tickets: Bakery<4, Narrow<3>>, 4 seats;
    rw_bakery: RwBakery<4>, 4 seats;
    black_white: BlackWhiteBakery<4>, 4 seats;
    peterson: Peterson, 2 seats;
    peterson_swap: PetersonSwap, 2 seats;
    priority: Priority, 2 seats;
    tournament: Tournament<5>, 5 seats;
    tournament_of_priority_nodes: Tournament<5, Priority>, 5 seats;
    the_sound_queue: Flawed<4, NOTHING>, 4 seats;
}

fn all_lock() -> Vec<Vec<Step>> {
    vec![vec![Step::Lock, Step::Lock]; 2]
}

#[test]
fn two_inside_are_noticed() {
    let wrong = play::<Flawed<2, OPEN>>(&all_lock(), vec![]).unwrap_err();
    assert!(wrong.contains("not alone inside"), "{wrong}");
}

#[test]
fn a_lock_left_held_is_noticed() {
    let scripts = vec![vec![Step::Lock], vec![Step::Try]];
    let wrong = play::<Flawed<2, STICKY>>(&scripts, vec![1]).unwrap_err();
    assert!(wrong.contains("left held"), "{wrong}");
}

/// Everybody takes its steps in turn, one after the other. How many others enter, at most, while a
/// contender waits?
fn most_bypasses<L: RawLock>(rounds: usize) -> usize {
    let lock = &L::UNLOCKED;
    let entries = &AtomicUsize::new(0);
    let most = &AtomicUsize::new(0);
    Baton::race(L::SEATS, 0.., |runner| {
        for _ in 0..rounds {
            let first_wait = &std::cell::Cell::new(None);
            let waiting =
                NotingFirstWait { patience: Patience { runner, looks: None }, first_wait, entries };
            // SAFETY: one contender a seat, and what it acquires it releases.
            unsafe { lock.acquire(runner.number, &waiting).unwrap() };
            if let Some(before) = first_wait.get() {
                most.fetch_max(entries.load(Relaxed) - before, Relaxed);
            }
            entries.fetch_add(1, Relaxed);
            runner.pass();
            // SAFETY: as above.
            unsafe { lock.release(runner.number) };
        }
    });
    most.load(Relaxed)
}

struct NotingFirstWait<'a> {
    patience: Patience<'a>,
    first_wait: &'a std::cell::Cell<Option<usize>>,
    entries: &'a AtomicUsize,
}

impl Waiting for NotingFirstWait<'_> {
    fn wait(
        &self,
        place: exclusion::lock::raw::Place,
        ready: impl Fn() -> bool,
    ) -> Result<(), exclusion::lock::raw::Withdrawn> {
        if !ready() && self.first_wait.get().is_none() {
            self.first_wait.set(Some(self.entries.load(Relaxed)));
        }
        self.patience.wait(place, ready)
    }
}

#[test]
fn in_a_tournament_whose_contenders_run_in_turn_at_most_all_but_one_enter_before_a_waiting_one() {
    // 2^h - 1, where h is the height of the tree.
    assert!((1..=1).contains(&most_bypasses::<Tournament<2>>(50)));
    assert!((1..=3).contains(&most_bypasses::<Tournament<4>>(50)));
    assert!((1..=7).contains(&most_bypasses::<Tournament<5>>(50)));
    assert!((1..=7).contains(&most_bypasses::<Tournament<8>>(50)));
    assert!((1..=15).contains(&most_bypasses::<Tournament<16>>(50)));
}

#[test]
fn in_a_bakery_only_those_ahead_enter_before_a_waiting_one() {
    assert!((1..=7).contains(&most_bypasses::<Bakery<8>>(50)));
    assert!((1..=7).contains(&most_bypasses::<BlackWhiteBakery<8>>(50)));
}
