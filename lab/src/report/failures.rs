//! What a fault does to each algorithm: a coloured table, each cell with its trace.

use exclusion::message::check::Outcome;

use super::Findings;
use super::html::{Figure, Section, folded, linked, paragraph, spacetime};
use crate::draw::diagram::{Diagram, Unit, escape};
use crate::explore::faults::{Cell, Plague, Seat};

pub(super) fn section(findings: &Findings) -> Section {
    let rows: Vec<&[Cell]> =
        findings.faults.chunk_by(|one, other| one.algorithm == other.algorithm).collect();
    let all = findings.faults.iter().filter(|cell| cell.outcome.is_some());
    let (fine, bad): (Vec<&Cell>, Vec<&Cell>) =
        all.partition(|cell| cell.outcome == Some(Outcome::Harmless));
    let unsafe_ones = bad.iter().filter(|cell| cell.outcome == Some(Outcome::Unsafe)).count();
    let title = format!(
        "One fault, and nobody is told: {} of {} block somebody, {} are harmless, {unsafe_ones} \
         let in two",
        bad.len() - unsafe_ones,
        fine.len() + bad.len(),
        fine.len()
    );
    let figure = Figure {
        id: "faults",
        title: &title,
        caption: "The worst that can come of it, explored; behind it the fewest steps that lead \
                  there. A cell leads to these steps. An empty one cannot be.",
        command: "faults --all --markdown",
    };
    let traces: String = bad.iter().filter_map(|cell| trace_of(cell)).collect();
    let traces = format!(
        "<h3>How it comes to that</h3>\n{}",
        folded(&format!("{} traces, one per cell", bad.len()), &traces)
    );
    Section {
        id: "failures",
        title: "What failures do",
        lead: paragraph(
            "Each algorithm as it is in its paper: one node dies in a role, or one message of a \
             kind is lost. With the layers of message::fault all that live are served again; how, \
             and what that promises, is told by docs/failures.md.",
        ),
        body: if rows.is_empty() { String::new() } else { figure.around(&matrix(&rows)) + &traces },
    }
}

fn matrix(rows: &[&[Cell]]) -> String {
    let mut html = String::from(
        "<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th scope=\"col\">algorithm\
         </th>",
    );
    let heading = |seat: Seat| match seat {
        Seat::Idle => "idle dies",
        Seat::IdleWithToken => "idle with token dies",
        Seat::Requester => "requester dies",
        Seat::Holder => "holder dies",
        Seat::Arbiter => "arbiter or inner node dies",
    };
    for seat in Seat::ALL {
        html += &format!("<th class=\"column\" scope=\"col\">{}</th>", heading(seat));
    }
    let is_lost = |cell: &&Cell| matches!(cell.plague, Plague::Lost(_)) && cell.outcome.is_some();
    let kinds = rows.iter().map(|row| row.iter().filter(is_lost).count()).max().unwrap_or(1);
    html += &format!(
        "<th class=\"column\" scope=\"col\" colspan=\"{kinds}\">a message is lost</th></tr>\
         </thead>\n<tbody>\n"
    );
    for row in rows {
        html += &format!("<tr><th scope=\"row\">{}</th>", linked(row[0].algorithm));
        for seat in Seat::ALL {
            let cell = row.iter().find(|cell| cell.plague == Plague::Dies(seat));
            html += &cell.map_or_else(|| "<td></td>".to_owned(), |cell| td(cell, ""));
        }
        for cell in *row {
            if let (Plague::Lost(kind), Some(_)) = (cell.plague, cell.outcome) {
                html += &td(cell, &format!("{kind}: "));
            }
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table></div>"
}

/// A cell of the table.
fn td(cell: &Cell, before: &str) -> String {
    let Some(outcome) = cell.outcome else { return "<td></td>".to_owned() };
    let class = match outcome {
        Outcome::Harmless => "harmless",
        Outcome::Unsafe => "unsafe",
        _ => "blocks",
    };
    let text = match outcome {
        Outcome::OneUntilAsked => "one, for a while".to_owned(),
        other => other.to_string(),
    };
    let text = escape(&format!("{before}{text}"));
    match &cell.trace {
        Some(_) => format!(
            "<td class=\"{class}\"><a href=\"#{}\">{text} ({})</a></td>",
            id(cell),
            cell.steps()
        ),
        None => format!("<td class=\"{class}\">{text}</td>"),
    }
}

fn id(cell: &Cell) -> String {
    format!("fault-{}-{}", cell.algorithm, cell.plague.name().replace(' ', "-"))
}

fn trace_of(cell: &Cell) -> Option<String> {
    let (trace, played, outcome) = (cell.trace.as_ref()?, cell.played.as_ref()?, cell.outcome?);
    let fault = cell.plague.name();
    let name = format!("{}, {fault}: {outcome}", cell.algorithm);
    let violated = match outcome {
        Outcome::Unsafe => "mutual exclusion",
        _ => "all can be served",
    };
    let (nodes, unit, violated) = (cell.nodes, Unit::Step, Some(violated));
    let diagram = Diagram { title: &name, unit, nodes, widest: 900, violated };
    let command = match cell.plague {
        Plague::Dies(seat) => format!("faults {} --crash {} --trace", cell.algorithm, seat.name()),
        Plague::Lost(kind) => format!("faults {} --lose {kind} --trace", cell.algorithm),
    };
    let figure = Figure {
        id: &id(cell),
        title: &name,
        caption: "The fewest steps that lead there. Nobody is told that anything has happened.",
        command: &command,
    };
    Some(folded(&name, &figure.around(&spacetime(&diagram, trace, played))))
}
