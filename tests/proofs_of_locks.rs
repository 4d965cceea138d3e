//! The steps of the shipped bakery and tournament are steps of the proofs of `proofs/`.
//!
//! Contenders take turns by random schedules (see `common::baton`). The bakery asks its caller for
//! the next seat to read, and how to wait. So its contenders pass the baton after each access. The
//! tournament asks its caller less often, and its contenders take several steps at a time. After
//! each turn the registers are written down, and `proofs/compare` explains them by steps of the
//! proof.
//!
//! A few schedules are compared, or as many as `PROOFS_SCHEDULES` says.
#![cfg(not(exclusion_loom))]

mod common;

use std::cell::Cell;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Mutex;

use common::baton::{Baton, Runner};
use common::chance::{Chance, from_environment};
use common::journal::Journal;
use exclusion::lock::raw::{
    Attendance, Bakery, Layout, Narrow, Packed, Place, RawLock, Tournament, Waiting, Withdrawn,
};
use serde_json::{Value, json};

/// What is done, and what the registers hold then.
struct Log<'a> {
    lock: &'a (dyn Debug + Sync),
    journal: Mutex<Journal>,
}

impl Log<'_> {
    fn write(&self, action: &Value) {
        // `Debug` shows the registers: they are all the numbers that there are.
        let text = format!("{:?}", self.lock);
        let numbers = text.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty());
        let registers: Vec<usize> = numbers.map(|it| it.parse().expect("a number")).collect();
        self.journal.lock().unwrap().write(&json!({ "action": action, "sees": registers }));
    }
}

/// One contender that enters once, or gives up.
#[derive(Clone, Copy)]
struct Turn<'a> {
    log: &'a Log<'a>,
    runner: Runner<'a>,
    /// After how many looks it gives up, if it does.
    looks: Option<usize>,
}

impl Turn<'_> {
    fn seat(&self) -> usize {
        self.runner.number
    }

    /// Something was done. It is somebody else's turn.
    fn did(&self, action: Value) {
        self.log.write(&action);
        self.runner.pass();
    }

    /// Looks until it is ready, and does something after each look.
    fn look(&self, ready: impl Fn() -> bool, mut looked: impl FnMut()) -> Result<(), Withdrawn> {
        let mut looks = 0;
        loop {
            let is_ready = ready();
            looked();
            if is_ready {
                return Ok(());
            }
            if self.looks == Some(looks) {
                return Err(Withdrawn);
            }
            looks += 1;
        }
    }
}

/// Contenders that come a few times, by some schedules.
fn race<L: RawLock + Debug>(journal: Journal, enter: impl Fn(&L, Turn<'_>) + Sync) -> Journal {
    let lock = &L::UNLOCKED;
    let log = Log { lock, journal: Mutex::new(journal) };
    for seed in 0..from_environment("PROOFS_SCHEDULES").unwrap_or(8) {
        let mut schedule = Chance(seed);
        let turns = std::iter::repeat_with(move || schedule.below(1 << 16));
        Baton::race(L::SEATS, turns, |runner| {
            let mut chance = Chance(seed << 8 | runner.number as u64);
            for _ in 0..4 {
                let looks = chance.once_in(3).then(|| chance.below(4));
                enter(lock, Turn { log: &log, runner, looks });
            }
        });
    }
    log.journal.into_inner().unwrap()
}

/// A customer of the bakery.
struct Customer<'a> {
    turn: Turn<'a>,
    at: Cell<At>,
    /// The seat that it reads next.
    other: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    /// About to say that it is choosing.
    Outside,
    /// The same, after it found no ticket.
    OutsideAgain,
    Choosing,
    Looking,
}

impl Customer<'_> {
    fn enter<const N: usize, W: Layout>(bakery: &Bakery<N, W>, turn: Turn<'_>) {
        let seat = turn.seat();
        let customer = Customer { turn, at: Cell::new(At::Outside), other: Cell::new(0) };
        turn.did(json!({ "begin": seat }));
        // SAFETY: one contender a seat, no seat is omitted, and what it acquires it releases.
        let entered = unsafe { bakery.acquire_among(seat, &customer, &customer) }.is_ok();
        if entered {
            turn.did(json!({ "enter": seat }));
            // SAFETY: as above.
            unsafe { bakery.release(seat) };
            turn.did(json!({ "leave and idle": seat }));
        } else if customer.at.get() == At::Looking {
            turn.did(json!({ "withdraw and idle": seat }));
        }
    }

    /// Called before the next seat is read, after the one that was read before.
    fn reads_next(&self, before: Option<usize>) {
        let seat = self.turn.seat();
        match (self.at.get(), before) {
            (At::Outside, _) => self.turn.did(json!({ "announce": seat })),
            (At::OutsideAgain, _) => self.turn.did(json!({ "begin again": seat })),
            (At::Choosing, Some(other)) => self.turn.did(json!({ "scan": [seat, other] })),
            (At::Looking, None) => self.turn.did(json!({ "look again": seat })),
            // It has been written down by the one who looked.
            (At::Looking, Some(_)) => {}
            (At::Choosing, None) => panic!("it reads all words once"),
        }
        if self.at.get() != At::Looking {
            self.at.set(At::Choosing);
        }
    }
}

impl Attendance for Customer<'_> {
    fn seats(&self, all: usize) -> impl Iterator<Item = usize> {
        Seats { customer: self, rest: 0..all, before: None }
    }
}

struct Seats<'a> {
    customer: &'a Customer<'a>,
    rest: Range<usize>,
    before: Option<usize>,
}

impl Iterator for Seats<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.customer.reads_next(self.before);
        self.before = self.rest.next();
        self.customer.other.set(self.before.unwrap_or(usize::MAX));
        self.before
    }
}

impl Waiting for Customer<'_> {
    /// For the one that is just ahead.
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        self.turn.look(ready, || self.turn.did(json!({ "wait": self.turn.seat() })))
    }

    /// For one that chooses; or, outside, for a ticket.
    fn wait_briefly(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if self.at.get() == At::OutsideAgain {
            return self.wait(place, ready);
        }
        let look = json!({ "look on": [self.turn.seat(), self.other.get()] });
        self.turn.look(ready, || self.turn.did(look.clone()))
    }

    /// It found no ticket, and has stepped back.
    fn wake(&self, _: Place) {
        self.at.set(At::OutsideAgain);
        self.turn.did(json!({ "find no ticket": self.turn.seat() }));
    }

    /// It has drawn.
    fn wake_fenced(&self, _: Place) {
        self.at.set(At::Looking);
        self.turn.did(json!({ "draw": self.turn.seat() }));
    }
}

fn bakery<const N: usize, W: Layout>(name: &str) -> Journal
where
    Bakery<N, W>: Debug,
{
    let mut journal = Journal::new(name, "bakery", N);
    let outside = vec![["Outside"]; N];
    journal.state(&json!({ "words": vec![0; N], "seats": outside, "ahead": vec![0; N] }));
    race::<Bakery<N, W>>(journal, Customer::enter)
}

#[test]
fn the_shipped_bakery_takes_the_steps_of_its_proof() {
    let mut journal = bakery::<3, Packed>("shipped_bakery");
    journal.agrees();
    journal.notices("hasty");
    journal.notices("backwards");
}

#[test]
fn the_shipped_bakery_takes_the_steps_of_its_proof_when_tickets_run_out() {
    bakery::<3, Narrow<3>>("shipped_bakery_with_few_tickets").agrees_and_takes_every_step();
}

/// A contender of the tournament.
struct Climber<'a> {
    turn: Turn<'a>,
    /// What it is doing since it was written down.
    since: Cell<&'static str>,
}

impl Climber<'_> {
    fn enter<const N: usize>(tournament: &Tournament<N>, turn: Turn<'_>) {
        let seat = turn.seat();
        let climber = Climber { turn, since: Cell::new("climb") };
        // SAFETY: one contender a seat, and what it acquires it releases.
        let entered = unsafe { tournament.acquire(seat, &climber) }.is_ok();
        if entered {
            turn.did(json!({ climber.since.get(): [seat, true] }));
            // SAFETY: as above.
            unsafe { tournament.release(seat) };
            turn.did(json!({ "leave to the leaf": seat }));
        } else {
            turn.did(json!({ "withdraw to the leaf": seat }));
        }
    }
}

impl Waiting for Climber<'_> {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let ready = || {
            let is_ready = ready();
            if !is_ready {
                self.turn.did(json!({ "wait": self.turn.seat() }));
            }
            is_ready
        };
        self.since.set("win and climb");
        self.turn.look(ready, || ())
    }

    /// It has given way.
    fn wake(&self, _: Place) {
        self.turn.did(json!({ self.since.get(): [self.turn.seat(), false] }));
    }
}

#[test]
fn the_shipped_tournament_takes_the_steps_of_its_proof() {
    let mut journal = Journal::new("shipped_tournament", "tournament", 5);
    let outside = vec![["Outside"]; 5];
    journal.state(&json!({ "registers": vec![0; 15], "seats": outside }));
    let mut journal = race::<Tournament<5>>(journal, Climber::enter);
    journal.agrees_and_takes_every_step();
    journal.notices("takes_the_turn");
    journal.notices("leaf_first");
}
