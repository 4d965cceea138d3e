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

const COLUMNS: [Column; 7] = [
    Column { heading: "Mops/s", cell: |row| format!("{:.3}", row.mops), badness: |row| -row.mops },
    Column { heading: "x std", cell: |row| ratio(row.ratio_std), badness: |row| -row.mops },
    Column {
        heading: "x p_lot",
        cell: |row| ratio(row.ratio_parking_lot),
        badness: |row| -row.mops,
    },
    Column { heading: "Jain", cell: |row| format!("{:.3}", row.jain), badness: |row| -row.jain },
    Column { heading: "p50", cell: |row| time(row.p50_ns), badness: |row| row.p50_ns as f64 },
    Column { heading: "p99.9", cell: |row| time(row.p999_ns), badness: |row| row.p999_ns as f64 },
    Column { heading: "max", cell: |row| time(row.max_ns), badness: |row| row.max_ns as f64 },
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

/// The rows of one workload and number of threads. `*` marks the best of each column.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let plural = if first.threads == 1 { "" } else { "s" };
    let mut text = format!("{}, {} thread{plural}\n", first.workload.name(), first.threads);
    write!(text, "{:18}", "lock").expect("a string takes it");
    for column in &COLUMNS {
        write!(text, "{:>12} ", column.heading).expect("a string takes it");
    }
    text.push_str(" spread\n");
    for row in rows {
        write!(text, "{:18}", row.lock).expect("a string takes it");
        for column in &COLUMNS {
            let best = rows.iter().map(column.badness).fold(f64::INFINITY, f64::min);
            let mark = if (column.badness)(row) <= best { '*' } else { ' ' };
            write!(text, "{:>12}{mark}", (column.cell)(row)).expect("a string takes it");
        }
        writeln!(text, " {:5.0} %", row.spread * 100.0).expect("a string takes it");
    }
    text
}
