//! The timers of a lock that may be replaced while they run.

use crate::message::Timer;

/// What a timer that runs stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Entry {
    Free,
    /// It was set by a lock that is no more.
    Stale,
    Of(Timer),
}

/// Gives each timer of the lock a number that no other timer that runs has. So one that an earlier
/// lock has set is told apart.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    /// The number under which a timer runs.
    pub(super) fn set(&mut self, timer: Timer) -> Timer {
        let free = self.entries.iter().position(|entry| *entry == Entry::Free);
        let place = free.unwrap_or_else(|| {
            self.entries.push(Entry::Free);
            self.entries.len() - 1
        });
        self.entries[place] = Entry::Of(timer);
        Timer(u32::try_from(place).expect("few timers run at a time"))
    }

    /// What has run out: the lock's timer, or none that counts. None if no such timer runs.
    pub(super) fn find(&self, number: Timer) -> Option<Option<Timer>> {
        match self.entries.get(number.0 as usize)? {
            Entry::Free => None,
            Entry::Stale => Some(None),
            Entry::Of(timer) => Some(Some(*timer)),
        }
    }

    /// A timer has run out.
    pub(super) fn strike(&mut self, number: Timer) {
        self.entries[number.0 as usize] = Entry::Free;
        while self.entries.last() == Some(&Entry::Free) {
            self.entries.pop();
        }
    }

    /// The lock is no more, but its timers run on.
    pub(super) fn outlive(&mut self) {
        let running = self.entries.iter_mut().filter(|entry| **entry != Entry::Free);
        running.for_each(|entry| *entry = Entry::Stale);
    }

    /// The node was down: no timer runs any more.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_of_an_earlier_lock_is_told_apart_from_one_of_the_same_name() {
        let mut ledger = Ledger::default();
        let old = ledger.set(Timer(7));
        ledger.outlive();
        let new = ledger.set(Timer(7));
        assert_ne!(old, new);
        assert_eq!(ledger.find(old), Some(None));
        assert_eq!(ledger.find(new), Some(Some(Timer(7))));
        ledger.strike(old);
        assert_eq!(ledger.find(old), None);
        ledger.strike(new);
        assert_eq!(ledger, Ledger::default());
    }
}
