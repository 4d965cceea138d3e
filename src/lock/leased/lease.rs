//! What a guard of a drop-in type carries.

/// Stands where others have their seat in the lease of one who went inside without.
pub(crate) const NO_SEAT: usize = 0;

/// The seat of an acquisition; the state of a guard. It may be sent to another thread.
#[derive(Debug)]
#[must_use = "whoever loses the lease cannot unlock"]
pub struct Lease {
    pub(crate) seat: usize,
}

impl Lease {
    /// # Safety
    /// One of the two is not used again.
    pub(crate) unsafe fn duplicate(&self) -> Self {
        Self { seat: self.seat }
    }
}
