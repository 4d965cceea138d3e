//! What loom watches inside a leased lock, and what a unit test counts there. In a normal build all
//! of it is empty.
//!
//! Loom sees a race only where two threads come to the same cell. The data behind a leased lock is
//! kept elsewhere, and a seat's registers are atomics, so the lock itself has to show loom what
//! must not happen: two holders, two users of a seat, or two winners of the raw lock; or two of
//! them without a happens-before edge between them; or more newcomers that pass than may.

#[cfg(exclusion_count)]
pub(crate) use noted::Probe;
#[cfg(not(exclusion_count))]
pub(crate) use watched::Probe;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) use watched::{Birth, Tenancy};

/// A thread wakes another.
#[inline(always)]
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) fn count_wake_up() {
    #[cfg(test)]
    counted::WAKE_UPS.set(wake_ups() + 1);
}

/// How often this thread has woken another.
#[cfg(all(test, feature = "std", target_has_atomic = "64"))]
pub(crate) fn wake_ups() -> usize {
    counted::WAKE_UPS.get()
}

#[cfg(all(test, feature = "std", target_has_atomic = "64"))]
mod counted {
    use core::cell::Cell;

    std::thread_local!(pub(super) static WAKE_UPS: Cell<usize> = const { Cell::new(0) });
}

#[cfg(not(exclusion_loom))]
mod watched {
    /// Tells loom what the threads of a leased lock do.
    #[cfg(not(exclusion_count))]
    pub(crate) struct Probe;

    #[cfg(not(exclusion_count))]
    impl Probe {
        pub(crate) const fn new(_: usize) -> Self {
            Self
        }

        /// A thread has come inside, or is about to leave.
        #[inline(always)]
        pub(crate) fn is_inside(&self) {}

        /// A thread has just taken this seat, or is about to leave it.
        #[inline(always)]
        pub(crate) fn is_seated(&self, _: usize) {}

        /// A thread has won the raw lock.
        #[inline(always)]
        pub(crate) fn has_won(&self) {}

        /// The winner is about to release the raw lock.
        #[inline(always)]
        pub(crate) fn hands_on(&self) {}

        /// A newcomer has come in past the threads that have a seat, as so many may.
        #[inline(always)]
        pub(crate) fn has_bypassed(&self, _: usize) {}

        /// A thread has come in from its seat.
        #[inline(always)]
        pub(crate) fn has_come_from_seat(&self) {}
    }

    /// Tells loom that something was made, and who knows of it.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct Birth;

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl Birth {
        /// A thread uses what was made, and must know how.
        #[inline(always)]
        pub(crate) fn is_known(&self) {}
    }

    /// Tells loom who uses something that goes from one to another.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct Tenancy;

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl Tenancy {
        /// A thread uses it, as others do.
        #[inline(always)]
        pub(crate) fn is_used(&self) {}

        /// It goes to others: nobody uses it.
        #[inline(always)]
        pub(crate) fn changes_hands(&self) {}
    }
}

/// What is counted on both of the other grounds. As zero bytes, nobody has won or passed.
#[cfg(any(exclusion_loom, exclusion_count))]
mod tally {
    use core::sync::atomic::Ordering::Relaxed;

    #[cfg(exclusion_count)]
    use core::sync::atomic::AtomicUsize;
    #[cfg(exclusion_loom)]
    use loom::sync::atomic::AtomicUsize;

    use crate::lock::sync::constructor;

    pub(crate) struct Tally {
        winners: AtomicUsize,
        /// Not one of loom's: only the holder uses it, and it must add nothing to the model.
        bypasses: core::sync::atomic::AtomicUsize,
    }

    impl Tally {
        constructor! {
            pub(super) fn new() -> Self {
                Self {
                    winners: AtomicUsize::new(0),
                    bypasses: core::sync::atomic::AtomicUsize::new(0),
                }
            }
        }

        pub(crate) fn has_won(&self) {
            assert_eq!(self.winners.fetch_add(1, Relaxed), 0, "two have won the raw lock");
        }

        pub(crate) fn hands_on(&self) {
            self.winners.fetch_sub(1, Relaxed);
        }

        pub(crate) fn has_bypassed(&self, most: usize) {
            let before = self.bypasses.fetch_add(1, Relaxed);
            assert!(before < most, "more newcomers have passed than may");
        }

        pub(crate) fn has_come_from_seat(&self) {
            self.bypasses.store(0, Relaxed);
        }
    }
}

#[cfg(any(exclusion_loom, exclusion_count))]
impl core::ops::Deref for Probe {
    type Target = tally::Tally;

    fn deref(&self) -> &tally::Tally {
        &self.tally
    }
}

/// On counted registers one thread runs at a time: to see two winners it is enough to count them.
#[cfg(exclusion_count)]
mod noted {
    use super::tally::Tally;

    pub(crate) struct Probe {
        pub(super) tally: Tally,
    }

    impl Probe {
        pub(crate) const fn new(_: usize) -> Self {
            Self { tally: Tally::new() }
        }

        pub(crate) fn is_inside(&self) {}

        pub(crate) fn is_seated(&self, _: usize) {}
    }
}

#[cfg(exclusion_loom)]
mod watched {
    use std::vec::Vec;

    use loom::cell::UnsafeCell;

    use super::tally::Tally;

    pub(crate) struct Probe {
        inside: Witness,
        seats: Vec<Witness>,
        pub(super) tally: Tally,
    }

    impl Probe {
        pub(crate) fn new(seats: usize) -> Self {
            Self {
                inside: Witness::new(),
                seats: (0..seats).map(|_| Witness::new()).collect(),
                tally: Tally::new(),
            }
        }

        pub(crate) fn is_inside(&self) {
            self.inside.touch();
        }

        pub(crate) fn is_seated(&self, seat: usize) {
            self.seats[seat].touch();
        }
    }

    /// A cell with nothing in it. Two threads that write it without an order between them are a
    /// race.
    struct Witness(UnsafeCell<()>);

    // SAFETY: there is nothing in it, and loom checks each access.
    unsafe impl Sync for Witness {}

    impl Witness {
        fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        fn touch(&self) {
            self.0.with_mut(|_| ());
        }
    }

    /// Written when it is made. A thread that reads it without an order between them is a race.
    pub(crate) struct Birth(UnsafeCell<()>);

    // SAFETY: there is nothing in it, and loom checks each access.
    unsafe impl Sync for Birth {}

    impl Birth {
        pub(crate) fn new() -> Self {
            let birth = Self(UnsafeCell::new(()));
            birth.0.with_mut(|_| ());
            birth
        }

        pub(crate) fn is_known(&self) {
            self.0.with(|_| ());
        }
    }

    /// Read by those that use it, written when it changes hands.
    pub(crate) struct Tenancy(UnsafeCell<()>);

    // SAFETY: there is nothing in it, and loom checks each access.
    unsafe impl Sync for Tenancy {}

    impl Tenancy {
        pub(crate) fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        pub(crate) fn is_used(&self) {
            self.0.with(|_| ());
        }

        pub(crate) fn changes_hands(&self) {
            self.0.with_mut(|_| ());
        }
    }
}
