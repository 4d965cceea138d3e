//! Locks that wake nobody in the middle of an acquire: wrong on purpose, for drop-in types.

use exclusion::lock::raw::{Attendance, Place, RawLock, Waiting, Withdrawn};

/// The lock `L`, whose calls of `wake` reach nobody, and neither do those of `wake_fenced` unless
/// `FENCED` are passed on. A waiter that relies on one that is not sleeps for good.
pub struct WakesNobody<L, const FENCED: bool = false>(L);

/// Waits as told, and keeps wake-ups to itself.
struct Mute<'a, W, const FENCED: bool>(&'a W);

impl<W: Waiting, const FENCED: bool> Waiting for Mute<'_, W, FENCED> {
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        self.0.wait(place, ready)
    }

    fn wake_fenced(&self, place: Place) {
        if FENCED {
            self.0.wake_fenced(place);
        }
    }
}

// SAFETY: the lock of `L`. Wake-ups have no part in safety.
unsafe impl<L: RawLock, const FENCED: bool> RawLock for WakesNobody<L, FENCED> {
    const SEATS: usize = L::SEATS;

    fn unlocked() -> Self {
        Self(L::unlocked())
    }

    unsafe fn acquire_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        // SAFETY: the same contract.
        unsafe { self.0.acquire_among(seat, present, &Mute::<_, FENCED>(waiting)) }
    }

    unsafe fn release(&self, seat: usize) {
        // SAFETY: the same contract.
        unsafe { self.0.release(seat) };
    }

    fn is_idle(&self, seat: usize) -> bool {
        self.0.is_idle(seat)
    }

    fn places(&self, seat: usize, visit: impl FnMut(Place)) {
        self.0.places(seat, visit);
    }
}
