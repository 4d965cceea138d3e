//! A trace as a log that ShiViz reads.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use exclusion::message::{Happening, NodeId, Trace};

/// How ShiViz is to read an event, and that there is one execution: the first two lines of a log
/// that it opens.
const HEADER: &str = "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n";

/// The trace as a log for ShiViz, with vector clocks.
pub fn shiviz(trace: &Trace) -> String {
    let mut clocks: BTreeMap<NodeId, BTreeMap<String, u64>> = BTreeMap::new();
    let mut sent: HashMap<u64, BTreeMap<String, u64>> = HashMap::new();
    let mut log = HEADER.to_owned();
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
