//! Peterson's lock with a swap: the one algorithm here that is not loads and stores.
//!
//! The words and invariants are [`Peterson`](super::Peterson)'s. A swap of `turn` puts the two
//! writes in an order that both sides know, and the later one has read the earlier. So entering
//! needs no fence.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LOWER`, `WITHDRAW`: Release | `SEE_DOWN`, `AWAIT_DOWN`: Acquire |
//! | E2 | flag, then `GIVE`: Release | `TAKE`: Acquire, then see |
//! | E3 | `GIVE`: Release | `AWAIT_TURN`: Acquire |
//!
//! - E1 carries the other's critical sections.
//! - E2: the side that gives way second sees the other's flag.
//! - E3 carries the other's critical sections, when it has come back and given way.

use scopeguard::ScopeGuard;

use super::layout::{Layout, Packed, zero};
use super::{
    Attendance, Place, RawLock, Register, Waiting, Withdrawn, array, unlocked, unlocked_at_first,
};
use crate::lock::sync::edge::{Edge, edges};

const DOWN: usize = 0;
const UP: usize = 1;

edges! { "peterson_swap":
    /// E2: the side that swaps second sees the other's flag.
    TAKE = Acquire;
    /// E2, E3: our flag, and what we did inside, are known to the side that sees us give way.
    GIVE = Release;
    /// E1: a side that finds nobody there knows what the other did inside.
    SEE_DOWN = Acquire;
    /// E1: a side that waits for the other to leave knows what it did inside.
    AWAIT_DOWN = Acquire;
    /// E3: the same, when the other has raised its flag again.
    AWAIT_TURN = Acquire;
    /// E1: what we did inside earlier is known to the side that passes because we give up.
    WITHDRAW = Release;
    /// E1: what we did inside is known to the side that sees our flag down.
    LOWER = Release;
}

/// Peterson's lock with `turn` swapped instead of stored: one locked instruction, no fence.
///
/// ```
/// use exclusion::lock::{Seated, raw::PetersonSwap};
///
/// let mut cell = Seated::<PetersonSwap, _>::new(0);
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
pub struct PetersonSwap<W: Layout = Packed> {
    want: [Register<W>; 2],
    turn: W::Word,
}

unlocked_at_first!("lock": [] PetersonSwap, [W: Layout] PetersonSwap<W>);

// SAFETY: the side that swaps second sees the other's flag, and waits; the edges are E1 and E3.
unsafe impl<W: Layout> RawLock for PetersonSwap<W> {
    const SEATS: usize = 2;

    unlocked!(Self { want: array![Register::<W>::new(); 2], turn: zero!(W) });

    #[inline]
    unsafe fn acquire_among(
        &self,
        side: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        let other = 1 - side;
        // Relaxed: the swap publishes it.
        self.want[side].store(UP, Edge::RELAXED);
        self.turn.swap(side, TAKE.with(GIVE));
        if self.want[other].load(SEE_DOWN) == DOWN {
            return Ok(());
        }
        let withdraw = scopeguard::guard((), |()| self.want[side].store(DOWN, WITHDRAW));
        waiting.wake(Place::of(&self.want[side]));
        waiting.wait(Place::of(&self.want[other]), || {
            self.want[other].load(AWAIT_DOWN) == DOWN
                || self.turn.load(AWAIT_TURN.ordering()) != side
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

    fn places(&self, side: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.want[side]));
    }
}
