//! Owned seats: data behind a raw lock, one handle per seat.

mod read;

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::lock::raw::{RawLock, Waiting, Withdrawn, fresh};
#[cfg(target_has_atomic = "ptr")]
use crate::lock::sync::{AtomicUsize, Ordering};
use crate::lock::sync::{MutPtr, UnsafeCell, constructor};
use crate::lock::wait::{SpinThenYield, Unless};
pub use read::SeatReadGuard;

/// Data behind a [`RawLock`], reached through one [`Seat`] per contender.
///
/// [`seats`](Self::seats) borrows the lock mutably and returns all its seats. The borrow checker
/// then makes sure that no two contenders share one: there is no registration, no compare-and-swap
/// and no `unsafe`. It works without `std` and on targets whose atomics are loads and stores.
///
/// Waiters spin, then yield, then nap. What that means on a busy machine and beside real-time
/// threads is told at [`wait`](crate::lock::wait#real-time-threads).
///
/// ```
/// use exclusion::lock::Seated;
/// use exclusion::lock::raw::Tournament;
///
/// let mut total = Seated::<Tournament<3>, u64>::new(0);
/// let seats: [_; 3] = total.seats();
/// std::thread::scope(|scope| {
///     for mut seat in seats {
///         scope.spawn(move || {
///             for _ in 0..1000 {
///                 *seat.lock() += 1;
///             }
///         });
///     }
/// });
/// assert_eq!(total.into_inner(), 3000);
/// ```
///
/// # Readers
///
/// Behind a lock with readers, such as [`RwBakery`](crate::lock::raw::RwBakery), a seat can also
/// [`read`](Seat::read), and several may at a time.
///
/// # In a `static`
///
/// A `static` cannot be borrowed mutably. [`take_seats`](Self::take_seats) hands out the seats
/// once, which takes an atomic swap. Where there is none, [`seat_unchecked`](Self::seat_unchecked)
/// leaves the counting to the caller. A cell that gives out `&'static mut` once works with `seats`
/// as it is.
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::lock::Seated;
/// use exclusion::lock::raw::Peterson;
///
/// static SHARED: Seated<Peterson, u32> = Seated::new(0);
///
/// let [mut left, mut right] = SHARED.take_seats().expect("nobody took them before");
/// let worker = std::thread::spawn(move || *right.lock() += 1);
/// *left.lock() += 1;
/// worker.join().unwrap();
/// assert_eq!(*left.lock(), 2);
/// assert!(SHARED.take_seats::<2>().is_none());
/// # }
/// ```
pub struct Seated<L, T> {
    lock: L,
    #[cfg(target_has_atomic = "ptr")]
    taken: AtomicUsize,
    data: UnsafeCell<T>,
}

// SAFETY: the data is reached only through seats, and the raw lock admits one at a time. Or several
// that read, which asks for data that is `Sync`.
unsafe impl<L: RawLock, T: Send> Sync for Seated<L, T> {}

impl<L: RawLock, T> Seated<L, T> {
    constructor! {
        /// Puts `data` behind a lock.
        pub fn new(data: T) -> Self {
            Self {
                lock: fresh!(L),
                #[cfg(target_has_atomic = "ptr")]
                taken: AtomicUsize::new(NOT_TAKEN),
                data: UnsafeCell::new(data),
            }
        }
    }

    /// All seats of the lock, for as long as it is borrowed.
    ///
    /// Asking for another number of seats than the lock has does not compile:
    ///
    /// ```compile_fail
    /// let mut cell = exclusion::lock::Seated::<exclusion::lock::raw::Bakery<2>, _>::new(0);
    /// let seats: [_; 3] = cell.seats();
    /// ```
    ///
    /// Nor does a lock without seats:
    ///
    /// ```compile_fail
    /// let mut cell = exclusion::lock::Seated::<exclusion::lock::raw::Bakery<0>, _>::new(0);
    /// let seats: [_; 0] = cell.seats();
    /// ```
    #[inline]
    pub fn seats<const N: usize>(&mut self) -> [Seat<'_, L, T>; N] {
        // A guard forgotten in an earlier borrow may have left the lock held. Nobody is there now.
        self.lock = fresh!(L);
        // A guard may be forgotten in this borrow too. Seats taken later would wait for it, since
        // `take_seats` cannot start afresh.
        #[cfg(target_has_atomic = "ptr")]
        self.taken.store(TAKEN, Ordering::Relaxed);
        self.all_seats()
    }

    /// All seats of the lock, the first time. `None` afterwards, and after [`seats`](Self::seats).
    ///
    /// This is how to get seats from a `static`. It is sound because an atomic swap decides which
    /// call gets them, and because the seats borrow the lock: [`seats`](Self::seats), on a lock
    /// that is not `static`, compiles only where they are gone.
    #[cfg(target_has_atomic = "ptr")]
    pub fn take_seats<const N: usize>(&self) -> Option<[Seat<'_, L, T>; N]> {
        // Relaxed: one call gets `NOT_TAKEN`, and there is nothing else to know.
        let before = self.taken.swap(TAKEN, Ordering::Relaxed);
        (before == NOT_TAKEN).then(|| self.all_seats())
    }

    /// One seat. The caller promises that it is free.
    ///
    /// # Panics
    /// When the lock has no such seat.
    ///
    /// # Safety
    /// As long as the seat is used, no other [`Seat`] of that number is, from this function or
    /// another one. Mind that [`take_seats`](Self::take_seats) does not know of it. The last use of
    /// such a seat happens before this call.
    pub unsafe fn seat_unchecked(&self, number: usize) -> Seat<'_, L, T> {
        assert!(number < L::SEATS, "seat {number} of a lock with {} seats", L::SEATS);
        Seat { cell: self, number }
    }

    /// The data, without locking: the borrow proves that nobody has a seat.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: we have the only reference to the cell, and the result borrows it.
        self.data.get_mut().with(|data| unsafe { &mut *data })
    }

    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }

    fn all_seats<const N: usize>(&self) -> [Seat<'_, L, T>; N] {
        const { assert!(N == L::SEATS, "ask for as many seats as the lock has") };
        core::array::from_fn(|number| Seat { cell: self, number })
    }
}

impl<L: RawLock, T: Default> Default for Seated<L, T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<L, T> fmt::Debug for Seated<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seated").finish_non_exhaustive()
    }
}

#[cfg(target_has_atomic = "ptr")]
const NOT_TAKEN: usize = 0;
#[cfg(target_has_atomic = "ptr")]
const TAKEN: usize = 1;

/// A contender's handle to the data of a [`Seated`].
///
/// Locking borrows the seat mutably, so locking twice from one seat does not compile:
///
/// ```compile_fail
/// let mut cell = exclusion::lock::Seated::<exclusion::lock::raw::Bakery<1>, _>::new(0);
/// let [mut seat] = cell.seats();
/// let first = seat.lock();
/// let second = seat.lock();
/// drop(first);
/// ```
pub struct Seat<'a, L: RawLock, T> {
    cell: &'a Seated<L, T>,
    number: usize,
}

impl<'a, L: RawLock, T> Seat<'a, L, T> {
    /// Waits for the lock, spinning, then yielding, then napping.
    #[inline]
    pub fn lock(&mut self) -> SeatGuard<'_, 'a, L, T> {
        match self.enter(&SpinThenYield) {
            Ok(()) => self.guard(),
            Err(Withdrawn) => unreachable!("this way of waiting does not give up"),
        }
    }

    /// The lock, if no waiting is needed.
    ///
    /// `None` says that another seat was inside, entering or leaving.
    #[inline]
    pub fn try_lock(&mut self) -> Option<SeatGuard<'_, 'a, L, T>> {
        self.lock_unless(|| true)
    }

    /// Waits for the lock until `give_up`, asked between looks, returns `true`.
    ///
    /// This is the timeout for programs that have no clock, or one of their own.
    #[inline]
    pub fn lock_unless(&mut self, give_up: impl Fn() -> bool) -> Option<SeatGuard<'_, 'a, L, T>> {
        match self.enter(&Unless(give_up)) {
            Ok(()) => Some(self.guard()),
            Err(Withdrawn) => None,
        }
    }

    /// Waits for the lock until the timeout.
    #[cfg(feature = "std")]
    pub fn try_lock_for(
        &mut self,
        timeout: std::time::Duration,
    ) -> Option<SeatGuard<'_, 'a, L, T>> {
        match std::time::Instant::now().checked_add(timeout) {
            Some(deadline) => self.try_lock_until(deadline),
            None => Some(self.lock()),
        }
    }

    /// Waits for the lock until the deadline.
    #[cfg(feature = "std")]
    pub fn try_lock_until(
        &mut self,
        deadline: std::time::Instant,
    ) -> Option<SeatGuard<'_, 'a, L, T>> {
        self.lock_unless(|| std::time::Instant::now() >= deadline)
    }

    /// The number of this seat.
    pub fn number(&self) -> usize {
        self.number
    }

    #[inline]
    fn enter(&mut self, waiting: &impl Waiting) -> Result<(), Withdrawn> {
        self.be_idle();
        // SAFETY: there is one seat of a number, we have it mutably, and it is idle.
        unsafe { self.cell.lock.acquire(self.number, waiting) }
    }

    #[inline]
    fn be_idle(&mut self) {
        if !self.cell.lock.is_idle(self.number) {
            self.leave_forgotten();
        }
    }

    /// A guard was forgotten. Its borrow of this seat is over, so nobody uses the data.
    #[cold]
    fn leave_forgotten(&mut self) {
        // SAFETY: we have the seat mutably, and it is not entering, so it is inside.
        unsafe { self.cell.lock.release(self.number) };
    }

    #[inline]
    fn guard(&mut self) -> SeatGuard<'_, 'a, L, T> {
        SeatGuard { data: self.cell.data.get_mut(), visit: Visit(self), owns: PhantomData }
    }
}

impl<L: RawLock, T> fmt::Debug for Seat<'_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The data of a [`Seated`], until dropped.
///
/// It may be sent to another thread and dropped there. A guard that is forgotten keeps all other
/// seats out until its own locks again.
#[must_use = "the lock is released as soon as the guard is dropped"]
pub struct SeatGuard<'s, 'a, L: RawLock, T> {
    // Fields drop in this order: the access to the data ends before the visit does.
    data: MutPtr<T>,
    visit: Visit<'s, 'a, L, T>,
    owns: PhantomData<&'s mut T>,
}

struct Visit<'s, 'a, L: RawLock, T>(&'s mut Seat<'a, L, T>);

impl<L: RawLock, T> Drop for Visit<'_, '_, L, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made when this seat had entered, and it is dropped once.
        unsafe { self.0.cell.lock.release(self.0.number) };
    }
}

// SAFETY: a guard is an exclusive reference to the data and to its seat.
unsafe impl<L: RawLock, T: Send> Send for SeatGuard<'_, '_, L, T> {}
// SAFETY: a shared guard gives out shared references to the data only.
unsafe impl<L: RawLock, T: Sync> Sync for SeatGuard<'_, '_, L, T> {}

impl<L: RawLock, T> Deref for SeatGuard<'_, '_, L, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard's seat is inside, and the raw lock admits one at a time.
        self.data.with(|data| unsafe { &*data })
    }
}

impl<L: RawLock, T> DerefMut for SeatGuard<'_, '_, L, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as for `deref`.
        self.data.with(|data| unsafe { &mut *data })
    }
}

impl<L: RawLock, T: fmt::Debug> fmt::Debug for SeatGuard<'_, '_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<L: RawLock, T: fmt::Display> fmt::Display for SeatGuard<'_, '_, L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

impl<L: RawLock, T> SeatGuard<'_, '_, L, T> {
    /// The number of the seat that is inside.
    pub fn seat(guard: &Self) -> usize {
        guard.visit.0.number
    }
}
