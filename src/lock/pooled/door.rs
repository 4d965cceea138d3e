//! The door: where the thread with the lowest ticket waits until nobody is inside.
//!
//! Where newcomers may pass, they do not pass for ever. The line knows since when they do. When
//! half of their time is over, a leaver calls the thread that is next, which closes the door. When
//! all of it is over, the next newcomer closes the door itself, and does not pass: the thread that
//! is next may have no core to run on, and gets one only when the others go to sleep.
//!
//! What the thread at the door has suffered is the line's, not its own. If it gives up, the door
//! stays closed, and count and clock go on: the next thread is passed by fewer newcomers for that,
//! never by more. They start afresh when a thread comes in from the line, and when the line is
//! given back.
//!
//! A newcomer spins here for a while before it joins the line. As long as one does, leavers that
//! have passed themselves wake nobody: the newcomer takes the lock. If it does not, it wakes the
//! thread that is next when it joins the line. And if it gets no core, that thread wakes by itself
//! when half of the time is over. For it is here at the door: a leaver that came in from the line
//! has always called it.

use super::line::Line;
use super::pool::pool;
use super::waiting::{FOR_CLOSURE, InLine, SLEEP};
use super::word::{CLOSED, INSIDE, LINGERS, Word};
use super::{JOIN, Pooled, STEP_IN};
use crate::lock::policy::Policy;
use crate::lock::raw::Withdrawn;
use crate::lock::sync::time::{Duration, after, earlier, has_passed, micros};
use crate::lock::sync::{Ordering, Spins};

/// How often the thread at the door looks before it sleeps. Enough for the other of two threads to
/// be through a critical section of some microseconds.
const AT_DOOR: u32 = 1000;
/// The same where nobody passes and others wait behind. They will each need a core in their turn,
/// and the one that is inside may have to share it with us.
const AT_DOOR_BEFORE_OTHERS: u32 = 200;

/// One in so many newcomers that pass looks at the clock.
const PASSES_PER_LOOK: usize = 4;

/// How often a newcomer that may pass looks before it joins the line.
const LINGERS_FOR: u32 = 1000;

impl<P: Policy> Pooled<P> {
    /// Waits at the door and goes inside.
    ///
    /// # Errors
    /// [`Withdrawn`] if the deadline passes, or if another thread has run our closure.
    pub(super) fn step_in(&self, waiting: &InLine) -> Result<(), Withdrawn> {
        let mut spins = self.spins_at_door(waiting);
        loop {
            let word = self.look();
            if waiting.is_done() {
                return Err(Withdrawn);
            }
            if !word.has(INSIDE) {
                // A thread with a closure goes on waiting, as far as the word is concerned: a
                // combiner may have run the closure, and left a word that looks the same.
                let served = if waiting.has_task() { 0 } else { Word::served(1) };
                let inside = Word(word.stepped_in().0 - served);
                if self.change(word, inside, STEP_IN.ordering()).is_ok() {
                    self.start_clock(waiting.line);
                    return Ok(());
                }
                continue;
            }
            if has_passed(waiting.deadline) {
                return Err(Withdrawn);
            }
            if spins.spin() {
                continue;
            }
            if P::COUNT > 0 && !word.has(CLOSED) && waiting.line.has_been_passed_for(P::TIME / 2) {
                self.close();
                continue;
            }
            let bed = &waiting.slot().bed;
            bed.lie_down();
            SLEEP.fence();
            if !self.look().has(INSIDE) || waiting.is_done() {
                bed.get_up();
                continue;
            }
            // As long as newcomers may pass, nobody need wake us: see `passes_soon`.
            let time_is_up =
                if P::COUNT > 0 && !word.has(CLOSED) { after(P::TIME / 2) } else { None };
            bed.sleep(earlier(waiting.deadline, time_is_up));
            spins = self.spins_at_door(waiting);
        }
    }

    fn spins_at_door(&self, waiting: &InLine) -> Spins {
        let others_wait = self.look().waiting() > 1;
        Spins::new(match P::COUNT {
            _ if waiting.has_task() => FOR_CLOSURE,
            0 if others_wait => AT_DOOR_BEFORE_OTHERS,
            _ => AT_DOOR,
        })
    }

    /// From now on newcomers pass the next thread in line.
    pub(super) fn start_clock(&self, line: &Line) {
        if P::COUNT > 0 {
            line.since.store(micros(), Ordering::Relaxed); // a wrong time does no harm
        }
    }

    /// Whether a leaver that did not come from the line must call the thread that is next. `word`
    /// is what it saw after it had left. If somebody is inside by then, that thread leaves too.
    #[inline]
    pub(super) fn must_call(&self, word: Word) -> bool {
        let another_will = word.has(INSIDE) || word.passes_soon();
        P::COUNT == 0 || !another_will || self.is_time_over(word.passed(), P::TIME / 2)
    }

    /// Whether newcomers have passed for so long. Not all that pass look at the clock.
    pub(super) fn is_time_over(&self, passed: usize, time: Duration) -> bool {
        if !passed.is_multiple_of(PASSES_PER_LOOK) {
            return false;
        }
        let word = self.look_for_line();
        // We are not counted in line, and may see the time of another mutex: no harm.
        word.waiting() > 0 && pool().line(word.line()).has_been_passed_for(time)
    }

    /// No longer lingers, without having taken the lock: somebody may have relied on it.
    #[cold]
    pub(super) fn stop_lingering(&self) {
        if P::COUNT > 0 {
            let word = Word(self.word.fetch_and(!LINGERS, JOIN.ordering()));
            if word.waiting() > 0 && !word.has(INSIDE) {
                self.call(word);
            }
        }
    }

    /// Lets nobody pass until a thread from the line is inside.
    pub(super) fn close(&self) {
        // Relaxed: nothing rides on it. Without a line there is nothing to close.
        let mut word = self.look();
        while word.waiting() > 0 {
            match self.change(word, word.with(CLOSED), Ordering::Relaxed) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Spins at the door for a moment, where newcomers may pass. Says whether we are inside.
    pub(super) fn linger(&self) -> bool {
        if P::COUNT == 0 {
            return false;
        }
        let mut spins = Spins::once_at_least(LINGERS_FOR);
        loop {
            if self.pass() {
                return true;
            }
            let word = self.look();
            if !Self::may_pass(word) {
                return false;
            }
            if word.has(INSIDE) && word.waiting() > 0 && !word.has(LINGERS) {
                // Relaxed: nothing rides on it. If it fails, we look again.
                _ = self.change(word, word.with(LINGERS), Ordering::Relaxed);
            }
            if !spins.spin() {
                return false;
            }
        }
    }
}

impl Line {
    /// Whether newcomers have passed the thread that is next for so long.
    #[cold]
    fn has_been_passed_for(&self, time: Duration) -> bool {
        // Relaxed: a wrong time does no harm.
        let since = self.since.load(Ordering::Relaxed);
        micros().saturating_sub(since) >= time.as_micros() as u64
    }
}

impl Word {
    /// Whether a newcomer is about to take the lock, so that nobody need be woken.
    #[inline]
    pub(super) const fn passes_soon(self) -> bool {
        self.has(LINGERS) && !self.has(CLOSED)
    }
}
