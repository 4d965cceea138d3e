//! The shared-memory locks explored register by register, as far as a test may take: `lab check --all` goes further.

use exclusion::check::{Checker, HasDiscoveries, Model};
use lab::registers::Contention;
use lab::seat_program::{Bakery, BakeryFlaw, BlackWhite, Program, Tournament};

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

fn bakery(
    seats: usize,
    entries: u8,
    withdrawals: u8,
    flaw: Option<BakeryFlaw>,
) -> Contention<Bakery> {
    let lock = Bakery { seats, flaw };
    let most_passed = Some(seats as u8 - 1);
    Contention { lock, seats, entries, withdrawals, most_passed, first_come: true }
}

fn black_white(seats: usize, entries: u8, withdrawals: u8) -> Contention<BlackWhite> {
    let lock = BlackWhite { seats };
    let most_passed = Some(seats as u8 - 1);
    Contention { lock, seats, entries, withdrawals, most_passed, first_come: true }
}

fn tournament(
    seats: usize,
    entries: u8,
    withdrawals: u8,
    leaf_first: bool,
) -> Contention<Tournament> {
    let lock = Tournament { seats, leaf_first };
    Contention { lock, seats, entries, withdrawals, most_passed: None, first_come: false }
}

#[test]
fn the_bakery_of_three_is_exclusive_and_first_come_first_served() {
    holds(bakery(3, 1, 0, None));
    holds(bakery(2, 2, 1, None));
}

#[test]
fn the_black_white_bakery_of_three_is_too() {
    holds(black_white(3, 1, 0));
    holds(black_white(2, 2, 1));
}

#[test]
fn the_tournament_of_three_is_exclusive() {
    holds(tournament(3, 1, 1, false));
    holds(tournament(2, 2, 1, false));
}

#[test]
fn a_tournament_that_releases_the_leaf_first_is_refuted() {
    let (_, wrong) = explore(tournament(4, 2, 0, true));
    assert!(wrong.contains(&"mutual exclusion"), "{wrong:?}");
}

#[test]
fn a_bakery_without_choosing_and_one_with_ties_are_refuted() {
    let (_, wrong) = explore(bakery(2, 1, 0, Some(BakeryFlaw::Hasty)));
    assert!(wrong.contains(&"mutual exclusion"), "{wrong:?}");
    let (_, wrong) = explore(bakery(2, 1, 0, Some(BakeryFlaw::Ties)));
    assert!(wrong.contains(&"mutual exclusion"), "{wrong:?}");
    let (_, wrong) = explore(bakery(2, 1, 0, Some(BakeryFlaw::Polite)));
    assert_eq!(wrong, ["no dead end"]);
}
