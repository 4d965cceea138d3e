//! Locks among processes and machines.
#![forbid(unsafe_code)]

#[cfg(feature = "majority")]
pub mod majority;
pub mod strict;
