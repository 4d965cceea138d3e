//! What befell the nodes, what they were told, who leads, and when a new epoch began: as it is
//! drawn into a space-time diagram.

use std::fmt::Arguments;

use exclusion::message::{Happening, NodeId, Notice, Time};

use super::legend::{Sign, star};

/// From when to when something was so at a node. None if it was still so at the end.
type Span = (NodeId, Time, Option<Time>);

/// The kind of message that begins a new view.
const INSTALL: &str = "INSTALL";

/// What befell the nodes of a trace, and what came of it.
#[derive(Default)]
pub(super) struct Fates {
    down: Vec<Span>,
    paused: Vec<Span>,
    /// And whom it does not reach.
    cut: Vec<(Span, String)>,
    /// Who was told that who is down,
    suspects: Vec<(NodeId, Time, NodeId)>,
    /// or up again.
    trusts: Vec<(NodeId, Time, NodeId)>,
    /// Which node settled on itself, and when.
    leads: Vec<(NodeId, Time)>,
    /// Which node settled on another, and when.
    follows: Vec<(NodeId, Time)>,
    /// Which node began a new epoch, and when.
    epochs: Vec<(NodeId, Time)>,
    /// Whether it is an election.
    election: bool,
}

/// Where a node and a moment are in the picture.
pub(super) struct Canvas<X, Y> {
    pub(super) x: X,
    pub(super) y: Y,
    pub(super) end: Time,
    pub(super) row: f64,
}

impl Fates {
    pub(super) fn is_election(&self) -> bool {
        self.election
    }

    /// Takes an event, if it is about this.
    pub(super) fn note(&mut self, node: NodeId, time: Time, happening: &Happening) {
        match happening {
            Happening::Calls => self.election = true,
            Happening::Crashes => self.down.push((node, time, None)),
            Happening::Learns(Notice::Recovered) => end(&mut self.down, node, time),
            Happening::Learns(Notice::Down(other)) => self.suspects.push((node, time, *other)),
            Happening::Learns(Notice::Up(other)) => self.trusts.push((node, time, *other)),
            Happening::Pauses => self.paused.push((node, time, None)),
            Happening::Resumes => end(&mut self.paused, node, time),
            Happening::CutOff(others) => {
                let others: Vec<_> = others.iter().map(NodeId::to_string).collect();
                self.cut.push(((node, time, None), others.join(", ")));
            }
            Happening::Rejoins => {
                let cut = self.cut.iter_mut().rev().map(|(span, _)| span);
                close(cut, node, time);
            }
            Happening::Settles(leadership) if leadership.leader == node => {
                self.leads.push((node, time));
            }
            Happening::Settles(_) => self.follows.push((node, time)),
            _ => {}
        }
    }

    /// A node sends or receives a message of this kind.
    pub(super) fn note_message(&mut self, node: NodeId, time: Time, kind: &str) {
        if kind == INSTALL && self.epochs.last() != Some(&(node, time)) {
            self.epochs.push((node, time));
        }
    }

    /// The signs that occur, and what they mean.
    pub(super) fn signs(&self) -> Vec<(Sign, &'static str)> {
        let signs = [
            (!self.leads.is_empty(), Sign::Leads, "leads"),
            (!self.follows.is_empty(), Sign::Follows, "follows"),
            (!self.down.is_empty(), Sign::Delayed, "goes down"),
            (!self.paused.is_empty(), Sign::Paused, "stands still"),
            (!self.cut.is_empty(), Sign::Cut, "cut off"),
            (!self.suspects.is_empty(), Sign::Suspects, "suspects"),
            (!self.trusts.is_empty(), Sign::Trusts, "trusts again"),
            (!self.epochs.is_empty(), Sign::Epoch, "new epoch"),
        ];
        signs.into_iter().filter(|(occurs, ..)| *occurs).map(|(_, sign, it)| (sign, it)).collect()
    }

    /// What lies behind the lines of the nodes.
    pub(super) fn draw_behind<X, Y>(
        &self,
        canvas: &Canvas<X, Y>,
        line: &mut impl FnMut(Arguments<'_>),
    ) where
        X: Fn(Time) -> f64,
        Y: Fn(NodeId) -> f64,
    {
        let Canvas { x, y, end, row } = canvas;
        for ((node, from, to), others) in &self.cut {
            let (left, right) = (x(*from), x(to.unwrap_or(*end)));
            line(format_args!(
                r#"<rect class="cut" x="{left:.1}" y="{:.1}" width="{:.1}" height="{:.1}"><title>{node} does not reach {others}</title></rect>"#,
                y(*node) - row / 2.0 + 2.0,
                (right - left).max(2.0),
                row - 4.0
            ));
        }
    }

    /// What lies above messages and lines.
    pub(super) fn draw<X, Y>(&self, canvas: &Canvas<X, Y>, line: &mut impl FnMut(Arguments<'_>))
    where
        X: Fn(Time) -> f64,
        Y: Fn(NodeId) -> f64,
    {
        let Canvas { x, y, end, .. } = canvas;
        for &(node, from, to) in &self.down {
            let (left, right, y) = (x(from), x(to.unwrap_or(*end)), y(node));
            line(format_args!(
                r#"<line class="gone" x1="{left:.1}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/><path class="delayed" d="M{:.1} {:.1}l12 12m0 -12l-12 12"/>"#,
                left - 6.0,
                y - 6.0
            ));
        }
        for &(node, from, to) in &self.paused {
            let (left, right, y) = (x(from), x(to.unwrap_or(*end)), y(node));
            line(format_args!(
                r#"<line class="paused" x1="{left:.1}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/>"#
            ));
        }
        for &(node, time) in &self.epochs {
            let (x, y) = (x(time), y(node) - 14.0);
            line(format_args!(r#"<path class="epoch" d="M{x:.1} {y:.1}v28"/>"#));
        }
        for (told, class, verb) in
            [(&self.suspects, "suspects", "suspects"), (&self.trusts, "trusts", "trusts")]
        {
            for &(node, time, other) in told {
                let (x, y) = (x(time), y(node));
                line(format_args!(
                    r#"<path class="{class}" d="{}"><title>{node} {verb} {other}</title></path>"#,
                    diamond(x, y)
                ));
            }
        }
        for &(node, time) in &self.follows {
            let (x, y) = (x(time), y(node));
            line(format_args!(r#"<circle class="follows" cx="{x:.1}" cy="{y:.1}" r="5"/>"#));
        }
        for &(node, time) in &self.leads {
            let (x, y) = (x(time), y(node));
            line(format_args!(r#"<path class="leads" d="{}"/>"#, star(x, y)));
        }
    }
}

/// What was so at a node is over.
fn end(spans: &mut [Span], node: NodeId, time: Time) {
    close(spans.iter_mut().rev(), node, time);
}

fn close<'a>(mut spans: impl Iterator<Item = &'a mut Span>, node: NodeId, time: Time) {
    if let Some((_, _, until)) = spans.find(|(of, _, until)| *of == node && until.is_none()) {
        *until = Some(time);
    }
}

/// A square on its corner.
pub(super) fn diamond(x: f64, y: f64) -> String {
    format!("M{x:.1} {:.1}l6 6l-6 6l-6 -6z", y - 6.0)
}
