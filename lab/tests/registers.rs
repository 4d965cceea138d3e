//! The shared-memory locks explored register by register, as far as a test may take: `lab check --all` goes further.

use exclusion::check::{Checker, HasDiscoveries, Model};
use lab::registers::Contention;
use lab::seat_program::{Bakery, BlackWhite, Program, Tournament};

fn explore<A>(contention: Contention<A>) -> (usize, Vec<&'static str>)
where
    A: Program + Send + Sync + 'static,
    A::Place: Send + Sync,
{
    let stop = HasDiscoveries::AnyFailures;
    let checker = contention.checker().threads(2).finish_when(stop).spawn_bfs().join();
    let properties = checker.model().properties();
    // A search that ends at a failure has not looked for everything that sometimes happens.
    let failed = properties.iter().any(|property| {
        property.expectation.discovery_is_failure() && checker.discovery(property.name).is_some()
    });
    let wrong = properties.iter().filter(|property| {
        let found = checker.discovery(property.name).is_some();
        if property.expectation.discovery_is_failure() { found } else { !found && !failed }
    });
    (checker.unique_state_count(), wrong.map(|property| property.name).collect())
}

#[track_caller]
fn holds<A>(contention: Contention<A>)
where
    A: Program + Send + Sync + 'static,
    A::Place: Send + Sync,
{
    let (states, wrong) = explore(contention);
    assert!(wrong.is_empty(), "{wrong:?} in {states} states");
    println!("{states} states");
}

fn bakery(seats: usize, entries: u8, withdrawals: u8) -> Contention<Bakery> {
    let lock = Bakery { seats, flaw: None };
    Contention { entries: vec![entries; seats], withdrawals, ..Contention::first_come(lock, seats) }
}

fn black_white(seats: usize, entries: u8, withdrawals: u8) -> Contention<BlackWhite> {
    let lock = BlackWhite { seats };
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
    let strict = Contention { most_passed: Some(0), ..tournament(3, 2, 0) };
    assert_eq!(explore(strict).1, ["bypass"]);
    holds(tournament(3, 2, 0));
}
