//! Critical sections as closures: `with` and its kin on a [`BakeryMutex`].

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use common::chance::Chance;
use common::sleepers::{await_sleepers, debugged, is_deserted};
use common::within_two_minutes;
use exclusion::{BakeryMutex, Bypass};
use lock_api::MutexGuard;

const A_WHILE: Duration = Duration::from_secs(100);

fn me() -> ThreadId {
    thread::current().id()
}

#[test]
fn what_the_closure_returns_is_returned() {
    let mutex = BakeryMutex::new(vec![1, 2]);
    assert_eq!(mutex.with(|list| list.len()), 2);
    let text = String::from("moved in and out");
    assert_eq!(mutex.with(move |_| text), "moved in and out");
    let mut outside = 0;
    mutex.with(|list| outside = list.pop().unwrap());
    assert_eq!(outside, 2);
    assert_eq!(mutex.try_with(|list| list.len()).ok(), Some(1));
    assert_eq!(mutex.try_with_for(Duration::ZERO, |list| list.len()).ok(), Some(1));
    assert_eq!(mutex.try_with_for(Duration::MAX, |list| list.len()).ok(), Some(1));
    assert_eq!(mutex.try_with_until(Instant::now(), |list| list.len()).ok(), Some(1));
    let passable = BakeryMutex::<_, Bypass>::with_policy(3);
    assert_eq!(passable.with(|number| *number), 3);
}

#[test]
fn a_static_will_do() {
    static TOTAL: BakeryMutex<u32> = BakeryMutex::new(0);
    static PASSABLE: BakeryMutex<u32, Bypass> = BakeryMutex::with_policy(0);
    let workers = [(); 8].map(|()| {
        thread::spawn(|| {
            TOTAL.with(|total| *total += 1);
            PASSABLE.with(|total| *total += 1);
        })
    });
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!((TOTAL.with(|total| *total), *PASSABLE.lock()), (8, 8));
}

#[test]
fn data_may_have_no_size_or_one_that_is_not_known() {
    let nothing = BakeryMutex::new(());
    assert_eq!(nothing.with(|()| 1), 1);
    let bytes: Box<BakeryMutex<[u8]>> = Box::new(BakeryMutex::new([1, 2, 3]));
    let drawn: Box<BakeryMutex<dyn Iterator<Item = u32> + Send>> = Box::new(BakeryMutex::new(5..));
    within_two_minutes(move || {
        bytes.with(|own| {
            own[0] = 7;
            thread::scope(|scope| {
                let waiter = scope.spawn(|| bytes.try_with_for(Duration::ZERO, |bytes| bytes[0]));
                assert!(waiter.join().unwrap().is_err());
            });
        });
        // The closures of both go through the line.
        let guards = (bytes.lock(), drawn.lock());
        let (first, next) = thread::scope(|scope| {
            let first = scope.spawn(|| bytes.with(|bytes| bytes[0]));
            let next = scope.spawn(|| drawn.with(|numbers| numbers.next()));
            await_sleepers(&bytes, 1);
            await_sleepers(&drawn, 1);
            drop(guards);
            (first.join().unwrap(), next.join().unwrap())
        });
        assert_eq!((first, next), (7, Some(5)));
    });
}

#[test]
fn a_thread_that_is_inside_by_a_closure_runs_those_of_the_sleepers_in_their_order() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        thread::scope(|scope| {
            mutex.with(|_| {
                for number in 0..10 {
                    let mutex = &mutex;
                    scope.spawn(move || mutex.with(|list| list.push((number, me()))));
                    await_sleepers(mutex, number + 1);
                }
            });
        });
        let expected: Vec<_> = (0..10).map(|number| (number, me())).collect();
        assert_eq!(mutex.with(std::mem::take), expected);
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
    });
}

#[test]
fn one_thread_runs_64_closures_of_others_and_then_hands_on() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        thread::scope(|scope| {
            mutex.with(|_| {
                for number in 0..100 {
                    let mutex = &mutex;
                    scope.spawn(move || mutex.with(|list| list.push((number, me()))));
                    await_sleepers(mutex, number + 1);
                }
            });
        });
        let list = mutex.into_inner();
        let by_us = list.iter().filter(|(_, runner)| *runner == me()).count();
        assert_eq!(by_us, 64);
        assert!(list.iter().map(|(number, _)| *number).eq(0..100), "{list:?}");
    });
}

#[test]
fn a_thread_that_wants_the_lock_itself_ends_the_turn_of_a_runner() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        let by_guard = thread::scope(|scope| {
            let mutex = &mutex;
            let mut by_guard = None;
            mutex.with(|_| {
                for number in 0..7 {
                    if number == 3 {
                        by_guard = Some(scope.spawn(move || {
                            mutex.lock().push((number, me()));
                            me()
                        }));
                    } else {
                        scope.spawn(move || mutex.with(|list| list.push((number, me()))));
                    }
                    await_sleepers(mutex, number + 1);
                }
            });
            by_guard.expect("the fourth").join().unwrap()
        });
        let list = mutex.into_inner();
        assert!(list.iter().map(|(number, _)| *number).eq(0..7), "{list:?}");
        for (number, runner) in list {
            match number {
                ..3 => assert_eq!(runner, me()),
                3 => assert_eq!(runner, by_guard),
                _ => assert!(![me(), by_guard].contains(&runner), "{number} behind the guard"),
            }
        }
    });
}

/// Five threads wait with closures while a guard is held, which then goes by `leave`.
fn runs_no_closure(leave: impl FnOnce(MutexGuard<'_, exclusion::RawBakeryMutex, Vec<ThreadId>>)) {
    let mutex = BakeryMutex::new(Vec::new());
    thread::scope(|scope| {
        let guard = mutex.lock();
        for sleepers in 1..=5 {
            scope.spawn(|| mutex.with(|runners| runners.push(me())));
            await_sleepers(&mutex, sleepers);
        }
        leave(guard);
    });
    let runners = mutex.into_inner();
    assert_eq!(runners.len(), 5);
    assert!(!runners.contains(&me()), "a guard has run a closure");
}

#[test]
fn a_guard_runs_nobodys_closure() {
    within_two_minutes(|| {
        for _ in 0..20 {
            runs_no_closure(|guard| drop(guard));
            runs_no_closure(|guard| MutexGuard::unlock_fair(guard));
            runs_no_closure(|mut guard| MutexGuard::bump(&mut guard));
            runs_no_closure(|mut guard| MutexGuard::unlocked(&mut guard, || ()));
        }
    });
}

fn message(panic: Box<dyn std::any::Any + Send>) -> &'static str {
    panic.downcast_ref::<&str>().expect("a text")
}

#[test]
fn a_panic_releases_and_does_not_poison() {
    let mutex = BakeryMutex::new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        mutex.with(|number| {
            *number += 1;
            panic!("inside");
        })
    }));
    assert_eq!(message(panic.unwrap_err()), "inside");
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _ = mutex.try_with(|_| panic!("inside at once"));
    }));
    assert_eq!(message(panic.unwrap_err()), "inside at once");
    assert!(is_deserted(&mutex), "{}", debugged(&mutex));
    assert_eq!(*mutex.try_lock().expect("released"), 1);
}

#[test]
fn a_panic_in_a_closure_goes_to_its_owner_whoever_runs_it() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        let outcomes = thread::scope(|scope| {
            let waiters = mutex.with(|_| {
                [0_usize, 1, 2, 3, 4].map(|number| {
                    let mutex = &mutex;
                    let waiter = scope.spawn(move || {
                        mutex.with(|list| {
                            list.push((number, me()));
                            assert!(number.is_multiple_of(2), "odd");
                            number
                        })
                    });
                    await_sleepers(mutex, number + 1);
                    waiter
                })
            });
            waiters.map(|waiter| waiter.join().map_err(message))
        });
        assert_eq!(outcomes, [Ok(0), Err("odd"), Ok(2), Err("odd"), Ok(4)]);
        let expected: Vec<_> = (0..5).map(|number| (number, me())).collect();
        assert_eq!(*mutex.try_lock().expect("not poisoned, and nobody is left"), expected);
    });
}

/// The runner's own closure panics: the threads that wait go on without it.
#[test]
fn a_panic_of_the_thread_that_is_inside_leaves_the_line_as_it_is() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        thread::scope(|scope| {
            let panic = catch_unwind(AssertUnwindSafe(|| {
                mutex.with(|_| {
                    for number in 0..6 {
                        let mutex = &mutex;
                        scope.spawn(move || match number % 2 {
                            0 => mutex.with(|list| list.push((number, me()))),
                            _ => mutex.lock().push((number, me())),
                        });
                        await_sleepers(mutex, number + 1);
                    }
                    panic!("before the others");
                })
            }));
            assert_eq!(message(panic.unwrap_err()), "before the others");
        });
        let list = mutex.into_inner();
        assert!(list.iter().map(|(number, _)| *number).eq(0..6), "{list:?}");
        assert!(list.iter().all(|(_, runner)| *runner != me()), "it ran others on its way out");
    });
}

#[test]
fn a_closure_that_may_not_run_now_is_given_back() {
    let mutex = BakeryMutex::new(1);
    let text = String::from("kept");
    let guard = mutex.lock();
    let section = mutex.try_with(|number| (*number, text)).expect_err("held");
    let section = mutex.try_with_for(Duration::from_millis(2), section).expect_err("held");
    let section = mutex.try_with_until(Instant::now(), section).expect_err("held");
    drop(guard);
    let (number, text) = mutex.try_with(section).ok().expect("free");
    assert_eq!((number, &*text), (1, "kept"));
    assert!(is_deserted(&mutex), "{}", debugged(&mutex));
}

#[test]
fn a_closure_that_was_given_back_is_not_run_later() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(());
        let runs = AtomicU64::new(0);
        let (start, time) = (Instant::now(), Duration::from_millis(20));
        thread::scope(|scope| {
            mutex.with(|()| {
                let waiter = scope
                    .spawn(|| mutex.try_with_for(time, |()| runs.fetch_add(1, Relaxed)).is_err());
                assert!(waiter.join().unwrap(), "we are inside");
                assert!(start.elapsed() >= time, "not before its time");
            });
        });
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        mutex.with(|()| ());
        assert_eq!(runs.load(Relaxed), 0);
    });
}

/// What a closure has with it is dropped once: by the run, or by its owner.
#[test]
fn nothing_is_dropped_twice_or_forgotten() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(0);
        let token = Arc::new(());
        thread::scope(|scope| {
            mutex.with(|_| {
                for number in 0..10 {
                    let (mutex, token) = (&mutex, Arc::clone(&token));
                    scope.spawn(move || {
                        let result = mutex.with(|total| {
                            *total += 1;
                            Arc::clone(&token)
                        });
                        assert!(Arc::ptr_eq(&result, &token));
                        let given_back = mutex.try_with_for(A_WHILE, move |_| drop(token));
                        assert!(given_back.is_ok());
                    });
                    await_sleepers(mutex, number + 1);
                }
            });
        });
        assert_eq!(mutex.into_inner(), 10);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

/// The deadline passes while another thread runs the closure: that is waited for.
#[test]
fn a_closure_that_has_begun_is_waited_for_beyond_its_time() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(0);
        let mut time = Duration::from_millis(100);
        loop {
            let deadline = Instant::now() + time;
            let outcome = thread::scope(|scope| {
                let waiter = mutex.with(|_| {
                    let waiter = scope.spawn(|| {
                        mutex.try_with_until(deadline, |runs| {
                            while Instant::now() < deadline + Duration::from_millis(20) {
                                thread::sleep(Duration::from_millis(5));
                            }
                            *runs += 1;
                            me()
                        })
                    });
                    while !debugged(&mutex).contains("asleep: 1") && Instant::now() < deadline {
                        thread::yield_now();
                    }
                    waiter
                });
                waiter.join().unwrap()
            });
            if let Ok(runner) = outcome {
                assert_eq!((mutex.into_inner(), runner), (1, me()));
                return;
            }
            // It had not begun in time: the machine is busy.
            time *= 2;
        }
    });
}

#[test]
fn a_closure_with_a_deadline_is_given_back_or_done_and_never_neither() {
    within_two_minutes(|| {
        const THREADS: u64 = 8;
        const ROUNDS: usize = 2_000;
        let mutex = BakeryMutex::new(0);
        let (done, given_back) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for seed in 0..THREADS {
                let (mutex, done, given_back) = (&mutex, &done, &given_back);
                scope.spawn(move || {
                    let mut chance = Chance(seed);
                    let runs: Vec<_> = (0..ROUNDS).map(|_| AtomicUsize::new(0)).collect();
                    let mut is_done = Vec::new();
                    for ran in &runs {
                        let time = Duration::from_micros(chance.below(60) as u64);
                        let pause = chance.below(8) == 0;
                        let outcome = mutex.try_with_for(time, |total| {
                            *total += 1;
                            ran.fetch_add(1, Relaxed);
                            if pause {
                                thread::sleep(Duration::from_micros(30));
                            }
                        });
                        assert_eq!(ran.load(Relaxed), usize::from(outcome.is_ok()));
                        is_done.push(outcome.is_ok());
                    }
                    // And none of them was run since.
                    for (ran, is_done) in runs.iter().zip(&is_done) {
                        assert_eq!(ran.load(Relaxed), usize::from(*is_done));
                    }
                    let count = is_done.iter().filter(|is_done| **is_done).count() as u64;
                    done.fetch_add(count, Relaxed);
                    given_back.fetch_add(ROUNDS as u64 - count, Relaxed);
                });
            }
        });
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        assert_eq!(mutex.into_inner(), done.load(Relaxed));
        assert!(done.load(Relaxed) > 0 && given_back.load(Relaxed) > 0, "both happen");
    });
}

/// Threads that take two locks in one order do not deadlock, though they run each other's closures
/// while they hold the first.
#[test]
fn locks_taken_in_one_order_stay_free_of_deadlock() {
    within_two_minutes(|| {
        let (outer, inner) = (BakeryMutex::new(0), BakeryMutex::new(0));
        thread::scope(|scope| {
            for number in 0..12 {
                let (outer, inner) = (&outer, &inner);
                scope.spawn(move || {
                    for round in 0..500 {
                        match (number + round) % 4 {
                            0 => outer.with(|outer| {
                                *outer += 1;
                                inner.with(|inner| *inner += 1);
                            }),
                            1 => {
                                let mut outer = outer.lock();
                                *outer += 1;
                                inner.with(|inner| *inner += 1);
                            }
                            2 => outer.with(|outer| {
                                *outer += 1;
                                *inner.lock() += 1;
                            }),
                            _ => inner.with(|inner| *inner += 1),
                        }
                    }
                });
            }
        });
        assert!(is_deserted(&outer) && is_deserted(&inner));
        assert_eq!((outer.into_inner(), inner.into_inner()), (4_500, 6_000));
    });
}
