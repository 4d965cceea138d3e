//! Ways of waiting that need no wake-up.
//!
//! A [`RawLock`](crate::lock::raw::RawLock) asks its caller how to wait. Owned seats wait in the
//! ways of this file: they look again and again, so that the holder need not wake them when it
//! leaves, and needs no fence for that. The waiters of the drop-in types sleep when it takes long.
//!
//! # Real-time threads
//! A thread that yields stays ready to run. Under real-time scheduling, such as Linux's
//! `SCHED_FIFO`, it gives way to threads of its own priority or a higher one only. And on a busy
//! machine a yield may give away a whole time slice. So a waiter yields a hundred times at most,
//! and then sleeps for 50 µs between two looks: the thread that it waits for gets on, and the
//! waiter notices a little late. Without `std` waiters only spin, and a waiter and the thread that
//! it waits for must not share a core at all, unless something preempts the waiter. Waiters of the
//! drop-in types do not yield: they spin for a moment, and sleep until they are woken.
#![forbid(unsafe_code)]

use crate::lock::raw::{Place, Waiting, Withdrawn};
use crate::lock::sync::Backoff;

/// Spins a little, then yields to the scheduler between looks, a hundred times at most, then naps
/// for 50 µs; without `std` it only spins.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpinThenYield;

impl Waiting for SpinThenYield {
    #[inline]
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        Unless(|| false).wait(place, ready)
    }
}

/// As [`SpinThenYield`], but gives up at the first look after which the closure returns `true`.
///
/// ```
/// # #[cfg(not(exclusion_loom))] {
/// use core::cell::Cell;
/// use exclusion::lock::raw::{Peterson, RawLock, Withdrawn};
/// use exclusion::lock::wait::Unless;
///
/// let lock = Peterson::new();
/// // SAFETY: nobody else uses this lock, so nobody else sits on its seats.
/// unsafe {
///     lock.acquire(0, &Unless(|| false)).unwrap();
///     let looks = Cell::new(0);
///     let tired = || looks.replace(looks.get() + 1) == 100;
///     assert_eq!(lock.acquire(1, &Unless(tired)), Err(Withdrawn));
///     lock.release(0);
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Unless<F>(pub F);

impl<F: Fn() -> bool> Waiting for Unless<F> {
    #[inline]
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let backoff = Backoff::new();
        while !ready() {
            if (self.0)() {
                return Err(Withdrawn);
            }
            backoff.snooze();
        }
        Ok(())
    }
}
