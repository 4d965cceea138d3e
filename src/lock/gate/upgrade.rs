//! A thread that has more than half of the units takes the rest.
//!
//! Only those that are inside stand in its way. They leave without it, so it cannot wait for the
//! line: whoever is there waits for it. It is served before the line for that reason, and nobody
//! goes in meanwhile.

use super::{
    ALL, ANNOUNCE, AT_HEAD, Gate, HALF, MOST_UNITS, UNIT, UPGRADE, UPGRADES, WAITS, taken,
};
use crate::lock::policy::Policy;
use crate::lock::sync::time::{Deadline, has_passed};
use crate::lock::sync::{Ordering, Spins};

const REST: u64 = (MOST_UNITS - HALF) as u64 * UNIT;

impl<P: Policy> Gate<P> {
    /// Takes the rest of the units, if nobody else has any. For the thread that has `HALF`.
    #[inline]
    pub(in crate::lock) fn try_upgrade(&self) -> bool {
        let mut word = self.look();
        while taken(word) == HALF {
            match self.change(word, (word & !UPGRADES) + REST, UPGRADE.ordering()) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Takes the rest of the units, when nobody else has any. For the thread that has `HALF`, and
    /// keeps them if it gives up. Says whether it could before the deadline.
    #[inline]
    pub(in crate::lock) fn upgrade(&self, deadline: Deadline) -> bool {
        self.try_upgrade() || self.upgrade_slow(deadline)
    }

    #[cold]
    #[inline(never)]
    fn upgrade_slow(&self, deadline: Deadline) -> bool {
        // Relaxed: nothing rides on it. Nobody goes in from here on.
        self.word.fetch_or(UPGRADES, Ordering::Relaxed);
        let mut spins = Spins::new(AT_HEAD);
        loop {
            if self.try_upgrade() {
                return true;
            }
            if has_passed(deadline) {
                self.stop_upgrading();
                return false;
            }
            if spins.spin() {
                continue;
            }
            self.upgrader.lie_down();
            let word = self.look();
            // The word stays as it is: it is written so that a leaver sees us.
            if taken(word) == HALF || self.change(word, word, ANNOUNCE.ordering()).is_err() {
                self.upgrader.get_up();
                continue;
            }
            self.upgrader.sleep(deadline);
            spins = Spins::new(AT_HEAD);
        }
    }

    /// Lets others in again. The head may have waited for that alone.
    fn stop_upgrading(&self) {
        // Relaxed: nothing rides on it. The head looks for itself.
        let word = self.word.fetch_and(!UPGRADES, Ordering::Relaxed);
        if word & WAITS != 0 && word & ALL == 0 {
            self.call();
        }
    }

    /// Wakes the thread that upgrades.
    #[cold]
    pub(super) fn call_upgrader(&self) {
        self.word.load(super::CALL.ordering());
        self.upgrader.wake();
    }
}
