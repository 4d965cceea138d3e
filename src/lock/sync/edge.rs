//! Memory orderings by name.
//!
//! An *edge* is one half of a synchronises-with pair, or one full fence. Each file of `raw`, and
//! `leased` and `parking`, declares its edges once with `edges!` and uses them by name where it
//! reads and writes; a `Register` takes nothing else. In a normal build an edge is a constant
//! ordering. Under `--cfg exclusion_loom` one edge of a running model can be weakened by its name,
//! which is how the crate shows that each of them is needed.
#![forbid(unsafe_code)]

use crate::lock::sync::{Ordering, full_fence};

/// A named memory ordering: what one access, or one fence, contributes to a happens-before edge.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    #[cfg(exclusion_loom)]
    name: &'static str,
    ordering: Ordering,
}

impl Edge {
    /// No ordering: no happens-before edge depends on the access.
    pub const RELAXED: Self = Self::new("relaxed", Ordering::Relaxed);

    #[cfg(not(exclusion_loom))]
    pub(crate) const fn new(_: &'static str, ordering: Ordering) -> Self {
        Self { ordering }
    }

    #[cfg(exclusion_loom)]
    pub(crate) const fn new(name: &'static str, ordering: Ordering) -> Self {
        Self { name, ordering }
    }

    /// The file and what the edge does there, as in `bakery::LEAVE`.
    #[cfg(exclusion_loom)]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The ordering to use at the access.
    #[inline(always)]
    pub(crate) fn ordering(self) -> Ordering {
        #[cfg(exclusion_loom)]
        if weakened::is(self.name) {
            return Ordering::Relaxed;
        }
        self.ordering
    }

    /// Both halves of a read-modify-write, each of which can be weakened alone.
    #[inline(always)]
    #[cfg(target_has_atomic = "ptr")]
    pub(crate) fn with(self, release: Self) -> Ordering {
        match (self.ordering(), release.ordering()) {
            (Ordering::Acquire, Ordering::Release) => Ordering::AcqRel,
            (Ordering::Acquire, _) => Ordering::Acquire,
            (_, release) => release,
        }
    }

    /// Executes this edge as a full fence.
    #[inline(always)]
    pub(crate) fn fence(self) {
        #[cfg(exclusion_loom)]
        if weakened::is(self.name) {
            return loom::sync::atomic::fence(Ordering::AcqRel);
        }
        debug_assert!(matches!(self.ordering, Ordering::SeqCst));
        full_fence();
    }
}

/// Declares the edges of a file, and `EDGES`, the list of them.
macro_rules! edges {
    ($file:literal: $($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {
        $(
            $(#[$doc])*
            pub(crate) const $name: $crate::lock::sync::edge::Edge = $crate::lock::sync::edge::Edge::new(
                concat!($file, "::", stringify!($name)),
                $crate::lock::sync::edge::kinds::$kind,
            );
        )*

        #[cfg(exclusion_loom)]
        pub(crate) const EDGES: &[$crate::lock::sync::edge::Edge] = &[$($name),*];
    };
}
pub(crate) use edges;

/// What an edge can be.
pub(crate) mod kinds {
    pub(crate) use core::sync::atomic::Ordering::SeqCst as Fence; // a full fence, not an access
    #[allow(unused_imports, reason = "which of them a build uses depends on the target")]
    pub(crate) use core::sync::atomic::Ordering::{Acquire, Release};
}

/// Every edge of the crate, file by file.
#[cfg(exclusion_loom)]
pub fn all() -> impl Iterator<Item = Edge> {
    [
        crate::lock::raw::bakery::EDGES,
        crate::lock::raw::black_white::EDGES,
        crate::lock::raw::peterson::EDGES,
        crate::lock::raw::peterson_swap::EDGES,
        crate::lock::raw::priority::EDGES,
        crate::lock::gate::EDGES,
        crate::lock::leased::EDGES,
        crate::lock::leased::parking::EDGES,
        crate::lock::pooled::EDGES,
        crate::lock::pooled::condition::EDGES,
        crate::lock::pooled::pool::EDGES,
        crate::lock::pooled::slot::EDGES,
        crate::lock::pooled::waiting::EDGES,
    ]
    .into_iter()
    .flatten()
    .copied()
}

#[cfg(exclusion_loom)]
pub use weakened::weaken;

#[cfg(exclusion_loom)]
mod weakened {
    use core::cell::Cell;

    // loom runs the threads of a model as coroutines of the thread that checks it, so a
    // thread-local is seen by all of them and by no other test.
    std::thread_local!(static WEAKENED: Cell<Option<&'static str>> = const { Cell::new(None) });

    pub(super) fn is(name: &str) -> bool {
        WEAKENED.get() == Some(name)
    }

    /// Runs `model` with the edge of that name made relaxed, or acquire and release if it is a
    /// fence.
    ///
    /// # Panics
    /// When no edge has that name.
    pub fn weaken<R>(name: &'static str, model: impl FnOnce() -> R) -> R {
        struct Restore;
        impl Drop for Restore {
            fn drop(&mut self) {
                WEAKENED.set(None);
            }
        }

        assert!(super::all().any(|edge| edge.name() == name), "no edge is named {name}");
        WEAKENED.set(Some(name));
        let _restore = Restore;
        model()
    }
}
