//! A word beside which one thread may sleep.
//!
//! Its lowest bit says that the thread sleeps, or is about to. The rest belongs to the user of the
//! bed. All changes are read-modify-writes of the one word, so a waker that changes the rest learns
//! in the same step whether there is anybody to wake.
//!
//! The sleeper sets the bit, looks once more whether it need sleep at all, and sleeps as long as
//! the bit is set. A waker clears the bit and wakes the thread that it belonged to. Whoever clears
//! the bit does so before the sleeper's last look at it, or finds the sleeper in its queue: the
//! queue's lock stands around both. A thread may be woken for nothing, and looks again.

use super::edge::Edge;
use super::probe::count_wake_up;
use super::time::Deadline;
use super::{AtomicUsize, Ordering, constructor};

/// The thread sleeps, or is about to.
pub(crate) const SLEEPS: usize = 1;

/// A word beside which one thread may sleep. As zero bytes it is 0, and nobody sleeps.
pub(crate) struct Bed {
    word: AtomicUsize,
    room: queue::Room,
}

impl Bed {
    constructor! {
        #[cfg_attr(not(exclusion_loom), allow(dead_code, reason = "beds are made of zero bytes"))]
        pub(crate) fn new() -> Self {
            Self { word: AtomicUsize::new(0), room: queue::Room::new() }
        }
    }

    /// The user's part of the word.
    #[inline]
    pub(crate) fn load(&self, edge: Edge) -> usize {
        self.word.load(edge.ordering()) & !SLEEPS
    }

    /// Changes the user's part from one value to another, if it is the one.
    pub(crate) fn replace(&self, from: usize, to: usize, ordering: Ordering) -> bool {
        // Relaxed, this and the failure: the compare-exchange settles it.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & !SLEEPS == from {
            let new = to | word & SLEEPS;
            match self.word.compare_exchange(word, new, ordering, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Sets the user's part, and wakes the sleeper.
    pub(crate) fn set_and_wake(&self, to: usize, edge: Edge) {
        if self.word.swap(to, edge.ordering()) & SLEEPS != 0 {
            self.room.wake(&self.word);
        }
    }

    /// Sets the user's part. Only for the thread that may sleep here.
    #[inline]
    pub(crate) fn set(&self, to: usize, edge: Edge) {
        // A swap, not a store: a late waker may change the bit at the same time.
        self.word.swap(to, edge.ordering());
    }

    /// Announces that we are about to sleep.
    pub(crate) fn lie_down(&self) {
        // Relaxed: what the user does next decides what a waker sees.
        self.word.fetch_or(SLEEPS, Ordering::Relaxed);
    }

    /// Does not sleep after all, or no longer.
    pub(crate) fn get_up(&self) {
        // Relaxed: our own bit.
        self.word.fetch_and(!SLEEPS, Ordering::Relaxed);
    }

    /// Sleeps until woken, or until then, unless that has been done since `lie_down`. Then gets up.
    #[cold]
    pub(crate) fn sleep(&self, deadline: Deadline) {
        self.room.sleep(&self.word, deadline);
        self.get_up();
    }

    /// Wakes the thread that sleeps here, if one does.
    #[inline]
    pub(crate) fn wake(&self) {
        // Relaxed: the callers have ordered themselves after what they changed.
        if self.word.load(Ordering::Relaxed) & SLEEPS != 0 {
            self.wake_sleeper();
        }
    }

    /// Whether a thread sleeps here, or is about to.
    pub(crate) fn is_slept_in(&self) -> bool {
        // Relaxed: a guess.
        self.word.load(Ordering::Relaxed) & SLEEPS != 0
    }

    #[cold]
    fn wake_sleeper(&self) {
        // Relaxed: the queue's lock orders the two, and what the sleeper looks at is ordered there.
        if self.word.fetch_and(!SLEEPS, Ordering::Relaxed) & SLEEPS != 0 {
            count_wake_up();
            self.room.wake(&self.word);
        }
    }
}

#[cfg(not(exclusion_loom))]
mod queue {
    use super::{AtomicUsize, Deadline, Ordering, SLEEPS};
    use crate::lock::sync::parking_lot_core::{self, DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN};

    /// The queues are parking_lot_core's, by address.
    pub(super) struct Room;

    impl Room {
        #[allow(dead_code, reason = "beds are made of zero bytes")]
        pub(super) const fn new() -> Self {
            Self
        }

        pub(super) fn sleep(&self, word: &AtomicUsize, deadline: Deadline) {
            // Relaxed: the lock of the queue is held, as it is by a waker that clears the bit
            // first.
            let sleeps = || word.load(Ordering::Relaxed) & SLEEPS != 0;
            // SAFETY: the address is one of our own words, where nobody else parks. No closure
            // panics or calls into the parking lot.
            unsafe {
                parking_lot_core::park(
                    core::ptr::from_ref(word).addr(),
                    sleeps,
                    || (),
                    |_, _| (),
                    DEFAULT_PARK_TOKEN,
                    deadline,
                );
            }
        }

        pub(super) fn wake(&self, word: &AtomicUsize) {
            // SAFETY: the address is one of our own words. The closure does not panic or call into
            // the parking lot.
            unsafe {
                parking_lot_core::unpark_one(core::ptr::from_ref(word).addr(), |_| {
                    DEFAULT_UNPARK_TOKEN
                });
            }
        }
    }
}

#[cfg(exclusion_loom)]
mod queue {
    use loom::sync::{Condvar, Mutex};

    use super::{AtomicUsize, Deadline, Ordering, SLEEPS};
    use crate::lock::sync::time::elapse_until;

    /// The lock of the queue, and what a sleeper listens to.
    pub(super) struct Room {
        lock: Mutex<()>,
        alarm: Condvar,
    }

    impl Room {
        pub(super) fn new() -> Self {
            Self { lock: Mutex::new(()), alarm: Condvar::new() }
        }

        pub(super) fn sleep(&self, word: &AtomicUsize, deadline: Deadline) {
            let mut room = self.lock.lock().unwrap();
            let sleeps = || word.load(Ordering::Relaxed) & SLEEPS != 0;
            if let Some(deadline) = deadline {
                // Others may come first, or time may pass.
                drop(room);
                loom::thread::yield_now();
                room = self.lock.lock().unwrap();
                if sleeps() {
                    elapse_until(deadline);
                }
            } else {
                while sleeps() {
                    room = self.alarm.wait(room).unwrap();
                }
            }
            drop(room);
        }

        pub(super) fn wake(&self, _: &AtomicUsize) {
            let _room = self.lock.lock().unwrap();
            self.alarm.notify_all();
        }
    }
}
