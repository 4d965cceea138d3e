//! How the registers of a lock lie in memory.

use core::ops::Deref;

use crossbeam_utils::CachePadded;

use crate::lock::sync::AtomicUsize;

/// How the registers of a lock lie in memory: [`Packed`] or [`Padded`].
///
/// It is a parameter of each lock of [`raw`](super), and is `Packed` unless told otherwise:
///
/// ```
/// use exclusion::lock::Seated;
/// use exclusion::lock::raw::{Padded, Peterson, Tournament};
///
/// let packed = Seated::<Tournament<4>, u32>::new(0);
/// let padded = Seated::<Tournament<4, Peterson<Padded>>, u32>::new(0);
/// assert!(size_of_val(&packed) < size_of_val(&padded));
/// ```
pub trait Layout: sealed::Layout {}

/// Registers side by side: a word each, and as many on a cache line as there is room for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packed;

/// Each register on a cache line of its own.
///
/// There is no false sharing: a store invalidates no other register in the caches of other cores. A
/// register takes as much memory as [`CachePadded`] takes for a cache line of the target: 128 bytes
/// on x86-64.
///
/// # When to use it
///
/// Measure first. [`Packed`] is the default, because with two threads it was never slower. All
/// registers of a small packed lock fit on one cache line, so one line per entry moves between the
/// cores, instead of one per register. With more seats, whose waiters look at different registers,
/// padding may pay off.
///
/// Two threads on a virtual machine with two cores, in million entries per second, two runs:
///
/// | lock | packed | padded |
/// |---|---|---|
/// | [`Peterson`](super::Peterson), hot | 14.6, 15.1 | 4.4, 4.1 |
/// | [`Bakery`](super::Bakery) of two seats, hot | 7.7, 8.1 | 5.7, 5.4 |
///
/// Hot is an empty critical section, entered again at once. With short critical sections the two
/// layouts did not differ.
#[derive(Clone, Copy, Debug, Default)]
pub struct Padded;

/// Registers that hold numbers up to `LAST` only, so that a test need not count to the end of a
/// word.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Narrow<const LAST: usize>;

impl Layout for Packed {}
impl Layout for Padded {}
impl<const LAST: usize> Layout for Narrow<LAST> {}

pub(super) mod sealed {
    use core::fmt::Debug;
    use core::ops::Deref;

    use crate::lock::sync::AtomicUsize;

    /// What a layout has to say.
    pub trait Layout: Debug + Send + Sync + 'static {
        /// A word, and the room around it.
        type Word: Deref<Target = AtomicUsize> + Debug + Send + Sync;

        /// A word that is 0.
        #[cfg(not(exclusion_loom))]
        #[allow(clippy::declare_interior_mutable_const, reason = "a value to start from")]
        const ZERO: Self::Word;

        /// A word that is 0.
        #[cfg(exclusion_loom)]
        fn zero() -> Self::Word;

        /// The highest number that a register holds.
        const LAST: usize = usize::MAX;
    }
}

/// A word of that layout that is 0, where a constant is wanted unless under loom.
macro_rules! zero {
    ($layout:ty) => {{
        #[cfg(not(exclusion_loom))]
        let zero = <$layout as $crate::lock::raw::layout::sealed::Layout>::ZERO;
        #[cfg(exclusion_loom)]
        let zero = <$layout as $crate::lock::raw::layout::sealed::Layout>::zero();
        zero
    }};
}
pub(super) use zero;

/// The word of a layout whose words start as `$zero`.
macro_rules! word {
    ($word:ty, $zero:expr) => {
        type Word = $word;

        #[cfg(not(exclusion_loom))]
        const ZERO: $word = $zero;

        #[cfg(exclusion_loom)]
        fn zero() -> $word {
            $zero
        }
    };
}

/// A word with no room around it.
#[derive(Debug)]
pub struct Bare(AtomicUsize);

impl Deref for Bare {
    type Target = AtomicUsize;

    #[inline(always)]
    fn deref(&self) -> &AtomicUsize {
        &self.0
    }
}

impl sealed::Layout for Packed {
    word!(Bare, Bare(AtomicUsize::new(0)));
}

impl sealed::Layout for Padded {
    word!(CachePadded<AtomicUsize>, CachePadded::new(AtomicUsize::new(0)));
}

impl<const LAST: usize> sealed::Layout for Narrow<LAST> {
    word!(Bare, Bare(AtomicUsize::new(0)));

    const LAST: usize = LAST;
}
