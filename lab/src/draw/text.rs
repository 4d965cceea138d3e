//! A short run as text: a column per node, a line per step, from top to bottom.

use std::collections::HashMap;
use std::fmt::Write;

use exclusion::message::{Happening, NodeId, Notice, Trace};

use super::violation::Verdict;

/// How far apart the columns are.
const APART: usize = 24;

/// Where the first column is.
const LEFT: usize = 8;

/// The trace for a terminal of 80 columns and up to three nodes; wider for more. What the trace
/// violates is named at its end.
///
/// A message is drawn when it arrives. One that never does is not drawn.
pub fn text(trace: &Trace, nodes: usize, violated: &str) -> String {
    let mut kinds = HashMap::new();
    let mut drawn = String::from("  step");
    let mut line = Line::blank(nodes);
    line.cells.fill(' ');
    NodeId::all(nodes).for_each(|node| line.write(at(node), &node.to_string()));
    drawn = line.after(&drawn);
    let mut last = None;
    for event in &trace.events {
        let mut line = Line::blank(nodes);
        let here = at(event.node);
        match &event.happening {
            Happening::Sends { message, kind, .. } => {
                kinds.insert(*message, kind.as_str());
                continue;
            }
            Happening::Receives { from, message } => {
                line.arrow(at(*from), here, kinds.get(message).copied().unwrap_or("?"));
            }
            Happening::Misses { from, message } => {
                let kind = kinds.get(message).copied().unwrap_or("?");
                line.arrow(at(*from), here, kind);
                line.cells[here] = 'x';
            }
            Happening::Requests => line.note(here, "● wants in"),
            Happening::Enters => line.note(here, "█ enters"),
            Happening::Leaves => line.note(here, "□ leaves"),
            Happening::Crashes => line.note(here, "x dies"),
            Happening::Learns(Notice::Recovered) => line.note(here, "○ is back"),
            Happening::Settles(it) => line.note(here, &format!("* follows {}", it.leader)),
            _ => continue,
        }
        let step = event.time.as_units();
        let head = if last == Some(event.time) { String::new() } else { format!("{step:>6}") };
        last = Some(event.time);
        drawn += &line.after(&head);
    }
    let verdict = Verdict::of(violated, trace, nodes).text;
    writeln!(drawn, "\n  !!    {verdict}").expect("a string takes it");
    drawn
}

fn at(node: NodeId) -> usize {
    LEFT + node.index() * APART
}

/// A line of the picture.
struct Line {
    cells: Vec<char>,
}

impl Line {
    /// With nothing on it but the nodes' own lines.
    fn blank(nodes: usize) -> Self {
        let mut cells = vec![' '; LEFT + nodes * APART];
        NodeId::all(nodes).for_each(|node| cells[at(node)] = '│');
        Self { cells }
    }

    fn write(&mut self, from: usize, text: &str) {
        for (cell, letter) in self.cells[from..].iter_mut().zip(text.chars()) {
            *cell = letter;
        }
    }

    /// What happens at a node.
    fn note(&mut self, here: usize, text: &str) {
        self.write(here, text);
    }

    fn arrow(&mut self, from: usize, to: usize, kind: &str) {
        let (left, right) = (from.min(to), from.max(to));
        self.cells[left + 1..right].fill('─');
        let middle = (left + right) / 2 - kind.chars().count() / 2;
        self.write(middle, &format!(" {kind} "));
        let (head, place) = if to > from { ('▶', to - 1) } else { ('◀', to + 1) };
        self.cells[place] = head;
    }

    /// The line after what stands at its left.
    fn after(&self, head: &str) -> String {
        let text: String = self.cells.iter().skip(head.chars().count()).collect();
        format!("{head}{}\n", text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_drawn_step_by_step_and_what_went_wrong_is_named() {
        let trace = "\
1.000000 n0 requests
1.000000 n0 sends 1 to n1: REQUEST Request(1)
2.000000 n1 requests
2.000000 n1 sends 2 to n0: REQUEST Request(1)
3.000000 n1 receives 1 from n0
3.000000 n1 enters
4.000000 n0 receives 2 from n1
4.000000 n0 enters
";
        let drawn = text(&trace.parse().expect("a trace"), 2, "mutual exclusion");
        let expected = "  \
  step  n0                      n1
     1  ● wants in              │
     2  │                       ● wants in
     3  │─────── REQUEST ──────▶│
        │                       █ enters
     4  │◀────── REQUEST ───────│
        █ enters                │

  !!    n0 and n1 inside together
";
        assert_eq!(drawn, expected, "\n{drawn}");
    }
}
