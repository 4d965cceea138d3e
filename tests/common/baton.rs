//! Contenders that run one at a time, so that a schedule can be written down and replayed.
//!
//! Whoever holds the baton runs. It passes the baton on where it would wait, and wherever the test
//! says so. The schedule decides which thread gets it next.

use std::sync::{Condvar, Mutex};

use exclusion::lock::raw::{Place, Waiting, Withdrawn};

pub struct Baton {
    state: Mutex<State>,
    passed: Condvar,
}

struct State {
    holder: usize,
    finished: Vec<bool>,
    schedule: Box<dyn Iterator<Item = usize> + Send>,
    passes: usize,
    abandoned: bool,
}

/// More passes than any test here makes: beyond it nobody gets on.
const MOST_PASSES: usize = 100_000;

impl Baton {
    /// Runs `contenders` copies of `run`, each with its number, by `schedule`: an endless sequence
    /// of numbers, each taken modulo the number of threads that can still run.
    pub fn race(
        contenders: usize,
        schedule: impl Iterator<Item = usize> + Send + 'static,
        run: impl Fn(Runner<'_>) + Sync,
    ) {
        let baton = Self {
            state: Mutex::new(State {
                holder: 0,
                finished: vec![false; contenders],
                schedule: Box::new(schedule),
                passes: 0,
                abandoned: false,
            }),
            passed: Condvar::new(),
        };
        std::thread::scope(|scope| {
            for number in 0..contenders {
                let (baton, run) = (&baton, &run);
                scope.spawn(move || {
                    let _finish = Finish(baton, number);
                    baton.await_turn(number);
                    run(Runner { baton, number });
                });
            }
        });
    }

    fn await_turn(&self, number: usize) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while state.holder != number && !state.abandoned {
            state = self.passed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        assert!(!state.abandoned, "another contender failed");
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.passes += 1;
        assert!(state.passes < MOST_PASSES, "nobody gets on");
        let able: Vec<_> = (0..state.finished.len()).filter(|&n| !state.finished[n]).collect();
        if !able.is_empty() {
            let next = state.schedule.next().expect("an endless schedule");
            state.holder = able[next % able.len()];
        }
        self.passed.notify_all();
    }
}

/// Ends a contender's part, also when it panics.
struct Finish<'a>(&'a Baton, usize);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.finished[self.1] = true;
        state.abandoned |= std::thread::panicking();
        drop(state);
        if !std::thread::panicking() {
            self.0.pass();
        }
        self.0.passed.notify_all();
    }
}

/// A contender's hold on the baton.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    baton: &'a Baton,
    pub number: usize,
}

impl Runner<'_> {
    /// Lets others run.
    pub fn pass(&self) {
        self.baton.pass();
        self.baton.await_turn(self.number);
    }
}

/// Waits by passing the baton, for ever or for a number of looks.
pub struct Patience<'a> {
    pub runner: Runner<'a>,
    pub looks: Option<usize>,
}

impl Waiting for Patience<'_> {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let mut looks = 0;
        while !ready() {
            if self.looks == Some(looks) {
                return Err(Withdrawn);
            }
            looks += 1;
            self.runner.pass();
        }
        Ok(())
    }
}
