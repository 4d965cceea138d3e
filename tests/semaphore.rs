//! The semaphore among real threads: how many are inside, who is next, and who gives up.
#![cfg(not(exclusion_loom))]

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use exclusion::lock::Policy;
use exclusion::{BakerySemaphore, Bypass, Strict};

#[test]
fn permits_are_taken_and_given_back() {
    let semaphore = BakerySemaphore::new(3);
    let two = semaphore.acquire_many(2);
    assert_eq!((two.count(), semaphore.available_permits(), semaphore.permits()), (2, 1, 3));
    assert!(semaphore.try_acquire_many(2).is_none());
    let one = semaphore.try_acquire().expect("one is left");
    assert!(semaphore.try_acquire().is_none());
    assert_eq!(semaphore.available_permits(), 0, "an attempt that failed gives nothing back");
    drop(two);
    assert_eq!(semaphore.available_permits(), 2);
    drop(one);
    assert_eq!(semaphore.available_permits(), 3);
    assert_eq!(semaphore.acquire_many(0).count(), 0);
}

#[test]
fn without_permits_nobody_enters() {
    let semaphore = BakerySemaphore::new(0);
    assert!(catch_unwind(|| BakerySemaphore::new(0).try_acquire().is_some()).is_err());
    assert_eq!(semaphore.acquire_many(0).count(), 0, "no permit is no waiting");
    let most = BakerySemaphore::new(<BakerySemaphore>::MOST_PERMITS);
    let all = most.acquire_many(<BakerySemaphore>::MOST_PERMITS);
    assert!(most.try_acquire().is_none());
    drop(all);
    assert_eq!(most.available_permits(), <BakerySemaphore>::MOST_PERMITS);
}

#[test]
fn a_permit_is_given_back_by_a_panic_and_by_another_thread() {
    let semaphore = BakerySemaphore::new(2);
    let panic = catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _permit = semaphore.acquire_many(2);
        panic!("inside");
    }));
    assert!(panic.is_err());
    assert_eq!(semaphore.available_permits(), 2);
    let permit = semaphore.acquire_many(2);
    thread::scope(|scope| scope.spawn(move || drop(permit)).join().unwrap());
    assert_eq!(semaphore.available_permits(), 2);
    let printed = format!("{semaphore:?} {:?}", semaphore.acquire());
    assert!(printed.contains("permits: 2") && printed.contains("count: 1"), "{printed}");
}

/// One that waits for all permits is not starved by those that want one.
#[test]
fn a_thread_that_wants_all_permits_gets_them_among_many_that_want_one() {
    fn gets_them<P: Policy>() {
        let semaphore = BakerySemaphore::<P>::with_policy(3);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        let _permit = semaphore.acquire();
                        thread::yield_now();
                    }
                });
            }
            for _ in 0..20 {
                assert_eq!(semaphore.acquire_many(3).count(), 3);
            }
            is_over.store(true, Relaxed);
        });
    }
    gets_them::<Strict>();
    gets_them::<Bypass>();
}

#[test]
fn a_thread_that_gives_up_lets_those_behind_it_in() {
    let semaphore = BakerySemaphore::new(2);
    let first = semaphore.acquire();
    thread::scope(|scope| {
        let many = scope.spawn(|| {
            semaphore.try_acquire_many_for(2, Duration::from_millis(20)).map(|it| it.count())
        });
        while !format!("{semaphore:?}").contains("queued: 1,") && !many.is_finished() {
            thread::yield_now();
        }
        // One is free, but for the thread at the head of the line. It gives up at last.
        let one = semaphore.acquire();
        assert_eq!((one.count(), many.join().unwrap()), (1, None));
    });
    drop(first);
    assert_eq!(semaphore.available_permits(), 2);
}

/// The head waits for two, which one of two others gives back.
#[test]
fn a_thread_is_woken_when_enough_permits_come_back_and_not_only_when_all_do() {
    let semaphore = BakerySemaphore::new(3);
    thread::scope(|scope| {
        let (two, one) = (semaphore.acquire_many(2), semaphore.acquire());
        let head = scope.spawn(|| semaphore.acquire_many(2).count());
        while !format!("{semaphore:?}").contains("queued: 1,") {
            thread::yield_now();
        }
        // It has looked often enough to sleep.
        thread::sleep(Duration::from_millis(10));
        drop(two);
        assert_eq!(head.join().unwrap(), 2);
        drop(one);
    });
}

#[test]
fn more_permits_than_there_are_cannot_be_asked_for() {
    assert!(catch_unwind(|| BakerySemaphore::new(2).acquire_many(3).count()).is_err());
    assert!(catch_unwind(|| BakerySemaphore::new(2).try_acquire_many(3).is_some()).is_err());
    let too_many = <BakerySemaphore>::MOST_PERMITS + 1;
    assert!(catch_unwind(|| BakerySemaphore::new(too_many)).is_err());
}

#[test]
fn what_times_out_does_so_and_not_before() {
    let semaphore = BakerySemaphore::new(1);
    let permit = semaphore.acquire();
    let (start, wait) = (Instant::now(), Duration::from_millis(5));
    assert!(semaphore.try_acquire_for(wait).is_none());
    assert!(start.elapsed() >= wait);
    assert!(semaphore.try_acquire_until(Instant::now()).is_none());
    drop(permit);
    assert!(semaphore.try_acquire_for(Duration::MAX).is_some());
}

fn no_more_are_inside_than_there_are_permits<P: Policy>() {
    let semaphore = BakerySemaphore::<P>::with_policy(3);
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..8 {
            let (semaphore, inside) = (&semaphore, &inside);
            scope.spawn(move || {
                for round in 0..1000 {
                    let count = 1 + (number + round) % 3;
                    let permit = if round % 5 == 0 {
                        semaphore.try_acquire_many_for(count, Duration::from_micros(20))
                    } else {
                        Some(semaphore.acquire_many(count))
                    };
                    if let Some(permit) = permit {
                        assert!(inside.fetch_add(count, Relaxed) + count <= 3);
                        inside.fetch_sub(count, Relaxed);
                        drop(permit);
                    }
                }
            });
        }
    });
    assert_eq!(semaphore.available_permits(), 3);
}

#[test]
fn no_more_are_inside_than_there_are_permits_and_nobody_passes() {
    no_more_are_inside_than_there_are_permits::<Strict>();
}

#[test]
fn no_more_are_inside_than_there_are_permits_and_newcomers_pass() {
    no_more_are_inside_than_there_are_permits::<Bypass>();
}

/// The first wants two. While it waits, nobody takes the one that is free.
#[test]
fn threads_are_served_in_the_order_in_which_they_came() {
    let semaphore = BakerySemaphore::new(2);
    let order = Mutex::new(Vec::new());
    let queued = |count: usize| {
        while !format!("{semaphore:?}").contains(&format!("queued: {count},")) {
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        let first = semaphore.acquire();
        for (place, count) in [2, 1, 2].into_iter().enumerate() {
            let (semaphore, order) = (&semaphore, &order);
            scope.spawn(move || {
                let _permit = semaphore.acquire_many(count);
                order.lock().unwrap().push(place);
            });
            queued(place + 1);
        }
        assert_eq!(semaphore.available_permits(), 1);
        assert!(semaphore.try_acquire().is_none(), "the free one is for the head of the line");
        drop(first);
    });
    assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
}
