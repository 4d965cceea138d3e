//! Where the waiters of a drop-in lock sleep.
//!
//! The promise: a thread that parks at a place while `ready` is false is woken by the thread that makes `ready`
//! true, or sees it true and does not sleep. A thread that makes it true pays next to nothing while nobody sleeps.
//!
//! | word | meaning |
//! |---|---|
//! | `parked` | how many threads sleep, or are about to |
//! | the meeting word | the lock's own word, which a leaver changes anyway |
//!
//! The sleeper counts itself in `parked` and then looks at `ready` once more. The waker makes `ready` true and
//! then reads `parked`. One of the two must see the other. There are two kinds of waker, and the sleeper does
//! between counting and looking what each of them needs.
//!
//! A *leaver* changes the meeting word with a read-modify-write between its two steps. The sleeper makes a
//! read-modify-write of the same word, so one of the two comes first:
//!
//! | edge | write | read | carries |
//! |---|---|---|---|
//! | E1 | the sleeper's `TELL`: Release | `leased::LEAVE_HEARS`: Acquire | sleeper first: `parked`, so the leaver wakes it |
//! | E2 | `leased::LEAVE`: Release | the sleeper's read-modify-write, then `SLEEP` | leaver first: what makes `ready` true |
//!
//! A contender *in the middle of an acquire* calls `wake`. It has no reason to change the lock's word, and so
//! executes a full fence between its two steps; or it has executed one anyway and calls `wake_fenced`:
//!
//! | edge | write | read | carries |
//! |---|---|---|---|
//! | E3 | `parked`, then `SLEEP`, then `ready` | the change, then `WAKE` or a fence of the raw lock, then `parked` | at least one of the two sees the other |
//!
//! Between its last look and falling asleep the sleeper holds the lock of its queue, which the
//! waker takes too. The queues are parking_lot_core's. Under loom they are a mutex and a condition
//! variable of loom's, so that loom explores this file's promise: a lost wake-up is a deadlock.
//! Without `std` nobody sleeps.

use crate::lock::raw::{Place, Waiting, Withdrawn};
use crate::lock::sync::edge::edges;
use crate::lock::sync::{AtomicUsize, Backoff, Ordering};

edges! { "parking":
    /// E1: a leaver that comes later knows that we are about to sleep.
    TELL = Release;
    /// E2, E3: we have counted ourselves before we look for the last time.
    SLEEP = Fence;
    /// E3: what we changed is out before we look for sleepers.
    WAKE = Fence;
}

pub(crate) use queues::{Deadline, Lot};

/// How a contender of a drop-in lock waits: it spins, yields, then sleeps, until its deadline.
pub(crate) struct Parking<'a> {
    pub(crate) lot: &'a Lot,
    pub(crate) meeting: &'a AtomicUsize,
    pub(crate) deadline: Deadline,
    /// Whether to yield for a while before sleeping.
    pub(crate) yields: bool,
}

impl Waiting for Parking<'_> {
    fn wait(&self, place: Option<Place>, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let backoff = Backoff::new();
        while !ready() {
            if queues::has_passed(self.deadline) {
                return Err(Withdrawn);
            }
            match place {
                Some(place) if self.is_tired(&backoff) => {
                    self.lot.park(place, || self.meet(), &ready, self.deadline);
                }
                _ => backoff.snooze(),
            }
        }
        Ok(())
    }

    fn wake(&self, place: Place) {
        if Lot::HAS_SLEEPERS {
            WAKE.fence();
            self.wake_fenced(place);
        }
    }

    #[inline]
    fn wake_fenced(&self, place: Place) {
        if !self.lot.is_empty() {
            self.lot.unpark_all(place);
        }
    }
}

impl Parking<'_> {
    fn is_tired(&self, backoff: &Backoff) -> bool {
        if self.yields { backoff.has_yielded() } else { backoff.has_spun() }
    }

    /// What stands between counting ourselves and our last look.
    ///
    /// The compare-exchange puts back what it found. It must stay a read-modify-write all the same: a
    /// `fetch_or(0)` whose result nobody asks for is no instruction at all on x86-64.
    fn meet(&self) {
        // Relaxed, this and the failure: the word is only put back.
        let mut word = self.meeting.load(Ordering::Relaxed);
        while let Err(now) =
            self.meeting.compare_exchange_weak(word, word, TELL.ordering(), Ordering::Relaxed)
        {
            word = now;
        }
        SLEEP.fence();
    }
}

#[cfg(all(feature = "std", not(exclusion_loom)))]
mod queues {
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Instant;

    use parking_lot_core as core_lot;

    use super::Place;

    pub(crate) type Deadline = Option<Instant>;

    pub(super) fn has_passed(deadline: Deadline) -> bool {
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    pub(crate) struct Lot {
        parked: AtomicUsize,
    }

    impl Lot {
        /// Whether anybody ever sleeps.
        pub(super) const HAS_SLEEPERS: bool = true;

        pub(crate) const fn new() -> Self {
            Self { parked: AtomicUsize::new(0) }
        }

        /// How many sleep. To be asked after a change of the meeting word.
        #[inline]
        pub(crate) fn count(&self) -> usize {
            self.parked.load(Relaxed)
        }

        #[inline]
        pub(crate) fn is_empty(&self) -> bool {
            self.count() == 0
        }

        /// Sleeps until woken at `place`, or until the deadline, unless `ready`. May wake for no reason.
        #[cold]
        pub(super) fn park(
            &self,
            place: Place,
            meet: impl FnOnce(),
            ready: impl Fn() -> bool,
            deadline: Deadline,
        ) {
            self.parked.fetch_add(1, Relaxed);
            meet();
            // SAFETY: the place is an address inside this lock, which outlives the call; neither
            // closure panics or calls into the parking lot.
            unsafe {
                core_lot::park(
                    place.address(),
                    || !ready(),
                    || (),
                    |_, _| (),
                    core_lot::DEFAULT_PARK_TOKEN,
                    deadline,
                );
            }
            self.parked.fetch_sub(1, Relaxed);
        }

        pub(crate) fn unpark_all(&self, place: Place) {
            // SAFETY: the place is an address inside this lock.
            unsafe { core_lot::unpark_all(place.address(), core_lot::DEFAULT_UNPARK_TOKEN) };
        }

        pub(crate) fn unpark_one(&self, place: Place) {
            // SAFETY: the place is an address inside this lock, and the closure does not panic.
            unsafe { core_lot::unpark_one(place.address(), |_| core_lot::DEFAULT_UNPARK_TOKEN) };
        }
    }
}

#[cfg(all(feature = "std", exclusion_loom))]
mod queues {
    use core::sync::atomic::Ordering::Relaxed;
    use std::time::Instant;
    use std::vec::Vec;

    use loom::sync::atomic::AtomicUsize;
    use loom::sync::{Condvar, Mutex};

    use super::Place;

    pub(crate) type Deadline = Option<Instant>;

    /// There is no time under loom: a deadline passes at the first wait, wherever that is.
    pub(super) fn has_passed(deadline: Deadline) -> bool {
        deadline.is_some()
    }

    pub(crate) struct Lot {
        parked: AtomicUsize,
        beds: Mutex<Beds>,
        alarm: Condvar,
    }

    #[derive(Default)]
    struct Beds {
        next: usize,
        taken: Vec<(Place, usize)>,
    }

    impl Lot {
        pub(super) const HAS_SLEEPERS: bool = true;

        pub(crate) fn new() -> Self {
            Self {
                parked: AtomicUsize::new(0),
                beds: Mutex::new(Beds::default()),
                alarm: Condvar::new(),
            }
        }

        pub(crate) fn count(&self) -> usize {
            self.parked.load(Relaxed)
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.count() == 0
        }

        pub(super) fn park(
            &self,
            place: Place,
            meet: impl FnOnce(),
            ready: impl Fn() -> bool,
            _: Deadline,
        ) {
            self.parked.fetch_add(1, Relaxed);
            meet();
            let mut beds = self.beds.lock().unwrap();
            if !ready() {
                let mine = (place, beds.next);
                beds.next += 1;
                beds.taken.push(mine);
                while beds.taken.contains(&mine) {
                    beds = self.alarm.wait(beds).unwrap();
                }
            }
            drop(beds);
            self.parked.fetch_sub(1, Relaxed);
        }

        pub(crate) fn unpark_all(&self, place: Place) {
            self.unpark(place, usize::MAX);
        }

        pub(crate) fn unpark_one(&self, place: Place) {
            self.unpark(place, 1);
        }

        fn unpark(&self, place: Place, mut most: usize) {
            let mut beds = self.beds.lock().unwrap();
            beds.taken.retain(|bed| {
                let stays = bed.0 != place || most == 0;
                if !stays {
                    most -= 1;
                }
                stays
            });
            self.alarm.notify_all();
        }
    }
}

#[cfg(not(feature = "std"))]
mod queues {
    use super::Place;

    pub(crate) type Deadline = Option<core::convert::Infallible>;

    pub(super) fn has_passed(_: Deadline) -> bool {
        false
    }

    pub(crate) struct Lot;

    impl Lot {
        pub(super) const HAS_SLEEPERS: bool = false;

        pub(crate) const fn new() -> Self {
            Self
        }

        pub(crate) fn count(&self) -> usize {
            0
        }

        #[inline]
        pub(crate) fn is_empty(&self) -> bool {
            true
        }

        /// Looks again soon instead.
        pub(super) fn park(&self, _: Place, _: impl FnOnce(), _: impl Fn() -> bool, _: Deadline) {
            core::hint::spin_loop();
        }

        pub(crate) fn unpark_all(&self, _: Place) {}

        pub(crate) fn unpark_one(&self, _: Place) {}
    }
}
