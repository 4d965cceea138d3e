//! The read-write lock among real threads: what the suites of std and parking_lot ask of theirs, in
//! our words, for both policies; its order; and stress with more threads than cores.
#![cfg(not(exclusion_loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use exclusion::lock::Policy;
use exclusion::lock_api::{RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
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
    an_upgradable_reader_is_beside_readers_and_beside_no_other
    an_upgrade_waits_for_readers_and_keeps_newcomers_out
    an_upgrade_that_times_out_leaves_all_as_it_was
    what_was_read_is_still_so_after_an_upgrade
    one_thread_may_read_a_hundred_times
    many_readers_are_counted
    a_writer_waits_for_the_last_of_many_readers
    the_next_upgradable_reader_comes_while_others_read
    one_that_gives_up_behind_another_leaves_no_trace
    a_fair_unlock_lets_nobody_pass_the_head
    readers_see_no_half_of_a_write
    threads_that_give_up_hinder_nobody
    readers_read_while_a_writer_counts
    what_a_destructor_does_while_unwinding_is_done
    data_is_dropped_once
    a_part_that_is_not_there_leaves_the_guard
    nobody_writes_between_a_writer_and_the_reader_that_it_becomes
    a_thread_locks_as_its_locals_are_dropped
    threads_mix_reading_and_writing_at_random
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
    assert!(lock.try_read().is_some() && lock.try_write().is_some(), "nobody is left in line");
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

fn an_upgradable_reader_is_beside_readers_and_beside_no_other<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    let reader = lock.read();
    let upgradable = lock.upgradable_read();
    assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    assert!(lock.try_read().is_some() && !lock.is_locked_exclusive());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("one reads");
    drop(reader);
    let mut writer = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect("nobody reads");
    *writer = 1;
    assert!(lock.try_read().is_none() && lock.is_locked_exclusive());
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
    let reader = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert!(lock.try_upgradable_read_for(Duration::ZERO).is_some() && lock.try_write().is_none());
    drop(reader);
    assert!(lock.try_upgradable_read_until(Instant::now()).is_some());
    assert_eq!(lock.try_write().as_deref(), Some(&1));
    let mut upgradable = lock.upgradable_read();
    RwLockUpgradableReadGuard::bump(&mut upgradable);
    RwLockUpgradableReadGuard::unlock_fair(upgradable);
    assert!(!lock.is_locked());
}

fn an_upgrade_waits_for_readers_and_keeps_newcomers_out<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    thread::scope(|scope| {
        let reader = lock.read();
        let upgradable = lock.upgradable_read();
        scope.spawn(move || *RwLockUpgradableReadGuard::upgrade(upgradable) += 1);
        // It says that it upgrades, and nobody reads any more.
        while lock.try_read().is_some() {
            thread::yield_now();
        }
        assert_eq!(*reader, 0, "it does not write while one reads");
        drop(reader);
        assert_eq!(*lock.read(), 1, "who comes after the upgrade reads what was written");
    });
}

fn an_upgrade_that_times_out_leaves_all_as_it_was<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    let reader = lock.read();
    let upgradable = lock.upgradable_read();
    let (start, wait) = (Instant::now(), Duration::from_millis(5));
    let upgradable = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, wait);
    assert!(start.elapsed() >= wait);
    let upgradable = upgradable.expect_err("one reads");
    assert!(lock.try_read().is_some(), "newcomers may read again");
    // One that comes while an upgrade is tried in vain is let in when it is given up.
    thread::scope(|scope| {
        let wait = Duration::from_millis(100);
        let upgrade =
            scope.spawn(move || RwLockUpgradableReadGuard::try_upgrade_for(upgradable, wait));
        while lock.try_read().is_some() {
            thread::yield_now();
        }
        let late = scope.spawn(|| *lock.read());
        let upgradable = upgrade.join().unwrap().expect_err("one reads");
        assert_eq!(late.join().unwrap(), 0, "it is not left in line");
        drop(upgradable);
    });
    drop(reader);
    assert!(lock.try_write().is_some());
}

fn what_was_read_is_still_so_after_an_upgrade<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new((0u32, 0u32));
    thread::scope(|scope| {
        for thread in 0..6 {
            let lock = &lock;
            scope.spawn(move || {
                for round in 0..300 {
                    match (thread + round) % 3 {
                        0 => {
                            let upgradable = lock.upgradable_read();
                            let before = *upgradable;
                            let mut pair = RwLockUpgradableReadGuard::upgrade(upgradable);
                            assert_eq!(*pair, before, "a writer came between");
                            pair.0 += 1;
                            pair.1 += 1;
                        }
                        1 => {
                            let mut pair = lock.write();
                            pair.0 += 1;
                            pair.1 += 1;
                        }
                        _ => {
                            let pair = lock.read();
                            assert_eq!(pair.0, pair.1);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(lock.into_inner(), (1200, 1200));
}

/// How many are in line, by what the lock says of itself.
fn queued<T, P: Policy>(lock: &PolicyRwLock<T, P>, count: usize) {
    // SAFETY: the raw lock is only printed.
    while !format!("{:?}", unsafe { lock.raw() }).contains(&format!("queued: {count},")) {
        thread::yield_now();
    }
}

/// One that waits for another upgradable reader is woken though a reader stays.
fn the_next_upgradable_reader_comes_while_others_read<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(());
    thread::scope(|scope| {
        let (reader, first) = (lock.read(), lock.upgradable_read());
        let next = scope.spawn(|| drop(lock.upgradable_read()));
        queued(&lock, 1);
        // It has looked often enough to sleep.
        thread::sleep(Duration::from_millis(10));
        drop(first);
        next.join().unwrap();
        drop(reader);
    });
}

/// It was in line behind the head, and is counted no more.
fn one_that_gives_up_behind_another_leaves_no_trace<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    thread::scope(|scope| {
        let reader = lock.read();
        let head = scope.spawn(|| *lock.write() += 1);
        queued(&lock, 1);
        thread::sleep(Duration::from_millis(10));
        let late =
            scope.spawn(|| lock.try_write_for(Duration::from_millis(20)).map(|mut it| *it += 10));
        assert_eq!(late.join().unwrap(), None);
        queued(&lock, 1);
        drop(reader);
        head.join().unwrap();
    });
    assert_eq!(lock.try_write().as_deref(), Some(&1));
    assert!(lock.try_read().is_some());
}

fn a_fair_unlock_lets_nobody_pass_the_head<P: Policy>() {
    for _ in 0..20 {
        let lock = PolicyRwLock::<_, P>::new(0);
        thread::scope(|scope| {
            let writer = lock.write();
            scope.spawn(|| *lock.write() += 1);
            queued(&lock, 1);
            // It has looked often enough to sleep.
            thread::sleep(Duration::from_millis(2));
            RwLockWriteGuard::unlock_fair(writer);
            assert_eq!(*lock.read(), 1, "it passed the head");
        });
    }
}

/// However many may pass, they may for so long only.
#[test]
fn when_the_time_is_up_nobody_passes_the_head() {
    let lock = PolicyRwLock::<_, Bypass<131_071, 1000>>::new(0);
    thread::scope(|scope| {
        let reader = lock.read();
        scope.spawn(|| *lock.write() += 1);
        queued(&lock, 1);
        let passes = (0..20_000).take_while(|_| {
            thread::sleep(Duration::from_millis(1));
            lock.try_read().is_some()
        });
        assert!(passes.count() < 20_000, "it is passed for ever");
        drop(reader);
    });
    assert_eq!(lock.into_inner(), 1);
}

fn one_thread_may_read_a_hundred_times<P: Policy>() {
    let lock = Arc::new(PolicyRwLock::<_, P>::new(1));
    let guards: Vec<_> = (0..100).map(|_| lock.read()).collect();
    assert_eq!(guards.iter().map(|guard| **guard).sum::<u32>(), 100);
    assert!(lock.try_write().is_none());
    drop(guards);
    assert!(lock.try_write().is_some());
}

fn many_readers_are_counted<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(());
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let _guard = lock.read();
                inside.fetch_add(1, Relaxed);
                // All of them must be inside together, or the test hangs.
                while inside.load(Relaxed) < 16 {
                    thread::yield_now();
                }
            });
        }
    });
    assert!(!lock.is_locked());
}

fn a_writer_waits_for_the_last_of_many_readers<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    thread::scope(|scope| {
        let mut readers: Vec<_> = (0..4).map(|_| lock.read()).collect();
        let writer = scope.spawn(|| *lock.write() += 1);
        while let Some(reader) = readers.pop() {
            assert_eq!(*reader, 0);
            assert!(!writer.is_finished());
            drop(reader);
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

fn readers_read_while_a_writer_counts<P: Policy>() {
    let lock = PolicyRwLock::<i32, P>::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..10 {
                let mut number = lock.write();
                let before = *number;
                *number = -1;
                thread::yield_now();
                *number = before + 1;
            }
        });
        for _ in 0..5 {
            scope.spawn(|| assert!(*lock.read() >= 0, "half of a write"));
        }
    });
    assert_eq!(*lock.read(), 10);
}

fn what_a_destructor_does_while_unwinding_is_done<P: Policy>() {
    struct Adds<'a, P: Policy>(&'a PolicyRwLock<i32, P>);
    impl<P: Policy> Drop for Adds<'_, P> {
        fn drop(&mut self) {
            *self.0.write() += 1;
        }
    }
    let lock = PolicyRwLock::<_, P>::new(1);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _adds = Adds(&lock);
        panic!("on purpose");
    }));
    assert!(panic.is_err());
    assert_eq!(*lock.read(), 2);
}

fn data_is_dropped_once<P: Policy>() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = AtomicUsize::new(0);
    let data = PolicyRwLock::<_, P>::new(Counts(&drops)).into_inner();
    assert_eq!(drops.load(Relaxed), 0);
    drop(data);
    drop(PolicyRwLock::<_, P>::new(Counts(&drops)));
    assert_eq!(drops.load(Relaxed), 2);
}

fn a_part_that_is_not_there_leaves_the_guard<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(vec![1, 2]);
    let reader = RwLockReadGuard::try_map(lock.read(), |data| data.get(5)).expect_err("no part");
    assert_eq!(reader.len(), 2);
    drop(reader);
    let writer = RwLockWriteGuard::try_map(lock.write(), |data| data.get_mut(5));
    writer.expect_err("no part").push(3);
    let mut last = RwLockWriteGuard::try_map(lock.write(), |data| data.get_mut(2)).expect("a part");
    *last += 1;
    drop(last);
    assert_eq!(lock.into_inner(), [1, 2, 4]);
}

/// Many do so at once: what one has written it reads.
fn nobody_writes_between_a_writer_and_the_reader_that_it_becomes<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0);
    thread::scope(|scope| {
        for number in 1..=6 {
            let lock = &lock;
            scope.spawn(move || {
                for _ in 0..200 {
                    let mut writer = lock.write();
                    *writer = number;
                    let reader = RwLockWriteGuard::downgrade(writer);
                    assert_eq!(*reader, number, "a writer came between");
                }
            });
        }
    });
    assert!(!lock.is_locked());
}

/// When a thread ends, what its locals still do with locks works.
fn a_thread_locks_as_its_locals_are_dropped<P: Policy>() {
    struct Last<P: Policy>(Arc<PolicyRwLock<u32, P>>);
    impl<P: Policy> Drop for Last<P> {
        fn drop(&mut self) {
            let before = *self.0.read();
            *self.0.write() = before + 1;
        }
    }
    thread_local!(static LOCAL: std::cell::RefCell<Option<Box<dyn std::any::Any>>> =
        const { std::cell::RefCell::new(None) });
    let lock = Arc::new(PolicyRwLock::<_, P>::new(0));
    let theirs = Arc::clone(&lock);
    // Another holds the lock meanwhile, so that it is waited for.
    let guard = lock.read();
    let thread = thread::spawn(move || LOCAL.set(Some(Box::new(Last(theirs)))));
    thread::sleep(Duration::from_millis(5));
    drop(guard);
    thread.join().unwrap();
    assert_eq!(*lock.read(), 1);
}

fn threads_mix_reading_and_writing_at_random<P: Policy>() {
    let lock = PolicyRwLock::<_, P>::new(0_u64);
    let written = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..10_u64 {
            let (lock, written) = (&lock, &written);
            scope.spawn(move || {
                let mut random = 0x9E37_79B9 * (thread + 1);
                for _ in 0..1000 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if random >> 33 & 15 == 0 {
                        *lock.write() += 1;
                        written.fetch_add(1, Relaxed);
                    } else {
                        drop(lock.read());
                    }
                }
            });
        }
    });
    assert_eq!(lock.into_inner(), written.into_inner() as u64);
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
    fn passes<P: Policy>() -> [usize; 2] {
        let lock = PolicyRwLock::<_, P>::new(Vec::new());
        // Each head is passed anew.
        [(); 2].map(|()| {
            thread::scope(|scope| {
                let reader = lock.read();
                scope.spawn(|| lock.write().push("written"));
                queued(&lock, 1);
                let count = (0..9).take_while(|_| lock.try_read().is_some()).count();
                drop(reader);
                count
            })
        })
    }
    assert_eq!(passes::<Strict>(), [0, 0]);
    assert_eq!(passes::<Bypass<3, 60_000_000>>(), [3, 3]);
}
