//! What was checked: the numbers first, then what holds, and every counterexample.

use super::html::{Figure, Section, folded, paragraph, spacetime, table};
use super::opening::grouped;
use super::{COUNTEREXAMPLE, Findings};
use crate::draw::diagram::{Diagram, Unit, escape};
use crate::explore::broken::Broken;
use crate::explore::exploration::{Explored, Shown};

pub(super) fn section(findings: &Findings) -> Section {
    let body = holds(&findings.explored) + &refuted(findings) + &counterexamples(findings);
    let states: usize = findings.explored.iter().map(|explored| explored.states).sum();
    let largest = findings.explored.iter().map(|explored| explored.states).max().unwrap_or(0);
    let numbers = format!(
        "<ul class=\"findings\"><li><b>{}</b> states in {} explorations, the largest of {}: every \
         order of events that the channels allow.</li><li><b>{}</b> variants with one wrong rule, \
         each refuted; with that rule mended, each of them holds.</li><li><b>./test.sh</b> \
         explores more, with loom on the shipped locks: each memory ordering is shown to be needed \
         by weakening it.</li></ul>",
        grouped(states),
        findings.explored.len(),
        grouped(largest),
        findings.broken.len()
    );
    Section {
        id: "explored",
        title: "What was checked",
        lead: paragraph(
            "In every reachable state of each algorithm mutual exclusion holds, there is no \
             deadlock, and no more messages are sent than the formula allows.",
        ) + &numbers,
        body,
    }
}

fn holds(explored: &[Explored]) -> String {
    let rows = explored.iter().map(|explored| {
        vec![
            explored.label(),
            explored.nodes.to_string(),
            explored.requests.clone(),
            explored.channels.clone(),
            explored.states.to_string(),
            explored.depth.to_string(),
            explored.claims().join(", "),
            explored.verdict.to_owned(),
        ]
    });
    let title = format!("What holds: {} explorations", explored.len());
    let figure = Figure {
        id: "verification",
        title: &title,
        caption: "A part of --all, which goes to seven nodes and eleven million states.",
        command: "check --soon",
    };
    let headings = [
        "algorithm",
        "#nodes",
        "#requests",
        "channels",
        "#states",
        "#depth",
        "properties",
        "verdict",
    ];
    figure.around(&folded("The table", &table(&headings, rows)))
}

fn refuted(findings: &Findings) -> String {
    let rows = findings.broken.iter().map(|(broken, explored)| {
        vec![
            broken.name.to_owned(),
            broken.why.to_owned(),
            broken.violates.to_owned(),
            broken.counterexample(explored).map_or_else(String::new, |it| it.steps().to_string()),
            explored.verdict.to_owned(),
        ]
    });
    let title =
        format!("What is broken on purpose, and is refuted: {} variants", findings.broken.len());
    let figure = Figure {
        id: "refuted",
        title: &title,
        caption: "Each has one wrong rule. A name leads to its counterexample.",
        command: "check --broken",
    };
    let headings = ["variant", "what is wrong", "does not hold", "#steps", "verdict"];
    figure.around(&folded("The table", &table(&headings, rows)))
}

/// The counterexample of a variant as a picture that can be stepped through; in words, if it is
/// about registers.
pub(super) fn picture_of(broken: &Broken, explored: &Explored) -> Option<String> {
    let finding = explored.refuted().find(|finding| finding.property == broken.violates)?;
    match finding.counterexample.as_ref()? {
        Shown::Trace(trace) => {
            let title = format!("{}: {}", broken.name, broken.why);
            let (nodes, violated) = (explored.nodes, Some(broken.violates));
            let diagram = Diagram { title: &title, unit: Unit::Step, nodes, widest: 900, violated };
            Some(spacetime(&diagram, trace, finding.played.as_ref()?))
        }
        Shown::Text(text) => {
            Some(format!("<div class=\"scroll\"><pre>{}</pre></div>", escape(text)))
        }
    }
}

/// Every counterexample, each folded.
fn counterexamples(findings: &Findings) -> String {
    let each = findings.broken.iter().filter_map(|(broken, explored)| {
        if broken.name == COUNTEREXAMPLE {
            // It is what the page opens with.
            return Some(format!(
                "<p id=\"broken-{0}\"><a href=\"#counterexample\">{0}</a>: {1}</p>",
                broken.name,
                escape(broken.why)
            ));
        }
        let picture = picture_of(broken, explored)?;
        let words = matches!(broken.counterexample(explored)?, Shown::Text(_));
        let (id, title) = (format!("broken-{}", broken.name), format!("{}", broken.name));
        let verb = if words { "check" } else { "diagram" };
        let figure = Figure {
            id: &id,
            title: &title,
            caption: broken.why,
            command: &format!("{verb} {}", broken.name),
        };
        let summary = format!("{}: {}", broken.name, broken.why);
        Some(folded(&summary, &figure.around(&picture)))
    });
    let each: String = each.collect();
    format!(
        "<h3>Every counterexample</h3>\n{}{}",
        paragraph(
            "As short as any. What has gone wrong is shaded at the end, and named. Each can be \
             stepped through; beside each node stands what it knows."
        ),
        folded("All of them, one by one", &each)
    )
}
