//! The shared-memory locks explored register by register, as far as a test may take:
//! `lab check --all` goes further.

use lab::explore::exploration::{Explored, Explorer};
use lab::explore::readers_program::RwBakery;
use lab::explore::registers::Contention;
use lab::explore::seat_program::{Bakery, BlackWhite, Program, Tournament};

fn explore<A: Program + Send + Sync + 'static>(contention: Contention<A>) -> Explored
where
    A::Place: Send + Sync,
{
    Explorer { threads: 2, most_states: 5_000_000, progress: &|_, _| () }.explore("", contention)
}

#[track_caller]
fn holds<A: Program + Send + Sync + 'static>(contention: Contention<A>)
where
    A::Place: Send + Sync,
{
    let explored = explore(contention);
    let wrong: Vec<_> = explored.refuted().map(|finding| finding.property).collect();
    assert!(wrong.is_empty(), "{wrong:?} in {} states", explored.states);
}

#[track_caller]
fn is_refuted<A: Program + Send + Sync + 'static>(contention: Contention<A>, property: &str)
where
    A::Place: Send + Sync,
{
    let explored = explore(contention);
    assert!(explored.refuted().any(|finding| finding.property == property), "{property} holds");
}

fn bakery(seats: usize, entries: u8, withdrawals: u8) -> Contention<Bakery> {
    let lock = Bakery { seats, flaw: None };
    Contention { entries: vec![entries; seats], withdrawals, ..Contention::first_come(lock, seats) }
}

fn black_white(seats: usize, entries: u8, withdrawals: u8) -> Contention<BlackWhite> {
    let lock = BlackWhite { seats, hasty: false };
    Contention { entries: vec![entries; seats], withdrawals, ..Contention::first_come(lock, seats) }
}

fn tournament(seats: usize, entries: u8, withdrawals: u8) -> Contention<Tournament> {
    let lock = Tournament { seats, leaf_first: false };
    Contention { entries: vec![entries; seats], withdrawals, ..Contention::unordered(lock, seats) }
}

#[test]
fn the_bakery_of_three_is_exclusive_and_first_come_first_served() {
    holds(bakery(3, 1, 0));
    holds(bakery(2, 2, 1));
}

/// Each contender reads or writes, as it likes each time.
fn rw_bakery(seats: usize, most: usize, entries: u8, withdrawals: u8) -> Contention<RwBakery> {
    let lock = RwBakery { seats, most, flaw: None };
    Contention { entries: vec![entries; seats], withdrawals, ..Contention::first_come(lock, seats) }
}

#[test]
fn readers_and_writers_of_three_seats_are_first_come_first_served() {
    holds(rw_bakery(3, 3, 1, 0));
    holds(rw_bakery(2, 2, 2, 1));
}

#[test]
fn no_more_readers_are_inside_than_may() {
    holds(rw_bakery(3, 2, 1, 0));
    holds(rw_bakery(3, 1, 1, 0));
}

#[test]
fn the_black_white_bakery_of_three_is_too() {
    holds(black_white(3, 1, 0));
    holds(black_white(2, 2, 1));
}

#[test]
fn the_tournament_of_three_is_exclusive() {
    holds(tournament(3, 1, 1));
    holds(tournament(2, 2, 1));
}

#[test]
fn at_the_root_of_the_tournament_one_is_passed_once_but_not_never() {
    is_refuted(Contention { most_passed: Some(0), ..tournament(3, 2, 0) }, "bypass");
    holds(tournament(3, 2, 0));
}
