//! Who may pass the threads that wait for a [`BakeryMutex`](crate::BakeryMutex).

use core::time::Duration;

/// Whether newcomers may pass the threads that wait: [`Strict`] or [`Bypass`].
pub trait Policy: sealed::Policy {}

/// Nobody passes: first come, first served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strict;

/// Newcomers may pass the thread that is next, at most `COUNT` of them and for at most `MICROS`
/// microseconds, whichever ends first. Then it enters.
///
/// The time runs from when the last thread came in from the line, or from when the first came to
/// it. One in four newcomers that pass looks at the clock, so up to three may still enter when the
/// time is up. Without `std` there is no clock, and only the count ends it.
///
/// The default was chosen by measurement (`lab locks`): one setting for short and for long critical
/// sections. More than 131,071 newcomers do not compile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bypass<const COUNT: usize = 8192, const MICROS: u64 = 400>;

impl Policy for Strict {}
impl<const COUNT: usize, const MICROS: u64> Policy for Bypass<COUNT, MICROS> {}

/// The most newcomers that a mutex can count.
pub(super) const MOST_PASSED: usize = (1 << 17) - 1;

pub(super) mod sealed {
    use core::time::Duration;

    /// What a policy has to say.
    pub trait Policy: Send + Sync + 'static {
        /// How many newcomers may pass a thread that is next.
        const COUNT: usize;
        /// How long they may.
        const TIME: Duration;
        /// The lock where there is no pool: its seats are inside it.
        #[cfg(not(all(feature = "std", target_has_atomic = "64")))]
        type Inline: lock_api::RawMutexFair;
    }
}

/// The lock where there is no pool.
macro_rules! inline {
    ($count:expr) => {
        #[cfg(not(all(feature = "std", target_has_atomic = "64")))]
        type Inline =
            crate::lock::Leased<crate::lock::raw::Bakery<{ crate::lock::DEFAULT_SEATS }>, $count>;
    };
}

impl sealed::Policy for Strict {
    const COUNT: usize = 0;
    const TIME: Duration = Duration::ZERO;
    inline!(0);
}

impl<const COUNT: usize, const MICROS: u64> sealed::Policy for Bypass<COUNT, MICROS> {
    const COUNT: usize = {
        assert!(COUNT <= MOST_PASSED, "more newcomers than a mutex can count");
        COUNT
    };
    const TIME: Duration = Duration::from_micros(MICROS);
    inline!(COUNT);
}
