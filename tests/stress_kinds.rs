//! Condition variables, read-write locks and semaphores under stress: more threads than cores, that
//! enter in all ways and give up, beside busy threads that take their cores away.
//!
//! `STRESS_ENTRIES` says how many entries there shall be at least, of each kind and policy;
//! `STRESS_SEED` repeats the choices of a run, `STRESS_HOGS` says how many busy threads there are.
#![cfg(not(exclusion_loom))]

mod common;

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use common::chance::{Chance, fresh_seed, from_environment};
use exclusion::lock::Policy;
use exclusion::lock_api::{RwLockUpgradableReadGuard, RwLockWriteGuard};
use exclusion::{BakeryMutex, BakerySemaphore, Bypass, PolicyCondvar, PolicyRwLock, Strict};

const THREADS: u64 = 24;
/// How many 100 ms may pass without an entry before the test ends.
const PATIENCE: u32 = 600;

/// Has the threads act until there were enough entries, beside the hogs. Each act says how many
/// entries it made. Ends the program if nobody gets on any more.
fn run(what: &str, state: &(dyn Debug + Sync), act: impl Fn(u64, &mut Chance) -> u64 + Sync) {
    let enough: u64 = from_environment("STRESS_ENTRIES").unwrap_or(20_000);
    let seed = from_environment("STRESS_SEED").unwrap_or_else(fresh_seed);
    let hogs: usize = from_environment("STRESS_HOGS").unwrap_or(2);
    println!("{what}: STRESS_SEED={seed}");
    let entries = AtomicU64::new(0);
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..hogs {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for thread in 0..THREADS {
            let (entries, done, act) = (&entries, &done, &act);
            scope.spawn(move || {
                let mut chance = Chance(seed ^ (thread << 48));
                while entries.load(Relaxed) < enough {
                    entries.fetch_add(act(thread, &mut chance), Relaxed);
                }
                done.fetch_add(1, Relaxed);
            });
        }
        let (mut seen, mut since) = (0, 0);
        while done.load(Relaxed) < THREADS {
            thread::sleep(Duration::from_millis(100));
            let now = entries.load(Relaxed) + done.load(Relaxed);
            since = if now == seen { since + 1 } else { 0 };
            seen = now;
            if since > PATIENCE {
                eprintln!("{what} hangs after {} entries: {state:?}", entries.load(Relaxed));
                std::process::abort();
            }
        }
        is_over.store(true, Relaxed);
    });
    println!("{what}: {} entries in {:?}", entries.into_inner(), start.elapsed());
}

fn patience(chance: &mut Chance) -> Duration {
    Duration::from_micros(chance.below(300) as u64)
}

/// Threads bring tokens and take them. A thread that takes one waits at most so long.
fn condvar<P: Policy>(name: &str) {
    let (tokens, arrived) = (BakeryMutex::<_, P>::with_policy(0_u64), PolicyCondvar::<P>::new());
    let (given, taken) = (AtomicU64::new(0), AtomicU64::new(0));
    run(name, &tokens, |thread, chance| {
        if thread % 2 == 0 {
            let mut held = tokens.lock();
            *held += 1;
            given.fetch_add(1, Relaxed);
            let guard = chance.once_in(2).then_some(held);
            if chance.once_in(3) {
                arrived.notify_all();
            } else {
                arrived.notify_one();
            }
            drop(guard);
            return 1;
        }
        let mut held = tokens.lock();
        for _ in 0..4 {
            if *held > 0 {
                *held -= 1;
                taken.fetch_add(1, Relaxed);
                return 1;
            }
            match chance.below(3) {
                0 => _ = arrived.wait_until(&mut held, Instant::now()),
                _ => _ = arrived.wait_for(&mut held, 4 * patience(chance)),
            }
        }
        0
    });
    assert!(!arrived.notify_one(), "somebody is counted that has left");
    assert_eq!(given.into_inner(), taken.into_inner() + tokens.into_inner());
}

/// Each thread waits for its turn, however long it takes, and passes it on: one notification that
/// is lost stops all of them.
fn baton<P: Policy>(name: &str) {
    let (turn, passed) = (BakeryMutex::<_, P>::with_policy(0_u64), PolicyCondvar::<P>::new());
    let enough: u64 = from_environment("STRESS_ENTRIES").unwrap_or(20_000) / 40;
    run(name, &turn, |thread, _| {
        let mut now = turn.lock();
        // All are woken, and all but one wait again.
        passed.wait_while(&mut now, |now| *now % THREADS != thread && *now < enough);
        if *now < enough {
            *now += 1;
            passed.notify_all();
            40
        } else {
            40 * enough
        }
    });
}

fn rwlock<P: Policy>(name: &str) {
    let lock = PolicyRwLock::<_, P>::new((0_u64, 0_u64));
    let written = AtomicU64::new(0);
    let write = |pair: &mut (u64, u64)| {
        assert_eq!(pair.0, pair.1, "a writer is not alone");
        pair.0 += 1;
        written.fetch_add(1, Relaxed);
        std::hint::spin_loop();
        pair.1 += 1;
    };
    run(name, &lock, |_, chance| {
        let wait = patience(chance);
        let read = |pair: &(u64, u64)| assert_eq!(pair.0, pair.1, "half of a write");
        let entered = match chance.below(16) {
            0..6 => {
                read(&lock.read());
                true
            }
            6 => lock.try_read().map(|pair| read(&pair)).is_some(),
            7 => lock.try_read_for(wait).map(|pair| read(&pair)).is_some(),
            8 | 9 => {
                write(&mut lock.write());
                true
            }
            10 => lock.try_write().map(|mut pair| write(&mut pair)).is_some(),
            11 => lock.try_write_for(wait).map(|mut pair| write(&mut pair)).is_some(),
            12 => {
                let mut pair = lock.write();
                write(&mut pair);
                read(&RwLockWriteGuard::downgrade(pair));
                true
            }
            13 => {
                let mut pair = lock.write();
                write(&mut pair);
                RwLockWriteGuard::bump(&mut pair);
                write(&mut pair);
                RwLockWriteGuard::unlock_fair(pair);
                true
            }
            14 => {
                let pair = lock.upgradable_read();
                let before = pair.0;
                let mut pair = RwLockUpgradableReadGuard::upgrade(pair);
                assert_eq!(pair.0, before, "a writer came between");
                write(&mut pair);
                true
            }
            _ => {
                let pair = lock.upgradable_read();
                match RwLockUpgradableReadGuard::try_upgrade_for(pair, wait) {
                    Ok(mut pair) => write(&mut pair),
                    Err(pair) => read(&pair),
                }
                true
            }
        };
        u64::from(entered)
    });
    let written = written.into_inner();
    assert_eq!(lock.try_write().as_deref(), Some(&(written, written)));
}

fn semaphore<P: Policy>(name: &str) {
    const PERMITS: usize = 5;
    let semaphore = BakerySemaphore::<P>::with_policy(PERMITS);
    let out = AtomicUsize::new(0);
    run(name, &semaphore, |_, chance| {
        let count = 1 + chance.below(PERMITS);
        let permit = match chance.below(8) {
            0 => semaphore.try_acquire_many(count),
            1 => semaphore.try_acquire_many_for(count, patience(chance)),
            2 => semaphore.try_acquire_many_until(count, Instant::now()),
            3..6 => Some(semaphore.acquire()),
            _ => Some(semaphore.acquire_many(count)),
        };
        permit.map_or(0, |permit| {
            let count = permit.count();
            assert!(out.fetch_add(count, Relaxed) + count <= PERMITS, "more than there are");
            std::hint::spin_loop();
            out.fetch_sub(count, Relaxed);
            1
        })
    });
    assert_eq!(semaphore.available_permits(), PERMITS, "a permit is lost");
}

#[test]
fn no_notification_is_lost_beside_hogs() {
    condvar::<Strict>("condvar");
    condvar::<Bypass>("condvar, bypass");
    baton::<Strict>("baton");
    baton::<Bypass>("baton, bypass");
}

#[test]
fn no_write_is_lost_beside_hogs() {
    rwlock::<Strict>("rwlock");
    rwlock::<Bypass>("rwlock, bypass");
    rwlock::<Bypass<3, 20>>("rwlock, bypass of three");
}

#[test]
fn no_permit_is_lost_beside_hogs() {
    semaphore::<Strict>("semaphore");
    semaphore::<Bypass>("semaphore, bypass");
    semaphore::<Bypass<3, 20>>("semaphore, bypass of three");
}
