//! Broken locks over shared registers.

use crate::explore::readers_program::{RwBakery, RwFlaw};
use crate::explore::registers::Contention;
use crate::explore::seat_program::{Bakery, BakeryFlaw, BlackWhite, Tournament};

/// The bakery, where nobody says that it is choosing: two draw the same ticket, and the first to
/// look misses the other.
pub fn bakery_hasty(flawed: bool) -> Contention<Bakery> {
    bakery(flawed.then_some(BakeryFlaw::Hasty))
}

/// The bakery, where of equal tickets both go first.
pub fn bakery_ties(flawed: bool) -> Contention<Bakery> {
    bakery(flawed.then_some(BakeryFlaw::Ties))
}

/// The bakery, where of equal tickets none goes first.
pub fn bakery_polite(flawed: bool) -> Contention<Bakery> {
    bakery(flawed.then_some(BakeryFlaw::Polite))
}

/// The bakery, where the higher ticket goes first.
pub fn bakery_backwards(flawed: bool) -> Contention<Bakery> {
    bakery(flawed.then_some(BakeryFlaw::Backwards))
}

fn bakery(flaw: Option<BakeryFlaw>) -> Contention<Bakery> {
    Contention::first_come(Bakery { seats: 2, flaw }, 2)
}

/// The black-white bakery, where nobody says that it is choosing.
pub fn black_white_hasty(flawed: bool) -> Contention<BlackWhite> {
    Contention::first_come(BlackWhite { seats: 2, hasty: flawed }, 2)
}

/// The tournament, released from the leaf up: a neighbour climbs meanwhile, and its flag is lowered
/// by the one that leaves.
pub fn tournament_leaf_first(flawed: bool) -> Contention<Tournament> {
    let contention = Contention::unordered(Tournament { seats: 4, leaf_first: flawed }, 4);
    Contention { entries: vec![2, 1, 1, 1], ..contention }
}

/// The bakery with readers, where a reader does not wait for a seat that is choosing.
pub fn rw_bakery_hasty(flawed: bool) -> Contention<RwBakery> {
    rw_bakery(2, 2, flawed.then_some(RwFlaw::Hasty))
}

/// The bakery with readers, where a reader and a writer of the same number both go first.
pub fn rw_bakery_ties(flawed: bool) -> Contention<RwBakery> {
    rw_bakery(2, 2, flawed.then_some(RwFlaw::Ties))
}

/// The bakery with readers, where these go before all writers: a writer may be starved.
pub fn rw_bakery_readers_first(flawed: bool) -> Contention<RwBakery> {
    rw_bakery(3, 3, flawed.then_some(RwFlaw::ReadersFirst))
}

/// The bakery of which two may read at a time, and three do.
pub fn rw_bakery_miscounted(flawed: bool) -> Contention<RwBakery> {
    rw_bakery(3, 2, flawed.then_some(RwFlaw::Miscounted))
}

fn rw_bakery(seats: usize, most: usize, flaw: Option<RwFlaw>) -> Contention<RwBakery> {
    Contention::first_come(RwBakery { seats, most, flaw }, seats)
}
