//! The locks of the lab under criterion, for its reports: `cargo bench --bench locks`.
//!
//! - `uncontended`: one thread locks and unlocks.
//! - `short_2_threads`: two threads with about half a microsecond inside and outside each; the time
//!   is that of one entry, over both threads.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use criterion::{
    BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use crossbeam_utils::CachePadded;
use lab::each_subject;
use lab::measure::subject::Subject;
use lab::measure::workload::Workload;

fn uncontended<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    let mut subject = CachePadded::new(S::fresh());
    let mut handle = subject.handles(1).pop().expect("one handle");
    group.bench_function(S::NAME, |bencher| {
        bencher.iter(|| S::enter(&mut handle, |count| *count += 1))
    });
}

fn short_2_threads<S: Subject>(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.bench_function(S::NAME, |bencher| {
        bencher.iter_custom(|entries| time_of::<S>(2, entries, Workload::Short));
    });
}

/// How long `threads` threads take for about `entries` entries in all.
fn time_of<S: Subject>(threads: usize, entries: u64, workload: Workload) -> Duration {
    let work = workload.work();
    let mut subject = CachePadded::new(S::fresh());
    let start = Barrier::new(threads + 1);
    let each = entries.div_ceil(threads as u64);
    let took = std::thread::scope(|scope| {
        for mut handle in subject.handles(threads) {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for _ in 0..each {
                    S::enter(&mut handle, move |count| {
                        *count += 1;
                        work.run();
                    });
                    work.run();
                }
            });
        }
        start.wait();
        Instant::now()
    })
    .elapsed();
    // The threads did `each` entries apiece, which may be a few more than were asked for.
    took.mul_f64(entries as f64 / (each * threads as u64) as f64)
}

fn locks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("uncontended");
    macro_rules! bench {
        ($subject:ty) => {
            uncontended::<$subject>(&mut group)
        };
    }
    each_subject!(bench);
    group.finish();

    let mut group = criterion.benchmark_group("short_2_threads");
    group
        .sample_size(20)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
    macro_rules! bench {
        ($subject:ty) => {
            short_2_threads::<$subject>(&mut group)
        };
    }
    each_subject!(bench);
    group.finish();
}

criterion_group!(benches, locks);
criterion_main!(benches);
