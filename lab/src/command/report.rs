//! `lab report`, and the tour.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Size};
use lab::count::criteria::Compare;
use lab::count::messages::{self, AtWaiting, Load, Measure};
use lab::draw::scene::SCENES;
use lab::explore::broken::{BROKEN, Broken, with_broken};
use lab::explore::exploration::Explored;
use lab::explore::scope::with_check;
use lab::explore::scopes::soon;
use lab::measure::contention::{Plan, measurables};
use lab::measure::workload::Workload;
use lab::report::{COUNTEREXAMPLE, Commands, Findings, page};

use super::check;
use super::destination::Destination;
use super::explore::Explore;
use super::locks::{self, Show};
use super::messages::usual_sizes;
use super::{Outcome, say};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo lab report
  cargo lab report --output exclusion.html
  cargo lab report --rounds 9 --seconds 0.25")]
pub(crate) struct ReportCommand {
    /// Where to write the page; `-` is the standard output
    #[arg(long, default_value = ReportCommand::PAGE)]
    output: PathBuf,
    /// How long to measure each lock in each round
    #[arg(long, default_value_t = Self::SECONDS)]
    seconds: f64,
    /// How many rounds: each measures all locks in turn, and the figures are medians over the
    /// rounds
    #[arg(long, default_value_t = Self::ROUNDS)]
    rounds: usize,
}

/// A tour of about a minute, printed as it goes.
pub(crate) fn tour() -> Outcome {
    let (seconds, rounds) = (ReportCommand::SECONDS, ReportCommand::ROUNDS);
    let report = ReportCommand { output: PathBuf::from(ReportCommand::PAGE), seconds, rounds };
    say("exclusion: mutual exclusion from reads and writes, and from messages. \
         A tour of about a minute.\n");
    report.make(true)
}

impl ReportCommand {
    const PAGE: &str = "target/report.html";
    const SECONDS: f64 = 0.08;
    const ROUNDS: usize = 3;
    const THREADS: [usize; 4] = [1, 2, 8, 16];
    /// How many threads contend beside the hogs.
    const BUSY_THREADS: usize = 8;
    const HOGS: usize = 2;
    /// Few waiting requests, so that the one message by which the thesis differs can be seen.
    const WAITING: [usize; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const WAITING_NODES: usize = 10;
    const SEED: u64 = 1;

    pub(crate) fn run(&self) -> Outcome {
        self.make(false)
    }

    /// Measures everything, and writes the page. Prints it too, on a tour.
    fn make(&self, aloud: bool) -> Outcome {
        locks::check_settings(self.seconds, self.rounds)?;
        let output = Destination::new(&self.output, "--output");
        if let (true, Some(folder)) = (self.output == Path::new(Self::PAGE), self.output.parent()) {
            // Creates the default folder only. A named folder must exist: its name may be a
            // mistake.
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        output.prepare()?;
        let tell = |text: &str| {
            if aloud {
                say(text);
            }
        };
        let mut findings = Findings::default();
        tell("Locks beside their peers, all in the same run (`lab locks` measures more):\n");
        findings.locks = locks::measure(&self.plans(), &measurables(), |plan| {
            let shown = [(Workload::Uncontended, 1), (Workload::Short, 2), (Workload::Short, 8)];
            let shown = aloud && plan.hogs == 0 && shown.contains(&(plan.workload, plan.threads));
            if shown { Show::Tables } else { Show::Nothing }
        })?;

        tell(
            "Messages per entry beside their formulas, one node after the other \
             (`lab messages` has other loads):\n",
        );
        count_messages(&mut findings)?;
        let largest = |row: &&messages::Row| {
            row.load == Load::Alone && row.nodes == largest_of(row, &findings)
        };
        let shown: Vec<_> = findings.messages.iter().filter(largest).cloned().collect();
        tell(&messages::table(&shown));
        let within = findings.messages.iter().filter(|row| row.ok).count();
        let counted = findings.messages.len();
        let waiting_ok = findings.waiting.iter().all(|row| row.ok);
        tell(&format!(
            "Of {counted} figures for all sizes and loads, {within} are within their formulas.\n"
        ));

        tell("Every reachable state, explored (`lab check --all` goes further):\n");
        let explored = explore(aloud);
        let holding = explored.iter().filter(|explored| explored.verdict == "holds").count();
        tell(&format!("Of {} explorations, {holding} hold.\n", explored.len()));
        let all_hold = holding == explored.len();
        findings.explored = explored;

        findings.broken = refute();
        let refuted = findings.broken.iter().filter(|(broken, it)| broken.is_refuted(it)).count();
        let all_refuted = refuted == BROKEN.len();
        tell(&format!(
            "Of {} variants that are broken on purpose, {refuted} are refuted. One of them:\n",
            BROKEN.len()
        ));
        for (broken, explored) in findings.broken.iter().filter(|(it, _)| it.name == COUNTEREXAMPLE)
        {
            let how = broken.counterexample(explored).map(ToString::to_string).unwrap_or_default();
            tell(&format!("{}: {}. In the fewest steps:\n{how}", broken.name, broken.why));
        }

        for scene in SCENES {
            findings.sketches.push((scene, scene.trace()?));
        }
        output.write(&page(&findings, &self.commands()))?;
        if !output.is_standard_output() {
            say(output.written());
        }
        tell(
            "Open it in a browser: it has all of this as pictures, and a diagram of every \
             algorithm.",
        );
        Ok(within == counted && waiting_ok && all_hold && all_refuted)
    }

    fn plans(&self) -> Vec<Plan> {
        let slice = Duration::from_secs_f64(self.seconds);
        let rounds = self.rounds;
        let plan = |workload, threads, hogs| Plan { workload, threads, hogs, slice, rounds };
        let contended = [Workload::Short, Workload::Long];
        let quiet = contended
            .into_iter()
            .flat_map(|workload| Self::THREADS.map(|threads| plan(workload, threads, 0)));
        let busy = contended.map(|workload| plan(workload, Self::BUSY_THREADS, Self::HOGS));
        let uncontended = plan(Workload::Uncontended, 1, 0);
        std::iter::once(uncontended).chain(quiet).chain(busy).collect()
    }

    /// What to type to measure the same by itself.
    fn commands(&self) -> Commands {
        let list =
            |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let Self { seconds, rounds, .. } = self;
        let measured = format!("--rounds {rounds} --seconds {seconds}");
        Commands {
            uncontended: format!("locks --workloads uncontended {measured}"),
            contended: format!(
                "locks --workloads short,long --threads {} {measured}",
                list(&Self::THREADS)
            ),
            busy: format!(
                "locks --workloads short,long --threads {} --hogs {} {measured}",
                Self::BUSY_THREADS,
                Self::HOGS
            ),
            messages: "messages --loads alone,light,saturated".to_owned(),
            waiting: format!(
                "messages --nodes {} --waiting {}",
                Self::WAITING_NODES,
                list(&Self::WAITING)
            ),
            criteria: "messages --criteria --json".to_owned(),
        }
    }
}

/// The largest size that was measured of the same algorithm.
fn largest_of(row: &messages::Row, findings: &Findings) -> usize {
    let same = findings.messages.iter().filter(|other| other.algorithm == row.algorithm);
    same.map(|other| other.nodes).max().unwrap_or(row.nodes)
}

fn count_messages(findings: &mut Findings) -> Result<(), String> {
    let seed = ReportCommand::SEED;
    for algorithm in ALGORITHMS {
        let sizes = usual_sizes(algorithm);
        for &size in &sizes {
            for load in [Load::Alone, Load::Light, Load::Saturated] {
                let row = algorithm.build(size, Measure { load, seed });
                findings.messages.push(row.map_err(|error| error.to_string())?);
            }
        }
        if let Some(&largest) = sizes.last() {
            let row = algorithm.build(largest, Compare { seed });
            findings.criteria.push(row.map_err(|error| error.to_string())?);
        }
    }
    for name in ["banta_efficient", "banta_k"] {
        let algorithm = Algorithm::named(name).map_err(|error| error.to_string())?;
        for waiting in ReportCommand::WAITING {
            let size = Size::of(ReportCommand::WAITING_NODES);
            let row = algorithm.build(size, AtWaiting(waiting));
            findings.waiting.push(row.map_err(|error| error.to_string())??);
        }
    }
    Ok(())
}

fn explore(aloud: bool) -> Vec<Explored> {
    let shown = ["bakery", "tournament", "lamport", "ricart_agrawala", "maekawa", "naimi_trehel"];
    if aloud {
        say(check::heading());
    }
    let explored = soon().into_iter().map(|(name, scope)| {
        let explored = with_check(name, &scope, Explore::default()).expect("it can be explored");
        if aloud && (shown.contains(&name) || explored.verdict != "holds") {
            say(check::row(&explored));
        }
        explored
    });
    explored.collect()
}

fn refute() -> Vec<(Broken, Explored)> {
    let refute = |&broken: &Broken| {
        (broken, with_broken(broken.name, Explore::default()).expect("it is listed"))
    };
    BROKEN.iter().map(refute).collect()
}
