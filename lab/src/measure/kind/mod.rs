//! What stands beside the mutexes: condition variables, read-write locks and semaphores, each
//! beside its peers.
//!
//! A kind has scenes: what the threads do, and how many there are. In each scene the candidates
//! take turns, round after round, as the mutexes do.

mod condvar;
mod rwlock;
mod semaphore;
pub mod table;

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::contention::{median, sorted};
use super::drive::Round;
use super::hogs::Hogs;
use super::workload::Workload;

/// A kind of lock that is no mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Condition variables, each with its mutex
    Condvar,
    /// Read-write locks
    Rwlock,
    /// Semaphores
    Semaphore,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Condvar, Self::Rwlock, Self::Semaphore];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Condvar => "condvar",
            Self::Rwlock => "rwlock",
            Self::Semaphore => "semaphore",
        }
    }

    /// Its scenes.
    pub fn scenes(self) -> Vec<Scene> {
        match self {
            Self::Condvar => condvar::scenes(),
            Self::Rwlock => rwlock::scenes(),
            Self::Semaphore => semaphore::scenes(),
        }
    }

    /// The names of all that are measured, each once, ours first.
    pub fn candidates(self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for candidate in self.scenes().iter().flat_map(|scene| &scene.candidates) {
            if !names.contains(&candidate.name) {
                names.push(candidate.name);
            }
        }
        names
    }
}

/// What the threads do, and with what.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The name on the command line and in the tables.
    pub name: &'static str,
    /// How many threads take part.
    pub threads: usize,
    /// What a wait is here.
    pub wait: &'static str,
    /// What is measured.
    pub candidates: Vec<Candidate>,
}

/// A lock in a scene.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The name on the command line and in the tables.
    pub name: &'static str,
    measure: fn(usize, Duration) -> io::Result<Round>,
}

/// One line of the result: the medians over the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kind.
    pub kind: Kind,
    /// The lock.
    pub lock: String,
    /// The scene.
    pub scene: String,
    /// Threads that take part.
    pub threads: usize,
    /// Busy threads beside them.
    pub hogs: usize,
    /// How often it was measured.
    pub rounds: usize,
    /// Million entries per second. What an entry is, the scene says.
    pub mops: f64,
    /// `mops` of the slowest round.
    pub mops_lowest: f64,
    /// `mops` of the fastest round.
    pub mops_highest: f64,
    /// `mops` over that of std, if it was measured.
    pub ratio_std: Option<f64>,
    /// `mops` over that of parking_lot, if it was measured.
    pub ratio_parking_lot: Option<f64>,
    /// `mops` over that of tokio, if it was measured.
    pub ratio_tokio: Option<f64>,
    /// Half of the waits are shorter, in nanoseconds. 0 where no waits are timed.
    pub p50_ns: u64,
    /// 99 in 100 waits are shorter.
    pub p99_ns: u64,
    /// 999 in 1000 waits are shorter.
    pub p999_ns: u64,
    /// The longest wait of a round.
    pub longest_ns: u64,
    /// The longest wait of the round whose longest is the shortest.
    pub longest_lowest_ns: u64,
    /// The longest wait of all rounds.
    pub longest_highest_ns: u64,
    /// `longest_ns` over that of std, if it was measured.
    pub longest_ratio_std: Option<f64>,
    /// How often a thread was switched off its core, per entry, where the system says so.
    pub switches: Option<f64>,
}

/// How to measure a scene.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Busy threads beside those of the scene.
    pub hogs: usize,
    /// How long each candidate is measured in each round.
    pub slice: Duration,
    /// How often they are measured in turn.
    pub rounds: usize,
}

/// Measures the candidates of a scene in turn. Calls `progress` before each measurement.
///
/// # Errors
/// If the threads cannot be started, hogs among them.
pub fn play(
    kind: Kind,
    scene: &Scene,
    effort: Effort,
    mut progress: impl FnMut(&'static str),
) -> io::Result<Vec<Row>> {
    // Calibrated while nobody is in the way.
    Workload::Short.work();
    let hogs = Hogs::start(effort.hogs)?;
    let candidates = &scene.candidates;
    let mut rounds: Vec<Vec<Round>> = candidates.iter().map(|_| Vec::new()).collect();
    for round in 0..effort.rounds {
        for turn in 0..candidates.len() {
            // Each round starts with another one, so that none is always the first.
            let index = (turn + round) % candidates.len();
            progress(candidates[index].name);
            rounds[index].push((candidates[index].measure)(scene.threads, effort.slice)?);
        }
    }
    drop(hogs);
    let mut rows: Vec<_> = candidates
        .iter()
        .zip(rounds)
        .map(|(candidate, rounds)| summary(kind, scene, effort, candidate.name, &rounds))
        .collect();
    compare(&mut rows);
    Ok(rows)
}

/// Fills in the ratios.
fn compare(rows: &mut [Row]) {
    let of = |rows: &[Row], name: &str, figure: fn(&Row) -> f64| {
        rows.iter().find(|row| row.lock == name).map(figure).filter(|figure| *figure > 0.0)
    };
    let mops = |row: &Row| row.mops;
    let [std, parking_lot, tokio] =
        ["std", "parking_lot", "tokio"].map(|name| of(rows, name, mops));
    let longest = of(rows, "std", |row| row.longest_ns as f64);
    for row in rows {
        row.ratio_std = std.map(|std| row.mops / std);
        row.ratio_parking_lot = parking_lot.map(|parking_lot| row.mops / parking_lot);
        row.ratio_tokio = tokio.map(|tokio| row.mops / tokio);
        row.longest_ratio_std = longest.map(|longest| row.longest_ns as f64 / longest);
    }
}

fn summary(kind: Kind, scene: &Scene, effort: Effort, lock: &str, rounds: &[Round]) -> Row {
    let mops = sorted(rounds.iter().map(Round::mops));
    let longest = sorted(rounds.iter().map(|round| round.longest.as_nanos() as f64));
    let quantile =
        |q| median(rounds.iter().map(|round| round.waits.value_at_quantile(q) as f64)) as u64;
    let switches: Option<Vec<f64>> = rounds.iter().map(Round::switches_per_entry).collect();
    Row {
        kind,
        lock: lock.to_owned(),
        scene: scene.name.to_owned(),
        threads: scene.threads,
        hogs: effort.hogs,
        rounds: rounds.len(),
        mops: median(mops.iter().copied()),
        mops_lowest: mops[0],
        mops_highest: mops[mops.len() - 1],
        ratio_std: None,
        ratio_parking_lot: None,
        ratio_tokio: None,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        longest_ns: median(longest.iter().copied()) as u64,
        longest_lowest_ns: longest[0] as u64,
        longest_highest_ns: longest[longest.len() - 1] as u64,
        longest_ratio_std: None,
        switches: switches.map(|switches| median(switches.into_iter())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where others have the cores, a thread may get none for a whole slice. So it may try again.
    #[test]
    fn every_scene_of_every_kind_ends_and_counts_entries() {
        for kind in Kind::ALL {
            for scene in kind.scenes() {
                let mut slices = (0..10).map(|doubled| Duration::from_millis(5 << doubled));
                let rows = slices.find_map(|slice| {
                    let effort = Effort { hogs: 0, slice, rounds: 1 };
                    let rows = play(kind, &scene, effort, |_| {}).expect("few threads");
                    rows.iter().all(|row| row.mops > 0.0).then_some(rows)
                });
                let rows = rows.expect("entries of everybody in some seconds");
                assert_eq!(rows.len(), scene.candidates.len());
                for row in rows {
                    assert_eq!(row.longest_ns > 0, row.p50_ns > 0, "{row:?}");
                }
            }
        }
    }

    #[test]
    fn ratios_are_to_the_peers_that_were_measured() {
        let scene = &Kind::Rwlock.scenes()[0];
        let effort = Effort { hogs: 0, slice: Duration::from_millis(1), rounds: 1 };
        let mut rows = play(Kind::Rwlock, scene, effort, |_| {}).expect("few threads");
        for (index, row) in rows.iter_mut().enumerate() {
            (row.mops, row.longest_ns) = ((index + 1) as f64, 10 * (index + 1) as u64);
        }
        compare(&mut rows);
        let std = rows.iter().position(|row| row.lock == "std").expect("a peer") + 1;
        assert_eq!(rows[0].ratio_std, Some(1.0 / std as f64));
        assert_eq!(rows[0].longest_ratio_std, Some(1.0 / std as f64));
        assert_eq!(rows[0].ratio_tokio, None);
    }
}
