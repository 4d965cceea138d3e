//! Drop-in mutexes over [`lock_api`]: [`BakeryMutex`] and [`TournamentMutex`].

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::lock::leased::{Lease, Leased};
use crate::lock::raw::{Bakery, Peterson, RawLock, Tournament};
use crate::lock::sync::constructor;

/// The default number of seats of a drop-in mutex: as many as can be leased.
pub const DEFAULT_SEATS: usize = usize::BITS as usize;

/// The default bound on how many newcomers may bypass the waiters of a [`TournamentMutex`].
///
/// Chosen by measurement (`lab locks`): with 32 the mutex keeps up with std when there are more
/// threads than cores, and its longest waits are still well below.
pub const DEFAULT_BYPASS: usize = 32;

// SAFETY: `Leased` admits one lease at a time (invariant 2 of `leased`), with acquire and release
// by its edge E1. A lease is what `unlock` needs, and forgetting it leaves the lock held. No
// operation unwinds, since a raw lock does so only if its `Waiting` does, and ours does not.
unsafe impl<L: RawLock, const BYPASS: usize> lock_api::RawMutex for Leased<L, BYPASS> {
    #[cfg(not(exclusion_loom))]
    const INIT: Self = Self::new();

    /// Loom's atomics cannot be built in a constant. The mutexes of this crate do not use it.
    #[cfg(exclusion_loom)]
    const INIT: Self = panic!("under loom use BakeryMutex::new or lock_api::Mutex::from_raw");

    type Guard = Lease;

    #[inline]
    fn lock(&self) -> Lease {
        self.acquire()
    }

    #[inline]
    fn try_lock(&self) -> Option<Lease> {
        self.try_acquire()
    }

    #[inline]
    unsafe fn unlock(&self, lease: Lease) {
        // SAFETY: the same contract.
        unsafe { self.release(lease) };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        Leased::is_locked(self)
    }
}

// SAFETY: as above.
unsafe impl<L: RawLock, const BYPASS: usize> lock_api::RawMutexFair for Leased<L, BYPASS> {
    #[inline]
    unsafe fn unlock_fair(&self, lease: Lease) {
        // SAFETY: the same contract.
        unsafe { self.release_fairly(lease) };
    }

    #[inline]
    unsafe fn bump(&self, lease: &mut Lease) {
        if self.is_awaited(lease) {
            // Neither of the two unwinds, so the lease is never seen stale.
            // SAFETY: the same contract; the stale lease is overwritten before anybody uses it.
            unsafe { self.release_fairly(lease.duplicate()) };
            *lease = self.acquire();
        }
    }
}

#[cfg(feature = "std")]
// SAFETY: as above. A thread that gives up withdraws from the raw lock and leaves its seat.
unsafe impl<L: RawLock, const BYPASS: usize> lock_api::RawMutexTimed for Leased<L, BYPASS> {
    type Duration = std::time::Duration;
    type Instant = std::time::Instant;

    #[inline]
    fn try_lock_for(&self, timeout: Self::Duration) -> Option<Lease> {
        match std::time::Instant::now().checked_add(timeout) {
            Some(deadline) => self.acquire_until(deadline),
            None => Some(self.acquire()),
        }
    }

    #[inline]
    fn try_lock_until(&self, deadline: Self::Instant) -> Option<Lease> {
        self.acquire_until(deadline)
    }
}

/// A drop-in type: a transparent wrapper of lock_api's mutex, so that `new` knows how many seats to
/// use where the type is not written out, and exists under loom.
macro_rules! drop_in {
    (
        $(#[$doc:meta])*
        $mutex:ident, BYPASS = $bypass:expr, $raw:ident = $lock:ty,
        $guard:ident, $mapped:ident, $arc_guard:ident
    ) => {
        #[doc = concat!("The [`lock_api::RawMutex`] of [`", stringify!($mutex), "`].")]
        pub type $raw<const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = $bypass> =
            Leased<$lock, BYPASS>;

        #[doc = concat!("The guard of a [`", stringify!($mutex), "`].")]
        pub type $guard<'a, T, const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = $bypass> =
            lock_api::MutexGuard<'a, $raw<SEATS, BYPASS>, T>;

        #[doc = concat!("The guard of a part of the data in a [`", stringify!($mutex), "`].")]
        pub type $mapped<'a, T, const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = $bypass> =
            lock_api::MappedMutexGuard<'a, $raw<SEATS, BYPASS>, T>;

        #[doc = concat!("The guard that owns an `Arc` of its [`", stringify!($mutex), "`].")]
        #[cfg(feature = "arc_lock")]
        pub type $arc_guard<T, const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = $bypass> =
            lock_api::ArcMutexGuard<$raw<SEATS, BYPASS>, T>;

        $(#[$doc])*
        #[repr(transparent)]
        pub struct $mutex<
            T: ?Sized,
            const SEATS: usize = DEFAULT_SEATS,
            const BYPASS: usize = $bypass,
        >(
            lock_api::Mutex<$raw<SEATS, BYPASS>, T>,
        );

        impl<T> $mutex<T> {
            constructor! {
                /// Puts `value` behind a lock of [`DEFAULT_SEATS`] seats.
                #[inline]
                pub fn new(value: T) -> Self {
                    Self::with_seats(value)
                }
            }
        }

        impl<T, const SEATS: usize, const BYPASS: usize> $mutex<T, SEATS, BYPASS> {
            constructor! {
                /// Puts `value` behind a lock of `SEATS` seats, passed by at most `BYPASS`
                /// newcomers.
                ///
                /// No seats, or more than `usize` has bits, do not compile.
                #[inline]
                pub fn with_seats(value: T) -> Self {
                    Self(lock_api::Mutex::from_raw(Leased::new(), value))
                }
            }

            /// The value.
            #[inline]
            pub fn into_inner(self) -> T {
                self.0.into_inner()
            }
        }

        /// The methods of lock_api that start from an `Arc`.
        #[cfg(feature = "arc_lock")]
        impl<T, const SEATS: usize, const BYPASS: usize> $mutex<T, SEATS, BYPASS> {
            fn inner(
                self: &alloc::sync::Arc<Self>,
            ) -> alloc::sync::Arc<lock_api::Mutex<$raw<SEATS, BYPASS>, T>> {
                let wrapped = alloc::sync::Arc::into_raw(alloc::sync::Arc::clone(self));
                // SAFETY: the wrapper is transparent, so size, alignment and validity are the same.
                unsafe { alloc::sync::Arc::from_raw(wrapped.cast()) }
            }

            /// Waits for the lock; the guard keeps the mutex alive.
            pub fn lock_arc(self: &alloc::sync::Arc<Self>) -> $arc_guard<T, SEATS, BYPASS> {
                self.inner().lock_arc()
            }

            /// The lock, if that needs no waiting; the guard keeps the mutex alive.
            pub fn try_lock_arc(
                self: &alloc::sync::Arc<Self>,
            ) -> Option<$arc_guard<T, SEATS, BYPASS>> {
                self.inner().try_lock_arc()
            }

            /// Waits for the lock until the timeout; the guard keeps the mutex alive.
            #[cfg(feature = "std")]
            pub fn try_lock_arc_for(
                self: &alloc::sync::Arc<Self>,
                timeout: std::time::Duration,
            ) -> Option<$arc_guard<T, SEATS, BYPASS>> {
                self.inner().try_lock_arc_for(timeout)
            }

            /// Waits for the lock until the deadline; the guard keeps the mutex alive.
            #[cfg(feature = "std")]
            pub fn try_lock_arc_until(
                self: &alloc::sync::Arc<Self>,
                deadline: std::time::Instant,
            ) -> Option<$arc_guard<T, SEATS, BYPASS>> {
                self.inner().try_lock_arc_until(deadline)
            }
        }

        impl<T: ?Sized, const SEATS: usize, const BYPASS: usize> Deref
            for $mutex<T, SEATS, BYPASS>
        {
            type Target = lock_api::Mutex<$raw<SEATS, BYPASS>, T>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<T: ?Sized, const SEATS: usize, const BYPASS: usize> DerefMut
            for $mutex<T, SEATS, BYPASS>
        {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl<T: Default, const SEATS: usize, const BYPASS: usize> Default
            for $mutex<T, SEATS, BYPASS>
        {
            fn default() -> Self {
                Self::with_seats(T::default())
            }
        }

        impl<T, const SEATS: usize, const BYPASS: usize> From<T> for $mutex<T, SEATS, BYPASS> {
            fn from(value: T) -> Self {
                Self::with_seats(value)
            }
        }

        impl<T: ?Sized + fmt::Debug, const SEATS: usize, const BYPASS: usize> fmt::Debug
            for $mutex<T, SEATS, BYPASS>
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

drop_in! {
    /// A mutex that serves in order of arrival: Lamport's bakery behind lock_api's interface.
    ///
    /// It dereferences to [`lock_api::Mutex`] and has all its methods: `lock`, `try_lock`,
    /// `try_lock_for`, `try_lock_until`, `is_locked`, mapped guards, `bump`. Put it where a
    /// `parking_lot::Mutex` was.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// use exclusion::BakeryMutex;
    ///
    /// static HITS: BakeryMutex<u32> = BakeryMutex::new(0);
    ///
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| *HITS.lock() += 1);
    ///     }
    /// });
    /// assert_eq!(*HITS.lock(), 4);
    /// # }
    /// ```
    ///
    /// # Seats
    /// Any number of threads may use the lock. At most `SEATS - 1` of them have a seat, waiting in
    /// line or inside. The others sleep until they are given one, the longest sleeper first. The
    /// lock takes a word per seat.
    ///
    /// # Fairness
    /// First come, first served among the threads that have a seat: nobody overtakes a thread that
    /// has drawn a ticket. So `try_lock` fails while anybody is inside or in line, and `is_locked`
    /// says so. A program that only ever tries may starve. What `bump` and `unlock_fair` promise is
    /// told at [`Leased`](Leased#handing-over).
    ///
    /// # Bypass
    /// When there are more threads than cores, strict order costs a switch of threads per entry.
    /// With a `BYPASS` above 0 at most that many newcomers may enter between two from the line. A
    /// thread with `k` others before it in line is then passed at most `(k + 1) * BYPASS` times,
    /// and throughput is several times higher.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// use exclusion::BakeryMutex;
    ///
    /// let busy = BakeryMutex::<_, 64, 32>::with_seats(0);
    /// *busy.lock() += 1;
    /// # }
    /// ```
    ///
    /// A panic while a guard lives releases the lock and does not poison it.
    BakeryMutex, BYPASS = 0, RawBakeryMutex = Bakery<SEATS>,
    BakeryMutexGuard, MappedBakeryMutexGuard, ArcBakeryMutexGuard
}

drop_in! {
    /// A mutex without starvation whose contenders play a tournament, behind lock_api's interface.
    ///
    /// It dereferences to [`lock_api::Mutex`] and has all its methods: `lock`, `try_lock`,
    /// `try_lock_for`, `try_lock_until`, `is_locked`, mapped guards, `bump`. Put it where a
    /// `parking_lot::Mutex` was.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// use exclusion::TournamentMutex;
    ///
    /// let best = TournamentMutex::new(None);
    /// std::thread::scope(|scope| {
    ///     for time in [31, 29, 30] {
    ///         let best = &best;
    ///         scope.spawn(move || {
    ///             let mut best = best.lock();
    ///             *best = Some(best.map_or(time, |best: u32| best.min(time)));
    ///         });
    ///     }
    /// });
    /// assert_eq!(best.into_inner(), Some(29));
    /// # }
    /// ```
    ///
    /// # Seats
    /// Any number of threads may use the lock. At most `SEATS - 1` of them have a seat, playing or
    /// inside. The others sleep until they are given one, the longest sleeper first. The lock takes
    /// three words per seat.
    ///
    /// # Fairness
    /// No starvation among the threads that have a seat: see [`Tournament`]. Between two of them at
    /// most `BYPASS` newcomers enter without playing. After an `unlock_fair` or `bump` none does:
    /// see [`Leased`](Leased#handing-over).
    ///
    /// A panic while a guard lives releases the lock and does not poison it.
    TournamentMutex, BYPASS = DEFAULT_BYPASS, RawTournamentMutex = Tournament<SEATS, Peterson>,
    TournamentMutexGuard, MappedTournamentMutexGuard, ArcTournamentMutexGuard
}

// What does not compile. Each pair of examples differs in the number of seats alone.
/// ```
/// let mutex = exclusion::BakeryMutex::<u8, 1>::with_seats(0);
/// ```
/// ```compile_fail,E0080
/// let mutex = exclusion::BakeryMutex::<u8, 0>::with_seats(0);
/// ```
/// ```
/// let mutex = exclusion::TournamentMutex::<u8, { usize::BITS as usize }>::with_seats(0);
/// ```
/// ```compile_fail,E0080
/// let mutex = exclusion::TournamentMutex::<u8, { usize::BITS as usize + 1 }>::with_seats(0);
/// ```
/// ```
/// use exclusion::lock::{Seated, raw::Tournament};
/// let cell = Seated::<Tournament<1>, u8>::new(0).seats::<1>();
/// ```
/// ```compile_fail,E0080
/// use exclusion::lock::{Seated, raw::Tournament};
/// let cell = Seated::<Tournament<0>, u8>::new(0).seats::<0>();
/// ```
/// ```
/// use exclusion::lock::raw::{Bakery, Tournament};
/// let cell = exclusion::lock::Seated::<Tournament<2, Bakery<2>>, u8>::new(0).seats::<2>();
/// ```
/// ```compile_fail,E0080
/// use exclusion::lock::raw::{Bakery, Tournament};
/// let cell = exclusion::lock::Seated::<Tournament<2, Bakery<3>>, u8>::new(0).seats::<2>();
/// ```
/// ```
/// use exclusion::lock::raw::{Bakery, Narrow};
/// let cell = exclusion::lock::Seated::<Bakery<2, Narrow<2>>, u8>::new(0).seats::<2>();
/// ```
/// ```compile_fail,E0080
/// use exclusion::lock::raw::{Bakery, Narrow};
/// let cell = exclusion::lock::Seated::<Bakery<2, Narrow<1>>, u8>::new(0).seats::<2>();
/// ```
#[cfg(doctest)]
pub struct Refused;
