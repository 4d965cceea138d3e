//! `lab locks`.

use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use lab::measure::contention::{Measurable, Plan, Row, contend, measurables};
use lab::measure::table::table;
use lab::measure::workload::Workload;

use super::{Outcome, say, say_json};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab locks
  cargo lab locks --locks bakery,std,parking_lot --workloads short --threads 2,8,32
  cargo lab locks --seconds 1 --rounds 9 --json")]
pub(crate) struct Locks {
    /// Locks to measure, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    locks: Vec<String>,
    /// Numbers of threads, separated by commas [default: chosen for each workload]
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Workloads, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<Workload>,
    /// How long to measure each lock in each round
    #[arg(long, default_value_t = 0.2)]
    seconds: f64,
    /// How many rounds: each measures all locks in turn, and the figures are medians over the
    /// rounds
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Print one JSON object per row instead of tables
    #[arg(long)]
    json: bool,
}

impl Locks {
    /// Each thread keeps a histogram of its waits, and more threads would show nothing new.
    const MOST_THREADS: usize = 1024;

    pub(crate) fn run(&self) -> Outcome {
        let locks = self.chosen_locks()?;
        check_settings(self.seconds, self.rounds)?;
        if self.threads.iter().any(|threads| !(1..=Self::MOST_THREADS).contains(threads)) {
            return Err(format!("--threads takes 1 or more, and at most {}", Self::MOST_THREADS));
        }
        let workloads = if self.workloads.is_empty() {
            &[Workload::Uncontended, Workload::Hot, Workload::Short, Workload::Long][..]
        } else {
            &self.workloads
        };
        let mut plans = Vec::new();
        for &workload in workloads {
            let threads =
                if self.threads.is_empty() { workload.usual_threads() } else { &self.threads };
            for &threads in threads {
                let slice = Duration::from_secs_f64(self.seconds);
                plans.push(Plan { workload, threads, slice, rounds: self.rounds });
            }
        }
        let show = if self.json { Show::Json } else { Show::Tables };
        measure(&plans, &locks, |_| show)?;
        Ok(true)
    }

    fn chosen_locks(&self) -> Result<Vec<Measurable>, String> {
        let all = measurables();
        if self.locks.is_empty() {
            return Ok(all);
        }
        self.locks
            .iter()
            .map(|name| {
                all.iter().find(|lock| lock.name == name).copied().ok_or_else(|| {
                    let names: Vec<_> = all.iter().map(|lock| lock.name).collect();
                    format!("no lock is called '{name}'; there are {}", names.join(", "))
                })
            })
            .collect()
    }
}

/// Checks the duration and the number of rounds.
pub(super) fn check_settings(seconds: f64, rounds: usize) -> Result<(), String> {
    if !(seconds > 0.0 && seconds <= 3600.0) {
        return Err("--seconds takes more than 0 and at most 3600".to_owned());
    }
    if rounds == 0 {
        return Err("--rounds takes 1 or more".to_owned());
    }
    Ok(())
}

/// What to show of what was measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Show {
    Tables,
    Json,
    Nothing,
}

/// Measures plan after plan, with progress.
pub(super) fn measure(
    plans: &[Plan],
    locks: &[Measurable],
    show: impl Fn(&Plan) -> Show,
) -> Result<Vec<Row>, String> {
    let steps: usize = plans.iter().map(|plan| plan.rounds * locks.len()).sum();
    // Draws nothing where stderr is not a terminal.
    let bar = ProgressBar::new(steps as u64).with_style(
        ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)")
            .expect("a sound template"),
    );
    let mut all = Vec::new();
    for plan in plans {
        let rows = contend(plan, locks, |lock| {
            bar.set_message(format!("{}, {} threads: {lock}", plan.workload.name(), plan.threads));
            bar.inc(1);
        })
        .map_err(|error| {
            format!("{} threads cannot be started ({error}): take fewer", plan.threads)
        })?;
        bar.suspend(|| match show(plan) {
            Show::Json => rows.iter().for_each(say_json),
            Show::Tables if rows.is_empty() => say(format_args!(
                "{}, {} threads: none of the chosen locks is for so many\n",
                plan.workload.name(),
                plan.threads
            )),
            Show::Tables => say(table(&rows)),
            Show::Nothing => {}
        });
        all.extend(rows);
    }
    bar.finish_and_clear();
    Ok(all)
}
