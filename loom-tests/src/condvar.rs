//! Models of the condition variable: who notifies, who waits, and who gives up.

use std::time::Duration;

use exclusion::lock::lines::{self, Limits};
use exclusion::lock::{Policy, time};
use exclusion::{BakeryMutex, PolicyCondvar};
use lock_api::MutexGuard;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// How many tokens there are, watched by loom: two threads at it are a race, and so is one that
/// does not know what the last one did.
pub struct Tokens(UnsafeCell<usize>);

impl Tokens {
    fn count(&self) -> usize {
        // SAFETY: we are inside; loom would see anybody else.
        self.0.with(|tokens| unsafe { *tokens })
    }

    fn change(&self, by: isize) {
        // SAFETY: we are inside; loom would see anybody else.
        self.0.with_mut(|tokens| unsafe { *tokens = (*tokens).strict_add_signed(by) });
    }
}

/// A mutex, and a condition variable that says that there are tokens.
pub struct Pair<P: Policy> {
    tokens: BakeryMutex<Tokens, P>,
    arrived: PolicyCondvar<P>,
}

impl<P: Policy> Pair<P> {
    fn new() -> Arc<Self> {
        let tokens = BakeryMutex::with_policy(Tokens(UnsafeCell::new(0)));
        Arc::new(Self { tokens, arrived: PolicyCondvar::new() })
    }
}

/// What a thread does. Says how many tokens it took.
pub type Act<P> = fn(&Pair<P>) -> usize;

/// Waits until there is a token, and takes it.
pub fn take<P: Policy>(pair: &Pair<P>) -> usize {
    let mut tokens = pair.tokens.lock();
    while tokens.count() == 0 {
        pair.arrived.wait(&mut tokens);
    }
    tokens.change(-1);
    1
}

/// The same, unless time passes first.
pub fn take_in_time<P: Policy>(pair: &Pair<P>) -> usize {
    let mut tokens = pair.tokens.lock();
    if tokens.count() == 0 {
        let outcome = pair.arrived.wait_for(&mut tokens, Duration::from_secs(1));
        // Nobody else takes a token in these models, so a notified thread finds one.
        assert!(outcome.timed_out() || tokens.count() > 0, "woken for nothing");
        if tokens.count() == 0 {
            return 0;
        }
    }
    tokens.change(-1);
    1
}

/// Brings a token and notifies while inside.
pub fn give<P: Policy>(pair: &Pair<P>) -> usize {
    let tokens = pair.tokens.lock();
    tokens.change(1);
    pair.arrived.notify_one();
    0
}

/// Brings a token and notifies when outside again.
pub fn give_and_notify_later<P: Policy>(pair: &Pair<P>) -> usize {
    pair.tokens.lock().change(1);
    pair.arrived.notify_one();
    0
}

/// Brings two tokens for everybody.
pub fn give_two<P: Policy>(pair: &Pair<P>) -> usize {
    pair.tokens.lock().change(2);
    pair.arrived.notify_all();
    0
}

/// Enters, and does nothing about tokens.
pub fn lock<P: Policy>(pair: &Pair<P>) -> usize {
    pair.tokens.lock().count();
    0
}

/// The first of the acts is that of the thread that checks in the end: there are so many tokens
/// left.
pub fn act<P: Policy, const THREADS: usize>(given: usize, acts: [Act<P>; THREADS]) {
    act_beside(given, acts, || ());
}

/// As [`act`], where some look at the clock finds a deadline passed, and so do all after it.
pub fn act_as_time_passes<P: Policy, const THREADS: usize>(given: usize, acts: [Act<P>; THREADS]) {
    act_beside(given, acts, time::passes_at_some_look);
}

/// As [`act`], where there is one seat: another thread that waits returns at once.
pub fn act_on_one_seat<P: Policy, const THREADS: usize>(given: usize, acts: [Act<P>; THREADS]) {
    lines::limit(Limits { seats: 1, ..Limits::default() });
    act(given, acts);
}

fn act_beside<P: Policy, const THREADS: usize>(given: usize, acts: [Act<P>; THREADS], aside: fn()) {
    let pair = Pair::<P>::new();
    let others: Vec<_> = acts[1..]
        .iter()
        .map(|act| {
            let (pair, act) = (pair.clone(), *act);
            thread::spawn(move || act(&pair))
        })
        .collect();
    aside();
    let mut taken = acts[0](&pair);
    for other in others {
        taken += other.join().unwrap();
    }
    finish(&pair, given - taken);
}

fn finish<P: Policy>(pair: &Pair<P>, left: usize) {
    assert_eq!(pair.tokens.try_lock().expect("the lock was left held").count(), left);
    // SAFETY: the raw mutex is only printed.
    let raw = format!("{:?}", unsafe { pair.tokens.raw() });
    let nobody = "Pooled { inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0";
    assert!(raw.starts_with(nobody), "somebody was left behind: {raw}");
    assert!(lines::all_are_back(), "a line was lost");
    assert!(!pair.arrived.notify_one() && pair.arrived.notify_all() == 0, "somebody is counted");
}

/// Waits until `condition`, which a thread that waits changes before it does.
fn await_waiter<P: Policy>(pair: &Pair<P>, waits: fn(&Tokens) -> bool) {
    while !waits(&pair.tokens.lock()) {
        thread::yield_now();
    }
}

/// A thread that waits is notified by one that never had the mutex, while a third leaves it.
pub fn a_stranger_notifies<P: Policy>() {
    let pair = Pair::<P>::new();
    let waiter = thread::spawn({
        let pair = pair.clone();
        move || {
            let mut tokens = pair.tokens.lock();
            tokens.change(1);
            pair.arrived.wait(&mut tokens);
            tokens.change(1);
        }
    });
    await_waiter(&pair, |tokens| tokens.count() == 1);
    let stranger = thread::spawn({
        let pair = pair.clone();
        move || {
            // It may come too early, as far as it knows.
            while !pair.arrived.notify_one() {
                thread::yield_now();
            }
        }
    });
    drop(pair.tokens.lock());
    stranger.join().unwrap();
    waiter.join().unwrap();
    finish(&pair, 2);
}

/// A stranger notifies a thread that is about to wait, or waits.
pub fn a_stranger_notifies_early<P: Policy>() {
    let pair = Pair::<P>::new();
    let waiter = thread::spawn({
        let pair = pair.clone();
        move || {
            let mut tokens = pair.tokens.lock();
            pair.arrived.wait(&mut tokens);
            tokens.change(1);
        }
    });
    while !pair.arrived.notify_one() {
        thread::yield_now();
    }
    waiter.join().unwrap();
    finish(&pair, 1);
}

/// Two threads wait, the first first. One notification for each, in the order of their coming.
pub fn the_first_is_first<P: Policy>(all: bool) {
    let pair = Pair::<P>::new();
    let waiter = |number: usize| {
        let pair = pair.clone();
        thread::spawn(move || {
            let mut tokens = pair.tokens.lock();
            tokens.change(1);
            pair.arrived.wait(&mut tokens);
            // 2, and 10 more by the notifier. Then the first adds 1, and the second finds that.
            assert_eq!(tokens.count(), 12 + number, "not in their order");
            tokens.change(1);
        })
    };
    let first = waiter(0);
    await_waiter(&pair, |tokens| tokens.count() == 1);
    let second = waiter(1);
    await_waiter(&pair, |tokens| tokens.count() == 2);
    let tokens = pair.tokens.lock();
    tokens.change(10);
    if all {
        assert_eq!(pair.arrived.notify_all(), 2);
    } else {
        assert!(pair.arrived.notify_one() && pair.arrived.notify_one());
    }
    assert!(!pair.arrived.notify_one());
    MutexGuard::unlock_fair(tokens);
    first.join().unwrap();
    second.join().unwrap();
    finish(&pair, 14);
}

/// One waits until time passes, one for ever. One notification is not lost to the one that leaves.
pub fn one_leaves_as_one_is_notified<P: Policy>() {
    let pair = Pair::<P>::new();
    let waiters = [true, false].map(|timed| {
        let waiter = pair.clone();
        let started = usize::from(!timed) + 1;
        let handle = thread::spawn(move || {
            let mut tokens = waiter.tokens.lock();
            tokens.change(1);
            if timed {
                waiter.arrived.wait_for(&mut tokens, Duration::from_secs(1)).timed_out()
            } else {
                waiter.arrived.wait(&mut tokens);
                false
            }
        });
        while pair.tokens.lock().count() < started {
            thread::yield_now();
        }
        handle
    });
    // The longest waiter is the one that may leave. If it took the notification, the other is
    // still there.
    let first = pair.arrived.notify_one();
    let second = pair.arrived.notify_one();
    let [timed, patient] = waiters.map(|waiter| waiter.join().unwrap());
    assert!(!patient && first, "the patient one was notified");
    assert_eq!(second, !timed, "what was returned is not what became of them");
    finish(&pair, 2);
}

/// `notify_all`, with one leaving: the count is exact.
pub fn one_leaves_as_all_are_notified<P: Policy>() {
    let pair = Pair::<P>::new();
    let waiter = thread::spawn({
        let pair = pair.clone();
        move || {
            let mut tokens = pair.tokens.lock();
            tokens.change(1);
            pair.arrived.wait_for(&mut tokens, Duration::from_secs(1)).timed_out()
        }
    });
    await_waiter(&pair, |tokens| tokens.count() == 1);
    let notified = pair.arrived.notify_all();
    assert_eq!(notified, usize::from(!waiter.join().unwrap()));
    finish(&pair, 1);
}
