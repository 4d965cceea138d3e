//! What an entry costs by the number of threads, beside what the lock claims.

use std::fmt::Write;

use counted::cost::{Cost, Growth, Load, count};
use counted::subjects::{Subject, subjects};
use serde::Serialize;

use crate::draw::chart::{Axis, Chart, Mark, Series};
use crate::draw::palette::colour;

/// Which accesses are remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Model {
    /// Those that no cache answers.
    #[serde(rename = "cc")]
    CacheCoherent,
    /// Those of words that lie with another thread.
    #[serde(rename = "dsm")]
    DistributedSharedMemory,
}

impl Model {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::CacheCoherent => "cc",
            Self::DistributedSharedMemory => "dsm",
        }
    }
}

/// What an entry costs under a load and by a model. Numbers are means per entry.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The lock.
    pub lock: &'static str,
    /// How many threads there are.
    pub threads: usize,
    /// Whether they contend.
    pub load: &'static str,
    /// Which accesses are remote.
    pub model: Model,
    /// Loads, without looks that find nothing new.
    pub loads: f64,
    /// Stores.
    pub stores: f64,
    /// Read-modify-writes.
    pub read_modify_writes: f64,
    /// Full fences.
    pub fences: f64,
    /// Remote memory references; none if there is no bound.
    pub remote: Option<f64>,
    /// How the cost is claimed to grow.
    pub claim: &'static str,
    /// How it is seen to grow, from eight threads to the most; none if those are too few to tell.
    pub growth: Option<&'static str>,
    /// Whether it grows no faster than claimed.
    pub ok: bool,
}

/// The locks of these names; all of them if there is none.
///
/// # Errors
/// If no lock has such a name.
pub fn chosen(names: &[String]) -> Result<Vec<Subject>, String> {
    let all = subjects();
    if names.is_empty() {
        return Ok(all);
    }
    let named = |name: &String| {
        all.iter().find(|subject| subject.name == name).copied().ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|subject| subject.name).collect();
            format!("no lock is called '{name}'; there are {}", names.join(", "))
        })
    };
    names.iter().map(named).collect()
}

/// Counts a lock for each number of threads, in ascending order. `tell` hears of each.
pub fn rows(subject: Subject, threads: &[usize], mut tell: impl FnMut(usize)) -> Vec<Row> {
    let mut rows = Vec::new();
    for (load, claim) in [Load::Uncontended, Load::Contended].into_iter().zip(subject.claims) {
        let mut costs = Vec::new();
        for &threads in threads {
            costs.extend(count(subject, threads, load).map(|cost| (threads, cost)));
            tell(threads);
        }
        let seen = |cost: fn(&Cost) -> Option<f64>| {
            let costs: Vec<_> = costs.iter().map(|(threads, it)| (*threads, cost(it))).collect();
            Growth::seen(&costs)
        };
        let with_caches = seen(|cost| Some(cost.with_caches)).max(seen(|it| Some(it.accesses())));
        let without_caches = seen(|cost| cost.without_caches);
        for (number, cost) in &costs {
            let row = |model, remote, claim: Growth, growth: Growth| Row {
                lock: subject.name,
                threads: *number,
                load: load.name(),
                model,
                loads: cost.loads,
                stores: cost.stores,
                read_modify_writes: cost.read_modify_writes,
                fences: cost.fences,
                remote,
                claim: claim.name(),
                growth: Growth::is_told_by(threads).then_some(growth.name()),
                ok: growth <= claim,
            };
            let remote = Some(cost.with_caches);
            rows.push(row(Model::CacheCoherent, remote, claim.with_caches, with_caches));
            let (model, remote) = (Model::DistributedSharedMemory, cost.without_caches);
            rows.push(row(model, remote, claim.without_caches, without_caches));
        }
    }
    rows
}

/// A table for each load and model: a line per lock, a column per number of threads, in remote
/// references per entry. It is Markdown, as it stands in the documentation.
pub fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    for load in [Load::Uncontended, Load::Contended] {
        for model in [Model::CacheCoherent, Model::DistributedSharedMemory] {
            let its: Vec<_> =
                rows.iter().filter(|row| row.load == load.name() && row.model == model).collect();
            let threads: std::collections::BTreeSet<_> =
                its.iter().map(|row| row.threads).collect();
            let heading = match model {
                Model::CacheCoherent => "caches coherent",
                Model::DistributedSharedMemory => "distributed shared memory",
            };
            let load = match load {
                Load::Uncontended => "Uncontended",
                Load::Contended => "Contended",
            };
            write!(text, "{load}, {heading}, remote references per entry:\n\n")
                .expect("a string takes it");
            let mut line = |cells: &mut dyn Iterator<Item = String>| {
                let cells: Vec<_> = cells.collect();
                writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes it");
            };
            let numbers = threads.iter().map(|number| format!("{number:>7}"));
            let ends = ["claim", "seen"].map(|end| format!("{end:9}"));
            line(&mut [format!("{:20}", "lock")].into_iter().chain(numbers).chain(ends));
            let dashes = threads.iter().map(|_| "------:".to_owned());
            let ends = ["---------"; 2].map(str::to_owned);
            line(&mut ["-".repeat(20)].into_iter().chain(dashes).chain(ends));
            for row in its.chunk_by(|one, other| one.lock == other.lock) {
                let cell = |number: &usize| {
                    let found = row.iter().find(|row| row.threads == *number);
                    let remote = found.map(|row| row.remote);
                    let text = match remote {
                        None => "-".to_owned(),
                        Some(None) => "∞".to_owned(),
                        Some(Some(remote)) => format!("{remote:.1}"),
                    };
                    format!("{text:>7}")
                };
                let growth = if row[0].ok { "" } else { " (!)" };
                let seen = row[0].growth.unwrap_or("-");
                let ends = [row[0].claim.to_owned(), format!("{seen}{growth}")];
                let ends = ends.map(|end| format!("{end:9}"));
                let name = [format!("{:20}", row[0].lock)];
                line(&mut name.into_iter().chain(threads.iter().map(cell)).chain(ends));
            }
            text.push('\n');
        }
    }
    text
}

/// Remote references with all contending and coherent caches, over the number of threads, beside
/// the number itself and its logarithm.
pub fn chart(rows: &[Row]) -> String {
    const SIZE: (u32, u32) = (900, 560);
    let is_drawn = |row: &&Row| row.load == "contended" && row.model == Model::CacheCoherent;
    let drawn: Vec<_> = rows.iter().filter(is_drawn).collect();
    let mut threads: Vec<_> = drawn.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    if threads.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = drawn.chunk_by(|one, other| one.lock == other.lock).collect();
    let point = |row: &&Row| (row.threads as f64, row.remote.unwrap_or(f64::INFINITY));
    let mut series: Vec<_> = lines
        .iter()
        .enumerate()
        .map(|(colour, rows)| {
            let points = rows.iter().map(point).collect();
            Series { colour, mark: Mark::Line, points }
        })
        .collect();
    let theory = |of: fn(f64) -> f64| {
        let points = threads.iter().map(|&n| (n as f64, of(n as f64))).collect();
        Series { colour: lines.len(), mark: Mark::Dashed, points }
    };
    series.extend([theory(|n| n), theory(|n| n.log2().max(1.0))]);
    let values = series.iter().flat_map(|series| &series.points).map(|(_, y)| *y);
    let y = Axis::powers_of_ten("remote references per entry", values, |it| format!("{it}"));
    let chart = Chart { x: Axis::doubling("threads", &threads), y, series };
    let names = lines.iter().map(|rows| rows[0].lock).chain(["n and log n"]).enumerate();
    let mut legend = String::new();
    for (index, name) in names {
        let (y, ink) = (30 + 19 * index, colour(index));
        let style = "font-family=\"sans-serif\" font-size=\"14\"";
        writeln!(legend, "<text x=\"90\" y=\"{y}\" fill=\"{ink}\" {style}>{name}</text>")
            .expect("a string takes it");
    }
    chart.svg(SIZE.0, SIZE.1).replace("</svg>", &format!("{legend}</svg>"))
}
