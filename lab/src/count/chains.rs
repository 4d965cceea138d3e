//! The messages of an entry and of an exit, read from a trace: how many, and the longest causal
//! chain of them.
//!
//! In a causal chain each message is sent by the node that received the one before, after it did.
//! If all messages take T, the longest chain from a request to the entry is the client delay, and
//! the longest from an exit to the next entry the synchronization delay, both in messages. Pauses
//! do not count.

use std::collections::HashMap;

use exclusion::message::sim::Spread;
use exclusion::message::{Event, Happening, NodeId, Trace};

/// What an entry without contention took.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Undisturbed {
    /// Messages that come of asking. In a cluster that is never silent: those that are sent until
    /// the user enters.
    pub entering: u64,
    /// Messages that come of leaving. In a cluster that is never silent: those that are sent in the
    /// step in which the user leaves.
    pub leaving: u64,
    /// The longest causal chain until the entry, including a message that was in flight before.
    pub chain: u64,
}

/// The progress of a user that has met no contention so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Entering,
    Leaving,
}

/// All entries of a run without contention. `rests` says that the cluster falls silent when no user
/// wants in.
pub fn undisturbed(trace: &Trace, rests: bool) -> Vec<Undisturbed> {
    let mut found = Vec::new();
    let mut current: Option<(Stage, Undisturbed)> = None;
    let mut lengths = Lengths::default();
    // Users that wait or are inside, and messages and timers in flight.
    let (mut users, mut pending) = (0_usize, 0_usize);
    let mut leaves = false;
    for Event { node, happening, .. } in &trace.events {
        match happening {
            Happening::Requests => {
                let silent = users == 0 && (pending == 0 || !rests);
                if let Some((Stage::Leaving, done)) = current.filter(|_| silent) {
                    found.push(done);
                }
                current = silent.then_some((Stage::Entering, Undisturbed::default()));
                users += 1;
                lengths = Lengths { unknown: Some(0), ..Lengths::default() };
            }
            Happening::Leaves => {
                users -= 1;
                if let Some((stage, _)) = &mut current {
                    *stage = Stage::Leaving;
                    lengths = Lengths::from(*node);
                }
            }
            Happening::Enters => {
                if let Some((Stage::Entering, done)) = &mut current {
                    done.chain = lengths.at(*node).unwrap_or(0);
                }
            }
            Happening::Sends { message, .. } => {
                pending += 1;
                lengths.send(*node, *message);
                let comes_of_leaving = if rests { lengths.at(*node).is_some() } else { leaves };
                match &mut current {
                    Some((Stage::Entering, done)) => done.entering += 1,
                    Some((Stage::Leaving, done)) if comes_of_leaving => done.leaving += 1,
                    // The request is forwarded away from the token's path.
                    Some((Stage::Leaving, done)) if rests => done.entering += 1,
                    _ => {}
                }
            }
            Happening::Receives { message, .. } => {
                pending -= 1;
                lengths.receive(*node, *message);
            }
            Happening::SetsTimer { .. } => pending += 1,
            Happening::TimesOut(_) => pending -= 1,
            _ => {}
        }
        leaves = match happening {
            Happening::Leaves => true,
            Happening::Sends { .. } | Happening::SetsTimer { .. } | Happening::Enters => leaves,
            _ => false,
        };
    }
    if let Some((Stage::Leaving, done)) = current.filter(|_| pending == 0 || !rests) {
        found.push(done);
    }
    found
}

/// The causal chain from each exit to the next entry, if the exit leads to it. The entry is of
/// another node, or with `also_to_itself` of any node.
pub fn hand_overs(trace: &Trace, also_to_itself: bool) -> Vec<u64> {
    let mut found = Vec::new();
    let mut lengths = Lengths::default();
    let mut left = None;
    for Event { node, happening, .. } in &trace.events {
        match happening {
            Happening::Leaves => {
                lengths = Lengths::from(*node);
                left = Some(*node);
            }
            Happening::Enters => {
                let handed_over = left.take().filter(|left| also_to_itself || left != node);
                found.extend(handed_over.and_then(|_| lengths.at(*node)));
            }
            Happening::Sends { message, .. } => lengths.send(*node, *message),
            Happening::Receives { message, .. } => lengths.receive(*node, *message),
            _ => {}
        }
    }
    found
}

/// The longest chain to each node since some event. None where no chain leads there from it.
#[derive(Default)]
struct Lengths {
    nodes: HashMap<NodeId, u64>,
    messages: HashMap<u64, u64>,
    /// The chain of nodes and messages that are not in the lists.
    unknown: Option<u64>,
}

impl Lengths {
    /// Counts only chains that start at this node.
    fn from(node: NodeId) -> Self {
        Self { nodes: HashMap::from([(node, 0)]), ..Self::default() }
    }

    fn at(&self, node: NodeId) -> Option<u64> {
        self.nodes.get(&node).copied().or(self.unknown)
    }

    fn send(&mut self, node: NodeId, message: u64) {
        if let Some(length) = self.at(node) {
            self.messages.insert(message, length);
        }
    }

    fn receive(&mut self, node: NodeId, message: u64) {
        let sent = self.messages.remove(&message).or(self.unknown);
        if let Some(length) = sent {
            let longest = self.at(node).unwrap_or(0).max(length + 1);
            self.nodes.insert(node, longest);
        }
    }
}

/// The least, the mean and the most of some counts.
pub fn spread(counts: impl IntoIterator<Item = u64>) -> Option<Spread> {
    let counts: Vec<u64> = counts.into_iter().collect();
    let (min, max) = (counts.iter().min()?, counts.iter().max()?);
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    Some(Spread { min: *min as f64, mean, max: *max as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use exclusion::message::sim::{Simulation, Workload};
    use exclusion::message::{
        CentralCoordinator, Protocol, RicartAgrawala, SuzukiKasami, TokenRing, Topology,
    };

    fn trace<P: Protocol>(cluster: Vec<P>, workload: Workload) -> Trace {
        let simulation = Simulation::new(cluster).workload(workload).traced();
        simulation.run().expect("it runs").trace.expect("it was asked for")
    }

    #[test]
    fn a_coordinator_takes_two_messages_to_enter_and_one_to_leave() {
        let cluster = CentralCoordinator::cluster(4).unwrap();
        let alone = undisturbed(&trace(cluster, Workload::InTurn { rounds: 1 }), true);
        let of_others = Undisturbed { entering: 2, leaving: 1, chain: 2 };
        assert_eq!(alone, [Undisturbed::default(), of_others, of_others, of_others]);
        let cluster = CentralCoordinator::cluster(4).unwrap();
        let saturated = Workload::Saturated { wanting: 4, entries: 40 };
        let chains = hand_overs(&trace(cluster, saturated), false);
        // One from the coordinator to another, or back.
        assert_eq!(spread(chains).map(|it| (it.min, it.max)), Some((1.0, 2.0)));
    }

    #[test]
    fn who_waits_for_an_exit_is_not_undisturbed() {
        let cluster = RicartAgrawala::cluster(3).unwrap();
        let script = [(0.0, 0), (1.0, 1), (50.0, 2)].map(|(time, node)| (time, NodeId(node)));
        let found = undisturbed(&trace(cluster, Workload::Script(script.to_vec())), true);
        assert_eq!(found, [Undisturbed { entering: 4, leaving: 0, chain: 2 }]);
    }

    #[test]
    fn a_request_that_is_relayed_after_the_entry_does_not_come_of_leaving() {
        // The token rests in the middle of a line: it comes to node 3, while the request goes on.
        let line = SuzukiKasami::over(&Topology::line(12).unwrap());
        let script = [(0.0, 2), (50.0, 3)].map(|(time, node)| (time, NodeId(node)));
        let found = undisturbed(&trace(line, Workload::Script(script.to_vec())), true);
        let fetching = Undisturbed { entering: 1 + 8 + 1, leaving: 0, chain: 2 };
        assert_eq!(found[1], fetching);
    }

    #[test]
    fn a_ring_lets_wait_for_as_many_messages_as_nodes_at_most() {
        let n = 5;
        let ring = || TokenRing::cluster(n).unwrap();
        // At first the token pauses at node 0 for T, and takes T for each hop.
        let first = |time| {
            let script = Workload::Script(vec![(time, NodeId(0))]);
            undisturbed(&trace(ring(), script), false)[0]
        };
        assert_eq!(first(0.5), Undisturbed { entering: 0, leaving: 1, chain: 0 });
        assert_eq!(first(1.5), Undisturbed { entering: n as u64 - 1, leaving: 1, chain: n as u64 });
        let chains = |wanting| {
            let workload = Workload::Saturated { wanting, entries: 20 };
            spread(hand_overs(&trace(ring(), workload), true)).unwrap()
        };
        assert_eq!((chains(n).min, chains(n).max), (1.0, 1.0));
        assert_eq!((chains(1).min, chains(1).max), (n as f64, n as f64));
    }
}
