//! Space-time diagrams: a trace as a picture, and as a log that ShiViz reads.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use exclusion::protocol::{Event, Happening, NodeId, Time, Trace};

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
const WIDEST: f64 = 1200.0;
const COLOURS: [&str; 8] =
    ["#2f6fde", "#8a8f98", "#b5651d", "#2e9e5b", "#a23fbf", "#d6455d", "#0f9aa8", "#c29a00"];

/// The trace as an SVG picture: a line a node, time from left to right, messages as arrows coloured by kind, the time
/// inside shaded, requests as dots, and a cross where an answer is delayed.
pub fn svg(trace: &Trace, title: &str) -> String {
    let drawing = Drawing::of(trace);
    let units = drawing.end.as_units().max(1.0);
    let scale = ((WIDEST - LEFT - RIGHT) / units).min(80.0);
    let width = (LEFT + RIGHT + units * scale).max(420.0);
    let mut kinds: Vec<&str> = drawing.arrows.iter().map(|arrow| arrow.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let legend = Legend::new(&kinds, width);
    let top = 40.0 + legend.height;
    let height = top + ROW * drawing.nodes as f64 + 40.0;
    let x = |time: Time| LEFT + time.as_units() * scale;
    let y = |node: NodeId| top + ROW * (node.index() as f64 + 0.5);

    let mut out = String::new();
    let mut line =
        |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes it");
    line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">"#
    ));
    line(format_args!("<title>{}</title>", escape(title)));
    line(format_args!("<style>{STYLE}</style>"));
    line(format_args!("<defs>"));
    for (index, colour) in COLOURS.iter().enumerate().take(kinds.len()) {
        line(format_args!(
            r#"<marker id="head{index}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{colour}"/></marker>"#
        ));
    }
    line(format_args!("</defs>"));
    line(format_args!(r#"<rect class="paper" width="100%" height="100%"/>"#));
    line(format_args!(r#"<text class="title" x="16" y="24">{}</text>"#, escape(title)));
    legend.draw(&mut line);

    // Ticks far enough apart that their labels do not touch.
    let step = (1..).map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power - 1)));
    let step = step.flatten().find(|step| step * scale >= 44.0).expect("steps grow without bound");
    let mut tick = 0.0;
    while tick <= units {
        let at = LEFT + tick * scale;
        line(format_args!(
            r#"<line class="tick" x1="{at:.1}" x2="{at:.1}" y1="{top:.1}" y2="{:.1}"/><text class="label" x="{at:.1}" y="{:.1}" text-anchor="middle">{tick} T</text>"#,
            height - 34.0,
            height - 16.0
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
        let kind = kinds.binary_search(&arrow.kind).expect("all kinds are listed") % COLOURS.len();
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
            from.0, from.1, to.0, to.1, COLOURS[kind]
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

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}.node{font-weight:600}.label{fill:#666;font-size:11px}\
.paper{fill:#fff}.life{stroke:#444;stroke-width:1.4}.tick{stroke:#ddd}.inside{fill:#f4a340;opacity:.75}\
.asks{fill:#222}.delayed{stroke:#d6455d;stroke-width:2;fill:none}\
@media(prefers-color-scheme:dark){text{fill:#eee}.label{fill:#aaa}.paper{fill:#16181c}.life{stroke:#bbb}.tick{stroke:#333}.asks{fill:#eee}}";

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
            .map(|(index, kind)| (Sign::Message(index % COLOURS.len()), (*kind).to_owned()));
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
                    COLOURS[*kind]
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The trace as a log for ShiViz, with vector clocks. Its parser is `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`.
pub fn shiviz(trace: &Trace) -> String {
    let mut clocks: BTreeMap<NodeId, BTreeMap<String, u64>> = BTreeMap::new();
    let mut sent: HashMap<u64, BTreeMap<String, u64>> = HashMap::new();
    let mut log = String::new();
    for event in &trace.events {
        let name = event.node.to_string();
        let clock = clocks.entry(event.node).or_default();
        if let Happening::Receives { message, .. } = event.happening
            && let Some(theirs) = sent.remove(&message)
        {
            for (node, count) in theirs {
                let mine = clock.entry(node).or_default();
                *mine = count.max(*mine);
            }
        }
        *clock.entry(name.clone()).or_default() += 1;
        if let Happening::Sends { message, .. } = event.happening {
            sent.insert(message, clock.clone());
        }
        let clock = serde_json::to_string(&clock).expect("names and numbers");
        writeln!(log, "{name} {clock}\n{event}").expect("a string takes it");
    }
    log
}
