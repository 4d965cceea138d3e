//! How a thread in line waits: it spins if it is next or nearly, then sleeps beside its own seat.
//!
//! A thread sleeps on the bed of its own seat, whatever it waits for. It announces itself, fences,
//! and looks once more. A thread that strikes a ticket or leaves the lock fences, and then looks
//! who has the lowest ticket. Either the sleeper sees what it waits for, or the other sees both its
//! ticket and its announcement (E4 of `pooled`).
//!
//! A thread that is choosing will have chosen in a few steps, unless it is preempted. Nobody wakes
//! those that wait for it. They look again after a nap.

use super::line::Line;
use super::slot::Slot;
use super::task::Task;
use crate::lock::raw::{Place, Waiting, Withdrawn};
use crate::lock::sync::edge::edges;
use crate::lock::sync::time::{Deadline, Duration, after, has_passed};
use crate::lock::sync::{Spins, nap};

edges! { "waiting":
    /// E4 of `pooled`: we are announced before we look for the last time.
    SLEEP = Fence;
}

/// How often a thread looks before it sleeps that waits for its closure to be run.
pub(super) const FOR_CLOSURE: u32 = 100;
/// How often a thread looks before it sleeps that is next in line, or was woken early.
const NEXT: u32 = 200;
/// How often a thread looks before it naps that waits for another to choose.
const FOR_CHOICE: u32 = 100;

/// After how long to look whether a combiner has put our closure back: it does not wake us then.
const PUT_BACK_SOON: Duration = Duration::from_micros(500);

/// A thread with a seat in a line.
pub(super) struct InLine {
    pub(super) line: &'static Line,
    pub(super) seat: usize,
    pub(super) deadline: Deadline,
    task: Option<*mut Task>,
    spins: u32,
}

impl InLine {
    /// Takes a seat in a line in which so many others were.
    pub(super) fn new(line: &'static Line, others: usize, deadline: Deadline) -> Self {
        let spins = if others <= 1 { NEXT } else { 0 };
        let seat = line.take_seat(others, None);
        Self { line, seat, deadline, task: None, spins }
    }

    /// The same for a thread that posts a task there.
    pub(super) fn with_task(
        line: &'static Line,
        others: usize,
        deadline: Deadline,
        task: *mut Task,
    ) -> Self {
        let seat = line.take_seat(others, Some(task));
        Self { line, seat, deadline, task: Some(task), spins: FOR_CLOSURE }
    }

    /// A thread that has this seat already, and no deadline. Or one that acts for it.
    pub(super) fn on_seat(line: &'static Line, seat: usize) -> Self {
        Self { line, seat, deadline: None, task: None, spins: NEXT }
    }

    pub(super) fn slot(&self) -> &'static Slot {
        self.line.slot(self.seat)
    }

    /// Whether it has posted a closure.
    pub(super) fn has_task(&self) -> bool {
        self.task.is_some()
    }

    /// Draws a ticket.
    pub(super) fn draw(&self) -> Result<usize, Withdrawn> {
        self.line.bakery.draw(self.seat, self.line, self)
    }

    /// The ticket that another thread has drawn for us.
    pub(super) fn ticket(&self) -> usize {
        self.line.bakery.ticket(self.seat)
    }

    /// Waits until nobody has a lower one.
    pub(super) fn await_turn(&self, ticket: usize) -> Result<(), Withdrawn> {
        self.line.bakery.await_turn(self.seat, ticket, self.line, self)
    }

    /// Strikes our ticket, or one that we never drew.
    pub(super) fn strike(&self) {
        // SAFETY: the seat is ours, so its register is.
        unsafe { self.line.bakery.strike(self.seat) };
    }

    /// Whether another thread has run our closure.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.has_task() && self.slot().is_done()
    }

    /// Has our task back, or done by another thread. Says whether we have it back.
    pub(super) fn take_back(&self, task: *mut Task) -> bool {
        let slot = self.slot();
        let mut spins = Spins::new(FOR_CLOSURE);
        loop {
            if slot.is_done() {
                return false;
            }
            if slot.take_back(task) {
                return true;
            }
            if spins.spin() {
                continue;
            }
            // A combiner has it, and will wake us or put it back.
            slot.bed.lie_down();
            if slot.is_taken() {
                slot.bed.sleep(after(PUT_BACK_SOON));
            } else {
                slot.bed.get_up();
            }
        }
    }
}

impl Waiting for InLine {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let mut spins = Spins::new(self.spins);
        while !ready() {
            if self.is_done() || has_passed(self.deadline) {
                return Err(Withdrawn);
            }
            if spins.spin() {
                continue;
            }
            let bed = &self.slot().bed;
            bed.lie_down();
            SLEEP.fence();
            if ready() || self.is_done() {
                bed.get_up();
                continue;
            }
            bed.sleep(self.deadline);
            // A thread that wakes us does so because our turn has come, or nearly.
            spins = Spins::new(if self.has_task() { FOR_CLOSURE } else { NEXT });
        }
        Ok(())
    }

    fn wait_briefly(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let mut spins = Spins::new(FOR_CHOICE);
        while !ready() {
            if self.is_done() || has_passed(self.deadline) {
                return Err(Withdrawn);
            }
            if !spins.spin() {
                nap();
            }
        }
        Ok(())
    }
}
