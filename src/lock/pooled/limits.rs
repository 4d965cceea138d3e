//! How much there is of what threads wait for: seats in a line, lines, and memory for lines.
//!
//! Under loom a model may ask for less, so that two or three threads meet the limits.

#[cfg(exclusion_loom)]
pub use modelled::{Limits, limit};
#[cfg(exclusion_loom)]
pub(super) use modelled::{has_memory, lines, seats};
#[cfg(not(exclusion_loom))]
pub(super) use real::{lines, seats};

#[cfg(not(exclusion_loom))]
mod real {
    use crate::lock::pooled::line::SEATS;
    use crate::lock::pooled::pool::MOST_LINES;

    /// How many threads may use a line at a time.
    #[inline(always)]
    pub(crate) const fn seats() -> usize {
        SEATS
    }

    /// How many lines may be made.
    #[inline(always)]
    pub(crate) const fn lines() -> usize {
        MOST_LINES
    }
}

#[cfg(exclusion_loom)]
mod modelled {
    use core::cell::Cell;

    use crate::lock::pooled::line::SEATS;
    use crate::lock::pooled::pool::MOST_LINES;

    /// How much there is in one execution of a model.
    #[derive(Clone, Copy, Debug)]
    pub struct Limits {
        /// How many threads may use a line at a time. At most 4.
        pub seats: usize,
        /// How many lines may be made. At most 2.
        pub lines: usize,
        /// So many allocations fail before the first that does not.
        pub failures: usize,
    }

    impl Default for Limits {
        fn default() -> Self {
            Self { seats: SEATS, lines: MOST_LINES, failures: 0 }
        }
    }

    // loom runs the threads of a model as coroutines of the thread that checks it, so a
    // thread-local is seen by all of them and by no other test.
    std::thread_local! {
        static LIMITS: Cell<Limits> =
            const { Cell::new(Limits { seats: SEATS, lines: MOST_LINES, failures: 0 }) };
    }

    /// From now on there is no more than that.
    pub fn limit(limits: Limits) {
        assert!(limits.seats <= SEATS && limits.lines <= MOST_LINES, "more than there is");
        LIMITS.set(limits);
    }

    pub(crate) fn seats() -> usize {
        LIMITS.get().seats
    }

    pub(crate) fn lines() -> usize {
        LIMITS.get().lines
    }

    /// Whether an allocation succeeds.
    pub(crate) fn has_memory() -> bool {
        let limits = LIMITS.get();
        LIMITS.set(Limits { failures: limits.failures.saturating_sub(1), ..limits });
        limits.failures == 0
    }
}
