//! Rows as a table that a person can read.

use std::fmt::Write;

use super::contention::Row;

/// A column: its heading, its cell, and which cell is the best.
struct Column {
    heading: &'static str,
    cell: fn(&Row) -> String,
    /// Lower is better.
    badness: fn(&Row) -> f64,
}

const COLUMNS: [Column; 8] = [
    Column { heading: "x std", cell: |row| ratio(row.ratio_std), badness: |row| -row.mops },
    Column { heading: "Mops/s", cell: |row| format!("{:.3}", row.mops), badness: |row| -row.mops },
    Column {
        heading: "longest",
        cell: |row| time(row.longest_ns),
        badness: |row| row.longest_ns as f64,
    },
    Column {
        heading: "until begun",
        cell: |row| time(row.begun_ns),
        badness: |row| row.begun_ns as f64,
    },
    Column {
        heading: "switches",
        cell: |row| {
            row.switches.map_or_else(|| "-".to_owned(), |switches| format!("{switches:.2}"))
        },
        badness: |row| row.switches.unwrap_or(f64::INFINITY),
    },
    Column { heading: "Jain", cell: |row| format!("{:.3}", row.jain), badness: |row| -row.jain },
    Column { heading: "p50", cell: |row| time(row.p50_ns), badness: |row| row.p50_ns as f64 },
    Column { heading: "p99.9", cell: |row| time(row.p999_ns), badness: |row| row.p999_ns as f64 },
];

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
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

/// The rows of one setting. `*` marks the best of each column; the spread is the throughput of the
/// slowest and of the fastest round.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!("{}\n{:18}", setting(first), "lock");
    for column in &COLUMNS {
        write!(text, "{:>12} ", column.heading).expect("a string takes it");
    }
    text.push_str(" spread of Mops/s\n");
    for row in rows {
        write!(text, "{:18}", row.lock).expect("a string takes it");
        for column in &COLUMNS {
            let best = rows.iter().map(column.badness).fold(f64::INFINITY, f64::min);
            let mark = if (column.badness)(row) <= best { '*' } else { ' ' };
            write!(text, "{:>12}{mark}", (column.cell)(row)).expect("a string takes it");
        }
        writeln!(text, " {:.3} to {:.3}", row.mops_lowest, row.mops_highest)
            .expect("a string takes it");
    }
    text
}
