//! The drop-in condition variable over [`lock_api`]: [`BakeryCondvar`].

use std::time::{Duration, Instant};

use crate::lock::policy::{Policy, Strict};
use crate::lock::pooled::condition::Condition;
use crate::lock::pooled::{Pooled, Turn};
use crate::lock::sync::time;

/// The [`lock_api::RawCondvar`] of [`BakeryCondvar`].
pub type RawBakeryCondvar<P = Strict> = Condition<P>;

/// A condition variable for a [`BakeryMutex`](crate::BakeryMutex).
///
/// It has the methods of `parking_lot::Condvar`, by way of [`lock_api::Condvar`]. It takes two
/// words, and borrows no memory of its own.
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::{BakeryCondvar, BakeryMutex};
///
/// static JOBS: BakeryMutex<Vec<u32>> = BakeryMutex::new(Vec::new());
/// static ARRIVED: BakeryCondvar = BakeryCondvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let mut jobs = JOBS.lock();
///         ARRIVED.wait_while(&mut jobs, |jobs| jobs.is_empty());
///         assert_eq!(jobs.pop(), Some(7));
///     });
///     JOBS.lock().push(7);
///     ARRIVED.notify_one();
/// });
/// # }
/// ```
///
/// # Fairness
/// `notify_one` moves the thread that has waited longest into the mutex's line, and `notify_all`
/// moves all of them, in the order in which they came. None of them is woken before its turn to
/// have the mutex has come, or nearly. From there they are served in the order of their tickets,
/// one order with the threads that call `lock`.
///
/// # Notifications
/// No wake-up is spurious. A waiter is notified or times out, never both, so no notification is
/// lost to a thread that was leaving. What `notify_one` and `notify_all` return is exact. The one
/// exception is told at [`Condition`](crate::lock::Condition).
///
/// # Panics
/// `wait` and its relatives panic if threads wait on the same condition variable with another
/// mutex. The guard stays valid.
pub type BakeryCondvar = PolicyCondvar<Strict>;

/// A [`BakeryCondvar`] for a [`BakeryMutex`](crate::BakeryMutex) of the same policy: [`Strict`] or
/// [`Bypass`](crate::Bypass).
#[cfg(not(exclusion_loom))]
pub type PolicyCondvar<P> = lock_api::Condvar<RawBakeryCondvar<P>>;

/// A [`BakeryCondvar`] for a [`BakeryMutex`](crate::BakeryMutex) of the same policy. Not lock_api's
/// type itself: under loom it must be made before threads share it, and not by a constant.
#[cfg(exclusion_loom)]
pub struct PolicyCondvar<P: Policy>(lock_api::Condvar<RawBakeryCondvar<P>>);

#[cfg(exclusion_loom)]
impl<P: Policy> PolicyCondvar<P> {
    /// A condition variable that nobody waits on.
    #[allow(clippy::new_without_default, reason = "it has the methods that models need")]
    pub fn new() -> Self {
        let condvar = lock_api::Condvar::<RawBakeryCondvar<P>>::new();
        condvar.raw().is_made();
        Self(condvar)
    }
}

#[cfg(exclusion_loom)]
impl<P: Policy> core::ops::Deref for PolicyCondvar<P> {
    type Target = lock_api::Condvar<RawBakeryCondvar<P>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

// SAFETY: a waiter's slot says that it waits before the mutex is unlocked, and the mutex is locked
// again before the wait returns (`wait_until` of `condition`). A panic comes before the mutex is
// unlocked, when the turn is valid.
unsafe impl<P: Policy> lock_api::RawCondvar for Condition<P> {
    const INIT: Self = Self::new();

    type RawMutex = Pooled<P>;

    unsafe fn wait(&self, mutex: &Pooled<P>, turn: &mut Turn) {
        // SAFETY: the same contract.
        unsafe { self.wait_until(mutex, turn, None) };
    }

    fn notify_one(&self) -> bool {
        Self::notify_one(self)
    }

    fn notify_all(&self) -> usize {
        Self::notify_all(self)
    }
}

// SAFETY: as above.
unsafe impl<P: Policy> lock_api::RawCondvarTimed for Condition<P> {
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        time::after(*timeout)
    }

    unsafe fn wait_until(&self, mutex: &Pooled<P>, turn: &mut Turn, deadline: &Instant) -> bool {
        // SAFETY: the same contract.
        unsafe { Self::wait_until(self, mutex, turn, Some(*deadline)) }
    }
}
