//! Owned seats that read: several at the data at a time.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use super::{Seat, SeatGuard, Visit};
use crate::lock::raw::{RawSharedLock, Waiting, Withdrawn};
use crate::lock::sync::ConstPtr;
use crate::lock::wait::{SpinThenYield, Unless};

/// Seats of a lock with readers. To write is to [`lock`](Seat::lock).
impl<'a, L: RawSharedLock, T: Sync> Seat<'a, L, T> {
    /// Waits for the data as a reader, spinning, then yielding, then napping.
    ///
    /// ```
    /// use exclusion::lock::{Seated, raw::RwBakery};
    ///
    /// let mut cell = Seated::<RwBakery<3>, _>::new(7);
    /// let [mut left, mut right, mut writer] = cell.seats();
    /// let (one, other) = (left.read(), right.read());
    /// assert_eq!(*one, *other);
    /// assert!(writer.try_write().is_none());
    /// ```
    #[inline]
    pub fn read(&mut self) -> SeatReadGuard<'_, 'a, L, T> {
        match self.enter_shared(&SpinThenYield) {
            Ok(()) => self.read_guard(),
            Err(Withdrawn) => unreachable!("this way of waiting does not give up"),
        }
    }

    /// The data as a reader, if no waiting is needed.
    ///
    /// `None` says that a writer was inside or ahead, or that another seat was entering.
    #[inline]
    pub fn try_read(&mut self) -> Option<SeatReadGuard<'_, 'a, L, T>> {
        self.read_unless(|| true)
    }

    /// Waits as a reader until `give_up`, asked between looks, returns `true`.
    #[inline]
    pub fn read_unless(
        &mut self,
        give_up: impl Fn() -> bool,
    ) -> Option<SeatReadGuard<'_, 'a, L, T>> {
        match self.enter_shared(&Unless(give_up)) {
            Ok(()) => Some(self.read_guard()),
            Err(Withdrawn) => None,
        }
    }

    /// Waits as a reader until the timeout.
    #[cfg(feature = "std")]
    pub fn try_read_for(
        &mut self,
        timeout: std::time::Duration,
    ) -> Option<SeatReadGuard<'_, 'a, L, T>> {
        match std::time::Instant::now().checked_add(timeout) {
            Some(deadline) => self.try_read_until(deadline),
            None => Some(self.read()),
        }
    }

    /// Waits as a reader until the deadline.
    #[cfg(feature = "std")]
    pub fn try_read_until(
        &mut self,
        deadline: std::time::Instant,
    ) -> Option<SeatReadGuard<'_, 'a, L, T>> {
        self.read_unless(|| std::time::Instant::now() >= deadline)
    }

    /// Waits for the data as a writer: the same as [`lock`](Seat::lock).
    #[inline]
    pub fn write(&mut self) -> SeatGuard<'_, 'a, L, T> {
        self.lock()
    }

    /// The data as a writer, if no waiting is needed: the same as [`try_lock`](Seat::try_lock).
    #[inline]
    pub fn try_write(&mut self) -> Option<SeatGuard<'_, 'a, L, T>> {
        self.try_lock()
    }

    #[inline]
    fn enter_shared(&mut self, waiting: &impl Waiting) -> Result<(), Withdrawn> {
        self.be_idle();
        // SAFETY: there is one seat of a number, we have it mutably, and it is idle.
        unsafe { self.cell.lock.acquire_shared(self.number, waiting) }
    }

    #[inline]
    fn read_guard(&mut self) -> SeatReadGuard<'_, 'a, L, T> {
        SeatReadGuard { data: self.cell.data.get(), visit: Visit(self), reads: PhantomData }
    }
}

/// The data of a [`Seated`](crate::lock::Seated), to read until dropped.
///
/// It may be sent to another thread and dropped there. A guard that is forgotten keeps all writers
/// out until its own seat locks or reads again.
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct SeatReadGuard<'s, 'a, L: RawSharedLock, T> {
    // Fields drop in this order: the access to the data ends before the visit does.
    data: ConstPtr<T>,
    visit: Visit<'s, 'a, L, T>,
    reads: PhantomData<&'s T>,
}

// SAFETY: a guard is an exclusive reference to its seat, and gives out shared references to the
// data, which may be there for several threads.
unsafe impl<L: RawSharedLock, T: Send + Sync> Send for SeatReadGuard<'_, '_, L, T> {}
// SAFETY: a shared guard gives out shared references to the data only.
unsafe impl<L: RawSharedLock, T: Sync> Sync for SeatReadGuard<'_, '_, L, T> {}

impl<L: RawSharedLock, T> Deref for SeatReadGuard<'_, '_, L, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard's seat is inside as a reader, and the raw lock admits no writer.
        self.data.with(|data| unsafe { &*data })
    }
}

impl<L: RawSharedLock, T: fmt::Debug> fmt::Debug for SeatReadGuard<'_, '_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<L: RawSharedLock, T: fmt::Display> fmt::Display for SeatReadGuard<'_, '_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<L: RawSharedLock, T> SeatReadGuard<'_, '_, L, T> {
    /// The number of the seat that reads.
    pub fn seat(guard: &Self) -> usize {
        guard.visit.0.number
    }
}
