//! Mutual exclusion from reads and writes.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arc_lock")]
extern crate alloc;
#[cfg(any(feature = "std", loom))]
extern crate std;

#[cfg(not(loom))]
mod edge;
#[cfg(loom)]
pub mod edge;
mod primitive;
pub mod raw;
pub mod wait;

mod seated;
pub use seated::{Seat, SeatGuard, Seated};

#[cfg(target_has_atomic = "ptr")]
mod lot;
#[cfg(target_has_atomic = "ptr")]
mod mutex;
#[cfg(target_has_atomic = "ptr")]
mod seat;
#[cfg(target_has_atomic = "ptr")]
pub use mutex::*;
#[cfg(target_has_atomic = "ptr")]
pub use seat::{Lease, Leased};

#[cfg(doc)]
pub mod verification {}
