//! What a crate that uses `exclusion` looks like when it checks its own code with loom: the mutex
//! is the same in both builds, only the threads and atomics around it come from loom in a test.

use exclusion::BakeryMutex;

/// Hands out each number once.
#[derive(Debug)]
pub struct Dispenser {
    next: BakeryMutex<u32>,
}

impl Dispenser {
    /// Starts at 0.
    pub fn new() -> Self {
        Self { next: BakeryMutex::new(0) }
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
        let mut next = self.next.try_lock()?;
        let number = *next;
        *next += 1;
        Some(number)
    }

    /// A mistake, to show that the tests would notice: another thread can draw between the two locks.
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

    #[test]
    fn nobody_draws_the_same_number() {
        loom::model(|| {
            let dispenser = Arc::new(Dispenser::new());
            let other = dispenser.clone();
            let theirs = thread::spawn(move || other.draw());
            let mine = dispenser.draw();
            assert_ne!(mine, theirs.join().unwrap());
            assert_eq!(dispenser.try_draw(), Some(2));
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

    #[test]
    fn guards_can_be_mapped_and_sent() {
        loom::model(|| {
            let pair = &*Box::leak(Box::new(TournamentMutex::new((0, 0))));
            let guard = lock_api_map(pair.lock());
            let other = thread::spawn(move || drop(guard));
            assert_eq!(pair.lock().1, 1);
            other.join().unwrap();
        });
    }

    /// Writes the second half of the pair and keeps only that half locked.
    fn lock_api_map(
        guard: exclusion::TournamentMutexGuard<'static, (u32, u32)>,
    ) -> exclusion::MappedTournamentMutexGuard<'static, u32> {
        let mut half = exclusion::TournamentMutexGuard::map(guard, |pair| &mut pair.1);
        *half = 1;
        half
    }
}
