//! Failures: what locks do about them.

pub mod remedy;
