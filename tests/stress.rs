//! 64 threads that enter by all ways, panic and give up, for as long as they are told.
//!
//! Every entry is counted twice: by the thread that entered, and by the mutex. `STRESS_ENTRIES`
//! says how many there shall be at least; `STRESS_SEED` repeats the choices of a run. Each tenth of
//! the entries is told on stderr.
//!
//! Wild times, in which all ways are mixed evenly, alternate with longer calm ones, in which most
//! threads enter by the way that the mutex is quick at. So there are many entries of either kind.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use common::chance::{Chance, fresh_seed, from_environment};
use common::sleepers::{debugged, is_deserted};
use exclusion::lock::Policy;
use exclusion::{BakeryMutex, Bypass, Strict};
use lock_api::MutexGuard;

const THREADS: usize = 64;
/// How long a thread may be in one call before the test ends, in seconds.
const PATIENCE: u32 = 60;
/// How often a thread tries in a row at one mutex.
const IN_A_ROW: usize = 256;
/// Out of so many entries the first are wild, and so many of them.
const PERIOD: u64 = 20_000_000;
const WILD: u64 = 2_000_000;
/// In calm times one in so many tries is as in wild ones.
const CALM: usize = 64;

/// What a mutex protects: two numbers that are equal whenever nobody is inside.
#[derive(Default)]
struct Data {
    entries: u64,
    again: u64,
}

impl Data {
    /// Counts an entry, and stays inside for so many steps.
    fn enter(&mut self, steps: usize) {
        assert_eq!(self.entries, self.again, "two threads are inside");
        self.entries += 1;
        for _ in 0..steps {
            std::hint::spin_loop();
        }
        self.again += 1;
    }
}

/// The mutexes under stress.
#[derive(Default)]
struct Mutexes {
    strict: BakeryMutex<Data, Strict>,
    bypass: BakeryMutex<Data, Bypass>,
    by_count: BakeryMutex<Data, Bypass<3, 1_000_000>>,
    by_time: BakeryMutex<Data, Bypass<100_000, 20>>,
}

/// What a thread has done: on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    calls: AtomicU64,
    entries: AtomicU64,
    is_done: AtomicBool,
}

/// The way that a mutex is quick at.
#[derive(Clone, Copy)]
enum Usual {
    With,
    Lock,
}

/// Tries once. Says how often it entered.
fn enter<P: Policy>(
    mutex: &BakeryMutex<Data, P>,
    usual: Usual,
    is_wild: bool,
    chance: &mut Chance,
) -> u64 {
    if is_wild || chance.once_in(CALM) {
        return enter_somehow(mutex, chance);
    }
    match usual {
        Usual::With => mutex.with(|data| data.enter(0)),
        Usual::Lock => mutex.lock().enter(0),
    }
    1
}

/// Tries once, in one of many ways. Says how often it entered.
fn enter_somehow<P: Policy>(mutex: &BakeryMutex<Data, P>, chance: &mut Chance) -> u64 {
    let steps = if chance.once_in(8) { chance.below(400) } else { 0 };
    let time = Duration::from_micros(chance.below(300) as u64);
    let section = move |data: &mut Data| data.enter(steps);
    let panics = move |data: &mut Data| {
        data.enter(steps);
        resume_unwind(Box::new(steps));
    };
    let has_entered = match chance.below(64) {
        0..24 => {
            section(&mut mutex.lock());
            true
        }
        24..48 => {
            mutex.with(section);
            true
        }
        48..50 => mutex.try_lock().map(|mut data| section(&mut data)).is_some(),
        50..52 => mutex.try_with(section).is_ok(),
        52..55 => mutex.try_lock_for(time).map(|mut data| section(&mut data)).is_some(),
        55..58 => mutex.try_with_for(time, section).is_ok(),
        58 => {
            let panic = catch_unwind(AssertUnwindSafe(|| panics(&mut mutex.lock())));
            panic.expect_err("the panic comes here");
            true
        }
        59 => {
            let panic = catch_unwind(AssertUnwindSafe(|| mutex.with(panics)));
            let panic = panic.expect_err("the panic comes here");
            assert_eq!(panic.downcast_ref(), Some(&steps), "the panic of another thread");
            true
        }
        60 => {
            // A panic, or the closure back.
            match catch_unwind(AssertUnwindSafe(|| mutex.try_with_for(time, panics).is_ok())) {
                Ok(is_done) => {
                    assert!(!is_done, "it panics if it is run");
                    false
                }
                Err(panic) => {
                    assert_eq!(panic.downcast_ref(), Some(&steps), "the panic of another thread");
                    true
                }
            }
        }
        61 => {
            let mut guard = mutex.lock();
            guard.enter(steps);
            MutexGuard::bump(&mut guard);
            guard.enter(steps);
            return 2;
        }
        62 => {
            let mut guard = mutex.lock();
            guard.enter(steps);
            MutexGuard::unlock_fair(guard);
            true
        }
        _ => {
            thread::sleep(Duration::from_micros(chance.below(100) as u64));
            false
        }
    };
    u64::from(has_entered)
}

/// What the watcher tells the workers.
#[derive(Default)]
struct Orders {
    is_wild: AtomicBool,
    is_over: AtomicBool,
}

/// Tries for a while at one mutex. Returns how often it entered.
fn enter_in_a_row<P: Policy>(
    mutex: &BakeryMutex<Data, P>,
    usual: Usual,
    progress: &Progress,
    orders: &Orders,
    chance: &mut Chance,
) -> u64 {
    let mut sum = 0;
    for _ in 0..IN_A_ROW {
        let entries = enter(mutex, usual, orders.is_wild.load(Relaxed), chance);
        sum += entries;
        progress.calls.fetch_add(1, Relaxed);
        progress.entries.fetch_add(entries, Relaxed);
    }
    sum
}

/// Tries until there have been enough entries. Returns how many were ours, mutex by mutex.
fn work(mutexes: &Mutexes, progress: &Progress, orders: &Orders, mut chance: Chance) -> [u64; 4] {
    let Mutexes { strict, bypass, by_count, by_time } = mutexes;
    let mut sums = [0; 4];
    while !orders.is_over.load(Relaxed) {
        let chance = &mut chance;
        match chance.below(8) {
            0..4 => sums[0] += enter_in_a_row(strict, Usual::With, progress, orders, chance),
            4 | 5 => sums[1] += enter_in_a_row(bypass, Usual::Lock, progress, orders, chance),
            6 => sums[2] += enter_in_a_row(by_count, Usual::With, progress, orders, chance),
            _ => sums[3] += enter_in_a_row(by_time, Usual::Lock, progress, orders, chance),
        }
    }
    progress.is_done.store(true, Relaxed);
    sums
}

/// Ends the work when there have been enough entries, and the program if a thread hangs.
fn watch(mutexes: &Mutexes, all: &[Progress], orders: &Orders, enough: u64) {
    let start = Instant::now();
    let mut tenths = 0;
    let mut seen = vec![(0, 0); all.len()];
    let mut tick = 0_u32;
    while !all.iter().all(|progress| progress.is_done.load(Relaxed)) {
        thread::sleep(Duration::from_millis(100));
        tick += 1;
        let entries: u64 = all.iter().map(|progress| progress.entries.load(Relaxed)).sum();
        orders.is_wild.store(entries % PERIOD < WILD, Relaxed);
        orders.is_over.store(entries >= enough, Relaxed);
        if entries / (enough / 10).max(1) > tenths {
            tenths = entries / (enough / 10).max(1);
            eprintln!("{entries} entries of {enough} after {:?}", start.elapsed());
        }
        for (thread, (progress, (calls, since))) in all.iter().zip(&mut seen).enumerate() {
            let now = progress.calls.load(Relaxed);
            if now != *calls || progress.is_done.load(Relaxed) {
                (*calls, *since) = (now, tick);
            }
            if tick - *since > 10 * PATIENCE {
                eprintln!(
                    "thread {thread} hangs in its call {now}, after {entries} entries of all\n\
                     {}\n{}\n{}\n{}",
                    debugged(&mutexes.strict),
                    debugged(&mutexes.bypass),
                    debugged(&mutexes.by_count),
                    debugged(&mutexes.by_time),
                );
                std::process::abort();
            }
        }
    }
}

#[test]
fn no_entry_is_lost_and_no_thread_hangs() {
    let enough = from_environment("STRESS_ENTRIES").unwrap_or(200_000);
    let seed = from_environment("STRESS_SEED").unwrap_or_else(fresh_seed);
    println!("STRESS_SEED={seed}");
    let mutexes = Mutexes::default();
    let all: Vec<_> = (0..THREADS).map(|_| Progress::default()).collect();
    let orders = Orders { is_wild: AtomicBool::new(true), ..Orders::default() };
    let start = Instant::now();
    let mut sums = [0; 4];
    thread::scope(|scope| {
        let workers: Vec<_> = (0..)
            .zip(&all)
            .map(|(thread, progress)| {
                let (mutexes, orders) = (&mutexes, &orders);
                let chance = Chance(seed ^ (thread << 48));
                scope.spawn(move || work(mutexes, progress, orders, chance))
            })
            .collect();
        watch(&mutexes, &all, &orders, enough);
        for worker in workers {
            let ours = worker.join().unwrap();
            sums.iter_mut().zip(ours).for_each(|(sum, ours)| *sum += ours);
        }
    });
    assert!(is_deserted(&mutexes.strict), "{}", debugged(&mutexes.strict));
    assert!(is_deserted(&mutexes.bypass), "{}", debugged(&mutexes.bypass));
    assert!(is_deserted(&mutexes.by_count), "{}", debugged(&mutexes.by_count));
    assert!(is_deserted(&mutexes.by_time), "{}", debugged(&mutexes.by_time));
    let counted = [
        mutexes.strict.into_inner(),
        mutexes.bypass.into_inner(),
        mutexes.by_count.into_inner(),
        mutexes.by_time.into_inner(),
    ];
    assert_eq!(counted.map(|data| data.entries), sums);
    println!("{sums:?} entries in {:?}: strict, and three with bypass", start.elapsed());
}
