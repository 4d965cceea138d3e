//! Leased seats: a raw lock for any number of threads.
//!
//! A thread takes a seat for each acquisition. One word says which seats are taken, a bit a seat:
//!
//! | bits of `taken` | meaning |
//! |---|---|
//! | none | nobody is here |
//! | `EXPRESS` (bit 0) | somebody found nobody here, and is inside without further ado |
//! | bit `s`, from 1 up | somebody sits on seat `s` of the raw lock: entering, inside or leaving |
//!
//! Whoever finds nobody takes the express seat: one compare-exchange, however many seats there are.
//! Everybody else takes another seat, contends by the raw lock among those who did, and when it has
//! won there, waits until the express seat is empty. Whoever finds all seats taken waits for one.
//!
//! Invariants:
//! 1. A bit is set by whoever takes the seat and cleared by whoever leaves it: a seat has one user.
//! 2. `EXPRESS` is set only when no bit is. So once a thread sits, nobody overtakes it by express,
//!    and the raw lock's order of service is the order of service.
//! 3. Who is inside has the express seat, or has won the raw lock and seen the express seat empty.
//! 4. Who sleeps for want of a seat has counted itself in the lot, and each leaving after that
//!    wakes one; the leaving that empties the room is one of them.
//!
//! | edge | write | read | carries |
//! |---|---|---|---|
//! | E1 | `LEAVE`: Release | `FIND_EMPTY`: Acquire | all critical sections before |
//! | E2 | `LEAVE`: Release | `TAKE_SEAT`: Acquire | the seat's registers, as the user before left them |
//! | E3 | `LEAVE`: Release | `SEE_EXPRESS_GONE`: Acquire | the critical section of the express seat |
//! | E4 | the sleeper's `lot::TELL` | `LEAVE_HEARS`: Acquire | that there is a sleeper to wake |
//!
//! All writes of `taken` are read-modify-writes, so each continues the release sequences of all
//! before it.

use crate::edge::{Edge, edges};
use crate::lot::{Deadline, Lot, Parking};
use crate::primitive::{AtomicUsize, Ordering, Witness};
use crate::raw::{Place, RawLock, Waiting};

const NOBODY: usize = 0;
const EXPRESS: usize = 0;

edges! { "seat":
    /// E1: who finds nobody here knows what everybody did.
    FIND_EMPTY = Acquire;
    /// E2: who takes a seat writes its registers after whoever had it before.
    TAKE_SEAT = Acquire;
    /// E3: who follows the express seat knows what was done there.
    SEE_EXPRESS_GONE = Acquire;
    /// E1, E2, E3, and E2 of the lot: what we did is known to whoever sees us gone.
    LEAVE = Release;
    /// E4: who leaves knows who went to sleep before.
    LEAVE_HEARS = Acquire;
}

const fn bit(seat: usize) -> usize {
    1 << seat
}

/// A raw lock whose seats are leased: the [`lock_api::RawMutex`] behind the drop-in types.
///
/// Any [`RawLock`] of at most `usize::BITS` seats will do, so this also makes a drop-in mutex of an
/// algorithm that has no type of its own here:
///
/// ```
/// # #[cfg(not(loom))] {
/// use exclusion::Leased;
/// use exclusion::raw::BlackWhiteBakery;
///
/// type BlackWhiteMutex<T> = lock_api::Mutex<Leased<BlackWhiteBakery<16>>, T>;
///
/// static TOTAL: BlackWhiteMutex<u64> = BlackWhiteMutex::new(0);
/// *TOTAL.lock() += 1;
/// # }
/// ```
///
/// # Fairness
/// That of the raw lock among those who have a seat. Who waits for a seat is not in the line yet.
///
/// # Panics
/// More seats than `usize` has bits do not compile.
pub struct Leased<L> {
    taken: AtomicUsize,
    lot: Lot,
    lock: L,
    inside: Witness,
    #[cfg(loom)]
    seats: std::vec::Vec<Witness>,
}

/// The seat of an acquisition; the state of a guard. It may be sent to another thread.
#[derive(Debug)]
pub struct Lease {
    seat: usize,
}

impl Lease {
    /// # Safety
    /// One of the two is not used again.
    pub(crate) unsafe fn duplicate(&self) -> Self {
        Self { seat: self.seat }
    }
}

impl<L: RawLock> Leased<L> {
    const ALL: usize = {
        assert!(L::SEATS <= usize::BITS as usize, "at most usize::BITS seats can be leased");
        usize::MAX >> (usize::BITS as usize - L::SEATS)
    };

    /// A lock that nobody holds.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        const { assert!(Self::ALL != NOBODY) };
        Self {
            taken: AtomicUsize::new(NOBODY),
            lot: Lot::new(),
            lock: L::UNLOCKED,
            inside: Witness::new(),
        }
    }

    /// A lock that nobody holds.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            taken: AtomicUsize::new(NOBODY),
            lot: Lot::new(),
            lock: L::unlocked(),
            inside: Witness::new(),
            seats: (0..L::SEATS).map(|_| Witness::new()).collect(),
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Lease {
        match self.try_lock() {
            Some(lease) => lease,
            None => self.lock_slow(None).expect("who has no deadline does not give up"),
        }
    }

    /// Takes the lock if nobody is here. Who waits for it is here too, so this overtakes nobody.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Lease> {
        let empty = self.taken.compare_exchange(
            NOBODY,
            bit(EXPRESS),
            FIND_EMPTY.ordering(),
            Ordering::Relaxed, // nothing is learned from a room that is not empty
        );
        empty.is_ok().then(|| self.enter(EXPRESS))
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn try_lock_until(&self, deadline: std::time::Instant) -> Option<Lease> {
        self.try_lock().or_else(|| self.lock_slow(Some(deadline)))
    }

    /// # Safety
    /// The lease is that of the acquisition that is inside.
    #[inline]
    pub(crate) unsafe fn unlock(&self, Lease { seat }: Lease) {
        self.inside.touch();
        if seat != EXPRESS {
            // SAFETY: by invariant 3 the seat has won the raw lock.
            unsafe { self.lock.release(seat) };
        }
        self.leave(seat);
    }

    /// Whether anybody is inside, or on its way in or out.
    #[inline]
    pub(crate) fn is_locked(&self) -> bool {
        // Relaxed: a snapshot.
        self.taken.load(Ordering::Relaxed) != NOBODY
    }

    /// Whether anybody waits while `lease` is inside.
    #[inline]
    pub(crate) fn is_awaited(&self, lease: &Lease) -> bool {
        // Relaxed: a snapshot.
        self.taken.load(Ordering::Relaxed) != bit(lease.seat) || !self.lot.is_empty()
    }

    #[cold]
    fn lock_slow(&self, deadline: Deadline) -> Option<Lease> {
        let waiting = Parking { lot: &self.lot, meeting: &self.taken, deadline };
        let seat = self.take_seat(&waiting)?;
        if seat == EXPRESS {
            return Some(self.enter(EXPRESS));
        }
        // SAFETY: by invariant 1 the seat is ours alone, and E2 orders us after its last user.
        if unsafe { self.lock.acquire(seat, &waiting) }.is_err() {
            self.leave(seat);
            return None;
        }
        let express_gone = || self.taken.load(SEE_EXPRESS_GONE.ordering()) & bit(EXPRESS) == NOBODY;
        if waiting.wait(Some(self.express_place()), express_gone).is_err() {
            // SAFETY: we have just won it.
            unsafe { self.lock.release(seat) };
            self.leave(seat);
            return None;
        }
        Some(self.enter(seat))
    }

    /// Waits for a seat and takes it: the express seat if nobody is here, else the lowest free one.
    fn take_seat(&self, waiting: &Parking<'_>) -> Option<usize> {
        loop {
            // Relaxed: the compare-exchange settles it.
            let seen = self.taken.load(Ordering::Relaxed);
            let Some((seat, edge)) = Self::free_seat(seen) else {
                let found = || Self::free_seat(self.taken.load(Ordering::Relaxed)).is_some();
                waiting.wait(Some(self.seats_place()), found).ok()?;
                continue;
            };
            let now = seen | bit(seat);
            if self
                .taken
                .compare_exchange_weak(seen, now, edge.ordering(), Ordering::Relaxed)
                .is_ok()
            {
                #[cfg(loom)]
                self.seats[seat].touch();
                return Some(seat);
            }
        }
    }

    /// The seat for whoever sees `taken`, and the edge to take it with.
    #[inline]
    fn free_seat(taken: usize) -> Option<(usize, Edge)> {
        if taken == NOBODY {
            return Some((EXPRESS, FIND_EMPTY));
        }
        let free = Self::ALL & !taken & !bit(EXPRESS);
        (free != NOBODY).then(|| (free.trailing_zeros() as usize, TAKE_SEAT))
    }

    #[inline]
    fn enter(&self, seat: usize) -> Lease {
        self.inside.touch();
        Lease { seat }
    }

    #[inline]
    fn leave(&self, seat: usize) {
        #[cfg(loom)]
        self.seats[seat].touch();
        self.taken.fetch_and(!bit(seat), LEAVE_HEARS.with(LEAVE));
        if !self.lot.is_empty() {
            self.wake(seat);
        }
    }

    /// Wakes those who wait for this seat to be left, and one who waits for a seat.
    #[cold]
    fn wake(&self, seat: usize) {
        if seat == EXPRESS {
            self.lot.unpark_all(self.express_place());
        } else {
            self.lock.places(seat, |place| self.lot.unpark_all(place));
        }
        self.lot.unpark_one(self.seats_place());
    }

    /// Where the winner of the raw lock waits for the express seat to empty.
    fn express_place(&self) -> Place {
        Place::of(&self.lot)
    }

    /// Where those wait who found all seats taken.
    fn seats_place(&self) -> Place {
        Place::of(&self.taken)
    }
}

impl<L: RawLock> Default for Leased<L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L> core::fmt::Debug for Leased<L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let taken = self.taken.load(Ordering::Relaxed);
        f.debug_struct("Leased").field("taken", &format_args!("{taken:#b}")).finish_non_exhaustive()
    }
}
