//! A condition variable whose waiters sit in the line of their mutex, without a ticket.
//!
//! A thread that waits keeps a seat of the mutex's line, or takes one, and its slot says for which
//! condition it waits. A notifier claims the slot that has waited longest and draws the ticket for
//! it: from then on the waiter is in line, in the order of the notifications, and whoever leaves
//! the mutex wakes it when its turn has come. Nobody is woken only to wait for the mutex.
//!
//! | state of the slot | meaning | who moves on |
//! |---|---|---|
//! | address, `AWAITS` | waits for that condition | a notifier, to `TAKEN`; timed out, to `GUARD` |
//! | `TAKEN` | a notifier draws a ticket for it | that notifier, to `GUARD` |
//! | `GUARD` | in line by its ticket; or timed out, without one | the waiter |
//!
//! Invariants:
//! 1. A waiter is notified or times out, never both: both are a read-modify-write of its slot.
//! 2. A condition counts its waiters from before their slots say so until after they are claimed.
//!    While it counts any, all of them are in one line. So it belongs to one mutex.
//! 3. A notifier touches the mutex only while it has claimed a waiter of it, which borrows it.
//! 4. A moved waiter whose turn has come is woken: by the thread that leaves the mutex, or by the
//!    notifier if nobody is inside.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `ENTER`: Release | `FIND`: Acquire |
//! | E2 | `AWAIT`: Release | `CLAIM`: Acquire |
//! | E3 | `HAND_OVER`, then `GUARD` | `SEE_MOVED`: Acquire |
//! | E4 | a ticket, then `HAND_OVER` | `INSIDE` cleared, then `pooled::CALL` |
//!
//! - E1 carries the line in which the waiters are.
//! - E2 carries the seat as its owner left it, the mutex, and since when it waits.
//! - E3 carries what the notifier did on the seat: the ticket.
//! - E4: the leaver sees the ticket, or the notifier sees that nobody is inside.
//!
//! A waiter needs no fence before it sleeps: what it looks at, and its announcement, are one word.

use core::marker::PhantomData;

use super::line::{Line, SEATS};
use super::slot::{GUARD, Slot, TAKEN};
use super::waiting::InLine;
use super::word::{INSIDE, Word};
use super::{BRING, JOIN, LEAVE, Pooled, Turn, pool, seats};
use crate::lock::policy::Policy;
use crate::lock::raw::Attendance;
use crate::lock::sync::edge::{Edge, edges};
use crate::lock::sync::time::{Deadline, has_passed};
use crate::lock::sync::{AtomicU64, Late, Naps, Ordering, Spins, late, nap};

edges! { "condition":
    /// E1: the line of the waiters is known to a thread that finds any.
    ENTER = Release;
    /// E1: we know the line in which the waiters are.
    FIND = Acquire;
    /// E2: what we did on our seat is known to a thread that claims it.
    AWAIT = Release;
    /// E2: we act for a seat after its owner.
    CLAIM = Acquire;
    /// E3: we know the ticket that was drawn for us.
    SEE_MOVED = Acquire;
    /// E3, E4: the ticket is out before we look whether anybody is inside.
    HAND_OVER = Fence;
}

/// Marks the address of a condition in a slot. No closure has it in its address.
pub(super) const AWAITS: usize = 2;

/// How often a waiter looks before it naps while a notifier draws a ticket for it.
const FOR_NOTIFIER: u32 = 100;

/// How often a thread that is to wait naps when it finds no room in the line.
const NAPS_FOR_ROOM: u32 = 4;

/// How many waiters one scan of a line finds in their order.
const BATCH: usize = if cfg!(exclusion_loom) { 2 } else { 32 };

/// The [`RawCondvar`](lock_api::RawCondvar) of [`BakeryCondvar`](crate::BakeryCondvar).
///
/// There are no spurious wake-ups, so what the notifying methods return is exact. There is one
/// exception: a thread that finds 4096 others in line for its mutex, or no memory for a line, naps
/// a few times and then returns from `wait`. It has unlocked and locked the mutex then, and nobody
/// counts it.
pub struct Condition<P> {
    pub(super) core: Late<Core>,
    policy: PhantomData<P>,
}

/// What does not depend on the policy. Its address is the condition's.
#[repr(align(8))]
pub(super) struct Core {
    /// How many wait, in the lower half; in which line, in the upper.
    here: AtomicU64,
    /// How many have come since the beginning.
    arrivals: AtomicU64,
}

const LOWER: u64 = u32::MAX as u64;

impl Core {
    crate::lock::sync::constructor! {
        fn new() -> Self {
            Self { here: AtomicU64::new(0), arrivals: AtomicU64::new(0) }
        }
    }

    /// Counts one more waiter, in that line.
    ///
    /// # Panics
    /// If others wait in another line, and so with another mutex.
    pub(super) fn enter(&self, line: usize) {
        let line = (line as u64) << 32;
        // Relaxed, this and the failure: the compare-exchange settles it.
        let mut here = self.here.load(Ordering::Relaxed);
        loop {
            let count = here & LOWER;
            assert!(
                count == 0 || here & !LOWER == line,
                "threads wait on this condition variable with another mutex: \
                 use one condition variable per mutex"
            );
            let new = line | (count + 1);
            let changed =
                self.here.compare_exchange(here, new, ENTER.ordering(), Ordering::Relaxed);
            match changed {
                Ok(_) => return,
                Err(now) => here = now,
            }
        }
    }

    /// Counts one waiter less.
    fn leave(&self) {
        // Relaxed: as a read-modify-write it continues the release sequences of those that stay.
        self.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// The line in which threads wait, if any do.
    fn line(&self) -> Option<&'static Line> {
        let here = self.here.load(FIND.ordering());
        (here & LOWER > 0).then(|| pool().line((here >> 32) as usize))
    }

    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// The seats of those that have waited longest, the longest first, as far as one look at each
    /// tells. Only those that came before so many others.
    fn longest<const MOST: usize>(&self, line: &Line, before: u64) -> impl Iterator<Item = usize> {
        let address = self.address();
        let mut found = [(u64::MAX, 0); MOST];
        for seat in line.seats(SEATS) {
            let slot = line.slot(seat);
            // Relaxed, both: a guess, which a claim settles.
            if slot.awaits(address) {
                let arrival = slot.arrival.load(Ordering::Relaxed);
                if arrival < before && arrival < found[MOST - 1].0 {
                    let place = found.partition_point(|(earlier, _)| *earlier < arrival);
                    found[place..].rotate_right(1);
                    found[place] = (arrival, seat);
                }
            }
        }
        found.into_iter().take_while(|(arrival, _)| *arrival < u64::MAX).map(|(_, seat)| seat)
    }
}

impl<P: Policy> Condition<P> {
    /// A condition variable that nobody waits on. Under loom it is made when it is first used.
    pub const fn new() -> Self {
        Self { core: late!(Core::new()), policy: PhantomData }
    }

    /// Makes it, before threads share it.
    #[cfg(exclusion_loom)]
    pub(crate) fn is_made(&self) {
        _ = &*self.core;
    }

    /// Moves the thread that has waited longest into the line of its mutex. Says whether there was
    /// one.
    pub(crate) fn notify_one(&self) -> bool {
        while let Some(line) = self.core.line() {
            let Some(seat) = self.core.longest::<1>(line, u64::MAX).next() else { return false };
            if self.notify(line, seat) {
                return true;
            }
        }
        false
    }

    /// Moves all threads that wait into the line of their mutex, in their order. Says how many.
    pub(crate) fn notify_all(&self) -> usize {
        let mut count = 0;
        // Relaxed: those that wait before us are known to us. Those that come later are not meant.
        let before = self.core.arrivals.load(Ordering::Relaxed);
        while let Some(line) = self.core.line() {
            let mut seats = self.core.longest::<BATCH>(line, before).peekable();
            if seats.peek().is_none() {
                break;
            }
            count += seats.filter(|seat| self.notify(line, *seat)).count();
        }
        count
    }

    /// Moves the thread on that seat into the line, if it waits on this condition.
    pub(super) fn notify(&self, line: &'static Line, seat: usize) -> bool {
        let slot = line.slot(seat);
        if !slot.claim(self.core.address()) {
            return false;
        }
        self.core.leave();
        // Relaxed: the claim carries it.
        let mutex = slot.mutex.load(Ordering::Relaxed);
        let mutex = core::ptr::with_exposed_provenance::<Pooled<P>>(mutex);
        // SAFETY: the waiter borrows the mutex until we let go of its slot.
        unsafe { &*mutex }.admit(line, seat);
        slot.let_go();
        true
    }

    /// Unlocks the mutex, waits for a notification or until then, and locks the mutex again. Says
    /// whether the time was up.
    ///
    /// # Panics
    /// If threads wait on this condition with another mutex. The turn is valid then too.
    ///
    /// # Safety
    /// The turn is that of the acquisition that is inside.
    pub(crate) unsafe fn wait_until(
        &self,
        mutex: &Pooled<P>,
        turn: &mut Turn,
        deadline: Deadline,
    ) -> bool {
        let Some((number, waiting)) = mutex.seat_holder(turn) else {
            // SAFETY: the same contract. The stale turn is overwritten before anybody uses it.
            unsafe { mutex.release(turn.duplicate()) };
            nap();
            *turn = mutex.acquire();
            return false;
        };
        self.core.enter(number);
        let slot = waiting.slot();
        // Relaxed, all: `AWAIT` publishes them.
        let arrival = self.core.arrivals.fetch_add(1, Ordering::Relaxed);
        slot.arrival.store(arrival, Ordering::Relaxed);
        slot.mutex.store(core::ptr::from_ref(mutex).expose_provenance(), Ordering::Relaxed);
        waiting.line.is_seated(waiting.seat);
        slot.await_notice(self.core.address());
        mutex.step_out();
        let is_moved = slot.sleep_until_moved(self.core.address(), deadline);
        waiting.line.is_seated(waiting.seat);
        if !is_moved {
            self.core.leave();
            mutex.count_waiter(waiting.line);
        }
        *turn = mutex.come_back(&waiting, is_moved);
        !is_moved
    }
}

impl<P: Policy> Default for Condition<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Policy> Pooled<P> {
    /// A seat for the thread that is inside, and the number of its line. None if there is no room.
    fn seat_holder(&self, turn: &mut Turn) -> Option<(usize, InLine)> {
        if let Some(seat) = turn.seat {
            let number = self.look().line();
            return Some((number, InLine::on_seat(pool().line(number), seat)));
        }
        let mut spare = None;
        let (mut naps, mut patience) = (Naps::new(), NAPS_FOR_ROOM);
        let joined = loop {
            let word = self.look();
            let is_first = word.in_line() == 0;
            let joined = if is_first {
                spare = spare.or_else(|| pool().take());
                spare.map(|line| word.joined_new_as_guest(line))
            } else {
                (word.in_line() < seats()).then(|| word.joined_as_guest())
            };
            let Some(joined) = joined else {
                if patience == 0 {
                    break None;
                }
                // Others may be about to give a line back. They do so without the mutex.
                patience -= 1;
                naps.nap();
                continue;
            };
            let edge = if is_first { BRING } else { JOIN };
            if self.change(word, joined, edge.ordering()).is_ok() {
                if is_first {
                    spare = None;
                }
                break Some((joined.line(), word.in_line()));
            }
        };
        if let Some(line) = spare {
            pool().give(line);
        }
        let (number, others) = joined?;
        let waiting = InLine::new(pool().line(number), others, None);
        turn.seat = Some(waiting.seat);
        Some((number, waiting))
    }

    /// Leaves the lock and stays in line.
    fn step_out(&self) {
        self.probe.is_inside();
        let word = self.subtract(INSIDE, LEAVE.ordering());
        if word.waiting() > 0 {
            self.call(word);
        }
    }

    /// One more of those in line waits.
    fn count_waiter(&self, line: &Line) {
        // Relaxed: its ticket tells the rest.
        let word = Word(self.word.fetch_add(Word::served(1), Ordering::Relaxed));
        if word.waiting() == 0 {
            self.start_clock(line);
        }
    }

    /// Draws a ticket for a thread in line that waits for us, and sees to it that it is woken.
    pub(super) fn admit(&self, line: &'static Line, seat: usize) {
        line.is_seated(seat);
        // Before it can go inside, and be counted out again.
        self.count_waiter(line);
        let drawn = InLine::on_seat(line, seat).draw();
        debug_assert!(drawn.is_ok(), "a thread without a deadline does not give up");
        HAND_OVER.fence();
        let word = self.look();
        if !word.has(INSIDE) {
            self.call(word);
        }
    }

    /// Goes inside from a seat, with the ticket that was drawn for it, or with one of its own.
    fn come_back(&self, waiting: &InLine, has_ticket: bool) -> Turn {
        let ticket = if has_ticket { Ok(waiting.ticket()) } else { waiting.draw() };
        let entered = ticket.and_then(|ticket| {
            waiting.await_turn(ticket)?;
            self.step_in(waiting)
        });
        debug_assert!(entered.is_ok(), "a thread without a deadline does not give up");
        waiting.strike();
        self.turn(Some(waiting.seat))
    }
}

impl Slot {
    /// Waits for the condition at that address. Only for the owner of the seat.
    pub(super) fn await_notice(&self, condition: usize) {
        self.bed.set(condition | AWAITS, AWAIT);
    }

    fn awaits(&self, condition: usize) -> bool {
        // Relaxed: a guess, or a read-modify-write settles it.
        self.bed.load(Edge::RELAXED) == condition | AWAITS
    }

    /// Takes the seat's part in hand, if its owner waits for that condition.
    fn claim(&self, condition: usize) -> bool {
        self.bed.replace(condition | AWAITS, TAKEN, CLAIM.ordering())
    }

    /// Lets go of a seat that we have claimed.
    fn let_go(&self) {
        // Relaxed: `HAND_OVER` stands before it, which makes it a release.
        self.bed.replace(TAKEN, GUARD, Edge::RELAXED.ordering());
    }

    /// Sleeps until a notifier has moved us, or until then. Says which.
    fn sleep_until_moved(&self, condition: usize, deadline: Deadline) -> bool {
        let mut spins = Spins::new(FOR_NOTIFIER);
        loop {
            if self.bed.load(SEE_MOVED) == GUARD {
                return true;
            }
            if !self.awaits(condition) {
                // A notifier draws our ticket. It does not wake us when it has.
                if !spins.spin() {
                    nap();
                }
                continue;
            }
            if has_passed(deadline) {
                // Relaxed: it is our own. If it fails, we have been notified.
                let order = Edge::RELAXED.ordering();
                if self.bed.replace(condition | AWAITS, GUARD, order) {
                    return false;
                }
                continue;
            }
            self.bed.lie_down();
            if self.awaits(condition) {
                self.bed.sleep(deadline);
            } else {
                self.bed.get_up();
            }
        }
    }
}
