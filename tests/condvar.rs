//! The condition variable among real threads: what the suites of std and parking_lot ask of theirs,
//! in our words, for both policies; and stress with more threads than cores.
#![cfg(not(exclusion_loom))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use exclusion::lock::Policy;
use exclusion::{BakeryMutex, BakeryMutexGuard, Bypass, PolicyCondvar, Strict};

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
    nobody_is_there_to_notify
    one_is_notified_and_that_is_said
    each_of_ten_is_notified_at_once_and_all_are_counted
    each_of_seventy_is_notified_at_once_and_all_are_counted
    one_notification_moves_one_thread
    a_wait_for_a_condition_ends_when_it_holds
    a_wait_times_out_and_not_before
    a_wait_for_ever_is_no_wait_that_has_passed
    a_condition_that_never_holds_times_out
    a_condition_that_holds_in_time_does_not_time_out
    two_mutexes_at_a_time_panic_and_leave_the_guard_valid
    one_mutex_after_another_is_fine
    once_all_have_left_another_mutex_is_fine
    threads_are_served_in_the_order_in_which_they_came
    tokens_are_neither_lost_nor_made
    tokens_are_neither_lost_nor_made_as_time_passes
    it_can_be_dropped_once_the_waiter_has_left
    a_condition_that_holds_is_not_waited_for
    a_thread_that_was_notified_in_time_has_not_timed_out
    a_panic_of_the_condition_leaves_mutex_and_condvar_as_they_were
    one_mutex_has_several_conditions
    a_bounded_queue_passes_all_items_in_all_settings
    a_waiter_among_threads_that_lock_gets_its_turn
    a_thread_waits_as_its_locals_are_dropped
}

struct Pair<T, P: Policy> {
    data: BakeryMutex<T, P>,
    condvar: PolicyCondvar<P>,
}

impl<T, P: Policy> Pair<T, P> {
    fn new(data: T) -> Self {
        Self { data: BakeryMutex::with_policy(data), condvar: PolicyCondvar::new() }
    }
}

/// Waits until the data is so, which threads change before they wait.
fn await_data<T, P: Policy>(pair: &Pair<T, P>, is_so: impl Fn(&T) -> bool) {
    while !is_so(&pair.data.lock()) {
        thread::yield_now();
    }
}

fn nobody_is_there_to_notify<P: Policy>() {
    let condvar = PolicyCondvar::<P>::new();
    assert!(!condvar.notify_one());
    assert_eq!(condvar.notify_all(), 0);
    assert_eq!(format!("{:?}", PolicyCondvar::<P>::default()), "Condvar { .. }");
}

fn one_is_notified_and_that_is_said<P: Policy>() {
    let pair = Pair::<_, P>::new(());
    thread::scope(|scope| {
        let mut guard = pair.data.lock();
        scope.spawn(|| {
            let _guard = pair.data.lock();
            assert!(pair.condvar.notify_one());
            assert!(!pair.condvar.notify_one());
        });
        pair.condvar.wait(&mut guard);
    });
}

fn each_of_ten_is_notified_at_once_and_all_are_counted<P: Policy>() {
    all_are_notified_at_once::<P>(10);
}

/// More than one look at the line finds in their order.
fn each_of_seventy_is_notified_at_once_and_all_are_counted<P: Policy>() {
    all_are_notified_at_once::<P>(70);
}

fn all_are_notified_at_once<P: Policy>(threads: usize) {
    let pair = Pair::<_, P>::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut count = pair.data.lock();
                *count += 1;
                pair.condvar.wait(&mut count);
                *count -= 1;
            });
        }
        await_data(&pair, |count| *count == threads);
        assert_eq!(pair.condvar.notify_all(), threads);
        assert_eq!(pair.condvar.notify_all(), 0);
    });
    assert_eq!(*pair.data.lock(), 0);
}

fn one_notification_moves_one_thread<P: Policy>() {
    let pair = Pair::<_, P>::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut counts = pair.data.lock();
                counts.0 += 1;
                pair.condvar.wait(&mut counts);
                counts.1 += 1;
            });
        }
        await_data(&pair, |counts| counts.0 == 3);
        for woken in 1..=3 {
            assert!(pair.condvar.notify_one());
            await_data(&pair, |counts| counts.1 == woken);
        }
        assert!(!pair.condvar.notify_one());
    });
}

fn a_wait_for_a_condition_ends_when_it_holds<P: Policy>() {
    let pair = Pair::<_, P>::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..5 {
                *pair.data.lock() += 1;
                pair.condvar.notify_all();
            }
        });
        let mut number = pair.data.lock();
        pair.condvar.wait_while(&mut number, |number| *number < 5);
        assert_eq!(*number, 5);
        // It holds: no wait at all.
        pair.condvar.wait_while(&mut number, |_| false);
    });
}

fn a_wait_times_out_and_not_before<P: Policy>() {
    let pair = Pair::<_, P>::new(());
    let mut guard = pair.data.lock();
    let start = Instant::now();
    assert!(pair.condvar.wait_for(&mut guard, Duration::from_millis(10)).timed_out());
    assert!(start.elapsed() >= Duration::from_millis(10));
    assert!(pair.condvar.wait_until(&mut guard, start).timed_out());
    drop(guard);
    assert!(pair.data.try_lock().is_some());
    assert!(!pair.condvar.notify_one(), "nobody is left");
}

fn a_wait_for_ever_is_no_wait_that_has_passed<P: Policy>() {
    let pair = Pair::<_, P>::new(());
    thread::scope(|scope| {
        let mut guard = pair.data.lock();
        scope.spawn(|| drop((pair.data.lock(), pair.condvar.notify_one())));
        assert!(!pair.condvar.wait_for(&mut guard, Duration::MAX).timed_out());
    });
}

fn a_condition_that_never_holds_times_out<P: Policy>() {
    let pair = Pair::<_, P>::new(());
    let mut guard = pair.data.lock();
    let wait = pair.condvar.wait_while_for(&mut guard, |()| true, Duration::from_millis(5));
    assert!(wait.timed_out());
    let soon = Instant::now() + Duration::from_millis(5);
    assert!(pair.condvar.wait_while_until(&mut guard, |()| true, soon).timed_out());
}

fn a_condition_that_holds_in_time_does_not_time_out<P: Policy>() {
    let pair = Pair::<_, P>::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            *pair.data.lock() = true;
            pair.condvar.notify_one();
        });
        let mut flag = pair.data.lock();
        let wait = pair.condvar.wait_while_for(&mut flag, |flag| !*flag, Duration::from_secs(600));
        assert!(!wait.timed_out() && *flag);
    });
}

fn two_mutexes_at_a_time_panic_and_leave_the_guard_valid<P: Policy>() {
    let pair = Pair::<_, P>::new(false);
    let other = BakeryMutex::<_, P>::with_policy(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut waits = pair.data.lock();
            *waits = true;
            pair.condvar.wait(&mut waits);
        });
        await_data(&pair, |waits| *waits);
        let mut guard = other.lock();
        let panic = catch_unwind(AssertUnwindSafe(|| pair.condvar.wait(&mut guard)));
        assert!(panic.is_err());
        *guard += 1;
        drop(guard);
        assert_eq!(other.try_lock().as_deref(), Some(&1), "it was unlocked, and once");
        assert!(pair.condvar.notify_one(), "the one that waits is still there");
    });
}

fn one_mutex_after_another_is_fine<P: Policy>() {
    let condvar = PolicyCondvar::<P>::new();
    for _ in 0..2 {
        let mutex = BakeryMutex::<_, P>::with_policy(());
        let mut guard = mutex.lock();
        assert!(condvar.wait_for(&mut guard, Duration::from_millis(1)).timed_out());
    }
}

/// The line of the first mutex stays in use, so that the second has another.
fn once_all_have_left_another_mutex_is_fine<P: Policy>() {
    let pair = Pair::<_, P>::new(0);
    let (stays, other) = (PolicyCondvar::<P>::new(), BakeryMutex::<_, P>::with_policy(()));
    thread::scope(|scope| {
        for condvar in [&stays, &pair.condvar] {
            let pair = &pair;
            scope.spawn(move || {
                let mut count = pair.data.lock();
                *count += 1;
                condvar.wait(&mut count);
                *count -= 1;
            });
        }
        await_data(&pair, |count| *count == 2);
        assert_eq!(pair.condvar.notify_all(), 1);
        await_data(&pair, |count| *count == 1);
        let soon = Duration::from_millis(1);
        assert!(pair.condvar.wait_for(&mut pair.data.lock(), soon).timed_out());
        let mut guard = other.lock();
        assert!(pair.condvar.wait_for(&mut guard, soon).timed_out());
        assert!(stays.notify_one());
    });
}

fn threads_are_served_in_the_order_in_which_they_came<P: Policy>() {
    for all in [false, true] {
        let pair = Pair::<_, P>::new((0, Vec::new()));
        thread::scope(|scope| {
            for number in 0..8 {
                let pair = &pair;
                scope.spawn(move || {
                    let mut data = pair.data.lock();
                    data.0 += 1;
                    pair.condvar.wait(&mut data);
                    data.1.push(number);
                });
                await_data(pair, |data| data.0 == number + 1);
            }
            let guard = pair.data.lock();
            if all {
                assert_eq!(pair.condvar.notify_all(), 8);
            } else {
                assert!((0..8).all(|_| pair.condvar.notify_one()));
            }
            drop(guard);
        });
        assert_eq!(pair.data.into_inner().1, (0..8).collect::<Vec<_>>());
    }
}

/// So many threads give, so many take.
const THREADS: usize = 8;
const TOKENS: usize = 500;

fn give<P: Policy>(pair: &Pair<usize, P>) {
    for number in 0..TOKENS {
        *pair.data.lock() += 1;
        if number % 3 == 0 {
            pair.condvar.notify_all();
        } else {
            pair.condvar.notify_one();
        }
    }
}

fn tokens_are_neither_lost_nor_made<P: Policy>() {
    let pair = Pair::<_, P>::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| give(&pair));
            scope.spawn(|| {
                for _ in 0..TOKENS {
                    let mut tokens = pair.data.lock();
                    pair.condvar.wait_while(&mut tokens, |tokens| *tokens == 0);
                    *tokens -= 1;
                }
            });
        }
    });
    assert_eq!(pair.data.into_inner(), 0);
}

fn tokens_are_neither_lost_nor_made_as_time_passes<P: Policy>() {
    let pair = Pair::<_, P>::new(0);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let pair = &pair;
            scope.spawn(move || give(pair));
            scope.spawn(move || {
                let patience = Duration::from_micros(10 * number as u64);
                for _ in 0..TOKENS {
                    let mut tokens = pair.data.lock();
                    while *tokens == 0 {
                        pair.condvar.wait_for(&mut tokens, patience);
                    }
                    *tokens -= 1;
                }
            });
        }
    });
    assert!(!pair.condvar.notify_one(), "somebody is counted that has left");
    assert_eq!(pair.data.into_inner(), 0);
}

/// A notifier must not use the mutex once the waiter may have freed it.
fn it_can_be_dropped_once_the_waiter_has_left<P: Policy>() {
    for _ in 0..200 {
        let condvar = PolicyCondvar::<P>::new();
        let waits = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mutex = Box::new(BakeryMutex::<_, P>::with_policy(()));
                let mut guard: BakeryMutexGuard<'_, (), P> = mutex.lock();
                waits.store(true, Relaxed);
                condvar.wait_for(&mut guard, Duration::from_micros(50));
            });
            while !waits.load(Relaxed) {
                thread::yield_now();
            }
            condvar.notify_one();
        });
    }
}

fn a_condition_that_holds_is_not_waited_for<P: Policy>() {
    let pair = Pair::<_, P>::new(1);
    let mut number = pair.data.lock();
    assert!(!pair.condvar.wait_while_for(&mut number, |it| *it == 0, Duration::ZERO).timed_out());
    let past = Instant::now() - Duration::from_millis(1);
    assert!(!pair.condvar.wait_while_until(&mut number, |it| *it == 0, past).timed_out());
    pair.condvar.wait_while(&mut number, |number| *number == 0);
    assert!(!pair.condvar.notify_one());
}

/// It is in line when its time is up, because another thread is inside.
fn a_thread_that_was_notified_in_time_has_not_timed_out<P: Policy>() {
    for all in [false, true] {
        let pair = Pair::<_, P>::new(false);
        let wait = Duration::from_millis(200);
        let (waited, notified) = thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let mut waits = pair.data.lock();
                *waits = true;
                let start = Instant::now();
                let is_over = pair.condvar.wait_for(&mut waits, wait).timed_out();
                (start.elapsed(), is_over)
            });
            await_data(&pair, |waits| *waits);
            let guard = pair.data.lock();
            let notified =
                if all { pair.condvar.notify_all() } else { pair.condvar.notify_one().into() };
            // Its time is up before it can have the mutex.
            thread::sleep(wait + wait / 4);
            drop(guard);
            let (waited, is_over) = waiter.join().unwrap();
            assert_eq!(is_over, notified == 0, "it was notified, or its time was up");
            (waited, notified)
        });
        // On a busy machine the notification may come too late, and then it says so.
        assert!(notified == 0 || waited >= wait);
    }
}

fn a_panic_of_the_condition_leaves_mutex_and_condvar_as_they_were<P: Policy>() {
    let pair = Pair::<_, P>::new(0);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let mut number = pair.data.lock();
                *number = 1;
                pair.condvar.wait_while(&mut number, |number| {
                    assert!(*number < 2, "on purpose");
                    true
                });
            }))
        });
        await_data(&pair, |number| *number == 1);
        *pair.data.lock() = 2;
        assert!(pair.condvar.notify_one());
        assert!(waiter.join().unwrap().is_err());
    });
    assert_eq!(pair.data.try_lock().as_deref(), Some(&2), "the guard was dropped");
    let mut number = pair.data.lock();
    assert!(pair.condvar.wait_for(&mut number, Duration::from_millis(1)).timed_out());
}

/// Whoever waits for one of two conditions is not moved by the other.
fn one_mutex_has_several_conditions<P: Policy>() {
    let pair = Pair::<_, P>::new((0, 0));
    let other = PolicyCondvar::<P>::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut counts = pair.data.lock();
            counts.0 += 1;
            pair.condvar.wait(&mut counts);
            counts.1 += 1;
        });
        scope.spawn(|| {
            let mut counts = pair.data.lock();
            counts.0 += 1;
            other.wait(&mut counts);
            counts.1 += 10;
        });
        await_data(&pair, |counts| counts.0 == 2);
        assert_eq!((other.notify_all(), other.notify_all()), (1, 0));
        await_data(&pair, |counts| counts.1 == 10);
        assert_eq!(pair.condvar.notify_all(), 1);
        await_data(&pair, |counts| counts.1 == 11);
    });
}

/// Producers wait while the queue is full, consumers while it is empty.
fn a_bounded_queue_passes_all_items_in_all_settings<P: Policy>() {
    struct Queue {
        items: std::collections::VecDeque<usize>,
        produced: usize,
    }
    fn notify<P: Policy>(condvar: &PolicyCondvar<P>, all: bool) {
        if all {
            condvar.notify_all();
        } else {
            condvar.notify_one();
        }
    }
    const ITEMS: usize = 120;
    let timed = [None, Some(Duration::ZERO), Some(Duration::from_micros(50))];
    for (producers, consumers, room) in [(1, 1, 1), (1, 4, 1), (4, 1, 3), (4, 4, 1), (6, 6, 50)] {
        for (all, wait) in [false, true].into_iter().flat_map(|all| timed.map(|it| (all, it))) {
            let queue = Pair::<_, P>::new(Queue { items: Default::default(), produced: 0 });
            let (is_full, is_empty) = (PolicyCondvar::<P>::new(), &queue.condvar);
            let wait_for =
                |condvar: &PolicyCondvar<P>, guard: &mut BakeryMutexGuard<'_, _, P>| match wait {
                    None => condvar.wait(guard),
                    Some(wait) => _ = condvar.wait_for(guard, wait),
                };
            let all_produced = producers * ITEMS;
            let sum: usize = thread::scope(|scope| {
                for _ in 0..producers {
                    scope.spawn(|| {
                        for _ in 0..ITEMS {
                            let mut guard = queue.data.lock();
                            while guard.items.len() == room {
                                wait_for(&is_full, &mut guard);
                            }
                            guard.produced += 1;
                            let item = guard.produced;
                            guard.items.push_back(item);
                            drop(guard);
                            notify(is_empty, all);
                        }
                    });
                }
                let consume = || {
                    let mut sum = 0;
                    loop {
                        let mut guard = queue.data.lock();
                        while guard.items.is_empty() && guard.produced < all_produced {
                            wait_for(is_empty, &mut guard);
                        }
                        let Some(item) = guard.items.pop_front() else {
                            // The last has been taken: nobody else need wait for another.
                            is_empty.notify_all();
                            return sum;
                        };
                        sum += item;
                        drop(guard);
                        notify(&is_full, all);
                    }
                };
                let consumers: Vec<_> = (0..consumers).map(|_| scope.spawn(consume)).collect();
                consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum()
            });
            assert_eq!(sum, all_produced * (all_produced + 1) / 2);
        }
    }
}

/// A crowd that locks all the time does not keep a notified thread from the mutex.
fn a_waiter_among_threads_that_lock_gets_its_turn<P: Policy>() {
    let pair = Pair::<_, P>::new((false, 0_u64));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    pair.data.lock().1 += 1;
                }
            });
        }
        for _ in 0..20 {
            let waiter = scope.spawn(|| {
                let mut data = pair.data.lock();
                data.0 = true;
                pair.condvar.wait(&mut data);
            });
            await_data(&pair, |data| data.0);
            pair.data.lock().0 = false;
            assert!(pair.condvar.notify_one());
            waiter.join().unwrap();
        }
        is_over.store(true, Relaxed);
    });
}

/// When a thread ends, what its locals still do with locks works.
fn a_thread_waits_as_its_locals_are_dropped<P: Policy>() {
    struct Last<P: Policy>(std::sync::Arc<Pair<u32, P>>);
    impl<P: Policy> Drop for Last<P> {
        fn drop(&mut self) {
            let mut number = self.0.data.lock();
            assert!(self.0.condvar.wait_for(&mut number, Duration::from_millis(1)).timed_out());
            *number += 1;
        }
    }
    thread_local!(static LOCAL: std::cell::RefCell<Option<Box<dyn std::any::Any>>> =
        const { std::cell::RefCell::new(None) });
    let pair = std::sync::Arc::new(Pair::<_, P>::new(0));
    let theirs = std::sync::Arc::clone(&pair);
    thread::spawn(move || LOCAL.set(Some(Box::new(Last(theirs))))).join().unwrap();
    assert_eq!(*pair.data.lock(), 1);
}
