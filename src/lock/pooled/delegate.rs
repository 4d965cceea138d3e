//! Critical sections as closures: a thread in line leaves its own to be run by another.
//!
//! A thread that is inside for a closure of its own is a *combiner*. It goes on with the closure of
//! the thread that has the lowest ticket, and so on, until it meets a thread that wants the lock
//! itself, or nobody, or has run as many as one combiner may. So the closures are run in the order
//! of their tickets, one order with `lock`, and without a switch of threads for each.
//!
//! Whether a ticket is the lowest is known only after its closure is taken: then its owner can no
//! longer withdraw. If somebody turns out to be ahead, or is choosing for too long, the closure is
//! put back.

use super::line::Line;
use super::task::{Closure, Task};
use super::waiting::InLine;
use super::word::{INSIDE, Word};
use super::{Arrival, JOIN, LEAVE, Pooled, Turn, pool, seats};
use crate::lock::policy::Policy;
use crate::lock::sync::Spins;
use crate::lock::sync::time::Deadline;

/// How many closures of others one combiner runs before it hands on.
pub(crate) const MOST_CLOSURES: usize = 64;

/// How often a thread with a closure looks before it joins an empty line.
const HOVERS_FOR: u32 = 20;

/// A thread is inside, and nobody is in line.
const ALONE: Word = Word::FREE.with(INSIDE);

/// How often a combiner looks at a thread that is choosing.
const PATIENCE: u32 = 50;

impl<P: Policy> Pooled<P> {
    /// Runs a closure over the data, here or on another thread, in its turn. Gives it back if the
    /// deadline passes before it began.
    ///
    /// # Safety
    /// The data is what this lock protects. It may be used from any thread, and so may the closure
    /// and what it returns.
    #[inline]
    pub(crate) unsafe fn run<T: ?Sized, F: FnOnce(&mut T) -> R, R>(
        &self,
        closure: F,
        data: *mut T,
        deadline: Deadline,
    ) -> Result<R, F> {
        if self.find_nobody() {
            // SAFETY: we are inside, so the data is ours.
            return Ok(unsafe { self.run_inside(closure, data, ALONE) });
        }
        // SAFETY: the same contract.
        unsafe { self.run_slow(closure, data, deadline) }
    }

    /// As `run`, if that means no waiting.
    ///
    /// # Safety
    /// As for `run`.
    #[inline]
    pub(crate) unsafe fn try_run<T: ?Sized, F: FnOnce(&mut T) -> R, R>(
        &self,
        closure: F,
        data: *mut T,
    ) -> Result<R, F> {
        if self.find_nobody() || self.pass() {
            // SAFETY: we are inside, so the data is ours.
            return Ok(unsafe { self.run_inside(closure, data, ALONE) });
        }
        Err(closure)
    }

    /// Runs our own closure, and then those of others, as one that came in past the line. While the
    /// word is still `alone`, nobody waits.
    ///
    /// # Safety
    /// We are inside.
    #[inline]
    unsafe fn run_inside<T: ?Sized, F: FnOnce(&mut T) -> R, R>(
        &self,
        closure: F,
        data: *mut T,
        alone: Word,
    ) -> R {
        let turn = self.turn(None);
        // If the closure panics, nobody else's is run.
        let release = scopeguard::guard(turn, |turn| {
            // SAFETY: we are inside.
            unsafe { self.release(turn) };
        });
        // SAFETY: we are inside, so the data is ours.
        let result = closure(unsafe { &mut *data });
        let turn = scopeguard::ScopeGuard::into_inner(release);
        if self.look() == alone {
            // SAFETY: we are inside.
            unsafe { self.release(turn) };
        } else {
            self.serve_as_guest(turn);
        }
        result
    }

    /// Leaves after our own closure. If the next thread in line sleeps, it is quicker to run its
    /// closure than to wake it: then we join the line, and run what we find.
    #[cold]
    fn serve_as_guest(&self, turn: Turn) {
        let mut word = self.look_for_line();
        // Threads may leave the line while we are inside, and it may be gone.
        while word.waiting() > 0 && word.in_line() < seats() && Self::next_sleeps(word) {
            match self.change(word, word.joined_as_guest(), JOIN.ordering()) {
                Ok(()) => {
                    let served = self.serve(pool().line(word.line()), 0);
                    return self.hand_on(None, served);
                }
                Err(_) => word = self.look_for_line(),
            }
        }
        // SAFETY: we are inside.
        unsafe { self.release(turn) };
    }

    /// Whether the thread whose turn comes next sleeps. A guess.
    fn next_sleeps(word: Word) -> bool {
        let line = pool().line(word.line());
        line.bakery.lowest(line).is_some_and(|(_, seat)| line.slot(seat).bed.is_slept_in())
    }

    /// # Safety
    /// As for `run`.
    #[cold]
    unsafe fn run_slow<T: ?Sized, F: FnOnce(&mut T) -> R, R>(
        &self,
        closure: F,
        data: *mut T,
        deadline: Deadline,
    ) -> Result<R, F> {
        if self.linger() {
            // SAFETY: we are inside.
            return Ok(unsafe { self.run_inside(closure, data, ALONE) });
        }
        self.hover();
        let (line, others) = match self.join(deadline) {
            Err(_) => return Err(closure),
            Ok(Arrival::Inside(word)) => {
                // SAFETY: we are inside.
                return Ok(unsafe { self.run_inside(closure, data, word) });
            }
            Ok(Arrival::InLine(line, others)) => (line, others),
        };
        let mut closure = Closure::new(closure, data);
        // SAFETY: the closure stays where it is until that returns.
        unsafe { self.run_in_line(line, others, closure.task(), deadline) };
        closure.outcome()
    }

    /// Looks for a moment whether the thread that is inside leaves, as long as nobody waits: there
    /// is no order to keep then, and a short closure costs less than a ticket.
    fn hover(&self) {
        let mut spins = Spins::new(HOVERS_FOR);
        loop {
            let word = self.look();
            if !word.has(INSIDE) || word.waiting() > 0 || !spins.spin() {
                return;
            }
        }
    }

    /// Has the task run in its turn, by us or another, or gives up.
    ///
    /// # Safety
    /// We are counted in that line. The task stays where it is until this returns.
    unsafe fn run_in_line(
        &self,
        line: &'static Line,
        others: usize,
        task: *mut Task,
        deadline: Deadline,
    ) {
        let waiting = InLine::with_task(line, others, deadline, task);
        let entered = waiting.draw().and_then(|ticket| {
            waiting.await_turn(ticket)?;
            self.step_in(&waiting)
        });
        let is_ours = waiting.take_back(task);
        if is_ours && entered.is_ok() {
            // SAFETY: it is not done, nobody else has it any more, and we are inside.
            unsafe { Task::run(task) };
        }
        if is_ours {
            waiting.strike(); // otherwise the combiner has done so
        }
        match entered {
            Ok(()) => {
                self.probe.is_inside();
                // We wait no longer, unless a combiner was here before us, and counted that.
                let served = self.serve(line, usize::from(is_ours));
                self.hand_on(Some(waiting.seat), served);
            }
            Err(_) if is_ours => self.give_up(waiting.seat),
            // The combiner sees to the threads behind us.
            Err(_) => self.leave_line(self.look(), Some(waiting.seat)),
        }
    }

    /// Ends the turn of a combiner, which is counted in line and has served so many.
    fn hand_on(&self, seat: Option<usize>, served: usize) {
        self.probe.is_inside();
        let word = self.subtract(INSIDE + Word::served(served), LEAVE.ordering());
        if word.waiting() > 0 {
            self.call(word);
        }
        self.leave_line(word, seat);
    }

    /// Runs the closures of the threads in line, in the order of their tickets. Says how many have
    /// been served, with those that were before.
    fn serve(&self, line: &'static Line, before: usize) -> usize {
        let served = (before..).take(MOST_CLOSURES);
        before + served.take_while(|served| self.serve_one(line, *served)).count()
    }

    /// Runs the closure of the thread that has the lowest ticket. Says whether there was one.
    fn serve_one(&self, line: &'static Line, served: usize) -> bool {
        let mut patience = Spins::new(PATIENCE);
        loop {
            let Some((ticket, seat)) = line.bakery.lowest(line) else {
                if self.look().waiting() > served && patience.spin() {
                    continue;
                }
                return false;
            };
            let slot = line.slot(seat);
            let Some(task) = slot.take() else { return false };
            if line.bakery.is_turn_of(seat, ticket, line) {
                self.probe.is_inside();
                // SAFETY: we have taken it, and are inside.
                unsafe { Task::run(task) };
                // SAFETY: its owner waits until we have finished, so the register is ours.
                unsafe { line.bakery.strike(seat) };
                slot.finish();
                return true;
            }
            slot.put_back(task);
            if !patience.spin() {
                return false;
            }
        }
    }
}
