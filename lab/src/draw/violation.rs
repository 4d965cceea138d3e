//! What went wrong at the end of a counterexample: in words, and which nodes it befell.

use exclusion::message::{Event, Happening, NodeId, Notice, Phase, Trace};

/// The violation with which a trace ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// What went wrong: "n0 and n1 inside together".
    pub text: String,
    /// The nodes that it befell.
    pub nodes: Vec<NodeId>,
}

impl Verdict {
    /// Names the violation of a property of the checker, as the end of the trace shows it.
    pub fn of(property: &str, trace: &Trace, nodes: usize) -> Self {
        let end = End::of(trace, nodes);
        let last = trace.events.last().map_or(NodeId(0), |event| event.node);
        let (waiting, inside) = (end.in_phase(Phase::Waiting), end.in_phase(Phase::Inside));
        let (text, nodes) = match property {
            "mutual exclusion" => (format!("{} inside together", list(&inside)), inside),
            "no deadlock" | "all can be served" if !waiting.is_empty() => {
                let verb = if waiting.len() == 1 { "waits" } else { "wait" };
                (format!("{} {verb} for ever", list(&waiting)), waiting)
            }
            "bypass" if !waiting.is_empty() => {
                (format!("{} overtaken too often", list(&waiting)), waiting)
            }
            "order" if !waiting.is_empty() => {
                let text = format!("{last} goes before an older request of {}", list(&waiting));
                (text, vec![last])
            }
            "agreement" | "one leader" => {
                let views: Vec<_> = end.followers().collect();
                let said = |&(node, leader): &(NodeId, NodeId)| match node == leader {
                    true => format!("{node} leads"),
                    false => format!("{node} follows {leader}"),
                };
                let text = views.iter().map(said).collect::<Vec<_>>().join(", ");
                (text, views.into_iter().map(|(node, _)| node).collect())
            }
            "all can settle" => {
                let live = end.live();
                (format!("{} can never agree on a leader", list(&live)), live)
            }
            "expected inputs only" => {
                (format!("{last} gets what cannot have been sent"), vec![last])
            }
            "one token" => (format!("not exactly one token, once {last} has acted"), vec![last]),
            "invariant" => (format!("{last} breaks the invariant"), vec![last]),
            other => (format!("'{other}' does not hold at {last}"), vec![last]),
        };
        Self { text, nodes }
    }
}

/// Where the nodes are when a trace ends.
struct End {
    phases: Vec<Phase>,
    /// The leader that a node has settled on.
    leaders: Vec<Option<NodeId>>,
    down: Vec<bool>,
}

impl End {
    fn of(trace: &Trace, nodes: usize) -> Self {
        let mut end = Self {
            phases: vec![Phase::Idle; nodes],
            leaders: vec![None; nodes],
            down: vec![false; nodes],
        };
        for Event { node, happening, .. } in &trace.events {
            let at = node.index();
            match happening {
                Happening::Requests => end.phases[at] = Phase::Waiting,
                Happening::Enters => end.phases[at] = Phase::Inside,
                Happening::Leaves => end.phases[at] = Phase::Idle,
                Happening::Settles(leadership) => end.leaders[at] = Some(leadership.leader),
                Happening::Crashes => {
                    end.down[at] = true;
                    end.phases[at] = Phase::Idle;
                    end.leaders[at] = None;
                }
                Happening::Learns(Notice::Recovered) => end.down[at] = false,
                _ => {}
            }
        }
        end
    }

    fn in_phase(&self, phase: Phase) -> Vec<NodeId> {
        let nodes = NodeId::all(self.phases.len());
        nodes.filter(|node| self.phases[node.index()] == phase).collect()
    }

    /// The nodes that have a leader, and that leader.
    fn followers(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let nodes = NodeId::all(self.leaders.len());
        nodes.filter_map(|node| self.leaders[node.index()].map(|leader| (node, leader)))
    }

    fn live(&self) -> Vec<NodeId> {
        NodeId::all(self.down.len()).filter(|node| !self.down[node.index()]).collect()
    }
}

/// "n0", "n0 and n1", "n0, n1 and n2".
fn list(nodes: &[NodeId]) -> String {
    match nodes {
        [] => "nobody".to_owned(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(NodeId::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(property: &str, trace: &str, nodes: usize) -> String {
        Verdict::of(property, &trace.parse().expect("a trace"), nodes).text
    }

    #[test]
    fn a_violation_is_named_by_its_nodes() {
        let both = "0.000000 n0 requests\n1.000000 n1 requests\n2.000000 n0 enters\n";
        assert_eq!(verdict("no deadlock", both, 3), "n1 waits for ever");
        let inside = format!("{both}3.000000 n1 enters\n");
        assert_eq!(verdict("mutual exclusion", &inside, 2), "n0 and n1 inside together");
        let settled = "0.000000 n0 settles on n0 in epoch 1\n1.000000 n1 settles on n1 in epoch 1\n\
                       2.000000 n2 settles on n1 in epoch 1\n";
        assert_eq!(verdict("agreement", settled, 3), "n0 leads, n1 leads, n2 follows n1");
        assert_eq!(
            verdict("all can settle", &format!("{settled}3.000000 n2 crashes\n"), 3),
            "n0 and n1 can never agree on a leader"
        );
        assert_eq!(verdict("invariant", both, 2), "n0 breaks the invariant");
    }
}
