//! The page: its frame, its style, and what its figures and tables are made of.

use std::fmt::Write;

use exclusion::message::Trace;

use crate::draw::chart::{Chart, GRID};
use crate::draw::diagram::{self, Diagram, escape};
use crate::draw::palette::colour;

const CSS: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#5c6470;--line:#d9dde3;--card:#f6f7f9}\
@media(prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e8eaed;--soft:#a3abb7;--line:#343941;--card:#1e2126}}\
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif;overflow-wrap:break-word}\
header,main{max-width:72rem;margin:0 auto;padding:0 1rem}header{padding-top:2rem}main{padding-bottom:3rem}\
h1{font-size:2rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.5rem;line-height:1.25;margin:3rem 0 .5rem;border-top:1px solid var(--line);padding-top:1.5rem}\
h3{font-size:1.1rem;line-height:1.3;margin:0 0 .5rem}p{margin:.5rem 0;max-width:46rem}a{color:inherit}\
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0;margin:1rem 0}\
figure{margin:1.5rem 0;padding:1rem;background:var(--card);border:1px solid var(--line);border-radius:8px;min-width:0}\
figcaption{color:var(--soft);font-size:.9rem;line-height:1.6;margin-top:.75rem}code{font:.875em ui-monospace,monospace}\
figcaption code{display:block;margin-top:.4rem;color:var(--ink)}figcaption code span{white-space:nowrap}\
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin:0 0 .75rem;font-size:.9rem}\
.legend i{display:inline-block;width:1.1em;height:.3em;border-radius:2px;margin-right:.4em;vertical-align:middle}\
.legend i.dashed{background:repeating-linear-gradient(90deg,var(--dash) 0 .35em,transparent .35em .6em)!important}\
.chart svg{display:block;max-width:100%;height:auto}.scroll.chart svg{max-width:none}h4{font-size:.95rem;margin:1rem 0 .25rem;font-weight:600}.chart text{fill:var(--ink)}.chart [stroke='#000000']{stroke:var(--soft)}\
.narrow{display:none}@media(max-width:760px){.wide{display:none}.narrow{display:block}}\
.multiples{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:1.5rem 1rem}.multiples h4{font-size:.95rem;margin:0;font-weight:600}\
.multiples>div{min-width:0}.multiples p{margin:0;font-size:.85rem;color:var(--soft)}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;line-height:1.45;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .75rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}\
th{font-weight:600;white-space:normal;vertical-align:bottom}td.number,th.number{text-align:right}\
.story dl{margin:.25rem 0 1rem;max-width:46rem}.story dt{font-weight:600;font-size:.9rem}.story dd{margin:0 0 .4rem}\
.spacetime{display:block}";

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
<nav><ul>{links}</ul></nav>
</header>
<main>
{body}</main>
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

/// A space-time diagram, with what its colours mean above it.
pub fn spacetime(diagram: &Diagram<'_>, trace: &Trace) -> String {
    let kinds = diagram.kinds(trace);
    let kinds: Vec<_> =
        kinds.iter().enumerate().map(|(index, kind)| (kind.as_str(), index, false)).collect();
    format!("{}<div class=\"scroll\">{}</div>", legend(&kinds), diagram.embedded(trace))
}

/// A chart for wide screens, and again for narrow ones.
pub fn chart(chart: &Chart, height: u32) -> String {
    let (wide, narrow) = (chart.svg(1080, height), chart.svg(330, height.max(260)));
    format!("<div class=\"chart wide\">{wide}</div>\n<div class=\"chart narrow\">{narrow}</div>")
}

/// Small charts side by side: a name, a remark, and the chart.
pub fn multiples<'a>(charts: impl IntoIterator<Item = (&'a str, String, Chart)>) -> String {
    let mut html = String::from("<div class=\"multiples\">\n");
    for (name, remark, chart) in charts {
        let svg = chart.svg(330, 230);
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

/// A table. A heading that begins with `#` is above numbers.
pub fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let class = |heading: &str| {
        if heading.starts_with('#') { r#" class="number""# } else { "" }
    };
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    for heading in headings {
        write!(html, "<th{}>{}</th>", class(heading), escape(heading.trim_start_matches('#')))
            .expect("a string takes it");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (heading, cell) in headings.iter().zip(row) {
            write!(html, "<td{}>{}</td>", class(heading), escape(&cell))
                .expect("a string takes it");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>");
    html
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
        assert!(!html.contains("http") && !html.contains("<script"), "{html}");
    }
}
