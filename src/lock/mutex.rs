//! Drop-in mutexes over [`lock_api`]: [`BakeryMutex`] and [`TournamentMutex`].

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::lock::forward::{by_default, forward};
use crate::lock::leased::{Lease, Leased};
use crate::lock::policy::{Policy, Strict};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
use crate::lock::pooled::{Pooled, Turn};
use crate::lock::raw::{Peterson, RawLock, Tournament};
use crate::lock::sync::constructor;
#[cfg(feature = "std")]
use crate::lock::sync::time;

/// The default number of seats of a drop-in mutex: as many as can be leased.
pub const DEFAULT_SEATS: usize = usize::BITS as usize;

/// The default bound on how many newcomers may bypass the waiters of a [`TournamentMutex`].
///
/// Chosen by measurement (`lab locks`): with 32 the mutex keeps up with std when there are more
/// threads than cores, and its longest waits are still well below.
pub const DEFAULT_BYPASS: usize = 32;

/// Implements lock_api's traits for a raw mutex with these operations of its own.
macro_rules! raw_mutex {
    ([$($generics:tt)*] $raw:ty, $state:ident) => {
        // SAFETY: the raw mutex admits one thread at a time, with acquire and release by its edge
        // E1 (invariant 2 of `leased`, 1 of `pooled`). The state of the guard is what `unlock`
        // needs, and forgetting it leaves the lock held. No operation unwinds, since a raw lock
        // does so only if its `Waiting` does, and ours do not.
        unsafe impl<$($generics)*> lock_api::RawMutex for $raw {
            #[cfg(not(exclusion_loom))]
            const INIT: Self = Self::new();

            /// Loom's atomics cannot be built in a constant. The mutexes of this crate do not use
            /// it.
            #[cfg(exclusion_loom)]
            const INIT: Self = panic!("under loom use BakeryMutex::new or lock_api::Mutex::from_raw");

            type Guard = $state;

            #[inline]
            fn lock(&self) -> $state {
                self.acquire()
            }

            #[inline]
            fn try_lock(&self) -> Option<$state> {
                self.try_acquire()
            }

            #[inline]
            unsafe fn unlock(&self, state: $state) {
                // SAFETY: the same contract.
                unsafe { self.release(state) };
            }

            #[inline]
            fn is_locked(&self) -> bool {
                Self::is_locked(self)
            }
        }

        // SAFETY: as above.
        unsafe impl<$($generics)*> lock_api::RawMutexFair for $raw {
            #[inline]
            unsafe fn unlock_fair(&self, state: $state) {
                // SAFETY: the same contract.
                unsafe { self.release_fairly(state) };
            }

            #[inline]
            unsafe fn bump(&self, state: &mut $state) {
                if self.is_awaited(state) {
                    // Neither of the two unwinds, so the state is never seen stale.
                    // SAFETY: the same contract; the stale state is overwritten before anybody uses
                    // it.
                    unsafe { self.release_fairly(state.duplicate()) };
                    *state = self.acquire();
                }
            }
        }

        #[cfg(feature = "std")]
        // SAFETY: as above. A thread that gives up withdraws from the raw lock and leaves its seat.
        unsafe impl<$($generics)*> lock_api::RawMutexTimed for $raw {
            type Duration = std::time::Duration;
            type Instant = std::time::Instant;

            #[inline]
            fn try_lock_for(&self, timeout: Self::Duration) -> Option<$state> {
                self.acquire_until(time::after(timeout))
            }

            #[inline]
            fn try_lock_until(&self, deadline: Self::Instant) -> Option<$state> {
                self.acquire_until(Some(deadline))
            }
        }
    };
}

raw_mutex!([L: RawLock, const BYPASS: usize] Leased<L, BYPASS>, Lease);
#[cfg(all(feature = "std", target_has_atomic = "64"))]
raw_mutex!([P: Policy] Pooled<P>, Turn);

/// A drop-in type: a transparent wrapper of lock_api's mutex, so that `new` knows its parameters
/// where the type is not written out, and exists under loom.
///
/// The parameters are given four times: with defaults and bounds, with defaults, with bounds, bare.
macro_rules! drop_in {
    (
        $(#[$doc:meta])*
        $mutex:ident, [$($default:tt)*] [$($alias:tt)*] [$($bound:tt)*] [$($bare:tt)*], $raw:ident, $guard:ident,
        $mapped:ident, $arc_guard:ident,
        $(#[$new_doc:meta])* new,
        $(#[$with_doc:meta])* $with:ident = $unlocked:expr
    ) => {
        #[doc = concat!("The guard of a [`", stringify!($mutex), "`].")]
        pub type $guard<'a, T, $($alias)*> = lock_api::MutexGuard<'a, $raw<$($bare)*>, T>;

        #[doc = concat!("The guard of a part of the data in a [`", stringify!($mutex), "`].")]
        pub type $mapped<'a, T, $($alias)*> = lock_api::MappedMutexGuard<'a, $raw<$($bare)*>, T>;

        #[doc = concat!("The guard that owns an `Arc` of its [`", stringify!($mutex), "`].")]
        #[cfg(feature = "arc_lock")]
        pub type $arc_guard<T, $($alias)*> = lock_api::ArcMutexGuard<$raw<$($bare)*>, T>;

        $(#[$doc])*
        #[repr(transparent)]
        pub struct $mutex<T: ?Sized, $($default)*>(lock_api::Mutex<$raw<$($bare)*>, T>);

        impl<T> $mutex<T> {
            constructor! {
                $(#[$new_doc])*
                #[inline]
                pub fn new(value: T) -> Self {
                    Self::$with(value)
                }
            }
        }

        impl<T, $($bound)*> $mutex<T, $($bare)*> {
            constructor! {
                $(#[$with_doc])*
                #[inline]
                pub fn $with(value: T) -> Self {
                    Self(lock_api::Mutex::from_raw($unlocked, value))
                }
            }

            /// The value.
            #[inline]
            pub fn into_inner(self) -> T {
                self.0.into_inner()
            }

            /// The raw mutex and the value.
            #[inline]
            pub fn into_inner_with_raw(self) -> ($raw<$($bare)*>, T) {
                self.0.into_inner_with_raw()
            }
        }

        /// The methods of lock_api that start from an `Arc`.
        #[cfg(feature = "arc_lock")]
        impl<T: ?Sized, $($bound)*> $mutex<T, $($bare)*> {
            fn inner(self: &alloc::sync::Arc<Self>) -> alloc::sync::Arc<lock_api::Mutex<$raw<$($bare)*>, T>> {
                let wrapped = alloc::sync::Arc::into_raw(alloc::sync::Arc::clone(self));
                // SAFETY: the wrapper is transparent, so size, alignment and validity are the same.
                unsafe { alloc::sync::Arc::from_raw(wrapped as *const lock_api::Mutex<$raw<$($bare)*>, T>) }
            }

            /// Waits for the lock; the guard keeps the mutex alive.
            pub fn lock_arc(self: &alloc::sync::Arc<Self>) -> $arc_guard<T, $($bare)*> {
                self.inner().lock_arc()
            }

            /// The lock, if nobody has to be waited for; the guard keeps the mutex alive.
            pub fn try_lock_arc(self: &alloc::sync::Arc<Self>) -> Option<$arc_guard<T, $($bare)*>> {
                self.inner().try_lock_arc()
            }

            /// Waits for the lock at most so long; the guard keeps the mutex alive.
            #[cfg(feature = "std")]
            pub fn try_lock_arc_for(
                self: &alloc::sync::Arc<Self>,
                timeout: std::time::Duration,
            ) -> Option<$arc_guard<T, $($bare)*>> {
                self.inner().try_lock_arc_for(timeout)
            }

            /// Waits for the lock until then; the guard keeps the mutex alive.
            #[cfg(feature = "std")]
            pub fn try_lock_arc_until(
                self: &alloc::sync::Arc<Self>,
                deadline: std::time::Instant,
            ) -> Option<$arc_guard<T, $($bare)*>> {
                self.inner().try_lock_arc_until(deadline)
            }
        }

        forward!($mutex, [$($bound)*] [$($bare)*], $raw, $guard, $with);
        by_default!($mutex);

        impl<T: ?Sized, $($bound)*> Deref for $mutex<T, $($bare)*> {
            type Target = lock_api::Mutex<$raw<$($bare)*>, T>;

            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<T: ?Sized, $($bound)*> DerefMut for $mutex<T, $($bare)*> {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }

        impl<T: Default, $($bound)*> Default for $mutex<T, $($bare)*> {
            fn default() -> Self {
                Self::$with(T::default())
            }
        }

        impl<T, $($bound)*> From<T> for $mutex<T, $($bare)*> {
            fn from(value: T) -> Self {
                Self::$with(value)
            }
        }

        impl<T: ?Sized + fmt::Debug, $($bound)*> fmt::Debug for $mutex<T, $($bare)*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

/// The [`lock_api::RawMutex`] of [`BakeryMutex`].
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub type RawBakeryMutex<P = Strict> = Pooled<P>;
/// The [`lock_api::RawMutex`] of [`BakeryMutex`].
#[cfg(not(all(feature = "std", target_has_atomic = "64")))]
pub type RawBakeryMutex<P = Strict> = <P as crate::lock::policy::sealed::Policy>::Inline;

/// The [`lock_api::RawMutex`] of [`TournamentMutex`].
pub type RawTournamentMutex<
    const SEATS: usize = DEFAULT_SEATS,
    const BYPASS: usize = DEFAULT_BYPASS,
> = Leased<Tournament<SEATS, Peterson>, BYPASS>;

/// A bakery that nobody holds, by any policy.
macro_rules! unlocked_bakery {
    ($policy:ty) => {{
        #[cfg(all(feature = "std", target_has_atomic = "64"))]
        let unlocked = Pooled::new();
        #[cfg(not(all(feature = "std", target_has_atomic = "64")))]
        let unlocked = <RawBakeryMutex<$policy> as lock_api::RawMutex>::INIT;
        unlocked
    }};
}

drop_in! {
    /// A mutex that serves in order of arrival: Lamport's bakery behind lock_api's interface.
    ///
    /// It dereferences to [`lock_api::Mutex`] and has all its methods: `lock`, `try_lock`,
    /// `try_lock_for`, `try_lock_until`, `is_locked`, mapped guards, `bump`. Put it where a
    /// `parking_lot::Mutex` was. It takes one word.
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
    /// # Fairness
    /// First come, first served: a thread that has drawn its ticket enters before each thread that
    /// calls `lock` later. That holds however many threads there are, but at most 4096 of them have
    /// a ticket at a time. A thread that finds so many in line naps and looks again, for 50 µs at
    /// first and for 5 ms in the end, until it finds room: it comes after those in line, and among
    /// threads that nap there is no order.
    ///
    /// So, without a bypass, `try_lock` fails while anybody is inside or waits, and `is_locked`
    /// says so. A program that only ever tries may starve. `bump` goes behind all threads that have
    /// drawn a ticket; with a bypass, behind the first of them.
    ///
    /// # Strict order and speed
    /// When there are more threads than cores, strict order costs `lock` a switch of threads per
    /// entry: the thread whose turn it is, is not running. There are two ways out. `with` keeps the
    /// order and gives the critical section to a thread that is running. [`Bypass`](crate::Bypass)
    /// keeps the threads and bounds the disorder:
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// use exclusion::{BakeryMutex, Bypass};
    ///
    /// let strict = BakeryMutex::new(0);
    /// strict.with(|number| *number += 1);
    ///
    /// let busy = BakeryMutex::<_, Bypass>::with_policy(0);
    /// *busy.lock() += 1;
    /// # }
    /// ```
    ///
    /// # Bypass
    /// With `BakeryMutex<T, Bypass<COUNT, MICROS>>` at most `COUNT` newcomers enter between two
    /// threads from the line, and only for `MICROS` microseconds. A thread with `k` others ahead of
    /// it in line waits at most `k + 1` times the shorter of the two, plus the critical sections of
    /// those ahead, plus what the scheduler adds: see [`Bypass`](crate::Bypass).
    ///
    /// # Memory
    /// While threads wait, the mutex borrows a line from a pool, which grows to as many lines as
    /// there are contended mutexes at a time. What happens at the limits is told at
    /// [`Pooled`](crate::lock::Pooled#limits). Without `std`, or on a target without 64-bit
    /// atomics, the seats are inside the mutex, and there are [`DEFAULT_SEATS`] of them: see
    /// [`Leased`].
    ///
    /// A panic while a guard lives releases the lock and does not poison it.
    BakeryMutex, [P: Policy = Strict] [P = Strict] [P: Policy] [P], RawBakeryMutex, BakeryMutexGuard,
    MappedBakeryMutexGuard, ArcBakeryMutexGuard,
    /// Puts `value` behind a lock that nobody passes.
    new,
    /// Puts `value` behind a lock of the policy in its type: [`Strict`] or
    /// [`Bypass`](crate::Bypass).
    with_policy = unlocked_bakery!(P)
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
    TournamentMutex,
    [const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = DEFAULT_BYPASS]
    [const SEATS: usize = DEFAULT_SEATS, const BYPASS: usize = DEFAULT_BYPASS]
    [const SEATS: usize, const BYPASS: usize] [SEATS, BYPASS],
    RawTournamentMutex, TournamentMutexGuard, MappedTournamentMutexGuard, ArcTournamentMutexGuard,
    /// Puts `value` behind a lock of [`DEFAULT_SEATS`] seats.
    new,
    /// Puts `value` behind a lock of `SEATS` seats, passed by at most `BYPASS` newcomers.
    ///
    /// No seats, or more than `usize` has bits, do not compile.
    with_seats = Leased::new()
}

// What is refused at compile time. Each pair differs in the number alone.
/// ```
/// let mutex = exclusion::BakeryMutex::<u8, exclusion::Bypass<131_071>>::with_policy(0);
/// ```
/// ```compile_fail,E0080
/// let mutex = exclusion::BakeryMutex::<u8, exclusion::Bypass<131_072>>::with_policy(0);
/// ```
/// ```
/// let mutex = exclusion::TournamentMutex::<u8, 1>::with_seats(0);
/// ```
/// ```compile_fail,E0080
/// let mutex = exclusion::TournamentMutex::<u8, 0>::with_seats(0);
/// ```
/// ```
/// let mutex = exclusion::TournamentMutex::<u8, { usize::BITS as usize }>::with_seats(0);
/// ```
/// ```compile_fail,E0080
/// let mutex = exclusion::TournamentMutex::<u8, { usize::BITS as usize + 1 }>::with_seats(0);
/// ```
/// ```
/// let cell = exclusion::lock::Seated::<exclusion::lock::raw::Tournament<1>,
/// u8>::new(0).seats::<1>();
/// ```
/// ```compile_fail,E0080
/// let cell = exclusion::lock::Seated::<exclusion::lock::raw::Tournament<0>,
/// u8>::new(0).seats::<0>();
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
