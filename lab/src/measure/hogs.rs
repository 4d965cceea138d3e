//! Busy threads beside what is measured: a machine has other things to do than one lock.

use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, JoinHandle};

use crossbeam_utils::CachePadded;

/// Threads that compute and never wait. They end when this is dropped.
#[derive(Debug)]
pub(super) struct Hogs {
    /// On cache lines of its own: nothing but the order to stop touches it.
    stop: Arc<CachePadded<AtomicBool>>,
    threads: Vec<JoinHandle<()>>,
}

impl Hogs {
    /// Starts so many.
    ///
    /// # Errors
    /// If so many threads cannot be had. Those that were started have ended then.
    pub(super) fn start(number: usize) -> io::Result<Self> {
        let mut hogs = Self { stop: Arc::default(), threads: Vec::new() };
        for _ in 0..number {
            let stop = Arc::clone(&hogs.stop);
            let hog = Builder::new().name("hog".to_owned());
            hogs.threads.push(hog.spawn(move || compute_until(&stop))?);
        }
        Ok(hogs)
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("a hog has nothing to panic about");
        }
    }
}

/// Computes in registers alone, so that a hog takes a core and nothing else.
fn compute_until(stop: &AtomicBool) {
    let mut value = 1_u64;
    while !stop.load(Relaxed) {
        for _ in 0..1000 {
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005));
        }
    }
    black_box(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hogs_are_busy_until_they_are_dropped() {
        let hogs = Hogs::start(3).expect("three threads");
        assert_eq!(hogs.threads.len(), 3);
        std::thread::yield_now();
        assert!(hogs.threads.iter().all(|hog| !hog.is_finished()), "a hog stopped by itself");
        let stop = Arc::clone(&hogs.stop);
        assert_eq!(Arc::strong_count(&stop), 5, "each hog has the flag");
        drop(hogs);
        // A thread gives its share back when it ends.
        assert_eq!(Arc::strong_count(&stop), 1, "a hog goes on");
    }
}
