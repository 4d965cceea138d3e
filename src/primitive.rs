//! The one place where the crate chooses between the machine and loom.
//!
//! Everything above is written against the names in this file, so the source that ships is the
//! source that loom explores. Three things differ under `--cfg loom`: nothing is `const`, waiting
//! is [`loom::thread::yield_now`], and [`Witness`] checks what it otherwise only states.
//!
//! [`loom::thread::yield_now`]: https://docs.rs/loom/latest/loom/thread/fn.yield_now.html

pub(crate) use core::sync::atomic::Ordering;

#[cfg(not(loom))]
pub(crate) use machine::*;
#[cfg(loom)]
pub(crate) use modelled::*;

#[cfg(not(loom))]
mod machine {
    pub(crate) use core::sync::atomic::AtomicUsize;

    /// Orders everything before it against everything after it, stores against later loads too.
    #[inline(always)]
    pub(crate) fn full_fence() {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }

    /// Spin a little longer each time, then yield to the scheduler; done after about ten steps.
    pub(crate) struct Backoff(crossbeam_utils::Backoff);

    impl Backoff {
        #[inline]
        pub(crate) fn new() -> Self {
            Self(crossbeam_utils::Backoff::new())
        }

        #[inline]
        pub(crate) fn snooze(&self) {
            self.0.snooze();
        }

        /// Whether it is time to park.
        #[cfg(feature = "std")]
        #[inline]
        pub(crate) fn is_completed(&self) -> bool {
            self.0.is_completed()
        }
    }

    /// `core`'s cell with the accessor of loom's.
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    /// A pointer into an [`UnsafeCell`]; under loom it also marks the cell as being written.
    pub(crate) struct MutPtr<T>(*mut T);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }

        #[inline]
        pub(crate) fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }
    }

    impl<T> MutPtr<T> {
        /// # Safety
        /// The cell outlives the reference, and nobody else accesses its contents meanwhile.
        #[inline]
        #[allow(clippy::mut_from_ref, reason = "the signature of loom's pointer")]
        pub(crate) unsafe fn deref(&self) -> &mut T {
            // SAFETY: as promised by the caller.
            unsafe { &mut *self.0 }
        }
    }

    /// Stands for the data behind a lock that keeps its data elsewhere.
    pub(crate) struct Witness;

    impl Witness {
        pub(crate) const fn new() -> Self {
            Self
        }

        #[inline(always)]
        pub(crate) fn touch(&self) {}
    }
}

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::cell::{MutPtr, UnsafeCell};
    pub(crate) use loom::sync::atomic::AtomicUsize;

    pub(crate) fn full_fence() {
        loom::sync::atomic::fence(super::Ordering::SeqCst);
    }

    pub(crate) struct Backoff;

    impl Backoff {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn snooze(&self) {
            loom::thread::yield_now();
        }

        /// At once: loom explores the parking, not the spinning before it.
        #[cfg(feature = "std")]
        pub(crate) fn is_completed(&self) -> bool {
            true
        }
    }

    /// A cell that each owner of the lock writes, so that loom sees two owners, or one that is
    /// not ordered after the one before, whatever the user's data is made of.
    pub(crate) struct Witness(UnsafeCell<()>);

    impl Witness {
        pub(crate) fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        pub(crate) fn touch(&self) {
            self.0.with_mut(|_| ());
        }
    }
}
