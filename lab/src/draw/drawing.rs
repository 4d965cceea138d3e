//! What there is to see in a trace, before it has a place on paper.

use std::collections::HashMap;

use exclusion::message::{Event, Happening, NodeId, Time, Trace};

use super::fates::Fates;
use super::legend::Shows;
use super::violation::Verdict;

/// A moment of a trace: its time, and how many events have happened by then, itself among them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Moment {
    pub(super) time: Time,
    pub(super) events: usize,
}

/// By how many events something is there, and by how many it is over: for a page on which the run
/// is stepped through. Nothing in a picture by itself.
pub(super) fn stepped(on_a_page: bool, from: Moment, to: Option<Moment>) -> String {
    match (on_a_page, to) {
        (false, _) => String::new(),
        (true, None) => format!(r#" data-at="{}""#, from.events),
        (true, Some(to)) => format!(r#" data-at="{}" data-to="{}""#, from.events, to.events),
    }
}

/// From when to when something was so at a node; without an end, until the trace ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) node: NodeId,
    pub(super) from: Moment,
    pub(super) to: Option<Moment>,
}

/// A message: where and when it was sent, and where and when it arrived, if it did.
pub(super) struct Arrow<'a> {
    pub(super) kind: &'a str,
    /// Whether it is an answer that was held back.
    pub(super) late: bool,
    pub(super) from: NodeId,
    pub(super) sent: Moment,
    pub(super) to: NodeId,
    pub(super) arrived: Option<Moment>,
}

/// What there is to draw.
pub(super) struct Drawing<'a> {
    pub(super) nodes: usize,
    pub(super) end: Time,
    pub(super) arrows: Vec<Arrow<'a>>,
    /// Which node was inside, from when to when.
    pub(super) stays: Vec<Span>,
    pub(super) requests: Vec<(NodeId, Moment)>,
    /// Where a request was received whose answer is deferred.
    pub(super) delayed: Vec<(NodeId, Moment)>,
    /// Which node had the token, from when to when.
    pub(super) token: Vec<Span>,
    /// What went wrong at the end, and when that was.
    pub(super) violation: Option<(Verdict, Moment)>,
    /// What befell the nodes, and what came of it.
    pub(super) fates: Fates,
}

/// The kind of message that is the permission itself.
const TOKEN: &str = "TOKEN";

/// The kinds of messages by which a node that is asked gives its permission. A token is not one of
/// them: it comes from one node, whichever was asked.
const ANSWERS: [&str; 3] = ["CONFIRM", "GRANT", "VOTE"];

impl<'a> Drawing<'a> {
    pub(super) fn of(trace: &'a Trace, nodes: usize) -> Self {
        let mut drawing = Self {
            nodes,
            end: Time::default(),
            arrows: Vec::new(),
            stays: Vec::new(),
            requests: Vec::new(),
            delayed: Vec::new(),
            token: Vec::new(),
            violation: None,
            fates: Fates::default(),
        };
        let mut in_flight = HashMap::new();
        // Which node was asked by which, and when, without an answer yet.
        let mut open: Vec<(NodeId, NodeId, Moment)> = Vec::new();
        for (index, &Event { time, node, ref happening }) in trace.events.iter().enumerate() {
            drawing.end = drawing.end.max(time);
            let now = Moment { time, events: index + 1 };
            match happening {
                Happening::Requests => drawing.requests.push((node, now)),
                Happening::Enters => {
                    // It has what it asked for.
                    open.retain(|(_, asking, _)| *asking != node);
                    drawing.stays.push(Span { node, from: now, to: None });
                }
                Happening::Leaves => {
                    if let Some(stay) = drawing.stays.iter_mut().rev().find(|it| it.node == node) {
                        stay.to = Some(now);
                    }
                }
                Happening::Sends { to, message, kind, .. } => {
                    let asked = open.iter().position(|it| (it.0, it.1) == (node, *to));
                    let asked = asked.filter(|_| ANSWERS.contains(&kind.as_str()));
                    let since = asked.map(|asked| open.remove(asked).2);
                    let late = since.is_some_and(|since| since.time < time);
                    drawing.delayed.extend(since.filter(|_| late).map(|since| (node, since)));
                    if kind == TOKEN {
                        drawing.sends_token(node, now);
                    }
                    drawing.fates.note_message(node, now, kind);
                    in_flight.insert(*message, drawing.arrows.len());
                    let (from, sent, to) = (node, now, *to);
                    drawing.arrows.push(Arrow { kind, late, from, sent, to, arrived: None });
                }
                Happening::Receives { from, message } => {
                    if let Some(&arrow) = in_flight.get(message) {
                        let arrow: &mut Arrow<'_> = &mut drawing.arrows[arrow];
                        arrow.arrived = Some(now);
                        drawing.fates.note_message(node, now, arrow.kind);
                        match arrow.kind {
                            "REQUEST" => open.push((node, *from, now)),
                            TOKEN => drawing.token.push(Span { node, from: now, to: None }),
                            _ => {}
                        }
                    }
                }
                Happening::Calls => {
                    drawing.requests.push((node, now));
                    drawing.fates.note(node, now, happening);
                }
                // What has no arrow: starts, timers, notices.
                other => drawing.fates.note(node, now, other),
            }
        }
        // What is open at the end has not been answered at all, where requests are answered.
        if drawing.arrows.iter().any(|arrow| ANSWERS.contains(&arrow.kind)) {
            drawing.delayed.extend(open.into_iter().map(|(node, _, since)| (node, since)));
        }
        drawing
    }

    pub(super) fn shows(&self) -> Shows {
        Shows {
            election: self.fates.is_election(),
            token: !self.token.is_empty(),
            fates: self.fates.signs(),
        }
    }

    /// A node that sends the token without having got it has had it from the beginning.
    fn sends_token(&mut self, node: NodeId, now: Moment) {
        let held = self.token.iter_mut().rev().find(|held| held.node == node);
        match held {
            Some(Span { to: to @ None, .. }) => *to = Some(now),
            _ => self.token.push(Span { node, from: Moment::default(), to: Some(now) }),
        }
    }

    /// The same with what went wrong at the end, and room to see it.
    pub(super) fn violated(mut self, property: &str, trace: &Trace) -> Self {
        let ended = self.end;
        let now = Moment { time: ended, events: trace.events.len() };
        self.violation = Some((Verdict::of(property, trace, self.nodes), now));
        let tail = (ended.0 / 8).max(2 * Time::TICKS);
        self.end = ended.after(tail);
        self
    }

    /// The kinds of messages, in the order in which they come: what asks comes first, and has the
    /// same colour everywhere. An answer that was held back is a kind of its own.
    pub(super) fn kinds(&self) -> Vec<(&'a str, bool)> {
        let mut kinds = Vec::new();
        for arrow in &self.arrows {
            if !kinds.contains(&(arrow.kind, arrow.late)) {
                kinds.push((arrow.kind, arrow.late));
            }
        }
        kinds
    }
}
