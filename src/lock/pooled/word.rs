//! The one word of a pooled mutex.
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `INSIDE` | a thread is inside |
//! | 1 | `LINGERS` | a newcomer spins at the door and may pass: a leaver need not wake anybody |
//! | 2 | `CLOSED` | no newcomer may pass any more |
//! | 4 to 16 | in line | how many threads use the line |
//! | 17 to 29 | waiting | how many of them wait; a combiner counts until it leaves |
//! | 30 to 46 | passed | how many newcomers have passed the thread at the door |
//! | 47 and up | line | which line; without meaning while nobody is in line |
//!
//! Bit 3 is not used. A word of 0 is a mutex that nobody holds and nobody waits for. While nobody
//! is in line, all bits but `INSIDE` are 0.

use super::pool::MOST_LINES;
use crate::lock::policy::MOST_PASSED;

/// What the word says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// A thread is inside.
pub(super) const INSIDE: u64 = 1;
/// A newcomer spins at the door.
pub(super) const LINGERS: u64 = 1 << 1;
/// Nobody may pass.
pub(super) const CLOSED: u64 = 1 << 2;

const IN_LINE: Field = Field { low: 4, bits: 13 };
const WAITING: Field = Field { low: 17, bits: 13 };
const PASSED: Field = Field { low: 30, bits: 17 };
const LINE: Field = Field { low: 47, bits: 17 };

/// The most threads that the word can count in a line.
pub(super) const MOST_IN_LINE: usize = IN_LINE.most();

const _: () = assert!(PASSED.most() == MOST_PASSED);
const _: () = assert!(MOST_LINES - 1 <= LINE.most());

/// A number in the word.
struct Field {
    low: u32,
    bits: u32,
}

impl Field {
    const fn most(&self) -> usize {
        (1 << self.bits) - 1
    }

    const fn one(&self) -> u64 {
        1 << self.low
    }

    const fn mask(&self) -> u64 {
        (self.most() as u64) << self.low
    }

    const fn of(&self, word: u64) -> usize {
        ((word >> self.low) & self.most() as u64) as usize
    }
}

impl Word {
    /// Nobody is inside, and nobody in line.
    pub(super) const FREE: Self = Self(0);

    pub(super) const fn has(self, bit: u64) -> bool {
        self.0 & bit != 0
    }

    pub(super) const fn with(self, bit: u64) -> Self {
        Self(self.0 | bit)
    }

    pub(super) const fn without(self, bit: u64) -> Self {
        Self(self.0 & !bit)
    }

    pub(super) const fn in_line(self) -> usize {
        IN_LINE.of(self.0)
    }

    pub(super) const fn waiting(self) -> usize {
        WAITING.of(self.0)
    }

    pub(super) const fn passed(self) -> usize {
        PASSED.of(self.0)
    }

    /// Which line. Only if somebody is in line.
    pub(super) const fn line(self) -> usize {
        LINE.of(self.0)
    }

    /// One more uses the line, and does not wait.
    pub(super) const fn joined_as_guest(self) -> Self {
        Self(self.0 + IN_LINE.one())
    }

    /// One more is in line, and waits.
    pub(super) const fn joined(self) -> Self {
        Self(self.0 + IN_LINE.one() + WAITING.one()).without(LINGERS)
    }

    /// The first is in line, which is this one.
    pub(super) const fn joined_new(self, line: usize) -> Self {
        Self(self.0 | (line as u64) << LINE.low).joined()
    }

    /// The first uses the line, and does not wait.
    pub(super) const fn joined_new_as_guest(self, line: usize) -> Self {
        Self(self.0 | (line as u64) << LINE.low).joined_as_guest()
    }

    /// One less is in line. The last to leave takes along all that was about the line.
    pub(super) const fn left(self) -> Self {
        if self.in_line() == 1 { Self(self.0 & INSIDE) } else { Self(self.0 - IN_LINE.one()) }
    }

    /// What to subtract when so many wait no longer.
    pub(super) const fn served(threads: usize) -> u64 {
        threads as u64 * WAITING.one()
    }

    /// One newcomer more has passed, and no longer lingers.
    pub(super) const fn passed_by_one(self) -> Self {
        Self(self.0 + PASSED.one()).with(INSIDE).without(LINGERS)
    }

    /// The thread at the door has gone in: from now on others are passed.
    pub(super) const fn stepped_in(self) -> Self {
        self.with(INSIDE).without(CLOSED | PASSED.mask())
    }
}
