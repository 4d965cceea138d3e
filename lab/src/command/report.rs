//! `lab report`, and the tour.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use exclusion::message::check::Outcome as Outcomes;
use exclusion::message::registry::{ALGORITHMS, Algorithm, ELECTIONS, Size};
use lab::count::criteria::Compare;
use lab::count::elections::sketch;
use lab::count::messages::{self, AtWaiting, Load, Measure};
use lab::draw::recovery::{self, Recovery};
use lab::draw::scene::SCENES;
use lab::draw::text::text;
use lab::explore::broken::{BROKEN, Broken, with_broken};
use lab::explore::exploration::{Explored, Shown};
use lab::explore::faults::{self, plagues, reach};
use lab::explore::scope::with_check;
use lab::explore::scopes::soon;
use lab::measure::contention::{Plan, Row, measurables};
use lab::measure::workload::Workload;
use lab::measure::{load, table};
use lab::report::{COUNTEREXAMPLE, Commands, Findings, page};

use super::check;
use super::destination::Destination;
use super::explore::Explore;
use super::locks::{self, Show};
use super::messages::usual_sizes;
use super::{Outcome, say, say_aside};

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
    say("exclusion: mutual exclusion from reads and writes, and from messages.\n\
         A tour of about a minute in five parts. The last one is a page with all of it.");
    report.make(Voice::Tour)
}

/// How much is told while the page is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// Everything, on the standard output.
    Tour,
    /// What is being done, on the standard error.
    Aside,
}

impl Voice {
    /// Tells something of the tour.
    fn tell(self, text: impl Display) {
        if self == Self::Tour {
            say(text);
        }
    }

    /// Begins a part: a heading on the tour, a line aside otherwise.
    fn begin(self, part: usize, heading: &str) {
        match self {
            Self::Tour => say(format_args!("\n{part} of 5. {heading}\n")),
            Self::Aside => say_aside(format_args!("{part} of 5: {heading}")),
        }
    }
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
        self.make(Voice::Aside)
    }

    /// Measures everything, and writes the page. Prints it too, on a tour.
    fn make(&self, voice: Voice) -> Outcome {
        locks::check_settings(self.seconds, self.rounds)?;
        let output = Destination::new(&self.output, "--output");
        if let (true, Some(folder)) = (self.output == Path::new(Self::PAGE), self.output.parent()) {
            // Creates the default folder only. A named folder must exist: its name may be a
            // mistake.
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        output.prepare()?;
        let mut findings = Findings::default();
        voice.begin(1, "A published algorithm, and what is wrong with it");
        if voice == Voice::Tour {
            show_counterexample();
        }
        voice.begin(2, "Locks beside their peers, all in the same run (`lab locks` has more)");
        findings.locks = self.measure_locks(voice)?;
        voice.begin(3, "Messages per entry, one node after the other (`lab messages` has more)");
        let counted = tell_messages(&mut findings, voice)?;
        voice.begin(4, "Every reachable state, explored (`lab check --all` goes further)");
        let checked = tell_explorations(&mut findings, voice)?;
        voice.begin(5, "The page");
        for scene in SCENES {
            let (trace, played) = scene.play()?;
            findings.sketches.push((scene, trace, played));
        }
        for election in ELECTIONS {
            findings.elections.push(sketch(election, election.nodes_to_show, Self::SEED)?);
        }
        for name in recovery::SHOWN {
            findings.recoveries.push(Recovery::of(name)?);
        }
        output.write(&page(&findings, &self.commands()))?;
        if output.is_standard_output() {
            say_aside("wrote the page to the standard output");
        } else {
            say(output.written());
        }
        voice.tell(
            "Open it in a browser: it has all of this as pictures, and every algorithm, every\n\
             counterexample and every election to step through.",
        );
        Ok(counted && checked)
    }

    fn measure_locks(&self, voice: Voice) -> Result<Vec<Row>, String> {
        if voice == Voice::Tour
            && let Some(warning) = load::warning()
        {
            // Among the figures, which it is about: the standard error may be elsewhere.
            say(format_args!("Warning: {warning}.\n"));
        }
        voice.tell(format_args!("{}\n", table::LEGEND));
        let rows = locks::measure(&self.plans(), &measurables(), |plan| {
            let shown = [(Workload::Uncontended, 1), (Workload::Short, 2), (Workload::Short, 8)];
            let shown = voice == Voice::Tour
                && plan.hogs == 0
                && shown.contains(&(plan.workload, plan.threads));
            if shown { Show::Tables } else { Show::Nothing }
        })?;
        let of = |lock: &str, hogs: usize| {
            let is_it = |row: &&Row| (row.lock, row.threads, row.hogs) == (lock, 8, hogs);
            rows.iter().filter(is_it).find(|row| row.workload == Workload::Short)
        };
        if let (Some(with), Some(strict), Some(std)) =
            (of("bakery_with", 0), of("bakery", 0), of("std", 0))
        {
            let wait = |row: &Row| format!("{:.1} ms", row.longest_ns as f64 / 1e6);
            voice.tell(format_args!(
                "So: with 8 threads `with` keeps the order of arrival at {:.2} of std's \
                 throughput,\nand `lock` at {:.2}. The longest waits: {}, {}; std: {}.",
                with.mops / std.mops,
                strict.mops / std.mops,
                wait(with),
                wait(strict),
                wait(std)
            ));
        }
        Ok(rows)
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

/// Explores one broken variant and draws how it fails: it takes no second.
fn show_counterexample() {
    let broken = Broken::named(COUNTEREXAMPLE).expect("it is listed");
    let explored = with_broken(COUNTEREXAMPLE, Explore::default()).expect("it is listed");
    let Some(Shown::Trace(trace)) = broken.counterexample(&explored) else { return };
    say(format_args!(
        "Maekawa 1985, three nodes, each in the quorums of the others. {} states were\n\
         explored; this is as short a way as any to where nothing goes on:\n",
        explored.states
    ));
    say(text(trace, explored.nodes, broken.violates));
    say("So: the rule as it was published deadlocks. What ships is remedied, and holds in every\n\
         state (`lab check maekawa`). This picture: `lab diagram maekawa_1985`.");
}

/// Counts messages. Whether all are within their formulas.
fn tell_messages(findings: &mut Findings, voice: Voice) -> Outcome {
    count_messages(findings)?;
    let largest =
        |row: &&messages::Row| row.load == Load::Alone && row.nodes == largest_of(row, findings);
    let shown: Vec<_> = findings.messages.iter().filter(largest).cloned().collect();
    voice.tell(messages::table(&shown));
    let within = findings.messages.iter().filter(|row| row.ok).count();
    let counted = findings.messages.len();
    voice.tell(format_args!(
        "So: an entry costs what its paper says. Of {counted} figures for all sizes and loads,\n\
         {within} are within their formulas."
    ));
    Ok(within == counted && findings.waiting.iter().all(|row| row.ok))
}

/// Explores what ships, what is broken on purpose, and what faults do. Whether it is as it should
/// be.
fn tell_explorations(findings: &mut Findings, voice: Voice) -> Outcome {
    findings.explored = explore(voice == Voice::Tour);
    let all = findings.explored.len();
    let holding = findings.explored.iter().filter(|explored| explored.verdict == "holds").count();
    findings.broken = refute();
    let refuted = findings.broken.iter().filter(|(broken, it)| broken.is_refuted(it)).count();
    for algorithm in ALGORITHMS.iter().filter(|it| it.arrangement.is_none() && reach(it).soon) {
        for plague in plagues(algorithm).map_err(|error| error.to_string())? {
            findings.faults.push(faults::explore(algorithm, plague)?);
        }
    }
    let befallen = findings.faults.iter().filter_map(|cell| cell.outcome);
    let harmless = befallen.clone().filter(|outcome| *outcome == Outcomes::Harmless).count();
    voice.tell(format_args!(
        "\nSo: {holding} of {all} explorations hold. The checker notices what is wrong: of {} \
         variants\nwith one wrong rule, {refuted} are refuted. And none of these algorithms \
         survives failures by\nitself: of {} single faults, {harmless} are harmless (`lab faults`).",
        BROKEN.len(),
        befallen.count()
    ));
    Ok(holding == all && refuted == BROKEN.len())
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
