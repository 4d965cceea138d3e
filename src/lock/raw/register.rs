//! A shared word that can be read and written, and nothing else.

use crate::lock::sync::edge::Edge;
use crate::lock::sync::{AtomicUsize, constructor};

/// A shared word with loads and stores only.
///
/// It has no read-modify-write method, so an algorithm that compiles against it needs none: that
/// is what makes the locks of [`raw`](super) fit for targets without compare-and-swap. Each access
/// names its ordering by an [`Edge`].
#[derive(Debug)]
pub struct Register(AtomicUsize);

impl Register {
    constructor! {
        pub(crate) fn new(value: usize) -> Self {
            Self(AtomicUsize::new(value))
        }
    }

    #[inline(always)]
    pub(crate) fn load(&self, edge: Edge) -> usize {
        self.0.load(edge.ordering())
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: usize, edge: Edge) {
        self.0.store(value, edge.ordering());
    }
}
