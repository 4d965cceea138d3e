//! The read-write lock among real threads: what the suites of std and parking_lot ask of theirs, in
//! our words, for both policies; its order; and stress with more threads than cores.
#![cfg(not(exclusion_loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use exclusion::lock::Policy;
use exclusion::lock_api::{RwLockReadGuard, RwLockWriteGuard};
use exclusion::{Bypass, PolicyRwLock, Strict};

/// Runs a test for each policy.
macro_rules! for_each_policy {
    ($($name:ident)*) => {
        mod strict {
            $(#[test] fn $name() { super::$name::<super::Strict>() })*
        }
        mod bypass {
            $(#[test] fn $name() { super::$name::<super::Bypass>() })*
        }
    };
}

for_each_policy! {
    it_is_locked_and_unlocked_again
    a_writer_excludes_all_and_readers_only_writers
    what_times_out_does_so_and_not_before
    a_panic_inside_releases_and_does_not_poison
    a_writer_becomes_a_reader_and_others_may_read_beside_it
    a_guard_is_mapped_and_sent
    data_may_be_unsized_owned_and_printed
    a_bump_lets_the_thread_that_waits_in
    readers_see_no_half_of_a_write
    threads_that_give_up_hinder_nobody
}

fn it_is_locked_and_unlocked_again<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(1);
    drop(lock.read());
    drop(lock.write());
    drop((lock.read(), lock.read()));
    assert!(!lock.is_locked());
    let guard = lock.read();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    drop(guard);
    let guard = lock.write();
    assert!(lock.is_locked() && lock.is_locked_exclusive());
    drop(guard);
    assert_eq!(lock.into_inner(), 1);
}

fn a_writer_excludes_all_and_readers_only_writers<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(());
    let writer = lock.write();
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    drop(writer);
    let reader = lock.read();
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    drop(reader);
    assert!(lock.try_write().is_some());
}

fn what_times_out_does_so_and_not_before<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(());
    let writer = lock.write();
    let start = Instant::now();
    let wait = Duration::from_millis(5);
    assert!(lock.try_read_for(wait).is_none());
    assert!(start.elapsed() >= wait);
    assert!(lock.try_write_until(Instant::now() + wait).is_none());
    drop(writer);
    assert!(lock.try_read_until(Instant::now()).is_some());
    assert!(lock.try_write_for(Duration::MAX).is_some());
}

fn a_panic_inside_releases_and_does_not_poison<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        *lock.write() = 1;
        let _reader = lock.read();
        panic!("inside");
    }));
    assert!(panic.is_err());
    assert_eq!(lock.try_write().as_deref(), Some(&1));
}

fn a_writer_becomes_a_reader_and_others_may_read_beside_it<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    let mut writer = lock.write();
    *writer = 1;
    let reader = RwLockWriteGuard::downgrade(writer);
    assert_eq!(lock.try_read().as_deref(), Some(&1));
    assert!(lock.try_write().is_none());
    drop(reader);
    assert!(lock.try_write().is_some());
}

fn a_guard_is_mapped_and_sent<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new((1, 2));
    let mapped = RwLockReadGuard::map(lock.read(), |pair| &pair.1);
    thread::scope(|scope| scope.spawn(move || assert_eq!(*mapped, 2)).join().unwrap());
    *RwLockWriteGuard::map(lock.write(), |pair| &mut pair.0) = 7;
    assert_eq!(lock.into_inner(), (7, 2));
}

fn data_may_be_unsized_owned_and_printed<P: Policy>() {
    let lock: Arc<PolicyRwLock<[u8], P>> = Arc::new(PolicyRwLock::new([1, 2, 3]));
    lock.write()[0] = 9;
    assert_eq!(lock.read().len(), 3);
    assert_eq!(format!("{lock:?}"), "RwLock { data: [9, 2, 3] }");
    let _writer = lock.write();
    assert_eq!(format!("{lock:?}"), "RwLock { data: <locked> }");
    let mut own = PolicyRwLock::<u8, P>::from(3);
    *own.get_mut() += 1;
    assert_eq!(own.into_inner() + PolicyRwLock::<u8, P>::default().into_inner(), 4);
}

fn a_bump_lets_the_thread_that_waits_in<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    let is_there = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut writer = lock.write();
        scope.spawn(|| {
            is_there.store(true, Relaxed);
            *lock.write() += 1;
        });
        while !is_there.load(Relaxed) {
            thread::yield_now();
        }
        while *writer == 0 {
            RwLockWriteGuard::bump(&mut writer);
        }
    });
    assert_eq!(lock.into_inner(), 1);
}

fn readers_see_no_half_of_a_write<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new((0u32, 0u32));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..2000 {
                    if round % 10 == 0 {
                        let mut pair = lock.write();
                        pair.0 += 1;
                        pair.1 += 1;
                    } else {
                        let pair = lock.read();
                        assert_eq!(pair.0, pair.1);
                    }
                }
            });
        }
    });
    assert_eq!(lock.into_inner(), (1600, 1600));
}

fn threads_that_give_up_hinder_nobody<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0usize);
    let written = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..8 {
            let (lock, written) = (&lock, &written);
            scope.spawn(move || {
                for round in 0..300 {
                    let patience = Duration::from_micros(number * 7);
                    if round % 3 == 0 {
                        if let Some(mut data) = lock.try_write_for(patience) {
                            *data += 1;
                            written.fetch_add(1, Relaxed);
                        }
                    } else {
                        drop(lock.try_read_for(patience));
                    }
                }
            });
        }
    });
    assert_eq!(lock.try_write().as_deref().copied(), Some(written.into_inner()));
}

/// How many are in line, by what the lock says of itself.
fn queued<P: Policy>(lock: &PolicyRwLock<Vec<&'static str>, P>, count: usize) {
    // SAFETY: the raw lock is only printed.
    while !format!("{:?}", unsafe { lock.raw() }).contains(&format!("queued: {count},")) {
        thread::yield_now();
    }
}

/// No reader is starved by writers, and no writer by readers: each is served after those ahead.
#[test]
fn readers_and_writers_are_served_in_the_order_in_which_they_came() {
    let lock = PolicyRwLock::<_, Strict>::new(Vec::new());
    let seen = thread::scope(|scope| {
        let mut first = lock.write();
        first.push("first");
        let mut readers = Vec::new();
        for (place, name) in ["writer", "", "later writer", ""].into_iter().enumerate() {
            let lock = &lock;
            if name.is_empty() {
                readers.push(scope.spawn(move || lock.read().len()));
            } else {
                scope.spawn(move || lock.write().push(name));
            }
            queued(lock, place + 1);
        }
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        drop(first);
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(seen, [2, 3]);
    assert_eq!(lock.into_inner(), ["first", "writer", "later writer"]);
}

/// While readers read, a newcomer that reads waits behind a writer, unless it may pass.
#[test]
fn a_newcomer_passes_a_writer_only_by_the_policy() {
    fn passes<P: Policy>() -> usize {
        let lock = PolicyRwLock::<_, P>::new(Vec::new());
        thread::scope(|scope| {
            let reader = lock.read();
            scope.spawn(|| lock.write().push("written"));
            queued(&lock, 1);
            let count = (0..9).take_while(|_| lock.try_read().is_some()).count();
            drop(reader);
            count
        })
    }
    assert_eq!(passes::<Strict>(), 0);
    assert_eq!(passes::<Bypass<3, 60_000_000>>(), 3);
}
