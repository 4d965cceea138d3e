//! Rows as the tables of the documentation: a line per lock, a column per setting.

use std::fmt::Write;

use super::contention::{Row, measurables};

/// One kind of figure: its caption, its cell, and whether it makes sense for a row.
struct Figure {
    caption: &'static str,
    cell: fn(&Row) -> String,
    applies: fn(&Row) -> bool,
}

const FIGURES: [Figure; 4] = [
    Figure {
        caption: "Throughput as a multiple of std's:",
        cell: |row| row.ratio_std.map_or_else(|| "?".to_owned(), significant),
        applies: |_| true,
    },
    Figure {
        caption: "The longest wait in ms, from the call to its return, less the critical section; \
                  in brackets the longest time until a critical section began:",
        cell: |row| format!("{} ({})", milliseconds(row.longest_ns), milliseconds(row.begun_ns)),
        applies: is_timed_throughout,
    },
    Figure {
        caption: "Jain's index of the threads' entries (1 is even):",
        cell: |row| format!("{:.2}", row.jain),
        applies: is_timed_throughout,
    },
    Figure {
        caption: "Switches of threads per entry:",
        cell: |row| {
            row.switches.map_or_else(|| "?".to_owned(), |switches| format!("{switches:.2}"))
        },
        applies: |row| is_timed_throughout(row) && row.switches.is_some(),
    },
];

/// Whether each of its entries was timed, and by more than one thread.
fn is_timed_throughout(row: &Row) -> bool {
    row.threads > 1 && !row.workload.is_shorter_than_a_clock()
}

/// All rows as tables.
pub fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    for figure in &FIGURES {
        let rows: Vec<&Row> = rows.iter().filter(|row| (figure.applies)(row)).collect();
        let settings = settings_of(&rows);
        if settings.is_empty() {
            continue;
        }
        let columns = settings.iter().map(|setting| format!(" {} |", heading(*setting)));
        writeln!(text, "{}\n\n| lock |{}", figure.caption, columns.collect::<String>())
            .expect("a string takes it");
        writeln!(text, "|---|{}", "---|".repeat(settings.len())).expect("a string takes it");
        for lock in measurables() {
            let row_in = |setting: &Setting| {
                rows.iter().find(|row| row.lock == lock.name && setting_of(row) == *setting)
            };
            let cells: Vec<_> = settings
                .iter()
                .map(|setting| row_in(setting).map(|row| (figure.cell)(row)).unwrap_or_default())
                .collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                line(&mut text, &format!("`{}`", lock.name), &cells);
            }
        }
        // The only figures that are not ratios: by them the ratios can be turned into rates.
        if std::ptr::eq(figure, &FIGURES[0]) {
            let std = settings.iter().map(|setting| {
                let mut rows = rows.iter().filter(|row| row.lock == "std");
                let row = rows.find(|row| setting_of(row) == *setting);
                row.map(|row| significant(row.mops)).unwrap_or_default()
            });
            line(&mut text, "std: million entries per second", &std.collect::<Vec<_>>());
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

fn line(text: &mut String, name: &str, cells: &[String]) {
    let cells: String = cells.iter().map(|cell| format!(" {cell} |")).collect();
    writeln!(text, "| {name} |{cells}").expect("a string takes it");
}

/// What a column is about: the workload, the threads, and the busy threads beside them.
type Setting = (&'static str, usize, usize);

fn setting_of(row: &Row) -> Setting {
    (row.workload.name(), row.threads, row.hogs)
}

/// Each once, in the order of the rows.
fn settings_of(rows: &[&Row]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for row in rows {
        let setting = setting_of(row);
        if !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    settings
}

fn heading((workload, threads, hogs): Setting) -> String {
    match hogs {
        0 => format!("{workload}, {threads}"),
        hogs => format!("{workload}, {threads}, beside {hogs} busy"),
    }
}

fn milliseconds(ns: u64) -> String {
    significant(ns as f64 / 1e6)
}

/// About two digits that mean something.
fn significant(value: f64) -> String {
    match value {
        10.0.. => format!("{value:.0}"),
        1.0..10.0 => format!("{value:.1}"),
        0.1..1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
