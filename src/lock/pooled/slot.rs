//! A seat beside its ticket: who sits there, where that thread sleeps, and the closure that it has
//! posted.
//!
//! | state | meaning | who moves on |
//! |---|---|---|
//! | `FREE` (0) | nobody sits here | a thread that takes the seat, to `GUARD` or a closure |
//! | `GUARD` | a thread that wants the lock itself | that thread, to `FREE` |
//! | an address | a closure waits there | a combiner, to `TAKEN`; its owner, to `GUARD` |
//! | `TAKEN` | a combiner has the closure | it, to `DONE`, or back if it is not its turn |
//! | `DONE` | the closure has been run | its owner, to `FREE` |
//!
//! A thread that waits for a condition is on its seat too: its states are told in `condition`.
//!
//! A combiner and an owner that gives up both move on by a read-modify-write, so just one of them
//! has the closure: it is run, or its owner has it back.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE_SEAT`: Release | `TAKE_SEAT`: Acquire |
//! | E2 | `FINISH`: Release | `SEE_DONE`: Acquire |
//!
//! - E1 carries the seat's register, as the user before left it.
//! - E2 carries what the closure returned, and all that it did.
//!
//! What carries the closure to its combiner is the ticket: it is drawn after the closure was
//! posted, and the combiner acquires it (`Bakery::is_turn_of`) before it touches the closure.

use super::condition::AWAITS;
use super::task::Task;
use crate::lock::sync::bed::{Bed, SLEEPS};
use crate::lock::sync::edge::{Edge, edges};
use crate::lock::sync::{AtomicU64, AtomicUsize};

edges! { "slot":
    /// E1: we use the seat after the user before.
    TAKE_SEAT = Acquire;
    /// E1: the next user of the seat knows what we did.
    LEAVE_SEAT = Release;
    /// E2: what the closure did is known to its owner.
    FINISH = Release;
    /// E2: we know what a combiner did for us.
    SEE_DONE = Acquire;
}

const FREE: usize = 0;
pub(super) const GUARD: usize = 2;
pub(super) const TAKEN: usize = 4;
const DONE: usize = 6;

// The states, and the bit of the sleeper, are no addresses of closures.
const _: () = assert!(align_of::<Task>() > DONE | SLEEPS);

/// A seat beside its ticket. Zero bytes are a free one.
#[repr(align(64))]
pub(super) struct Slot {
    pub(super) bed: Bed,
    /// How many came before to the condition for which its owner waits.
    pub(super) arrival: AtomicU64,
    /// The mutex of that condition.
    pub(super) mutex: AtomicUsize,
}

impl Slot {
    #[cfg(exclusion_loom)]
    pub(super) fn new() -> Self {
        Self { bed: Bed::new(), arrival: AtomicU64::new(0), mutex: AtomicUsize::new(0) }
    }

    /// Takes the seat for a thread that wants the lock itself.
    pub(super) fn sit(&self) -> bool {
        self.bed.replace(FREE, GUARD, TAKE_SEAT.ordering())
    }

    /// Takes the seat for a thread that brings a task. The task stays where it is until it is taken
    /// back or done.
    pub(super) fn sit_and_post(&self, task: *mut Task) -> bool {
        self.bed.replace(FREE, task.expose_provenance(), TAKE_SEAT.ordering())
    }

    /// Leaves the seat. Its ticket is struck.
    pub(super) fn leave(&self) {
        self.bed.set(FREE, LEAVE_SEAT);
    }

    pub(super) fn is_free(&self) -> bool {
        // Relaxed: a snapshot.
        self.bed.load(Edge::RELAXED) == FREE
    }

    /// Whether a thread sits here that wants the lock itself.
    pub(super) fn is_guard(&self) -> bool {
        // Relaxed: a guess.
        self.bed.load(Edge::RELAXED) == GUARD
    }

    /// Takes the task that is posted here, for a combiner, which must not touch it before it knows
    /// whose turn it is.
    pub(super) fn take(&self) -> Option<*mut Task> {
        // Relaxed, both: the ticket carries the closure.
        let posted = self.bed.load(Edge::RELAXED);
        let is_task = posted > DONE && posted & AWAITS == 0;
        let taken = is_task && self.bed.replace(posted, TAKEN, Edge::RELAXED.ordering());
        taken.then(|| core::ptr::with_exposed_provenance_mut(posted))
    }

    /// Puts back a task that we have taken. Only for that combiner.
    pub(super) fn put_back(&self, task: *mut Task) {
        // Relaxed: we have not touched it.
        self.bed.replace(TAKEN, task.addr(), Edge::RELAXED.ordering());
    }

    /// Tells the owner that its task is done. From here on the task may be gone.
    pub(super) fn finish(&self) {
        self.bed.set_and_wake(DONE, FINISH);
    }

    /// Takes back our task, unless a combiner has it. Only for its owner.
    pub(super) fn take_back(&self, task: *mut Task) -> bool {
        // Relaxed: it is our own.
        self.bed.replace(task.addr(), GUARD, Edge::RELAXED.ordering())
    }

    /// Whether a combiner has done our task. Only for its owner.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.bed.load(SEE_DONE) == DONE
    }

    /// Whether a combiner has our task, and has not done it. Only for its owner.
    pub(super) fn is_taken(&self) -> bool {
        // Relaxed: we look again, by `is_done`.
        self.bed.load(Edge::RELAXED) == TAKEN
    }
}
