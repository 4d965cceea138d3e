//! Mutual exclusion from reads and writes.
//!
//! The layers, from what a user touches down to the registers. Each depends only on those below it.
//!
//! | layer | what it is |
//! |---|---|
//! | `mutex` | [`BakeryMutex`], [`TournamentMutex`]: data and guards, over `lock_api` |
//! | `reentrant` | [`BakeryReentrantMutex`], which its holder may lock again |
//! | `condvar` | [`BakeryCondvar`], whose waiters sit in the line of their mutex |
//! | `rwlock`, `semaphore` | [`BakeryRwLock`], [`BakerySemaphore`] |
//! | `gate` | what these two have in common: so many inside at a time, in the order of arrival |
//! | `with` | [`BakeryMutex::with`] and its relatives: critical sections as closures |
//! | `pooled` | [`Pooled`]: one word, and a bakery from a pool while threads wait |
//! | `leased` | [`Leased`]: a raw lock for any number of threads, and where they sleep |
//! | `owned` | [`Seated`], [`Seat`]: one owner per seat, no compare-and-swap |
//! | [`raw`] | algorithms among numbered seats: loads, stores and fences |
//! | `sync` | the only switch between the machine, loom and counted registers |
//!
//! [`wait`] has the ways of waiting that need no wake-up.

mod owned;
pub mod raw;
pub(crate) mod sync;
pub mod wait;

#[cfg(exclusion_loom)]
pub use sync::edge;
#[cfg(all(exclusion_loom, feature = "std"))]
pub use sync::time;

/// Counted registers, and what was counted, for the crate `counted`.
#[cfg(exclusion_count)]
pub mod counting {
    pub use super::pooled::pool::all_are_back;
    pub use super::sync::counted::clock::elapsed;
    pub use super::sync::counted::ledger::{Counts, clear, counts, stand_for};
    pub use super::sync::counted::{AtomicUsize, Backoff, Purpose, begin};
}

/// The pool of lines, and its limits, for models of them.
#[cfg(all(exclusion_loom, feature = "std"))]
pub mod lines {
    pub use super::pooled::limits::{Limits, limit};
    pub use super::pooled::pool::{all_are_back, give, take};
}

pub use owned::{Seat, SeatGuard, SeatReadGuard, Seated};

// Leasing a seat takes a compare-and-swap.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod condvar;
#[cfg(target_has_atomic = "ptr")]
mod forward;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod gate;
#[cfg(target_has_atomic = "ptr")]
mod leased;
#[cfg(target_has_atomic = "ptr")]
mod mutex;
#[cfg(target_has_atomic = "ptr")]
mod policy;
// A word that counts all that wait takes 64 bits, and a line takes memory.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod pooled;
#[cfg(all(feature = "std", target_has_atomic = "ptr"))]
mod reentrant;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod rwlock;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod semaphore;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
mod with;

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use condvar::{BakeryCondvar, PolicyCondvar, RawBakeryCondvar};
#[cfg(target_has_atomic = "ptr")]
pub use leased::{Lease, Leased};
#[cfg(all(target_has_atomic = "ptr", feature = "arc_lock"))]
pub use mutex::{ArcBakeryMutexGuard, ArcTournamentMutexGuard};
#[cfg(target_has_atomic = "ptr")]
pub use mutex::{
    BakeryMutex, BakeryMutexGuard, DEFAULT_BYPASS, DEFAULT_SEATS, MappedBakeryMutexGuard,
    MappedTournamentMutexGuard, RawBakeryMutex, RawTournamentMutex, TournamentMutex,
    TournamentMutexGuard,
};
#[cfg(target_has_atomic = "ptr")]
pub use policy::{Bypass, Policy, Strict};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use pooled::condition::Condition;
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use pooled::{Pooled, Turn};
#[cfg(all(feature = "std", target_has_atomic = "ptr"))]
pub use reentrant::{
    BakeryReentrantMutex, BakeryReentrantMutexGuard, PolicyReentrantMutex, ThreadNumber,
};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use rwlock::{
    BakeryRwLock, BakeryRwLockReadGuard, BakeryRwLockUpgradableReadGuard, BakeryRwLockWriteGuard,
    MappedBakeryRwLockReadGuard, MappedBakeryRwLockWriteGuard, PolicyRwLock, RawBakeryRwLock,
    Reading, Upgradable, Writing,
};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use semaphore::{BakeryPermit, BakerySemaphore};
