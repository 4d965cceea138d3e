//! The shared-memory locks as models, for what loom cannot reach: three and four seats, all
//! interleavings.
//!
//! A step is one read or one write of a register. Orderings are loom's business, and so are
//! wake-ups: a contender that waits here looks again and again, at one seat after the other. A
//! contender may withdraw wherever it waits, and come back.

use std::fmt::Write;

use exclusion::message::check::{Model, Path, Property};

use super::exploration::{Explorable, Shown};
use super::seat_program::{Next, Program};

/// Contenders for a lock. Each wants in, and may withdraw, a bounded number of times.
#[derive(Clone, Debug)]
pub struct Contention<A> {
    /// The lock.
    pub lock: A,
    /// How many times each wants in.
    pub entries: Vec<u8>,
    /// How many times each may withdraw.
    pub withdrawals: u8,
    /// How many others may enter while one waits, from when it has drawn; if a bound is claimed.
    /// Readers that come in while a reader waits do not count.
    pub most_passed: Option<u8>,
    /// Whether one that has drawn before another begins must enter first, unless both read.
    pub first_come: bool,
}

/// A state of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Moment<P> {
    registers: Vec<u8>,
    contenders: Vec<Contender<P>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Contender<P> {
    at: At<P>,
    entries_left: u8,
    withdrawals_left: u8,
    /// The seats that had drawn when we began, and have neither entered nor withdrawn: a bit per
    /// seat.
    ahead: u8,
    /// How many others have entered since we have drawn.
    passed: u8,
}

/// Where a contender is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At<P> {
    /// It does not want in.
    Outside,
    /// It wants in.
    Entering(P),
    /// It is in the critical section.
    Inside,
    /// Leaving, or stepping back.
    Leaving(P),
}

impl<P: Copy> Moment<P> {
    /// What the registers hold.
    pub fn registers(&self) -> &[u8] {
        &self.registers
    }

    /// Where the contender on a seat is.
    pub fn at(&self, seat: usize) -> At<P> {
        self.contenders[seat].at
    }

    /// The seats that had drawn when this one began, and have neither entered nor withdrawn: a bit
    /// per seat.
    pub fn ahead(&self, seat: usize) -> u8 {
        self.contenders[seat].ahead
    }
}

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// A contender that is outside begins.
    Begin(usize),
    /// The same, and it only reads.
    BeginReading(usize),
    /// A contender takes its next step.
    Step(usize),
    /// A contender that is inside begins to leave.
    Leave(usize),
    /// A contender that waits begins to step back.
    Withdraw(usize),
}

impl<A: Program> Contention<A> {
    /// Contenders for a lock that promises first come, first served.
    pub fn first_come(lock: A, seats: usize) -> Self {
        let most_passed = Some(u8::try_from(seats - 1).unwrap_or(u8::MAX));
        Self { most_passed, first_come: true, ..Self::unordered(lock, seats) }
    }

    /// Contenders for a lock that promises no order. It only bounds the bypass of a contender that
    /// waits for its last opponent, at one.
    pub fn unordered(lock: A, seats: usize) -> Self {
        let most_passed = Some(1);
        Self { lock, entries: vec![1; seats], withdrawals: 0, most_passed, first_come: false }
    }

    /// The bound on bypass, if it could be exceeded. If each contender enters once, it cannot.
    fn bound(&self) -> Option<u8> {
        self.most_passed.filter(|_| self.entries.iter().any(|&times| times > 1))
    }

    /// The state after a move. None if it cannot be made.
    fn after(&self, moment: &Moment<A::Place>, action: Move) -> Option<Moment<A::Place>> {
        let mut next = moment.clone();
        match action {
            Move::Begin(seat) => {
                let drawn = self.drawn(moment, |_| true);
                let contender = &mut next.contenders[seat];
                contender.ahead = if self.first_come { drawn } else { 0 };
                contender.at = At::Entering(self.lock.begin(seat));
            }
            Move::BeginReading(seat) => {
                let writers = self.drawn(moment, |other| !self.reads(moment, other));
                let contender = &mut next.contenders[seat];
                contender.ahead = if self.first_come { writers } else { 0 };
                contender.at = At::Entering(self.lock.begin_reading(seat)?);
            }
            Move::Leave(seat) => {
                next.contenders[seat].at = At::Leaving(self.lock.leave(seat, &next.registers));
            }
            Move::Withdraw(seat) => {
                let At::Entering(place) = next.contenders[seat].at else { return None };
                let contender = &mut next.contenders[seat];
                contender.withdrawals_left = contender.withdrawals_left.checked_sub(1)?;
                contender.at = At::Leaving(self.lock.withdraw(seat, place)?);
                self.is_gone(&mut next, seat);
            }
            Move::Step(seat) => match next.contenders[seat].at {
                At::Entering(place) => match self.lock.step(seat, place, &mut next.registers) {
                    Next::At(place) => next.contenders[seat].at = At::Entering(place),
                    Next::Done => self.enter(&mut next, seat),
                },
                At::Leaving(place) => {
                    next.contenders[seat].at =
                        match self.lock.step(seat, place, &mut next.registers) {
                            Next::At(place) => At::Leaving(place),
                            Next::Done => At::Outside,
                        };
                }
                At::Outside | At::Inside => return None,
            },
        }
        Some(next)
    }

    fn enter(&self, next: &mut Moment<A::Place>, seat: usize) {
        next.contenders[seat].at = At::Inside;
        next.contenders[seat].entries_left -= 1;
        self.is_gone(next, seat);
        if self.bound().is_some() {
            for other in 0..next.contenders.len() {
                let together = self.reads(next, seat) && self.reads(next, other);
                if self.waits(other, &next.contenders[other]) && !together {
                    next.contenders[other].passed += 1;
                }
            }
        }
    }

    /// This seat is ahead of no other any more.
    fn is_gone(&self, next: &mut Moment<A::Place>, seat: usize) {
        next.contenders[seat].passed = 0;
        for contender in &mut next.contenders {
            contender.ahead &= !(1 << seat);
        }
    }

    /// The seats that have drawn, and wait: a bit per seat. Of these, those that are asked for.
    fn drawn(&self, moment: &Moment<A::Place>, is_meant: impl Fn(usize) -> bool) -> u8 {
        let seats = moment.contenders.iter().enumerate();
        let drawn = seats.filter(|(seat, it)| self.waits(*seat, it) && is_meant(*seat));
        drawn.fold(0, |bits, (seat, _)| bits | 1 << seat)
    }

    /// Whether the contender on that seat reads, which has drawn or is inside.
    fn reads(&self, moment: &Moment<A::Place>, seat: usize) -> bool {
        self.lock.reads(seat, &moment.registers)
    }

    fn waits(&self, seat: usize, contender: &Contender<A::Place>) -> bool {
        matches!(contender.at, At::Entering(place) if self.lock.has_drawn(seat, place))
    }

    fn is_exclusive(&self, moment: &Moment<A::Place>) -> bool {
        let seats = 0..moment.contenders.len();
        let inside = seats.filter(|seat| moment.contenders[*seat].at == At::Inside);
        let (readers, writers): (Vec<_>, Vec<_>) =
            inside.partition(|seat| self.reads(moment, *seat));
        match writers.len() {
            0 => readers.len() <= self.lock.most_readers(),
            1 => readers.is_empty(),
            _ => false,
        }
    }

    /// If a contender wants in, one is inside or makes progress: it does something else than spin.
    fn is_alive(&self, moment: &Moment<A::Place>) -> bool {
        let mut contenders = moment.contenders.iter().enumerate();
        moment.contenders.iter().all(|contender| contender.at == At::Outside)
            || contenders.any(|(seat, contender)| match contender.at {
                At::Outside => false,
                At::Inside => true,
                At::Entering(place) | At::Leaving(place) => self.gets_on(moment, seat, place),
            })
    }

    /// Whether a contender that runs alone writes something or is done, before it returns to a
    /// state that it was in.
    fn gets_on(&self, moment: &Moment<A::Place>, seat: usize, place: A::Place) -> bool {
        let mut registers = moment.registers.clone();
        let mut seen = vec![place];
        loop {
            let Next::At(next) = self.lock.step(seat, seen[seen.len() - 1], &mut registers) else {
                return true;
            };
            if registers != moment.registers {
                return true;
            }
            if seen.contains(&next) {
                return false;
            }
            seen.push(next);
        }
    }

    fn keeps_order(&self, moment: &Moment<A::Place>) -> bool {
        let inside = moment.contenders.iter().filter(|contender| contender.at == At::Inside);
        inside.into_iter().all(|contender| contender.ahead == 0)
    }

    fn is_patient(&self, moment: &Moment<A::Place>) -> bool {
        let most = self.bound().unwrap_or(u8::MAX);
        moment.contenders.iter().all(|contender| contender.passed <= most)
    }

    fn is_done(&self, moment: &Moment<A::Place>) -> bool {
        let done = |it: &Contender<_>| it.at == At::Outside && it.entries_left == 0;
        moment.contenders.iter().all(done)
    }

    fn is_read_by_two(&self, moment: &Moment<A::Place>) -> bool {
        moment.contenders.iter().filter(|contender| contender.at == At::Inside).count() >= 2
    }

    fn is_contended(&self, moment: &Moment<A::Place>) -> bool {
        moment.contenders.iter().filter(|it| matches!(it.at, At::Entering(_))).count() >= 2
    }
}

impl<A: Program> Model for Contention<A> {
    type State = Moment<A::Place>;
    type Action = Move;

    fn init_states(&self) -> Vec<Self::State> {
        let contender = |&entries_left| Contender {
            at: At::Outside,
            entries_left,
            withdrawals_left: self.withdrawals,
            ahead: 0,
            passed: 0,
        };
        let contenders = self.entries.iter().map(contender).collect();
        vec![Moment { registers: self.lock.registers(), contenders }]
    }

    fn actions(&self, moment: &Self::State, actions: &mut Vec<Move>) {
        for (seat, contender) in moment.contenders.iter().enumerate() {
            match contender.at {
                At::Outside if contender.entries_left > 0 => {
                    actions.push(Move::Begin(seat));
                    if self.lock.begin_reading(seat).is_some() {
                        actions.push(Move::BeginReading(seat));
                    }
                }
                At::Outside => {}
                At::Inside => actions.push(Move::Leave(seat)),
                At::Leaving(_) => actions.push(Move::Step(seat)),
                At::Entering(place) => {
                    actions.push(Move::Step(seat));
                    if contender.withdrawals_left > 0 && self.lock.withdraw(seat, place).is_some() {
                        actions.push(Move::Withdraw(seat));
                    }
                }
            }
        }
    }

    fn next_state(&self, moment: &Self::State, action: Move) -> Option<Self::State> {
        self.after(moment, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::always("mutual exclusion", Self::is_exclusive),
            Property::always("no deadlock", Self::is_alive),
            Property::sometimes("everybody enters", Self::is_done),
        ];
        if self.entries.iter().filter(|&&times| times > 0).count() > 1 {
            properties.push(Property::sometimes("two contend", Self::is_contended));
        }
        if self.entries_at_a_time() > 1 {
            properties.push(Property::sometimes("two read", Self::is_read_by_two));
        }
        if self.first_come {
            properties.push(Property::always("first come, first served", Self::keeps_order));
        }
        if self.bound().is_some() {
            properties.push(Property::always("bypass", Self::is_patient));
        }
        properties
    }
}

impl<A: Program> Explorable for Contention<A> {
    fn nodes(&self) -> usize {
        self.entries.len()
    }

    fn requests(&self) -> &[u8] {
        &self.entries
    }

    fn entries_at_a_time(&self) -> usize {
        self.lock.most_readers()
    }

    fn channels(&self) -> String {
        "registers".to_owned()
    }

    /// What each contender did, and what the registers held then.
    fn show(&self, path: Path<Self::State, Self::Action>) -> Shown {
        let steps = path.into_vec();
        let mut text = String::new();
        for (index, (moment, action)) in steps.iter().enumerate() {
            let Some(action) = action else { break };
            let after = &steps[index + 1].0;
            let (seat, what) = match *action {
                Move::Begin(seat) => (seat, "begins".to_owned()),
                Move::BeginReading(seat) => (seat, "begins to read".to_owned()),
                Move::Leave(seat) => (seat, "leaves".to_owned()),
                Move::Withdraw(seat) => (seat, "steps back".to_owned()),
                Move::Step(seat) => match moment.contenders[seat].at {
                    At::Entering(place) | At::Leaving(place) => (seat, format!("{place:?}")),
                    At::Outside | At::Inside => (seat, String::new()),
                },
            };
            let enters = after.contenders[seat].at == At::Inside;
            let then = if enters { "  enters" } else { "" };
            writeln!(text, "{:>3} seat {seat} {what:20} {:?}{then}", index + 1, after.registers)
                .expect("a string takes it");
        }
        Shown::Text(text)
    }
}
