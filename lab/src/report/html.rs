//! The page: its frame, its style, and what its figures and tables are made of.

use std::fmt::Write;

use exclusion::message::Trace;
use exclusion::message::registry::{Algorithm, ElectionAlgorithm};
use serde::Serialize;

use crate::draw::chart::{Chart, GRID};
use crate::draw::diagram::{self, Diagram, escape};
use crate::draw::labels::Labels;
use crate::draw::palette::colour;
use crate::draw::violation::Verdict;
use crate::explore::broken::Broken;
use crate::played::Played;

const CSS: &str = include_str!("page.css");

/// Steps through runs.
const STEPPER: &str = include_str!("stepper.js");

/// A whole page, which needs nothing from elsewhere.
pub fn page(title: &str, lead: &str, sections: &[Section]) -> String {
    let links = sections.iter().map(|section| {
        format!(r##"<li><a href="#{}">{}</a></li>"##, section.id, escape(section.title))
    });
    let links: String = links.collect();
    let body: String = sections.iter().map(Section::html).collect();
    let (title, heads) = (escape(title), diagram::heads());
    let grid = format!(".chart [stroke='{GRID}']{{stroke:var(--line)}}");
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{CSS}{grid}{}</style>
</head>
<body>
<svg width="0" height="0" style="position:absolute" aria-hidden="true">{heads}</svg>
<header>
<h1>{title}</h1>
{lead}
<nav aria-label="Contents"><ul>{links}</ul></nav>
</header>
<main>
{body}</main>
<script>{STEPPER}</script>
</body>
</html>
"#,
        diagram::STYLE
    )
}

/// A part of the page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its address within the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it says first, as HTML.
    pub lead: String,
    /// What it shows, as HTML.
    pub body: String,
}

impl Section {
    fn html(&self) -> String {
        let Self { id, title, lead, body } = self;
        format!("<section id=\"{id}\">\n<h2>{}</h2>\n{lead}\n{body}</section>\n", escape(title))
    }
}

/// A figure: something to look at, what it is, and the command that makes it.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// Its address within the page.
    pub id: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// What there is to see, in a sentence or two.
    pub caption: &'a str,
    /// What to type after `cargo lab`.
    pub command: &'a str,
}

impl Figure<'_> {
    /// The figure around its content.
    pub fn around(&self, content: &str) -> String {
        let Self { id, title, caption, command } = self;
        // A word at a time: lines break between words, not at hyphens.
        let words = format!("cargo lab {command}");
        let words: Vec<_> =
            words.split(' ').map(|it| format!("<span>{}</span>", escape(it))).collect();
        format!(
            "<figure id=\"{id}\">\n<h3>{}</h3>\n{content}\n<figcaption>{} <code>{}</code></figcaption>\n</figure>\n",
            escape(title),
            escape(caption),
            words.join(" ")
        )
    }
}

/// What the colours mean: a name, the number of its colour, and whether its line is broken.
pub fn legend(entries: &[(&str, usize, bool)]) -> String {
    let entry = |&(name, index, dashed): &(&str, usize, bool)| {
        let colour = colour(index);
        let class = if dashed { r#" class="dashed""# } else { "" };
        format!(
            r#"<li><i{class} style="background:{colour};--dash:{colour}"></i>{}</li>"#,
            escape(name)
        )
    };
    format!(r#"<ul class="legend">{}</ul>"#, entries.iter().map(entry).collect::<String>())
}

/// A run that can be stepped through: for the script of the page.
#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    played: &'a Played,
    /// When each step happens, in units of time.
    times: Vec<f64>,
    /// What has gone wrong at the end.
    ends: Option<String>,
}

/// A space-time diagram, with what its colours mean above it, and what the nodes know at each step.
pub fn spacetime(diagram: &Diagram<'_>, trace: &Trace, played: &Played) -> String {
    let kinds = diagram.kinds(trace);
    let kinds: Vec<_> =
        kinds.iter().enumerate().map(|(index, kind)| (kind.as_str(), index, false)).collect();
    let time = |events: usize| trace.events[..events].last().map(|event| event.time.as_units());
    let run = Run {
        played,
        times: played.steps.iter().map(|step| time(step.events).unwrap_or(0.0)).collect(),
        ends: diagram.violated.map(|property| Verdict::of(property, trace, diagram.nodes).text),
    };
    // Nothing in it ends the element that it stands in.
    let run = serde_json::to_string(&run).expect("plain data").replace('<', "\\u003c");
    format!(
        "<div class=\"run\">{}<div class=\"scroll\">{}</div>\
         <script type=\"application/json\" class=\"run\">{run}</script></div>",
        legend(&kinds),
        diagram.embedded(trace)
    )
}

/// Something that is folded until it is wanted.
pub fn folded(summary: &str, content: &str) -> String {
    format!("<details><summary>{}</summary>\n{content}\n</details>\n", escape(summary))
}

/// A chart for wide screens, and again for narrow ones.
pub fn chart(chart: &Chart, height: u32) -> String {
    labelled(chart, height, &Labels::None)
}

/// The same with names at its lines.
pub fn labelled(chart: &Chart, height: u32, labels: &Labels) -> String {
    let wide = chart.labelled(1080, height, labels);
    let narrow = chart.labelled(330, height.max(260), labels);
    format!("<div class=\"chart wide\">{wide}</div>\n<div class=\"chart narrow\">{narrow}</div>")
}

/// Small charts side by side: a name, a remark, and the chart.
pub fn multiples<'a>(charts: impl IntoIterator<Item = (&'a str, String, Chart)>) -> String {
    multiples_of(
        "multiples",
        charts.into_iter().map(|(name, remark, chart)| (name, remark, chart.svg(330, 230))),
    )
}

/// The same with charts that are drawn already.
pub fn multiples_of<'a>(
    class: &str,
    charts: impl IntoIterator<Item = (&'a str, String, String)>,
) -> String {
    let mut html = format!("<div class=\"{class}\">\n");
    for (name, remark, svg) in charts {
        writeln!(
            html,
            "<div><h4>{}</h4><p>{}</p><div class=\"chart\">{svg}</div></div>",
            escape(name),
            escape(&remark)
        )
        .expect("a string takes it");
    }
    html.push_str("</div>");
    html
}

/// A table. A heading that begins with `#` is above numbers. What the first column names is
/// linked, where it has a place on the page.
pub fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let class = |heading: &str| {
        if heading.starts_with('#') { r#" class="number""# } else { "" }
    };
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    for heading in headings {
        write!(
            html,
            "<th{} scope=\"col\">{}</th>",
            class(heading),
            escape(heading.trim_start_matches('#'))
        )
        .expect("a string takes it");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (column, (heading, cell)) in headings.iter().zip(row).enumerate() {
            let cell = if column == 0 { linked(&cell) } else { escape(&cell) };
            write!(html, "<td{}>{cell}</td>", class(heading)).expect("a string takes it");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>");
    html
}

/// A name as a link to where the page tells of it; as it is, if there is no such place.
pub fn linked(name: &str) -> String {
    // "raymond_k, k = 2"
    let bare = name.split(',').next().unwrap_or(name);
    let is_lock = Algorithm::named(bare).is_ok() || ElectionAlgorithm::named(bare).is_ok();
    let place = match Broken::named(bare) {
        _ if is_lock => "story",
        Some(_) => "broken",
        None => return escape(name),
    };
    format!("<a href=\"#{place}-{bare}\">{}</a>", escape(name))
}

/// A paragraph.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_is_not_markup() {
        let html = table(&["a", "#b"], [vec!["x < y & z".to_owned(), "1".to_owned()]]);
        assert!(html.contains("<td>x &lt; y &amp; z</td><td class=\"number\">1</td>"), "{html}");
        assert!(paragraph("<script>").contains("&lt;script&gt;"));
    }

    #[test]
    fn a_page_asks_for_nothing_from_elsewhere() {
        let section = Section { id: "one", title: "One", lead: String::new(), body: String::new() };
        let html = page("Title", "", &[section]);
        assert!(html.contains("href=\"#one\"") && html.contains("id=\"one\""));
        assert!(!html.contains("http") && !html.contains("src="), "{html}");
    }
}
