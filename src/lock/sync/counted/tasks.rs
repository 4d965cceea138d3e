//! The threads of this ground: tasks of shuttle, one of which runs at a time.

use core::cell::Cell;

use shuttle::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::{Purpose, ledger};

// As for the ledger.
std::thread_local! {
    static PACE: Cell<usize> = const { Cell::new(1) };
    static ACCESSES: Cell<usize> = const { Cell::new(0) };
    /// An access of an atomic of shuttle's is a point at which it chooses. Its value does not
    /// matter.
    static POINT: AtomicBool = const { AtomicBool::new(false) };
}

/// How often the scheduler is asked.
pub(super) fn set_pace(purpose: Purpose) {
    PACE.set(if let Purpose::Costs { pace } = purpose { pace.max(1) } else { 1 });
    ACCESSES.set(0);
}

/// A point at which the scheduler chooses who goes on, if it is time to ask it.
pub(super) fn switch() {
    ACCESSES.set(ACCESSES.get().wrapping_add(1));
    let is_time = ACCESSES.get().is_multiple_of(PACE.get());
    if is_time && !std::thread::panicking() && !ledger::stands_for_another() {
        POINT.with(|point| point.load(SeqCst));
    }
}

/// The number of the running task.
pub(super) fn number() -> usize {
    usize::from(shuttle::current::me())
}

/// A task that waits to be woken.
#[derive(Clone)]
pub(super) struct Waiter(shuttle::thread::Thread);

impl Waiter {
    pub(super) fn current() -> Self {
        Self(shuttle::thread::current())
    }

    /// Lets it go on. If it does not wait now, it does not the next time.
    pub(super) fn wake(&self) {
        self.0.unpark();
    }

    /// Waits to be woken. It may be woken for nothing.
    pub(super) fn wait() {
        shuttle::thread::park();
    }
}

/// Lets the others go first.
pub(super) fn give_way() {
    shuttle::thread::yield_now();
}

/// Waits until a word has changed that was looked at since the last pause.
pub(super) fn await_change() {
    let waiter = Waiter::current();
    while ledger::has_seen_nothing_new(&waiter) {
        Waiter::wait();
    }
    ledger::begin_to_look();
}
