//! What was explored, and what was refuted.

use super::html::{Figure, Section, paragraph, spacetime, table};
use super::{COUNTEREXAMPLE, Findings};
use crate::draw::diagram::{Diagram, Unit};
use crate::explore::exploration::{Explored, Shown};

pub(super) fn section(findings: &Findings) -> Section {
    let body = holds(&findings.explored) + &refuted(findings) + &counterexample(findings);
    Section {
        id: "explored",
        title: "Exhaustive exploration",
        lead: paragraph(
            "Every reachable state of each algorithm, in every order of events that its channels \
             allow: mutual exclusion holds, there is no deadlock, and no more messages are sent \
             than the formula allows. The memory orderings of the locks are checked with loom on \
             the shipped sources. Each is shown to be needed by weakening it. ./test.sh prints how \
             much was explored.",
        ),
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
    let figure = Figure {
        id: "verification",
        title: "What holds",
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
    figure.around(&table(&headings, rows))
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
    let figure = Figure {
        id: "refuted",
        title: "What is broken on purpose, and is refuted",
        caption: "Each has one wrong rule, and is refuted by a shortest counterexample. With that \
                  rule mended, each of them holds.",
        command: "check --broken",
    };
    figure.around(&table(&["variant", "what is wrong", "does not hold", "#steps", "verdict"], rows))
}

fn counterexample(findings: &Findings) -> String {
    let Some((broken, explored)) = findings.broken.iter().find(|(it, _)| it.name == COUNTEREXAMPLE)
    else {
        return String::new();
    };
    let Some(Shown::Trace(trace)) = broken.counterexample(explored) else { return String::new() };
    let title = format!("{}: {}", broken.name, broken.why);
    let nodes = explored.nodes;
    let violated = Some(broken.violates);
    let diagram = Diagram { title: &title, unit: Unit::Step, nodes, widest: 900, violated };
    let figure = Figure {
        id: "counterexample",
        title: "One counterexample: Maekawa's rule of 1985 deadlocks",
        caption: "At the end n0 and n1 wait for each other, and no message is in flight. Crosses \
                  are requests whose answers are deferred, or never come. Each step is one \
                  event.",
        command: "diagram maekawa_1985",
    };
    figure.around(&spacetime(&diagram, trace))
}
