//! Lamport's bakery (1974), with choosing and ticket in one word per seat.
//!
//! A customer takes a ticket one higher than any it sees and waits for those ahead of it that
//! conflict with it: those with a lower number. Two customers may draw the same number; the lower
//! seat then goes first. Which tickets conflict, the [rule](super::rule) says: all of them, or
//! writers with everybody. A reader is also kept waiting while as many readers are ahead as may be
//! inside at a time.
//!
//! | word of a seat | meaning |
//! |---|---|
//! | `IDLE` (0) | does not want to enter, or has left |
//! | `CHOOSING` (1) | is reading the others' tickets |
//! | `FIRST` (2) and up | its ticket: waiting, or inside |
//!
//! Where there are readers, the lowest bit of a ticket tells them from writers, and the number is
//! in the bits above.
//!
//! Only the customer on a seat writes that seat's word, or a thread that acts for it while it
//! waits.
//!
//! Invariants:
//! 1. Whoever is inside has the smallest (number, seat) of all tickets that conflict with its own.
//! 2. A ticket drawn after another was published is greater.
//! 3. A seat once seen idle or with a greater ticket needs no second look: by invariant 2, what it
//!    draws later is greater.
//! 4. Of the readers that are inside, the one with the greatest ticket has seen all others ahead of
//!    it. So there are never more than may be.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `LEAVE`: Release; `DOORWAY`, then ticket; a fence, then withdrawal | `LOOK`: Acquire |
//! | E2 | `CHOOSING`, then `DOORWAY` | ticket, then `TURN`, then look |
//! | E3 | ticket, then `TURN` | `CHOOSING`, then `DOORWAY`, then the highest ticket |
//!
//! - E1 carries the critical sections of that seat.
//! - E2: the looker sees that we choose, or we see its ticket and draw a greater one.
//! - E3: the same race from the other side.
//!
//! A look that finds a greater ticket, or a withdrawal, lets the looker pass. The relaxed store
//! that wrote it ends the release sequence of the `LEAVE` before. The fence before that store makes
//! it part of E1 all the same. Likewise a reader that passes another knows what that seat wrote
//! before.
//!
//! At the limit: a customer that would need a higher ticket than a register holds steps back out of
//! the doorway and waits until the highest ticket has been served, then draws again. The customers
//! that have tickets are served meanwhile and nobody else can draw, so the bakery empties and
//! numbers start afresh. Only first come, first served is lost, among the customers that met the
//! limit. With 64 bits a bakery that never empties takes centuries to get there.

use core::marker::PhantomData;

use scopeguard::ScopeGuard;

use super::doorway::{CHOOSING, IDLE, settled};
use super::layout::{Layout, Packed};
use super::rule::{Alone, Rule, Shared, Wish, is_reader, number, word};
use super::{
    Attendance, Place, RawLock, RawSharedLock, Register, Waiting, Withdrawn, array, fresh,
    unlocked, unlocked_at_first,
};
use crate::lock::sync::constructor;
use crate::lock::sync::edge::{Edge, edges};

const FIRST: usize = 2;

edges! { "bakery":
    /// E2, E3: our choosing is out before we read a ticket.
    DOORWAY = Fence;
    /// E2, E3: our ticket is out before we look whether it is our turn, and before we look for
    /// sleepers.
    TURN = Fence;
    /// E1: a customer that passes knows what that seat did.
    LOOK = Acquire;
    /// E1: what this seat did is known to a customer that sees it idle.
    LEAVE = Release;
}

/// Lamport's bakery among `N` seats: first come, first served.
///
/// `W` is the [layout](Layout) of its registers, and `R` the [rule](Rule) that says who may be
/// inside together: one at a time, unless told otherwise. [`RwBakery`] is the one with readers.
///
/// ```
/// use exclusion::lock::{Seated, raw::Bakery};
///
/// let mut cell = Seated::<Bakery<2>, _>::new(0);
/// let [mut left, mut right] = cell.seats();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *left.lock() += 1);
///     scope.spawn(move || *right.lock() += 1);
/// });
/// assert_eq!(cell.into_inner(), 2);
/// ```
///
/// # Fairness
/// First come, first served: a contender that has drawn its ticket before another starts to draw
/// enters before it. Drawing, the doorway, takes a bounded number of steps. Only when tickets run
/// out may a contender have to wait outside, and it then loses its place.
///
/// A bakery without seats does not compile.
#[derive(Debug)]
pub struct Bakery<const N: usize, W: Layout = Packed, R: Rule = Alone> {
    seats: [Register<W>; N],
    rule: PhantomData<R>,
}

/// A bakery with readers among `N` seats: a read-write lock, first come, first served.
///
/// `MOST` is how many readers may be inside at a time. With readers only, it is a lock that admits
/// `MOST`.
///
/// ```
/// use exclusion::lock::{Seated, raw::RwBakery};
///
/// let mut cell = Seated::<RwBakery<3>, _>::new((1, 1));
/// let [mut writer, mut left, mut right] = cell.seats();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *writer.write() = (2, 2));
///     for reader in [&mut left, &mut right] {
///         scope.spawn(move || {
///             let pair = reader.read();
///             assert_eq!(pair.0, pair.1);
///         });
///     }
/// });
/// assert_eq!(cell.into_inner(), (2, 2));
/// ```
///
/// # Fairness
/// A reader waits for the writers ahead of it, and a writer for all ahead of it, where ahead is who
/// has drawn its ticket before. So no reader is starved by writers, and no writer by readers: each
/// is passed at most once by each other seat that it conflicts with.
pub type RwBakery<const N: usize, W = Packed, const MOST: usize = { usize::MAX }> =
    Bakery<N, W, Shared<MOST>>;

unlocked_at_first!(
    "bakery":
    [const N: usize] Bakery<N>,
    [const N: usize, W: Layout, R: Rule] Bakery<N, W, R>
);

// SAFETY: invariant 1; the edge is E1.
unsafe impl<const N: usize, W: Layout, R: Rule> RawLock for Bakery<N, W, R> {
    const SEATS: usize = {
        assert!(N > 0, "a bakery needs at least one seat");
        assert!(Self::LAST >= FIRST, "a bakery needs at least one ticket");
        N
    };

    unlocked!(Self { seats: array![Register::<W>::new(); N], rule: PhantomData });

    #[inline]
    unsafe fn acquire_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        self.enter(seat, Wish::Write, present, waiting)
    }

    #[inline]
    unsafe fn release(&self, seat: usize) {
        // SAFETY: the caller is the customer on this seat.
        unsafe { self.strike(seat) };
    }

    #[inline]
    fn is_idle(&self, seat: usize) -> bool {
        // Relaxed: our own word.
        self.seats[seat].load(Edge::RELAXED) == IDLE
    }

    fn places(&self, seat: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.seats[seat]));
        if R::BITS > 0 && R::MOST < N {
            visit(Place::of(self));
        }
    }
}

// SAFETY: invariant 1; the edge is E1.
unsafe impl<const N: usize, W: Layout, const MOST: usize> RawSharedLock
    for Bakery<N, W, Shared<MOST>>
{
    #[inline]
    unsafe fn acquire_shared_among(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        self.enter(seat, Wish::Read, present, waiting)
    }
}

impl<const N: usize> Bakery<N, Packed, Shared> {
    constructor! {
        /// A bakery with readers that nobody is in, with [`Packed`] registers. All readers may be
        /// inside together.
        pub fn with_readers() -> Self {
            fresh!(Self)
        }
    }
}

/// Those ahead of a ticket.
struct Ahead {
    /// The greatest (ticket, seat) that conflicts with it.
    nearest: Option<(usize, usize)>,
    /// How many readers, if it is one itself.
    readers: usize,
}

impl<const N: usize, W: Layout, R: Rule> Bakery<N, W, R> {
    /// The highest number that a ticket can have.
    const LAST: usize = number::<R>(W::LAST);

    #[inline]
    fn enter(
        &self,
        seat: usize,
        wish: Wish,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        let ticket = self.draw_for(wish, seat, present, waiting)?;
        let withdraw = scopeguard::guard((), |()| self.withdraw(seat));
        self.await_turn(seat, ticket, present, waiting)?;
        ScopeGuard::into_inner(withdraw);
        Ok(())
    }

    /// The doorway: returns our ticket, published.
    #[inline]
    fn draw_for(
        &self,
        wish: Wish,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<usize, Withdrawn> {
        loop {
            // Relaxed: nobody passes a seat that is choosing.
            self.seats[seat].store(CHOOSING, Edge::RELAXED);
            DOORWAY.fence();
            let (highest, holder) = self.highest(present);
            if highest < Self::LAST {
                let ticket = word::<R>(highest + 1, wish);
                // Relaxed: `DOORWAY` stands before it, which makes it a release.
                self.seats[seat].store(ticket, Edge::RELAXED);
                return Ok(ticket);
            }
            self.withdraw(seat);
            waiting.wake(Place::of(&self.seats[seat]));
            // Relaxed: we only learn that drawing again may be worth it.
            waiting.wait_briefly(Place::of(&self.seats[holder]), || {
                number::<R>(self.seats[holder].load(Edge::RELAXED)) != highest
            })?;
        }
    }

    /// The highest number, and the seat that has it; one below the first if there is none.
    #[inline]
    fn highest(&self, present: &impl Attendance) -> (usize, usize) {
        let mut highest = (FIRST - 1, 0);
        for other in present.seats(N) {
            // Relaxed: `DOORWAY` makes the ticket visible, and only its number matters.
            highest = highest.max((number::<R>(self.seats[other].load(Edge::RELAXED)), other));
        }
        highest
    }

    /// Waits until nobody is ahead of (ticket, seat) that conflicts with it.
    ///
    /// We wait for the nearest such seat ahead of us. When that one leaves, nearly always none is
    /// left ahead. So each contender is woken once, however long the line. A writer behind readers
    /// waits for one after the other.
    #[inline]
    pub(crate) fn await_turn(
        &self,
        seat: usize,
        ticket: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        TURN.fence();
        // For waiters that saw us choosing. `TURN` stands between our ticket and the look for
        // sleepers.
        waiting.wake_fenced(Place::of(&self.seats[seat]));
        loop {
            let Ahead { nearest, readers } = self.ahead(seat, ticket, present, waiting)?;
            if let Some((word, ahead)) = nearest {
                // Relaxed: we look again, with `LOOK`, before we pass.
                waiting.wait(Place::of(&self.seats[ahead]), || {
                    self.seats[ahead].load(Edge::RELAXED) != word
                })?;
            } else if readers < R::MOST {
                return Ok(());
            } else {
                // Any reader that leaves makes room for us.
                waiting.wait(Place::of(self), || {
                    self.readers_ahead(seat, ticket, present) < R::MOST
                })?;
            }
        }
    }

    /// Who is ahead of (ticket, seat).
    #[inline]
    fn ahead(
        &self,
        seat: usize,
        ticket: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<Ahead, Withdrawn> {
        let mut ahead = Ahead { nearest: None, readers: 0 };
        for other in present.seats(N) {
            let word = settled(&self.seats[other], LOOK, waiting)?;
            if word == IDLE || !Self::precedes((word, other), (ticket, seat)) {
                continue;
            }
            if is_reader::<R>(word) && is_reader::<R>(ticket) {
                ahead.readers += 1;
            } else {
                ahead.nearest = ahead.nearest.max(Some((word, other)));
            }
        }
        Ok(ahead)
    }

    /// Whether the one (ticket, seat) is ahead of the other.
    #[inline]
    fn precedes(one: (usize, usize), other: (usize, usize)) -> bool {
        (number::<R>(one.0), one.1) < (number::<R>(other.0), other.1)
    }

    /// How many readers are ahead of a reader, as far as one look at each seat can tell.
    fn readers_ahead(&self, seat: usize, ticket: usize, present: &impl Attendance) -> usize {
        // Relaxed: we look again, with `LOOK`, before we pass.
        let word = |other: usize| (self.seats[other].load(Edge::RELAXED), other);
        let is_ahead = |it: &(usize, usize)| {
            it.0 > CHOOSING && is_reader::<R>(it.0) && Self::precedes(*it, (ticket, seat))
        };
        present.seats(N).map(word).filter(is_ahead).count()
    }

    /// Takes back the ticket of a seat, whether it was the lowest or not, or one that was never
    /// drawn. A customer that sees the seat idle knows all that was done before.
    ///
    /// Unlike [`release`](RawLock::release) this is not for a customer that is inside alone: where
    /// the bakery only orders a line, a ticket is struck when its customer has stepped in, has
    /// given up, or has been served by another thread.
    ///
    /// # Safety
    /// The caller is the customer on this seat, or acts for it: the customer does not touch its
    /// register meanwhile, and what it did there happens before this call.
    #[inline]
    pub(crate) unsafe fn strike(&self, seat: usize) {
        self.seats[seat].store(IDLE, LEAVE);
    }

    /// Relaxed: a fence stands before it, `DOORWAY` or `TURN`, which makes it a release.
    #[inline]
    fn withdraw(&self, seat: usize) {
        self.seats[seat].store(IDLE, Edge::RELAXED);
    }
}

/// What a line needs whose tickets are drawn, looked at and struck apart from each other.
#[cfg(all(feature = "std", target_has_atomic = "64"))]
impl<const N: usize, W: Layout> Bakery<N, W> {
    /// The doorway: returns our ticket, published.
    #[inline]
    pub(crate) fn draw(
        &self,
        seat: usize,
        present: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<usize, Withdrawn> {
        self.draw_for(Wish::Write, seat, present, waiting)
    }

    /// The ticket of a seat. For its customer.
    pub(crate) fn ticket(&self, seat: usize) -> usize {
        // Relaxed: its customer drew it, or is ordered after the thread that did.
        self.seats[seat].load(Edge::RELAXED)
    }

    /// The lowest (ticket, seat), as far as one look at each seat can tell.
    pub(crate) fn lowest(&self, present: &impl Attendance) -> Option<(usize, usize)> {
        self.tickets(present).min()
    }

    /// The seats of the two lowest tickets, as far as one look at each seat can tell.
    pub(crate) fn two_lowest(&self, present: &impl Attendance) -> [Option<usize>; 2] {
        let mut lowest = [None, None];
        for ticket in self.tickets(present) {
            if lowest[0].is_none_or(|first| ticket < first) {
                lowest = [Some(ticket), lowest[0]];
            } else if lowest[1].is_none_or(|second| ticket < second) {
                lowest[1] = Some(ticket);
            }
        }
        lowest.map(|ticket| ticket.map(|(_, seat)| seat))
    }

    /// The tickets that are out, with their seats.
    fn tickets(&self, present: &impl Attendance) -> impl Iterator<Item = (usize, usize)> {
        // Relaxed: a guess, on which the caller improves.
        let word = |seat: usize| (self.seats[seat].load(Edge::RELAXED), seat);
        present.seats(N).map(word).filter(|(word, _)| *word >= FIRST)
    }

    /// Whether the customer on `seat` has that ticket, and it is its turn. Its customer must not
    /// leave meanwhile.
    ///
    /// This is what the customer itself does to find out, but without waiting.
    pub(crate) fn is_turn_of(&self, seat: usize, ticket: usize, present: &impl Attendance) -> bool {
        TURN.fence();
        self.seats[seat].load(LOOK) == ticket
            && matches!(
                self.ahead(seat, ticket, present, &super::NoPatience),
                Ok(Ahead { nearest: None, .. })
            )
    }
}
