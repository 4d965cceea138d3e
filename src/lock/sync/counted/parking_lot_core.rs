//! The queues of sleepers: what this crate uses of `parking_lot_core`, for tasks.
//!
//! As there, one lock stands around a sleeper's last look and its falling asleep, and around each
//! wake-up. It is one for all addresses. The queues are not counted.

use core::cell::RefCell;
use std::collections::VecDeque;
use std::time::Instant;
use std::vec::Vec;

use super::tasks::{self, Waiter};
use super::{clock, ledger};
use crate::lock::sync::time::has_passed;

/// What a sleeper brings.
#[derive(Clone, Copy)]
pub(crate) struct ParkToken(#[allow(dead_code, reason = "as in parking_lot_core")] usize);

/// What a sleeper is given.
#[derive(Clone, Copy)]
pub(crate) struct UnparkToken(pub(crate) usize);

pub(crate) const DEFAULT_PARK_TOKEN: ParkToken = ParkToken(0);
pub(crate) const DEFAULT_UNPARK_TOKEN: UnparkToken = UnparkToken(0);

/// How a thread slept.
pub(crate) enum ParkResult {
    Unparked(UnparkToken),
    Invalid,
    TimedOut,
}

/// Whom a wake-up woke.
pub(crate) struct UnparkResult {
    pub(crate) unparked_threads: usize,
}

/// What to do with a sleeper. Here they are only counted.
pub(crate) enum FilterOp {
    Skip,
}

struct Sleeper {
    address: usize,
    thread: usize,
    waiter: Waiter,
}

#[derive(Default)]
struct Queues {
    is_locked: bool,
    /// Those that wait for the lock.
    waiters: Vec<Waiter>,
    sleepers: VecDeque<Sleeper>,
    /// What those that have been woken were given, and who they are.
    gifts: Vec<(usize, UnparkToken)>,
}

// As for the ledger.
std::thread_local!(static QUEUES: RefCell<Queues> = RefCell::default());

/// Starts a new execution: nobody sleeps.
pub(super) fn open() {
    QUEUES.take();
}

fn lock() {
    tasks::switch();
    loop {
        let is_ours = QUEUES.with_borrow_mut(|queues| {
            if queues.is_locked {
                queues.waiters.push(Waiter::current());
            }
            !core::mem::replace(&mut queues.is_locked, true)
        });
        if is_ours {
            return;
        }
        Waiter::wait();
    }
}

fn unlock() {
    let waiters = QUEUES.with_borrow_mut(|queues| {
        queues.is_locked = false;
        core::mem::take(&mut queues.waiters)
    });
    waiters.iter().for_each(Waiter::wake);
}

impl Queues {
    fn take_gift(&mut self, thread: usize) -> Option<UnparkToken> {
        let index = self.gifts.iter().position(|(whose, _)| *whose == thread)?;
        Some(self.gifts.swap_remove(index).1)
    }

    /// Takes the sleeper out that is to be woken. That is a step, which others may take too.
    fn take_one(&mut self, address: usize, token: UnparkToken) -> Option<Waiter> {
        let index = self.sleepers.iter().position(|sleeper| sleeper.address == address)?;
        let sleeper = self.sleepers.remove(index).expect("it was just found");
        self.gifts.push((sleeper.thread, token));
        Some(sleeper.waiter)
    }
}

/// # Safety
/// As in parking_lot_core, though nothing can go wrong here.
pub(crate) unsafe fn park(
    address: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    _: impl FnOnce(usize, bool),
    _: ParkToken,
    deadline: Option<Instant>,
) -> ParkResult {
    lock();
    if !validate() {
        unlock();
        return ParkResult::Invalid;
    }
    let thread = tasks::number();
    let sleeper = Sleeper { address, thread, waiter: Waiter::current() };
    QUEUES.with_borrow_mut(|queues| queues.sleepers.push_back(sleeper));
    unlock();
    before_sleep();
    loop {
        if let Some(token) = QUEUES.with_borrow_mut(|queues| queues.take_gift(thread)) {
            ledger::begin_to_look();
            return ParkResult::Unparked(token);
        }
        if deadline.is_none() {
            Waiter::wait();
        } else if has_passed(deadline) {
            QUEUES.with_borrow_mut(|queues| queues.sleepers.retain(|it| it.thread != thread));
            return ParkResult::TimedOut;
        } else {
            clock::pass();
        }
    }
}

/// # Safety
/// As in parking_lot_core, though nothing can go wrong here.
pub(crate) unsafe fn unpark_one(
    address: usize,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    lock();
    let token = callback(UnparkResult { unparked_threads: 0 });
    let woken = QUEUES.with_borrow_mut(|queues| queues.take_one(address, token));
    unlock();
    woken.iter().for_each(Waiter::wake);
    UnparkResult { unparked_threads: woken.iter().count() }
}

/// # Safety
/// As in parking_lot_core, though nothing can go wrong here.
pub(crate) unsafe fn unpark_all(address: usize, token: UnparkToken) {
    lock();
    let woken: Vec<_> = QUEUES.with_borrow_mut(|queues| {
        core::iter::from_fn(|| queues.take_one(address, token)).collect()
    });
    unlock();
    woken.iter().for_each(Waiter::wake);
}

/// # Safety
/// As in parking_lot_core, though nothing can go wrong here.
pub(crate) unsafe fn unpark_filter(
    address: usize,
    mut filter: impl FnMut(ParkToken) -> FilterOp,
    _: impl FnOnce(UnparkResult) -> UnparkToken,
) {
    let sleepers = QUEUES.with_borrow(|queues| {
        queues.sleepers.iter().filter(|sleeper| sleeper.address == address).count()
    });
    for _ in 0..sleepers {
        let FilterOp::Skip = filter(DEFAULT_PARK_TOKEN);
    }
}
