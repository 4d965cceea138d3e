//! Small things that no other test would miss: what types print, and what they say of themselves.
#![cfg(not(exclusion_loom))]

use std::time::{Duration, Instant};

use exclusion::lock::Policy;
use exclusion::lock::Seated;
use exclusion::lock::raw::{Bakery, Everybody, RawLock, Withdrawn};
use exclusion::{
    BakeryMutex, BakeryRwLock, BakerySemaphore, Bypass, PolicyRwLock, TournamentMutex,
};
use lock_api::RwLockReadGuard;

#[test]
fn owned_seats_print_what_they_are_and_guards_print_the_data() {
    let mut cell = Seated::<Bakery<2>, _>::new(7);
    assert_eq!(format!("{cell:?}"), "Seated { .. }");
    let [_, mut right] = cell.seats();
    assert_eq!(format!("{right:?}"), "Seat { number: 1, .. }");
    let guard = right.lock();
    assert_eq!((format!("{guard:?}"), format!("{guard}")), ("7".to_owned(), "7".to_owned()));
}

#[test]
fn a_thread_that_gave_up_is_told_what_to_do() {
    assert!(Withdrawn.to_string().contains("ask again"), "{Withdrawn}");
}

#[test]
fn everybody_is_all_seats() {
    use exclusion::lock::raw::Attendance;
    assert_eq!(Everybody.seats(3).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_semaphore_and_its_permits_say_how_many_there_are() {
    let semaphore = BakerySemaphore::new(5);
    let permit = semaphore.acquire_many(2);
    assert_eq!((semaphore.permits(), permit.count(), semaphore.available_permits()), (5, 2, 3));
    assert_eq!(format!("{permit:?}"), "BakeryPermit { count: 2, .. }");
    let text = format!("{semaphore:?}");
    assert!(text.starts_with("BakerySemaphore { permits: 5, gate: Gate { taken: 2, queued: 0,"));
    assert!(semaphore.try_acquire_many(4).is_none() && semaphore.try_acquire_many(3).is_some());
}

#[test]
fn a_read_write_lock_says_who_is_inside() {
    let lock = BakeryRwLock::new(());
    // SAFETY: the raw lock is only printed.
    let text = || format!("{:?}", unsafe { lock.raw() });
    assert!(text().starts_with("RawBakeryRwLock(Gate { taken: 0, queued: 0,"), "{}", text());
    let readers = (lock.read(), lock.read());
    assert!(text().contains("taken: 2,") && lock.is_locked() && !lock.is_locked_exclusive());
    drop(readers);
    let writer = lock.write();
    assert!(lock.is_locked() && lock.is_locked_exclusive());
    drop(writer);
    assert!(!lock.is_locked());
}

/// A deadline in the past is no wait, and one that no clock reaches is one for ever.
#[test]
fn deadlines_are_kept_by_every_lock() {
    let (mutex, tree) = (BakeryMutex::new(()), TournamentMutex::<()>::new(()));
    let (lock, semaphore) = (BakeryRwLock::new(()), BakerySemaphore::new(1));
    for wait in [Duration::ZERO, Duration::from_millis(1), Duration::MAX] {
        assert!(mutex.try_lock_for(wait).is_some() && tree.try_lock_for(wait).is_some());
        assert!(lock.try_read_for(wait).is_some() && lock.try_write_for(wait).is_some());
        assert!(semaphore.try_acquire_for(wait).is_some());
    }
    assert!(!mutex.is_locked() && !tree.is_locked());
    let held = (mutex.lock(), tree.lock(), lock.write(), semaphore.acquire());
    assert!(mutex.is_locked() && tree.is_locked());
    let now = Instant::now();
    for deadline in [now, now + Duration::from_millis(2)] {
        assert!(
            mutex.try_lock_until(deadline).is_none() && tree.try_lock_until(deadline).is_none()
        );
        assert!(
            lock.try_read_until(deadline).is_none() && lock.try_write_until(deadline).is_none()
        );
        assert!(semaphore.try_acquire_until(deadline).is_none() && Instant::now() >= deadline);
    }
    drop(held);
    assert!(mutex.try_lock_until(now).is_some() && tree.try_lock_until(now).is_some());
    assert!(lock.try_write_until(now).is_some() && semaphore.try_acquire_until(now).is_some());
}

#[test]
fn an_idle_seat_is_idle_until_it_is_used() {
    let lock = Bakery::<2>::new();
    // SAFETY: nobody else uses this lock, so nobody else sits on its seats.
    unsafe {
        assert!(lock.is_idle(0) && lock.try_acquire(0));
        assert!(!lock.is_idle(0) && lock.is_idle(1) && !lock.try_acquire(1));
        assert!(lock.is_idle(1), "a seat that gave up is idle");
        lock.release(0);
        assert!(lock.is_idle(0) && lock.try_acquire(1));
    }
}

/// Has a writer wait for a reader, and newcomers that read pass the writer as long as they may, one
/// per millisecond. Says how many did, and how many when another writer waits afterwards.
fn readers_pass<P: Policy>(most: usize) -> [usize; 2] {
    let lock = PolicyRwLock::<(), P>::new(());
    // SAFETY: the raw lock is only printed.
    let queued = || format!("{:?}", unsafe { lock.raw() }).contains("queued: 1,");
    [(); 2].map(|()| {
        let reader = lock.read();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(lock.write()));
            while !queued() {
                std::thread::yield_now();
            }
            let passes = || {
                std::thread::sleep(Duration::from_millis(1));
                lock.try_read().is_some()
            };
            let passed = (0..most).take_while(|_| passes()).count();
            drop(reader);
            passed
        })
    })
}

#[test]
fn newcomers_pass_for_some_time_only_and_then_as_long_again() {
    // By count it would take minutes.
    for passed in readers_pass::<Bypass<100_000, 50_000>>(60_000) {
        assert!((1..1000).contains(&passed), "{passed}");
    }
    assert_eq!(readers_pass::<Bypass<2, 600_000_000>>(9), [2, 2]);
}

#[test]
fn a_reader_that_unlocks_fairly_lets_nobody_pass_any_more() {
    let lock = PolicyRwLock::<_, Bypass<1000, 600_000_000>>::new(());
    let (first, second) = (lock.read(), lock.read());
    std::thread::scope(|scope| {
        scope.spawn(|| drop(lock.write()));
        // SAFETY: the raw lock is only printed.
        while !format!("{:?}", unsafe { lock.raw() }).contains("queued: 1,") {
            std::thread::yield_now();
        }
        assert!(lock.try_read().is_some(), "newcomers may pass");
        RwLockReadGuard::unlock_fair(first);
        assert!(lock.try_read().is_none(), "nobody passes the writer now");
        drop(second);
    });
    assert!(lock.try_read().is_some(), "nobody waits");
}
