//! What a crate that uses `exclusion` looks like when it checks its own code with loom: the mutex
//! is the same in both builds, only the threads and atomics around it come from loom in a test.
//!
//! It has a cfg of its own, `loom`, and asks for the loom build of `exclusion` beside it:
//!
//! ```text
//! RUSTFLAGS="--cfg loom --cfg exclusion_loom" cargo test --release
//! ```
//!
//! With `--cfg loom` alone `exclusion` stays as it is, so that a crate whose loom tests have
//! nothing to do with `exclusion` need not know of it.

use exclusion::BakeryMutex;
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Hands out each number once.
#[derive(Debug)]
pub struct Dispenser {
    next: BakeryMutex<u32>,
    /// How many were asked for when another thread was drawing.
    refused: AtomicU32,
}

/// One for the whole program. A loom test makes its own: under loom there are no atomics in
/// statics.
#[cfg(not(loom))]
pub static DISPENSER: Dispenser =
    Dispenser { next: BakeryMutex::new(0), refused: AtomicU32::new(0) };

impl Dispenser {
    /// Starts at 0.
    pub fn new() -> Self {
        Self { next: BakeryMutex::new(0), refused: AtomicU32::new(0) }
    }

    /// The next number.
    pub fn draw(&self) -> u32 {
        let mut next = self.next.lock();
        let number = *next;
        *next += 1;
        number
    }

    /// The next number, unless somebody else is drawing.
    pub fn try_draw(&self) -> Option<u32> {
        let Some(mut next) = self.next.try_lock() else {
            self.refused.fetch_add(1, Relaxed);
            return None;
        };
        let number = *next;
        *next += 1;
        Some(number)
    }

    /// How often [`try_draw`](Self::try_draw) got nothing.
    pub fn refused(&self) -> u32 {
        self.refused.load(Relaxed)
    }

    /// A mistake, to show that the tests would notice: another thread can draw between the two
    /// locks.
    pub fn draw_carelessly(&self) -> u32 {
        let number = *self.next.lock();
        *self.next.lock() += 1;
        number
    }
}

impl Default for Dispenser {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use exclusion::TournamentMutex;
    use loom::sync::Arc;
    use loom::thread;
    use std::io::Write;
    use std::sync::atomic::AtomicUsize;

    /// Runs a model and says how many executions it took.
    fn model(name: &str, run: impl Fn() + Send + Sync + 'static) {
        let executions = std::sync::Arc::new(AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&executions);
        loom::model(move || {
            counted.fetch_add(1, Relaxed);
            run();
        });
        let executions = executions.load(Relaxed);
        // Past the test harness, which would keep it from who runs the tests.
        writeln!(std::io::stderr(), "holds    {name:44} {executions:9} executions  exhaustive")
            .expect("stderr is writable");
    }

    #[test]
    fn nobody_draws_the_same_number() {
        model("downstream::nobody_draws_the_same_number", || {
            let dispenser = Arc::new(Dispenser::new());
            let other = dispenser.clone();
            let theirs = thread::spawn(move || other.draw());
            let mine = dispenser.draw();
            assert_ne!(mine, theirs.join().unwrap());
            assert_eq!(dispenser.try_draw(), Some(2));
        });
    }

    #[test]
    fn a_number_is_drawn_or_the_refusal_counted() {
        model("downstream::a_number_is_drawn_or_the_refusal_counted", || {
            let dispenser = Arc::new(Dispenser::new());
            let other = dispenser.clone();
            let theirs = thread::spawn(move || other.try_draw());
            let mine = dispenser.try_draw();
            let drawn = [mine, theirs.join().unwrap()].into_iter().flatten().count() as u32;
            assert_eq!(drawn + dispenser.refused(), 2);
            assert_eq!(dispenser.draw(), drawn);
        });
    }

    #[test]
    #[should_panic(expected = "assertion `left != right` failed")]
    fn drawing_carelessly_is_found_out() {
        loom::model(|| {
            let dispenser = Arc::new(Dispenser::new());
            let other = dispenser.clone();
            let theirs = thread::spawn(move || other.draw_carelessly());
            let mine = dispenser.draw_carelessly();
            assert_ne!(mine, theirs.join().unwrap());
        });
    }

    /// What a user's own bounds ask for.
    fn is_send_and_sync<T: Send + Sync>(_: &T) {}

    #[test]
    fn guards_can_be_mapped_and_sent() {
        model("downstream::guards_can_be_mapped_and_sent", || {
            let pair = &*Box::leak(Box::new(TournamentMutex::new((0, 0))));
            is_send_and_sync(pair);
            let guard = second_half(pair.lock());
            is_send_and_sync(&guard);
            let other = thread::spawn(move || drop(guard));
            assert_eq!(pair.lock().1, 1);
            other.join().unwrap();
        });
    }

    /// Writes the second half of the pair and keeps only that half locked.
    fn second_half(
        guard: exclusion::TournamentMutexGuard<'static, (u32, u32)>,
    ) -> exclusion::MappedTournamentMutexGuard<'static, u32> {
        let mut half = exclusion::TournamentMutexGuard::map(guard, |pair| &mut pair.1);
        *half = 1;
        half
    }
}
