//! The models: what two or three threads do with a lock, for any lock.

use std::cell::Cell;

use exclusion::lock::raw::{RawLock, Waiting};
use exclusion::lock::wait::{SpinThenYield, Unless};
use exclusion::lock::{Leased, Seated, time};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A raw lock and the data that it protects. Loom sees two threads at the data, and one that comes
/// to it without knowing what the last one did.
struct Guarded<L> {
    lock: L,
    entries: UnsafeCell<usize>,
}

// SAFETY: what `L` is here to show; loom checks each access.
unsafe impl<L: RawLock> Sync for Guarded<L> {}
// SAFETY: a number and a lock.
unsafe impl<L: RawLock> Send for Guarded<L> {}

impl<L: RawLock> Guarded<L> {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: L::unlocked(), entries: UnsafeCell::new(0) })
    }

    /// One acquisition, if it succeeds.
    fn visit(&self, seat: usize, waiting: &impl Waiting) -> bool {
        // SAFETY: each thread of a model keeps to a seat of its own.
        if unsafe { self.lock.acquire(seat, waiting) }.is_err() {
            return false;
        }
        self.count();
        // SAFETY: we are inside.
        unsafe { self.lock.release(seat) };
        true
    }

    fn count(&self) {
        // SAFETY: we are inside; loom would see anybody else.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
    }

    fn entries(&self) -> usize {
        // SAFETY: all others have been joined; loom would see anybody else.
        self.entries.with(|entries| unsafe { *entries })
    }
}

/// Runs one thread a seat and returns how many entries the threads say they made, and the lock.
fn together<L: RawLock + 'static, const N: usize>(
    visits: fn(&Guarded<L>, usize) -> usize,
) -> (usize, Arc<Guarded<L>>) {
    let guarded = Guarded::<L>::new();
    let others: Vec<_> = (1..N)
        .map(|seat| {
            let guarded = guarded.clone();
            thread::spawn(move || visits(&guarded, seat))
        })
        .collect();
    let mut entries = visits(&guarded, 0);
    for other in others {
        entries += other.join().unwrap();
    }
    (entries, guarded)
}

/// `N` seats, `TIMES` acquisitions each.
pub fn enter<L: RawLock + 'static, const N: usize, const TIMES: usize>() {
    let (entries, guarded) = together::<L, N>(|guarded, seat| {
        (0..TIMES).filter(|_| guarded.visit(seat, &SpinThenYield)).count()
    });
    assert_eq!(entries, N * TIMES);
    assert_eq!(guarded.entries(), entries);
}

/// Nobody is left in the way: each seat gets in without waiting.
fn assert_free<L: RawLock>(guarded: &Guarded<L>, seats: usize) {
    for seat in 0..seats {
        assert!(guarded.visit(seat, &Unless(|| true)), "the lock was left held");
    }
}

/// A way of waiting that gives up at look number `most` after the first.
fn tired_after(most: usize) -> impl Waiting {
    let looks = Cell::new(0);
    Unless(move || looks.replace(looks.get() + 1) == most)
}

/// One seat enters while the other gives up after `LOOKS` looks.
pub fn withdraw<L: RawLock + 'static, const LOOKS: usize>() {
    let (entries, guarded) = together::<L, 2>(|guarded, seat| {
        let entered = if seat == 0 {
            guarded.visit(seat, &SpinThenYield)
        } else {
            guarded.visit(seat, &tired_after(LOOKS))
        };
        entered.into()
    });
    assert_eq!(guarded.entries(), entries);
    assert_free(&guarded, 2);
}

/// One seat enters while the other gives up, then comes back patiently. What it left behind must
/// hinder nobody, and what it missed it must learn.
pub fn withdraw_and_return<L: RawLock + 'static>() {
    let (entries, guarded) = together::<L, 2>(|guarded, seat| {
        if seat == 0 {
            return guarded.visit(seat, &SpinThenYield).into();
        }
        let first = guarded.visit(seat, &tired_after(0));
        let second = guarded.visit(seat, &SpinThenYield);
        usize::from(first) + usize::from(second)
    });
    assert_eq!(guarded.entries(), entries);
}

/// Both seats enter, come again and give up at once.
pub fn return_and_withdraw<L: RawLock + 'static>() {
    let (entries, guarded) = together::<L, 2>(|guarded, seat| {
        let first = guarded.visit(seat, &SpinThenYield);
        let second = guarded.visit(seat, &tired_after(0));
        usize::from(first) + usize::from(second)
    });
    assert_eq!(guarded.entries(), entries);
    assert_free(&guarded, 2);
}

/// Nobody waits: seat 0 tries twice, seat 1 once, each with one more look where it would wait.
pub fn impatient<L: RawLock + 'static>() {
    let (entries, guarded) = together::<L, 2>(|guarded, seat| {
        (seat..2).filter(|_| guarded.visit(seat, &tired_after(1))).count()
    });
    assert_eq!(guarded.entries(), entries);
    assert_free(&guarded, 2);
}

/// Seat 0 enters; seats 1 and 2 give up at the first look, wherever they are by then.
pub fn withdraw_from_three<L: RawLock + 'static>() {
    let (entries, guarded) = together::<L, 3>(|guarded, seat| {
        let entered = if seat == 0 {
            guarded.visit(seat, &SpinThenYield)
        } else {
            guarded.visit(seat, &tired_after(0))
        };
        entered.into()
    });
    assert_eq!(guarded.entries(), entries);
    assert_free(&guarded, 3);
}

/// Both seats try once. Whatever they got, the lock is free afterwards.
pub fn try_acquire<L: RawLock + 'static>() {
    let (entries, guarded) = together::<L, 2>(|guarded, seat| {
        // SAFETY: each thread of a model keeps to a seat of its own.
        let inside = unsafe { guarded.lock.try_acquire(seat) };
        if inside {
            guarded.count();
            // SAFETY: we are inside.
            unsafe { guarded.lock.release(seat) };
        }
        inside.into()
    });
    assert_eq!(guarded.entries(), entries);
    assert_free(&guarded, 2);
}

/// The safe handles: two owned seats, the data in the lock.
pub fn seated<L: RawLock + 'static>() {
    let cell: &'static Seated<L, usize> = Box::leak(Box::new(Seated::new(0)));
    let [mut left, mut right] = cell.take_seats().expect("taken for the first time");
    let other = thread::spawn(move || *right.lock() += 1);
    *left.lock() += 1;
    other.join().unwrap();
    assert_eq!(*left.lock(), 2);
}

/// A leased lock with data, as lock_api's mutex has it, but data that loom watches.
struct Mutex<L, const BYPASS: usize> {
    raw: Leased<L, BYPASS>,
    entries: UnsafeCell<usize>,
}

// SAFETY: what `Leased` is here to show; loom checks each access.
unsafe impl<L: RawLock, const BYPASS: usize> Sync for Mutex<L, BYPASS> {}
// SAFETY: a number and a lock.
unsafe impl<L: RawLock, const BYPASS: usize> Send for Mutex<L, BYPASS> {}

impl<L: RawLock, const BYPASS: usize> Mutex<L, BYPASS> {
    fn visit(&self) {
        use lock_api::RawMutex;
        let lease = RawMutex::lock(&self.raw);
        self.count(lease);
    }

    /// If that means no waiting.
    fn attempt(&self) -> bool {
        use lock_api::RawMutex;
        RawMutex::try_lock(&self.raw).map(|lease| self.count(lease)).is_some()
    }

    /// By a deadline, which under loom has passed when a sleeper is not woken.
    fn hurry(&self) -> bool {
        use lock_api::RawMutexTimed;
        RawMutexTimed::try_lock_for(&self.raw, std::time::Duration::from_secs(1))
            .map(|lease| self.count(lease))
            .is_some()
    }

    /// Counts twice, with a bump in between, and hands over.
    fn bump(&self) {
        use lock_api::{RawMutex, RawMutexFair};
        let mut lease = RawMutex::lock(&self.raw);
        self.count_inside();
        // SAFETY: this is the lease of the acquisition that is inside.
        unsafe { RawMutexFair::bump(&self.raw, &mut lease) };
        self.count_inside();
        // SAFETY: as above.
        unsafe { RawMutexFair::unlock_fair(&self.raw, lease) };
    }

    fn count(&self, lease: exclusion::lock::Lease) {
        use lock_api::RawMutex;
        self.count_inside();
        // SAFETY: this is the lease of the acquisition that is inside.
        unsafe { RawMutex::unlock(&self.raw, lease) };
    }

    fn count_inside(&self) {
        // SAFETY: we are inside; loom would see anybody else.
        self.entries.with_mut(|entries| unsafe { *entries += 1 });
    }
}

fn contend<L: RawLock + 'static, const BYPASS: usize, const THREADS: usize>(
    visits: fn(&Mutex<L, BYPASS>, usize) -> usize,
) {
    let mutex = fresh();
    let others = start(&mutex, THREADS, visits);
    let entries = visits(&mutex, 0);
    finish(&mutex, entries, others);
}

fn fresh<L: RawLock, const BYPASS: usize>() -> Arc<Mutex<L, BYPASS>> {
    Arc::new(Mutex { raw: Leased::new(), entries: UnsafeCell::new(0) })
}

/// The threads but for number 0.
fn start<L: RawLock + 'static, const BYPASS: usize>(
    mutex: &Arc<Mutex<L, BYPASS>>,
    threads: usize,
    visits: fn(&Mutex<L, BYPASS>, usize) -> usize,
) -> Vec<thread::JoinHandle<usize>> {
    let start = |number| {
        let mutex = mutex.clone();
        thread::spawn(move || visits(&mutex, number))
    };
    (1..threads).map(start).collect()
}

/// Waits for the others and checks that all entries were counted and nobody is left.
fn finish<L: RawLock, const BYPASS: usize>(
    mutex: &Mutex<L, BYPASS>,
    entries: usize,
    others: Vec<thread::JoinHandle<usize>>,
) {
    let others = others.into_iter().map(|other| other.join().unwrap());
    let entries = entries + others.sum::<usize>();
    // SAFETY: all others have been joined; loom would see anybody else.
    assert_eq!(mutex.entries.with(|entries| unsafe { *entries }), entries);
    let left = format!("{:?}", mutex.raw);
    assert!(left.contains("here: 0b0,"), "somebody was left behind: {left}");
    assert!(!left.contains("asleep_at_door: 1"), "somebody was left asleep: {left}");
    assert!(mutex.hurry(), "the lock was left held");
}

/// `THREADS` threads lock `TIMES` times each; nobody passes.
pub fn lease<L: RawLock + 'static, const THREADS: usize, const TIMES: usize>() {
    pass::<L, 0, THREADS, TIMES>();
}

/// `THREADS` threads lock `TIMES` times each; `BYPASS` newcomers may pass those in line.
pub fn pass<L: RawLock + 'static, const BYPASS: usize, const THREADS: usize, const TIMES: usize>() {
    contend::<L, BYPASS, THREADS>(|mutex, _| {
        (0..TIMES).for_each(|_| mutex.visit());
        TIMES
    });
}

/// One thread bumps and hands over; the others lock `TIMES` times each.
pub fn hand_over<
    L: RawLock + 'static,
    const BYPASS: usize,
    const THREADS: usize,
    const TIMES: usize,
>() {
    contend::<L, BYPASS, THREADS>(|mutex, number| {
        if number == 0 {
            mutex.bump();
            2
        } else {
            (0..TIMES).for_each(|_| mutex.visit());
            TIMES
        }
    });
}

/// One thread locks, the others give up if they are not woken.
pub fn lease_or_give_up<L: RawLock + 'static, const BYPASS: usize, const THREADS: usize>() {
    contend::<L, BYPASS, THREADS>(|mutex, number| {
        if number == 0 {
            mutex.visit();
            1
        } else {
            mutex.hurry().into()
        }
    });
}

/// Behind a thread that is inside, one thread waits and another gives up, at some time: before it
/// falls asleep, when it is woken, or when it is not.
pub fn one_gives_up_beside_one_that_waits<L: RawLock + 'static, const BYPASS: usize>() {
    use lock_api::RawMutex;
    let mutex = fresh::<L, BYPASS>();
    let lease = RawMutex::lock(&mutex.raw);
    let others = start(&mutex, 3, |mutex, number| {
        if number == 1 {
            return mutex.hurry().into();
        }
        mutex.visit();
        1
    });
    time::passes_at_some_look();
    // So that the others come before we leave without a preemption.
    thread::yield_now();
    mutex.count(lease);
    finish(&mutex, 1, others);
}

/// One thread locks and then tries, one locks, the others try. With `BYPASS`, two that try may find
/// at the same time that one of them can pass.
pub fn try_lock<L: RawLock + 'static, const BYPASS: usize, const THREADS: usize>() {
    contend::<L, BYPASS, THREADS>(|mutex, number| match number {
        0 => {
            mutex.visit();
            1 + usize::from(mutex.attempt())
        }
        1 => {
            mutex.visit();
            1
        }
        _ => mutex.attempt().into(),
    });
}

/// The other threads come when the first is inside. That is a smaller model than one in which all
/// of them race to be the first.
pub fn behind<L: RawLock + 'static, const BYPASS: usize, const THREADS: usize>() {
    use lock_api::RawMutex;
    let mutex = fresh::<L, BYPASS>();
    let lease = RawMutex::lock(&mutex.raw);
    let others = start(&mutex, THREADS, |mutex, _| {
        mutex.visit();
        1
    });
    mutex.count(lease);
    finish(&mutex, 1, others);
}
