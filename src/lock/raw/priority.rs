//! The priority node: a lock for two in which the side without priority keeps its flag down.
//!
//! From the tournament algorithm in the lecture notes of Craus and Buțincu.
//!
//! Each side raises its flag and looks at the other's. Where both are up, the side with priority
//! waits, and the other lowers its flag and waits outside. A leaver hands over the priority.
//!
//! | word `want[side]` | meaning |
//! |---|---|
//! | `DOWN` (0) | does not want to enter, has left, or waits without priority |
//! | `UP` (1) | waits with priority, or is inside |
//!
//! | word `priority` | meaning |
//! |---|---|
//! | 0, 1 | the side that need not lower its flag |
//!
//! Only its side writes a flag. The priority is written by the holder alone.
//!
//! Invariants:
//! 1. The holder has its flag up and saw the other's down after raising it. Priority has no part
//!    in safety.
//! 2. Of two sides that want to enter, the one with priority never lowers its flag.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LOWER`: Release; `RAISE`, then lower | `SEE_DOWN`, `AWAIT_DOWN`: Acquire |
//! | E2 | flag, then `RAISE` | flag, then `RAISE`, then see |
//!
//! - E1 carries the other's critical sections.
//! - E2: of two sides that race at least one sees the other's flag.
//!
//! Stepping back lowers the flag of a side that was not inside this time. It is part of E1 all the
//! same: the other side may pass because of it, and a relaxed store ends the release sequence of
//! the last `LOWER`. The fence before it makes it a release. The original lowers the flag at the
//! start of each attempt, before any fence, and would need a release store there.

use scopeguard::ScopeGuard;

use super::layout::{Layout, Packed};
use super::{
    Attendance, Place, RawLock, Register, Waiting, Withdrawn, array, unlocked, unlocked_at_first,
};
use crate::lock::sync::edge::{Edge, edges};

const DOWN: usize = 0;
const UP: usize = 1;

edges! { "priority":
    /// E2: our flag is up before we look at the other's.
    RAISE = Fence;
    /// E1: a side that finds nobody there knows what the other did inside.
    SEE_DOWN = Acquire;
    /// E1: a side that waits for the other to leave knows what it did inside.
    AWAIT_DOWN = Acquire;
    /// E1: what we did inside is known to the side that sees our flag down.
    LOWER = Release;
}

/// The priority node: two seats, loads and stores only, one fence when nobody else is there.
///
/// ```
/// use exclusion::lock::{Seated, raw::Priority};
///
/// let mut cell = Seated::<Priority, _>::new(0);
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
/// No starvation: a leaver hands over the priority, and with it the other side enters next as soon
/// as it runs. Until it runs its flag is down, and the first may enter again and again. This makes
/// the node fast when threads outnumber cores, and less fair than [`Peterson`](super::Peterson).
#[derive(Debug)]
pub struct Priority<W: Layout = Packed> {
    want: [Register<W>; 2],
    priority: Register<W>,
}

unlocked_at_first!("lock": [] Priority, [W: Layout] Priority<W>);

// SAFETY: invariant 1; the edge is E1.
unsafe impl<W: Layout> RawLock for Priority<W> {
    const SEATS: usize = 2;

    unlocked!(Self { want: array![Register::<W>::new(); 2], priority: Register::new() });

    #[inline]
    unsafe fn acquire_among(
        &self,
        side: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        let other = 1 - side;
        let place = Place::of(&self.want[other]);
        loop {
            // Relaxed, both: we look again, with `SEE_DOWN`, once our flag is up.
            waiting.wait(place, || {
                self.has_priority(side) || self.want[other].load(Edge::RELAXED) == DOWN
            })?;
            // Relaxed: an up flag makes the other wait, and lets nobody pass.
            self.want[side].store(UP, Edge::RELAXED);
            RAISE.fence();
            if self.has_priority(side) {
                let withdraw = scopeguard::guard((), |()| self.step_back(side));
                waiting.wait(place, || self.want[other].load(AWAIT_DOWN) == DOWN)?;
                ScopeGuard::into_inner(withdraw);
                return Ok(());
            }
            if self.want[other].load(SEE_DOWN) == DOWN {
                return Ok(());
            }
            self.step_back(side);
            waiting.wake(Place::of(&self.want[side]));
        }
    }

    #[inline]
    unsafe fn release(&self, side: usize) {
        // Relaxed: `LOWER` publishes it with the rest.
        self.priority.store(1 - side, Edge::RELAXED);
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

impl<W: Layout> Priority<W> {
    /// Relaxed: `RAISE` stands before it, which makes it a release.
    #[inline]
    fn step_back(&self, side: usize) {
        self.want[side].store(DOWN, Edge::RELAXED);
    }

    /// Relaxed: priority decides which side waits for the other, and has no part in safety.
    #[inline]
    fn has_priority(&self, side: usize) -> bool {
        self.priority.load(Edge::RELAXED) == side
    }
}
