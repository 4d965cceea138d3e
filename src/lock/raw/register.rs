//! A shared word that can be read and written, and nothing else.

use super::layout::{Layout, Packed, zero};
use crate::lock::sync::constructor;
use crate::lock::sync::edge::Edge;

/// A shared word with loads and stores only. It starts at 0.
///
/// It has no read-modify-write method, so an algorithm that compiles against it needs none: that
/// is what makes the locks of [`raw`](super) fit for targets without compare-and-swap. Each access
/// names its ordering by an [`Edge`].
#[derive(Debug)]
pub struct Register<W: Layout = Packed>(W::Word);

impl<W: Layout> Register<W> {
    constructor! {
        pub(crate) fn new() -> Self {
            Self(zero!(W))
        }
    }

    #[inline(always)]
    pub(crate) fn load(&self, edge: Edge) -> usize {
        self.0.load(edge.ordering())
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: usize, edge: Edge) {
        debug_assert!(value <= W::LAST, "{value} is more than a register holds");
        self.0.store(value, edge.ordering());
    }
}
