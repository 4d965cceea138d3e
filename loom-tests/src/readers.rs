//! Models of the raw locks that have readers.

use std::cell::Cell;

use exclusion::lock::Seated;
use exclusion::lock::raw::RawSharedLock;
use exclusion::lock::wait::{SpinThenYield, Unless};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

/// What a thread does on its seat, step by step.
pub type Act = &'static [Step];

/// A step of it.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Waits, and looks at the data.
    Read,
    /// Waits, and changes the data.
    Write,
    /// Waits as a reader, and changes the data: for locks that let in one reader at a time.
    ReadAlone,
    /// As `Read`, but gives up at the first look that finds it must wait.
    ReadOrGiveUp,
    /// As `Write`, but gives up at the first look that finds it must wait.
    WriteOrGiveUp,
}

/// Reads once.
pub const READ: Act = &[Step::Read];
/// Writes once.
pub const WRITE: Act = &[Step::Write];
/// Writes, and then reads.
pub const WRITE_THEN_READ: Act = &[Step::Write, Step::Read];
/// Reads once, where one may at a time.
pub const READ_ALONE: Act = &[Step::ReadAlone];
/// Reads, or not.
pub const READ_OR_GIVE_UP: Act = &[Step::ReadOrGiveUp];
/// Writes, or not.
pub const WRITE_OR_GIVE_UP: Act = &[Step::WriteOrGiveUp];
/// Reads and then writes, or not.
pub const TRY_BOTH: Act = &[Step::ReadOrGiveUp, Step::WriteOrGiveUp];

/// A lock and the data that it protects. Loom sees a writer beside anybody, and a thread that does
/// not know what the last writer did.
struct Guarded<L> {
    lock: L,
    written: UnsafeCell<usize>,
}

// SAFETY: what `L` is here to show; loom checks each access.
unsafe impl<L: RawSharedLock> Sync for Guarded<L> {}
// SAFETY: a number and a lock.
unsafe impl<L: RawSharedLock> Send for Guarded<L> {}

impl<L: RawSharedLock> Guarded<L> {
    /// Says how often it wrote.
    fn step(&self, seat: usize, step: Step) -> usize {
        let looks = Cell::new(0);
        let tired = Unless(|| looks.replace(looks.get() + 1) == 0);
        // SAFETY: each thread of a model keeps to a seat of its own.
        let entered = unsafe {
            match step {
                Step::Read | Step::ReadAlone => self.lock.acquire_shared(seat, &SpinThenYield),
                Step::Write => self.lock.acquire(seat, &SpinThenYield),
                Step::ReadOrGiveUp => self.lock.acquire_shared(seat, &tired),
                Step::WriteOrGiveUp => self.lock.acquire(seat, &tired),
            }
        };
        if entered.is_err() {
            return 0;
        }
        let writes = match step {
            Step::Read | Step::ReadOrGiveUp => {
                self.read();
                0
            }
            Step::Write | Step::ReadAlone | Step::WriteOrGiveUp => {
                // SAFETY: we are inside alone; loom would see anybody else.
                self.written.with_mut(|written| unsafe { *written += 1 });
                1
            }
        };
        // SAFETY: we are inside.
        unsafe { self.lock.release(seat) };
        writes
    }

    fn read(&self) -> usize {
        // SAFETY: no writer is inside; loom would see one.
        self.written.with(|written| unsafe { *written })
    }
}

/// Each seat does what is said. All that was written is there in the end, and nobody is left.
pub fn act<L: RawSharedLock + 'static, const N: usize>(acts: [Act; N]) {
    let guarded = Arc::new(Guarded { lock: L::unlocked(), written: UnsafeCell::new(0) });
    let run = move |guarded: &Guarded<L>, seat: usize| -> usize {
        acts[seat].iter().map(|step| guarded.step(seat, *step)).sum()
    };
    let others: Vec<_> = (1..N)
        .map(|seat| {
            let guarded = guarded.clone();
            thread::spawn(move || run(&guarded, seat))
        })
        .collect();
    let mut written = run(&guarded, 0);
    for other in others {
        written += other.join().unwrap();
    }
    assert_eq!(guarded.read(), written);
    for seat in 0..N {
        assert_eq!(guarded.step(seat, Step::WriteOrGiveUp), 1, "the lock was left held");
    }
}

/// Three read, of which two may be inside together.
pub fn two_of_three<L: RawSharedLock + 'static>() {
    let shared = Arc::new((L::unlocked(), AtomicUsize::new(0)));
    let run = |(lock, inside): &(L, AtomicUsize), seat: usize| {
        // SAFETY: each thread of a model keeps to a seat of its own.
        unsafe { lock.acquire_shared(seat, &SpinThenYield) }.unwrap();
        // Relaxed: read-modify-writes have one order, and more than may be is more in any.
        assert!(inside.fetch_add(1, Relaxed) < 2, "three are inside");
        inside.fetch_sub(1, Relaxed);
        // SAFETY: we are inside.
        unsafe { lock.release(seat) };
    };
    let others = [1, 2].map(|seat| {
        let shared = shared.clone();
        thread::spawn(move || run(&shared, seat))
    });
    run(&shared, 0);
    for other in others {
        other.join().unwrap();
    }
}

/// The safe handles: two owned seats, the data in the lock.
pub fn seated<L: RawSharedLock + 'static>() {
    let cell: &'static Seated<L, usize> = Box::leak(Box::new(Seated::new(0)));
    let [mut left, mut right] = cell.take_seats().expect("taken for the first time");
    let other = thread::spawn(move || *right.write() += 1);
    assert!(*left.read() < 2);
    other.join().unwrap();
    assert_eq!(*left.read(), 1);
}
