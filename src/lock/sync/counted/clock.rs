//! Time, which passes only where a thread waits for it to.
//!
//! A thread that has looked at the clock in vain, or sleeps by a deadline, does not know what will
//! wake it. It looks again, and each time it does some time has passed.

use core::cell::RefCell;
use core::time::Duration;
use std::collections::HashSet;

use super::tasks;

/// How long a pause takes.
const PAUSE: Duration = Duration::from_micros(50);

#[derive(Default)]
struct Clock {
    elapsed: Duration,
    /// The threads that have looked since their last pause.
    have_looked: HashSet<usize>,
}

// As for the ledger.
std::thread_local!(static CLOCK: RefCell<Clock> = RefCell::default());

/// Starts a new execution.
pub fn start() {
    CLOCK.take();
}

/// How much time has passed. The thread that asks waits for time, among other things.
pub fn elapsed() -> Duration {
    CLOCK.with_borrow_mut(|clock| {
        clock.have_looked.insert(tasks::number());
        clock.elapsed
    })
}

/// A pause of this thread: time passes, and others may go first.
pub(super) fn pass() {
    CLOCK.with_borrow_mut(|clock| clock.elapsed += PAUSE);
    tasks::give_way();
}

/// The same, if the thread has looked at the clock since its last pause. Says whether it has.
pub(super) fn passes_for_who_looked() -> bool {
    let has_looked = CLOCK.with_borrow_mut(|clock| clock.have_looked.remove(&tasks::number()));
    if has_looked {
        pass();
    }
    has_looked
}
