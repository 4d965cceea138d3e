//! Models of the read-write lock and the semaphore, which are one gate.

use std::time::Duration;

use exclusion::lock::{Policy, lines, time};
use exclusion::{BakerySemaphore, PolicyRwLock};
use lock_api::{RwLockUpgradableReadGuard, RwLockWriteGuard};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A number that loom watches: a writer beside anybody is a race, and so is one that does not know
/// what the last one did.
pub struct Watched(UnsafeCell<usize>);

// SAFETY: loom checks each access.
unsafe impl Sync for Watched {}

impl Watched {
    fn read(&self) -> usize {
        // SAFETY: no writer is inside; loom would see one.
        self.0.with(|number| unsafe { *number })
    }

    fn write(&self) {
        // SAFETY: nobody else is inside; loom would see anybody.
        self.0.with_mut(|number| unsafe { *number += 1 });
    }
}

/// The lock of these models.
pub type RwLock<P> = PolicyRwLock<Watched, P>;

/// What a thread does, and how often it wrote.
pub type Act<P> = fn(&RwLock<P>) -> usize;

/// Reads.
pub fn read<P: Policy>(lock: &RwLock<P>) -> usize {
    lock.read().read();
    0
}

/// Writes.
pub fn write<P: Policy>(lock: &RwLock<P>) -> usize {
    lock.write().write();
    1
}

/// Writes, unless time passes first.
pub fn write_in_time<P: Policy>(lock: &RwLock<P>) -> usize {
    lock.try_write_for(Duration::from_secs(1)).map(|number| number.write()).is_some().into()
}

/// Reads, unless time passes first.
pub fn read_in_time<P: Policy>(lock: &RwLock<P>) -> usize {
    lock.try_read_for(Duration::from_secs(1)).map(|number| number.read());
    0
}

/// Writes, and stays to read.
pub fn write_then_read<P: Policy>(lock: &RwLock<P>) -> usize {
    let number = lock.write();
    number.write();
    let number = RwLockWriteGuard::downgrade(number);
    number.read();
    1
}

/// Reads or writes if that means no waiting.
pub fn try_both<P: Policy>(lock: &RwLock<P>) -> usize {
    lock.try_read().map(|number| number.read());
    lock.try_write().map(|number| number.write()).is_some().into()
}

/// Reads, then writes, and stays to read.
pub fn upgrade<P: Policy>(lock: &RwLock<P>) -> usize {
    let number = lock.upgradable_read();
    let before = number.read();
    let number = RwLockUpgradableReadGuard::upgrade(number);
    assert_eq!(number.read(), before, "a writer came between");
    number.write();
    let number = RwLockWriteGuard::downgrade_to_upgradable(number);
    RwLockUpgradableReadGuard::downgrade(number).read();
    1
}

/// Reads, then writes, unless time passes first.
pub fn upgrade_in_time<P: Policy>(lock: &RwLock<P>) -> usize {
    let number = lock.upgradable_read();
    match RwLockUpgradableReadGuard::try_upgrade_for(number, Duration::from_secs(1)) {
        Ok(number) => {
            number.write();
            1
        }
        Err(number) => {
            number.read();
            0
        }
    }
}

/// Writes twice, by a bump.
pub fn bump<P: Policy>(lock: &RwLock<P>) -> usize {
    let mut number = lock.write();
    number.write();
    RwLockWriteGuard::bump(&mut number);
    number.write();
    RwLockWriteGuard::unlock_fair(number);
    2
}

/// The first of the acts is that of the thread that checks in the end.
pub fn act<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    act_beside(acts, || ());
}

/// As [`act`], where some look at the clock finds a deadline passed, and so do all after it.
pub fn act_as_time_passes<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    act_beside(acts, time::passes_at_some_look);
}

fn act_beside<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS], aside: fn()) {
    let lock = Arc::new(RwLock::<P>::new(Watched(UnsafeCell::new(0))));
    let others: Vec<_> = acts[1..]
        .iter()
        .map(|act| {
            let (lock, act) = (lock.clone(), *act);
            thread::spawn(move || act(&lock))
        })
        .collect();
    aside();
    let mut written = acts[0](&lock);
    for other in others {
        written += other.join().unwrap();
    }
    assert_eq!(lock.try_write().expect("the lock was left held").read(), written);
    // SAFETY: the raw lock is only printed.
    assert_nobody(&format!("{:?}", unsafe { lock.raw() }));
}

fn assert_nobody(left: &str) {
    assert!(left.contains("Gate { taken: 0, queued: 0, passed: 0"), "left behind: {left}");
    assert!(lines::all_are_back(), "a line was lost");
}

/// The order: a reader that comes after a waiting writer sees what it wrote.
pub fn a_reader_waits_behind_a_writer<P: Policy>() {
    let lock = Arc::new(RwLock::<P>::new(Watched(UnsafeCell::new(0))));
    let first = lock.read();
    let writer = thread::spawn({
        let lock = lock.clone();
        move || write(&lock)
    });
    // SAFETY: the raw lock is only printed.
    while !format!("{:?}", unsafe { lock.raw() }).contains("queued: 1") {
        thread::yield_now();
    }
    let reader = thread::spawn({
        let lock = lock.clone();
        move || lock.read().read()
    });
    first.read();
    drop(first);
    writer.join().unwrap();
    assert_eq!(reader.join().unwrap(), 1, "the reader has passed the writer");
}

/// Permits come back while another thread waits for two; a third wants one.
pub fn one_waits_for_two<P: Policy>(times_out: bool) {
    let semaphore = Arc::new(BakerySemaphore::<P>::with_policy(2));
    let inside = Arc::new(Watched(UnsafeCell::new(0)));
    let permits = [semaphore.acquire(), semaphore.acquire()];
    let two = thread::spawn({
        let (semaphore, inside) = (semaphore.clone(), inside.clone());
        move || {
            let permit = if times_out {
                semaphore.try_acquire_many_for(2, Duration::from_secs(1))
            } else {
                Some(semaphore.acquire_many(2))
            };
            // It has all permits, so it is alone.
            usize::from(permit.map(|_permit| inside.write()).is_some())
        }
    });
    let one = thread::spawn({
        let (semaphore, inside) = (semaphore.clone(), inside.clone());
        move || {
            let _permit = semaphore.acquire();
            inside.read();
        }
    });
    inside.read();
    drop(permits);
    let written = two.join().unwrap();
    one.join().unwrap();
    assert_eq!(inside.read(), written);
    assert_eq!(semaphore.available_permits(), 2);
    assert_nobody(&format!("{semaphore:?}"));
}
