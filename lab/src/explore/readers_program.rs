//! The bakery with readers, register by register.

use super::seat_program::{CHOOSING, IDLE, Next, Program, after};

/// The bakery whose tickets say whether their customer reads or writes; or one that is broken on
/// purpose. A contender chooses which, each time it begins.
#[derive(Clone, Copy, Debug)]
pub struct RwBakery {
    /// How many seats.
    pub seats: usize,
    /// How many readers may be inside at a time.
    pub most: usize,
    /// What is wrong with it.
    pub flaw: Option<RwFlaw>,
}

/// What can be wrong with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RwFlaw {
    /// A reader does not wait for a seat that is choosing.
    Hasty,
    /// A reader lets a writer of the same number pass, and the writer lets the reader pass.
    Ties,
    /// Readers go before all writers.
    ReadersFirst,
    /// One reader more than may is let in.
    Miscounted,
}

/// Where a customer is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RwPlace {
    /// About to say that it is choosing; whether it reads.
    Choose(bool),
    /// About to read another's ticket; whether it reads, and the highest number so far.
    Scan(usize, bool, u8),
    /// About to write its own.
    Draw(bool, u8),
    /// About to look whether another is ahead of its ticket; how many readers were so far.
    Look(usize, u8, usize),
    /// About to leave, or to step back.
    Leave,
}

/// A ticket is twice its number, and one more for a reader. The first number is one.
fn is_reader(word: u8) -> bool {
    word % 2 == 1
}

impl RwBakery {
    fn look_after(self, other: usize, seat: usize, ticket: u8, readers: usize) -> Next<RwPlace> {
        match after(other, seat, self.seats) {
            Some(next) => Next::At(RwPlace::Look(next, ticket, readers)),
            None if !is_reader(ticket) || readers < self.lets_in() => Next::Done,
            None => self.look_after(0, seat, ticket, 0),
        }
    }

    /// Behind so many readers and more, a reader waits.
    fn lets_in(self) -> usize {
        self.most + usize::from(self.flaw == Some(RwFlaw::Miscounted))
    }

    /// Whether that ticket is ahead of ours.
    fn is_ahead(self, (word, other): (u8, usize), (ticket, seat): (u8, usize)) -> bool {
        let differ = is_reader(word) != is_reader(ticket);
        match self.flaw {
            Some(RwFlaw::Ties) if differ => word / 2 < ticket / 2,
            Some(RwFlaw::ReadersFirst) if differ => is_reader(word),
            _ => (word / 2, other) < (ticket / 2, seat),
        }
    }
}

impl Program for RwBakery {
    type Place = RwPlace;

    fn registers(&self) -> Vec<u8> {
        vec![IDLE; self.seats]
    }

    fn begin(&self, _: usize) -> RwPlace {
        RwPlace::Choose(false)
    }

    fn begin_reading(&self, _: usize) -> Option<RwPlace> {
        Some(RwPlace::Choose(true))
    }

    fn leave(&self, _: usize, _: &[u8]) -> RwPlace {
        RwPlace::Leave
    }

    fn withdraw(&self, _: usize, place: RwPlace) -> Option<RwPlace> {
        matches!(place, RwPlace::Look(..)).then_some(RwPlace::Leave)
    }

    fn has_drawn(&self, _: usize, place: RwPlace) -> bool {
        matches!(place, RwPlace::Look(..))
    }

    fn reads(&self, seat: usize, registers: &[u8]) -> bool {
        is_reader(registers[seat])
    }

    fn most_readers(&self) -> usize {
        self.most
    }

    fn step(&self, seat: usize, place: RwPlace, registers: &mut [u8]) -> Next<RwPlace> {
        let seats = self.seats;
        match place {
            RwPlace::Choose(reads) => {
                registers[seat] = CHOOSING;
                let first = after(0, seat, seats).expect("there are others");
                Next::At(RwPlace::Scan(first, reads, 0))
            }
            RwPlace::Scan(other, reads, highest) => {
                let highest = highest.max(registers[other] / 2);
                Next::At(match after(other + 1, seat, seats) {
                    Some(next) => RwPlace::Scan(next, reads, highest),
                    None => RwPlace::Draw(reads, highest),
                })
            }
            RwPlace::Draw(reads, highest) => {
                let ticket = 2 * (highest + 1) + u8::from(reads);
                registers[seat] = ticket;
                self.look_after(0, seat, ticket, 0)
            }
            RwPlace::Look(other, ticket, readers) => {
                let word = registers[other];
                let is_hasty = self.flaw == Some(RwFlaw::Hasty) && is_reader(ticket);
                if word == CHOOSING && !is_hasty {
                    return Next::At(place);
                }
                if word <= CHOOSING || !self.is_ahead((word, other), (ticket, seat)) {
                    return self.look_after(other + 1, seat, ticket, readers);
                }
                if !is_reader(word) || !is_reader(ticket) {
                    return Next::At(place);
                }
                self.look_after(other + 1, seat, ticket, readers + 1)
            }
            RwPlace::Leave => {
                registers[seat] = IDLE;
                Next::Done
            }
        }
    }
}
