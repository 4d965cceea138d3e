//! The locks beside their peers.

use super::html::{Figure, Section, chart, folded, labelled, legend, paragraph, table};
use super::{Commands, Findings};
use crate::draw::chart::{Axis, Chart, Mark, Series, number};
use crate::draw::labels::{Label, Labels};
use crate::measure::contention::{Row, measurables};
use crate::measure::workload::Workload;

/// Locks that are not ours: their lines are dashed.
const PEERS: [&str; 5] = ["std", "parking_lot", "parking_lot_fair", "spin_ticket", "mcs"];

pub(super) fn section(findings: &Findings, commands: &Commands) -> Section {
    let rows = &findings.locks;
    let mut body = String::new();
    for workload in [Workload::Short, Workload::Long] {
        let quiet = rows.iter().filter(|row| row.workload == workload && row.hogs == 0);
        let rows: Vec<&Row> = quiet.collect();
        if !rows.is_empty() {
            body += &throughput(workload, &rows, &commands.contended);
        }
    }
    let mut more = uncontended(rows, &commands.uncontended);
    for workload in [Workload::Short, Workload::Long] {
        let quiet = rows.iter().filter(|row| row.workload == workload && row.hogs == 0);
        let rows: Vec<&Row> = quiet.collect();
        if !rows.is_empty() {
            more += &waits(workload, &rows, &commands.contended);
        }
    }
    body += &folded("All waits, and one thread alone", &more);
    Section {
        id: "locks",
        title: "Strict order at full speed",
        lead: paragraph(
            "A strict lock has to wake the next thread per entry, and on a machine with fewer \
             cores than threads that costs a switch each time. bakery_with keeps the order without \
             it: a thread that is inside runs the closures of those that wait behind it, in their \
             turn. Dashed lines are other people's locks.",
        ),
        body,
    }
}

/// The colour of a lock: the same in every figure.
pub(super) fn colour_of(lock: &str) -> usize {
    measurables().iter().position(|known| known.name == lock).unwrap_or(0)
}

pub(super) fn is_peer(lock: &str) -> bool {
    PEERS.contains(&lock)
}

pub(super) fn legend_of(locks: &[&'static str]) -> String {
    let entries: Vec<_> =
        locks.iter().map(|&lock| (lock, colour_of(lock), is_peer(lock))).collect();
    legend(&entries)
}

/// The locks of some rows, in the order of the lab.
pub(super) fn locks_of(rows: &[&Row]) -> Vec<&'static str> {
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
            number,
        ),
        series: series.collect(),
    };
    let title = conclusion(workload, rows);
    let caption = format!(
        "{}. Entries per second of all threads together: medians over the rounds.",
        what_it_is(workload)
    );
    let most = threads.last().copied().unwrap_or(1);
    let ends = rows.iter().filter(|row| row.threads == most && row.longest_ns > 0).map(|row| {
        let at = (row.threads as f64, row.mops * 1e3);
        Label { at, text: row.lock.to_owned(), colour: colour_of(row.lock) }
    });
    let ends = Labels::Ends(ends.collect());
    let id = format!("throughput-{}", workload.name());
    let figure = Figure { id: &id, title: &title, caption: &caption, command };
    figure.around(&labelled(&curves, 420, &ends))
}

/// What the throughput comes to, where threads outnumber cores.
fn conclusion(workload: Workload, rows: &[&Row]) -> String {
    let of = |lock: &str| {
        rows.iter().find(|row| row.lock == lock && row.threads == 8).and_then(|row| row.ratio_std)
    };
    let name = match workload {
        Workload::Long => "Long sections",
        _ => "Short sections",
    };
    match (of("bakery_with"), of("bakery")) {
        (Some(with), Some(lock)) => format!(
            "{name}, 8 threads: in strict order with has {with:.2} of std's throughput, and lock \
             {lock:.2}"
        ),
        _ => format!("{name}: throughput"),
    }
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
        if part < 1.0 { format!("{} %", number(part * 100.0)) } else { "all".into() }
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
    let caption = "From the call to its return, less the critical section. At the right end is the \
                   longest wait of a round. All are medians over the rounds.";
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

pub(super) fn what_it_is(workload: Workload) -> &'static str {
    match workload {
        Workload::Uncontended | Workload::Hot => "Nothing inside or outside",
        Workload::Short => "About half a microsecond inside, and as long outside",
        Workload::Long => "About ten microseconds inside, and as long outside",
    }
}
