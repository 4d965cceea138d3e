//! What a guard of a drop-in type carries.

/// In the place of a seat, in the lease of a thread that went inside without one.
pub(crate) const NO_SEAT: usize = 0;

/// The seat of an acquisition; the state of a guard. It may be sent to another thread.
#[derive(Debug)]
#[must_use = "without the lease nobody can unlock"]
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
