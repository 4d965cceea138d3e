//! Messages, counted by kind.

use std::fmt;

/// Messages by kind.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Traffic {
    // Few kinds, so a list is faster than a map.
    kinds: Vec<(&'static str, u64)>,
}

impl Traffic {
    /// Counts a message.
    #[inline]
    pub fn count(&mut self, kind: &'static str) {
        self.add(kind, 1);
    }

    /// Counts what another has counted.
    pub fn merge(&mut self, other: &Self) {
        for &(kind, count) in &other.kinds {
            self.add(kind, count);
        }
    }

    #[inline]
    fn add(&mut self, kind: &'static str, count: u64) {
        // Nearly always it is the very same string, which is told faster than an equal one.
        match self.kinds.iter_mut().find(|(known, _)| std::ptr::eq(*known, kind)) {
            Some((_, counted)) => *counted += count,
            None => self.add_equal(kind, count),
        }
    }

    #[cold]
    fn add_equal(&mut self, kind: &'static str, count: u64) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, counted)) => *counted += count,
            None => {
                self.kinds.push((kind, count));
                self.kinds.sort_unstable();
            }
        }
    }

    /// How many there were of a kind.
    pub fn of(&self, kind: &str) -> u64 {
        self.kinds.iter().find(|(known, _)| *known == kind).map_or(0, |(_, count)| *count)
    }

    /// How many there were in all.
    pub fn total(&self) -> u64 {
        self.kinds.iter().map(|(_, count)| count).sum()
    }

    /// The kinds in alphabetical order, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.kinds.iter().copied()
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (kind, count)) in self.iter().enumerate() {
            write!(f, "{}{count} {kind}", if position == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
