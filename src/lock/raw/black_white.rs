//! Taubenfeld's black-white bakery (2004): the bakery with bounded tickets.
//!
//! A ticket has a colour, that of one shared bit when it is drawn, and is numbered among its colour
//! only. A leaver turns the bit to the other colour than its own. So tickets of the old colour are
//! served before those of the new one, and the old numbers are free again.
//!
//! | word of a seat | meaning |
//! |---|---|
//! | `IDLE` (0) | does not want to enter, or has left |
//! | `CHOOSING` (1) | is reading the colour and the others' tickets |
//! | `2 * number + colour`, number from 1 | its ticket: waiting, or inside |
//!
//! | word `colour` | meaning |
//! |---|---|
//! | black (0, at first), white (1) | the colour of new tickets; the other is served first |
//!
//! Only the customer on a seat writes that seat's word. The colour is written by the holder alone.
//!
//! Invariants:
//! 1. The holder is ahead of every other ticket. Of two tickets of one colour the smaller (number,
//!    seat) is ahead, of two colours the one that the shared bit does not show.
//! 2. As long as nobody withdraws, no number passes `N`.
//! 3. A seat once seen not to be ahead never gets ahead.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE`: Release; `DOORWAY`, then ticket; a fence, then withdrawal | `LOOK`: Acquire |
//! | E2 | `CHOOSING`, then `DOORWAY` | ticket, then `TURN`, then look |
//! | E3 | ticket, then `TURN` | `CHOOSING`, then `DOORWAY`, then the highest number |
//!
//! - E1 carries the critical sections of that seat.
//! - E2: the looker sees that we choose, or we see its ticket.
//! - E3: the same race from the other side.
//!
//! Withdrawal and invariant 2: Taubenfeld's bound assumes that every customer that draws also
//! enters. Two customers that give up in turn, each drawing while the other still has its ticket,
//! drive the numbers up for as long as one critical section lasts. So there is a limit after all,
//! as in the plain bakery, and the same is done there: a customer that would need a higher number
//! steps back and waits for the highest to go. To get there takes half as many withdrawals as a
//! word can count, during one critical section.

use scopeguard::ScopeGuard;

use super::doorway::{CHOOSING, IDLE, settled};
use super::layout::{Layout, Packed};
use super::{
    Attendance, Place, RawLock, Register, Waiting, Withdrawn, array, unlocked, unlocked_at_first,
};
use crate::lock::sync::edge::{Edge, edges};

edges! { "black_white":
    /// E2, E3: our choosing is out before we read the colour or a ticket.
    DOORWAY = Fence;
    /// E2, E3: our ticket is out before we look whether it is our turn, and before we look for
    /// sleepers.
    TURN = Fence;
    /// E1: a customer that passes knows what that seat did.
    LOOK = Acquire;
    /// E1: what this seat did is known to a customer that sees it idle.
    LEAVE = Release;
}

/// The bakery with bounded tickets among `N` seats: first come, first served, and no number above
/// `N` unless contenders withdraw, however long the bakery is never empty.
///
/// `W` is the [layout](Layout) of its registers.
///
/// ```
/// use exclusion::lock::{Seated, raw::BlackWhiteBakery};
///
/// let mut cell = Seated::<BlackWhiteBakery<2>, _>::new(0);
/// let [mut left, mut right] = cell.seats();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *left.lock() += 1);
///     scope.spawn(move || *right.lock() += 1);
/// });
/// assert_eq!(cell.into_inner(), 2);
/// ```
///
/// # Fairness
/// First come, first served, as in the [`Bakery`](super::Bakery).
///
/// A bakery without seats does not compile.
#[derive(Debug)]
pub struct BlackWhiteBakery<const N: usize, W: Layout = Packed> {
    colour: Register<W>,
    seats: [Register<W>; N],
}

unlocked_at_first! { "bakery":
    [const N: usize] BlackWhiteBakery<N>,
    [const N: usize, W: Layout] BlackWhiteBakery<N, W>
}

// SAFETY: invariant 1; the edge is E1.
unsafe impl<const N: usize, W: Layout> RawLock for BlackWhiteBakery<N, W> {
    const SEATS: usize = {
        assert!(N > 0, "a bakery needs at least one seat");
        assert!(Self::LAST >= 1, "a bakery needs at least one ticket");
        N
    };

    unlocked!(Self { colour: Register::new(), seats: array![Register::<W>::new(); N] });

    #[inline]
    unsafe fn acquire_among(
        &self,
        seat: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        // Every seat gets a look: the word of a seat that we pass also carries the colour.
        let ticket = self.draw(seat, waiting)?;
        let withdraw = scopeguard::guard((), |()| self.withdraw(seat));
        self.await_turn(seat, ticket, waiting)?;
        ScopeGuard::into_inner(withdraw);
        Ok(())
    }

    #[inline]
    unsafe fn release(&self, seat: usize) {
        // Relaxed, both: our own word, and a bit that `LEAVE` publishes with the rest.
        let ticket = Ticket::of(self.seats[seat].load(Edge::RELAXED));
        self.colour.store(1 - ticket.colour, Edge::RELAXED);
        self.seats[seat].store(IDLE, LEAVE);
    }

    #[inline]
    fn is_idle(&self, seat: usize) -> bool {
        // Relaxed: our own word.
        self.seats[seat].load(Edge::RELAXED) == IDLE
    }

    fn places(&self, seat: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.seats[seat]));
        visit(Place::of(&self.colour));
    }
}

/// A seat's word taken apart; number 0 is no ticket.
#[derive(Clone, Copy)]
struct Ticket {
    number: usize,
    colour: usize,
}

impl Ticket {
    #[inline]
    fn of(word: usize) -> Self {
        Self { number: word / 2, colour: word % 2 }
    }

    #[inline]
    fn word(self) -> usize {
        self.number * 2 + self.colour
    }
}

impl<const N: usize, W: Layout> BlackWhiteBakery<N, W> {
    /// The highest number that shares a register with a colour.
    const LAST: usize = W::LAST.saturating_sub(1) / 2;

    /// The doorway: returns our ticket, published.
    #[inline]
    fn draw(&self, seat: usize, waiting: &impl Waiting) -> Result<Ticket, Withdrawn> {
        loop {
            // Relaxed: nobody passes a seat that is choosing.
            self.seats[seat].store(CHOOSING, Edge::RELAXED);
            DOORWAY.fence();
            // Relaxed: a colour that turns after this read makes us of the old colour, which is
            // served first; the ticket says which colour we saw.
            let colour = self.colour.load(Edge::RELAXED);
            let (highest, holder) = self.highest(colour);
            if highest < Self::LAST {
                let ticket = Ticket { number: highest + 1, colour };
                // Relaxed: `DOORWAY` stands before it, which makes it a release.
                self.seats[seat].store(ticket.word(), Edge::RELAXED);
                return Ok(ticket);
            }
            self.withdraw(seat);
            waiting.wake(Place::of(&self.seats[seat]));
            // Relaxed: we only learn that drawing again may be worth it.
            let unchanged = Ticket { number: highest, colour }.word();
            waiting.wait(Place::of(&self.seats[holder]), || {
                self.seats[holder].load(Edge::RELAXED) != unchanged
            })?;
        }
    }

    /// The highest number of a colour, and the seat that has it.
    #[inline]
    fn highest(&self, colour: usize) -> (usize, usize) {
        let mut highest = (0, 0);
        for (other, register) in self.seats.iter().enumerate() {
            // Relaxed: `DOORWAY` makes the ticket visible, and only its number matters.
            let ticket = Ticket::of(register.load(Edge::RELAXED));
            if ticket.colour == colour {
                highest = highest.max((ticket.number, other));
            }
        }
        highest
    }

    /// Waits until no ticket is ahead, seat by seat.
    #[inline]
    fn await_turn(
        &self,
        seat: usize,
        mine: Ticket,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        TURN.fence();
        // For waiters that saw us choosing. `TURN` stands between our ticket and the look for
        // sleepers.
        waiting.wake_fenced(Place::of(&self.seats[seat]));
        for (other, register) in self.seats.iter().enumerate() {
            loop {
                let word = settled(register, LOOK, waiting)?;
                let theirs = Ticket::of(word);
                if !self.is_ahead((theirs, other), (mine, seat)) {
                    break;
                }
                // Relaxed: we look again, with `LOOK`. A turn of the colour may put tickets of the
                // other colour behind us though their words stay; it is announced at the colour.
                if theirs.colour == mine.colour {
                    waiting.wait(Place::of(register), || register.load(Edge::RELAXED) != word)?;
                } else {
                    waiting.wait(Place::of(&self.colour), || {
                        register.load(Edge::RELAXED) != word
                            || self.colour.load(Edge::RELAXED) != mine.colour
                    })?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn is_ahead(&self, (theirs, other): (Ticket, usize), (mine, seat): (Ticket, usize)) -> bool {
        if theirs.number == 0 {
            false
        } else if theirs.colour == mine.colour {
            (theirs.number, other) < (mine.number, seat)
        } else {
            // Relaxed: `TURN` makes any turn of the colour visible that could matter.
            self.colour.load(Edge::RELAXED) == mine.colour
        }
    }

    /// Relaxed: a fence stands before it, `DOORWAY` or `TURN`, which makes it a release.
    #[inline]
    fn withdraw(&self, seat: usize) {
        self.seats[seat].store(IDLE, Edge::RELAXED);
    }
}
