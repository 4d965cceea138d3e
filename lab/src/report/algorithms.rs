//! All algorithms: compared, and one by one with a diagram each.

use super::Findings;
use super::html::{Figure, Section, paragraph, spacetime, table};
use super::stories::{STORIES, Story};
use crate::count::criteria::figure;
use crate::draw::diagram::{Diagram, Unit, escape};

/// What the lecture that compares seven of them calls these.
const LECTURE: [(&str, &str, &str); 7] = [
    ("token_ring", "token ring", "1 … ∞"),
    ("lamport", "simple broadcast", "3(n-1)"),
    ("ricart_agrawala", "improved broadcast", "2(n-1)"),
    ("suzuki_kasami_ring", "improved token ring", "0 … 2n-1"),
    ("maekawa", "mesh arrangement", "O(√n)"),
    ("raymond", "lift algorithm", "O(log n)"),
    ("central_coordinator", "central manager", "3"),
];

pub(super) fn section(findings: &Findings) -> Section {
    let stories: String = STORIES.iter().map(|story| story_of(story, findings)).collect();
    Section {
        id: "algorithms",
        title: "The algorithms, one by one",
        lead: paragraph(
            "First all of them side by side, by bandwidth, client delay and synchronization delay. \
             Then each with a small run. A dot is a request, orange the critical section. A cross \
             is a request whose answer the node defers.",
        ),
        body: comparison(findings) + &stories,
    }
}

fn comparison(findings: &Findings) -> String {
    // Those of the lecture first, in its order.
    let place =
        |name: &str| LECTURE.iter().position(|(it, ..)| *it == name).unwrap_or(LECTURE.len());
    let mut rows: Vec<_> = findings.criteria.iter().collect();
    rows.sort_by_key(|row| place(row.algorithm));
    let rows = rows.into_iter().map(|row| {
        let lecture = LECTURE.iter().find(|(it, ..)| *it == row.algorithm);
        vec![
            row.algorithm.to_owned(),
            lecture.map_or_else(String::new, |(_, name, says)| format!("{name}: {says}")),
            row.formula.to_owned(),
            row.nodes.to_string(),
            figure(row.alone),
            figure(row.light),
            figure(row.saturated),
            figure(row.client_delay),
            figure(row.sync_delay),
        ]
    });
    let headings = [
        "algorithm",
        "in the lecture",
        "formula here",
        "#nodes",
        "#in turn",
        "#at random",
        "#all want in",
        "#client delay",
        "#sync delay",
    ];
    let around = Figure {
        id: "comparison",
        title: "Messages per entry, and delays, as measured",
        caption: "Messages per entry: one node after the other, at random at a light load, and all \
                  always. Client delay: from wanting in to being inside, at a light load. \
                  Synchronization delay: from an exit to the next entry, when all always want in. \
                  Delays are in units of T; all figures are means. The lecture counts messages to \
                  oneself, and a request that goes all the way round.",
        command: "messages --criteria",
    };
    around.around(&table(&headings, rows))
}

fn story_of(story: &Story, findings: &Findings) -> String {
    let Some((scene, trace)) =
        findings.sketches.iter().find(|(it, _)| it.algorithm == story.algorithm)
    else {
        return String::new();
    };
    let (name, nodes) = (scene.algorithm, scene.nodes);
    let title = format!("{}, {nodes} nodes", story.title);
    let (unit, widest) = (Unit::MessageDelay, 900);
    let diagram = Diagram { title: &title, unit, nodes, widest, violated: None };
    let picture = spacetime(&diagram, trace);
    let Story { how, cost, guarantee, .. } = *story;
    let words = format!(
        "<div class=\"story\"><dl><dt>How it works</dt><dd>{}</dd>\
         <dt>What it costs</dt><dd>{}</dd><dt>What it guarantees</dt><dd>{}</dd></dl></div>",
        escape(how),
        escape(cost),
        escape(guarantee)
    );
    let (id, heading) = (format!("story-{name}"), format!("{} ({})", story.title, story.source));
    let command = format!("diagram {name}");
    let figure = Figure { id: &id, title: &heading, caption: scene.shows, command: &command };
    figure.around(&(words + &picture))
}
