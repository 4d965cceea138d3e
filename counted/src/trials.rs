//! Trials of the locks under random schedules: 3 to 16 threads that lock, try, give up, bump, hand
//! over and bring closures, as a seed says.
//!
//! A trial fails if two are inside, if an entry is lost, if all threads wait, if a schedule does
//! not end, or if a line is not given back to the pool. To add a lock is to add a line to
//! [`trials`].

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
use crate::lock_api::{Mutex, MutexGuard, RawMutexFair, RawMutexTimed, RwLockWriteGuard};
use crate::{
    BakeryMutex, BakerySemaphore, Bypass, PolicyCondvar, PolicyRwLock, RawBakeryMutex,
    RawTournamentMutex, Strict,
};

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
        trial("condvar", condvar::<Strict>),
        trial("condvar_bypass", condvar::<Bypass<2, 100>>),
        trial("rw_lock", rw_lock::<Strict>),
        trial("rw_lock_bypass", rw_lock::<Bypass<2, 100>>),
        trial("semaphore", semaphore::<Strict>),
        trial("semaphore_bypass", semaphore::<Bypass<2, 100>>),
        trial("owned_black_white", owned::<BlackWhiteBakery<5>, 5>),
        trial("owned_tournament", owned::<Tournament<7, Peterson>, 7>),
        trial("owned_tournament_swap", owned::<Tournament<5, PetersonSwap>, 5>),
        trial("owned_tournament_priority", owned::<Tournament<6, Priority>, 6>),
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
fn patience(chance: &mut Chance) -> Duration {
    Duration::from_micros(chance.pick(&[0, 50, 100, 200, 1000, 10_000]))
}

/// Has between 3 and 16 threads act, up to three times each, and wants all their entries.
fn run_threads(
    seed: u64,
    act: impl Fn(&mut Chance) -> usize + Send + Sync,
    entries: impl FnOnce() -> usize,
) {
    let mut chance = Chance(!seed);
    let threads = 3 + if chance.below(2) == 0 { chance.below(3) } else { chance.below(14) };
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
    R: RawMutexFair + RawMutexTimed<Duration = Duration, Instant = Instant> + Send + Sync,
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

/// Tries the read-write lock. Readers that look see no half of a write.
pub fn rw_lock<P: Policy>(seed: u64) {
    let lock = PolicyRwLock::<Data, P>::new(Data::new());
    let write = |mut guard: RwLockWriteGuard<'_, _, Data>, chance: &mut Chance| {
        guard.enter();
        match chance.below(6) {
            0 => RwLockWriteGuard::unlock_fair(guard),
            1 => {
                RwLockWriteGuard::bump(&mut guard);
                guard.enter();
                return 2;
            }
            2 => RwLockWriteGuard::downgrade(guard).look(),
            _ => {}
        }
        1
    };
    let act = |chance: &mut Chance| match chance.below(8) {
        0 => lock.try_read().map_or(0, |data| {
            data.look();
            0
        }),
        1 => lock.try_read_for(patience(chance)).map_or(0, |data| {
            data.look();
            0
        }),
        2 | 3 => {
            lock.read().look();
            0
        }
        4 => lock.try_write().map_or(0, |guard| write(guard, chance)),
        5 => lock.try_write_for(patience(chance)).map_or(0, |guard| write(guard, chance)),
        _ => write(lock.write(), chance),
    };
    run_threads(seed, act, || lock.read().entries);
}

/// Tries the semaphore: no more permits are out than there are.
pub fn semaphore<P: Policy>(seed: u64) {
    const PERMITS: usize = 3;
    let semaphore = BakerySemaphore::<P>::with_policy(PERMITS);
    let out = AtomicUsize::new(0);
    let entries = AtomicUsize::new(0);
    let act = |chance: &mut Chance| {
        let count = 1 + chance.below(PERMITS);
        let permit = match chance.below(6) {
            0 => semaphore.try_acquire_many(count),
            1 | 2 => semaphore.try_acquire_many_for(count, patience(chance)),
            _ => Some(semaphore.acquire_many(count)),
        };
        permit.map_or(0, |permit| {
            let before = out.fetch_add(count, Relaxed);
            assert!(before + count <= PERMITS, "more permits are out than there are");
            entries.fetch_add(1, Relaxed);
            out.fetch_sub(count, Relaxed);
            drop(permit);
            1
        })
    };
    run_threads(seed, act, || entries.load(Relaxed));
    assert_eq!(semaphore.available_permits(), PERMITS, "a permit is lost");
}

/// Tries the condition variable: as many threads give tokens as take some. A taker that waits finds
/// one in the end, unless a notification is lost.
pub fn condvar<P: Policy>(seed: u64) {
    let mut chance = Chance(!seed);
    let tokens = BakeryMutex::<usize, P>::with_policy(0);
    let arrived = PolicyCondvar::<P>::new();
    let (pairs, times) = (1 + chance.below(5), 1 + chance.below(3));
    let give = |chance: &mut Chance| {
        let mut held = tokens.lock();
        *held += 1;
        let guard = (chance.below(2) == 0).then_some(held);
        match chance.below(4) {
            0 => _ = arrived.notify_all(),
            _ => _ = arrived.notify_one(),
        }
        drop(guard);
    };
    let take = |chance: &mut Chance| {
        let mut held = tokens.lock();
        while *held == 0 {
            match chance.below(2) {
                0 => arrived.wait(&mut held),
                _ => _ = arrived.wait_for(&mut held, patience(chance)),
            }
        }
        *held -= 1;
    };
    thread::scope(|scope| {
        for _ in 0..pairs {
            let [mut one, mut other] = [chance.bits(), chance.bits()].map(Chance);
            let (give, take) = (&give, &take);
            scope.spawn(move || (0..times).for_each(|_| give(&mut one)));
            scope.spawn(move || (0..times).for_each(|_| take(&mut other)));
        }
    });
    assert_eq!(*tokens.lock(), 0, "a token is left");
    assert!(!arrived.notify_one(), "somebody is counted that has left");
}
