//! The locks beside their peers.

use super::html::{Figure, Section, chart, legend, multiples, paragraph, table};
use super::{Commands, Findings};
use crate::draw::chart::{Axis, Chart, Mark, Series, number};
use crate::measure::contention::{Row, measurables};
use crate::measure::workload::Workload;

/// Locks that are not ours: their lines are dashed.
const PEERS: [&str; 5] = ["std", "parking_lot", "parking_lot_fair", "spin_ticket", "mcs"];

pub(super) fn section(findings: &Findings, commands: &Commands) -> Section {
    let rows = &findings.locks;
    let mut body = uncontended(rows, &commands.uncontended);
    for workload in [Workload::Short, Workload::Long] {
        let quiet = rows.iter().filter(|row| row.workload == workload && row.hogs == 0);
        let rows: Vec<&Row> = quiet.collect();
        if !rows.is_empty() {
            body += &throughput(workload, &rows, &commands.contended);
            body += &waits(workload, &rows, &commands.contended);
        }
    }
    let (quiet, busy): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.hogs == 0);
    let beside = busy.first().map_or(0, |row| row.hogs);
    let frontiers = [
        ("frontier", "Throughput against the longest wait".to_owned(), quiet, &commands.contended),
        ("frontier-busy", format!("The same beside {beside} busy threads"), busy, &commands.busy),
    ];
    for (id, title, rows, command) in frontiers {
        body += &frontier(id, &title, &rows, command);
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
            number,
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

/// One dot per lock, a chart per workload, with as many threads as the waits are shown for.
fn frontier(id: &str, title: &str, rows: &[&Row], command: &str) -> String {
    let contended = rows.iter().copied().filter(|row| !row.workload.is_shorter_than_a_clock());
    let contended: Vec<&Row> = contended.filter(|row| row.threads <= 8).collect();
    let Some(threads) = contended.iter().map(|row| row.threads).max() else {
        return String::new();
    };
    let rows: Vec<&Row> = contended.into_iter().filter(|row| row.threads == threads).collect();
    let charts = [Workload::Short, Workload::Long].map(|workload| {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.workload == workload).collect();
        // By number alone: a unit at each mark would not fit under a small chart.
        let milliseconds = |row: &Row| row.longest_ns.max(1000) as f64 / 1e6;
        let series = rows.iter().map(|row| Series {
            colour: colour_of(row.lock),
            mark: if is_peer(row.lock) { Mark::Rings } else { Mark::Dots },
            points: vec![(milliseconds(row), row.mops * 1e3)],
        });
        let dots = Chart {
            x: Axis::powers_of_ten(
                "longest wait, ms",
                rows.iter().map(|row| milliseconds(row)),
                number,
            ),
            y: Axis::powers_of_ten(
                "thousand entries/s",
                rows.iter().map(|row| row.mops * 1e3),
                number,
            ),
            series: series.collect(),
        };
        (workload.name(), format!("best: {}", undominated(&rows).join(", ")), dots)
    });
    let title = format!("{title}, {threads} threads");
    let caption = "Up is more entries, left is a shorter wait. A lock is among the best if no other is both above it and to its left. \
        Rings, with a broken line in the legend, are other people's locks.";
    let figure = Figure { id, title: &title, caption, command };
    figure.around(&(legend_of(&locks_of(&rows)) + &multiples(charts)))
}

/// The locks than which no other has both more entries and a shorter longest wait, the fastest
/// first.
fn undominated(rows: &[&Row]) -> Vec<&'static str> {
    let beats = |one: &Row, other: &Row| one.mops > other.mops && one.longest_ns < other.longest_ns;
    let mut best: Vec<&&Row> =
        rows.iter().filter(|row| !rows.iter().any(|other| beats(other, row))).collect();
    best.sort_by(|one, other| other.mops.total_cmp(&one.mops));
    best.into_iter().map(|row| row.lock).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lock: &'static str, workload: Workload, mops: f64, longest_ns: u64) -> Row {
        let (mops_lowest, mops_highest, begun_ns) = (mops, mops, longest_ns);
        Row {
            lock,
            threads: 8,
            workload,
            hogs: 0,
            rounds: 1,
            mops,
            mops_lowest,
            mops_highest,
            ratio_std: None,
            ratio_parking_lot: None,
            jain: 1.0,
            p50_ns: 1,
            p90_ns: 1,
            p99_ns: 1,
            p999_ns: 1,
            p9999_ns: 1,
            longest_ns,
            longest_lowest_ns: longest_ns,
            longest_highest_ns: longest_ns,
            begun_ns,
            switches: None,
        }
    }

    #[test]
    fn the_best_are_those_that_no_other_beats_in_both() {
        let rows = [
            row("bakery", Workload::Short, 0.2, 1_000_000),
            row("bakery_with", Workload::Short, 1.1, 2_000_000),
            row("mcs", Workload::Short, 0.1, 3_000_000),
            row("std", Workload::Short, 1.5, 24_000_000),
            row("parking_lot", Workload::Short, 1.0, 6_000_000),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        assert_eq!(undominated(&rows), ["std", "bakery_with", "bakery"]);
    }

    #[test]
    fn a_frontier_has_a_dot_per_lock_of_ours_and_a_ring_per_other() {
        let workloads = [Workload::Short, Workload::Long];
        let rows: Vec<Row> = workloads
            .into_iter()
            .flat_map(|it| [row("bakery", it, 0.2, 1_000_000), row("std", it, 1.5, 24_000_000)])
            .collect();
        let mut few = rows[0].clone();
        few.threads = 2;
        let rows: Vec<&Row> = rows.iter().chain([&few]).collect();
        let html = frontier("frontier", "Throughput", &rows, "locks");
        assert_eq!(html.matches("<circle").count(), 4, "{html}");
        assert_eq!(html.matches("fill=\"none\" stroke").count(), 2, "{html}");
        assert!(html.contains("best: std, bakery<"), "{html}");
        assert_eq!(frontier("frontier", "Throughput", &[], "locks"), "");
    }
}
