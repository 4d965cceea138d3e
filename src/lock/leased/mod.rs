//! Leased seats: a raw lock for any number of threads.
//!
//! A thread takes a seat for each acquisition. One word says who is here, a bit a seat:
//!
//! | bits of `here` | meaning |
//! |---|---|
//! | none | nobody |
//! | `INSIDE` (bit 0) | somebody is inside |
//! | bit `s`, from 1 up | somebody sits on seat `s` of the raw lock: entering, inside or leaving |
//!
//! `INSIDE` is the lock, and the raw lock is the line in front of it: it decides who is next.
//!
//! Whoever finds nobody goes inside: one compare-exchange, however many seats there are. Everybody else
//! takes a seat, contends by the raw lock among those who did, and when it has won there, waits at the
//! door until whoever is inside has left. Whoever finds all seats taken waits for one.
//!
//! `BYPASS` is how many newcomers may go inside past those who sit, between two who do so from a seat.
//! With 0, nobody may. They are counted in `passed`, which is written by whoever is inside.
//!
//! Invariants:
//! 1. A bit is set by whoever takes the seat and cleared by whoever leaves it: a seat has one user.
//! 2. Who is inside has set `INSIDE`, from a word in which it was clear.
//! 3. A newcomer sets `INSIDE` only if nobody sits, or fewer than `BYPASS` have passed. So among those who
//!    sit the raw lock's order of service is the order of service.
//! 4. Who sleeps in the hall, for want of a seat, is woken: each leaving that makes room wakes one, who
//!    wakes the next if there is room for it too.
//! 5. At most one thread has won the raw lock and not released it: there is one at the door.
//!
//! | edge | write | read | carries |
//! |---|---|---|---|
//! | E1 | `LEAVE`: Release | `FIND_NOBODY`, `PASS`, `STEP_IN`: Acquire | all critical sections before |
//! | E2 | `LEAVE`: Release | `TAKE_SEAT`: Acquire | the seat's registers, as the user before left them |
//! | E3 | the sleeper's `parking::TELL` | `LEAVE_HEARS`: Acquire | that there is a sleeper to wake |
//!
//! All writes of `here` are read-modify-writes, so each continues the release sequences of all
//! before it.

mod lease;
pub(super) mod parking;

pub use lease::Lease;

use crate::lock::raw::{Attendance, Place, RawLock, Waiting, Withdrawn, fresh};
use crate::lock::sync::edge::{Edge, edges};
use crate::lock::sync::lot::{Deadline, Lot, NOTHING};
use crate::lock::sync::probe::Probe;
use crate::lock::sync::{AtomicUsize, Backoff, Ordering, constructor};
use lease::NO_SEAT;
use parking::Parking;

const NOBODY: usize = 0;
const INSIDE: usize = 1;

edges! { "leased":
    /// E1: who finds nobody here knows what everybody did.
    FIND_NOBODY = Acquire;
    /// E1: who passes those that sit knows what everybody did.
    PASS = Acquire;
    /// E1: who comes in from a seat knows what everybody did.
    STEP_IN = Acquire;
    /// E2: who takes a seat writes its registers after whoever had it before.
    TAKE_SEAT = Acquire;
    /// E1, E2, and E2 of the lot: what we did is known to whoever sees us gone.
    LEAVE = Release;
    /// E3: who leaves knows who went to sleep before.
    LEAVE_HEARS = Acquire;
}

/// The bit of a seat; `INSIDE` for `NO_SEAT`.
const fn bit(seat: usize) -> usize {
    1 << seat
}

/// A raw lock whose seats are leased: the [`lock_api::RawMutex`] behind the drop-in types.
///
/// Any [`RawLock`] of at most `usize::BITS` seats will do, so this also makes a drop-in mutex of an
/// algorithm that has no type of its own here:
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::lock::Leased;
/// use exclusion::lock::raw::BlackWhiteBakery;
///
/// type BlackWhiteMutex<T> = lock_api::Mutex<Leased<BlackWhiteBakery<16>>, T>;
///
/// static TOTAL: BlackWhiteMutex<u64> = BlackWhiteMutex::new(0);
/// *TOTAL.lock() += 1;
/// # }
/// ```
///
/// # Fairness
/// That of the raw lock among those in line; between two of them at most `BYPASS` newcomers enter, and
/// none after an `unlock_fair` or `bump`. Who finds all seats taken waits in the hall and is not in the line yet: whoever comes when a seat falls
/// free may be quicker. With one seat there is no line at all.
///
/// # Unlocking
/// Unlocking still uses the lock after it is free, to see who sleeps. Safe code cannot tell; code
/// that frees the memory of a lock because it has just acquired it must not, before the last owner's unlock
/// has returned.
///
/// More seats than `usize` has bits do not compile.
pub struct Leased<L, const BYPASS: usize = 0> {
    here: AtomicUsize,
    passed: AtomicUsize,
    /// Where the winner of the raw lock sleeps until whoever is inside has left.
    door: Lot,
    /// Where those sleep who found all seats taken.
    hall: Lot,
    /// Where those sleep who wait for their turn in the raw lock.
    line: Lot,
    lock: L,
    probe: Probe,
}

/// How a newcomer got on.
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
            None => self.acquire_slow(None).expect("who has no deadline does not give up"),
        }
    }

    /// Goes inside if nobody has to be waited for.
    #[inline]
    pub(crate) fn try_acquire(&self) -> Option<Lease> {
        self.find_nobody().or_else(|| self.pass())
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn acquire_until(&self, deadline: std::time::Instant) -> Option<Lease> {
        self.find_nobody().or_else(|| self.acquire_slow(Some(deadline)))
    }

    /// # Safety
    /// The lease is that of the acquisition that is inside.
    #[inline]
    pub(crate) unsafe fn release(&self, Lease { seat }: Lease) {
        self.probe.is_inside();
        if seat != NO_SEAT {
            // SAFETY: who went inside from a seat has won the raw lock there.
            unsafe { self.release_raw(seat) };
        }
        self.leave(seat, INSIDE | bit(seat));
    }

    /// Unlocks so that nobody passes whoever waits at the door.
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

    /// Whether anybody is inside.
    #[inline]
    pub(crate) fn is_occupied(&self) -> bool {
        // Relaxed: a snapshot.
        self.here.load(Ordering::Relaxed) & INSIDE != NOBODY
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
        let entered = self.enter_from(NOBODY, FIND_NOBODY);
        entered.then(|| self.lease(NO_SEAT))
    }

    /// Goes inside past those who sit, if few enough have done so since one of them went.
    fn pass(&self) -> Option<Lease> {
        // Relaxed, both: the compare-exchange settles the one, and inside we look again at the other.
        let here = self.here.load(Ordering::Relaxed);
        if here == NOBODY {
            return self.find_nobody();
        }
        if here & INSIDE != NOBODY || self.passed.load(Ordering::Relaxed) >= BYPASS {
            return None;
        }
        if !self.enter_from(here, PASS) {
            return None;
        }
        let passed = self.passed.load(Ordering::Relaxed);
        if passed >= BYPASS {
            self.leave(NO_SEAT, INSIDE);
            return None;
        }
        self.passed.store(passed + 1, Ordering::Relaxed);
        Some(self.lease(NO_SEAT))
    }

    #[inline]
    fn enter_from(&self, here: usize, edge: Edge) -> bool {
        self.here
            // Relaxed failure: nothing is learned from it.
            .compare_exchange(here, here | INSIDE, edge.ordering(), Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn acquire_slow(&self, deadline: Deadline) -> Option<Lease> {
        if let Some(lease) = self.linger() {
            return Some(lease);
        }
        let seat = match self.take_seat(&self.parking(&self.hall, deadline))? {
            Arrival::Inside(lease) => return Some(lease),
            Arrival::Seated(seat) => seat,
        };
        let in_line = self.parking(&self.line, deadline);
        // SAFETY: by invariant 1 the seat is ours alone, and E2 orders us after its last user. `here` is
        // written as `Attendance` asks.
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

    /// Waits for a seat and takes it, or goes inside if nobody is here.
    fn take_seat(&self, waiting: &Parking<'_>) -> Option<Arrival> {
        loop {
            // Relaxed: the compare-exchange settles it.
            let here = self.here.load(Ordering::Relaxed);
            if here == NOBODY {
                let Some(lease) = self.find_nobody() else { continue };
                self.wake_next_in_hall();
                return Some(Arrival::Inside(lease));
            }
            let Some(seat) = Self::free_seat(here) else {
                waiting.wait(Place::of(&self.hall), || self.has_room()).ok()?;
                continue;
            };
            let now = here | bit(seat);
            let taken = self.here.compare_exchange(
                here,
                now,
                TAKE_SEAT.ordering(),
                Ordering::Relaxed, // we look again
            );
            if taken.is_ok() {
                self.probe.is_seated(seat);
                self.wake_next_in_hall();
                return Some(Arrival::Seated(seat));
            }
        }
    }

    /// A leaving wakes one; where it made room for more, they wake each other.
    #[inline]
    fn wake_next_in_hall(&self) {
        if !self.hall.is_empty() {
            self.wake_hall();
        }
    }

    #[inline]
    fn free_seat(here: usize) -> Option<usize> {
        let free = Self::SEATS & !here;
        (free != NOBODY).then(|| free.trailing_zeros() as usize)
    }

    /// Whether a newcomer can sit down, or go inside.
    fn has_room(&self) -> bool {
        // Relaxed: taking the seat settles it.
        let here = self.here.load(Ordering::Relaxed);
        here == NOBODY || Self::free_seat(here).is_some()
    }

    /// Waits at the door and goes inside, as the winner of the raw lock.
    fn step_in(&self, waiting: &Parking<'_>) -> Result<(), Withdrawn> {
        loop {
            // Relaxed: setting the bit settles it.
            waiting.wait(Place::of(&self.door), || !self.is_occupied())?;
            if self.here.fetch_or(INSIDE, STEP_IN.ordering()) & INSIDE == NOBODY {
                break;
            }
        }
        if BYPASS > 0 {
            self.passed.store(0, Ordering::Relaxed); // `LEAVE` publishes it
        }
        Ok(())
    }

    /// The lease of one who has just gone inside.
    #[inline]
    fn lease(&self, seat: usize) -> Lease {
        self.probe.is_inside();
        Lease { seat }
    }

    /// Clears our bits, and wakes whoever waits for that.
    #[inline]
    fn leave(&self, seat: usize, bits: usize) {
        if seat != NO_SEAT {
            self.probe.is_seated(seat);
        }
        // The value before is not asked for: without that, this is one instruction on x86-64.
        self.here.fetch_and(!bits, LEAVE_HEARS.with(LEAVE));
        if bits & INSIDE != NOBODY && !self.door.is_empty() {
            self.wake_door();
        }
        self.wake_next_in_hall();
        if seat != NO_SEAT && !self.line.is_empty() {
            self.wake_line(seat);
        }
    }

    #[cold]
    fn wake_door(&self) {
        self.door.wake_all(Place::of(&self.door).address());
    }

    /// If there is room for one.
    #[cold]
    fn wake_hall(&self) {
        if self.has_room() {
            self.hall.give(Place::of(&self.hall).address(), NOTHING);
        }
    }

    #[cold]
    fn wake_line(&self, seat: usize) {
        self.lock.places(seat, |place| self.line.wake_all(place.address()));
    }

    fn parking<'a>(&'a self, lot: &'a Lot, deadline: Deadline) -> Parking<'a> {
        // Who may be passed need not be quick, and a sleeper that is woken runs sooner than one that yields.
        Parking { lot, meeting: &self.here, deadline, yields: BYPASS == 0 }
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
            .field("asleep_in_hall", &self.hall.count())
            .field("asleep_in_line", &self.line.count())
            .finish_non_exhaustive()
    }
}
