//! `lab locks`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lab::measure::contention::{Measurable, Plan, Row, contend, measurables};
use lab::measure::kind::Kind;
use lab::measure::table::{setting, table};
use lab::measure::workload::Workload;
use lab::measure::{load, markdown};
use serde::de::DeserializeOwned;

use super::kinds::{self, Measurement};
use super::{Outcome, names, say, say_json};

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AnyKind {
    /// Mutexes
    Mutex,
    /// Condition variables, each with its mutex
    Condvar,
    /// Read-write locks
    Rwlock,
    /// Semaphores
    Semaphore,
}

impl AnyKind {
    /// None for mutexes.
    fn other(self) -> Option<Kind> {
        match self {
            Self::Mutex => None,
            Self::Condvar => Some(Kind::Condvar),
            Self::Rwlock => Some(Kind::Rwlock),
            Self::Semaphore => Some(Kind::Semaphore),
        }
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab locks
  cargo lab locks --locks bakery,std,parking_lot --workloads short --threads 2,8,32
  cargo lab locks --hogs 2 --workloads short,long
  cargo lab locks --seconds 1 --rounds 9 --json
  cargo lab locks --from quiet.json,busy.json --markdown
  cargo lab locks --kind condvar
  cargo lab locks --kind rwlock --scenes mostly_reads_8 --rounds 9")]
pub(crate) struct Locks {
    /// What to measure
    #[arg(long, value_enum, default_value = "mutex")]
    kind: AnyKind,
    /// Locks to measure, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_parser = names::name)]
    locks: Vec<String>,
    /// Numbers of threads, separated by commas [default: chosen for each workload]
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Workloads, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<Workload>,
    /// Scenes of another kind than the mutex, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    scenes: Vec<String>,
    /// Busy threads beside those that contend
    #[arg(long, default_value_t = 0)]
    hogs: usize,
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
    /// Print the tables of the documentation instead: a line per lock, a column per setting
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Measure nothing, and show what was kept with `--json` in these files, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "FILES", conflicts_with_all = [
        "locks", "threads", "workloads", "scenes", "hogs", "seconds", "rounds",
    ])]
    from: Vec<PathBuf>,
}

impl Locks {
    /// Each thread keeps a histogram of its waits, and more threads would show nothing new.
    const MOST_THREADS: usize = 1024;

    pub(crate) fn run(&self) -> Outcome {
        let show = match (self.json, self.markdown) {
            (true, _) => Show::Json,
            (_, true) => Show::Nothing,
            _ => Show::Tables,
        };
        if let Some(kind) = self.kind.other() {
            return self.run_other(kind, show);
        }
        if !self.scenes.is_empty() {
            return Err("--scenes are of another --kind: mutexes have --workloads".to_owned());
        }
        let rows = if self.from.is_empty() {
            let locks = self.chosen_locks()?;
            measure(&self.plans()?, &locks, |_| show)?
        } else {
            let rows: Vec<Row> = kept(&self.from)?;
            rows.chunk_by(|one, other| setting(one) == setting(other))
                .for_each(|it| tell(it, show));
            rows
        };
        if self.markdown {
            say(markdown::tables(&rows));
        }
        Ok(true)
    }

    /// Measures or shows what is no mutex.
    fn run_other(&self, kind: Kind, show: Show) -> Outcome {
        if !(self.workloads.is_empty() && self.threads.is_empty()) {
            return Err("--workloads and --threads are for mutexes: choose --scenes".to_owned());
        }
        if !self.from.is_empty() {
            return kinds::show_kept(kind, &self.from, show);
        }
        check_settings(self.seconds, self.rounds)?;
        self.check_hogs()?;
        let Self { locks, scenes, hogs, seconds, rounds, .. } = self;
        let (hogs, seconds, rounds) = (*hogs, *seconds, *rounds);
        kinds::run(&Measurement { kind, locks, scenes, hogs, seconds, rounds }, show)
    }

    fn check_hogs(&self) -> Result<(), String> {
        if self.hogs > Self::MOST_THREADS {
            return Err(format!("--hogs takes at most {}", Self::MOST_THREADS));
        }
        Ok(())
    }

    /// What to measure, if all of it can be.
    fn plans(&self) -> Result<Vec<Plan>, String> {
        check_settings(self.seconds, self.rounds)?;
        if self.threads.iter().any(|threads| !(1..=Self::MOST_THREADS).contains(threads)) {
            return Err(format!("--threads takes 1 or more, and at most {}", Self::MOST_THREADS));
        }
        self.check_hogs()?;
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
                let (hogs, rounds) = (self.hogs, self.rounds);
                plans.push(Plan { workload, threads, hogs, slice, rounds });
            }
        }
        Ok(plans)
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
                    let nearest = names::did_you_mean(name);
                    format!("{nearest}no lock is called '{name}'; there are {}", names.join(", "))
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

/// Reads rows that were kept.
pub(super) fn kept<R: DeserializeOwned>(files: &[PathBuf]) -> Result<Vec<R>, String> {
    let mut rows = Vec::new();
    for file in files {
        let wrong = |why: String| format!("{} cannot be read ({why})", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        for (index, line) in text.lines().enumerate() {
            let row = serde_json::from_str(line).map_err(|error| {
                wrong(format!("line {}: {error}", index + 1)) + ": keep what `locks --json` prints"
            })?;
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Shows the rows of one setting.
fn tell(rows: &[Row], show: Show) {
    match show {
        Show::Json => rows.iter().for_each(say_json),
        Show::Tables => say(table(rows)),
        Show::Nothing => {}
    }
}

/// Measures plan after plan, with progress. Says first if the machine has no time for it.
pub(super) fn measure(
    plans: &[Plan],
    locks: &[Measurable],
    show: impl Fn(&Plan) -> Show,
) -> Result<Vec<Row>, String> {
    if let Some(warning) = load::warning() {
        eprintln!("warning: {warning}");
    }
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
            let threads = plan.threads + plan.hogs;
            format!("{threads} threads cannot be started ({error}): take fewer")
        })?;
        bar.suspend(|| match show(plan) {
            Show::Tables if rows.is_empty() => say(format_args!(
                "{}, {} threads: none of the chosen locks is for so many\n",
                plan.workload.name(),
                plan.threads
            )),
            show => tell(&rows, show),
        });
        all.extend(rows);
    }
    bar.finish_and_clear();
    Ok(all)
}
