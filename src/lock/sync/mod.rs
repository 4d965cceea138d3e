//! Where the crate chooses between the machine, loom, and counted registers.
//!
//! Everything above is written against the names in this file, so the source that ships is the
//! source that loom explores, and the source that is counted.
//!
//! | ground | for |
//! |---|---|
//! | `machine` | the ordinary build |
//! | `modelled` | `--cfg exclusion_loom` |
//! | `counted` | `--cfg exclusion_count` |
//!
//! What else differs under loom: constructors are not `const`, an edge can be weakened (`edge`),
//! the queues of sleepers are loom's (`lot`), and loom is shown what a leased lock must not let
//! happen (`probe`). On counted registers time and the queues of sleepers are their own, each
//! execution has its own pool of lines, and what loom is shown is counted.

#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) mod bed;
#[cfg(not(exclusion_loom))]
pub(crate) mod edge;
#[cfg(exclusion_loom)]
pub mod edge;
#[cfg(target_has_atomic = "ptr")]
pub(crate) mod lot;
#[cfg(target_has_atomic = "ptr")]
pub(crate) mod probe;
#[cfg(feature = "message")]
pub(crate) mod threads;
#[cfg(all(feature = "std", not(exclusion_loom)))]
pub(crate) mod time;
#[cfg(all(feature = "std", exclusion_loom))]
pub mod time;

pub(crate) use core::sync::atomic::Ordering;

/// A constructor: `const`, except under loom, whose atomics are registered as they are made.
macro_rules! constructor {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty)?) -> $result:ty $body:block
    ) => {
        #[cfg(not(exclusion_loom))]
        $(#[$attribute])*
        $visibility const fn $name($($argument: $type)?) -> $result $body

        #[cfg(exclusion_loom)]
        $(#[$attribute])*
        $visibility fn $name($($argument: $type)?) -> $result $body
    };
}
pub(crate) use constructor;

/// A value that is made in a constant or, under loom, when it is first used.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
macro_rules! late {
    ($value:expr) => {{
        #[cfg(not(exclusion_loom))]
        let late = $crate::lock::sync::Late::new($value);
        #[cfg(exclusion_loom)]
        let late = $crate::lock::sync::Late::new(|| $value);
        late
    }};
}
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub(crate) use late;

/// Runs what only a debug build does, and what must not change what is counted or who runs next.
#[cfg(all(feature = "std", target_has_atomic = "64", not(exclusion_count)))]
#[inline(always)]
pub(crate) fn aside<R>(act: impl FnOnce() -> R) -> R {
    act()
}

#[cfg(exclusion_count)]
pub mod counted;

#[cfg(exclusion_count)]
pub(crate) use counted::*;
#[cfg(not(any(exclusion_loom, exclusion_count)))]
pub(crate) use machine::*;
#[cfg(exclusion_loom)]
pub(crate) use modelled::*;

#[cfg(not(any(exclusion_loom, exclusion_count)))]
mod machine {
    use core::cell::Cell;
    pub(crate) use core::sync::atomic::AtomicUsize;
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU64};

    #[cfg(feature = "std")]
    pub(crate) use ::parking_lot_core;

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) use super::cells::Late;
    pub(crate) use super::cells::{ConstPtr, MutPtr, UnsafeCell};

    /// Orders everything before it against everything after it, stores against later loads too.
    #[inline(always)]
    pub(crate) fn full_fence() {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }

    /// Spins a little longer each time, then yields to the scheduler, then naps.
    ///
    /// A look follows every pause, and no pause is long, so that the waiter that is next notices
    /// its turn soon.
    pub(crate) struct Backoff {
        step: Cell<u32>,
    }

    impl Backoff {
        const LONGEST_PAUSE: u32 = 8;
        const SPINS: u32 = 20;
        #[cfg(feature = "std")]
        const YIELDS: u32 = 100;

        #[inline]
        pub(crate) fn new() -> Self {
            Self { step: Cell::new(0) }
        }

        #[inline]
        pub(crate) fn snooze(&self) {
            let step = self.step.get();
            self.step.set(step.saturating_add(1));
            #[cfg(feature = "std")]
            if step >= Self::SPINS + Self::YIELDS {
                return nap();
            } else if step >= Self::SPINS {
                return std::thread::yield_now();
            }
            for _ in 0..Self::LONGEST_PAUSE.min(1 << step.min(Self::SPINS)) {
                core::hint::spin_loop();
            }
        }

        /// Whether it has spun long enough, and would yield now if it can.
        #[inline]
        #[cfg(target_has_atomic = "ptr")]
        pub(crate) fn has_spun(&self) -> bool {
            self.step.get() >= Self::SPINS
        }
    }

    /// So many looks, with a short pause between them.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct Spins(u32);

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl Spins {
        #[inline]
        pub(crate) fn new(looks: u32) -> Self {
            Self(looks)
        }

        /// As `new`, where what is done between the looks matters.
        #[inline]
        pub(crate) fn once_at_least(looks: u32) -> Self {
            Self::new(looks)
        }

        /// Pauses for a moment and says that another look is due, or that there were enough.
        #[inline]
        pub(crate) fn spin(&mut self) -> bool {
            let more = self.0 > 0;
            if more {
                self.0 -= 1;
                core::hint::spin_loop();
            }
            more
        }
    }

    /// Sleeps for a short time. For what nobody announces.
    #[cold]
    #[cfg(feature = "std")]
    pub(crate) fn nap() {
        std::thread::sleep(std::time::Duration::from_micros(50));
    }

    /// Naps that get longer, for what may take long and nobody announces.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct Naps(pub(super) std::time::Duration);

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl Naps {
        const FIRST: std::time::Duration = std::time::Duration::from_micros(50);
        const LONGEST: std::time::Duration = std::time::Duration::from_millis(5);

        pub(crate) fn new() -> Self {
            Self(Self::FIRST)
        }

        #[cold]
        pub(crate) fn nap(&mut self) {
            std::thread::sleep(self.0);
            self.0 = Self::LONGEST.min(self.0 * 2);
        }
    }
}

#[cfg(not(exclusion_loom))]
mod cells {
    /// A value that is made in a constant: see `late!`.
    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    pub(crate) struct Late<T>(T);

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl<T> Late<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(value)
        }
    }

    #[cfg(all(feature = "std", target_has_atomic = "64"))]
    impl<T> core::ops::Deref for Late<T> {
        type Target = T;

        #[inline(always)]
        fn deref(&self) -> &T {
            &self.0
        }
    }

    /// `core`'s cell with the accessor of loom's.
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    /// A pointer into an [`UnsafeCell`]; under loom it also marks the cell as being written.
    pub(crate) struct MutPtr<T>(*mut T);

    /// A pointer into an [`UnsafeCell`]; under loom it also marks the cell as being read.
    pub(crate) struct ConstPtr<T>(*const T);

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

        #[inline]
        pub(crate) fn get(&self) -> ConstPtr<T> {
            ConstPtr(self.0.get())
        }
    }

    impl<T> ConstPtr<T> {
        #[inline]
        pub(crate) fn with<R>(&self, access: impl FnOnce(*const T) -> R) -> R {
            access(self.0)
        }
    }

    impl<T> MutPtr<T> {
        #[inline]
        pub(crate) fn with<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
            access(self.0)
        }
    }
}

#[cfg(exclusion_loom)]
mod modelled {
    pub(crate) use loom::cell::{ConstPtr, MutPtr, UnsafeCell};
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

    /// A value that is made when it is first used, since loom's atomics cannot be made in a
    /// constant. Loom runs one thread at a time, and making it is no step of any.
    pub(crate) struct Late<T> {
        value: std::sync::OnceLock<T>,
        make: fn() -> T,
    }

    impl<T> Late<T> {
        pub(crate) const fn new(make: fn() -> T) -> Self {
            Self { value: std::sync::OnceLock::new(), make }
        }
    }

    impl<T> core::ops::Deref for Late<T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.value.get_or_init(self.make)
        }
    }

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

        /// At once: loom explores the sleeping, not the spinning before it.
        pub(crate) fn has_spun(&self) -> bool {
            true
        }
    }

    /// None, or one: loom explores the sleeping, not the spinning before it.
    pub(crate) struct Spins(bool);

    impl Spins {
        pub(crate) fn new(_: u32) -> Self {
            Self(false)
        }

        pub(crate) fn once_at_least(_: u32) -> Self {
            Self(true)
        }

        pub(crate) fn spin(&mut self) -> bool {
            // Without a yield, which would have all others go first, up to the end of a short
            // critical section: then nobody would ever have looked in vain.
            core::mem::take(&mut self.0)
        }
    }

    /// The first nap is none, so that the second look may find all as it was.
    pub(crate) struct Naps(Spins);

    impl Naps {
        pub(crate) fn new() -> Self {
            Self(Spins::once_at_least(1))
        }

        pub(crate) fn nap(&mut self) {
            if !self.0.spin() {
                nap();
            }
        }
    }

    /// Lets the others go first.
    pub(crate) fn nap() {
        loom::thread::yield_now();
    }
}

#[cfg(all(
    test,
    feature = "std",
    target_has_atomic = "64",
    not(any(exclusion_loom, exclusion_count))
))]
mod tests {
    use std::time::{Duration, Instant};

    use super::machine::{Backoff, Naps, Spins, nap};

    #[test]
    fn spins_are_as_many_as_were_asked_for() {
        for mut spins in [Spins::new(3), Spins::once_at_least(3)] {
            assert_eq!([(); 5].map(|()| spins.spin()), [true, true, true, false, false]);
        }
        assert!(!Spins::new(0).spin());
    }

    /// Sleeping takes at least as long as was asked for.
    #[test]
    fn who_has_spun_and_yielded_naps() {
        let took = |act: &dyn Fn()| {
            let start = Instant::now();
            act();
            start.elapsed()
        };
        let backoff = Backoff::new();
        for step in 0..20 {
            assert!(!backoff.has_spun(), "{step}");
            backoff.snooze();
        }
        for _ in 20..120 {
            assert!(backoff.has_spun());
            backoff.snooze();
        }
        for _ in 0..3 {
            assert!(took(&|| backoff.snooze()) >= Duration::from_micros(50));
        }
        assert!(took(&nap) >= Duration::from_micros(50));
    }

    #[test]
    fn naps_get_longer_up_to_some_milliseconds() {
        let mut naps = Naps::new();
        let lengths = [(); 9].map(|()| {
            let length = naps.0;
            let start = Instant::now();
            naps.nap();
            assert!(start.elapsed() >= length);
            length.as_micros()
        });
        assert_eq!(lengths, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
