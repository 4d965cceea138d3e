//! A semaphore that serves in order of arrival: [`BakerySemaphore`].

use core::fmt;
use std::time::{Duration, Instant};

use crate::lock::gate::{Gate, MOST_UNITS, Share};
use crate::lock::policy::{Policy, Strict};
use crate::lock::sync::{constructor, time};

/// So many permits, handed out first come, first served: at most so many threads inside at a time.
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::BakerySemaphore;
///
/// static CONNECTIONS: BakerySemaphore = BakerySemaphore::new(3);
///
/// let one = CONNECTIONS.acquire();
/// let two = CONNECTIONS.acquire_many(2);
/// assert!(CONNECTIONS.try_acquire().is_none());
/// drop((one, two));
/// assert_eq!(CONNECTIONS.available_permits(), 3);
/// # }
/// ```
///
/// # Fairness
/// First come, first served, however many permits each wants: while the thread at the head of the
/// line waits for two, nobody behind it takes the one that is free. With
/// `BakerySemaphore<Bypass<COUNT, MICROS>>` at most `COUNT` newcomers do. After `MICROS`
/// microseconds the head lets nobody pass any more, as soon as it gets a core.
///
/// # Panics
/// All methods that ask for permits panic if more are asked for than there are: that would wait
/// for ever.
pub struct BakerySemaphore<P = Strict> {
    gate: Gate<P>,
    permits: usize,
}

/// Permits of a [`BakerySemaphore`], given back when this is dropped. It may be sent to another
/// thread.
#[must_use = "dropped at once, it gives its permits back"]
pub struct BakeryPermit<'a, P: Policy = Strict> {
    semaphore: &'a BakerySemaphore<P>,
    count: usize,
}

impl BakerySemaphore {
    constructor! {
        /// A semaphore with so many permits, which nobody passes.
        ///
        /// # Panics
        /// If there are more than [`MOST_PERMITS`](Self::MOST_PERMITS).
        pub fn new(permits: usize) -> Self {
            Self::with_policy(permits)
        }
    }
}

impl<P: Policy> BakerySemaphore<P> {
    /// The most permits that a semaphore can have.
    pub const MOST_PERMITS: usize = MOST_UNITS;

    constructor! {
        /// A semaphore with so many permits, of the policy in its type.
        ///
        /// # Panics
        /// If there are more than [`MOST_PERMITS`](Self::MOST_PERMITS).
        pub fn with_policy(permits: usize) -> Self {
            assert!(permits <= MOST_UNITS, "more permits than a semaphore can count");
            Self { gate: Gate::new(), permits }
        }
    }

    /// How many permits it has in all.
    pub const fn permits(&self) -> usize {
        self.permits
    }

    /// How many permits nobody has now. A snapshot.
    pub fn available_permits(&self) -> usize {
        self.permits - self.gate.taken()
    }

    /// Waits for a permit.
    #[inline]
    pub fn acquire(&self) -> BakeryPermit<'_, P> {
        self.acquire_many(1)
    }

    /// Waits for so many permits, and takes them all at once.
    #[inline]
    pub fn acquire_many(&self, count: usize) -> BakeryPermit<'_, P> {
        self.enter(count, None).expect("a thread without a deadline does not give up")
    }

    /// A permit, if that means no waiting.
    #[inline]
    pub fn try_acquire(&self) -> Option<BakeryPermit<'_, P>> {
        self.try_acquire_many(1)
    }

    /// So many permits, if that means no waiting.
    #[inline]
    pub fn try_acquire_many(&self, count: usize) -> Option<BakeryPermit<'_, P>> {
        self.gate.try_enter(self.share(count)).then(|| BakeryPermit { semaphore: self, count })
    }

    /// Waits for so many permits at most so long.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// let semaphore = exclusion::BakerySemaphore::new(2);
    /// let permit = semaphore.acquire();
    /// let wait = std::time::Duration::from_millis(1);
    /// assert!(semaphore.try_acquire_many_for(2, wait).is_none());
    /// drop(permit);
    /// assert!(semaphore.try_acquire_many_for(2, wait).is_some());
    /// # }
    /// ```
    pub fn try_acquire_many_for(
        &self,
        count: usize,
        timeout: Duration,
    ) -> Option<BakeryPermit<'_, P>> {
        self.enter(count, time::after(timeout))
    }

    /// Waits for so many permits until then.
    pub fn try_acquire_many_until(
        &self,
        count: usize,
        deadline: Instant,
    ) -> Option<BakeryPermit<'_, P>> {
        self.enter(count, Some(deadline))
    }

    /// Waits for a permit at most so long.
    pub fn try_acquire_for(&self, timeout: Duration) -> Option<BakeryPermit<'_, P>> {
        self.try_acquire_many_for(1, timeout)
    }

    /// Waits for a permit until then.
    pub fn try_acquire_until(&self, deadline: Instant) -> Option<BakeryPermit<'_, P>> {
        self.try_acquire_many_until(1, deadline)
    }

    #[inline]
    fn enter(&self, count: usize, deadline: time::Deadline) -> Option<BakeryPermit<'_, P>> {
        let entered = self.gate.enter(self.share(count), deadline);
        entered.then(|| BakeryPermit { semaphore: self, count })
    }

    #[inline]
    fn share(&self, units: usize) -> Share {
        assert!(
            units <= self.permits,
            "{units} permits are asked for of {}: ask for fewer",
            self.permits
        );
        Share { units, of: self.permits }
    }
}

impl<P: Policy> BakeryPermit<'_, P> {
    /// How many permits it is.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl<P: Policy> Drop for BakeryPermit<'_, P> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.gate.leave(self.count);
    }
}

impl<P: Policy> fmt::Debug for BakeryPermit<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BakeryPermit").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for BakerySemaphore<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BakerySemaphore")
            .field("permits", &self.permits)
            .field("gate", &self.gate)
            .finish()
    }
}
