//! Who wants in, and when.

use crate::message::random::Random;
use crate::message::{NodeId, Time};

/// Who wants in, and when.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Workload {
    /// One node, again and again, each time when the cluster is silent.
    Alone {
        /// Who.
        node: NodeId,
        /// How often.
        entries: u64,
    },
    /// Each node once, one after the other, each when the cluster is silent.
    InTurn {
        /// How often all of them.
        rounds: u64,
    },
    /// Every node at the same moment; again when the cluster is silent.
    AllAtOnce {
        /// How often all of them.
        rounds: u64,
    },
    /// Independent requests, each of a node chosen at random. If its user has not left yet, the
    /// request waits until it has.
    Poisson {
        /// Requests per unit of time, over all nodes. That is the load of the cluster, as long as
        /// it can serve them.
        rate: f64,
        /// How many in all.
        entries: u64,
    },
    /// The first `wanting` nodes always want in: each asks again as soon as it leaves, or after a
    /// time [outside](super::Simulation::outside).
    Saturated {
        /// How many nodes.
        wanting: usize,
        /// How many entries in all.
        entries: u64,
    },
    /// At these times, these nodes.
    Script(Vec<(f64, NodeId)>),
}

impl Workload {
    pub(super) fn check(&self, nodes: usize) -> Result<(), String> {
        let known = |node: NodeId| {
            if node.index() < nodes {
                Ok(())
            } else {
                Err(format!("there is no {node}: the nodes are n0 to n{}", nodes - 1))
            }
        };
        match self {
            Self::Alone { node, .. } => known(*node),
            Self::InTurn { .. } | Self::AllAtOnce { .. } => Ok(()),
            Self::Poisson { rate, .. } if (1e-6..=1e6).contains(rate) => Ok(()),
            Self::Poisson { rate, .. } => {
                Err(format!("a rate of {rate} makes no load: take a millionth to a million"))
            }
            Self::Saturated { wanting, .. } if (1..=nodes).contains(wanting) => Ok(()),
            Self::Saturated { wanting, .. } => {
                Err(format!("{wanting} of {nodes} nodes cannot want in: take 1 to {nodes}"))
            }
            Self::Script(script) => script.iter().try_for_each(|&(time, node)| {
                known(node)?;
                if (0.0..=1e12).contains(&time) {
                    Ok(())
                } else {
                    Err(format!("nothing can happen at {time}"))
                }
            }),
        }
    }
}

/// A workload in progress.
#[derive(Debug)]
pub(super) struct Arrivals {
    workload: Workload,
    nodes: usize,
    /// How many entries (or rounds of them) have been asked for.
    begun: u64,
}

impl Arrivals {
    pub(super) fn new(workload: Workload, nodes: usize) -> Self {
        Self { workload, nodes, begun: 0 }
    }

    /// The cluster is silent: which nodes ask next, and when?
    pub(super) fn at_silence(&mut self, now: Time, random: &mut Random) -> Vec<(Time, NodeId)> {
        let nodes = self.nodes;
        let begun = self.begun;
        let mut next_if = |limit: u64| {
            let go_on = begun < limit;
            self.begun += u64::from(go_on);
            go_on
        };
        match &self.workload {
            Workload::Alone { node, entries } => {
                if next_if(*entries) {
                    vec![(now, *node)]
                } else {
                    Vec::new()
                }
            }
            Workload::InTurn { rounds } => {
                let node = NodeId::at(begun as usize % nodes);
                if next_if(rounds.saturating_mul(nodes as u64)) {
                    vec![(now, node)]
                } else {
                    Vec::new()
                }
            }
            Workload::AllAtOnce { rounds } => {
                let all = if next_if(*rounds) { nodes } else { 0 };
                NodeId::all(all).map(|node| (now, node)).collect()
            }
            // Each arrival announces the next.
            Workload::Poisson { .. } => self.after_arrival(now, random).into_iter().collect(),
            Workload::Saturated { wanting, entries } => {
                let first = if begun == 0 { (*wanting as u64).min(*entries) } else { 0 };
                self.begun += first;
                NodeId::all(first as usize).map(|node| (now, node)).collect()
            }
            Workload::Script(script) => {
                let all = if next_if(1) { &script[..] } else { &[] };
                all.iter().map(|&(time, node)| (Time::units(time), node)).collect()
            }
        }
    }

    /// A request has come: is there one to announce after it?
    pub(super) fn after_arrival(
        &mut self,
        now: Time,
        random: &mut Random,
    ) -> Option<(Time, NodeId)> {
        let Workload::Poisson { rate, entries } = self.workload else { return None };
        (self.begun < entries).then(|| {
            self.begun += 1;
            let wait = Time::units(random.exponential(1.0 / rate));
            (now.after(wait.0), NodeId::at(random.below(self.nodes)))
        })
    }

    /// A user leaves: does it want in again at once?
    pub(super) fn after_leaving(&mut self) -> bool {
        let Workload::Saturated { entries, .. } = self.workload else { return false };
        let again = self.begun < entries;
        self.begun += u64::from(again);
        again
    }
}
