//! A start for several threads: all of them together, or none.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where threads wait until all are there. Unlike a barrier it can be called off, if one of them
/// cannot be started.
#[derive(Debug, Default)]
pub struct Start {
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gate {
    ready: usize,
    /// Whether they may begin, once that is decided.
    go: Option<bool>,
}

impl Start {
    /// Waits for the decision. Whether to begin.
    pub fn wait(&self) -> bool {
        let mut gate = self.gate();
        gate.ready += 1;
        self.changed.notify_all();
        loop {
            if let Some(go) = gate.go {
                return go;
            }
            gate = self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until this many threads are there. They go on waiting.
    pub fn gather(&self, threads: usize) {
        let mut gate = self.gate();
        while gate.ready < threads {
            gate = self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets them begin.
    pub fn go(&self) {
        self.decide(true);
    }

    /// Sends them home, also those that are still to come.
    pub fn call_off(&self) {
        self.decide(false);
    }

    fn decide(&self, go: bool) {
        self.gate().go = Some(go);
        self.changed.notify_all();
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_begin_when_all_are_there_or_go_home_when_it_is_called_off() {
        for begin in [true, false] {
            let start = Start::default();
            let begun = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| start.wait())).collect();
                if begin {
                    start.gather(3);
                    start.go();
                } else {
                    start.call_off();
                }
                let join = |thread: std::thread::ScopedJoinHandle<'_, bool>| {
                    thread.join().expect("it ends")
                };
                threads.into_iter().map(join).collect::<Vec<_>>()
            });
            assert_eq!(begun, [begin; 3]);
        }
    }
}
