//! The steps of the locks' models, which `lab check` explores register by register, are steps of
//! the proofs of `proofs/`. See `tests/proofs.rs` at the root.
//!
//! Of three seats a part is compared, unless `PROOFS_WHOLE` is set:
//!
//! ```sh
//! PROOFS_WHOLE=1 cargo test --release -p lab --test proofs -- --nocapture
//! ```

#[allow(dead_code, reason = "the tests of what is shipped use more of it")]
#[path = "../../tests/common/journal.rs"]
mod journal;

use std::collections::HashMap;

use exclusion::message::check::Model;
use journal::Journal;
use lab::explore::registers::{At, Contention, Moment, Move};
use lab::explore::seat_program::{
    Bakery, BakeryFlaw, BakeryPlace, Program, Tournament, TournamentPlace,
};
use serde_json::{Value, json};

/// A lock whose states and moves a proof can read.
trait Readable: Program {
    const PROOF: &'static str;

    fn state(&self, moment: &Moment<Self::Place>) -> Value;

    fn action(&self, moment: &Moment<Self::Place>, action: Move) -> Value;
}

/// Where each contender is.
fn seats<P: Copy>(
    moment: &Moment<P>,
    seats: usize,
    written: impl Fn(P) -> Value,
) -> impl Iterator<Item = Value> {
    (0..seats).map(move |seat| match moment.at(seat) {
        At::Outside => json!(["Outside"]),
        At::Inside => json!(["Inside"]),
        At::Entering(place) | At::Leaving(place) => written(place),
    })
}

impl Readable for Bakery {
    const PROOF: &'static str = "bakery";

    fn state(&self, moment: &Moment<BakeryPlace>) -> Value {
        let written = |place| match place {
            BakeryPlace::Choose => json!(["Choose"]),
            BakeryPlace::Scan(other, highest) => json!(["Scan", other, highest]),
            BakeryPlace::Draw(highest) => json!(["Draw", highest]),
            BakeryPlace::Look(other, ticket) => json!(["Look", other, ticket]),
            BakeryPlace::Leave => json!(["Leave"]),
        };
        let seats: Vec<_> = seats(moment, self.seats, written).collect();
        let ahead: Vec<_> = (0..self.seats).map(|seat| moment.ahead(seat)).collect();
        json!({ "words": moment.registers(), "seats": seats, "ahead": ahead })
    }

    fn action(&self, moment: &Moment<BakeryPlace>, action: Move) -> Value {
        match action {
            Move::Begin(seat) | Move::BeginReading(seat) => json!({ "begin": seat }),
            Move::Leave(seat) => json!({ "leave": seat }),
            Move::Withdraw(seat) => json!({ "withdraw": seat }),
            Move::Step(seat) => match moment.at(seat) {
                At::Entering(BakeryPlace::Choose) => json!({ "announce": seat }),
                At::Entering(BakeryPlace::Scan(other, _)) => json!({ "scan": [seat, other] }),
                At::Entering(BakeryPlace::Draw(_)) => json!({ "write the ticket": seat }),
                At::Entering(BakeryPlace::Look(other, _)) => json!({ "look": [seat, other] }),
                _ => json!({ "idle": seat }),
            },
        }
    }
}

impl Readable for Tournament {
    const PROOF: &'static str = "tournament";

    fn state(&self, moment: &Moment<TournamentPlace>) -> Value {
        let written = |place| match place {
            TournamentPlace::Raise(level) => json!(["Raise", level]),
            TournamentPlace::Peek(level) => json!(["Peek", level]),
            TournamentPlace::GiveWay(level) => json!(["GiveWay", level]),
            TournamentPlace::AwaitFlag(level) => json!(["AwaitFlag", level]),
            TournamentPlace::AwaitTurn(level) => json!(["AwaitTurn", level]),
            TournamentPlace::Lower(level) | TournamentPlace::LowerUp(level) => {
                json!(["Lower", level])
            }
        };
        let seats: Vec<_> = seats(moment, self.seats, written).collect();
        json!({ "registers": moment.registers(), "seats": seats })
    }

    fn action(&self, _: &Moment<TournamentPlace>, action: Move) -> Value {
        match action {
            Move::Begin(seat) | Move::BeginReading(seat) => json!({ "begin": seat }),
            Move::Leave(seat) => json!({ "leave": seat }),
            Move::Withdraw(seat) => json!({ "withdraw": seat }),
            Move::Step(seat) => json!({ "step": seat }),
        }
    }
}

/// Explores contenders, and writes down what they do: all steps from at most so many states.
fn explored<A: Readable>(name: &str, contention: &Contention<A>, compared: usize) -> Journal {
    let mut found = contention.init_states();
    let mut known: HashMap<_, usize> = found.iter().cloned().zip(0..).collect();
    let mut journal = Journal::new(name, A::PROOF, contention.entries.len());
    let mut numbers = HashMap::from([(0, journal.state(&contention.lock.state(&found[0])))]);
    let mut steps = Vec::new();
    let mut next = 0;
    while next < found.len() {
        let mut actions = Vec::new();
        contention.actions(&found[next], &mut actions);
        for action in actions {
            let Some(after) = contention.next_state(&found[next], action) else { continue };
            let index = *known.entry(after).or_insert_with_key(|after| {
                found.push(after.clone());
                found.len() - 1
            });
            steps.push((next, action, index));
        }
        next += 1;
    }
    // Of many states, some of each depth.
    let stride = found.len().div_ceil(compared);
    for (from, action, to) in steps.into_iter().filter(|(from, ..)| from % stride == 0) {
        let mut number_of = |index: usize| {
            let state = || journal.state(&contention.lock.state(&found[index]));
            *numbers.entry(index).or_insert_with(state)
        };
        let (before, after) = (number_of(from), number_of(to));
        journal.step(before, contention.lock.action(&found[from], action), after);
    }
    journal
}

fn part() -> usize {
    if std::env::var_os("PROOFS_WHOLE").is_some() { usize::MAX } else { 400 }
}

fn bakery(seats: usize, flaw: Option<BakeryFlaw>) -> Contention<Bakery> {
    Contention { withdrawals: 1, ..Contention::first_come(Bakery { seats, flaw }, seats) }
}

fn tournament(seats: usize, leaf_first: bool) -> Contention<Tournament> {
    let lock = Tournament { seats, leaf_first };
    Contention { withdrawals: 1, ..Contention::unordered(lock, seats) }
}

#[test]
fn the_steps_of_the_bakery_are_those_of_its_proof() {
    let twice = Contention { entries: vec![2; 2], ..bakery(2, None) };
    let mut journal = explored("bakery_2", &twice, usize::MAX);
    journal.agrees();
    journal.notices("hasty");
    journal.notices("backwards");
    explored("bakery_3", &bakery(3, None), part()).agrees();
}

#[test]
fn a_bakery_that_does_something_else_is_noticed() {
    for flaw in [BakeryFlaw::Hasty, BakeryFlaw::Ties, BakeryFlaw::Backwards] {
        let name = format!("bakery_{flaw:?}");
        explored(&name, &bakery(2, Some(flaw)), usize::MAX).compare(None).disagrees();
    }
}

#[test]
fn the_steps_of_the_tournament_are_those_of_its_proof() {
    let twice = Contention { entries: vec![2; 2], ..tournament(2, false) };
    let mut journal = explored("tournament_2", &twice, usize::MAX);
    journal.agrees();
    journal.notices("takes_the_turn");
    explored("tournament_3", &tournament(3, false), part()).agrees();
}

#[test]
fn a_tournament_that_is_left_from_the_leaf_up_is_noticed() {
    explored("tournament_leaf_first", &tournament(3, true), part()).compare(None).disagrees();
}
