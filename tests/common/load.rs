//! How much is wanted, and what it costs.

use exclusion::message::Protocol;
use exclusion::message::sim::{Simulation, Workload};

/// Messages an entry, on average.
pub fn mean<P: Protocol>(nodes: Vec<P>, workload: Workload) -> f64 {
    Simulation::new(nodes).seed(1).workload(workload).run().unwrap().per_entry.unwrap().mean
}

/// So many nodes always want in.
pub fn saturated(wanting: usize) -> Workload {
    Workload::Saturated { wanting, entries: 100 * wanting as u64 }
}
