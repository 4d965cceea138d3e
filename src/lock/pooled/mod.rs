//! A mutex of one word, with a line from a pool while somebody waits.
//!
//! While nobody waits the mutex is its [word](word). A thread that must wait joins the line of the
//! mutex, or brings one from the [pool](pool), and the last that leaves the line takes it out
//! again. The word counts the threads that use the line. A thread that is counted keeps the line
//! where it is.
//!
//! An acquisition goes through these rooms until it is inside:
//!
//! | room | who waits there | file |
//! |---|---|---|
//! | none | a thread that finds nobody: one compare-exchange | this one |
//! | the line | a thread with a ticket, until it has the lowest | `raw::bakery`, `waiting` |
//! | the door | the thread with the lowest ticket, until nobody is inside | `door` |
//!
//! A thread that brings its critical section as a closure goes the same way. But a thread that is
//! inside for a closure of its own, a *combiner*, runs those of the threads behind it, in their
//! order, until it meets a thread that wants the lock itself (`delegate`).
//!
//! Invariants:
//! 1. The holder has set `INSIDE`, in a word in which it was clear.
//! 2. A newcomer sets `INSIDE` only if nobody is in line, or if the policy lets it pass. So without
//!    bypass the threads in line are served in the order of their tickets.
//! 3. A line belongs to a mutex while anybody is counted in the word, and then to no other.
//! 4. A ticket is struck when its owner has stepped in or withdraws, or when its closure has been
//!    run. A thread that leaves the lock, or strikes a ticket and withdraws, wakes the thread that
//!    has the lowest. So nobody sleeps whose turn it is.
//! 5. One wake-up may be left out: that of a leaver which came in past the line, while another
//!    thread is inside already, which will leave; or while a newcomer lingers at the door and
//!    newcomers may pass. That newcomer takes the lock, or wakes the thread that is next when it
//!    stops lingering. If it gets no core, the thread at the door wakes by itself. There is one:
//!    the last thread that came in from the line called it.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE`: Release | `FIND_NOBODY`, `PASS`, `STEP_IN`: Acquire |
//! | E2 | `LEAVE`: Release | `LAST_LEAVES`: Acquire |
//! | E3 | `BRING`: Release | `JOIN`: Acquire |
//! | E4 | a ticket struck or `INSIDE` cleared, then `CALL` | announced, then `waiting::SLEEP` |
//!
//! - E1 carries all critical sections before.
//! - E2 carries all that was done to the line, before it is given back.
//! - E3 carries the line as it was made, and where it is.
//! - E4: the waker sees the sleeper and its ticket, or the sleeper sees that its turn has come.
//!
//! All writes of the word are read-modify-writes, so each continues the release sequences of all
//! before it.

pub(crate) mod condition;
mod delegate;
mod door;
pub(crate) mod limits;
mod line;
#[cfg(exclusion_asm)]
mod machine_code;
pub(crate) mod pool;
pub(crate) mod slot;
mod task;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;
mod word;

use core::fmt;
use core::marker::PhantomData;

use crate::lock::policy::Policy;
use crate::lock::raw::Withdrawn;
use crate::lock::sync::edge::edges;
use crate::lock::sync::probe::Probe;
use crate::lock::sync::time::{Deadline, has_passed};
use crate::lock::sync::{AtomicU64, Naps, Ordering, constructor};
use limits::seats;
use line::Line;
use pool::pool;
use waiting::InLine;
use word::{CLOSED, INSIDE, Word};

edges! { "pooled":
    /// E1: a thread that finds nobody here knows what everybody did.
    FIND_NOBODY = Acquire;
    /// E1: a thread that passes the line knows what everybody did.
    PASS = Acquire;
    /// E1: a thread that comes in from the line knows what everybody did.
    STEP_IN = Acquire;
    /// E1, E2: what we did is known to a thread that sees us gone.
    LEAVE = Release;
    /// E2: the last that leaves the line knows what all others did to it.
    LAST_LEAVES = Acquire;
    /// E3: the line is made before anybody finds it.
    BRING = Release;
    /// E3: we know the line whose number we saw.
    JOIN = Acquire;
    /// E4, and E3: what a sleeper waits for has happened before we look for sleepers.
    CALL = Fence;
}

/// The [`RawMutex`](lock_api::RawMutex) behind [`BakeryMutex`](crate::BakeryMutex): one word, and a
/// bakery from a pool while somebody waits.
///
/// # Order
/// A thread that finds nobody inside and nobody waiting enters at once. Any other joins the line
/// and draws a ticket. The order begins when the ticket is out: the thread then enters before each
/// thread that calls `lock` later. To draw takes a bounded number of steps; to join the line is
/// lock-free, and takes more of them while others join. A thread that brings a closure looks a few
/// times before it joins, but only while nobody waits. [`Bypass`](crate::Bypass) relaxes the order.
///
/// # Limits
/// Up to 4096 threads may be in line for one mutex, those included that have come in from the line
/// and not yet left it. Up to 16,384 mutexes may be waited for at a time. A thread that comes when
/// the line is full, when there is no line left, or no memory for one, looks again after a nap, of
/// 50 µs at first and of 5 ms in the end. It has not drawn a ticket, so it loses no place. The
/// threads in line keep their order. Among those that nap there is none, and one that naps may see
/// later ones join before it.
///
/// # Unlocking
/// Unlocking still uses the mutex after it is free: a thread that leaves others behind looks who is
/// next, and one that came in from the line counts itself out. Safe code cannot tell. Code that
/// frees the memory of a mutex because it has just acquired it must not do so before the last
/// holder's unlock has returned.
pub struct Pooled<P> {
    word: AtomicU64,
    probe: Probe,
    policy: PhantomData<P>,
}

/// The state of a guard: the seat from which its thread came in, if it came from the line. It may
/// be sent to another thread.
#[derive(Debug)]
#[must_use = "without it nobody can unlock"]
pub struct Turn {
    seat: Option<usize>,
}

impl Turn {
    /// # Safety
    /// One of the two is not used again.
    pub(crate) unsafe fn duplicate(&self) -> Self {
        Self { seat: self.seat }
    }
}

/// Where a newcomer got to.
enum Arrival {
    /// Inside, with nobody waiting: the word is this.
    Inside(Word),
    /// In this line, in which so many were before.
    InLine(&'static Line, usize),
}

impl<P: Policy> Pooled<P> {
    constructor! {
        /// A mutex that nobody holds.
        pub fn new() -> Self {
            // Refuses a number of newcomers that cannot be counted.
            const { _ = P::COUNT };
            Self {
                word: AtomicU64::new(Word::FREE.0),
                probe: Probe::new(0),
                policy: PhantomData,
            }
        }
    }

    #[inline]
    pub(crate) fn acquire(&self) -> Turn {
        if self.find_nobody() { self.turn(None) } else { self.acquire_in_line() }
    }

    /// Goes inside unless that means waiting.
    #[inline]
    pub(crate) fn try_acquire(&self) -> Option<Turn> {
        (self.find_nobody() || self.pass()).then(|| self.turn(None))
    }

    #[inline]
    pub(crate) fn acquire_until(&self, deadline: Deadline) -> Option<Turn> {
        if self.find_nobody() {
            return Some(self.turn(None));
        }
        self.acquire_slow(deadline)
    }

    /// # Safety
    /// The turn is that of the acquisition that is inside.
    #[inline]
    pub(crate) unsafe fn release(&self, turn: Turn) {
        self.probe.is_inside();
        // Only whether anything is left: a subtraction that tells no more is quicker.
        if self.subtract(INSIDE, LEAVE.ordering()) != Word::FREE {
            self.leave_others(turn);
        }
    }

    /// What is left to do for a thread that has left the lock, and has found others there.
    ///
    /// The word that it looks at may be newer than what it left. A thread that slept when it left
    /// is still counted there, or has been served since.
    #[cold]
    #[inline(never)]
    fn leave_others(&self, Turn { seat }: Turn) {
        let word = self.look_for_line();
        if word.waiting() > 0 && (seat.is_some() || self.must_call(word)) {
            self.call(word);
        }
        if let Some(seat) = seat {
            self.leave_line(word, Some(seat));
        }
    }

    /// Unlocks so that the lock goes to a thread that waits, if there is one.
    ///
    /// # Safety
    /// As for `release`.
    #[inline]
    pub(crate) unsafe fn release_fairly(&self, turn: Turn) {
        if P::COUNT > 0 && self.is_awaited(&turn) {
            self.close();
        }
        // SAFETY: the same contract.
        unsafe { self.release(turn) };
    }

    /// Whether a `try_acquire` would fail.
    #[inline]
    pub(crate) fn is_locked(&self) -> bool {
        !Self::may_enter(self.look())
    }

    /// Whether anybody waits.
    #[inline]
    pub(crate) fn is_awaited(&self, _: &Turn) -> bool {
        self.look().waiting() > 0
    }

    /// Relaxed: a snapshot, or a compare-exchange settles it.
    #[inline]
    fn look(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    /// As `look`, for a thread that is not counted and looks into the line.
    #[inline]
    fn look_for_line(&self) -> Word {
        Word(self.word.load(JOIN.ordering()))
    }

    /// Changes the word, if it is still as it was seen. Otherwise says what it is.
    #[inline]
    fn change(&self, from: Word, to: Word, ordering: Ordering) -> Result<(), Word> {
        // Relaxed failure: we look again, or give up.
        let changed = self.word.compare_exchange(from.0, to.0, ordering, Ordering::Relaxed);
        changed.map(|_| ()).map_err(Word)
    }

    /// Subtracts from the word, and says what it is then.
    #[inline]
    fn subtract(&self, bits: u64, ordering: Ordering) -> Word {
        Word(self.word.fetch_sub(bits, ordering) - bits)
    }

    /// Goes inside if nobody is here.
    #[inline]
    fn find_nobody(&self) -> bool {
        self.change(Word::FREE, Word::FREE.with(INSIDE), FIND_NOBODY.ordering()).is_ok()
    }

    /// Whether a newcomer need not wait.
    #[inline]
    fn may_enter(word: Word) -> bool {
        !word.has(INSIDE) && (word.waiting() == 0 || Self::may_pass(word))
    }

    /// Whether newcomers may pass the threads in line.
    #[inline]
    fn may_pass(word: Word) -> bool {
        word.passed() < P::COUNT && !word.has(CLOSED)
    }

    /// Goes inside if nobody is here, or past the line if the policy allows it.
    fn pass(&self) -> bool {
        let mut word = self.look();
        while Self::may_enter(word) {
            let (to, edge) = if word.waiting() == 0 {
                (word.with(INSIDE), FIND_NOBODY)
            } else if self.is_time_over(word.passed(), P::TIME) {
                self.close();
                return false;
            } else {
                (word.passed_by_one(), PASS)
            };
            match self.change(word, to, edge.ordering()) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn acquire_in_line(&self) -> Turn {
        self.acquire_slow(None).expect("a thread without a deadline does not give up")
    }

    #[cold]
    fn acquire_slow(&self, deadline: Deadline) -> Option<Turn> {
        if self.linger() {
            return Some(self.turn(None));
        }
        let (line, others) = match self.join(deadline).ok()? {
            Arrival::Inside(_) => return Some(self.turn(None)),
            Arrival::InLine(line, others) => (line, others),
        };
        let waiting = InLine::new(line, others, deadline);
        let entered = waiting.draw().and_then(|ticket| {
            waiting.await_turn(ticket)?;
            self.step_in(&waiting)
        });
        waiting.strike();
        if entered.is_err() {
            self.give_up(waiting.seat);
            return None;
        }
        Some(self.turn(Some(waiting.seat)))
    }

    /// Joins the line, or goes inside if nobody is here.
    ///
    /// # Errors
    /// [`Withdrawn`] when there was no room in the line, or no line, until the deadline.
    #[cfg_attr(exclusion_asm, inline(always))]
    fn join(&self, deadline: Deadline) -> Result<Arrival, Withdrawn> {
        let mut spare = None;
        let mut naps = Naps::new();
        let arrival = loop {
            let word = self.look();
            if !word.has(INSIDE) && word.waiting() == 0 {
                let inside = word.with(INSIDE);
                if self.change(word, inside, FIND_NOBODY.ordering()).is_ok() {
                    break Ok(Arrival::Inside(inside));
                }
                continue;
            }
            let joined = if word.in_line() == 0 {
                spare = spare.or_else(|| pool().take());
                spare.map(|line| word.joined_new(line))
            } else {
                (word.in_line() < seats()).then(|| word.joined())
            };
            let Some(joined) = joined else {
                self.stop_lingering();
                if has_passed(deadline) {
                    break Err(Withdrawn);
                }
                naps.nap();
                continue;
            };
            let edge = if word.in_line() == 0 { BRING } else { JOIN };
            if self.change(word, joined, edge.ordering()).is_ok() {
                if word.in_line() == 0 {
                    spare = None;
                }
                let line = pool().line(joined.line());
                if word.waiting() == 0 {
                    self.start_clock(line);
                } else if P::COUNT > 0 && !word.has(INSIDE) {
                    self.call(word); // leavers may have relied on our taking the lock
                }
                break Ok(Arrival::InLine(line, word.in_line()));
            }
        };
        if let Some(line) = spare {
            pool().give(line);
        }
        arrival
    }

    /// The turn of a thread that has just gone inside.
    #[inline]
    fn turn(&self, seat: Option<usize>) -> Turn {
        self.probe.is_inside();
        Turn { seat }
    }

    /// Leaves the line as one that waited in vain. Our ticket is struck.
    fn give_up(&self, seat: usize) {
        // Relaxed: leaving publishes all that we did.
        let word = self.subtract(Word::served(1), Ordering::Relaxed);
        self.call(word);
        self.leave_line(word, Some(seat));
    }

    /// Wakes the thread whose turn has come, after the lock was left or a ticket struck.
    ///
    /// `word` was seen when that was done. If its line belongs to another mutex by now, nobody of
    /// this one sleeps there, and some thread may wake for nothing.
    #[cold]
    fn call(&self, word: Word) {
        CALL.fence();
        let line = pool().line(word.line());
        let [first, second] = line.bakery.two_lowest(line);
        // Where nobody passes, the thread after the next is woken early: waking takes as long as
        // many a critical section. One that has posted a closure need not be.
        let early = second.filter(|seat| P::COUNT == 0 && line.slot(*seat).is_guard());
        for seat in first.into_iter().chain(early) {
            line.slot(seat).bed.wake();
        }
    }

    /// Leaves the line, and our seat if we have one. The last gives the line back.
    ///
    /// `word` was seen while we were counted. We have no ticket, and are not inside.
    fn leave_line(&self, word: Word, seat: Option<usize>) {
        let line = pool().line(word.line());
        if let Some(seat) = seat {
            line.leave_seat(seat);
        }
        line.tenancy.is_used();
        let mut word = word;
        while let Err(now) = self.change(word, word.left(), LAST_LEAVES.with(LEAVE)) {
            word = now;
        }
        if word.in_line() == 1 {
            pool().give(word.line());
        }
    }
}

impl<P: Policy> Default for Pooled<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> fmt::Debug for Pooled<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Word(self.word.load(JOIN.ordering()));
        let asleep = if word.in_line() == 0 { 0 } else { pool().line(word.line()).asleep() };
        f.debug_struct("Pooled")
            .field("inside", &word.has(INSIDE))
            .field("in_line", &word.in_line())
            .field("waiting", &word.waiting())
            .field("asleep", &asleep)
            .field("passed", &word.passed())
            .finish_non_exhaustive()
    }
}
