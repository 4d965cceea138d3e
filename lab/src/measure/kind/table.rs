//! Rows of kinds as tables: for people, and for the documentation.

use std::fmt::Write;

use super::Row;

const TAKES_IT: &str = "a string takes it";

/// The rows of one scene.
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!("{}\n{:16}", setting(first), "lock");
    let headings =
        ["x parking_lot", "x std", "x tokio", "Mops/s", "longest", "x std's", "p50", "p99.9"];
    for heading in headings {
        write!(text, "{heading:>14}").expect(TAKES_IT);
    }
    text.push_str("  spread of Mops/s\n");
    for row in rows {
        write!(text, "{:16}", row.lock).expect(TAKES_IT);
        for cell in [
            ratio(row.ratio_parking_lot),
            ratio(row.ratio_std),
            ratio(row.ratio_tokio),
            format!("{:.3}", row.mops),
            time(row.longest_ns),
            ratio(row.longest_ratio_std),
            time(row.p50_ns),
            time(row.p999_ns),
        ] {
            write!(text, "{cell:>14}").expect(TAKES_IT);
        }
        writeln!(text, "  {:.3} to {:.3}", row.mops_lowest, row.mops_highest).expect(TAKES_IT);
    }
    text
}

/// What a row was measured under, as a heading says it.
pub fn setting(row: &Row) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    let mut text = format!("{}, {} thread{}", row.scene, row.threads, plural(row.threads));
    if row.hogs > 0 {
        write!(text, ", beside {} busy one{}", row.hogs, plural(row.hogs)).expect(TAKES_IT);
    }
    text
}

/// All rows as one table of the documentation: a line per scene and lock.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = "\
| scene | lock | x parking_lot | x std | x tokio | million per second | longest wait | x std's |
|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        writeln!(
            text,
            "| {} | `{}` | {} | {} | {} | {:.3} | {} | {} |",
            setting(row),
            row.lock,
            ratio(row.ratio_parking_lot),
            ratio(row.ratio_std),
            ratio(row.ratio_tokio),
            row.mops,
            time(row.longest_ns),
            ratio(row.longest_ratio_std),
        )
        .expect(TAKES_IT);
    }
    text.truncate(text.trim_end().len());
    text
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn time(ns: u64) -> String {
    match ns {
        0 => "-".to_owned(),
        1..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}
