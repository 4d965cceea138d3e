//! One program, written against `parking_lot`, compiled with it and with this crate: only the `use`
//! line differs.
//!
//! ```sh
//! cargo run --example both_ways
//! ```

/// A cache that threads read, a queue that they fill, and a condition that says that it is full.
macro_rules! program {
    () => {
        use std::collections::HashMap;
        use std::thread;
        use std::time::Duration;

        static CACHE: RwLock<Vec<u32>> = RwLock::new(Vec::new());
        static DONE: Mutex<usize> = Mutex::new(0);
        static ALL_DONE: Condvar = Condvar::new();

        pub fn run() -> (usize, u32) {
            let squares: Mutex<HashMap<u32, u32>> = Mutex::default();
            thread::scope(|scope| {
                for number in 0..8 {
                    let squares = &squares;
                    scope.spawn(move || {
                        squares.lock().insert(number, number * number);
                        CACHE.write().push(number);
                        *DONE.lock() += 1;
                        ALL_DONE.notify_all();
                    });
                }
                let mut done = DONE.lock();
                let far = Duration::from_secs(60);
                let wait = ALL_DONE.wait_while_for(&mut done, |done| *done < 8, far);
                assert!(!wait.timed_out());
            });
            (CACHE.read().len(), squares.into_inner().values().sum())
        }
    };
}

mod theirs {
    use parking_lot::{Condvar, Mutex, RwLock};

    program!();
}

mod ours {
    use exclusion::{BakeryCondvar as Condvar, BakeryMutex as Mutex, BakeryRwLock as RwLock};

    program!();
}

fn main() {
    let (theirs, ours) = (theirs::run(), ours::run());
    assert_eq!(theirs, ours);
    println!("with parking_lot: {theirs:?}, with exclusion: {ours:?}; only `use` differs");
}
