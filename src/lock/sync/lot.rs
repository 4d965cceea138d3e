//! The queues in which the waiters of a drop-in lock sleep.
//!
//! A [`Lot`] counts its sleepers and knows them by the address at which they sleep. A thread that
//! wakes a sleeper may give it something, which is a number here and a seat or the lock to its
//! users. The queues are parking_lot_core's. Under loom they are a mutex and a condition variable
//! of loom's. Without `std` nobody sleeps.
//!
//! What a sleeper and a waker owe each other is told in `leased::parking`.

pub(crate) use queues::{Deadline, Lot, has_passed};

/// What a sleeper gets that is woken and given nothing.
pub(crate) const NOTHING: usize = 0;

#[cfg(all(feature = "std", not(exclusion_loom)))]
mod queues {
    use core::sync::atomic::Ordering::Relaxed;

    use super::NOTHING;
    use crate::lock::sync::AtomicUsize;
    use crate::lock::sync::parking_lot_core::{
        self, DEFAULT_PARK_TOKEN, FilterOp, ParkResult, UnparkToken,
    };
    pub(crate) use crate::lock::sync::time::{Deadline, has_passed};

    pub(crate) struct Lot {
        parked: AtomicUsize,
    }

    impl Lot {
        /// Whether anybody ever sleeps.
        pub(crate) const HAS_SLEEPERS: bool = true;

        pub(crate) const fn new() -> Self {
            Self { parked: AtomicUsize::new(0) }
        }

        /// How many threads sleep, or are about to.
        #[inline]
        pub(crate) fn count(&self) -> usize {
            self.parked.load(Relaxed)
        }

        #[inline]
        pub(crate) fn is_empty(&self) -> bool {
            self.count() == 0
        }

        /// Sleeps until woken at `address`, or until the deadline, unless `ready`. Says what was
        /// given.
        ///
        /// `meet` is called when the sleeper is counted and has not yet looked at `ready`. `ready`
        /// is called with the lock of the queue held, which [`give`](Self::give) and its kin take
        /// too.
        ///
        /// The address is one inside the lock that this lot belongs to.
        #[cold]
        pub(crate) fn park(
            &self,
            address: usize,
            meet: impl FnOnce(),
            ready: impl Fn() -> bool,
            deadline: Deadline,
        ) -> usize {
            self.parked.fetch_add(1, Relaxed);
            meet();
            let validate = || !ready();
            // SAFETY: the address is one inside this lock, which outlives the call. No closure
            // panics or calls into the parking lot.
            let result = unsafe {
                parking_lot_core::park(
                    address,
                    validate,
                    || (),
                    |_, _| (),
                    DEFAULT_PARK_TOKEN,
                    deadline,
                )
            };
            self.parked.fetch_sub(1, Relaxed);
            match result {
                ParkResult::Unparked(UnparkToken(given)) => given,
                ParkResult::Invalid | ParkResult::TimedOut => NOTHING,
            }
        }

        pub(crate) fn wake_all(&self, address: usize) {
            // SAFETY: the address is one inside this lock.
            unsafe { parking_lot_core::unpark_all(address, UnparkToken(NOTHING)) };
        }

        /// Wakes the thread that has slept longest at `address` and gives it `gift`, if there is
        /// one.
        pub(crate) fn give(&self, address: usize, gift: usize) -> bool {
            // SAFETY: the address is one inside this lock, and the closure does not panic.
            let result = unsafe { parking_lot_core::unpark_one(address, |_| UnparkToken(gift)) };
            result.unparked_threads > 0
        }

        /// How many threads sleep at `address`, by the queue itself.
        pub(crate) fn sleepers(&self, address: usize) -> usize {
            let mut sleepers = 0;
            let count = |_| {
                sleepers += 1;
                FilterOp::Skip
            };
            // SAFETY: the address is one inside this lock, and neither closure panics or calls into
            // the parking lot.
            unsafe { parking_lot_core::unpark_filter(address, count, |_| UnparkToken(NOTHING)) };
            sleepers
        }
    }
}

#[cfg(all(feature = "std", exclusion_loom))]
mod queues {
    use core::sync::atomic::Ordering::Relaxed;
    use std::vec::Vec;

    use loom::sync::atomic::AtomicUsize;
    use loom::sync::{Condvar, Mutex};

    use super::NOTHING;
    use crate::lock::sync::time::elapse_until;
    pub(crate) use crate::lock::sync::time::{Deadline, has_passed};

    pub(crate) struct Lot {
        parked: AtomicUsize,
        beds: Mutex<Beds>,
        alarm: Condvar,
    }

    #[derive(Default)]
    struct Beds {
        next: usize,
        /// The threads that sleep, in order: where each of them does, and its number.
        taken: Vec<(usize, usize)>,
        /// What those that have been woken were given.
        gifts: Vec<(usize, usize)>,
    }

    impl Lot {
        pub(crate) const HAS_SLEEPERS: bool = true;

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

        pub(crate) fn park(
            &self,
            address: usize,
            meet: impl FnOnce(),
            ready: impl Fn() -> bool,
            deadline: Deadline,
        ) -> usize {
            self.parked.fetch_add(1, Relaxed);
            meet();
            let mut beds = self.beds.lock().unwrap();
            let mut given = NOTHING;
            if !ready() {
                let number = beds.next;
                beds.next += 1;
                beds.taken.push((address, number));
                given = loop {
                    beds = match deadline {
                        None => self.alarm.wait(beds).unwrap(),
                        Some(_) => {
                            // Others may come first, or time may pass.
                            drop(beds);
                            loom::thread::yield_now();
                            self.beds.lock().unwrap()
                        }
                    };
                    if let Some(gift) = beds.take_gift(number) {
                        break gift;
                    }
                    if let Some(deadline) = deadline {
                        beds.taken.retain(|bed| bed.1 != number);
                        elapse_until(deadline);
                        break NOTHING;
                    }
                };
            }
            drop(beds);
            self.parked.fetch_sub(1, Relaxed);
            given
        }

        pub(crate) fn wake_all(&self, address: usize) {
            let mut beds = self.beds.lock().unwrap();
            while beds.give(address, NOTHING) {}
            self.alarm.notify_all();
        }

        pub(crate) fn give(&self, address: usize, gift: usize) -> bool {
            let mut beds = self.beds.lock().unwrap();
            let given = beds.give(address, gift);
            self.alarm.notify_all();
            given
        }

        pub(crate) fn sleepers(&self, address: usize) -> usize {
            self.beds.lock().unwrap().taken.iter().filter(|bed| bed.0 == address).count()
        }
    }

    impl Beds {
        fn take_gift(&mut self, number: usize) -> Option<usize> {
            let index = self.gifts.iter().position(|gift| gift.0 == number)?;
            Some(self.gifts.swap_remove(index).1)
        }

        fn give(&mut self, address: usize, gift: usize) -> bool {
            let Some(index) = self.taken.iter().position(|bed| bed.0 == address) else {
                return false;
            };
            let (_, number) = self.taken.remove(index);
            self.gifts.push((number, gift));
            true
        }
    }
}

#[cfg(not(feature = "std"))]
mod queues {
    use super::NOTHING;

    pub(crate) type Deadline = Option<core::convert::Infallible>;

    pub(crate) fn has_passed(_: Deadline) -> bool {
        false
    }

    pub(crate) struct Lot;

    impl Lot {
        pub(crate) const HAS_SLEEPERS: bool = false;

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
        pub(crate) fn park(
            &self,
            _: usize,
            _: impl FnOnce(),
            _: impl Fn() -> bool,
            _: Deadline,
        ) -> usize {
            core::hint::spin_loop();
            NOTHING
        }

        pub(crate) fn wake_all(&self, _: usize) {}

        pub(crate) fn give(&self, _: usize, _: usize) -> bool {
            false
        }

        pub(crate) fn sleepers(&self, _: usize) -> usize {
            0
        }
    }
}
