//! What the page opens with: three findings, and one picture.

use super::explorations::picture_of;
use super::html::Figure;
use super::{COUNTEREXAMPLE, Findings, messages};
use crate::draw::diagram::escape;
use crate::measure::contention::Row;
use crate::measure::workload::Workload;

/// The findings, as a list, and the picture.
pub(super) fn lead(findings: &Findings) -> String {
    let found = [strict_order(&findings.locks), messages::in_short(findings), checked(findings)];
    let items = found
        .into_iter()
        .flatten()
        .map(|(figure, text)| format!("<li><b>{}</b> {}</li>", escape(&figure), escape(&text)));
    format!("<ul class=\"findings\">{}</ul>\n{}", items.collect::<String>(), picture(findings))
}

/// A row of the contended workload that the page is about, on a quiet machine.
fn short(rows: &[Row], lock: &str) -> Option<Row> {
    let rows = rows.iter().filter(|row| row.hogs == 0 && row.workload == Workload::Short);
    rows.filter(|row| row.lock == lock && row.threads <= 8).max_by_key(|row| row.threads).cloned()
}

fn strict_order(rows: &[Row]) -> Option<(String, String)> {
    let (ours, std) = (short(rows, "bakery_with")?, short(rows, "std")?);
    let milliseconds = |row: &Row| format!("{:.1} ms", row.longest_ns as f64 / 1e6);
    let (ratio, threads) = (ours.mops / std.mops, ours.threads);
    Some((
        format!("{ratio:.2} × std"),
        format!(
            "is the throughput of BakeryMutex::with, which serves {threads} threads in strict \
             order of arrival. Its longest wait is {}; that of std is {}.",
            milliseconds(&ours),
            milliseconds(&std)
        ),
    ))
}

fn checked(findings: &Findings) -> Option<(String, String)> {
    let all = findings.broken.len();
    let refuted = findings.broken.iter().filter(|(broken, it)| broken.is_refuted(it)).count();
    let states: usize = findings.explored.iter().map(|explored| explored.states).sum();
    let holding = findings.explored.iter().filter(|it| it.verdict == "holds").count();
    (all > 0).then(|| {
        (
            format!("{refuted} of {all}"),
            format!(
                "algorithms that are broken on purpose are refuted, each by a shortest \
                 counterexample. What ships was explored by the same checker: {holding} of {} \
                 explorations hold, over {} states.",
                findings.explored.len(),
                grouped(states)
            ),
        )
    })
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn picture(findings: &Findings) -> String {
    let found = findings.broken.iter().find(|(it, _)| it.name == COUNTEREXAMPLE);
    let Some((broken, explored)) = found else { return String::new() };
    let figure = Figure {
        id: "counterexample",
        title: "Maekawa's rule of 1985 deadlocks: found by exploring every state",
        caption: "Time goes to the right, arrows are messages. At the end n0 and n1 wait for each \
                  other, and no message is in flight. Crosses are requests whose answers are held \
                  back, or never come. What ships is remedied, and holds.",
        command: "diagram maekawa_1985",
    };
    picture_of(broken, explored).map_or_else(String::new, |picture| figure.around(&picture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1,000", "1,234,567"]);
    }
}
