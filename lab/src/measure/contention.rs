//! Contention: how many entries, how evenly spread, and how long the waits.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::drive::{Round, measure};
use super::hogs::Hogs;
use super::subject::Subject;
use super::workload::Workload;

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

/// The name of a lock of the lab. By this name serde sees that a row lends nothing from the text
/// that it is read from.
pub type LockName = &'static str;

/// One line of the result: the medians over the rounds.
///
/// A wait is the time from the call to its return, less the critical section. Of workloads that are
/// shorter than a clock one wait in 64 is timed, of the others every one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The lock.
    #[serde(deserialize_with = "known_lock")]
    pub lock: LockName,
    /// Threads that contend.
    pub threads: usize,
    /// What they do.
    pub workload: Workload,
    /// Busy threads beside them.
    pub hogs: usize,
    /// How often it was measured.
    pub rounds: usize,
    /// Million entries per second.
    pub mops: f64,
    /// `mops` of the slowest round.
    pub mops_lowest: f64,
    /// `mops` of the fastest round.
    pub mops_highest: f64,
    /// `mops` over that of std, if it was measured.
    pub ratio_std: Option<f64>,
    /// `mops` over that of parking_lot, if it was measured.
    pub ratio_parking_lot: Option<f64>,
    /// Jain's index over the threads' entries: 1 is even, 1 / threads is one thread alone.
    pub jain: f64,
    /// The part of the entries that each thread got, the greatest first, in the round whose index
    /// is the middle one.
    #[serde(default)]
    pub shares: Vec<f64>,
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
    pub longest_ns: u64,
    /// The longest wait of the round whose longest is the shortest.
    pub longest_lowest_ns: u64,
    /// The longest wait of all rounds.
    pub longest_highest_ns: u64,
    /// The longest time of a round from a call until its critical section begins.
    pub begun_ns: u64,
    /// How often a thread was switched off its core, per entry, where the system says so.
    #[serde(default)]
    pub switches: Option<f64>,
}

/// A row that was kept names a lock that is still there.
fn known_lock<'de, D: Deserializer<'de>>(from: D) -> Result<LockName, D::Error> {
    let name = String::deserialize(from)?;
    let known = measurables().into_iter().find(|lock| lock.name == name);
    known
        .map(|lock| lock.name)
        .ok_or_else(|| serde::de::Error::custom(format_args!("no lock is called '{name}'")))
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
            (1.0, self.longest_ns),
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
    /// Busy threads beside them.
    pub hogs: usize,
    /// How long each lock is measured in each round.
    pub slice: Duration,
    /// How often the locks are measured in turn.
    pub rounds: usize,
}

/// Measures the locks in turn, round after round, so that other load of the machine affects all of
/// them alike. Calls `progress` before each measurement. A lock for fewer threads is left out.
///
/// # Errors
/// If the threads cannot be started, hogs among them.
pub fn contend(
    plan: &Plan,
    locks: &[Measurable],
    mut progress: impl FnMut(&'static str),
) -> io::Result<Vec<Row>> {
    let able: Vec<_> = locks.iter().filter(|lock| plan.threads <= lock.most_threads).collect();
    // Calibrated while nobody is in the way.
    plan.workload.work();
    let hogs = Hogs::start(plan.hogs)?;
    let mut rounds: Vec<Vec<Round>> = able.iter().map(|_| Vec::new()).collect();
    for round in 0..plan.rounds {
        for turn in 0..able.len() {
            // Each round starts with another lock, so that none is always the first.
            let index = (turn + round) % able.len();
            progress(able[index].name);
            rounds[index].push((able[index].measure)(plan.workload, plan.threads, plan.slice)?);
        }
    }
    drop(hogs);
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
    let mops = sorted(rounds.iter().map(|round| round.mops()));
    let longest = sorted(rounds.iter().map(|round| round.longest.as_nanos() as f64));
    let quantile =
        |q| median(rounds.iter().map(|round| round.waits.value_at_quantile(q) as f64)) as u64;
    let switches: Option<Vec<f64>> = rounds.iter().map(Round::switches_per_entry).collect();
    Row {
        lock,
        threads: plan.threads,
        workload: plan.workload,
        hogs: plan.hogs,
        rounds: rounds.len(),
        mops: median(mops.iter().copied()),
        mops_lowest: mops[0],
        mops_highest: mops[mops.len() - 1],
        ratio_std: None,
        ratio_parking_lot: None,
        jain: median(rounds.iter().map(|round| round.jain)),
        shares: typical_shares(&rounds),
        p50_ns: quantile(0.5),
        p90_ns: quantile(0.9),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        p9999_ns: quantile(0.9999),
        longest_ns: median(longest.iter().copied()) as u64,
        longest_lowest_ns: longest[0] as u64,
        longest_highest_ns: longest[longest.len() - 1] as u64,
        begun_ns: median(rounds.iter().map(|round| round.until_begun.as_nanos() as f64)) as u64,
        switches: switches.map(|switches| median(switches.into_iter())),
    }
}

/// The shares of the round in the middle, by how even they are.
fn typical_shares(rounds: &[Round]) -> Vec<f64> {
    let mut by_evenness: Vec<&Round> = rounds.iter().collect();
    by_evenness.sort_by(|one, other| one.jain.total_cmp(&other.jain));
    by_evenness.get(rounds.len() / 2).map_or_else(Vec::new, |round| round.shares.clone())
}

/// From the least to the greatest.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }
}
