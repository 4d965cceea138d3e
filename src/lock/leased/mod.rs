//! Leased seats: a raw lock for any number of threads.
//!
//! A thread takes a seat per acquisition. One word says who is here, one bit per seat:
//!
//! | bits of `here` | meaning |
//! |---|---|
//! | none | nobody |
//! | `INSIDE` (bit 0) | a thread is inside |
//! | bit `s`, from 1 up | seat `s` of the raw lock is taken: its user enters, is inside or leaves |
//!
//! `INSIDE` is the lock. The raw lock is the line in front of it: it decides which waiter is next.
//! An acquisition goes through these rooms until it is inside:
//!
//! | room | who waits there | file |
//! |---|---|---|
//! | none | a thread that finds nobody goes inside: one compare-exchange | this one |
//! | the hall | a thread that finds all seats taken | `hall` |
//! | the line | a thread that has a seat, until it wins the raw lock | `raw` |
//! | the door | the winner, until the holder has left | this one |
//!
//! `BYPASS` is how many newcomers may go inside past the threads that have a seat, between two that
//! do so from a seat. With 0, none may. They are counted in `passed`, which only the holder writes.
//!
//! Invariants:
//! 1. A seat's bit is set by the thread that takes the seat, and cleared or given away by the
//!    thread that leaves it: a seat has one user.
//! 2. The holder has set `INSIDE`, from a word in which it was clear; or was given it by a thread
//!    that had set it.
//! 3. A newcomer sets `INSIDE` only if nobody has a seat, or fewer than `BYPASS` have passed. So
//!    among the threads that have a seat the raw lock's order of service is the order of service.
//! 4. A thread that sleeps in the hall is given a seat: see there.
//! 5. At most one thread has won the raw lock and not released it: there is one at the door.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE`: Release | `FIND_NOBODY`, `PASS`, `STEP_IN`: Acquire |
//! | E2 | `LEAVE`: Release | `TAKE_SEAT`: Acquire |
//! | E3 | the sleeper's `parking::TELL` | `LEAVE_HEARS`: Acquire |
//!
//! - E1 carries all critical sections before.
//! - E2 carries the seat's registers, as the user before left them.
//! - E3 carries that there is a sleeper to wake.
//!
//! All writes of `here` are read-modify-writes, so each continues the release sequences of all
//! before it. What a thread gives to a sleeper of the hall goes by the lock of the queue, which
//! carries E1 and E2 too.

mod hall;
mod lease;
#[cfg(exclusion_asm)]
mod machine_code;
pub(super) mod parking;

pub use lease::Lease;

use crate::lock::raw::{Attendance, Place, RawLock, Waiting, Withdrawn, fresh};
use crate::lock::sync::edge::{Edge, edges};
use crate::lock::sync::lot::{Deadline, Lot};
use crate::lock::sync::probe::Probe;
use crate::lock::sync::{AtomicUsize, Backoff, Ordering, constructor};
use lease::NO_SEAT;
use parking::{Parking, Patience};

const NOBODY: usize = 0;
const INSIDE: usize = 1;

edges! { "leased":
    /// E1: a thread that finds nobody here knows what everybody did.
    FIND_NOBODY = Acquire;
    /// E1: a thread that passes those that have a seat knows what everybody did.
    PASS = Acquire;
    /// E1: a thread that comes in from a seat knows what everybody did.
    STEP_IN = Acquire;
    /// E2: a thread that takes a seat writes its registers after the user before.
    TAKE_SEAT = Acquire;
    /// E1, E2, and E2 of `parking`: what we did is known to a thread that sees us gone.
    LEAVE = Release;
    /// E3: a leaver knows who went to sleep before.
    LEAVE_HEARS = Acquire;
}

/// The bit of a seat; `INSIDE` for `NO_SEAT`.
const fn bit(seat: usize) -> usize {
    1 << seat
}

/// A raw lock whose seats are leased: the [`RawMutex`](lock_api::RawMutex) behind the drop-in
/// types.
///
/// Any [`RawLock`] of at most `usize::BITS` seats will do, so this also makes a drop-in mutex of an
/// algorithm that has no type of its own here:
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::lock::Leased;
/// use exclusion::lock::raw::BlackWhiteBakery;
/// use exclusion::lock_api;
///
/// type BlackWhiteMutex<T> = lock_api::Mutex<Leased<BlackWhiteBakery<16>>, T>;
///
/// static TOTAL: BlackWhiteMutex<u64> = BlackWhiteMutex::new(0);
/// *TOTAL.lock() += 1;
/// # }
/// ```
///
/// # Fairness
/// At most `SEATS - 1` threads have a seat; the others wait in the hall for one. Among threads that
/// have a seat the raw lock decides. Between two of them at most `BYPASS` newcomers enter.
///
/// A thread that leaves a seat gives it to the thread that has slept longest in the hall. A
/// newcomer gets ahead only of a thread that is just falling asleep. With one seat there is none to
/// lease: each `unlock` gives the lock itself to the thread that has slept longest.
///
/// # Handing over
/// A thread waits, as far as this is concerned, once it has a seat or sleeps in the hall.
///
/// - After an `unlock_fair` no newcomer passes: the next thread inside is one that has a seat, or
///   with one seat, the one that has slept longest in the hall. Only with `BYPASS` above 0 is that
///   more than a plain `unlock` does.
/// - `bump` does nothing if nobody waits. Otherwise it is an `unlock_fair` and a `lock` that goes
///   behind the threads that wait. Each thread that sleeps in the hall is given a seat, or with
///   one seat the lock, before the caller is. Among threads that have a seat the raw lock decides:
///   in a bakery the caller comes after each one that has drawn its ticket.
///
/// So a `bump` lets another thread in first if one sleeps in the hall of a lock of one seat, or has
/// drawn its ticket in a bakery, and does not give up. Without `std` nobody sleeps, and neither
/// knows of the threads in the hall.
///
/// # When it is locked
/// `is_locked` says whether a `try_lock` would fail: a thread is inside, or threads have a seat and
/// no more newcomers may pass them. With `BYPASS` 0 that is the case as long as anybody is here.
///
/// # Unlocking
/// Unlocking still uses the lock after it is free, to see who sleeps. Safe code cannot tell. Code
/// that frees the memory of a lock because it has just acquired it must not do so before the last
/// holder's unlock has returned.
///
/// More seats than `usize` has bits do not compile.
pub struct Leased<L, const BYPASS: usize = 0> {
    here: AtomicUsize,
    passed: AtomicUsize,
    /// Where the winner of the raw lock sleeps until the holder has left.
    door: Lot,
    /// Where threads sleep that found all seats taken.
    hall: Lot,
    /// Where threads sleep that wait for their turn in the raw lock.
    line: Lot,
    lock: L,
    probe: Probe,
}

/// Where a newcomer got to.
enum Arrival {
    Inside(Lease),
    Seated(usize),
}

/// The seats whose bits are set.
struct Here<'a>(&'a AtomicUsize);

impl Attendance for Here<'_> {
    #[inline]
    fn seats(&self, _: usize) -> impl Iterator<Item = usize> {
        // Relaxed: the raw lock's fences order it, and `STEP_IN` carries the critical sections.
        let mut here = self.0.load(Ordering::Relaxed) & !INSIDE;
        core::iter::from_fn(move || {
            let seat = (here != NOBODY).then(|| here.trailing_zeros() as usize)?;
            here &= here - 1;
            Some(seat)
        })
    }
}

impl<L: RawLock, const BYPASS: usize> Leased<L, BYPASS> {
    /// The bits of all seats.
    const SEATS: usize = {
        assert!(L::SEATS <= usize::BITS as usize, "at most usize::BITS seats can be leased");
        (usize::MAX >> (usize::BITS as usize - L::SEATS)) & !INSIDE
    };

    constructor! {
        /// A lock that nobody holds.
        pub fn new() -> Self {
            // Refuses a number of seats that cannot be.
            const { _ = Self::SEATS };
            Self {
                here: AtomicUsize::new(NOBODY),
                passed: AtomicUsize::new(0),
                door: Lot::new(),
                hall: Lot::new(),
                line: Lot::new(),
                lock: fresh!(L),
                probe: Probe::new(L::SEATS),
            }
        }
    }

    #[inline]
    pub(crate) fn acquire(&self) -> Lease {
        match self.find_nobody() {
            Some(lease) => lease,
            None => self.acquire_slow(None).expect("a thread without a deadline does not give up"),
        }
    }

    /// Goes inside unless that means waiting.
    #[inline]
    pub(crate) fn try_acquire(&self) -> Option<Lease> {
        self.find_nobody().or_else(|| self.pass())
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn acquire_until(&self, deadline: Deadline) -> Option<Lease> {
        self.find_nobody().or_else(|| self.acquire_slow(deadline))
    }

    /// # Safety
    /// The lease is that of the acquisition that is inside.
    #[inline]
    pub(crate) unsafe fn release(&self, Lease { seat }: Lease) {
        self.probe.is_inside();
        if seat != NO_SEAT {
            // SAFETY: a thread that went inside from a seat has won the raw lock there.
            unsafe { self.release_raw(seat) };
        }
        self.leave(seat, INSIDE | bit(seat));
    }

    /// Unlocks so that the lock goes to a thread that waits, if there is one.
    ///
    /// # Safety
    /// As for `release`.
    #[inline]
    pub(crate) unsafe fn release_fairly(&self, lease: Lease) {
        if BYPASS > 0 && self.is_awaited(&lease) {
            self.passed.store(BYPASS, Ordering::Relaxed); // `LEAVE` publishes it
        }
        // SAFETY: the same contract.
        unsafe { self.release(lease) };
    }

    /// Whether a `try_acquire` would fail.
    #[inline]
    pub(crate) fn is_locked(&self) -> bool {
        // Relaxed: a snapshot.
        !self.may_enter(self.here.load(Ordering::Relaxed))
    }

    /// Whether anybody waits while `lease` is inside.
    #[inline]
    pub(crate) fn is_awaited(&self, lease: &Lease) -> bool {
        // Relaxed: a snapshot.
        self.here.load(Ordering::Relaxed) != INSIDE | bit(lease.seat) || !self.hall.is_empty()
    }

    /// Goes inside if nobody is here.
    #[inline]
    fn find_nobody(&self) -> Option<Lease> {
        let entered = self.set(NOBODY, INSIDE, FIND_NOBODY).is_ok();
        entered.then(|| self.lease(NO_SEAT))
    }

    /// Whether a newcomer need not wait. Relaxed: inside we look again.
    #[inline]
    fn may_enter(&self, here: usize) -> bool {
        here == NOBODY || here & INSIDE == NOBODY && self.passed.load(Ordering::Relaxed) < BYPASS
    }

    /// Goes inside if nobody is here, or past the threads that have a seat if few enough have done
    /// so since one of those went.
    fn pass(&self) -> Option<Lease> {
        // Relaxed: the compare-exchange settles it.
        let mut here = self.here.load(Ordering::Relaxed);
        while self.may_enter(here) {
            let edge = if here == NOBODY { FIND_NOBODY } else { PASS };
            match self.set(here, INSIDE, edge) {
                Ok(()) if here == NOBODY => return Some(self.lease(NO_SEAT)),
                Ok(()) => return self.count_bypass(),
                Err(now) => here = now,
            }
        }
        None
    }

    /// Counts a newcomer that has just passed, or sends it out again: more may have passed since it
    /// looked.
    fn count_bypass(&self) -> Option<Lease> {
        let passed = self.passed.load(Ordering::Relaxed);
        if passed >= BYPASS {
            self.leave(NO_SEAT, INSIDE);
            return None;
        }
        self.passed.store(passed + 1, Ordering::Relaxed);
        self.probe.has_bypassed(BYPASS);
        Some(self.lease(NO_SEAT))
    }

    /// Sets a bit, if the word is still as it was seen. Otherwise says what it is.
    #[inline]
    fn set(&self, here: usize, bit: usize, edge: Edge) -> Result<(), usize> {
        // Relaxed failure: we look again, or give up.
        let set = self.here.compare_exchange(here, here | bit, edge.ordering(), Ordering::Relaxed);
        set.map(|_| ())
    }

    #[cold]
    fn acquire_slow(&self, deadline: Deadline) -> Option<Lease> {
        if let Some(lease) = self.linger() {
            return Some(lease);
        }
        let seat = match self.take_seat(deadline)? {
            Arrival::Inside(lease) => return Some(lease),
            Arrival::Seated(seat) => seat,
        };
        let in_line = self.parking(&self.line, deadline);
        // SAFETY: by invariant 1 the seat is ours alone, and E2 orders us after its last user.
        // `here` is written as `Attendance` asks.
        if unsafe { self.lock.acquire_among(seat, &Here(&self.here), &in_line) }.is_err() {
            self.leave(seat, bit(seat));
            return None;
        }
        self.probe.has_won();
        if self.step_in(&self.parking(&self.door, deadline)).is_err() {
            // SAFETY: we have just won it.
            unsafe { self.release_raw(seat) };
            self.leave(seat, bit(seat));
            return None;
        }
        Some(self.lease(seat))
    }

    /// Hands the raw lock on.
    ///
    /// # Safety
    /// The caller has won it from this seat.
    #[inline]
    unsafe fn release_raw(&self, seat: usize) {
        self.probe.hands_on();
        // SAFETY: the same contract.
        unsafe { self.lock.release(seat) };
    }

    /// Spins at the door for a moment, where newcomers may pass.
    fn linger(&self) -> Option<Lease> {
        if BYPASS == 0 {
            return None;
        }
        let backoff = Backoff::new();
        loop {
            if let Some(lease) = self.pass() {
                return Some(lease);
            }
            if backoff.has_spun() || self.passed.load(Ordering::Relaxed) >= BYPASS {
                return None;
            }
            backoff.snooze();
        }
    }

    /// Waits at the door and goes inside, as the winner of the raw lock.
    fn step_in(&self, waiting: &Parking<'_>) -> Result<(), Withdrawn> {
        loop {
            // Relaxed: setting the bit settles it.
            let is_free = || self.here.load(Ordering::Relaxed) & INSIDE == NOBODY;
            waiting.wait(Place::of(&self.door), is_free)?;
            if self.here.fetch_or(INSIDE, STEP_IN.ordering()) & INSIDE == NOBODY {
                break;
            }
        }
        self.probe.has_come_from_seat();
        if BYPASS > 0 {
            self.passed.store(0, Ordering::Relaxed); // `LEAVE` publishes it
        }
        Ok(())
    }

    /// The lease of a thread that has just gone inside.
    #[inline]
    fn lease(&self, seat: usize) -> Lease {
        self.probe.is_inside();
        Lease { seat }
    }

    /// Clears our bits, or gives them to a thread in the hall, and wakes the threads that wait for
    /// that.
    #[inline]
    fn leave(&self, seat: usize, mut bits: usize) {
        if seat != NO_SEAT {
            self.probe.is_seated(seat);
        }
        if (seat != NO_SEAT || Self::SEATS == NOBODY) && !self.hall.is_empty() {
            bits &= !self.give_away(seat);
        }
        // Also if nothing is left to clear, for E3. The value before is not asked for: without
        // that, this is one instruction on x86-64.
        self.here.fetch_and(!bits, LEAVE_HEARS.with(LEAVE));
        if bits & INSIDE != NOBODY && !self.door.is_empty() {
            self.wake_door();
        }
        if !self.hall.is_empty() {
            self.serve_hall();
        }
        if seat != NO_SEAT && !self.line.is_empty() {
            self.wake_line(seat);
        }
    }

    #[cold]
    fn wake_door(&self) {
        self.door.wake_all(Place::of(&self.door).address());
    }

    #[cold]
    fn wake_line(&self, seat: usize) {
        self.lock.places(seat, |place| self.line.wake_all(place.address()));
    }

    fn parking<'a>(&'a self, lot: &'a Lot, deadline: Deadline) -> Parking<'a> {
        Parking { lot, meeting: &self.here, deadline, patience: Patience::Spins }
    }
}

impl<L: RawLock, const BYPASS: usize> Default for Leased<L, BYPASS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L, const BYPASS: usize> core::fmt::Debug for Leased<L, BYPASS> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let here = self.here.load(Ordering::Relaxed);
        f.debug_struct("Leased")
            .field("here", &format_args!("{here:#b}"))
            .field("asleep_at_door", &self.door.count())
            .field("asleep_in_hall", &self.hall.sleepers(Place::of(&self.hall).address()))
            .field("asleep_in_line", &self.line.count())
            .finish_non_exhaustive()
    }
}
