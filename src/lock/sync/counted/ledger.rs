//! Who accessed which word, and what that costs.
//!
//! The two models of the literature say which accesses are *remote memory references*. Each word
//! counts as a cache line of its own.
//!
//! | model | what is remote |
//! |---|---|
//! | cache-coherent | a load without a copy; a write of a word that others may have a copy of |
//! | distributed shared memory | an access of a word that lies with another thread |
//!
//! A write that fails is a write. Where a word lies is an algorithm's to say. Here it lies where it
//! is used most, which is the best that could be said. A thread that spins on a word that lies
//! elsewhere makes any number of remote references: then there is no count.

use core::cell::RefCell;
use std::collections::HashMap;
use std::vec::Vec;

use super::tasks::{self, Waiter};

/// What a thread does to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it.
    Load,
    /// Writes it.
    Store,
    /// Reads and writes it in one step, or would have.
    ReadModifyWrite,
}

/// What all threads did since [`clear`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads, without the looks that find nothing new.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Read-modify-writes, those that failed too.
    pub read_modify_writes: u64,
    /// Full fences.
    pub fences: u64,
    /// Remote references where caches are coherent.
    pub remote_with_caches: u64,
    /// Remote references where each word lies with a thread. None if there is no bound.
    pub remote_without_caches: Option<u64>,
}

/// What is known of a word.
#[derive(Default)]
struct Word {
    /// How often it has changed.
    changes: u64,
    /// The threads that have a copy.
    copies: Threads,
    /// The thread that has written last, if nobody has looked since.
    owner: Option<usize>,
    /// How often each thread has accessed it.
    accesses: Vec<u64>,
    /// The threads that have spun on it.
    spun: Threads,
    /// The threads that wait for it to change.
    waiters: Vec<Waiter>,
}

/// A set of threads.
#[derive(Default)]
struct Threads(Vec<u64>);

impl Threads {
    fn contains(&self, thread: usize) -> bool {
        self.0.get(thread / 64).is_some_and(|part| part >> (thread % 64) & 1 == 1)
    }

    fn insert(&mut self, thread: usize) {
        let part = thread / 64;
        if self.0.len() <= part {
            self.0.resize(part + 1, 0);
        }
        self.0[part] |= 1 << (thread % 64);
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn is_empty_but_for(&self, thread: usize) -> bool {
        let mut others = self.0.iter().enumerate().map(|(part, bits)| {
            if part == thread / 64 { bits & !(1 << (thread % 64)) } else { *bits }
        });
        others.all(|bits| bits == 0)
    }
}

#[derive(Default)]
struct Ledger {
    words: HashMap<usize, Word>,
    counts: Counts,
    /// For each thread the words that it has looked at since its last pause, and what it knows.
    looks: Vec<Vec<(usize, u64)>>,
    /// The thread that the running task stands for, if it is not its own.
    stands_for: Option<usize>,
    /// Nothing is counted, to save time.
    is_closed: bool,
    /// The running task does what is no step of any thread.
    is_aside: bool,
}

// Shuttle runs the tasks of an execution on one thread, so a thread-local is seen by all of them
// and by no other test.
std::thread_local!(static LEDGER: RefCell<Ledger> = RefCell::default());

/// Starts a new execution: forgets everything. Says whether to count.
pub(super) fn open(counts: bool) {
    LEDGER.set(Ledger { is_closed: !counts, ..Ledger::default() });
}

/// Counts from zero. What the threads have copies of, they keep.
pub fn clear() {
    LEDGER.with_borrow_mut(|ledger| {
        ledger.counts = Counts::default();
        for word in ledger.words.values_mut() {
            word.accesses.clear();
            word.spun.clear();
        }
    });
}

/// What has been counted.
pub fn counts() -> Counts {
    LEDGER.with_borrow(|ledger| {
        let mut remote = Some(0);
        for word in ledger.words.values() {
            let home = (0..word.accesses.len()).max_by_key(|&thread| word.accesses[thread]);
            let Some(home) = home else { continue };
            let elsewhere: u64 = word.accesses.iter().sum::<u64>() - word.accesses[home];
            remote = remote.filter(|_| word.spun.is_empty_but_for(home)).map(|it| it + elsewhere);
        }
        Counts { remote_without_caches: remote, ..ledger.counts }
    })
}

/// Runs `act` as if this task were that thread. Nobody else runs meanwhile.
pub fn stand_for<R>(thread: usize, act: impl FnOnce() -> R) -> R {
    LEDGER.with_borrow_mut(|ledger| ledger.stands_for = Some(thread));
    let result = act();
    LEDGER.with_borrow_mut(|ledger| ledger.stands_for = None);
    result
}

/// Runs `act` as no step of any thread: nothing is counted, and nobody else runs meanwhile.
pub(crate) fn aside<R>(act: impl FnOnce() -> R) -> R {
    LEDGER.with_borrow_mut(|ledger| ledger.is_aside = true);
    let result = act();
    LEDGER.with_borrow_mut(|ledger| ledger.is_aside = false);
    result
}

/// Whether this task does what is no step.
pub(super) fn is_aside() -> bool {
    LEDGER.with_borrow(|ledger| ledger.is_aside)
}

/// Whether this task stands for another thread, so that nobody else runs.
pub(super) fn stands_for_another() -> bool {
    LEDGER.with_borrow(|ledger| ledger.stands_for.is_some())
}

pub(super) fn record_fence() {
    LEDGER.with_borrow_mut(|ledger| ledger.counts.fences += 1);
}

/// A thread has accessed a word, and changed it or not.
pub(super) fn record(address: usize, access: Access, has_changed: bool) {
    let woken = LEDGER.with_borrow_mut(|ledger| {
        let thread = ledger.stands_for.unwrap_or_else(tasks::number);
        let word = ledger.words.entry(address).or_default();
        if !ledger.is_closed {
            word.count(thread, access, &mut ledger.counts);
        }
        if access == Access::Load {
            if ledger.looks.len() <= thread {
                ledger.looks.resize_with(thread + 1, Vec::new);
            }
            ledger.looks[thread].push((address, word.changes));
        }
        if !has_changed {
            return Vec::new();
        }
        word.changes += 1;
        core::mem::take(&mut word.waiters)
    });
    for waiter in woken {
        waiter.wake();
    }
}

impl Word {
    fn count(&mut self, thread: usize, access: Access, counts: &mut Counts) {
        if self.accesses.len() <= thread {
            self.accesses.resize(thread + 1, 0);
        }
        self.accesses[thread] += 1;
        let is_remote = if access == Access::Load {
            let is_remote = !self.copies.contains(thread);
            self.copies.insert(thread);
            self.owner = self.owner.filter(|owner| *owner == thread);
            is_remote
        } else {
            let is_remote = self.owner != Some(thread);
            self.copies.clear();
            self.copies.insert(thread);
            self.owner = Some(thread);
            is_remote
        };
        counts.remote_with_caches += u64::from(is_remote);
        *match access {
            Access::Load => &mut counts.loads,
            Access::Store => &mut counts.stores,
            Access::ReadModifyWrite => &mut counts.read_modify_writes,
        } += 1;
    }
}

/// A thread begins to wait: what it looked at before does not matter.
pub(super) fn begin_to_look() {
    LEDGER.with_borrow_mut(|ledger| {
        let thread = ledger.stands_for.unwrap_or_else(tasks::number);
        if let Some(looks) = ledger.looks.get_mut(thread) {
            looks.clear();
        }
    });
}

/// Whether all that the thread has looked at is still so. Then it is a waiter at each of the words,
/// and spins on them as far as costs are concerned.
pub(super) fn has_seen_nothing_new(waiter: &Waiter) -> bool {
    LEDGER.with_borrow_mut(|ledger| {
        let thread = tasks::number();
        let looks = ledger.looks.get(thread).map_or(&[][..], Vec::as_slice);
        let is_old = |&(address, changes): &(usize, u64)| ledger.words[&address].changes == changes;
        if !looks.iter().all(is_old) {
            return false;
        }
        for (address, _) in looks {
            let word = ledger.words.get_mut(address).expect("it was looked at");
            word.spun.insert(thread);
            word.waiters.push(waiter.clone());
        }
        true
    })
}
