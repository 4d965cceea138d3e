//! What befell the nodes, what they were told, who leads, and when a new epoch began: as it is
//! drawn into a space-time diagram.

use std::fmt::Arguments;

use exclusion::message::{Happening, NodeId, Notice, Time};

use super::drawing::{Moment, stepped};
use super::legend::{Sign, star};

/// From when to when something was so at a node. None if it was still so at the end.
type Span = (NodeId, Moment, Option<Moment>);

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
    suspects: Vec<(NodeId, Moment, NodeId)>,
    /// or up again.
    trusts: Vec<(NodeId, Moment, NodeId)>,
    /// Which node settled on itself, and when.
    leads: Vec<(NodeId, Moment)>,
    /// Which node settled on another, and when.
    follows: Vec<(NodeId, Moment)>,
    /// Which node began a new epoch, and when.
    epochs: Vec<(NodeId, Moment)>,
    /// Whether it is an election.
    election: bool,
}

/// Where a node and a moment are in the picture.
pub(super) struct Canvas<X, Y> {
    pub(super) x: X,
    pub(super) y: Y,
    pub(super) end: Time,
    pub(super) row: f64,
    /// Whether it is a part of a page, on which the run is stepped through.
    pub(super) on_a_page: bool,
}

impl Fates {
    pub(super) fn is_election(&self) -> bool {
        self.election
    }

    /// Takes an event, if it is about this.
    pub(super) fn note(&mut self, node: NodeId, now: Moment, happening: &Happening) {
        match happening {
            Happening::Calls => self.election = true,
            Happening::Crashes => self.down.push((node, now, None)),
            Happening::Learns(Notice::Recovered) => end(&mut self.down, node, now),
            Happening::Learns(Notice::Down(other)) => self.suspects.push((node, now, *other)),
            Happening::Learns(Notice::Up(other)) => self.trusts.push((node, now, *other)),
            Happening::Pauses => self.paused.push((node, now, None)),
            Happening::Resumes => end(&mut self.paused, node, now),
            Happening::CutOff(others) => {
                let others: Vec<_> = others.iter().map(NodeId::to_string).collect();
                self.cut.push(((node, now, None), others.join(", ")));
            }
            Happening::Rejoins => {
                let cut = self.cut.iter_mut().rev().map(|(span, _)| span);
                close(cut, node, now);
            }
            Happening::Settles(leadership) if leadership.leader == node => {
                self.leads.push((node, now));
            }
            Happening::Settles(_) => self.follows.push((node, now)),
            _ => {}
        }
    }

    /// A node sends or receives a message of this kind.
    pub(super) fn note_message(&mut self, node: NodeId, now: Moment, kind: &str) {
        if kind == INSTALL
            && self.epochs.last().is_none_or(|&(of, at)| (of, at.time) != (node, now.time))
        {
            self.epochs.push((node, now));
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
        let Canvas { x, y, end, row, on_a_page } = canvas;
        for ((node, from, to), others) in &self.cut {
            let (left, right) = (x(from.time), x(to.map_or(*end, |to| to.time)));
            let stepped = stepped(*on_a_page, *from, *to);
            line(format_args!(
                r#"<rect class="cut"{stepped} x="{left:.1}" y="{:.1}" width="{:.1}" height="{:.1}"><title>{node} does not reach {others}</title></rect>"#,
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
        let Canvas { x, y, end, on_a_page, .. } = canvas;
        let stepped = |from, to| stepped(*on_a_page, from, to);
        for &(node, from, to) in &self.down {
            let (left, right, y) = (x(from.time), x(to.map_or(*end, |to| to.time)), y(node));
            let stepped = stepped(from, to);
            line(format_args!(
                r#"<line class="gone"{stepped} x1="{left:.1}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/><path class="delayed"{stepped} d="M{:.1} {:.1}l12 12m0 -12l-12 12"/>"#,
                left - 6.0,
                y - 6.0
            ));
        }
        for &(node, from, to) in &self.paused {
            let (left, right, y) = (x(from.time), x(to.map_or(*end, |to| to.time)), y(node));
            let stepped = stepped(from, to);
            line(format_args!(
                r#"<line class="paused"{stepped} x1="{left:.1}" x2="{right:.1}" y1="{y:.1}" y2="{y:.1}"/>"#
            ));
        }
        for &(node, now) in &self.epochs {
            let (x, y, stepped) = (x(now.time), y(node) - 14.0, stepped(now, None));
            line(format_args!(r#"<path class="epoch"{stepped} d="M{x:.1} {y:.1}v28"/>"#));
        }
        for (told, class, verb) in
            [(&self.suspects, "suspects", "suspects"), (&self.trusts, "trusts", "trusts")]
        {
            for &(node, now, other) in told {
                let (x, y, stepped) = (x(now.time), y(node), stepped(now, None));
                line(format_args!(
                    r#"<path class="{class}"{stepped} d="{}"><title>{node} {verb} {other}</title></path>"#,
                    diamond(x, y)
                ));
            }
        }
        for &(node, now) in &self.follows {
            let (x, y, stepped) = (x(now.time), y(node), stepped(now, None));
            line(format_args!(
                r#"<circle class="follows"{stepped} cx="{x:.1}" cy="{y:.1}" r="5"/>"#
            ));
        }
        for &(node, now) in &self.leads {
            let (x, y, stepped) = (x(now.time), y(node), stepped(now, None));
            line(format_args!(r#"<path class="leads"{stepped} d="{}"/>"#, star(x, y)));
        }
    }
}

/// What was so at a node is over.
fn end(spans: &mut [Span], node: NodeId, now: Moment) {
    close(spans.iter_mut().rev(), node, now);
}

fn close<'a>(mut spans: impl Iterator<Item = &'a mut Span>, node: NodeId, now: Moment) {
    if let Some((_, _, until)) = spans.find(|(of, _, until)| *of == node && until.is_none()) {
        *until = Some(now);
    }
}

/// A square on its corner.
pub(super) fn diamond(x: f64, y: f64) -> String {
    format!("M{x:.1} {:.1}l6 6l-6 6l-6 -6z", y - 6.0)
}
