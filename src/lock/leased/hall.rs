//! The hall: where threads wait that found all seats taken.
//!
//! A thread that finds no room sleeps at once. A leaver that finds a sleeper does not clear the bit
//! of its seat, but gives it to the thread that has slept longest. A lock of one seat has none to
//! lease and gives away `INSIDE` in the same way. So no newcomer gets in between, and nobody is
//! woken for nothing.
//!
//! A thread may fall asleep just when a leaver has looked and found nobody. The leaver looks again
//! when its bits are cleared. It then takes what is free on behalf of the sleeper; only here may a
//! newcomer be quicker.
//!
//! Invariants:
//! 1. A thread falls asleep here only if all seats are taken; in a lock of one seat, only if a
//!    thread is inside.
//! 2. Room that a leaver makes does not stay while a thread sleeps here: the leaver gives it to a
//!    sleeper, or another thread takes it, or the thread that falls asleep sees it.
//!
//! That a leaver sees every sleeper that has not seen the leaving is the promise of `parking`.

use super::lease::NO_SEAT;
use super::parking::{Parking, Patience};
use super::{Arrival, FIND_NOBODY, INSIDE, LEAVE, LEAVE_HEARS, Leased, NOBODY, TAKE_SEAT, bit};
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

    /// What can be taken for a sleeper: a free seat, so that the others that sleep still find all
    /// seats taken; in a lock of one seat `INSIDE`.
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

    /// Gives the thread that has slept longest what we leave: our seat, or in a lock of one seat
    /// `INSIDE`. Returns its bit, if there was a sleeper.
    #[cold]
    pub(super) fn give_away(&self, seat: usize) -> usize {
        let bit = bit(seat);
        if self.give(bit) { bit } else { NOTHING }
    }

    /// Takes what is free on behalf of the thread that has slept longest.
    #[cold]
    pub(super) fn serve_hall(&self) {
        let Some(bit) = self.take(Self::gift) else {
            return; // all is taken, and its user will come by here when it leaves
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
}
