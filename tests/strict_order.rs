//! The order of service of a [`BakeryMutex`]: strict for as many threads as there are seats in its
//! line, and bounded where newcomers may pass.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::chance::{Chance, fresh_seed};
use common::sleepers::{await_sleepers, debugged, is_deserted};
use common::within_two_minutes;
use exclusion::lock::Policy;
use exclusion::{BakeryMutex, Bypass, Strict};
use lock_api::MutexGuard;

const A_WHILE: Duration = Duration::from_secs(1000);

/// So many threads as a test has may each have a small stack.
fn with_small_stack() -> thread::Builder {
    thread::Builder::new().stack_size(64 * 1024)
}

/// Enters by the way of that number.
fn push<P: Policy>(mutex: &BakeryMutex<Vec<usize>, P>, way: usize, number: usize) {
    match way % 5 {
        0 => mutex.lock().push(number),
        1 => mutex.with(|list| list.push(number)),
        2 => mutex.try_lock_for(A_WHILE).expect("enough time").push(number),
        3 => mutex.try_with_for(A_WHILE, |list| list.push(number)).ok().expect("enough time"),
        _ => {
            let panics = || {
                mutex.with(|list| {
                    list.push(number);
                    std::panic::resume_unwind(Box::new(number));
                })
            };
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        }
    }
}

/// Starts threads one by one, each when the one before is asleep. Returns the order of service.
fn order_of_service<P: Policy>(
    threads: usize,
    way: impl Fn(usize) -> usize + Send + 'static,
) -> Vec<usize> {
    within_two_minutes(move || {
        let mutex = BakeryMutex::<_, P>::with_policy(Vec::new());
        thread::scope(|scope| {
            let guard = mutex.lock();
            for number in 0..threads {
                let (mutex, way) = (&mutex, way(number));
                let enter = move || push(mutex, way, number);
                with_small_stack().spawn_scoped(scope, enter).expect("one thread more");
                await_sleepers(mutex, number + 1);
            }
            drop(guard);
        });
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        mutex.into_inner()
    })
}

fn arrival(threads: usize) -> Vec<usize> {
    (0..threads).collect()
}

#[test]
fn threads_are_served_in_order_of_arrival_whichever_way_they_enter() {
    for way in 0..5 {
        assert_eq!(order_of_service::<Strict>(10, move |_| way), arrival(10), "way {way}");
        assert_eq!(order_of_service::<Bypass>(10, move |_| way), arrival(10), "way {way}");
    }
    assert_eq!(order_of_service::<Strict>(10, |number| number), arrival(10));
    assert_eq!(order_of_service::<Strict>(200, |number| number), arrival(200));
    assert_eq!(order_of_service::<Strict>(200, |number| number / 20), arrival(200));
    assert_eq!(order_of_service::<Bypass>(200, |number| number), arrival(200));
}

#[test]
fn threads_that_mix_all_ways_at_random_are_served_in_order_of_arrival() {
    let seed = fresh_seed();
    println!("seed {seed}");
    for round in 0..10 {
        let way = move |number| Chance(seed ^ (round << 32) ^ number as u64).below(5);
        assert_eq!(order_of_service::<Strict>(40, way), arrival(40));
    }
}

#[test]
fn a_thousand_threads_enter_in_the_order_in_which_they_came() {
    assert_eq!(order_of_service::<Strict>(1000, |_| 0), arrival(1000));
    assert_eq!(order_of_service::<Strict>(1000, |number| number), arrival(1000));
}

#[test]
fn a_thread_that_gives_up_leaves_the_others_in_their_order() {
    within_two_minutes(|| {
        let mutex = BakeryMutex::new(Vec::new());
        thread::scope(|scope| {
            let mut impatient = Vec::new();
            let guard = mutex.lock();
            // The first gives up, the last, and two in a row.
            for number in 0..12 {
                let mutex = &mutex;
                let asleep = number + 1;
                if [0, 3, 4, 8, 11].contains(&number) {
                    impatient.push(scope.spawn(move || {
                        let time = Duration::from_secs(2);
                        let gave_up = match number % 2 {
                            0 => mutex.try_lock_for(time).is_none(),
                            _ => mutex.try_with_for(time, |list| list.push(number)).is_err(),
                        };
                        assert!(gave_up, "{number} entered while another was inside");
                    }));
                } else {
                    scope.spawn(move || push(mutex, number, number));
                }
                // Should one of them give up already, the machine is slow, and we go on.
                while !debugged(mutex).contains(&format!("asleep: {asleep},"))
                    && !impatient.iter().any(thread::ScopedJoinHandle::is_finished)
                {
                    thread::yield_now();
                }
            }
            for waiter in impatient {
                waiter.join().unwrap();
            }
            await_sleepers(&mutex, 7);
            drop(guard);
        });
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        assert_eq!(mutex.into_inner(), [1, 2, 5, 6, 7, 9, 10]);
    });
}

/// `lock`, `with` and their kin by 64 threads: the right sum, and nobody left.
fn nothing_is_lost_or_left<P: Policy>() {
    within_two_minutes(|| {
        const THREADS: u64 = 64;
        const ROUNDS: usize = 500;
        let seed = fresh_seed();
        println!("seed {seed}");
        let mutex = BakeryMutex::<_, P>::with_policy(0_u64);
        let entries: u64 = thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|number| {
                    let mutex = &mutex;
                    scope.spawn(move || {
                        let mut chance = Chance(seed ^ number);
                        (0..ROUNDS).filter(|_| enters(mutex, &mut chance)).count() as u64
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        assert_eq!(mutex.into_inner(), entries);
    });
}

/// Adds one in one of many ways. Says whether it did.
fn enters<P: Policy>(mutex: &BakeryMutex<u64, P>, chance: &mut Chance) -> bool {
    let time = Duration::from_micros(chance.below(2_000) as u64);
    let add = |total: &mut u64| *total += 1;
    match chance.below(8) {
        0 | 1 => *mutex.lock() += 1,
        2 | 3 => mutex.with(add),
        4 => return mutex.try_lock_for(time).map(|mut total| add(&mut total)).is_some(),
        5 => return mutex.try_with_for(time, add).is_ok(),
        6 => return mutex.try_lock().map(|mut total| add(&mut total)).is_some(),
        _ => return mutex.try_with(add).is_ok(),
    }
    true
}

#[test]
fn all_ways_mixed_by_64_threads_lose_nothing_and_leave_nobody() {
    nothing_is_lost_or_left::<Strict>();
    nothing_is_lost_or_left::<Bypass>();
    nothing_is_lost_or_left::<Bypass<3, 1_000_000>>();
    nothing_is_lost_or_left::<Bypass<100_000, 20>>();
}

/// A line goes from mutex to mutex: there are far more of these than lines.
#[test]
fn lines_are_used_again() {
    within_two_minutes(|| {
        for number in 0..50_000 {
            let mutex = BakeryMutex::new(number);
            let guard = mutex.lock();
            // Each of these joins the line and gives up.
            assert!(mutex.try_lock_for(Duration::ZERO).is_none());
            assert!(mutex.try_with_for(Duration::ZERO, |_| ()).is_err());
            drop(guard);
            assert!(is_deserted(&mutex), "{}", debugged(&mutex));
        }
    });
}

#[test]
fn many_mutexes_can_be_waited_for_at_a_time() {
    within_two_minutes(|| {
        const MUTEXES: usize = 300;
        let mutexes: Vec<_> = (0..MUTEXES).map(|_| BakeryMutex::new(Vec::new())).collect();
        thread::scope(|scope| {
            let guards: Vec<_> = mutexes.iter().map(|mutex| mutex.lock()).collect();
            for number in 0..2 {
                for mutex in &mutexes {
                    let enter = move || push(mutex, number, number);
                    with_small_stack().spawn_scoped(scope, enter).expect("one thread more");
                }
                for mutex in &mutexes {
                    await_sleepers(mutex, number + 1);
                }
            }
            drop(guards);
        });
        for mutex in mutexes {
            assert_eq!(mutex.into_inner(), [0, 1]);
        }
    });
}

/// A thread sleeps at the door, for longer than newcomers may pass it. How many do then, of a
/// hundred that try?
fn late_bypasses<const COUNT: usize, const MICROS: u64>(way: usize) -> usize {
    within_two_minutes(move || {
        let mutex = BakeryMutex::<_, Bypass<COUNT, MICROS>>::with_policy(Vec::new());
        let passed = thread::scope(|scope| {
            let guard = mutex.lock();
            scope.spawn(|| push(&mutex, way, 0));
            await_sleepers(&mutex, 1);
            // The time runs since before it slept. When it has run out twice, a leaver lets nobody
            // pass, though the sleeper may not have a core to run on.
            thread::sleep(Duration::from_micros(2 * MICROS + 1));
            drop(guard);
            let came_first = |_: &usize| mutex.try_lock().is_some_and(|list| list.is_empty());
            (0..100).filter(came_first).count()
        });
        assert_eq!(mutex.into_inner(), [0]);
        passed
    })
}

#[test]
fn nobody_passes_a_thread_that_has_been_passed_for_its_time() {
    for _ in 0..100 {
        for way in 0..2 {
            assert_eq!(late_bypasses::<100_000, 1_000>(way), 0);
            assert_eq!(late_bypasses::<100_000, 0>(way), 0);
        }
    }
}

/// Newcomers by all ways pass a thread at the door, as long as it is not inside. Returns how many
/// entered before it.
fn passed_before<const COUNT: usize>(way: usize) -> usize {
    within_two_minutes(move || {
        let mutex = BakeryMutex::<_, Bypass<COUNT, 60_000_000>>::with_policy(Vec::new());
        let is_inside = AtomicBool::new(false);
        thread::scope(|scope| {
            let guard = mutex.lock();
            scope.spawn(|| {
                push(&mutex, way, usize::MAX);
                is_inside.store(true, Relaxed);
            });
            await_sleepers(&mutex, 1);
            for number in 0..3 {
                let (mutex, is_inside) = (&mutex, &is_inside);
                scope.spawn(move || {
                    while !is_inside.load(Relaxed) {
                        push(mutex, number, number);
                    }
                });
            }
            drop(guard);
        });
        let list = mutex.into_inner();
        list.iter().position(|number| *number == usize::MAX).expect("it entered")
    })
}

#[test]
fn no_more_newcomers_pass_than_the_policy_allows_whichever_way_they_come() {
    for way in 0..2 {
        let most = (0..50).map(|_| passed_before::<5>(way)).max();
        assert!(most.is_some_and(|most| most <= 5), "{most:?} by way {way}");
    }
}

/// How the first of two sleepers comes in.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// After a newcomer has passed it.
    Passed,
    /// After it was handed the lock.
    HandedOver,
    /// After so long that it may not be passed any more.
    Late,
}

/// So long that a newcomer has time to pass, in microseconds.
const SOME_TIME: u64 = 20_000;

/// Two threads sleep in line. The first comes in, leaves, and passes the second. Says whether it
/// all came so.
fn the_second_is_passed_too<const MICROS: u64>(entry: Entry) -> bool {
    within_two_minutes(move || {
        let mutex = BakeryMutex::<_, Bypass<1, MICROS>>::with_policy(Vec::new());
        let passes = |other: &str| mutex.try_lock().is_some_and(|list| !list.contains(&other));
        let guard = mutex.lock();
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let mut guard = mutex.lock();
                guard.push("first");
                await_sleepers(&mutex, 1);
                drop(guard);
                passes("second")
            });
            await_sleepers(&mutex, 1);
            scope.spawn(|| mutex.lock().push("second"));
            await_sleepers(&mutex, 2);
            let came_so = match entry {
                Entry::Passed => {
                    drop(guard);
                    passes("first")
                }
                Entry::HandedOver => {
                    MutexGuard::unlock_fair(guard);
                    true
                }
                Entry::Late => {
                    thread::sleep(Duration::from_micros(2 * MICROS + 1));
                    drop(guard);
                    true
                }
            };
            first.join().unwrap() && came_so
        })
    })
}

/// What the first thread in line has suffered is not counted against the second.
#[test]
fn every_thread_at_the_door_can_be_passed_anew() {
    // Whether a newcomer is quicker than a thread that has been woken is chance.
    for entry in [Entry::Passed, Entry::HandedOver] {
        assert!((0..1000).any(|_| the_second_is_passed_too::<60_000_000>(entry)), "{entry:?}");
    }
    assert!((0..1000).any(|_| the_second_is_passed_too::<SOME_TIME>(Entry::Late)));
}

/// Newcomers pass a thread that waits by that way, although the program, and all that was before in
/// its line, are older than the time for which they may.
fn is_passed_when_it_comes(way: usize) -> bool {
    within_two_minutes(move || {
        let mutex = BakeryMutex::<_, Bypass<100, SOME_TIME>>::with_policy(Vec::new());
        thread::scope(|scope| {
            thread::sleep(Duration::from_micros(2 * SOME_TIME + 1));
            let guard = mutex.lock();
            scope.spawn(|| push(&mutex, way, 0));
            await_sleepers(&mutex, 1);
            drop(guard);
            mutex.try_lock().is_some_and(|list| list.is_empty())
        })
    })
}

#[test]
fn the_time_to_pass_begins_when_a_thread_begins_to_wait() {
    for way in 0..2 {
        assert!((0..1000).any(|_| is_passed_when_it_comes(way)), "way {way}");
    }
}

/// A newcomer spins at the door, and joins the line just when the holder leaves, which has woken
/// nobody for the newcomer's sake. Then the newcomer must.
#[test]
fn a_newcomer_that_stops_spinning_leaves_nobody_asleep_in_front_of_a_free_lock() {
    within_two_minutes(|| {
        for round in 0..3_000 {
            // The time is so long that a thread which waits for its end hangs.
            let mutex = BakeryMutex::<_, Bypass<100_000, 600_000_000>>::with_policy(0);
            let comes = AtomicBool::new(false);
            thread::scope(|scope| {
                let guard = mutex.lock();
                scope.spawn(|| *mutex.lock() += 1);
                await_sleepers(&mutex, 1);
                scope.spawn(|| {
                    comes.store(true, Relaxed);
                    *mutex.lock() += 1;
                });
                while !comes.load(Relaxed) {
                    std::hint::spin_loop();
                }
                // From before the newcomer is tired of spinning to well after.
                for _ in 0..round * 37 % 800 {
                    std::hint::spin_loop();
                }
                drop(guard);
            });
            assert_eq!(mutex.into_inner(), 2);
        }
    });
}
