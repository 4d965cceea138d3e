//! Contention: how many entries, how evenly spread, and how long the waits.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use serde::Serialize;

use super::start::Start;
use super::subject::Subject;
use super::workload::{Work, Workload};

/// The name of a subject and how to measure it.
#[derive(Clone, Copy)]
pub struct Measurable {
    /// Its name.
    pub name: &'static str,
    /// How many threads can use it at a time.
    pub most_threads: usize,
    measure: fn(Workload, usize, Duration) -> io::Result<Round>,
}

/// Every lock of the lab, in the order of the tables.
pub fn measurables() -> Vec<Measurable> {
    let mut all = Vec::new();
    macro_rules! add {
        ($subject:ty) => {
            all.push(Measurable {
                name: <$subject>::NAME,
                most_threads: <$subject>::MOST_THREADS,
                measure: measure::<$subject>,
            })
        };
    }
    crate::each_subject!(add);
    all
}

/// What one measurement of one lock gave.
struct Round {
    /// Million entries per second.
    mops: f64,
    jain: f64,
    waits: Histogram<u64>,
}

/// One line of the result: the medians over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The lock.
    pub lock: &'static str,
    /// Threads that contend.
    pub threads: usize,
    /// What they do.
    pub workload: Workload,
    /// Million entries per second.
    pub mops: f64,
    /// The spread of `mops` over the rounds: (highest - lowest) / median.
    pub spread: f64,
    /// `mops` over that of std, if it was measured.
    pub ratio_std: Option<f64>,
    /// `mops` over that of parking_lot, if it was measured.
    pub ratio_parking_lot: Option<f64>,
    /// Jain's index over the threads' entries: 1 is even, 1 / threads is one thread alone.
    pub jain: f64,
    /// Half of the waits are shorter, in nanoseconds.
    pub p50_ns: u64,
    /// 9 in 10 waits are shorter.
    pub p90_ns: u64,
    /// 99 in 100 waits are shorter.
    pub p99_ns: u64,
    /// 999 in 1000 waits are shorter.
    pub p999_ns: u64,
    /// 9999 in 10000 waits are shorter.
    pub p9999_ns: u64,
    /// The longest wait of a round.
    pub max_ns: u64,
}

impl Row {
    /// Which part of the waits is no longer than how many nanoseconds.
    pub fn waits(&self) -> [(f64, u64); 6] {
        [
            (0.5, self.p50_ns),
            (0.9, self.p90_ns),
            (0.99, self.p99_ns),
            (0.999, self.p999_ns),
            (0.9999, self.p9999_ns),
            (1.0, self.max_ns),
        ]
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The workload.
    pub workload: Workload,
    /// Threads that contend.
    pub threads: usize,
    /// How long each lock is measured in each round.
    pub slice: Duration,
    /// How often the locks are measured in turn.
    pub rounds: usize,
}

/// Measures the locks in turn, round after round, so that other load of the machine affects all of
/// them alike. Calls `progress` before each measurement. A lock for fewer threads is left out.
///
/// # Errors
/// If the threads cannot be started.
pub fn contend(
    plan: &Plan,
    locks: &[Measurable],
    mut progress: impl FnMut(&'static str),
) -> io::Result<Vec<Row>> {
    let able: Vec<_> = locks.iter().filter(|lock| plan.threads <= lock.most_threads).collect();
    let mut rounds: Vec<Vec<Round>> = able.iter().map(|_| Vec::new()).collect();
    for round in 0..plan.rounds {
        for turn in 0..able.len() {
            // Each round starts with another lock, so that none is always the first.
            let index = (turn + round) % able.len();
            progress(able[index].name);
            rounds[index].push((able[index].measure)(plan.workload, plan.threads, plan.slice)?);
        }
    }
    let mut rows: Vec<_> =
        able.iter().zip(rounds).map(|(lock, rounds)| summary(plan, lock.name, rounds)).collect();
    let mops_of = |name| rows.iter().find(|row| row.lock == name).map(|row| row.mops);
    let (std, parking_lot) = (mops_of("std"), mops_of("parking_lot"));
    for row in &mut rows {
        row.ratio_std = std.map(|std| row.mops / std);
        row.ratio_parking_lot = parking_lot.map(|parking_lot| row.mops / parking_lot);
    }
    Ok(rows)
}

fn summary(plan: &Plan, lock: &'static str, rounds: Vec<Round>) -> Row {
    let mops = sorted(rounds.iter().map(|round| round.mops));
    let quantile =
        |q| median(rounds.iter().map(|round| round.waits.value_at_quantile(q) as f64)) as u64;
    Row {
        lock,
        threads: plan.threads,
        workload: plan.workload,
        mops: median(mops.iter().copied()),
        spread: (mops[mops.len() - 1] - mops[0]) / median(mops.iter().copied()),
        ratio_std: None,
        ratio_parking_lot: None,
        jain: median(rounds.iter().map(|round| round.jain)),
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        p9999_ns: quantile(0.9999),
        max_ns: quantile(1.0),
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The middle one, or the mean of the two in the middle.
///
/// # Panics
/// If there are none.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let values = sorted(values);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// What one thread saw.
struct Seen {
    entries: u64,
    waits: Histogram<u64>,
}

fn measure<S: Subject>(workload: Workload, threads: usize, slice: Duration) -> io::Result<Round> {
    let work = workload.work();
    // On cache lines of its own, so that no lock is measured together with what happens to lie
    // beside it.
    let mut subject = CachePadded::new(S::fresh());
    let start = Start::default();
    let stop = AtomicBool::new(false);
    let (elapsed, seen) = std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for mut handle in subject.handles(threads) {
            let (start, stop) = (&start, &stop);
            let worker = Builder::new().spawn_scoped(scope, move || {
                // None if it was called off.
                start.wait().then(|| {
                    if workload.is_shorter_than_a_clock() {
                        in_batches::<S>(&mut handle, stop)
                    } else {
                        one_by_one::<S>(&mut handle, work, stop)
                    }
                })
            });
            workers.push(worker.inspect_err(|_| start.call_off())?);
        }
        start.gather(threads);
        // Read before the workers start: a main thread that is late would flatter them.
        let began = Instant::now();
        start.go();
        std::thread::sleep(slice);
        stop.store(true, Relaxed);
        let elapsed = began.elapsed();
        let seen = workers.into_iter().filter_map(|it| it.join().expect("nobody panics"));
        io::Result::Ok((elapsed, seen.collect::<Vec<_>>()))
    })?;

    let entries: u64 = seen.iter().map(|seen| seen.entries).sum();
    let mut waits = histogram();
    for seen in &seen {
        waits.add(&seen.waits).expect("one kind of histogram");
    }
    Ok(Round {
        mops: entries as f64 / elapsed.as_secs_f64() / 1e6,
        jain: jain(&seen.iter().map(|seen| seen.entries).collect::<Vec<_>>()),
        waits,
    })
}

/// Jain's index: the square of the sum over the number times the sum of the squares; 0 for no
/// entries.
fn jain(entries: &[u64]) -> f64 {
    let sum: f64 = entries.iter().map(|&count| count as f64).sum();
    let squares: f64 = entries.iter().map(|&count| (count as f64).powi(2)).sum();
    if sum == 0.0 { 0.0 } else { sum.powi(2) / (entries.len() as f64 * squares) }
}

/// From a nanosecond to a minute, to three digits.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("sound bounds")
}

fn timed_entry<S: Subject>(handle: &mut S::Handle<'_>, work: Work, waits: &mut Histogram<u64>) {
    let called = Instant::now();
    let waited = S::enter(handle, |count| {
        let waited = called.elapsed();
        *count += 1;
        work.run();
        waited
    });
    waits.saturating_record(waited.as_nanos().max(1) as u64);
}

/// Every entry timed.
fn one_by_one<S: Subject>(handle: &mut S::Handle<'_>, work: Work, stop: &AtomicBool) -> Seen {
    let mut seen = Seen { entries: 0, waits: histogram() };
    while !stop.load(Relaxed) {
        timed_entry::<S>(handle, work, &mut seen.waits);
        seen.entries += 1;
        work.run();
    }
    seen
}

/// One entry in 64 timed: the clock takes longer than an uncontended lock.
fn in_batches<S: Subject>(handle: &mut S::Handle<'_>, stop: &AtomicBool) -> Seen {
    const BATCH: u64 = 64;
    let mut seen = Seen { entries: 0, waits: histogram() };
    while !stop.load(Relaxed) {
        for _ in 1..BATCH {
            S::enter(handle, |count| *count += 1);
        }
        timed_entry::<S>(handle, Workload::Hot.work(), &mut seen.waits);
        seen.entries += BATCH;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_runs_from_one_alone_to_all_alike() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[1, 3]), 0.8);
        assert_eq!(jain(&[0, 0]), 0.0);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }
}
