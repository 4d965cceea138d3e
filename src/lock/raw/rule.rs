//! Who may be inside together: the one thing in which the bakeries differ.

/// Who may be inside a [`Bakery`](super::Bakery) together: [`Alone`] or [`Shared`].
///
/// A ticket waits for those ahead of it that conflict with it. The rule says which do.
pub trait Rule: sealed::Rule {}

/// All tickets conflict: one is inside at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

/// Readers are inside together, at most `MOST` of them, and a writer is alone.
///
/// A writer conflicts with everybody. A reader conflicts with writers, and waits while `MOST`
/// readers or more are ahead of it. So with a small `MOST`, and readers only, this is
/// `k`-exclusion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared<const MOST: usize = { usize::MAX }>;

impl Rule for Alone {}
impl<const MOST: usize> Rule for Shared<MOST> {}

pub(super) mod sealed {
    use core::fmt::Debug;

    /// What a rule has to say.
    pub trait Rule: Debug + Send + Sync + 'static {
        /// How many low bits of a word say what its customer wants.
        const BITS: u32;

        /// How many readers may be inside at a time.
        const MOST: usize;
    }
}

impl sealed::Rule for Alone {
    const BITS: u32 = 0;
    const MOST: usize = 1;
}

impl<const MOST: usize> sealed::Rule for Shared<MOST> {
    const BITS: u32 = 1;
    const MOST: usize = {
        assert!(MOST > 0, "at least one reader must be let in");
        MOST
    };
}

/// What a customer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To be alone.
    Write,
    /// To be there with other readers.
    Read,
}

/// The word of a ticket: its number, and what its customer wants.
#[inline]
pub(super) const fn word<R: Rule>(number: usize, wish: Wish) -> usize {
    number << R::BITS | matches!(wish, Wish::Read) as usize
}

/// The number on a ticket. Of a seat that has none, it is below that of any ticket.
#[inline]
pub(super) const fn number<R: Rule>(word: usize) -> usize {
    word >> R::BITS
}

/// Whether its customer may be there with other readers.
#[inline]
pub(super) const fn is_reader<R: Rule>(word: usize) -> bool {
    R::BITS > 0 && word & 1 == 1
}
