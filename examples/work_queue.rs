//! A work queue behind one mutex, used by closures: who comes first is served first, and the
//! critical sections are run by whichever thread is running.
//!
//! ```sh
//! cargo run --example work_queue
//! ```

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use exclusion::BakeryMutex;

const PRODUCERS: u64 = 4;
const WORKERS: usize = 4;
const JOBS: u64 = 5_000;

/// Jobs that are to be done, and how many will still be brought.
struct Queue {
    jobs: VecDeque<u64>,
    to_come: u64,
}

/// What takes a while for each job that comes in.
fn stamp(job: u64) -> u64 {
    (0..300).fold(job, |stamp, round| black_box(stamp).rotate_left(5) ^ round)
}

fn main() {
    let queue = BakeryMutex::new(Queue { jobs: VecDeque::new(), to_come: PRODUCERS * JOBS });
    // How many closures were run, and how many of them by another thread than their own.
    let (run, run_by_others) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |owner: thread::ThreadId| {
        run.fetch_add(1, Relaxed);
        run_by_others.fetch_add(usize::from(thread::current().id() != owner), Relaxed);
    };

    let sum: u64 = thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let (queue, count) = (&queue, &count);
            scope.spawn(move || {
                let me = thread::current().id();
                for job in 0..JOBS {
                    queue.with(|queue| {
                        count(me);
                        stamp(job);
                        queue.jobs.push_back(producer * JOBS + job);
                        queue.to_come -= 1;
                    });
                }
            });
        }
        let work = || {
            let (me, mut sum) = (thread::current().id(), 0);
            loop {
                // What the closure returns comes back, whoever has run it.
                let (job, is_over) = queue.with(|queue| {
                    count(me);
                    (queue.jobs.pop_front(), queue.to_come == 0)
                });
                match job {
                    Some(job) => sum += job,
                    None if is_over => return sum,
                    None => thread::yield_now(),
                }
            }
        };
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("nobody panics")).sum()
    });

    let all = PRODUCERS * JOBS;
    assert_eq!(sum, all * (all - 1) / 2, "a job was lost, or done twice");
    println!(
        "{all} jobs went through the queue, each once; {} closures were run, {} of them by \
         another thread than their own",
        run.into_inner(),
        run_by_others.into_inner()
    );
}
