//! Locks among processes and machines.
#![forbid(unsafe_code)]

pub mod strict;
