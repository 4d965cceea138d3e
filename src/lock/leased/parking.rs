//! Where the waiters of a drop-in lock sleep.
//!
//! The promise: a thread that parks at a place while `ready` is false is woken by the thread that
//! makes `ready` true, or sees it true and does not sleep. A thread that makes it true pays next to
//! nothing while nobody sleeps.
//!
//! | word | meaning |
//! |---|---|
//! | `parked` | how many threads sleep, or are about to |
//! | the meeting word | the lock's own word, which a leaver changes anyway |
//!
//! The sleeper counts itself in `parked` and then looks at `ready` once more. The waker makes
//! `ready` true and then reads `parked`. One of the two must see the other. There are two kinds of
//! waker, and the sleeper does between counting and looking what each of them needs.
//!
//! A *leaver* changes the meeting word with a read-modify-write between its two steps. The sleeper
//! makes a read-modify-write of the same word, so one of the two comes first:
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | the sleeper's `TELL`: Release | `leased::LEAVE_HEARS`: Acquire |
//! | E2 | `leased::LEAVE`: Release | the sleeper's read-modify-write, then `SLEEP` |
//!
//! - E1, if the sleeper comes first, carries `parked`: the leaver wakes it.
//! - E2, if the leaver comes first, carries what makes `ready` true.
//!
//! A contender *in the middle of an acquire* calls `wake`. It has no reason to change the lock's
//! word, and so executes a full fence between its two steps; or it has executed one anyway and
//! calls `wake_fenced`:
//!
//! | edge | the sleeper | the waker |
//! |---|---|---|
//! | E3 | `parked`, then `SLEEP`, then `ready` | the change, a full fence, then `parked` |
//!
//! - E3: at least one of the two sees the other. The fence is `WAKE`, or one of the raw lock.
//!
//! Between its last look and falling asleep the sleeper holds the lock of its queue, which the
//! waker takes too (`sync::lot`). Loom explores this file's promise: a lost wake-up is a deadlock.

use crate::lock::raw::{Place, Waiting, Withdrawn};
use crate::lock::sync::edge::edges;
use crate::lock::sync::lot::{Deadline, Lot, NOTHING, has_passed};
use crate::lock::sync::{AtomicUsize, Backoff, Ordering};

edges! { "parking":
    /// E1: a leaver that comes later knows that we are about to sleep.
    TELL = Release;
    /// E2, E3: we have counted ourselves before we look for the last time.
    SLEEP = Fence;
    /// E3: what we changed is out before we look for sleepers.
    WAKE = Fence;
}

/// What a waiter does before it sleeps.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    /// It sleeps at once.
    None,
    /// It spins. It does not yield: on a busy machine that gives away a whole time slice, and a
    /// sleeper that is woken runs sooner.
    Spins,
}

/// How a contender of a drop-in lock waits: it is patient for a while, then sleeps, until its
/// deadline.
pub(super) struct Parking<'a> {
    pub(super) lot: &'a Lot,
    pub(super) meeting: &'a AtomicUsize,
    pub(super) deadline: Deadline,
    pub(super) patience: Patience,
}

impl Waiting for Parking<'_> {
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        self.wait_for_gift(place, ready).map(|_| ())
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
            self.lot.wake_all(place.address());
        }
    }
}

impl Parking<'_> {
    /// Waits until `ready`, or until it is given something, and says what.
    pub(super) fn wait_for_gift(
        &self,
        place: Place,
        ready: impl Fn() -> bool,
    ) -> Result<usize, Withdrawn> {
        let backoff = Backoff::new();
        while !ready() {
            if has_passed(self.deadline) {
                return Err(Withdrawn);
            }
            if !self.is_tired(&backoff) {
                backoff.snooze();
                continue;
            }
            let gift = self.lot.park(place.address(), || self.meet(), &ready, self.deadline);
            if gift != NOTHING {
                return Ok(gift);
            }
        }
        Ok(NOTHING)
    }

    fn is_tired(&self, backoff: &Backoff) -> bool {
        match self.patience {
            Patience::None => true,
            Patience::Spins => backoff.has_spun(),
        }
    }

    /// What stands between counting ourselves and our last look.
    ///
    /// The compare-exchange puts back what it found. It must stay a read-modify-write all the same:
    /// a `fetch_or(0)` whose result nobody asks for is no instruction at all on x86-64.
    pub(super) fn meet(&self) {
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
