//! Models of the drop-in mutex whose line comes from the pool: what a few threads do with it, each
//! its own thing.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

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
    let mutex = Arc::new(Mutex::<P>::with_policy(Watched(UnsafeCell::new(0))));
    let others: Vec<_> = acts[1..]
        .iter()
        .map(|act| {
            let (mutex, act) = (mutex.clone(), *act);
            thread::spawn(move || act(&mutex))
        })
        .collect();
    let mut entries = acts[0](&mutex);
    for other in others {
        entries += other.join().unwrap();
    }
    // SAFETY: the raw mutex is only printed.
    let left = format!("{:?}", unsafe { mutex.raw() });
    let nobody = "Pooled { inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0";
    assert!(left.starts_with(nobody), "somebody was left behind: {left}");
    let number = mutex.try_lock().expect("the lock was left held").number();
    assert_eq!(number, entries);
}

/// As [`act`], where every look at the clock finds a deadline passed.
pub fn act_in_a_hurry<P: Policy, const THREADS: usize>(acts: [Act<P>; THREADS]) {
    time::passes_at_every_look();
    act(acts);
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
}
