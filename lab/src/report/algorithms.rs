//! All algorithms: compared, and one by one with a diagram each.

use exclusion::message::registry::{ALGORITHMS, ElectionAlgorithm};

use super::Findings;
use super::html::{Figure, Section, folded, paragraph, spacetime, table};
use super::stories::{STORIES, Story};
use crate::count::criteria::figure;
use crate::count::elections;
use crate::draw::diagram::{Diagram, Unit, escape};
use crate::draw::recovery::Recovery;

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
    let is_own = |story: &&Story| {
        let arranged = ALGORITHMS.iter().find(|it| it.name == story.algorithm);
        arranged.is_none_or(|it| it.arrangement.is_none())
    };
    let (own, arranged): (Vec<&Story>, Vec<&Story>) = STORIES.iter().partition(is_own);
    let told = |stories: &[&Story]| -> String {
        stories.iter().map(|story| story_of(story, findings)).collect()
    };
    let elections: String = findings.elections.iter().filter_map(election).collect();
    let body = comparison(findings)
        + &told(&own)
        + "<h3>The same on other quorums and topologies</h3>\n"
        + &told(&arranged)
        + "<h3>Elections</h3>\n"
        + &paragraph(
            "The nodes agree on one of them. A star leads, a circle follows; a dashed line is \
             down.",
        )
        + &elections
        + "<h3>Recoveries</h3>\n"
        + &paragraph(
            "A node dies inside. A detector tells the others, which agree on a view without it, \
             and start the lock anew.",
        )
        + &findings.recoveries.iter().map(recovery).collect::<String>();
    Section {
        id: "algorithms",
        title: "The algorithms, one by one",
        lead: paragraph(
            "First all of them side by side, by bandwidth, client delay and synchronization delay. \
             Then each with a small run that shows what is its own: step through it, and see what \
             each node knows. A dot is a request, orange the critical section. A cross is a request \
             whose answer the node defers; a violet line has the token.",
        ) + &contents(findings),
        body,
    }
}

/// Links to every algorithm and election.
fn contents(findings: &Findings) -> String {
    let stories = STORIES.iter().map(|story| (story.algorithm, story.title));
    let elections = findings.elections.iter().map(|row| (row.algorithm, row.algorithm));
    let link = |(name, title): (&str, &str)| {
        format!("<li><a href=\"#story-{name}\">{}</a></li>", escape(title))
    };
    let recoveries = findings
        .recoveries
        .iter()
        .map(|it| format!("<li><a href=\"#recovery-{0}\">recovery: {0}</a></li>", it.algorithm));
    let links: String = stories.chain(elections).map(link).chain(recoveries).collect();
    folded("Contents", &format!("<ul class=\"contents\">{links}</ul>"))
}

fn election(row: &elections::Row) -> Option<String> {
    let algorithm = ElectionAlgorithm::named(row.algorithm).ok()?;
    let title = format!("{}, {} nodes", row.algorithm, row.nodes);
    let nodes = row.nodes;
    let diagram =
        Diagram { title: &title, unit: Unit::MessageDelay, nodes, widest: 900, violated: None };
    let caption = format!(
        "{}. Messages: {}. It needs {}, and runs on {}.",
        algorithm.paper, algorithm.messages, algorithm.needs, algorithm.ground
    );
    let (id, command) = (format!("story-{}", row.algorithm), format!("diagram {}", row.algorithm));
    let figure = Figure { id: &id, title: &title, caption: &caption, command: &command };
    Some(figure.around(&spacetime(&diagram, &row.trace, &row.played)))
}

fn recovery(recovery: &Recovery) -> String {
    let Recovery { algorithm, nodes, trace, played } = recovery;
    let title = format!("{algorithm}, {nodes} nodes: the holder dies inside");
    let (nodes, unit) = (*nodes, Unit::MessageDelay);
    let diagram = Diagram { title: &title, unit, nodes, widest: 900, violated: None };
    let (id, command) =
        (format!("recovery-{algorithm}"), format!("faults {algorithm} --crash holder"));
    let figure = Figure {
        id: &id,
        title: &title,
        caption: "HALT and its answers settle the view; then the algorithm runs among those that \
                  live. Who enters first after that is told that the last entry may not have ended.",
        command: &command,
    };
    figure.around(&spacetime(&diagram, trace, played))
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
    around.around(&folded("The table", &table(&headings, rows)))
}

fn story_of(story: &Story, findings: &Findings) -> String {
    let Some((scene, trace, played)) =
        findings.sketches.iter().find(|(it, ..)| it.algorithm == story.algorithm)
    else {
        return String::new();
    };
    let (name, nodes) = (scene.algorithm, scene.nodes);
    let title = format!("{}, {nodes} nodes", story.title);
    let (unit, widest) = (Unit::MessageDelay, 900);
    let diagram = Diagram { title: &title, unit, nodes, widest, violated: None };
    let picture = spacetime(&diagram, trace, played);
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
