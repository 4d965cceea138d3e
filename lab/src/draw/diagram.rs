//! Space-time diagrams: a trace as a picture.

use std::fmt::Write;

use exclusion::message::{NodeId, Time, Trace};

use super::drawing::{Drawing, Moment, stepped};
use super::fates::Canvas;
use super::legend::{Legend, name_of};
use super::palette::{COLOURS, colour};

const LEFT: f64 = 60.0;
const RIGHT: f64 = 30.0;
const ROW: f64 = 56.0;

/// What a unit of time is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// One message delay.
    MessageDelay,
    /// A millionth of a second.
    Microsecond,
    /// A step of an exploration, which has no time but an order.
    Step,
}

impl Unit {
    /// As it is written behind a number.
    fn name(self) -> &'static str {
        match self {
            Self::MessageDelay => " T",
            Self::Microsecond => " µs",
            Self::Step => "",
        }
    }
}

/// How to draw a trace: a line per node, time from left to right, messages as arrows coloured by
/// kind, the time inside shaded, requests as dots, and a cross where an answer is held back.
#[derive(Clone, Copy, Debug)]
pub struct Diagram<'a> {
    /// What it says above.
    pub title: &'a str,
    /// What the time is counted in.
    pub unit: Unit,
    /// How many nodes there are, whether or not anything happens to them.
    pub nodes: usize,
    /// How many pixels it may be wide.
    pub widest: u32,
    /// The property that the trace violates, if it is a counterexample. What went wrong is shaded
    /// at the end, and named.
    pub violated: Option<&'a str>,
}

impl Diagram<'_> {
    /// The trace as a picture that stands by itself.
    pub fn svg(&self, trace: &Trace) -> String {
        self.draw(&self.drawing(trace), true)
    }

    /// The trace as a part of a page that has [`STYLE`], [`heads`] and a legend.
    pub fn embedded(&self, trace: &Trace) -> String {
        self.draw(&self.drawing(trace), false)
    }

    fn drawing<'t>(&self, trace: &'t Trace) -> Drawing<'t> {
        let drawing = Drawing::of(trace, self.nodes);
        match self.violated {
            Some(property) => drawing.violated(property, trace),
            None => drawing,
        }
    }

    /// The kinds of messages, in the order of their colours.
    pub fn kinds(&self, trace: &Trace) -> Vec<String> {
        Drawing::of(trace, self.nodes).kinds().into_iter().map(name_of).collect()
    }

    fn draw(&self, drawing: &Drawing<'_>, alone: bool) -> String {
        let units = drawing.end.as_units().max(1.0);
        let scale = ((f64::from(self.widest) - LEFT - RIGHT) / units).min(80.0);
        // Wide enough for a title in any letters of its size.
        let title = if alone { 32.0 + 9.0 * self.title.chars().count() as f64 } else { 0.0 };
        let width = (LEFT + RIGHT + units * scale).max(420.0).max(title);
        let kinds = drawing.kinds();
        let legend = Legend::new(&kinds, width, drawing.shows());
        let top = if alone { 40.0 + legend.height } else { 8.0 };
        let named = if drawing.violation.is_some() { 24.0 } else { 0.0 };
        let height = top + ROW * drawing.nodes as f64 + 40.0 + named;
        let x = |time: Time| LEFT + time.as_units() * scale;
        let until = |to: Option<Moment>| x(to.map_or(drawing.end, |to| to.time));
        let stepped = |from: Moment, to: Option<Moment>| stepped(!alone, from, to);
        let place = match alone {
            true => String::new(),
            false => format!(r#" data-left="{LEFT}" data-scale="{scale:.3}""#),
        };
        let y = |node: NodeId| top + ROW * (node.index() as f64 + 0.5);

        let mut out = String::new();
        let mut line =
            |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes it");
        line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="spacetime"{place} viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">"#
        ));
        line(format_args!("<title>{}</title>", escape(self.title)));
        if alone {
            line(format_args!("<style>{STYLE}</style>\n{}", heads()));
        }
        line(format_args!(r#"<rect class="paper" width="100%" height="100%"/>"#));
        if alone {
            let title = escape(self.title);
            line(format_args!(r#"<text class="title" x="16" y="24">{title}</text>"#));
            legend.draw(&mut line);
        }

        // Ticks far enough apart that their labels do not touch.
        let step = (1..).map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power - 1)));
        let step =
            step.flatten().find(|step| step * scale >= 64.0).expect("steps grow without bound");
        let mut tick = 0.0;
        while tick <= units {
            let at = LEFT + tick * scale;
            line(format_args!(
                r#"<line class="tick" x1="{at:.1}" x2="{at:.1}" y1="{top:.1}" y2="{:.1}"/><text class="label" x="{at:.1}" y="{:.1}" text-anchor="middle">{tick}{}</text>"#,
                height - 34.0 - named,
                height - 16.0 - named,
                self.unit.name()
            ));
            tick += step;
        }
        if let Some((verdict, ended)) = &drawing.violation {
            let (left, right, stepped) = (x(ended.time), x(drawing.end), stepped(*ended, None));
            for node in &verdict.nodes {
                line(format_args!(
                    r#"<rect class="violation"{stepped} x="{left:.1}" y="{:.1}" width="{:.1}" height="{ROW}"/>"#,
                    y(*node) - ROW / 2.0,
                    right - left
                ));
            }
            line(format_args!(
                r#"<text class="wrong"{stepped} x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                right.max(width - RIGHT),
                height - 12.0,
                escape(&verdict.text)
            ));
        }
        let canvas = Canvas { x, y, end: drawing.end, row: ROW, on_a_page: !alone };
        drawing.fates.draw_behind(&canvas, &mut line);
        for node in NodeId::all(drawing.nodes) {
            line(format_args!(
                r#"<line class="life" x1="{LEFT}" x2="{:.1}" y1="{1:.1}" y2="{1:.1}"/><text class="node" x="16" y="{2:.1}">{node}</text>"#,
                x(drawing.end),
                y(node),
                y(node) + 5.0
            ));
        }
        for held in &drawing.token {
            let (left, right, y) = (x(held.from.time), until(held.to), y(held.node) + 11.0);
            let stepped = stepped(held.from, held.to);
            line(format_args!(
                r#"<line class="token"{stepped} x1="{left:.1}" x2="{:.1}" y1="{y:.1}" y2="{y:.1}"/>"#,
                right.max(left + 2.0)
            ));
        }
        for stay in &drawing.stays {
            let (node, from) = (stay.node, stay.from.time);
            let (left, right, top) = (x(from), until(stay.to), y(node) - 8.0);
            let stepped = stepped(stay.from, stay.to);
            let left_at =
                stay.to.map_or_else(String::new, |to| format!(" to {:.2}", to.time.as_units()));
            // The edge at the left tells an entry from the one before it.
            line(format_args!(
                r#"<rect class="inside"{stepped} x="{left:.1}" y="{top:.1}" width="{:.1}" height="16"><title>{node} is inside from {:.2}{left_at}</title></rect><path class="entry"{stepped} d="M{left:.1} {top:.1}v16"/>"#,
                (right - left).max(2.0),
                from.as_units()
            ));
            let room = drawing.stays.iter().all(|other| {
                let next = other.from.time;
                other.node != node || next <= from || x(next) - left >= 34.0
            });
            if room {
                let moment = from.as_units();
                line(format_args!(
                    r#"<text class="moment"{stepped} x="{left:.1}" y="{:.1}">{moment:.1}</text>"#,
                    top - 3.0
                ));
            }
        }
        for arrow in &drawing.arrows {
            let kind = kinds.iter().position(|kind| *kind == (arrow.kind, arrow.late));
            let kind = kind.expect("all kinds are listed") % COLOURS.len();
            let lost = if arrow.arrived.is_none() { r#" stroke-dasharray="4 4""# } else { "" };
            let marker = if arrow.arrived.is_some() {
                format!(r##" marker-end="url(#head{kind})""##)
            } else {
                String::new()
            };
            let (from, to) =
                ((x(arrow.sent.time), y(arrow.from)), (until(arrow.arrived), y(arrow.to)));
            let stepped = stepped(arrow.sent, arrow.arrived);
            line(format_args!(
                r#"<line class="message"{stepped} x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{}"{lost}{marker}/>"#,
                from.0,
                from.1,
                to.0,
                to.1,
                colour(kind)
            ));
        }
        for &(node, now) in &drawing.requests {
            let (x, y, stepped) = (x(now.time), y(node), stepped(now, None));
            line(format_args!(r#"<circle class="asks"{stepped} cx="{x:.1}" cy="{y:.1}" r="4"/>"#));
        }
        drawing.fates.draw(&canvas, &mut line);
        for &(node, now) in &drawing.delayed {
            let (x, y, stepped) = (x(now.time), y(node), stepped(now, None));
            line(format_args!(
                r#"<path class="delayed"{stepped} d="M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#,
                x - 4.0,
                y - 4.0
            ));
        }
        line(format_args!("</svg>"));
        out
    }
}

/// The heads of the arrows, one per colour.
pub fn heads() -> String {
    let mut heads = String::from("<defs>");
    for (index, colour) in COLOURS.iter().enumerate() {
        write!(
            heads,
            r#"<marker id="head{index}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>"#
        )
        .expect("a string takes it");
    }
    heads.push_str("</defs>");
    heads
}

/// The style of diagrams, by day and by night.
pub const STYLE: &str = "\
.spacetime text{font:13px system-ui,sans-serif;fill:#222}.spacetime .title{font-size:15px;font-weight:600}\
.spacetime .node{font-weight:600}.spacetime .label{fill:#666;font-size:11px}.spacetime .paper{fill:#fff}\
.spacetime .life{stroke:#444;stroke-width:1.4}.spacetime .tick{stroke:#ddd}.spacetime .inside{fill:#f4a340;opacity:.75}\
.spacetime .message{stroke-width:1.6}.spacetime .asks{fill:#222}.spacetime .delayed{stroke:#d6455d;stroke-width:2;fill:none}\
.spacetime .gone{stroke:#fff;stroke-width:3;stroke-dasharray:6 6}.spacetime .leads{fill:#f4a340;stroke:#222}\
.spacetime .follows{fill:#fff;stroke:#222;stroke-width:1.4}.spacetime .cut{fill:#777;opacity:.16}\
.spacetime .paused{stroke:#8a8f98;stroke-width:7;opacity:.8}.spacetime .epoch{stroke:#1f9d76;stroke-width:4}\
.spacetime .suspects{fill:#d6455d;stroke:#fff}.spacetime .trusts{fill:#fff;stroke:#d6455d;stroke-width:1.6}\
.spacetime .entry{stroke:#9a5b00;stroke-width:2}.spacetime .moment{fill:#666;font-size:10px}\
.spacetime .token{stroke:#7b5bd6;stroke-width:4}.spacetime .violation{fill:#d6455d;opacity:.28}\
.spacetime .wrong{fill:#b3202f;font-weight:600}\
@media(prefers-color-scheme:dark){.spacetime text{fill:#eee}.spacetime .label{fill:#aaa}.spacetime .paper{fill:#16181c}\
.spacetime .life{stroke:#bbb}.spacetime .tick{stroke:#333}.spacetime .asks{fill:#eee}\
.spacetime .moment{fill:#aaa}.spacetime .wrong{fill:#ff8a95}.spacetime .token{stroke:#a78bff}\
.spacetime .gone{stroke:#16181c}.spacetime .suspects{stroke:#16181c}.spacetime .trusts{fill:#16181c}.spacetime .leads{stroke:#eee}.spacetime .follows{fill:#16181c;stroke:#eee}}";

/// Text that is not taken for markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
