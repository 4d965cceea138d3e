//! Which events of a trace happened before which, in Lamport's sense, by vector clocks.

use std::collections::HashMap;

use exclusion::message::{Happening, NodeId, Trace};

/// A request: who, after what, and as which entry of all it was served.
#[derive(Debug)]
pub struct Request {
    pub node: NodeId,
    /// The vector clock of its node, at the request.
    clock: Vec<u64>,
    pub served: usize,
}

impl Request {
    /// Whether something that happened with or after this one led to the other.
    pub fn happened_before(&self, other: &Self) -> bool {
        let me = self.node.index();
        self.node != other.node && self.clock[me] <= other.clock[me]
    }
}

/// The requests of a run that was served to the end.
pub fn requests(trace: &Trace, nodes: usize) -> Vec<Request> {
    let mut clocks = vec![vec![0; nodes]; nodes];
    let mut in_flight = HashMap::new();
    let mut waiting: Vec<Option<Request>> = (0..nodes).map(|_| None).collect();
    let mut served = Vec::new();
    for event in &trace.events {
        let clock = &mut clocks[event.node.index()];
        clock[event.node.index()] += 1;
        match event.happening {
            Happening::Sends { message, .. } => {
                in_flight.insert(message, clock.clone());
            }
            Happening::Receives { message, .. } => {
                let sent = in_flight.remove(&message).expect("it was sent");
                clock.iter_mut().zip(sent).for_each(|(mine, theirs)| *mine = theirs.max(*mine));
            }
            Happening::Requests => {
                let request = Request { node: event.node, clock: clock.clone(), served: 0 };
                waiting[event.node.index()] = Some(request);
            }
            Happening::Enters => {
                let request = waiting[event.node.index()].take().expect("it asked");
                served.push(Request { served: served.len(), ..request });
            }
            _ => {}
        }
    }
    served
}

/// Two requests of which the later one, in Lamport's sense, was served first.
pub fn out_of_order(requests: &[Request]) -> Option<(&Request, &Request)> {
    requests
        .iter()
        .flat_map(|one| requests.iter().map(move |other| (one, other)))
        .find(|(earlier, later)| earlier.happened_before(later) && later.served < earlier.served)
}
