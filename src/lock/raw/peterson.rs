//! Peterson's lock for two (1981), from loads and stores.
//!
//! A side raises its flag, and enters if the other's is down. Otherwise it gives way, and waits
//! until the other lowers its flag or gives way itself.
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
//! 1. The holder has its flag up, and saw the other's flag down after raising it, or saw the
//!    other give way after giving way itself.
//! 2. If both sides saw the other's flag up, the side that wrote `turn` first enters first.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LOWER`: Release; `GIVE_WAY`, then lower | `SEE_DOWN`, `AWAIT_DOWN`: Acquire |
//! | E2 | flag, then `RAISE` | flag, then `RAISE`, then see |
//! | E3 | turn, then `GIVE_WAY`, then await | flag, then `RAISE`, then turn |
//! | E4 | `RAISE`, then turn | `AWAIT_TURN`: Acquire |
//!
//! - E1 carries the other's critical sections.
//! - E2: of two sides that race at least one sees the other's flag.
//! - E3: a side that passes because it saw the other's flag down gave way before the other comes
//!   back and gives way.
//! - E4 carries the other's critical sections, when it has come back and given way.
//!
//! The usual text writes `want` and `turn` and only then looks; that needs a fence between the two
//! stores and one after. The look in between costs nothing, since a fence stands there anyway, and
//! lets an uncontended entry do with that one fence.
//!
//! Why `GIVE_WAY` is needed all the same: we write `turn`, see the other's flag down and enter. The
//! other comes back, sees our flag, gives way, and must wait. Were our write of `turn` still on its
//! way, it would land on top of the other's, which would take it for our giving way, and enter too.

use scopeguard::ScopeGuard;

use super::layout::{Layout, Packed};
use super::{
    Attendance, Place, RawLock, Register, Waiting, Withdrawn, array, unlocked, unlocked_at_first,
};
use crate::lock::sync::edge::{Edge, edges};

const DOWN: usize = 0;
const UP: usize = 1;

edges! { "peterson":
    /// E2, E4: our flag is up before we look at the other's, and before we give way.
    RAISE = Fence;
    /// E3: our giving way is out before we look again, and before we look for sleepers.
    GIVE_WAY = Fence;
    /// E1: a side that finds nobody there knows what the other did inside.
    SEE_DOWN = Acquire;
    /// E1: a side that waits for the other to leave knows what it did inside.
    AWAIT_DOWN = Acquire;
    /// E4: the same, when the other has raised its flag again.
    AWAIT_TURN = Acquire;
    /// E1: what we did inside is known to the side that sees our flag down.
    LOWER = Release;
}

/// Peterson's lock: two seats, loads and stores only, one fence when nobody else is there.
///
/// ```
/// use exclusion::lock::{Seated, raw::Peterson};
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
/// `W` is the [layout](Layout) of its registers.
///
/// # Fairness
/// Once a seat has given way, the other enters at most once before it.
#[derive(Debug)]
pub struct Peterson<W: Layout = Packed> {
    want: [Register<W>; 2],
    turn: Register<W>,
}

unlocked_at_first!("lock": [] Peterson, [W: Layout] Peterson<W>);

// SAFETY: invariants 1 and 2; the edges are E1 and E4.
unsafe impl<W: Layout> RawLock for Peterson<W> {
    const SEATS: usize = 2;

    unlocked!(Self { want: array![Register::<W>::new(); 2], turn: Register::new() });

    #[inline]
    unsafe fn acquire_among(
        &self,
        side: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
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
        // Relaxed: `GIVE_WAY` stands before it, which makes it a release.
        let withdraw = scopeguard::guard((), |()| self.want[side].store(DOWN, Edge::RELAXED));
        waiting.wake_fenced(Place::of(&self.want[side]));
        waiting.wait(Place::of(&self.want[other]), || {
            self.want[other].load(AWAIT_DOWN) == DOWN || self.turn.load(AWAIT_TURN) != side
        })?;
        ScopeGuard::into_inner(withdraw);
        Ok(())
    }

    #[inline]
    unsafe fn release(&self, side: usize) {
        self.want[side].store(DOWN, LOWER);
    }

    #[inline]
    fn is_idle(&self, side: usize) -> bool {
        // Relaxed: our own flag.
        self.want[side].load(Edge::RELAXED) == DOWN
    }

    /// The other waits at our flag, for us to lower it or to give way.
    fn places(&self, side: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.want[side]));
    }
}
