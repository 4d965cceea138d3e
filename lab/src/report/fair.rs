//! Why fair: throughput against the longest wait, and each thread's share.

use super::html::{Figure, Section, multiples_of, paragraph};
use super::locks::{colour_of, is_peer, legend_of, locks_of, what_it_is};
use super::{Commands, Findings};
use crate::draw::chart::{Axis, Chart, Mark, Series, number};
use crate::draw::diagram::escape;
use crate::draw::labels::{Label, Labels};
use crate::measure::contention::Row;
use crate::measure::workload::Workload;

pub(super) fn section(findings: &Findings, commands: &Commands) -> Section {
    let (quiet, busy): (Vec<&Row>, Vec<&Row>) =
        findings.locks.iter().partition(|row| row.hogs == 0);
    let beside = busy.first().map_or(0, |row| row.hogs);
    let body = frontier("frontier", "On a quiet machine", &quiet, &commands.contended)
        + &frontier(
            "frontier-busy",
            &format!("Beside {beside} threads that are always busy"),
            &busy,
            &commands.busy,
        )
        + &shares(&quiet, &commands.contended);
    Section {
        id: "fair",
        title: "Why fair",
        lead: paragraph(
            "A lock that lets whoever comes first have it again is fast, and lets others wait. \
             Here is what the order of service costs, and what it is worth. All locks took turns in \
             the same run, so that other load of the machine affected all of them alike: compare \
             them with each other, not with other machines.",
        ),
        body,
    }
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
        let best = undominated(&rows);
        // Those that nobody beats are named first, then the others, as far as there is room.
        let (first, then): (Vec<&Row>, Vec<&Row>) =
            rows.iter().copied().partition(|row| best.contains(&row.lock) || row.lock == "std");
        let name = |row: &Row| Label {
            at: (milliseconds(row), row.mops * 1e3),
            text: row.lock.to_owned(),
            colour: colour_of(row.lock),
        };
        let names = Labels::Beside(first.into_iter().chain(then).map(name).collect());
        let remark = format!("{}. Best: {}", what_it_is(workload), best.join(", "));
        (workload.name(), remark, dots.labelled(500, 340, &names))
    });
    let title = format!("{title}, {threads} threads: {}", conclusion(&rows));
    let caption = "Up is more entries, left is a shorter wait. A lock is among the best if no other is both above it and to its left. \
        Rings, with a broken line in the legend, are other people's locks.";
    let figure = Figure { id, title: &title, caption, command };
    figure.around(&(legend_of(&locks_of(&rows)) + &multiples_of("multiples large", charts)))
}

/// What the short sections show, in a sentence.
fn conclusion(rows: &[&Row]) -> String {
    let of = |lock: &str| {
        rows.iter().find(|row| row.lock == lock && row.workload == Workload::Short).copied()
    };
    let (Some(with), Some(std)) = (of("bakery_with"), of("std")) else {
        return "throughput against the longest wait".to_owned();
    };
    let wait = |row: &Row| format!("{:.1} ms", row.longest_ns as f64 / 1e6);
    format!(
        "with keeps the order at {:.2} of std's throughput, and waits {} where std waits {}",
        with.mops / std.mops,
        wait(with),
        wait(std)
    )
}

/// Each thread's part of the entries, as a strip per lock.
fn shares(rows: &[&Row], command: &str) -> String {
    let rows = rows.iter().filter(|row| row.workload == Workload::Short && row.threads <= 8);
    let most = rows.clone().map(|row| row.threads).max().unwrap_or(0);
    let rows: Vec<&&Row> =
        rows.filter(|row| row.threads == most && !row.shares.is_empty()).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut html = String::from("<div class=\"shares\">\n");
    for row in &rows {
        let parts = row.shares.iter().map(|share| format!("<i style=\"flex:{share:.4}\"></i>"));
        let class = if is_peer(row.lock) { "strip peer" } else { "strip" };
        let percent = |share: Option<&f64>| 100.0 * share.copied().unwrap_or(0.0);
        let (least, greatest) = (percent(row.shares.last()), percent(row.shares.first()));
        html += &format!(
            "<span>{}</span><div class=\"{class}\" role=\"img\" aria-label=\"{least:.0} to \
             {greatest:.0} % of the entries per thread\">{}</div><span>{least:.0} to \
             {greatest:.0} %</span>\n",
            escape(row.lock),
            parts.collect::<String>()
        );
    }
    html += "</div>";
    let even = 100.0 / most as f64;
    let title = match rows.iter().min_by(|one, other| one.jain.total_cmp(&other.jain)) {
        Some(least) => {
            format!(
                "Who gets how much: an even share is {even:.1} %, {} is the least even",
                least.lock
            )
        }
        None => "Who gets how much".to_owned(),
    };
    let caption = format!(
        "{most} threads, short sections: a block is a thread's part of all entries, the greatest \
         first. Grey are other people's locks."
    );
    let figure = Figure { id: "shares", title: &title, caption: &caption, command };
    figure.around(&html)
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
            shares: vec![0.75, 0.25],
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
        assert!(html.contains("Best: std, bakery<"), "{html}");
        assert_eq!(frontier("frontier", "Throughput", &[], "locks"), "");
    }

    #[test]
    fn a_strip_has_a_block_per_thread() {
        let row = row("std", Workload::Short, 1.0, 1_000_000);
        let html = shares(&[&row], "locks");
        assert_eq!(html.matches("<i style").count(), 2, "{html}");
        assert!(html.contains("25 to 75 %") && html.contains("flex:0.7500"), "{html}");
        assert_eq!(shares(&[], "locks"), "");
    }
}
