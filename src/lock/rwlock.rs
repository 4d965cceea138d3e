//! The drop-in read-write lock over [`lock_api`]: [`BakeryRwLock`].

mod upgrade;

use core::fmt;
use std::time::{Duration, Instant};

use crate::lock::gate::{Gate, HALF, MOST_UNITS, Share};
use crate::lock::policy::{Policy, Strict};
use crate::lock::sync::{constructor, time};

pub use upgrade::Upgradable;

/// Readers alone never take all units: only a writer does.
const READ: Share = Share { units: 1, of: MOST_UNITS - 1 };
const UPGRADABLE: Share = Share { units: HALF, of: MOST_UNITS - 1 };
const WRITE: Share = Share { units: MOST_UNITS, of: MOST_UNITS };

/// The [`lock_api::RawRwLock`] of [`BakeryRwLock`]: four words.
///
/// # Unlocking
/// Unlocking may still use the lock after it is free, to look for threads to wake. Safe code cannot
/// tell: see [`Pooled`](crate::lock::Pooled#unlocking).
pub struct RawBakeryRwLock<P = Strict>(Gate<P>);

/// The state of a reader's guard. It may be sent to another thread.
#[derive(Debug)]
pub struct Reading(());

/// The state of a writer's guard. It may be sent to another thread.
#[derive(Debug)]
pub struct Writing(());

/// A read-write lock that serves in order of arrival: readers and writers in one line.
///
/// It has the methods of `parking_lot::RwLock`, by way of [`lock_api::RwLock`].
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::BakeryRwLock;
///
/// static LIMITS: BakeryRwLock<(u32, u32)> = BakeryRwLock::new((1, 9));
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| LIMITS.write().1 += 1);
///     scope.spawn(|| {
///         let limits = LIMITS.read();
///         assert!(limits.0 < limits.1);
///     });
/// });
/// assert_eq!(*LIMITS.read(), (1, 10));
/// # }
/// ```
///
/// # Fairness
/// First come, first served. A reader waits for the writers ahead of it, and for those that
/// these wait for. A writer waits for all ahead of it. So readers cannot starve a writer, and
/// writers cannot starve a reader. With [`PolicyRwLock<T, Bypass<COUNT, MICROS>>`](PolicyRwLock) at
/// most `COUNT` newcomers pass the thread at the head of the line. After `MICROS` microseconds the
/// head lets nobody pass any more, as soon as it gets a core.
///
/// An upgradable reader is in line as any other, and others may read beside it. When it upgrades,
/// it waits for those that read, and for nobody in line: they wait for it.
///
/// A thread that reads while it has a reader's guard may wait for itself: if a writer has come
/// in between, it waits behind the writer, which waits for the first guard. With parking_lot
/// it is the same.
///
/// # Limits
/// At most 16,777,214 readers read at a time, and 8,388,606 beside one that is upgradable. The next
/// one waits as for a writer.
///
/// A panic while a guard lives releases the lock and does not poison it.
pub type BakeryRwLock<T> = PolicyRwLock<T, Strict>;

/// A [`BakeryRwLock`] of any policy: [`Strict`] or [`Bypass`](crate::Bypass).
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use exclusion::{Bypass, PolicyRwLock};
///
/// let lock = PolicyRwLock::<_, Bypass>::new(1);
/// *lock.write() += 1;
/// assert_eq!(*lock.read(), 2);
/// # }
/// ```
#[cfg(not(exclusion_loom))]
pub type PolicyRwLock<T, P> = lock_api::RwLock<RawBakeryRwLock<P>, T>;

/// A [`BakeryRwLock`] of any policy. Not lock_api's type itself: under loom a lock cannot be made
/// by a constant.
#[cfg(exclusion_loom)]
pub struct PolicyRwLock<T: ?Sized, P: Policy>(lock_api::RwLock<RawBakeryRwLock<P>, T>);

/// The guard of a reader of a [`BakeryRwLock`].
pub type BakeryRwLockReadGuard<'a, T, P = Strict> =
    lock_api::RwLockReadGuard<'a, RawBakeryRwLock<P>, T>;

/// The guard of a writer of a [`BakeryRwLock`].
pub type BakeryRwLockWriteGuard<'a, T, P = Strict> =
    lock_api::RwLockWriteGuard<'a, RawBakeryRwLock<P>, T>;

/// The guard of a reader of a [`BakeryRwLock`] that may become its writer.
pub type BakeryRwLockUpgradableReadGuard<'a, T, P = Strict> =
    lock_api::RwLockUpgradableReadGuard<'a, RawBakeryRwLock<P>, T>;

/// The guard of a reader of a part of the data in a [`BakeryRwLock`].
pub type MappedBakeryRwLockReadGuard<'a, T, P = Strict> =
    lock_api::MappedRwLockReadGuard<'a, RawBakeryRwLock<P>, T>;

/// The guard of a writer of a part of the data in a [`BakeryRwLock`].
pub type MappedBakeryRwLockWriteGuard<'a, T, P = Strict> =
    lock_api::MappedRwLockWriteGuard<'a, RawBakeryRwLock<P>, T>;

impl<P: Policy> RawBakeryRwLock<P> {
    constructor! {
        /// A read-write lock that nobody holds.
        pub fn new() -> Self {
            Self(Gate::new())
        }
    }

    #[inline]
    fn read_until(&self, deadline: time::Deadline) -> Option<Reading> {
        self.0.enter(READ, deadline).then_some(Reading(()))
    }

    #[inline]
    fn write_until(&self, deadline: time::Deadline) -> Option<Writing> {
        let entered = self.0.find_nobody(WRITE) || self.0.enter(WRITE, deadline);
        entered.then_some(Writing(()))
    }
}

impl<P: Policy> Default for RawBakeryRwLock<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> fmt::Debug for RawBakeryRwLock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawBakeryRwLock").field(&self.0).finish()
    }
}

#[cfg(exclusion_loom)]
impl<T, P: Policy> PolicyRwLock<T, P> {
    /// Puts `value` behind a lock that nobody holds.
    pub fn new(value: T) -> Self {
        Self(lock_api::RwLock::from_raw(RawBakeryRwLock::new(), value))
    }
}

#[cfg(exclusion_loom)]
impl<T: ?Sized, P: Policy> core::ops::Deref for PolicyRwLock<T, P> {
    type Target = lock_api::RwLock<RawBakeryRwLock<P>, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

const PATIENT: &str = "a thread without a deadline does not give up";

// SAFETY: a writer takes all units of the gate, and a reader takes one. No more are taken than
// there are (invariant 1 of `gate`), and E1 orders those inside. No operation unwinds.
unsafe impl<P: Policy> lock_api::RawRwLock for RawBakeryRwLock<P> {
    #[cfg(not(exclusion_loom))]
    const INIT: Self = Self::new();

    /// Loom's atomics cannot be built in a constant. `BakeryRwLock::new` does not use it.
    #[cfg(exclusion_loom)]
    const INIT: Self = panic!("under loom use BakeryRwLock::new or lock_api::RwLock::from_raw");

    type SharedGuard = Reading;
    type ExclusiveGuard = Writing;

    #[inline]
    fn lock_shared(&self) -> Reading {
        self.read_until(None).expect(PATIENT)
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<Reading> {
        self.0.try_enter(READ).then_some(Reading(()))
    }

    #[inline]
    unsafe fn unlock_shared(&self, _: Reading) {
        self.0.leave(READ.units);
    }

    #[inline]
    fn lock_exclusive(&self) -> Writing {
        self.write_until(None).expect(PATIENT)
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<Writing> {
        (self.0.find_nobody(WRITE) || self.0.try_enter(WRITE)).then_some(Writing(()))
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: Writing) {
        self.0.leave(WRITE.units);
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.taken() > 0
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.taken() == WRITE.units
    }
}

// SAFETY: as above.
unsafe impl<P: Policy> lock_api::RawRwLockFair for RawBakeryRwLock<P> {
    #[inline]
    unsafe fn unlock_shared_fair(&self, _: Reading) {
        self.0.leave_fairly(READ.units);
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self, _: Writing) {
        self.0.leave_fairly(WRITE.units);
    }

    #[inline]
    unsafe fn bump_shared(&self, state: &mut Reading) {
        if self.0.is_awaited() {
            self.0.leave_fairly(READ.units);
            *state = lock_api::RawRwLock::lock_shared(self);
        }
    }

    #[inline]
    unsafe fn bump_exclusive(&self, state: &mut Writing) {
        if self.0.is_awaited() {
            self.0.leave_fairly(WRITE.units);
            *state = lock_api::RawRwLock::lock_exclusive(self);
        }
    }
}

// SAFETY: as above. All units but one are given back.
unsafe impl<P: Policy> lock_api::RawRwLockDowngrade for RawBakeryRwLock<P> {
    #[inline]
    unsafe fn downgrade(&self, _: Writing) -> Reading {
        self.0.leave(WRITE.units - READ.units);
        Reading(())
    }
}

// SAFETY: as above. A thread that gives up takes no units.
unsafe impl<P: Policy> lock_api::RawRwLockTimed for RawBakeryRwLock<P> {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_shared_for(&self, timeout: Duration) -> Option<Reading> {
        self.read_until(time::after(timeout))
    }

    #[inline]
    fn try_lock_shared_until(&self, deadline: Instant) -> Option<Reading> {
        self.read_until(Some(deadline))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<Writing> {
        self.write_until(time::after(timeout))
    }

    #[inline]
    fn try_lock_exclusive_until(&self, deadline: Instant) -> Option<Writing> {
        self.write_until(Some(deadline))
    }
}
