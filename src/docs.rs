//! The book: how the locks work, the distributed algorithms, how both are verified, and which lock to take when.

#[doc = include_str!("../docs/shared-memory.md")]
pub mod shared_memory {}

#[cfg(feature = "message")]
#[doc = include_str!("../docs/messages.md")]
pub mod messages {}

#[doc = include_str!("../docs/verification.md")]
pub mod verification {}

#[cfg(feature = "message")]
#[doc = include_str!("../docs/explored.md")]
pub mod explored {}

#[doc = include_str!("../docs/which-lock.md")]
pub mod which_lock {}
