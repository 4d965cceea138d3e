//! A gate through which so many may be at a time, first come, first served: what a read-write lock
//! and a semaphore have in common.
//!
//! A thread asks for some units of those that there are. A reader asks for one, a writer for all, a
//! user of a semaphore for as many as it has permits. A newcomer takes its units at once if nobody
//! is in line. Otherwise it waits for the mutex in front of the gate, which serves in the order of
//! tickets. The thread that has that mutex is at the *head* of the line: it waits until its units
//! are free, takes them, and hands the mutex on. So a thread waits for those ahead of it that it
//! conflicts with, and for no others: readers in a row go in one after the other. A thread that has
//! more than half of the units may ask for the rest, and is served before the line (`upgrade`).
//!
//! | bits | name | meaning |
//! |---|---|---|
//! | 0 | `WAITS` | the head sleeps, or is about to |
//! | 1 | `ALL` | it needs all units |
//! | 2 | `CLOSED` | no newcomer may pass any more |
//! | 3 to 26 | taken | how many units are taken |
//! | 27 to 42 | queued | how many threads are in line |
//! | 43 to 59 | passed | how many newcomers have passed the head |
//! | 60 | `UPGRADES` | a thread inside waits for the rest of the units: nobody goes in before it |
//!
//! Invariants:
//! 1. No more units are taken than there are.
//! 2. A newcomer takes units only if nobody is in line, or if the policy lets it pass.
//! 3. There is one head at a time, which has the mutex in front. If its units are free, it is awake
//!    or will be woken by the thread that freed the last of them.
//! 4. One thread at a time has more than half of the units, so one at a time upgrades.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE`: Release | `ENTER`, `STEP_IN`, `UPGRADE`: Acquire |
//! | E2 | `ANNOUNCE`: Release | `CALL`: Acquire |
//!
//! - E1 carries all that was done inside before.
//! - E2 carries the announcement of the head, so that the leaver that saw `WAITS` sees a sleeper.
//!   Likewise that of the thread that upgrades.
//!
//! All writes of the word are read-modify-writes, so each continues the release sequences of all
//! before it.

mod upgrade;

use core::fmt;
use core::marker::PhantomData;

use crate::lock::policy::{MOST_PASSED, Policy, Strict};
use crate::lock::pooled::Pooled;
use crate::lock::sync::bed::Bed;
use crate::lock::sync::edge::edges;
use crate::lock::sync::time::{Deadline, after, earlier, has_passed};
use crate::lock::sync::{AtomicU64, Ordering, Spins, constructor, nap};

edges! { "gate":
    /// E1: a newcomer that goes in knows what those did that have left.
    ENTER = Acquire;
    /// E1: the head knows what those did that have left.
    STEP_IN = Acquire;
    /// E1: a thread that upgrades knows what those did that have left.
    UPGRADE = Acquire;
    /// E1: what we did is known to those that take our units.
    LEAVE = Release;
    /// E2: the head is announced before anybody sees that it waits.
    ANNOUNCE = Release;
    /// E2: we see the head whose waiting we saw.
    CALL = Acquire;
}

const NOBODY: u64 = 0;
const WAITS: u64 = 1;
const ALL: u64 = 1 << 1;
const CLOSED: u64 = 1 << 2;
const UNIT: u64 = 1 << 3;
const QUEUED: u64 = 1 << 27;
const PASSED: u64 = 1 << 43;
const UPGRADES: u64 = 1 << 60;

/// The most units that a gate has.
pub(super) const MOST_UNITS: usize = (1 << 24) - 1;
/// More than half of them: what a thread has that may ask for the rest.
pub(super) const HALF: usize = 1 << 23;
const MOST_QUEUED: u64 = (1 << 16) - 1;

const QUEUED_MASK: u64 = MOST_QUEUED * QUEUED;
const PASSED_MASK: u64 = MOST_PASSED as u64 * PASSED;

/// How often the head looks before it sleeps.
const AT_HEAD: u32 = 300;
/// How often a newcomer that may pass looks before it joins the line.
const LINGERS_FOR: u32 = 1000;

const fn taken(word: u64) -> usize {
    (word / UNIT) as usize & MOST_UNITS
}

const fn queued(word: u64) -> u64 {
    (word / QUEUED) & MOST_QUEUED
}

const fn passed(word: u64) -> usize {
    (word / PASSED) as usize & MOST_PASSED
}

/// How many units somebody wants, of how many.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) units: usize,
    pub(super) of: usize,
}

impl Share {
    #[inline]
    const fn fits(self, word: u64) -> bool {
        taken(word) + self.units <= self.of
    }

    const fn bits(self) -> u64 {
        self.units as u64 * UNIT
    }
}

/// A gate that so many may pass at a time.
pub(super) struct Gate<P> {
    word: AtomicU64,
    /// Where the head sleeps.
    bed: Bed,
    /// Where a thread sleeps that upgrades.
    upgrader: Bed,
    line: Pooled<Strict>,
    policy: PhantomData<P>,
}

impl<P: Policy> Gate<P> {
    constructor! {
        pub(super) fn new() -> Self {
            // Refuses a number of newcomers that cannot be counted.
            const { _ = P::COUNT };
            Self {
                word: AtomicU64::new(0),
                bed: Bed::new(),
                upgrader: Bed::new(),
                line: Pooled::new(),
                policy: PhantomData,
            }
        }
    }

    /// How many units are taken. A snapshot.
    #[inline]
    pub(super) fn taken(&self) -> usize {
        taken(self.look())
    }

    /// Relaxed: a snapshot, or a compare-exchange settles it.
    #[inline]
    fn look(&self) -> u64 {
        self.word.load(Ordering::Relaxed)
    }

    #[inline]
    fn change(&self, from: u64, to: u64, ordering: Ordering) -> Result<(), u64> {
        // Relaxed failure: we look again, or give up.
        self.word.compare_exchange_weak(from, to, ordering, Ordering::Relaxed).map(|_| ())
    }

    /// Takes units if nobody is here: no look before it, for those that want to be alone.
    #[inline]
    pub(super) fn find_nobody(&self, share: Share) -> bool {
        self.change(NOBODY, share.bits(), ENTER.ordering()).is_ok()
    }

    /// Takes units unless that means waiting.
    #[inline]
    pub(super) fn try_enter(&self, share: Share) -> bool {
        let mut word = self.look();
        loop {
            if !share.fits(word) {
                return false;
            }
            let is_awaited = word & (QUEUED_MASK | UPGRADES) != 0;
            if is_awaited && !Self::may_pass(word) {
                return false;
            }
            let to = word + share.bits() + if is_awaited { PASSED } else { 0 };
            match self.change(word, to, ENTER.ordering()) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
    }

    /// Whether newcomers may pass the threads in line.
    #[inline]
    fn may_pass(word: u64) -> bool {
        passed(word) < P::COUNT && word & (CLOSED | UPGRADES) == 0
    }

    /// Takes units. Says whether it could before the deadline.
    #[inline]
    pub(super) fn enter(&self, share: Share, deadline: Deadline) -> bool {
        self.try_enter(share) || self.enter_slow(share, deadline)
    }

    #[cold]
    #[inline(never)]
    fn enter_slow(&self, share: Share, deadline: Deadline) -> bool {
        if P::COUNT > 0 {
            let mut spins = Spins::once_at_least(LINGERS_FOR);
            while spins.spin() && Self::may_pass(self.look()) {
                if self.try_enter(share) {
                    return true;
                }
            }
        }
        self.join();
        let Some(turn) = self.line.acquire_until(deadline) else {
            self.give_up();
            return false;
        };
        let entered = self.step_in(share, deadline);
        if !entered {
            self.give_up();
        }
        // SAFETY: it is the turn that we have just got.
        unsafe { self.line.release(turn) };
        entered
    }

    /// Counts us in line. From here on newcomers wait behind us, or pass by the policy.
    fn join(&self) {
        let mut word = self.look();
        loop {
            if queued(word) == MOST_QUEUED {
                nap();
                word = self.look();
                continue;
            }
            // Relaxed: nothing rides on it.
            match self.change(word, word + QUEUED, Ordering::Relaxed) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Takes units as the head, when they are free. Says whether it could before the deadline.
    fn step_in(&self, share: Share, deadline: Deadline) -> bool {
        let closing = if P::COUNT > 0 { after(P::TIME) } else { None };
        let mut spins = Spins::new(AT_HEAD);
        loop {
            let word = self.look();
            if share.fits(word) && word & UPGRADES == 0 {
                let to = (word & !(WAITS | ALL | CLOSED | PASSED_MASK)) + share.bits() - QUEUED;
                if self.change(word, to, STEP_IN.ordering()).is_ok() {
                    return true;
                }
                continue;
            }
            if has_passed(deadline) {
                return false;
            }
            if spins.spin() {
                continue;
            }
            if P::COUNT > 0 && word & CLOSED == 0 && has_passed(closing) {
                self.close();
                continue;
            }
            self.bed.lie_down();
            let all = if share.units == share.of { ALL } else { 0 };
            let to = word & !ALL | WAITS | all;
            if self.change(word, to, ANNOUNCE.ordering()).is_err() {
                self.bed.get_up();
                continue;
            }
            let alarm = if word & CLOSED == 0 { earlier(deadline, closing) } else { deadline };
            self.bed.sleep(alarm);
            spins = Spins::new(AT_HEAD);
        }
    }

    /// Leaves the line without units. What newcomers did to the head counts for the next.
    fn give_up(&self) {
        let mut word = self.look();
        loop {
            let rest = if queued(word) == 1 { CLOSED | PASSED_MASK } else { 0 };
            // Relaxed: nothing rides on it. The next head looks for itself.
            match self.change(word, (word & !rest) - QUEUED, Ordering::Relaxed) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Lets nobody pass until the head is inside.
    fn close(&self) {
        let mut word = self.look();
        while queued(word) > 0 {
            // Relaxed: nothing rides on it.
            match self.change(word, word | CLOSED, Ordering::Relaxed) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Gives units back.
    #[inline]
    pub(super) fn leave(&self, units: usize) {
        let bits = units as u64 * UNIT;
        // Only whether anything is left: a subtraction that tells no more is quicker.
        if self.word.fetch_sub(bits, LEAVE.ordering()) != bits {
            // The word may be newer than what we left. A head that slept then still does, or has
            // been served since.
            let word = self.look();
            if word & (WAITS | UPGRADES) != 0 {
                self.leave_others(word);
            }
        }
    }

    /// What is left to do for a thread that has given units back, and has seen this.
    #[cold]
    #[inline(never)]
    fn leave_others(&self, word: u64) {
        if word & UPGRADES != 0 {
            // The head, if there is one, waits for the upgrade to end.
            if taken(word) == HALF {
                self.call_upgrader();
            }
        } else if word & ALL == 0 || taken(word) == 0 {
            self.call();
        }
    }

    /// Gives units back, and lets nobody pass the head.
    #[inline]
    pub(super) fn leave_fairly(&self, units: usize) {
        if P::COUNT > 0 {
            self.close();
        }
        self.leave(units);
    }

    /// Whether anybody waits.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        queued(self.look()) > 0
    }

    /// Wakes the head.
    #[cold]
    fn call(&self) {
        self.word.load(CALL.ordering());
        self.bed.wake();
    }
}

impl<P> fmt::Debug for Gate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: a snapshot.
        let word = self.word.load(Ordering::Relaxed);
        f.debug_struct("Gate")
            .field("taken", &taken(word))
            .field("queued", &queued(word))
            .field("passed", &passed(word))
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

/// A symbol of a known name around each operation whose instructions `tests/machine_code.rs` reads.
#[cfg(exclusion_asm)]
mod machine_code {
    use super::{Deadline, Gate, Share, Strict};

    #[unsafe(no_mangle)]
    fn asm_gate_try_enter(gate: &Gate<Strict>, units: usize, of: usize) -> bool {
        gate.try_enter(Share { units, of })
    }

    #[unsafe(no_mangle)]
    fn asm_gate_step_in(gate: &Gate<Strict>, units: usize, of: usize, deadline: Deadline) -> bool {
        gate.step_in(Share { units, of }, deadline)
    }

    #[unsafe(no_mangle)]
    fn asm_gate_upgrade(gate: &Gate<Strict>, deadline: Deadline) -> bool {
        gate.upgrade(deadline)
    }

    #[unsafe(no_mangle)]
    fn asm_gate_leave(gate: &Gate<Strict>, units: usize) {
        gate.leave(units);
    }
}
