//! `lab cost`.

use std::path::PathBuf;

use clap::Args;
use counted::subjects::THREADS;
use indicatif::{ProgressBar, ProgressStyle};
use lab::cost::{chart, chosen, rows, tables};

use super::destination::Destination;
use super::{Outcome, say, say_aside, say_json};

#[derive(Args)]
#[command(after_help = "\
Per entry, on counted registers: loads without looks that find nothing new, stores, fences, and
remote memory references where caches are coherent (cc) and where each word lies with a thread
(dsm). Where a thread spins on a word that lies with another there is no bound.

Examples:
  cargo lab cost
  cargo lab cost bakery tournament --threads 2,64,1024
  cargo lab cost bakery_mutex --threads 2,8 --json
  cargo lab cost tournament --threads 2,4,8 --chart cost.svg")]
pub(crate) struct CostCommand {
    /// Locks to count [default: all]
    #[arg(value_name = "LOCK")]
    locks: Vec<String>,
    /// Numbers of threads, powers of two from 2 to 1024, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Print one JSON object per row instead of tables
    #[arg(long)]
    json: bool,
    /// Also draw it, as SVG, into this file
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

impl CostCommand {
    /// Counts, prints the rows, and says whether all costs grow as claimed.
    pub(crate) fn run(&self) -> Outcome {
        let locks = chosen(&self.locks)?;
        let threads = self.chosen_threads()?;
        let destination = self.chart.as_deref().map(|path| Destination::new(path, "--chart"));
        destination.map_or(Ok(()), Destination::prepare)?;
        // Draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new((2 * threads.len() * locks.len()) as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a sound template"),
        );
        let mut all = Vec::new();
        for lock in locks {
            let rows = rows(lock, &threads, |threads| {
                bar.set_message(format!("{}, {threads} threads", lock.name));
                bar.inc(1);
            });
            if self.json {
                bar.suspend(|| rows.iter().for_each(say_json));
            }
            all.extend(rows);
        }
        bar.finish_and_clear();
        if !self.json {
            say(tables(&all));
        }
        if let Some(destination) = destination {
            destination.write(&chart(&all))?;
            say_aside(destination.written());
        }
        Ok(all.iter().all(|row| row.ok))
    }

    /// In ascending order, each once.
    fn chosen_threads(&self) -> Result<Vec<usize>, String> {
        if self.threads.is_empty() {
            return Ok(THREADS.to_vec());
        }
        if self.threads.iter().any(|threads| !THREADS.contains(threads)) {
            return Err("--threads takes powers of two, from 2 to 1024".to_owned());
        }
        let mut threads = self.threads.clone();
        threads.sort_unstable();
        threads.dedup();
        Ok(threads)
    }
}
