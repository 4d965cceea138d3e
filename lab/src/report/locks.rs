//! The locks beside their peers.

use super::html::{Figure, Section, chart, legend, paragraph, table};
use super::{Commands, Findings};
use crate::draw::chart::{Axis, Chart, Mark, Series};
use crate::measure::contention::{Row, measurables};
use crate::measure::workload::Workload;

/// Locks that are not ours: their lines are dashed.
const PEERS: [&str; 5] = ["std", "parking_lot", "parking_lot_fair", "spin_ticket", "mcs"];

pub(super) fn section(findings: &Findings, commands: &Commands) -> Section {
    let rows = &findings.locks;
    let mut body = uncontended(rows, &commands.uncontended);
    for workload in [Workload::Short, Workload::Long] {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.workload == workload).collect();
        if !rows.is_empty() {
            body += &throughput(workload, &rows, &commands.contended);
            body += &waits(workload, &rows, &commands.contended);
        }
    }
    Section {
        id: "locks",
        title: "Locks beside their peers",
        lead: paragraph(
            "All locks took turns in the same run, so that other load of the machine affected all \
             of them alike. Compare the lines with each other, not with other machines. Dashed \
             lines are other people's locks.",
        ),
        body,
    }
}

/// The colour of a lock: the same in every figure.
fn colour_of(lock: &str) -> usize {
    measurables().iter().position(|known| known.name == lock).unwrap_or(0)
}

fn is_peer(lock: &str) -> bool {
    PEERS.contains(&lock)
}

fn legend_of(locks: &[&'static str]) -> String {
    let entries: Vec<_> =
        locks.iter().map(|&lock| (lock, colour_of(lock), is_peer(lock))).collect();
    legend(&entries)
}

/// The locks of some rows, in the order of the lab.
fn locks_of(rows: &[&Row]) -> Vec<&'static str> {
    let known = measurables().into_iter().map(|lock| lock.name);
    known.filter(|name| rows.iter().any(|row| row.lock == *name)).collect()
}

fn uncontended(rows: &[Row], command: &str) -> String {
    let rows = rows.iter().filter(|row| row.workload == Workload::Uncontended);
    let ratio = |ratio: Option<f64>| ratio.map_or_else(String::new, |it| format!("{it:.2}"));
    let rows = rows.map(|row| {
        vec![
            row.lock.to_owned(),
            format!("{:.1}", 1e3 / row.mops),
            ratio(row.ratio_std),
            ratio(row.ratio_parking_lot),
        ]
    });
    let figure = Figure {
        id: "uncontended",
        title: "One thread, nobody else",
        caption: "Locking and unlocking, and nothing else. Ratios are of throughput: more is \
                  faster.",
        command,
    };
    figure.around(&table(&["lock", "#ns per entry", "#x std", "#x parking_lot"], rows))
}

fn throughput(workload: Workload, rows: &[&Row], command: &str) -> String {
    let locks = locks_of(rows);
    let mut threads: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let series = locks.iter().map(|lock| Series {
        colour: colour_of(lock),
        mark: if is_peer(lock) { Mark::Dashed } else { Mark::Line },
        points: rows
            .iter()
            .filter(|row| row.lock == *lock)
            .map(|row| (row.threads as f64, row.mops * 1e3))
            .collect(),
    });
    let curves = Chart {
        x: Axis::doubling("threads", &threads),
        y: Axis::powers_of_ten(
            "thousand entries per second",
            rows.iter().map(|row| row.mops * 1e3),
            crate::draw::chart::number,
        ),
        series: series.collect(),
    };
    let title = format!("Throughput, {}", workload.name());
    let caption = format!(
        "{}. Entries per second of all threads together: medians over the rounds.",
        what_it_is(workload)
    );
    let id = format!("throughput-{}", workload.name());
    let figure = Figure { id: &id, title: &title, caption: &caption, command };
    figure.around(&(legend_of(&locks) + &chart(&curves, 380)))
}

fn waits(workload: Workload, rows: &[&Row], command: &str) -> String {
    // Waiting times matter most if threads outnumber cores.
    let Some(threads) = rows.iter().map(|row| row.threads).filter(|&it| it <= 8).max() else {
        return String::new();
    };
    let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.threads == threads).collect();
    let locks = locks_of(&rows);
    let place = |part: f64| if part < 1.0 { -(1.0 - part).log10() } else { 5.0 };
    let name = |part: f64| {
        if part < 1.0 {
            format!("{} %", crate::draw::chart::number(part * 100.0))
        } else {
            "all".into()
        }
    };
    let series = rows.iter().map(|row| Series {
        colour: colour_of(row.lock),
        mark: if is_peer(row.lock) { Mark::Dashed } else { Mark::Line },
        points: row.waits().map(|(part, ns)| (place(part), ns as f64)).to_vec(),
    });
    let curves = Chart {
        x: Axis::named(
            "part of the waits that are no longer",
            rows[0].waits().map(|(part, _)| (place(part), name(part))).to_vec(),
        ),
        y: Axis::powers_of_ten(
            "wait",
            rows.iter().flat_map(|row| row.waits().map(|(_, ns)| ns as f64)),
            power_of_time,
        ),
        series: series.collect(),
    };
    let title = format!("How long one waits, {}, {threads} threads", workload.name());
    let caption = "From the call to the entry. At the right end is the longest wait of a round. \
                   All are medians over the rounds.";
    let id = format!("waits-{}", workload.name());
    let figure = Figure { id: &id, title: &title, caption, command };
    figure.around(&(legend_of(&locks) + &chart(&curves, 380)))
}

/// A power of ten of nanoseconds.
fn power_of_time(ns: f64) -> String {
    let (value, unit) = match ns {
        ..1e3 => (ns, "ns"),
        1e3..1e6 => (ns / 1e3, "µs"),
        1e6..1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{value:.0} {unit}")
}

fn what_it_is(workload: Workload) -> &'static str {
    match workload {
        Workload::Uncontended | Workload::Hot => "Nothing inside or outside",
        Workload::Short => "About half a microsecond inside, and as long outside",
        Workload::Long => "About ten microseconds inside, and as long outside",
    }
}
