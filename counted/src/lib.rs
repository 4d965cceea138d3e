//! The locks of `exclusion` on counted registers, under schedules that can be replayed.
//!
//! The sources are the shipped ones, compiled once more: the build script sets
//! `--cfg exclusion_count` for this crate alone, and `lock` is the folder of `exclusion`. Only
//! `lock::sync` differs, as it does under loom.

#[path = "../../src/lock/mod.rs"]
pub mod lock;

pub use lock::{
    BakeryCondvar, BakeryMutex, BakeryMutexGuard, BakeryRwLock, BakerySemaphore, Bypass,
    MappedBakeryMutexGuard, MappedTournamentMutexGuard, PolicyCondvar, PolicyRwLock,
    RawBakeryMutex, RawTournamentMutex, Strict, TournamentMutex, TournamentMutexGuard,
};
pub use lock_api;

pub mod chance;
pub mod cost;
pub mod peers;
pub mod primitives;
pub mod schedule;
pub mod subjects;
pub mod trials;
