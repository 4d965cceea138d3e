//! Peterson's lock for two (1981), from loads and stores.
//!
//! Raise your flag; if the other's is down, enter. Otherwise give way, and wait until the other
//! lowers its flag or gives way itself.
//!
//! | word `want[side]` | meaning |
//! |---|---|
//! | `DOWN` (0) | does not want to enter, or has left |
//! | `UP` (1) | waiting, or inside |
//!
//! | word `turn` | meaning |
//! |---|---|
//! | 0, 1 | the side that gave way last, and waits while the other's flag is up |
//!
//! Only its side writes a flag. Both write `turn`, each with its own number.
//!
//! Invariants:
//! 1. Who is inside has its flag up, and saw the other's flag down after raising it, or saw the
//!    other give way after giving way itself.
//! 2. Of two who both saw the other's flag up, the one whose turn was written first enters first.
//!
//! | edge | write | read | carries |
//! |---|---|---|---|
//! | E1 | `LOWER`: Release | `SEE_DOWN`: Acquire | the other's critical sections |
//! | E2 | flag, then `RAISE` | flag, then `RAISE`, then see | at least one of two who race sees the other's flag; and it gives way after whatever the other wrote to `turn` before |
//! | E3 | turn, then `GIVE_WAY`, then see | the same | of two who give way, the first learns of the second |
//! | E4 | `RAISE`, then turn | `SEE_TURN`: Acquire | the other's critical sections, when it has come back and given way |
//!
//! The usual text writes `want` and `turn` and only then looks; that needs a fence between the two
//! stores and one after. The look in between costs nothing, since a fence stands there anyway,
//! and lets an uncontended entry do with that one fence. It also takes safety off `GIVE_WAY`: both
//! have seen the other's flag by then, and the order of the two writes of `turn` decides. What is
//! left to `GIVE_WAY` is progress: without it each may take its own write for the last one, for as
//! long as the machine delays the news, and both wait.

use super::{Place, RawLock, Register, Waiting, Withdrawn, array, unlocked};
use crate::edge::{Edge, edges};

const DOWN: usize = 0;
const UP: usize = 1;

edges! { "peterson":
    /// E2, E4: our flag is up before we look at the other's, and before we give way.
    RAISE = SeqCst;
    /// E3: our giving way is out before we look whether the other has given way.
    GIVE_WAY = SeqCst;
    /// E1: who passes knows what the other did inside.
    SEE_DOWN = Acquire;
    /// E4: the same, when the other has raised its flag again.
    SEE_TURN = Acquire;
    /// E1: what we did inside is known to whoever sees our flag down.
    LOWER = Release;
}

/// Peterson's lock: two seats, loads and stores only, one fence when nobody else is there.
///
/// ```
/// use exclusion::{Seated, raw::Peterson};
///
/// let mut cell = Seated::<Peterson, _>::new(0);
/// let [mut left, mut right] = cell.seats();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *left.lock() += 1);
///     scope.spawn(move || *right.lock() += 1);
/// });
/// assert_eq!(cell.into_inner(), 2);
/// ```
///
/// # Fairness
/// Once a seat's flag is up, the other enters at most once before it.
#[derive(Debug)]
pub struct Peterson {
    want: [Register; 2],
    turn: Register,
}

// SAFETY: invariants 1 and 2; the edges are E1 and E4.
unsafe impl RawLock for Peterson {
    const SEATS: usize = 2;

    unlocked!(Self { want: array![Register::new(DOWN); 2], turn: Register::new(0) });

    #[inline]
    unsafe fn acquire(&self, side: usize, waiting: &impl Waiting) -> Result<(), Withdrawn> {
        let other = 1 - side;
        // Relaxed: an up flag makes the other wait, and lets nobody pass.
        self.want[side].store(UP, Edge::RELAXED);
        RAISE.fence();
        if self.want[other].load(SEE_DOWN) == DOWN {
            return Ok(());
        }
        // Relaxed: `RAISE` stands before it, which makes it a release.
        self.turn.store(side, Edge::RELAXED);
        GIVE_WAY.fence();
        waiting.wake(Place::of(&self.want[side]));
        waiting
            .wait(Some(Place::of(&self.want[other])), || {
                self.want[other].load(SEE_DOWN) == DOWN || self.turn.load(SEE_TURN) != side
            })
            .inspect_err(|_| self.want[side].store(DOWN, LOWER))
    }

    #[inline]
    unsafe fn release(&self, side: usize) {
        self.want[side].store(DOWN, LOWER);
    }

    /// The other waits at our flag, for us to lower it or to give way.
    fn places(&self, side: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.want[side]));
    }
}
