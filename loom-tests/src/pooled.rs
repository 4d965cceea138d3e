//! Models of the drop-in mutex whose line comes from the pool: what a few threads do with it, each
//! its own thing.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use exclusion::lock::lines::{self, Limits};
use exclusion::lock::{Policy, time};
use exclusion::{BakeryMutex, Bypass};
use lock_api::MutexGuard;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A number that loom watches. Loom sees two threads at it, and one that comes to it without
/// knowing what the last one did.
pub struct Watched(UnsafeCell<usize>);

impl Watched {
    fn count(&self) {
        // SAFETY: we are inside; loom would see anybody else.
        self.0.with_mut(|number| unsafe { *number += 1 });
    }

    fn number(&self) -> usize {
        // SAFETY: we are inside; loom would see anybody else.
        self.0.with(|number| unsafe { *number })
    }
}

/// The mutex of these models.
pub type Mutex<P> = BakeryMutex<Watched, P>;

/// One newcomer may pass, as long as time stands still.
pub type One = Bypass<1, 1000>;

/// Two newcomers may pass. The second does not look at the clock.
pub type Two = Bypass<2, 1000>;

/// What a thread does, and how often it was inside.
pub type Act<P> = fn(&Mutex<P>) -> usize;

/// Enters by a guard.
pub fn lock<P: Policy>(mutex: &Mutex<P>) -> usize {
    mutex.lock().count();
    1
}

/// Leaves the critical section to whoever is inside.
pub fn with<P: Policy>(mutex: &Mutex<P>) -> usize {
    let before = mutex.with(|number| {
        number.count();
        Box::new(number.number())
    });
    assert!(*before >= 1);
    1
}

/// Brings a critical section that panics.
pub fn panic<P: Policy>(mutex: &Mutex<P>) -> usize {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        mutex.with(|number| {
            number.count();
            // Not a `panic!`: nobody need hear of it.
            resume_unwind(Box::new("mine"));
        })
    }));
    assert_eq!(*outcome.unwrap_err().downcast::<&str>().expect("my own"), "mine");
    1
}

/// Enters if nobody has to be waited for.
pub fn try_lock<P: Policy>(mutex: &Mutex<P>) -> usize {
    mutex.try_lock().map(|number| number.count()).is_some().into()
}

/// The same with a closure.
pub fn try_with<P: Policy>(mutex: &Mutex<P>) -> usize {
    mutex.try_with(|number| number.count()).is_ok().into()
}

/// Waits for a guard until time passes.
pub fn lock_for<P: Policy>(mutex: &Mutex<P>) -> usize {
    mutex.try_lock_for(Duration::from_secs(1)).map(|number| number.count()).is_some().into()
}

/// Waits until time passes. The closure is given back, or has been run.
pub fn with_for<P: Policy>(mutex: &Mutex<P>) -> usize {
    mutex.try_with_for(Duration::from_secs(1), |number| number.count()).is_ok().into()
}

/// Enters twice, by a bump, and hands over.
pub fn bump<P: Policy>(mutex: &Mutex<P>) -> usize {
    let mut guard = mutex.lock();
    guard.count();
    MutexGuard::bump(&mut guard);
    guard.count();
    MutexGuard::unlock_fair(guard);
    2
}

/// Does one thing and then another.
macro_rules! then {
    ($first:path, $second:path) => {
        |mutex| $first(mutex) + $second(mutex)
    };
}

/// Twice by a guard.
pub fn lock_twice<P: Policy>(mutex: &Mutex<P>) -> usize {
    then!(lock, lock)(mutex)
}

/// Twice by a closure.
pub fn with_twice<P: Policy>(mutex: &Mutex<P>) -> usize {
    then!(with, with)(mutex)
}

/// By a guard, then by a closure.
pub fn lock_then_with<P: Policy>(mutex: &Mutex<P>) -> usize {
    then!(lock, with)(mutex)
}

/// The first of the acts is that of the thread that checks in the end.
pub fn act<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    act_beside(acts, || ());
}

/// As [`act`]. The first thread does something else while the others are at it.
fn act_beside<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS], aside: fn()) {
    let mutex = fresh();
    let others = start(&mutex, &acts[1..]);
    aside();
    let entries = acts[0](&mutex);
    finish(&mutex, entries, others);
}

/// The acts of threads that come when another is inside. That is a smaller model than one in which
/// all of them race to be the first.
pub fn behind<P: Policy, const OTHERS: usize>(acts: [Act<P>; OTHERS]) {
    let mutex = fresh();
    let guard = mutex.lock();
    let others = start(&mutex, &acts);
    // So that the others come before we leave without a preemption.
    thread::yield_now();
    guard.count();
    drop(guard);
    finish(&mutex, 1, others);
}

fn fresh<P: Policy>() -> Arc<Mutex<P>> {
    Arc::new(Mutex::<P>::with_policy(Watched(UnsafeCell::new(0))))
}

fn start<P: Policy>(mutex: &Arc<Mutex<P>>, acts: &[Act<P>]) -> Vec<thread::JoinHandle<usize>> {
    let start = |act: &Act<P>| {
        let (mutex, act) = (mutex.clone(), *act);
        thread::spawn(move || act(&mutex))
    };
    acts.iter().map(start).collect()
}

/// Waits for the others and checks that all entries were counted and nobody is left.
fn finish<P: Policy>(mutex: &Mutex<P>, entries: usize, others: Vec<thread::JoinHandle<usize>>) {
    let others = others.into_iter().map(|other| other.join().unwrap());
    let entries = entries + others.sum::<usize>();
    // SAFETY: the raw mutex is only printed.
    let left = format!("{:?}", unsafe { mutex.raw() });
    let nobody = "Pooled { inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0";
    assert!(left.starts_with(nobody), "somebody was left behind: {left}");
    assert!(lines::all_are_back(), "a line was lost");
    let number = mutex.try_lock().expect("the lock was left held").number();
    assert_eq!(number, entries);
}

/// As [`act`], where every look at the clock finds a deadline passed.
pub fn act_in_a_hurry<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    time::passes_at_every_look();
    act(acts);
}

/// As [`act`], where some look at the clock finds a deadline passed, and so do all after it.
pub fn act_as_time_passes<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    act_beside(acts, time::passes_at_some_look);
}

/// As [`act_as_time_passes`], where there is less of something than threads want.
pub fn act_within<P: Policy, const THREADS: usize>(limits: Limits, acts: [Act<P>; THREADS]) {
    lines::limit(limits);
    act_as_time_passes(acts);
}

/// A line in which one thread may be.
pub fn one_seat() -> Limits {
    Limits { seats: 1, ..Limits::default() }
}

/// A pool without lines. Only for models in which one thread waits at a time: loom may have two
/// that nap take turns for ever.
pub fn no_line() -> Limits {
    Limits { lines: 0, ..Limits::default() }
}

/// One line for all mutexes.
pub fn one_line() -> Limits {
    Limits { lines: 1, ..Limits::default() }
}

/// An allocation that fails, and does not fail when it is tried again.
pub fn one_failure() -> Limits {
    Limits { failures: 1, ..Limits::default() }
}

/// Two mutexes that are waited for at the same time, so that two lines are taken and given back.
pub fn two_mutexes<P: Policy>() {
    let mutexes = Arc::new([0, 0].map(|_| Mutex::<P>::with_policy(Watched(UnsafeCell::new(0)))));
    let others = [0, 1].map(|number| {
        let mutexes = mutexes.clone();
        thread::spawn(move || lock(&mutexes[number]))
    });
    let guards = (mutexes[0].lock(), mutexes[1].lock());
    guards.0.count();
    guards.1.count();
    drop(guards);
    for other in others {
        other.join().unwrap();
    }
    assert!(mutexes.iter().all(|mutex| mutex.try_lock().expect("free").number() == 2));
    assert!(lines::all_are_back(), "a line was lost");
}

/// Two mutexes that are waited for at the same time, and one line for both.
pub fn two_mutexes_one_line<P: Policy>() {
    lines::limit(one_line());
    two_mutexes::<P>();
}

/// A line goes from one mutex to another, while a thread that has left the first without having
/// been in line looks whom to wake there.
pub fn recycled<P: Policy>(first: Act<P>, second: Act<P>) {
    lines::limit(one_line());
    let mutexes = Arc::new([0, 1].map(|_| Mutex::<P>::with_policy(Watched(UnsafeCell::new(0)))));
    let others = [
        thread::spawn({
            let mutexes = mutexes.clone();
            move || first(&mutexes[0]) + second(&mutexes[1])
        }),
        thread::spawn({
            let mutexes = mutexes.clone();
            move || lock(&mutexes[1])
        }),
    ];
    let entries = first(&mutexes[0]);
    let entries = others.into_iter().fold(entries, |sum, other| sum + other.join().unwrap());
    let numbers = mutexes.iter().map(|mutex| mutex.try_lock().expect("free").number());
    assert_eq!(numbers.sum::<usize>(), entries);
    assert!(lines::all_are_back(), "a line was lost");
}

/// The pool alone, with two lines in it. One thread takes a line and gives it back. The other does
/// so twice, in such a way that the pool looks as before in between and is not.
pub fn lines_come_and_go() {
    /// Which lines somebody has. Not for loom to see: it must order nothing.
    struct Had([AtomicBool; 2]);

    impl Had {
        fn take(&self) -> Option<usize> {
            let line = lines::take()?;
            assert!(!self.0[line].swap(true, Relaxed), "a line was given to two");
            Some(line)
        }

        fn give<const LINES: usize>(&self, lines: [Option<usize>; LINES]) {
            for line in lines.into_iter().flatten() {
                self.0[line].store(false, Relaxed);
                lines::give(line);
            }
        }
    }

    let had = std::sync::Arc::new(Had([const { AtomicBool::new(false) }; 2]));
    had.give([had.take(), had.take()]);
    let other = thread::spawn({
        let had = had.clone();
        move || had.give([had.take()])
    });
    let (first, second) = (had.take(), had.take());
    had.give([first]);
    let third = had.take();
    had.give([second, third]);
    other.join().unwrap();
    let both = [had.take(), had.take()];
    assert!(both.iter().all(Option::is_some), "a line was lost");
    had.give(both);
}
