//! Rows as a table that a person can read.

use std::fmt::Write;

use super::contention::Row;

/// A column: its heading, its width, its cell, and which cell is the best.
struct Column {
    heading: &'static str,
    width: usize,
    cell: fn(&Row) -> String,
    /// Lower is better.
    badness: fn(&Row) -> f64,
}

/// What fits in 80 columns. `--json` has more.
const COLUMNS: [Column; 7] = [
    Column {
        heading: "x std",
        width: 6,
        cell: |row| ratio(row.ratio_std),
        badness: |row| -row.mops,
    },
    Column {
        heading: "Mops/s",
        width: 7,
        cell: |row| format!("{:.3}", row.mops),
        badness: |row| -row.mops,
    },
    Column {
        heading: "spread",
        width: 6,
        cell: |row| format!("{:.0}%", 100.0 * spread(row)),
        badness: spread,
    },
    Column {
        heading: "longest",
        width: 8,
        cell: |row| time(row.longest_ns),
        badness: |row| row.longest_ns as f64,
    },
    Column {
        heading: "begun",
        width: 8,
        cell: |row| time(row.begun_ns),
        badness: |row| row.begun_ns as f64,
    },
    Column {
        heading: "Jain",
        width: 5,
        cell: |row| format!("{:.2}", row.jain),
        badness: |row| -row.jain,
    },
    Column {
        heading: "switches",
        width: 8,
        cell: |row| {
            row.switches.map_or_else(|| "-".to_owned(), |switches| format!("{switches:.2}"))
        },
        badness: |row| row.switches.unwrap_or(f64::INFINITY),
    },
];

/// What the columns mean.
pub const LEGEND: &str = "\
*: best of its column. x std: throughput as a multiple of std's. spread: how much
faster the fastest round was than the slowest. longest: wait, from the call to its
return, less the critical section. begun: longest time until a section began.
Jain: 1 if all threads get as much, 1/threads if one gets all. switches: of
threads, per entry.";

/// How much faster the fastest round was than the slowest.
fn spread(row: &Row) -> f64 {
    row.mops_highest / row.mops_lowest.max(f64::MIN_POSITIVE) - 1.0
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

/// What a row was measured under, as a heading says it.
pub fn setting(row: &Row) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    let Row { threads, hogs, workload, .. } = row;
    let mut text = format!("{}, {threads} thread{}", workload.name(), plural(*threads));
    if *hogs > 0 {
        write!(text, ", beside {hogs} busy one{}", plural(*hogs)).expect("a string takes it");
    }
    text
}

/// The rows of one setting, as [`LEGEND`] explains them.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!("{}\n{:23}", setting(first), "lock");
    for Column { heading, width, .. } in &COLUMNS {
        write!(text, "{heading:>width$} ").expect("a string takes it");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    for row in rows {
        let mut line = format!("{:23}", row.lock);
        for column in &COLUMNS {
            let best = rows.iter().map(column.badness).fold(f64::INFINITY, f64::min);
            let mark = if (column.badness)(row) <= best { '*' } else { ' ' };
            write!(line, "{:>1$}{mark}", (column.cell)(row), column.width)
                .expect("a string takes it");
        }
        writeln!(text, "{}", line.trim_end()).expect("a string takes it");
    }
    text
}
