//! Space-time diagrams: a trace as a picture.

use std::collections::HashMap;
use std::fmt::Write;

use exclusion::protocol::{Event, Happening, NodeId, Time, Trace};

use crate::palette::{COLOURS, colour};

/// A message on its way: where and when it was sent, and where and when it arrived, if it did.
struct Arrow<'a> {
    kind: &'a str,
    from: NodeId,
    sent: Time,
    to: NodeId,
    arrived: Option<Time>,
}

/// What there is to draw.
struct Drawing<'a> {
    nodes: usize,
    end: Time,
    arrows: Vec<Arrow<'a>>,
    /// Who was inside, from when to when.
    stays: Vec<(NodeId, Time, Option<Time>)>,
    requests: Vec<(NodeId, Time)>,
    /// Where a message was received that is answered later: the answer is delayed.
    delayed: Vec<(NodeId, Time)>,
}

impl<'a> Drawing<'a> {
    fn of(trace: &'a Trace) -> Self {
        let mut drawing = Self {
            nodes: 0,
            end: Time::default(),
            arrows: Vec::new(),
            stays: Vec::new(),
            requests: Vec::new(),
            delayed: Vec::new(),
        };
        let mut in_flight = HashMap::new();
        // Who asked whom, when, without an answer yet.
        let mut open: Vec<(NodeId, NodeId, Time)> = Vec::new();
        for &Event { time, node, ref happening } in &trace.events {
            drawing.nodes = drawing.nodes.max(node.index() + 1);
            drawing.end = drawing.end.max(time);
            match happening {
                Happening::Requests => drawing.requests.push((node, time)),
                Happening::Enters => drawing.stays.push((node, time, None)),
                Happening::Leaves => {
                    let stay = drawing.stays.iter_mut().rev().find(|(inside, ..)| *inside == node);
                    if let Some((_, _, left)) = stay {
                        *left = Some(time);
                    }
                }
                Happening::Sends { to, message, kind, .. } => {
                    drawing.nodes = drawing.nodes.max(to.index() + 1);
                    in_flight.insert(*message, drawing.arrows.len());
                    drawing.arrows.push(Arrow {
                        kind,
                        from: node,
                        sent: time,
                        to: *to,
                        arrived: None,
                    });
                    if let Some(asked) = open.iter().position(|it| (it.0, it.1) == (node, *to)) {
                        let (_, _, since) = open.swap_remove(asked);
                        if since < time {
                            drawing.delayed.push((node, since));
                        }
                    }
                }
                Happening::Receives { from, message } => {
                    if let Some(&arrow) = in_flight.get(message) {
                        let arrow: &mut Arrow<'_> = &mut drawing.arrows[arrow];
                        arrow.arrived = Some(time);
                        if arrow.kind == "REQUEST" {
                            open.push((node, *from, time));
                        }
                    }
                }
                Happening::Starts | Happening::TimesOut(_) | Happening::SetsTimer { .. } => {}
            }
        }
        drawing
    }
}

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

/// How to draw a trace: a line a node, time from left to right, messages as arrows coloured by kind, the time inside
/// shaded, requests as dots, and a cross where an answer is delayed.
#[derive(Clone, Copy, Debug)]
pub struct Diagram<'a> {
    /// What it says above.
    pub title: &'a str,
    /// What the time is counted in.
    pub unit: Unit,
    /// How many pixels it may be wide.
    pub widest: u32,
}

impl Diagram<'_> {
    /// The trace as a picture that stands by itself.
    pub fn svg(&self, trace: &Trace) -> String {
        let own = format!("<style>{STYLE}</style>\n{}", heads());
        self.draw(trace, &own)
    }

    /// The trace as a part of a page that has [`STYLE`] and [`heads`].
    pub fn embedded(&self, trace: &Trace) -> String {
        self.draw(trace, "")
    }

    fn draw(&self, trace: &Trace, own: &str) -> String {
        let &Self { title, unit, widest } = self;
        draw(&Drawing::of(trace), title, unit, f64::from(widest), own)
    }
}

/// The heads of the arrows, one a colour.
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

fn draw(drawing: &Drawing<'_>, title: &str, unit: Unit, widest: f64, own: &str) -> String {
    let units = drawing.end.as_units().max(1.0);
    let scale = ((widest - LEFT - RIGHT) / units).min(80.0);
    let width = (LEFT + RIGHT + units * scale).max(420.0);
    // In the order in which they come: what asks comes first, and has the same colour everywhere.
    let mut kinds: Vec<&str> = Vec::new();
    for arrow in &drawing.arrows {
        if !kinds.contains(&arrow.kind) {
            kinds.push(arrow.kind);
        }
    }
    let legend = Legend::new(&kinds, width);
    let top = 40.0 + legend.height;
    let height = top + ROW * drawing.nodes as f64 + 40.0;
    let x = |time: Time| LEFT + time.as_units() * scale;
    let y = |node: NodeId| top + ROW * (node.index() as f64 + 0.5);

    let mut out = String::new();
    let mut line =
        |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes it");
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="spacetime" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">"#
    ));
    line(format_args!("<title>{}</title>", escape(title)));
    if !own.is_empty() {
        line(format_args!("{own}"));
    }
    line(format_args!(r#"<rect class="paper" width="100%" height="100%"/>"#));
    line(format_args!(r#"<text class="title" x="16" y="24">{}</text>"#, escape(title)));
    legend.draw(&mut line);

    // Ticks far enough apart that their labels do not touch.
    let step = (1..).map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power - 1)));
    let step = step.flatten().find(|step| step * scale >= 64.0).expect("steps grow without bound");
    let mut tick = 0.0;
    while tick <= units {
        let at = LEFT + tick * scale;
        line(format_args!(
            r#"<line class="tick" x1="{at:.1}" x2="{at:.1}" y1="{top:.1}" y2="{:.1}"/><text class="label" x="{at:.1}" y="{:.1}" text-anchor="middle">{tick}{}</text>"#,
            height - 34.0,
            height - 16.0,
            unit.name()
        ));
        tick += step;
    }
    for node in NodeId::all(drawing.nodes) {
        line(format_args!(
            r#"<line class="life" x1="{LEFT}" x2="{:.1}" y1="{1:.1}" y2="{1:.1}"/><text class="node" x="16" y="{2:.1}">{node}</text>"#,
            x(drawing.end),
            y(node),
            y(node) + 5.0
        ));
    }
    for &(node, from, to) in &drawing.stays {
        let (left, right) = (x(from), x(to.unwrap_or(drawing.end)));
        line(format_args!(
            r#"<rect class="inside" x="{left:.1}" y="{:.1}" width="{:.1}" height="16"/>"#,
            y(node) - 8.0,
            (right - left).max(2.0)
        ));
    }
    for arrow in &drawing.arrows {
        let kind = kinds.iter().position(|kind| *kind == arrow.kind);
        let kind = kind.expect("all kinds are listed") % COLOURS.len();
        let lost = if arrow.arrived.is_none() { r#" stroke-dasharray="4 4""# } else { "" };
        let marker = if arrow.arrived.is_some() {
            format!(r##" marker-end="url(#head{kind})""##)
        } else {
            String::new()
        };
        let (from, to) = (
            (x(arrow.sent), y(arrow.from)),
            (x(arrow.arrived.unwrap_or(drawing.end)), y(arrow.to)),
        );
        line(format_args!(
            r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{}" stroke-width="1.6"{lost}{marker}/>"#,
            from.0,
            from.1,
            to.0,
            to.1,
            colour(kind)
        ));
    }
    for &(node, time) in &drawing.requests {
        line(format_args!(
            r#"<circle class="asks" cx="{:.1}" cy="{:.1}" r="4"/>"#,
            x(time),
            y(node)
        ));
    }
    for &(node, time) in &drawing.delayed {
        let (x, y) = (x(time), y(node));
        line(format_args!(
            r#"<path class="delayed" d="M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#,
            x - 4.0,
            y - 4.0
        ));
    }
    line(format_args!("</svg>"));
    out
}

/// The style of diagrams, by day and by night.
pub const STYLE: &str = "\
.spacetime text{font:13px system-ui,sans-serif;fill:#222}.spacetime .title{font-size:15px;font-weight:600}\
.spacetime .node{font-weight:600}.spacetime .label{fill:#666;font-size:11px}.spacetime .paper{fill:#fff}\
.spacetime .life{stroke:#444;stroke-width:1.4}.spacetime .tick{stroke:#ddd}.spacetime .inside{fill:#f4a340;opacity:.75}\
.spacetime .asks{fill:#222}.spacetime .delayed{stroke:#d6455d;stroke-width:2;fill:none}\
@media(prefers-color-scheme:dark){.spacetime text{fill:#eee}.spacetime .label{fill:#aaa}.spacetime .paper{fill:#16181c}\
.spacetime .life{stroke:#bbb}.spacetime .tick{stroke:#333}.spacetime .asks{fill:#eee}}";

/// The kinds of messages and the other signs, in rows that fit.
struct Legend {
    entries: Vec<(f64, f64, Sign, String)>,
    height: f64,
}

enum Sign {
    Message(usize),
    Inside,
    Asks,
    Delayed,
}

impl Legend {
    fn new(kinds: &[&str], width: f64) -> Self {
        let messages = kinds
            .iter()
            .enumerate()
            .map(|(index, kind)| (Sign::Message(index), (*kind).to_owned()));
        let others =
            [(Sign::Asks, "wants in"), (Sign::Inside, "inside"), (Sign::Delayed, "answer delayed")];
        let others = others.map(|(sign, text)| (sign, text.to_owned()));
        let (mut x, mut y) = (16.0, 44.0);
        let mut entries = Vec::new();
        for (sign, text) in messages.chain(others) {
            // Wide enough for any letters of this size.
            let wide = 44.0 + 9.5 * text.chars().count() as f64;
            if x + wide > width && x > 16.0 {
                (x, y) = (16.0, y + 20.0);
            }
            entries.push((x, y, sign, text));
            x += wide;
        }
        Self { entries, height: y - 24.0 }
    }

    fn draw(&self, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        for (x, y, sign, text) in &self.entries {
            let middle = y - 4.5;
            match sign {
                Sign::Message(kind) => line(format_args!(
                    r##"<line x1="{x}" x2="{:.1}" y1="{middle}" y2="{middle}" stroke="{}" stroke-width="2" marker-end="url(#head{kind})"/>"##,
                    x + 24.0,
                    colour(*kind)
                )),
                Sign::Inside => line(format_args!(
                    r#"<rect class="inside" x="{x}" y="{:.1}" width="24" height="12"/>"#,
                    middle - 6.0
                )),
                Sign::Asks => line(format_args!(
                    r#"<circle class="asks" cx="{:.1}" cy="{middle}" r="4"/>"#,
                    x + 12.0
                )),
                Sign::Delayed => line(format_args!(
                    r#"<path class="delayed" d="M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#,
                    x + 8.0,
                    middle - 4.0
                )),
            }
            line(format_args!(r#"<text x="{:.1}" y="{y}">{}</text>"#, x + 30.0, escape(text)));
        }
    }
}

/// Text that is not taken for markup.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
