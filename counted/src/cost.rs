//! What an entry costs, by the number of threads.

use std::sync::{Arc, Mutex};

use shuttle::sync::Barrier;
use shuttle::thread;

use crate::lock::counting::{self, Counts, Purpose};
use crate::schedule::explore;
use crate::subjects::{Entrance, Subject};

/// Who contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// The threads enter in turn, and nobody waits.
    Uncontended,
    /// All threads enter at the same time, and again as soon as they have left.
    Contended,
}

impl Load {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Contended => "contended",
        }
    }
}

/// How a cost grows with the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// It does not.
    Constant,
    /// With the logarithm.
    Logarithmic,
    /// With the number.
    Linear,
    /// With its square.
    Quadratic,
    /// A thread spins on a word that lies with another.
    Unbounded,
}

impl Growth {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "O(1)",
            Self::Logarithmic => "O(log n)",
            Self::Linear => "O(n)",
            Self::Quadratic => "O(n^2)",
            Self::Unbounded => "unbounded",
        }
    }

    fn of(self, threads: usize) -> f64 {
        let threads = threads as f64;
        match self {
            Self::Constant => 1.0,
            Self::Logarithmic => threads.log2(),
            Self::Linear => threads,
            Self::Quadratic => threads * threads,
            Self::Unbounded => f64::INFINITY,
        }
    }

    /// The least that these costs, by numbers of threads in ascending order, stay within. None is
    /// unbounded.
    ///
    /// From the first to the last a cost may grow twice as much as the class says. The first is the
    /// one with eight threads, if there are more: constants blur what is below. Whether that tells
    /// one class from another, [`is_told_by`](Self::is_told_by) says.
    pub fn seen(costs: &[(usize, Option<f64>)]) -> Self {
        let beyond = costs.iter().rev().skip(1).rfind(|(threads, _)| *threads >= 8);
        let first = beyond.or(costs.first());
        let (Some(&(few, least)), Some(&(many, most))) = (first, costs.last()) else {
            return Self::Constant;
        };
        let (Some(least), Some(most)) = (least, most) else { return Self::Unbounded };
        let classes = [Self::Constant, Self::Logarithmic, Self::Linear, Self::Quadratic];
        let fits = |class: &Self| most <= 2.0 * least.max(1.0) * class.of(many) / class.of(few);
        classes.into_iter().find(fits).unwrap_or(Self::Unbounded)
    }

    /// Whether costs by these numbers of threads, in ascending order, tell the classes apart. From
    /// eight threads on, a logarithm must more than double.
    pub fn is_told_by(threads: &[usize]) -> bool {
        threads.contains(&8) && threads.last().is_some_and(|&most| most >= 128)
    }
}

/// What an entry costs, on average.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Loads, without looks that find nothing new.
    pub loads: f64,
    /// Stores.
    pub stores: f64,
    /// Read-modify-writes.
    pub read_modify_writes: f64,
    /// Full fences.
    pub fences: f64,
    /// Remote references where caches are coherent.
    pub with_caches: f64,
    /// Remote references where each word lies with a thread. None if there is no bound.
    pub without_caches: Option<f64>,
}

impl Cost {
    fn new(counts: Counts, entries: usize) -> Self {
        let per_entry = |count: u64| count as f64 / entries as f64;
        Self {
            loads: per_entry(counts.loads),
            stores: per_entry(counts.stores),
            read_modify_writes: per_entry(counts.read_modify_writes),
            fences: per_entry(counts.fences),
            with_caches: per_entry(counts.remote_with_caches),
            without_caches: counts.remote_without_caches.map(per_entry),
        }
    }

    /// All accesses.
    pub fn accesses(&self) -> f64 {
        self.loads + self.stores + self.read_modify_writes
    }
}

/// The schedule under which all contend: a random one, the same each time.
const SEED: u64 = 18;

/// How often each thread enters. Many threads make many entries anyway.
fn rounds(threads: usize) -> usize {
    if threads <= 64 { 4 } else { 1 }
}

/// How many accesses there are to a choice of the scheduler, where many threads make each choice
/// long.
fn pace(threads: usize) -> usize {
    1 + threads / 64
}

/// What an entry into that lock costs among so many threads. None if it is not for so many.
///
/// # Panics
/// When the lock lets two in, or none.
pub fn count(subject: Subject, threads: usize, load: Load) -> Option<Cost> {
    let result = Arc::new(Mutex::new(None));
    let told = Arc::clone(&result);
    let run = move |_| {
        let entrances = (subject.entrances)(threads);
        let cost = entrances.map(|entrances| match load {
            Load::Uncontended => in_turn(entrances),
            Load::Contended => all_at_once(entrances),
        });
        *told.lock().expect("nobody panics here") = cost;
    };
    let outcome = explore(SEED, 1, Purpose::Costs { pace: pace(threads) }, run);
    outcome.unwrap_or_else(|failure| panic!("{}: {}", subject.name, failure.what));
    result.lock().expect("nobody panics here").take()
}

/// One round in which the caches fill, and others that are counted.
fn in_turn(mut entrances: Vec<Entrance>) -> Cost {
    let threads = entrances.len();
    for round in 0..=rounds(threads) {
        if round == 1 {
            counting::clear();
        }
        for (thread, enter) in entrances.iter_mut().enumerate() {
            counting::stand_for(thread, || enter(&mut || ()));
        }
    }
    Cost::new(counting::counts(), threads * rounds(threads))
}

fn all_at_once(entrances: Vec<Entrance>) -> Cost {
    let threads = entrances.len();
    // To take the seats is no part of an entry.
    counting::clear();
    let start = Arc::new(Barrier::new(threads));
    let run = |mut enter: Entrance| {
        let start = Arc::clone(&start);
        thread::spawn(move || {
            start.wait();
            for _ in 0..rounds(threads) {
                // Inside, the others get on.
                enter(&mut || {
                    for _ in 0..threads.min(16) {
                        thread::yield_now();
                    }
                });
            }
        })
    };
    let handles: Vec<_> = entrances.into_iter().map(run).collect();
    for handle in handles {
        handle.join().expect("no thread panics");
    }
    Cost::new(counting::counts(), threads * rounds(threads))
}
