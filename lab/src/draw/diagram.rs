//! Space-time diagrams: a trace as a picture.

use std::collections::HashMap;
use std::fmt::Write;

use exclusion::message::{Event, Happening, NodeId, Notice, Time, Trace};

use super::palette::{COLOURS, colour};

/// A message: where and when it was sent, and where and when it arrived, if it did.
struct Arrow<'a> {
    kind: &'a str,
    /// Whether it is an answer that was held back.
    late: bool,
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
    /// Which node was inside, from when to when.
    stays: Vec<(NodeId, Time, Option<Time>)>,
    requests: Vec<(NodeId, Time)>,
    /// Where a request was received whose answer is deferred.
    delayed: Vec<(NodeId, Time)>,
    /// What befell the nodes, and who leads, if it is an election.
    election: Scenes,
}

/// What there is to draw of an election.
#[derive(Default)]
struct Scenes {
    /// From when to when a node was down.
    down: Vec<(NodeId, Time, Option<Time>)>,
    /// Which node settled on itself, and when.
    leads: Vec<(NodeId, Time)>,
    /// Which node settled on another, and when.
    follows: Vec<(NodeId, Time)>,
}

impl Scenes {
    fn is_empty(&self) -> bool {
        self.down.is_empty() && self.leads.is_empty() && self.follows.is_empty()
    }

    /// Takes an event, if it is about an election.
    fn note(&mut self, node: NodeId, time: Time, happening: &Happening) {
        match happening {
            Happening::Crashes => self.down.push((node, time, None)),
            Happening::Learns(Notice::Recovered) => {
                let mut down = self.down.iter_mut().rev();
                if let Some((_, _, until)) = down.find(|(crashed, ..)| *crashed == node) {
                    *until = Some(time);
                }
            }
            Happening::Settles(leadership) if leadership.leader == node => {
                self.leads.push((node, time));
            }
            Happening::Settles(_) => self.follows.push((node, time)),
            _ => {}
        }
    }
}

/// The kinds of messages by which a node that is asked gives its permission. A token is not one of
/// them: it comes from one node, whichever was asked.
const ANSWERS: [&str; 3] = ["CONFIRM", "GRANT", "VOTE"];

impl<'a> Drawing<'a> {
    fn of(trace: &'a Trace, nodes: usize) -> Self {
        let mut drawing = Self {
            nodes,
            end: Time::default(),
            arrows: Vec::new(),
            stays: Vec::new(),
            requests: Vec::new(),
            delayed: Vec::new(),
            election: Scenes::default(),
        };
        let mut in_flight = HashMap::new();
        // Which node was asked by which, and when, without an answer yet.
        let mut open: Vec<(NodeId, NodeId, Time)> = Vec::new();
        for &Event { time, node, ref happening } in &trace.events {
            drawing.end = drawing.end.max(time);
            match happening {
                Happening::Requests => drawing.requests.push((node, time)),
                Happening::Enters => {
                    // It has what it asked for.
                    open.retain(|(_, asking, _)| *asking != node);
                    drawing.stays.push((node, time, None));
                }
                Happening::Leaves => {
                    let stay = drawing.stays.iter_mut().rev().find(|(inside, ..)| *inside == node);
                    if let Some((_, _, left)) = stay {
                        *left = Some(time);
                    }
                }
                Happening::Sends { to, message, kind, .. } => {
                    let asked = open.iter().position(|it| (it.0, it.1) == (node, *to));
                    let asked = asked.filter(|_| ANSWERS.contains(&kind.as_str()));
                    let since = asked.map(|asked| open.remove(asked).2);
                    let late = since.is_some_and(|since| since < time);
                    drawing.delayed.extend(since.filter(|_| late).map(|since| (node, since)));
                    in_flight.insert(*message, drawing.arrows.len());
                    let (from, sent, to) = (node, time, *to);
                    drawing.arrows.push(Arrow { kind, late, from, sent, to, arrived: None });
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
                Happening::Calls => drawing.requests.push((node, time)),
                // What has no arrow: starts, timers, notices.
                other => drawing.election.note(node, time, other),
            }
        }
        // What is open at the end has not been answered at all, where requests are answered.
        if drawing.arrows.iter().any(|arrow| ANSWERS.contains(&arrow.kind)) {
            drawing.delayed.extend(open.into_iter().map(|(node, _, since)| (node, since)));
        }
        drawing
    }

    /// The kinds of messages, in the order in which they come: what asks comes first, and has the
    /// same colour everywhere. An answer that was held back is a kind of its own.
    fn kinds(&self) -> Vec<(&'a str, bool)> {
        let mut kinds = Vec::new();
        for arrow in &self.arrows {
            if !kinds.contains(&(arrow.kind, arrow.late)) {
                kinds.push((arrow.kind, arrow.late));
            }
        }
        kinds
    }
}

fn name_of(kind: (&str, bool)) -> String {
    let (name, late) = kind;
    if late { format!("{name}, held back") } else { name.to_owned() }
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
}

impl Diagram<'_> {
    /// The trace as a picture that stands by itself.
    pub fn svg(&self, trace: &Trace) -> String {
        self.draw(&Drawing::of(trace, self.nodes), true)
    }

    /// The trace as a part of a page that has [`STYLE`], [`heads`] and a legend.
    pub fn embedded(&self, trace: &Trace) -> String {
        self.draw(&Drawing::of(trace, self.nodes), false)
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
        let legend = Legend::new(&kinds, width, !drawing.election.is_empty());
        let top = if alone { 40.0 + legend.height } else { 8.0 };
        let height = top + ROW * drawing.nodes as f64 + 40.0;
        let x = |time: Time| LEFT + time.as_units() * scale;
        let y = |node: NodeId| top + ROW * (node.index() as f64 + 0.5);

        let mut out = String::new();
        let mut line =
            |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes it");
        line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="spacetime" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">"#
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
                height - 34.0,
                height - 16.0,
                self.unit.name()
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
            let kind = kinds.iter().position(|kind| *kind == (arrow.kind, arrow.late));
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
                r#"<line class="message" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{}"{lost}{marker}/>"#,
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
        for &(node, from, to) in &drawing.election.down {
            let (left, right, y) = (x(from), x(to.unwrap_or(drawing.end)), y(node));
            line(format_args!(
                r#"<line class="gone" x1="{left:.1}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/><path class="delayed" d="M{:.1} {:.1}l12 12m0 -12l-12 12"/>"#,
                left - 6.0,
                y - 6.0
            ));
        }
        for &(node, time) in &drawing.election.follows {
            let (x, y) = (x(time), y(node));
            line(format_args!(r#"<circle class="follows" cx="{x:.1}" cy="{y:.1}" r="5"/>"#));
        }
        for &(node, time) in &drawing.election.leads {
            let (x, y) = (x(time), y(node));
            line(format_args!(r#"<path class="leads" d="{}"/>"#, star(x, y)));
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
}

/// A star of five points.
fn star(x: f64, y: f64) -> String {
    let point = |corner: u32| {
        let radius = if corner.is_multiple_of(2) { 10.0 } else { 4.0 };
        let angle = std::f64::consts::PI * (f64::from(corner) / 5.0 - 0.5);
        format!("{:.1} {:.1}", x + radius * angle.cos(), y + radius * angle.sin())
    };
    format!("M{}z", (0..10).map(point).collect::<Vec<_>>().join("L"))
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
.spacetime .follows{fill:#fff;stroke:#222;stroke-width:1.4}\
@media(prefers-color-scheme:dark){.spacetime text{fill:#eee}.spacetime .label{fill:#aaa}.spacetime .paper{fill:#16181c}\
.spacetime .life{stroke:#bbb}.spacetime .tick{stroke:#333}.spacetime .asks{fill:#eee}\
.spacetime .gone{stroke:#16181c}.spacetime .leads{stroke:#eee}.spacetime .follows{fill:#16181c;stroke:#eee}}";

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
    Leads,
    Follows,
}

impl Legend {
    fn new(kinds: &[(&str, bool)], width: f64, is_election: bool) -> Self {
        let messages =
            kinds.iter().enumerate().map(|(index, kind)| (Sign::Message(index), name_of(*kind)));
        let of_locks = [
            (Sign::Asks, "wants in"),
            (Sign::Inside, "inside"),
            (Sign::Delayed, "answer held back"),
        ];
        let of_elections = [
            (Sign::Asks, "calls an election"),
            (Sign::Leads, "leads"),
            (Sign::Follows, "follows"),
            (Sign::Delayed, "goes down"),
        ];
        let others: Vec<_> = if is_election { of_elections.into() } else { of_locks.into() };
        let others: Vec<_> =
            others.into_iter().map(|(sign, text): (Sign, &str)| (sign, text.to_owned())).collect();
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
                Sign::Leads => {
                    line(format_args!(r#"<path class="leads" d="{}"/>"#, star(x + 12.0, middle)))
                }
                Sign::Follows => line(format_args!(
                    r#"<circle class="follows" cx="{:.1}" cy="{middle}" r="5"/>"#,
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
