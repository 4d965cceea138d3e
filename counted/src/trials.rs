//! Trials of the locks under random schedules: 3 to 16 threads that lock, try, give up, bump, hand
//! over and bring closures, as a seed says.
//!
//! A trial fails if two are inside, if an entry is lost, if all threads wait, if a schedule does
//! not end, if somebody is still counted when all have left, or if a line is not given back to the
//! pool. To add a lock is to add a line to [`trials`]. Locks that let in several, and condition
//! variables, are tried by [`primitives`](crate::primitives).

use std::fmt::Debug;
use std::time::{Duration, Instant};

use shuttle::thread;

use crate::chance::Chance;
use crate::lock::counting::{self, AtomicUsize};
use crate::lock::raw::{
    Bakery, BlackWhiteBakery, Packed, Peterson, PetersonSwap, Priority, RawLock, RawSharedLock,
    RwBakery, Tournament,
};
use crate::lock::sync::Ordering::Relaxed;
use crate::lock::{Leased, Policy, Seat, Seated};
use crate::lock_api::{Mutex, MutexGuard, RawMutexFair, RawMutexTimed};
use crate::primitives::{condition, read_write, semaphore, tokens};
use crate::{BakeryMutex, Bypass, RawBakeryMutex, RawTournamentMutex, Strict};

/// A lock to try.
#[derive(Clone, Copy)]
pub struct Trial {
    /// Its name.
    pub name: &'static str,
    /// Tries it once, as the seed says.
    pub run: fn(u64),
}

/// All that there are.
pub fn trials() -> Vec<Trial> {
    let trial = |name, run| Trial { name, run };
    vec![
        trial("bakery_mutex", mutex::<RawBakeryMutex<Strict>>),
        trial("bakery_mutex_bypass", mutex::<RawBakeryMutex<Bypass>>),
        trial("bakery_mutex_bypass_two", mutex::<RawBakeryMutex<Bypass<2, 100>>>),
        trial("bakery_mutex_with", closures::<Strict>),
        trial("bakery_mutex_with_bypass", closures::<Bypass<2, 100>>),
        trial("tournament_mutex", mutex::<RawTournamentMutex>),
        trial("tournament_mutex_strict", mutex::<RawTournamentMutex<8, 0>>),
        trial("tournament_mutex_of_two", mutex::<RawTournamentMutex<2, 1>>),
        trial("leased_bakery", mutex::<Leased<Bakery<4>>>),
        trial("leased_bakery_of_one", mutex::<Leased<Bakery<1>>>),
        trial("leased_black_white", mutex::<Leased<BlackWhiteBakery<8>, 1>>),
        trial("leased_tournament_swap", mutex::<Leased<Tournament<8, PetersonSwap>>>),
        trial("leased_tournament_priority", mutex::<Leased<Tournament<8, Priority>>>),
        trial("owned_bakery", owned::<Bakery<5>, 5>),
        trial("owned_rw_bakery", readers::<RwBakery<5>, 5>),
        trial("owned_rw_bakery_of_two", readers::<RwBakery<5, Packed, 2>, 5>),
        trial("owned_black_white", owned::<BlackWhiteBakery<5>, 5>),
        trial("owned_tournament", owned::<Tournament<7, Peterson>, 7>),
        trial("owned_tournament_swap", owned::<Tournament<5, PetersonSwap>, 5>),
        trial("owned_tournament_priority", owned::<Tournament<6, Priority>, 6>),
        trial("condvar", condition::<Strict>),
        trial("condvar_bypass", condition::<Bypass<2, 100>>),
        trial("condvar_tokens", tokens::<Strict>),
        trial("condvar_tokens_bypass", tokens::<Bypass<2, 100>>),
        trial("rw_lock", read_write::<Strict>),
        trial("rw_lock_bypass", read_write::<Bypass<2, 100>>),
        trial("semaphore", semaphore::<Strict>),
        trial("semaphore_bypass", semaphore::<Bypass<2, 100>>),
    ]
}

/// What is behind the lock.
#[derive(Debug)]
pub struct Data {
    is_inside: bool,
    entries: usize,
    /// Looked at so that others may run.
    word: AtomicUsize,
}

impl Data {
    /// Nobody has been here.
    #[allow(clippy::new_without_default, reason = "not a value to fall back to")]
    pub const fn new() -> Self {
        Self { is_inside: false, entries: 0, word: AtomicUsize::new(0) }
    }

    /// An entry, in the middle of which others run.
    ///
    /// # Panics
    /// When somebody else is here.
    pub fn enter(&mut self) {
        assert!(!self.is_inside, "two are inside");
        self.is_inside = true;
        let before = self.entries;
        self.word.load(Relaxed);
        assert!(self.is_inside, "two were inside");
        self.entries = before + 1;
        self.is_inside = false;
    }

    /// A look, in the middle of which others run.
    ///
    /// # Panics
    /// When somebody writes.
    pub fn look(&self) {
        assert!(!self.is_inside, "a writer is inside");
        let before = self.entries;
        self.word.load(Relaxed);
        assert!(!self.is_inside && self.entries == before, "a writer was inside");
    }
}

/// How long a thread waits that gives up at last.
pub(crate) fn patience(chance: &mut Chance) -> Duration {
    Duration::from_micros(chance.pick(&[0, 50, 100, 200, 1000, 10_000]))
}

/// Between 3 and 16 threads, half of the time no more than 5.
pub(crate) fn how_many_threads(chance: &mut Chance) -> usize {
    3 + if chance.below(2) == 0 { chance.below(3) } else { chance.below(14) }
}

/// Has between 3 and 16 threads act, up to three times each, and wants all their entries.
pub(crate) fn run_threads(
    seed: u64,
    act: impl Fn(&mut Chance) -> usize + Send + Sync,
    entries: impl FnOnce() -> usize,
) {
    let mut chance = Chance(!seed);
    let threads = how_many_threads(&mut chance);
    let act = &act;
    let made: usize = thread::scope(|scope| {
        let run = |seed: u64| {
            scope.spawn(move || {
                let mut chance = Chance(seed);
                (0..1 + chance.below(3)).map(|_| act(&mut chance)).sum::<usize>()
            })
        };
        let handles: Vec<_> = (0..threads).map(|_| run(chance.bits())).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).sum()
    });
    assert_eq!(made, entries(), "an entry is lost");
}

/// Tries a drop-in lock.
pub fn mutex<R>(seed: u64)
where
    R: RawMutexFair + RawMutexTimed<Duration = Duration, Instant = Instant> + Debug + Send + Sync,
{
    let lock = Mutex::<R, Data>::new(Data::new());
    let enter = |mut guard: MutexGuard<'_, R, Data>, chance: &mut Chance| {
        guard.enter();
        match chance.below(6) {
            0 => MutexGuard::unlock_fair(guard),
            1 => {
                MutexGuard::bump(&mut guard);
                guard.enter();
                return 2;
            }
            _ => {}
        }
        1
    };
    let act = |chance: &mut Chance| {
        let guard = match chance.below(6) {
            0 => lock.try_lock(),
            1 | 2 => lock.try_lock_for(patience(chance)),
            _ => Some(lock.lock()),
        };
        guard.map_or(0, |guard| enter(guard, chance))
    };
    run_threads(seed, act, || lock.lock().entries);
    assert_deserted(&lock);
}

/// Nobody is inside, in line or asleep, as the debug output of a drop-in lock tells.
fn assert_deserted<R: RawMutexFair + Debug>(lock: &Mutex<R, Data>) {
    let nobody = [
        "Leased { here: 0b0, asleep_at_door: 0, asleep_in_hall: 0, asleep_in_line: 0",
        "Pooled { inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0",
    ];
    // SAFETY: the raw mutex is only printed.
    let text = format!("{:?}", unsafe { lock.raw() });
    let is_deserted = nobody.iter().any(|nobody| text.starts_with(nobody));
    assert!(is_deserted, "somebody is still counted: {text}");
}

/// Tries closures beside guards.
pub fn closures<P: Policy>(seed: u64) {
    let lock = BakeryMutex::<Data, P>::with_policy(Data::new());
    let act = |chance: &mut Chance| match chance.below(8) {
        0 => usize::from(lock.try_with(Data::enter).is_ok()),
        1 | 2 => usize::from(lock.try_with_for(patience(chance), Data::enter).is_ok()),
        3 => lock.try_lock_for(patience(chance)).map_or(0, |mut guard| {
            guard.enter();
            1
        }),
        4 => {
            lock.lock().enter();
            1
        }
        _ => {
            lock.with(Data::enter);
            1
        }
    };
    run_threads(seed, act, || lock.lock().entries);
    assert_deserted(&lock);
}

/// Tries owned seats, with a thread on each.
pub fn owned<L: RawLock, const N: usize>(seed: u64) {
    let mut chance = Chance(!seed);
    let mut cell = Seated::<L, Data>::new(Data::new());
    let made: usize = thread::scope(|scope| {
        let seats = cell.seats::<N>().map(|seat| (seat, Chance(chance.bits())));
        let handles: Vec<_> = seats
            .into_iter()
            .map(|(mut seat, mut chance)| {
                scope.spawn(move || {
                    let times = 1 + chance.below(3);
                    (0..times).map(|_| act_on(&mut seat, &mut chance)).sum::<usize>()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).sum()
    });
    assert_eq!(made, cell.into_inner().entries, "an entry is lost");
}

/// Locks a seat, tries, or gives up after some time. Says how often it was inside.
fn act_on<L: RawLock>(seat: &mut Seat<'_, L, Data>, chance: &mut Chance) -> usize {
    let guard = match chance.below(4) {
        0 => seat.try_lock(),
        1 => {
            let end = counting::elapsed() + patience(chance);
            seat.lock_unless(|| counting::elapsed() >= end)
        }
        _ => Some(seat.lock()),
    };
    guard.map_or(0, |mut guard| {
        guard.enter();
        1
    })
}

/// Tries owned seats that read and write, with a thread on each.
pub fn readers<L: RawSharedLock, const N: usize>(seed: u64) {
    let mut chance = Chance(!seed);
    let mut cell = Seated::<L, Data>::new(Data::new());
    let made: usize = thread::scope(|scope| {
        let seats = cell.seats::<N>().map(|seat| (seat, Chance(chance.bits())));
        let handles: Vec<_> = seats
            .into_iter()
            .map(|(mut seat, mut chance)| {
                scope.spawn(move || {
                    let times = 1 + chance.below(3);
                    (0..times).map(|_| read_or_act(&mut seat, &mut chance)).sum::<usize>()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).sum()
    });
    assert_eq!(made, cell.into_inner().entries, "an entry is lost");
}

/// Reads from a seat, or acts on it. Says how often it wrote.
fn read_or_act<L: RawSharedLock>(seat: &mut Seat<'_, L, Data>, chance: &mut Chance) -> usize {
    let guard = match chance.below(6) {
        0 => seat.try_read(),
        1 => {
            let end = counting::elapsed() + patience(chance);
            seat.read_unless(|| counting::elapsed() >= end)
        }
        2 | 3 => Some(seat.read()),
        _ => return act_on(seat, chance),
    };
    if let Some(data) = guard {
        data.look();
    }
    0
}
