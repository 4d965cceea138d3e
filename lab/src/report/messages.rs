//! Messages beside their formulas, delays, and the load of each node.

use super::html::{Figure, Section, chart, folded, labelled, legend, multiples, paragraph};
use super::stories::STORIES;
use super::{Commands, Findings};
use crate::count::criteria;
use crate::count::messages::{Load, Row, WaitingRow};
use crate::draw::chart::{Axis, Chart, Mark, Series};
use crate::draw::labels::{Label, Labels};

pub(super) fn section(findings: &Findings, commands: &Commands) -> Section {
    let more = over_nodes(&findings.messages, &commands.messages)
        + &over_waiting(&findings.waiting, &commands.waiting)
        + &delays(&findings.criteria, &commands.criteria)
        + &loads(&findings.criteria, &commands.criteria);
    let body = side_by_side(findings, &commands.messages)
        + &folded("Each algorithm beside its formula; delays; the load of each node", &more);
    Section {
        id: "messages",
        title: "How many messages",
        lead: paragraph(
            "Messages per entry, as simulated. What a node sends to itself does not count. T is \
             the time that a message takes.",
        ),
        body,
    }
}

/// Those that stand for a family each, dearest first.
const SHOWN: [&str; 4] = ["lamport", "ricart_agrawala", "maekawa", "central_coordinator"];

/// The colour of the others.
const GREY: usize = 7;

/// The measured means, one after the other, of an algorithm, by the number of nodes.
fn alone<'a>(rows: &'a [Row], algorithm: &str) -> Vec<&'a Row> {
    let rows = rows.iter().filter(|row| row.load == Load::Alone && row.error.is_none());
    rows.filter(|row| row.algorithm == algorithm).collect()
}

/// What the shown ones cost at the largest size that all of them were measured at.
fn costs(rows: &[Row]) -> Option<(usize, Vec<f64>)> {
    let sizes = alone(rows, SHOWN[0]).into_iter().map(|row| row.nodes);
    let at = |name: &str, nodes: usize| {
        alone(rows, name).into_iter().find(|row| row.nodes == nodes).map(|row| row.mean)
    };
    let costs = |nodes: usize| SHOWN.iter().map(|name| at(name, nodes)).collect::<Option<Vec<_>>>();
    let mut found: Vec<_> = sizes.filter_map(|nodes| Some((nodes, costs(nodes)?))).collect();
    found.sort_by_key(|(nodes, _)| *nodes);
    found.pop()
}

/// The finding that the page opens with.
pub(super) fn in_short(findings: &Findings) -> Option<(String, String)> {
    let (nodes, costs) = costs(&findings.messages)?;
    let numbers: Vec<_> = costs.iter().map(|cost| format!("{cost:.0}")).collect();
    Some((
        numbers.join(", "),
        format!(
            "messages take an entry among {nodes} nodes: Lamport's algorithm, Ricart's and \
             Agrawala's, Maekawa's grid, and a coordinator. Every figure is within its formula.",
        ),
    ))
}

/// All algorithms in one chart: those that stand for a family coloured, the others grey.
fn side_by_side(findings: &Findings, command: &str) -> String {
    let Some((nodes, costs)) = costs(&findings.messages) else { return String::new() };
    let of = |name: &str| -> Vec<(f64, f64)> {
        alone(&findings.messages, name).iter().map(|row| (row.nodes as f64, row.mean)).collect()
    };
    // A token that never rests has no figure of its own when few want in.
    let others = STORIES.iter().map(|story| story.algorithm);
    let others = others.filter(|name| !SHOWN.contains(name) && *name != "token_ring");
    let grey = others.map(|name| Series { colour: GREY, mark: Mark::Line, points: of(name) });
    let coloured = SHOWN.iter().enumerate().map(|(colour, name)| Series {
        colour,
        mark: Mark::Line,
        points: of(name),
    });
    let series: Vec<Series> = grey.chain(coloured).collect();
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let ends = SHOWN.iter().zip(&costs).enumerate().map(|(colour, (name, cost))| {
        let title = STORIES.iter().find(|story| story.algorithm == *name);
        let title = title.map_or(*name, |story| story.title);
        Label { at: (nodes as f64, *cost), text: format!("{cost:.0} {title}"), colour }
    });
    let ends = Labels::Ends(ends.collect());
    let curves = Chart {
        x: Axis::linear("nodes", points().map(|(x, _)| x)),
        y: Axis::linear("messages per entry", points().map(|(_, y)| y)),
        series,
    };
    let numbers: Vec<_> = costs.iter().map(|cost| format!("{cost:.0}")).collect();
    let title = format!(
        "Among {nodes} nodes an entry costs {} messages, by whom one asks: all, all without a \
         farewell, a row and a column, or one",
        numbers.join(", ")
    );
    let figure = Figure {
        id: "messages-side-by-side",
        title: &title,
        caption: "One node after the other wants in. Grey are the other algorithms; each has a \
                  chart of its own below. The token ring is left out: its token goes round whether \
                  or not anybody wants in.",
        command,
    };
    figure.around(&labelled(&curves, 420, &ends))
}

const ALONE: usize = 0;
const LIGHT: usize = 2;
const SATURATED: usize = 1;
const FORMULA: usize = 7;
const BOUND: usize = 6;

fn over_nodes(rows: &[Row], command: &str) -> String {
    let charts = STORIES.iter().filter_map(|story| {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.algorithm == story.algorithm).collect();
        let formula = rows.first()?.formula.to_owned();
        Some((story.title, formula, over_nodes_of(&rows)))
    });
    let legend = legend(&[
        ("one after the other", ALONE, false),
        ("now and then, at random", LIGHT, false),
        ("all always want in", SATURATED, false),
        ("the formula, one after the other: least and most", FORMULA, true),
        ("the formula, at most under any load", BOUND, true),
    ]);
    let figure = Figure {
        id: "messages-over-nodes",
        title: "Messages per entry, over the number of nodes",
        caption: "Means of simulated runs. At random and when all want in, delays vary, and \
                  messages overtake each other if the channels allow it. A formula without a bound \
                  is not drawn.",
        command,
    };
    figure.around(&(legend + &multiples(charts)))
}

fn over_nodes_of(rows: &[&Row]) -> Chart {
    let of = |load: Load| rows.iter().filter(move |row| row.load == load);
    let measured = |load, colour, mark| Series {
        colour,
        mark,
        points: of(load)
            .filter(|row| row.error.is_none())
            .map(|row| (row.nodes as f64, row.mean))
            .collect(),
    };
    let formula = |load, colour, value: fn(&Row) -> f64| Series {
        colour,
        mark: Mark::Dashed,
        points: of(load).map(|row| (row.nodes as f64, value(row))).collect(),
    };
    let series = vec![
        formula(Load::Saturated, BOUND, |row| row.most),
        formula(Load::Alone, FORMULA, |row| row.least),
        formula(Load::Alone, FORMULA, |row| row.most),
        measured(Load::Alone, ALONE, Mark::Dots),
        measured(Load::Light, LIGHT, Mark::Line),
        measured(Load::Saturated, SATURATED, Mark::Line),
    ];
    let values = series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let values: Vec<f64> = values.collect();
    Chart {
        x: Axis::linear("nodes", rows.iter().map(|row| row.nodes as f64)),
        y: Axis::linear("messages", values),
        series,
    }
}

fn over_waiting(rows: &[WaitingRow], command: &str) -> String {
    let figure = Figure {
        id: "messages-over-load",
        title: "Banta's cycles: the more wait, the less each pays",
        caption: "The thesis counts a message that the good site would send to itself. Without it, \
                  the measured cost is exactly the formula.",
        command,
    };
    let charts =
        [("banta_efficient", "Chapter 5"), ("banta_k", "Chapter 6")].map(|(name, title)| {
            let rows: Vec<_> = rows.iter().filter(|row| row.algorithm == name).collect();
            let series = |colour, mark, value: fn(&WaitingRow) -> f64| Series {
                colour,
                mark,
                points: rows.iter().map(|row| (row.waiting as f64, value(row))).collect(),
            };
            let curves = Chart {
                x: Axis::linear("requests that wait", rows.iter().map(|row| row.waiting as f64)),
                y: Axis::linear("messages", rows.iter().map(|row| row.thesis)),
                series: vec![
                    series(SATURATED, Mark::Dashed, |row| row.thesis),
                    series(FORMULA, Mark::Dashed, |row| row.formula),
                    series(ALONE, Mark::Dots, |row| row.mean),
                ],
            };
            let nodes = rows.first().map_or(0, |row| row.nodes);
            format!("<h4>{title}, {nodes} nodes</h4>{}", chart(&curves, 300))
        });
    let legend = legend(&[
        ("measured", ALONE, false),
        ("the formula", FORMULA, true),
        ("the thesis's formula", SATURATED, true),
    ]);
    figure.around(&(legend + &charts.concat()))
}

fn delays(rows: &[criteria::Row], command: &str) -> String {
    let delays: Vec<_> =
        rows.iter().filter_map(|row| row.sync_delay.map(|delay| (row.algorithm, delay))).collect();
    if delays.is_empty() {
        return String::new();
    }
    let place = |index: usize| (delays.len() - index) as f64;
    let marks = delays.iter().enumerate().rev();
    let bars = Chart {
        x: Axis::linear("T", delays.iter().map(|(_, delay)| *delay)),
        y: Axis::named(
            "",
            marks.map(|(index, (name, _))| (place(index), (*name).to_owned())).collect(),
        ),
        series: vec![Series {
            colour: ALONE,
            mark: Mark::Rows,
            points: delays
                .iter()
                .enumerate()
                .map(|(index, (_, delay))| (*delay, place(index)))
                .collect(),
        }],
    };
    let figure = Figure {
        id: "synchronization-delay",
        title: "Synchronization delay",
        caption: "The mean time from an exit to the next entry, when all always want in. If k \
                  users may be inside at a time, the next one need not wait for the exit.",
        command,
    };
    // Names need their width: on a narrow page the chart scrolls.
    let svg = bars.svg(640, 28 * delays.len() as u32 + 72);
    figure.around(&format!("<div class=\"scroll chart\">{svg}</div>"))
}

fn loads(rows: &[criteria::Row], command: &str) -> String {
    let shown = [
        ("central_coordinator", "Central coordinator"),
        ("maekawa", "Grid"),
        ("maekawa_triangle_columns", "Triangle, by columns"),
        ("maekawa_triangle_rows", "Triangle, by rows"),
        ("maekawa_triangle", "Triangle, both schemes in turn"),
        ("maekawa_plane", "Projective plane"),
    ];
    let rows = |name: &str| rows.iter().find(|row| row.algorithm == name);
    let most = shown.iter().filter_map(|(name, _)| rows(name)).flat_map(|row| row.load.clone());
    let most: Vec<f64> = most.collect();
    let charts = shown.iter().filter_map(|&(name, title)| {
        let row = rows(name)?;
        let names = (0..row.load.len()).map(|node| (node as f64, format!("n{node}")));
        let bars = Chart {
            x: Axis::named("node", names.collect()),
            y: Axis::linear("messages", most.iter().copied()),
            series: vec![Series {
                colour: ALONE,
                mark: Mark::Bars,
                points: row.load.iter().enumerate().map(|(node, &it)| (node as f64, it)).collect(),
            }],
        };
        Some((title, format!("{} nodes", row.nodes), bars))
    });
    let figure = Figure {
        id: "load",
        title: "Load of each node",
        caption: "Messages that each node sends or receives per entry of any node, when all always \
                  want in.",
        command,
    };
    figure.around(&multiples(charts))
}
