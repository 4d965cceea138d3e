//! Locks over numbered seats, from loads, stores and fences.
//!
//! A [`RawLock`] is an algorithm and nothing else: it holds no data, knows no threads and asks its
//! caller how to wait. Its contenders sit on seats `0..SEATS`, at most one per seat at a time. All
//! shared memory is registers, a type of this crate that has no read-modify-write. So these locks
//! run where there is no compare-and-swap. The one exception says so in its name.
//!
//! | lock | seats | order of service | registers |
//! |---|---|---|---|
//! | [`Bakery`] | any | first come, first served from the doorway | one per seat |
//! | [`RwBakery`] | any | the same, for readers and writers | one per seat |
//! | [`BlackWhiteBakery`] | any | the same, with bounded tickets | one per seat and one |
//! | [`Tournament`] of [`Peterson`] | any | no starvation; one bypass per node | three per node |
//! | [`Tournament`] of [`Priority`] | any | no starvation; bypass is unbounded | three per node |
//! | [`Peterson`] | 2 | at most one bypass | three |
//! | [`PetersonSwap`] | 2 | at most one bypass | three, one of them with a swap |
//! | [`Priority`] | 2 | no starvation; bypass is unbounded | three |
//!
//! Each file opens with its state table, its invariants and its edges.
//! [`verification`](crate::docs::verification) shows that the orderings are sufficient, and that
//! each is needed.

pub(crate) mod bakery;
pub(crate) mod black_white;
mod doorway;
mod layout;
pub(crate) mod peterson;
#[cfg(target_has_atomic = "ptr")]
pub(crate) mod peterson_swap;
pub(crate) mod priority;
mod register;
mod rule;
mod tournament;

pub use bakery::{Bakery, RwBakery};
pub use black_white::BlackWhiteBakery;
#[doc(hidden)]
pub use layout::Narrow;
pub use layout::{Layout, Packed, Padded};
pub use peterson::Peterson;
#[cfg(target_has_atomic = "ptr")]
pub use peterson_swap::PetersonSwap;
pub use priority::Priority;
use register::Register;
pub use rule::{Alone, Rule, Shared};
pub use tournament::Tournament;

/// A mutual-exclusion algorithm among numbered seats.
///
/// This is the layer for programs that bring their own threads, data or way of waiting. To put data
/// behind such a lock take [`Seated`](crate::lock::Seated), for a drop-in mutex
/// [`BakeryMutex`](crate::BakeryMutex) or [`TournamentMutex`](crate::TournamentMutex).
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::lock::raw::{Bakery, RawLock};
/// use exclusion::lock::wait::SpinThenYield;
///
/// let lock = Bakery::<4>::new();
/// // SAFETY: nobody else uses this lock, so nobody else sits on seats 1 and 2.
/// unsafe {
///     lock.acquire(1, &SpinThenYield).unwrap();
///     assert!(!lock.try_acquire(2));
///     lock.release(1);
///     assert!(lock.try_acquire(2));
///     lock.release(2);
/// }
/// # }
/// ```
///
/// # Safety
///
/// Between a successful `acquire` or `try_acquire` of a seat and its `release`, no `acquire` or
/// `try_acquire` of another seat succeeds, and everything before the `release` happens before
/// everything after the next success. This must hold for every [`Waiting`] that keeps its promise.
///
/// No method unwinds, unless `waiting` does; then the seat is idle again. The `ready` that
/// `waiting` is called with does nothing but look, and every [`Place`] is an address inside the
/// lock.
///
/// Asked by the user of a seat, and not in the middle of an acquire, `is_idle` is `false` exactly
/// if the seat is inside. A lock of one seat may always say `true`, if it can then be acquired
/// again.
pub unsafe trait RawLock: Send + Sync {
    /// How many seats the lock has.
    const SEATS: usize;

    /// A lock that nobody holds: the value to start from, for a lock of your own too. The locks of
    /// this module have `new` as well.
    #[cfg(not(exclusion_loom))]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "a value to start from, as in lock_api"
    )]
    const UNLOCKED: Self;

    /// A lock that nobody holds. Outside loom this is the constant `UNLOCKED`.
    #[cfg(exclusion_loom)]
    fn unlocked() -> Self;

    /// Enters from `seat`, waiting for its turn as `waiting` says.
    ///
    /// # Errors
    /// [`Withdrawn`] when `waiting` gave up. The seat is then as if it had never asked. A caller
    /// whose waiters sleep wakes those at its [`places`](Self::places), as after a release.
    ///
    /// # Safety
    /// `seat` is below `SEATS` and idle: nobody is entering from it or inside on it. Its last user
    /// is done and happens before this call. `waiting` keeps the promise of [`Waiting`].
    #[inline]
    unsafe fn acquire(&self, seat: usize, waiting: &impl Waiting) -> Result<(), Withdrawn> {
        // SAFETY: the same contract, and `Everybody` omits no seat.
        unsafe { self.acquire_among(seat, &Everybody, waiting) }
    }

    /// As [`acquire`](Self::acquire), for a caller that knows which seats are in use.
    ///
    /// # Errors
    /// As for [`acquire`](Self::acquire).
    ///
    /// # Safety
    /// As for [`acquire`](Self::acquire), and `present` keeps the promise of [`Attendance`].
    unsafe fn acquire_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn>;

    /// Enters from `seat` if that needs no waiting.
    ///
    /// It may fail though nobody is inside, but only while another seat is entering or leaving.
    ///
    /// # Safety
    /// As for [`acquire`](Self::acquire).
    #[inline]
    unsafe fn try_acquire(&self, seat: usize) -> bool {
        // SAFETY: the same contract.
        unsafe { self.acquire(seat, &NoPatience) }.is_ok()
    }

    /// Leaves.
    ///
    /// # Safety
    /// `seat` is inside, by an `acquire` or `try_acquire` that happens before this call.
    unsafe fn release(&self, seat: usize);

    /// Whether `seat` is neither entering nor inside, as its user sees it.
    fn is_idle(&self, seat: usize) -> bool;

    /// Names every place at which others may wait for `seat` to leave or withdraw, so that a caller
    /// whose waiters sleep can wake them. Between the release or withdrawal and its look for
    /// sleepers it needs a full fence, or a read-modify-write of a word that sleepers write in the
    /// same way.
    fn places(&self, seat: usize, visit: impl FnMut(Place));
}

/// A [`RawLock`] that also lets readers in, several at a time. Its `acquire` is for writers.
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::lock::raw::{RawLock, RawSharedLock, RwBakery};
/// use exclusion::lock::wait::SpinThenYield;
///
/// let lock = RwBakery::<3>::with_readers();
/// // SAFETY: nobody else uses this lock, so nobody else sits on its seats.
/// unsafe {
///     lock.acquire_shared(0, &SpinThenYield).unwrap();
///     assert!(lock.try_acquire_shared(1));
///     assert!(!lock.try_acquire(2));
///     lock.release(0);
///     lock.release(1);
///     assert!(lock.try_acquire(2));
/// }
/// # }
/// ```
///
/// # Safety
///
/// Between a successful `acquire_shared` of a seat and its `release`, no `acquire` of another seat
/// succeeds, and between a successful `acquire` and its `release` no `acquire_shared` does.
/// Everything before a `release` happens before everything after the next success, unless both are
/// those of readers. For the rest, what [`RawLock`] asks for holds for readers too.
pub unsafe trait RawSharedLock: RawLock {
    /// Enters from `seat` as a reader, waiting for its turn as `waiting` says.
    ///
    /// # Errors
    /// As for [`acquire`](RawLock::acquire).
    ///
    /// # Safety
    /// As for [`acquire`](RawLock::acquire).
    #[inline]
    unsafe fn acquire_shared(&self, seat: usize, waiting: &impl Waiting) -> Result<(), Withdrawn> {
        // SAFETY: the same contract, and `Everybody` omits no seat.
        unsafe { self.acquire_shared_among(seat, &Everybody, waiting) }
    }

    /// As [`acquire_shared`](Self::acquire_shared), for a caller that knows which seats are in use.
    ///
    /// # Errors
    /// As for [`acquire`](RawLock::acquire).
    ///
    /// # Safety
    /// As for [`acquire_among`](RawLock::acquire_among).
    unsafe fn acquire_shared_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn>;

    /// Enters from `seat` as a reader if that needs no waiting.
    ///
    /// It may fail though no writer is inside, but only while another seat is entering or leaving.
    ///
    /// # Safety
    /// As for [`acquire`](RawLock::acquire).
    #[inline]
    unsafe fn try_acquire_shared(&self, seat: usize) -> bool {
        // SAFETY: the same contract.
        unsafe { self.acquire_shared(seat, &NoPatience) }.is_ok()
    }
}

/// Which seats are in use.
///
/// The promise: `seats` omits a seat only if an occupancy word says that it is free. A contender
/// that takes a seat writes this word with a read-modify-write before it acquires, or has read
/// there that its seat may be in use. One that leaves a seat writes the word, if at all, after it
/// has released or withdrawn. The lock does not carry over what was done on the seats omitted: the
/// caller orders itself after that, for example by the same word.
pub trait Attendance {
    /// The seats out of `0..all` that may be in use, in ascending order.
    fn seats(&self, all: usize) -> impl Iterator<Item = usize>;
}

/// Omits no seat, and reads no word: what owned seats need.
pub struct Everybody;

impl Attendance for Everybody {
    #[inline]
    fn seats(&self, all: usize) -> impl Iterator<Item = usize> {
        0..all
    }
}

/// How a contender waits, and when it gives up.
///
/// The promise, on which the locks rely: `wait` returns `Ok` only if it called `ready` and the last
/// call returned `true`. Ready-made ways are in [`wait`](crate::lock::wait).
pub trait Waiting {
    /// Returns once `ready` has been seen to hold, or gives up.
    ///
    /// The contender that makes `ready` true announces it at `place`, by [`wake`](Self::wake) or by
    /// way of [`RawLock::places`]. So every wait may be slept through.
    ///
    /// # Errors
    /// [`Withdrawn`] when the contender no longer wants to enter.
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn>;

    /// As [`wait`](Self::wait), for a change that is a few steps away, unless the contender that is
    /// to make it is preempted.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait).
    #[inline]
    fn wait_briefly(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        self.wait(place, ready)
    }

    /// Called during an `acquire`, after a change that others may wait for at `place`.
    ///
    /// A way of waiting whose waiters sleep must see each sleeper that has not seen the change: it
    /// needs a full fence before it looks for sleepers, as they need one before their last look.
    #[inline]
    fn wake(&self, place: Place) {
        let _ = place;
    }

    /// As [`wake`](Self::wake), called by a lock that has executed a full fence since the change.
    #[inline]
    fn wake_fenced(&self, place: Place) {
        self.wake(place);
    }
}

/// The contender gave up waiting and is no longer in the race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Withdrawn;

impl core::fmt::Display for Withdrawn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("gave up waiting for the lock; ask again to get back in line")
    }
}

impl core::error::Error for Withdrawn {}

/// Where a contender waits: the address of the register that another one is going to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(usize);

impl Place {
    /// The place of a register, or of any other part of a lock.
    #[inline]
    pub fn of<T>(part: &T) -> Self {
        Self(core::ptr::from_ref(part).addr())
    }

    /// The address.
    #[inline]
    pub fn address(self) -> usize {
        self.0
    }
}

/// Waiting that gives up at once: what makes an `acquire` a `try_acquire`.
struct NoPatience;

impl Waiting for NoPatience {
    #[inline]
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if ready() { Ok(()) } else { Err(Withdrawn) }
    }
}

/// The starting value of a `RawLock`, as a constant or, under loom, as a function.
macro_rules! unlocked {
    ($value:expr) => {
        #[cfg(not(exclusion_loom))]
        const UNLOCKED: Self = $value;

        #[cfg(exclusion_loom)]
        fn unlocked() -> Self {
            $value
        }
    };
}
use unlocked;

/// A lock of that type that nobody holds, where a constant is wanted unless under loom.
macro_rules! fresh {
    ($lock:ty) => {{
        #[cfg(not(exclusion_loom))]
        let fresh = <$lock as $crate::lock::raw::RawLock>::UNLOCKED;
        #[cfg(exclusion_loom)]
        let fresh = <$lock as $crate::lock::raw::RawLock>::unlocked();
        fresh
    }};
}
pub(crate) use fresh;

/// `new` and `Default` of a lock. `new` makes the packed layout, so that it need not be named.
macro_rules! unlocked_at_first {
    ($what:literal: [$($generics:tt)*] $packed:ty, [$($any:tt)*] $lock:ty) => {
        impl<$($generics)*> $packed {
            $crate::lock::sync::constructor! {
                #[doc = concat!("A ", $what, " that nobody holds, with ")]
                #[doc = "[`Packed`](super::Packed) registers."]
                pub fn new() -> Self {
                    $crate::lock::raw::fresh!(Self)
                }
            }
        }

        impl<$($any)*> Default for $lock {
            fn default() -> Self {
                $crate::lock::raw::fresh!(Self)
            }
        }
    };
}
use unlocked_at_first;

/// An array of fresh parts, as a constant or, under loom, one after the other.
macro_rules! array {
    ($part:expr; $length:expr) => {{
        #[cfg(not(exclusion_loom))]
        let parts = [const { $part }; $length];
        #[cfg(exclusion_loom)]
        let parts: [_; $length] = core::array::from_fn(|_| $part);
        parts
    }};
}
use array;
