//! A mutex that its holder may lock again: [`BakeryReentrantMutex`].

use core::cell::Cell;
use core::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock::mutex::RawBakeryMutex;
use crate::lock::policy::Strict;

/// Tells threads apart, for [`lock_api::ReentrantMutex`] over any raw mutex.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadNumber;

// SAFETY: each thread takes a number of its own from the counter, once, and keeps it. No thread
// gets the number of one that has ended.
unsafe impl lock_api::GetThreadId for ThreadNumber {
    const INIT: Self = Self;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        // It has no destructor, so it is there for as long as the thread runs.
        std::thread_local!(static NUMBER: Cell<Option<NonZeroUsize>> = const { Cell::new(None) });
        NUMBER.get().unwrap_or_else(|| {
            static LAST: AtomicUsize = AtomicUsize::new(0);
            // Relaxed: the numbers differ, and nothing rides on them.
            let number = LAST.fetch_add(1, Ordering::Relaxed).checked_add(1);
            let number = number.and_then(NonZeroUsize::new).expect("fewer threads than numbers");
            NUMBER.set(Some(number));
            number
        })
    }
}

/// A [`BakeryMutex`](crate::BakeryMutex) that its holder may lock again. It gives out shared
/// references only.
///
/// Under loom it is made by [`lock_api::ReentrantMutex::from_raw`].
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use core::cell::RefCell;
/// use exclusion::BakeryReentrantMutex;
///
/// static LOG: BakeryReentrantMutex<RefCell<Vec<u32>>> =
///     BakeryReentrantMutex::new(RefCell::new(Vec::new()));
///
/// let outer = LOG.lock();
/// LOG.lock().borrow_mut().push(1);
/// assert_eq!(outer.borrow().len(), 1);
/// # }
/// ```
///
/// # Fairness
/// First come, first served among threads, as for [`BakeryMutex`](crate::BakeryMutex).
pub type BakeryReentrantMutex<T> = PolicyReentrantMutex<T, Strict>;

/// A [`BakeryReentrantMutex`] of any policy: [`Strict`] or [`Bypass`](crate::Bypass).
pub type PolicyReentrantMutex<T, P> = lock_api::ReentrantMutex<RawBakeryMutex<P>, ThreadNumber, T>;

/// The guard of a [`BakeryReentrantMutex`].
pub type BakeryReentrantMutexGuard<'a, T, P = Strict> =
    lock_api::ReentrantMutexGuard<'a, RawBakeryMutex<P>, ThreadNumber, T>;
