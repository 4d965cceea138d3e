//! Schedules by seed: the same seed chooses the same thread at each step.
//!
//! | seed | way | what it does |
//! |---|---|---|
//! | even | random | any thread at each step, or with some probability the one that ran |
//! | odd | PCT | the thread of the highest priority, with a few changes of priority |
//!
//! PCT is the randomized scheduler of Burckhardt, Kothari, Musuvathi and Nagarakatte (ASPLOS 2010):
//! it finds a bug that takes `d` orderings among `n` threads and `k` steps with a probability of at
//! least `1 / (n k^(d - 1))`. A thread that pauses gets the lowest priority, as one that waits must
//! not keep others from running.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

use crate::chance::Chance;
use crate::lock::counting::{self, Purpose};

std::thread_local!(static SEED: Cell<u64> = const { Cell::new(0) });

/// Where a schedule ends that goes on for ever.
const MOST_STEPS: usize = 1_000_000;

/// How many bytes of stack a task has: enough for a lock of 1024 seats, in a debug build too.
const STACK: usize = 1 << 19;

/// What went wrong, and in which schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed of the schedule.
    pub seed: u64,
    /// What the thread said that failed.
    pub what: String,
}

/// Runs `threads` once for each of so many seeds, from the first on. Says how many schedules there
/// were, or which was the first that failed.
///
/// # Errors
/// A thread panicked, all threads waited, or the schedule did not end.
pub fn explore(
    first: u64,
    schedules: u64,
    purpose: Purpose,
    threads: impl Fn(u64) + Send + Sync + 'static,
) -> Result<usize, Failure> {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = match purpose {
        Purpose::Costs { .. } => MaxSteps::None,
        Purpose::Mistakes => MaxSteps::FailAfter(MOST_STEPS),
    };
    config.silence_warnings = true;
    let seeds = Seeds { next: first, left: schedules, chooser: Chooser::new(first) };
    let threads = Arc::new(threads);
    let run = move || {
        Runner::new(seeds, config).run(move || {
            counting::begin(purpose);
            threads(SEED.get());
            assert!(counting::all_are_back(), "a line is not given back");
        })
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let what = panic.downcast_ref::<String>().cloned();
        let what = what.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
        Failure { seed: SEED.get(), what: what.unwrap_or_else(|| "a panic".to_owned()) }
    })
}

/// Seed after seed.
struct Seeds {
    next: u64,
    left: u64,
    chooser: Chooser,
}

impl Scheduler for Seeds {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        SEED.set(self.next);
        self.chooser = Chooser::new(self.next);
        self.next = self.next.wrapping_add(1);
        Some(Schedule::new(SEED.get()))
    }

    fn next_task(
        &mut self,
        tasks: &[&Task],
        current: Option<TaskId>,
        pauses: bool,
    ) -> Option<TaskId> {
        // A task that waits may be woken for nothing, as far as shuttle is concerned. Here it is
        // not: what it waits for has not happened.
        let ready = tasks.iter().filter(|task| !task.can_spuriously_wakeup());
        let ready = ready.map(|task| usize::from(task.id()));
        Some(TaskId::from(self.chooser.choose(ready, current.map(usize::from), pauses)))
    }

    fn next_u64(&mut self) -> u64 {
        self.chooser.chance.bits()
    }
}

/// Chooses who goes on.
struct Chooser {
    chance: Chance,
    way: Way,
}

enum Way {
    /// It stays with the thread that ran in so many of eight cases.
    Random { stays: usize },
    Pct {
        /// For each thread, by its number. The highest goes first.
        priorities: Vec<u64>,
        /// After how many steps the running thread gets the lowest.
        changes: Vec<u64>,
        step: u64,
        /// The lowest so far.
        lowest: u64,
    },
}

impl Chooser {
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let way = if seed.is_multiple_of(2) {
            Way::Random { stays: chance.pick(&[0, 4, 7]) }
        } else {
            let length = chance.pick(&[64, 256, 1024, 4096]);
            let depth = 1 + chance.below(5);
            let changes = (0..depth).map(|_| chance.below(length) as u64).collect();
            Way::Pct { priorities: Vec::new(), changes, step: 0, lowest: 1 << 32 }
        };
        Self { chance, way }
    }

    fn choose(
        &mut self,
        ready: impl Iterator<Item = usize> + Clone,
        current: Option<usize>,
        pauses: bool,
    ) -> usize {
        match &mut self.way {
            Way::Random { stays } => {
                let stays = !pauses && self.chance.below(8) < *stays;
                let stayer =
                    current.filter(|current| stays && ready.clone().any(|it| it == *current));
                stayer.unwrap_or_else(|| {
                    let index = self.chance.below(ready.clone().count());
                    ready.clone().nth(index).expect("it is below their number")
                })
            }
            Way::Pct { priorities, changes, step, lowest } => {
                let most = ready.clone().max().expect("some task is ready");
                while priorities.len() <= most.max(current.unwrap_or(0)) {
                    priorities.push((1 << 32) + (self.chance.bits() >> 32));
                }
                *step += 1;
                if let Some(current) = current.filter(|_| pauses || changes.contains(step)) {
                    *lowest -= 1;
                    priorities[current] = *lowest;
                }
                ready.max_by_key(|task| priorities[*task]).expect("some task is ready")
            }
        }
    }
}
