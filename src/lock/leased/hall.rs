//! The hall: where threads wait that found all seats taken.
//!
//! A thread that finds no room sleeps at once. A leaver that finds it there takes a seat that has
//! fallen free and gives it to the thread that has slept longest; a lock of one seat has none to
//! lease and gives away itself. So nobody is woken for nothing, and a newcomer gets ahead of a
//! sleeper only if it takes the seat between the leaver's two steps. A fair unlock leaves no such
//! gap: it gives away what it has without letting go of it first.
//!
//! Invariants:
//! 1. A thread falls asleep here only if all seats are taken; where the lock has a single seat, and
//!    so none to lease, only if a thread is inside.
//! 2. Every leaving either sees that nobody sleeps here, or makes sure that the room it made does
//!    not stay while somebody does: it gives it away, or another thread has taken it, or the
//!    sleeper sees it.
//!
//! That a leaver sees every sleeper that has not seen the leaving is the promise of `parking`.

use super::lease::NO_SEAT;
use super::parking::{Parking, Patience};
use super::{
    Arrival, FIND_NOBODY, INSIDE, LEAVE, LEAVE_HEARS, Lease, Leased, NOBODY, TAKE_SEAT, bit,
};
use crate::lock::raw::{Place, RawLock};
use crate::lock::sync::Ordering;
use crate::lock::sync::lot::{Deadline, NOTHING};

impl<L: RawLock, const BYPASS: usize> Leased<L, BYPASS> {
    /// Takes a seat, waiting for it if need be, or goes inside if nobody is here.
    pub(super) fn take_seat(&self, deadline: Deadline) -> Option<Arrival> {
        let waiting = Parking { patience: Patience::None, ..self.parking(&self.hall, deadline) };
        loop {
            let bit = match self.take(Self::room) {
                Some(bit) => bit,
                None => waiting.wait_for_gift(Place::of(&self.hall), || self.has_room()).ok()?,
            };
            if bit != NOTHING {
                return Some(self.arrive(bit));
            }
        }
    }

    /// Takes what `room` finds free.
    fn take(&self, room: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        // Relaxed: the compare-exchange settles it.
        let mut here = self.here.load(Ordering::Relaxed);
        loop {
            let bit = room(here)?;
            let edge = if bit == INSIDE { FIND_NOBODY } else { TAKE_SEAT };
            match self.set(here, bit, edge) {
                Ok(()) => return Some(bit),
                Err(now) => here = now,
            }
        }
    }

    /// What a newcomer can take: `INSIDE` if nobody is here, or else a free seat.
    fn room(here: usize) -> Option<usize> {
        if here == NOBODY { Some(INSIDE) } else { Self::free_seat(here) }
    }

    /// What can be given away: a free seat, so that the others that sleep still find all seats
    /// taken. Only a lock that has no seats to lease gives away itself.
    fn gift(here: usize) -> Option<usize> {
        if Self::SEATS == NOBODY { Self::room(here) } else { Self::free_seat(here) }
    }

    fn free_seat(here: usize) -> Option<usize> {
        let free = Self::SEATS & !here;
        (free != NOBODY).then(|| bit(free.trailing_zeros() as usize))
    }

    fn has_room(&self) -> bool {
        // Relaxed: taking it settles it.
        Self::room(self.here.load(Ordering::Relaxed)).is_some()
    }

    fn arrive(&self, bit: usize) -> Arrival {
        if bit == INSIDE {
            return Arrival::Inside(self.lease(NO_SEAT));
        }
        let seat = bit.trailing_zeros() as usize;
        self.probe.is_seated(seat);
        Arrival::Seated(seat)
    }

    /// Gives what has fallen free to the thread that has slept longest.
    #[cold]
    pub(super) fn serve_hall(&self) {
        let Some(bit) = self.take(Self::gift) else {
            return; // a newcomer was quicker, and will come by here when it leaves
        };
        if self.give(bit) {
            return;
        }
        // A thread is counted but not asleep. It sees the room that we give back, or is asleep by
        // now.
        self.here.fetch_and(!bit, LEAVE_HEARS.with(LEAVE));
        if !self.hall.is_empty() {
            self.give(NOTHING);
        }
    }

    /// Gives the thread that has slept longest a bit of `here`. Says whether there was one.
    fn give(&self, bit: usize) -> bool {
        self.hall.give(Place::of(&self.hall).address(), bit)
    }

    /// Unlocks so that no newcomer passes a thread that waits: see `Leased`.
    ///
    /// # Safety
    /// As for `release`.
    #[cold]
    pub(super) unsafe fn hand_over(&self, Lease { seat }: Lease) {
        self.probe.is_inside();
        if BYPASS > 0 {
            self.passed.store(BYPASS, Ordering::Relaxed); // `LEAVE` publishes it
        }
        let mut bits = INSIDE | bit(seat);
        let mut gift = NOTHING;
        if seat != NO_SEAT {
            // SAFETY: a thread that went inside from a seat has won the raw lock there.
            unsafe { self.release_raw(seat) };
            self.probe.is_seated(seat);
            gift = bit(seat);
        } else if Self::SEATS == NOBODY {
            gift = INSIDE;
        }
        if gift != NOTHING && self.give(gift) {
            bits &= !gift;
        }
        if bits != NOBODY {
            self.leave(seat, bits);
        }
    }
}
