//! What is done when something ends early: given up, or unwound.

/// Does something when dropped. To be forgotten where all went well.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}
