//! What a contender does, register by register: the bakery, the black-white bakery, and the
//! tournament.

use std::fmt::Debug;
use std::hash::Hash;

/// What comes after a step.
#[derive(Clone, Copy, Debug)]
pub enum Next<P> {
    /// The contender is here now.
    At(P),
    /// It has entered, or left.
    Done,
}

/// A lock, as what its contenders read and write.
pub trait Program: Clone {
    /// Where a contender is, with what it remembers.
    type Place: Copy + Eq + Hash + Debug;

    /// The registers at first.
    fn registers(&self) -> Vec<u8>;

    /// Where a contender begins.
    fn begin(&self, seat: usize) -> Self::Place;

    /// Where a contender begins that only reads, if readers may be inside together.
    fn begin_reading(&self, _seat: usize) -> Option<Self::Place> {
        None
    }

    /// Whether the contender on that seat reads, which has drawn or is inside.
    fn reads(&self, _seat: usize, _registers: &[u8]) -> bool {
        false
    }

    /// How many readers may be inside at a time.
    fn most_readers(&self) -> usize {
        1
    }

    /// Where it begins to leave.
    fn leave(&self, seat: usize, registers: &[u8]) -> Self::Place;

    /// Where it begins to step back, if it may from here.
    fn withdraw(&self, seat: usize, place: Self::Place) -> Option<Self::Place>;

    /// Whether its place in the order is settled.
    fn has_drawn(&self, seat: usize, place: Self::Place) -> bool;

    /// Reads or writes one register.
    fn step(&self, seat: usize, place: Self::Place, registers: &mut [u8]) -> Next<Self::Place>;
}

pub(super) const IDLE: u8 = 0;
pub(super) const CHOOSING: u8 = 1;

/// Lamport's bakery; or one that is broken on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Bakery {
    /// How many seats.
    pub seats: usize,
    /// What is wrong with it.
    pub flaw: Option<BakeryFlaw>,
}

/// What can be wrong with a bakery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BakeryFlaw {
    /// Nobody says that it is choosing.
    Hasty,
    /// Of equal tickets both go first.
    Ties,
    /// Of equal tickets none goes first.
    Polite,
    /// The higher ticket goes first.
    Backwards,
}

/// Where a customer is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BakeryPlace {
    /// About to say that it is choosing.
    Choose,
    /// About to read another's ticket; the highest so far.
    Scan(usize, u8),
    /// About to write its own.
    Draw(u8),
    /// About to look whether another is ahead of its ticket.
    Look(usize, u8),
    /// About to leave, or to step back.
    Leave,
}

/// The seat after this one, and after ours; none after the last.
pub(super) fn after(other: usize, seat: usize, seats: usize) -> Option<usize> {
    (other..seats).find(|&other| other != seat)
}

impl Program for Bakery {
    type Place = BakeryPlace;

    fn registers(&self) -> Vec<u8> {
        vec![IDLE; self.seats]
    }

    fn begin(&self, seat: usize) -> BakeryPlace {
        match after(0, seat, self.seats) {
            Some(first) if self.flaw == Some(BakeryFlaw::Hasty) => {
                BakeryPlace::Scan(first, CHOOSING)
            }
            _ => BakeryPlace::Choose,
        }
    }

    fn leave(&self, _: usize, _: &[u8]) -> BakeryPlace {
        BakeryPlace::Leave
    }

    fn withdraw(&self, _: usize, place: BakeryPlace) -> Option<BakeryPlace> {
        matches!(place, BakeryPlace::Look(..)).then_some(BakeryPlace::Leave)
    }

    fn has_drawn(&self, _: usize, place: BakeryPlace) -> bool {
        matches!(place, BakeryPlace::Look(..))
    }

    fn step(&self, seat: usize, place: BakeryPlace, registers: &mut [u8]) -> Next<BakeryPlace> {
        let seats = self.seats;
        let look_after = |other, ticket| match after(other, seat, seats) {
            Some(next) => Next::At(BakeryPlace::Look(next, ticket)),
            None => Next::Done,
        };
        match place {
            BakeryPlace::Choose => {
                registers[seat] = CHOOSING;
                let first = after(0, seat, seats).expect("there are others");
                Next::At(BakeryPlace::Scan(first, CHOOSING))
            }
            BakeryPlace::Scan(other, highest) => {
                let highest = highest.max(registers[other]);
                Next::At(match after(other + 1, seat, seats) {
                    Some(next) => BakeryPlace::Scan(next, highest),
                    None => BakeryPlace::Draw(highest),
                })
            }
            BakeryPlace::Draw(highest) => {
                registers[seat] = highest + 1;
                look_after(0, highest + 1)
            }
            BakeryPlace::Look(other, ticket) => {
                let word = registers[other];
                let ahead = match self.flaw {
                    Some(BakeryFlaw::Ties) => word < ticket,
                    Some(BakeryFlaw::Polite) => word <= ticket,
                    Some(BakeryFlaw::Backwards) => (word, other) > (ticket, seat),
                    _ => (word, other) < (ticket, seat),
                };
                if word == CHOOSING || (word != IDLE && ahead) {
                    Next::At(place)
                } else {
                    look_after(other + 1, ticket)
                }
            }
            BakeryPlace::Leave => {
                registers[seat] = IDLE;
                Next::Done
            }
        }
    }
}

/// Taubenfeld's black-white bakery: the last register is the colour.
#[derive(Clone, Copy, Debug)]
pub struct BlackWhite {
    /// How many seats.
    pub seats: usize,
    /// Wrong if set: nobody says that it is choosing, so that another may miss it.
    pub hasty: bool,
}

/// Where a customer is. A ticket is twice its number and its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlackWhitePlace {
    /// About to say that it is choosing.
    Choose,
    /// About to read the colour.
    Colour,
    /// About to read another's ticket, for a colour; the highest number of it so far.
    Scan(usize, u8, u8),
    /// About to write its own ticket.
    Draw(u8),
    /// About to look at another's ticket.
    Look(usize, u8),
    /// About to look at the colour, since the other's is different.
    LookColour(usize, u8),
    /// About to turn the colour.
    Turn(u8),
    /// About to leave, or to step back.
    Leave,
}

impl BlackWhite {
    fn look_after(self, other: usize, seat: usize, ticket: u8) -> Next<BlackWhitePlace> {
        match after(other, seat, self.seats) {
            Some(next) => Next::At(BlackWhitePlace::Look(next, ticket)),
            None => Next::Done,
        }
    }
}

impl Program for BlackWhite {
    type Place = BlackWhitePlace;

    fn registers(&self) -> Vec<u8> {
        vec![IDLE; self.seats + 1]
    }

    fn begin(&self, _: usize) -> BlackWhitePlace {
        if self.hasty { BlackWhitePlace::Colour } else { BlackWhitePlace::Choose }
    }

    fn leave(&self, seat: usize, registers: &[u8]) -> BlackWhitePlace {
        BlackWhitePlace::Turn(1 - registers[seat] % 2)
    }

    fn withdraw(&self, seat: usize, place: BlackWhitePlace) -> Option<BlackWhitePlace> {
        self.has_drawn(seat, place).then_some(BlackWhitePlace::Leave)
    }

    fn has_drawn(&self, _: usize, place: BlackWhitePlace) -> bool {
        matches!(place, BlackWhitePlace::Look(..) | BlackWhitePlace::LookColour(..))
    }

    fn step(
        &self,
        seat: usize,
        place: BlackWhitePlace,
        registers: &mut [u8],
    ) -> Next<BlackWhitePlace> {
        let colour = self.seats;
        match place {
            BlackWhitePlace::Choose => {
                registers[seat] = CHOOSING;
                Next::At(BlackWhitePlace::Colour)
            }
            BlackWhitePlace::Colour => {
                let first = after(0, seat, self.seats).expect("there are others");
                Next::At(BlackWhitePlace::Scan(first, registers[colour], 0))
            }
            BlackWhitePlace::Scan(other, mine, highest) => {
                let word = registers[other];
                let highest = if word % 2 == mine { highest.max(word / 2) } else { highest };
                Next::At(match after(other + 1, seat, self.seats) {
                    Some(next) => BlackWhitePlace::Scan(next, mine, highest),
                    None => BlackWhitePlace::Draw((highest + 1) * 2 + mine),
                })
            }
            BlackWhitePlace::Draw(ticket) => {
                registers[seat] = ticket;
                self.look_after(0, seat, ticket)
            }
            BlackWhitePlace::Look(other, ticket) => {
                let word = registers[other];
                if word == CHOOSING {
                    Next::At(place)
                } else if word == IDLE {
                    self.look_after(other + 1, seat, ticket)
                } else if word % 2 != ticket % 2 {
                    Next::At(BlackWhitePlace::LookColour(other, ticket))
                } else if (word / 2, other) < (ticket / 2, seat) {
                    Next::At(place)
                } else {
                    self.look_after(other + 1, seat, ticket)
                }
            }
            BlackWhitePlace::LookColour(other, ticket) => {
                // A ticket of the colour that the bit does not show is ahead.
                if registers[colour] == ticket % 2 {
                    Next::At(BlackWhitePlace::Look(other, ticket))
                } else {
                    self.look_after(other + 1, seat, ticket)
                }
            }
            BlackWhitePlace::Turn(to) => {
                registers[colour] = to;
                Next::At(BlackWhitePlace::Leave)
            }
            BlackWhitePlace::Leave => {
                registers[seat] = IDLE;
                Next::Done
            }
        }
    }
}

/// The tournament of Peterson's locks: three registers per node, two flags and the turn.
#[derive(Clone, Copy, Debug)]
pub struct Tournament {
    /// How many seats.
    pub seats: usize,
    /// Wrong if set: nodes are released from the leaf up, so that a neighbour may climb meanwhile.
    pub leaf_first: bool,
}

/// Where a contender is: at which level of its way, from 1, and about to do what.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TournamentPlace {
    /// Raise its flag.
    Raise(u32),
    /// Look whether the other's flag is up.
    Peek(u32),
    /// Give way.
    GiveWay(u32),
    /// Look at the other's flag again.
    AwaitFlag(u32),
    /// Look at the turn.
    AwaitTurn(u32),
    /// Lower its flag, and those below down to the leaf.
    Lower(u32),
    /// Lower its flag, and those above up to the root.
    LowerUp(u32),
}

impl Tournament {
    /// The node at a level of a seat's way, and the side on which the seat comes to it.
    fn node(self, seat: usize, level: u32) -> (usize, usize) {
        let position = (self.seats + seat) >> (level - 1);
        (position / 2, position % 2)
    }

    fn height(self, seat: usize) -> u32 {
        (self.seats + seat).ilog2()
    }

    fn climb(self, seat: usize, level: u32) -> Next<TournamentPlace> {
        if level == self.height(seat) {
            Next::Done
        } else {
            Next::At(TournamentPlace::Raise(level + 1))
        }
    }
}

impl Program for Tournament {
    type Place = TournamentPlace;

    fn registers(&self) -> Vec<u8> {
        vec![0; 3 * self.seats]
    }

    fn begin(&self, _: usize) -> TournamentPlace {
        TournamentPlace::Raise(1)
    }

    fn leave(&self, seat: usize, _: &[u8]) -> TournamentPlace {
        if self.leaf_first {
            TournamentPlace::LowerUp(1)
        } else {
            TournamentPlace::Lower(self.height(seat))
        }
    }

    fn withdraw(&self, _: usize, place: TournamentPlace) -> Option<TournamentPlace> {
        match place {
            TournamentPlace::AwaitFlag(level) | TournamentPlace::AwaitTurn(level) => {
                Some(TournamentPlace::Lower(level))
            }
            _ => None,
        }
    }

    /// Only at the root can nobody but its opponent pass it.
    fn has_drawn(&self, seat: usize, place: TournamentPlace) -> bool {
        let root = self.height(seat);
        match place {
            TournamentPlace::AwaitFlag(level) | TournamentPlace::AwaitTurn(level) => level == root,
            _ => false,
        }
    }

    fn step(
        &self,
        seat: usize,
        place: TournamentPlace,
        registers: &mut [u8],
    ) -> Next<TournamentPlace> {
        let (TournamentPlace::Raise(level)
        | TournamentPlace::Peek(level)
        | TournamentPlace::GiveWay(level)
        | TournamentPlace::AwaitFlag(level)
        | TournamentPlace::AwaitTurn(level)
        | TournamentPlace::Lower(level)
        | TournamentPlace::LowerUp(level)) = place;
        let (node, side) = self.node(seat, level);
        let [flag, others, turn] = [3 * node + side, 3 * node + 1 - side, 3 * node + 2];
        match place {
            TournamentPlace::Raise(_) => {
                registers[flag] = 1;
                Next::At(TournamentPlace::Peek(level))
            }
            TournamentPlace::Peek(_) if registers[others] == 0 => self.climb(seat, level),
            TournamentPlace::Peek(_) => Next::At(TournamentPlace::GiveWay(level)),
            TournamentPlace::GiveWay(_) => {
                registers[turn] = side as u8;
                Next::At(TournamentPlace::AwaitFlag(level))
            }
            TournamentPlace::AwaitFlag(_) if registers[others] == 0 => self.climb(seat, level),
            TournamentPlace::AwaitFlag(_) => Next::At(TournamentPlace::AwaitTurn(level)),
            TournamentPlace::AwaitTurn(_) if registers[turn] != side as u8 => {
                self.climb(seat, level)
            }
            TournamentPlace::AwaitTurn(_) => Next::At(TournamentPlace::AwaitFlag(level)),
            TournamentPlace::Lower(_) => {
                registers[flag] = 0;
                if level == 1 { Next::Done } else { Next::At(TournamentPlace::Lower(level - 1)) }
            }
            TournamentPlace::LowerUp(_) => {
                registers[flag] = 0;
                if level == self.height(seat) {
                    Next::Done
                } else {
                    Next::At(TournamentPlace::LowerUp(level + 1))
                }
            }
        }
    }
}
