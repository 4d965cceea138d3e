//! Readers and writers of a cache: readers read beside each other, and a writer that comes is
//! served before the readers that come after it.
//!
//! ```sh
//! cargo run --example cache
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use exclusion::BakeryRwLock;

fn main() {
    let cache = BakeryRwLock::new(HashMap::from([("answer", 0)]));
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let longest = thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    assert!(cache.read()["answer"] <= 42);
                    reads.fetch_add(1, Relaxed);
                }
            });
        }
        let waits = (1..=42).map(|answer| {
            let start = Instant::now();
            cache.write().insert("answer", answer);
            thread::sleep(Duration::from_millis(1));
            start.elapsed()
        });
        let longest = waits.max().expect("42 writes");
        done.store(true, Relaxed);
        longest
    });
    println!(
        "6 readers made {} reads beside 42 writes; no write was starved, the slowest took {longest:?}",
        reads.into_inner()
    );
}
