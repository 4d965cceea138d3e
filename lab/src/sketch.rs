//! Small simulated runs, to be drawn.

use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{Protocol, Trace};

use crate::catalogue::Visitor;

/// How many nodes show best what an algorithm does: few, but as many as its arrangement needs.
pub fn nodes_for(algorithm: &str) -> usize {
    match algorithm {
        "maekawa" | "maekawa_voting" | "raymond_k" | "banta_k" => 4,
        "maekawa_triangle" | "maekawa_triangle_columns" | "maekawa_triangle_rows" => 6,
        "maekawa_plane" => 7,
        "raymond" | "suzuki_kasami_tree" | "naimi_trehel" | "naimi_trehel_queue" => 5,
        _ => 3,
    }
}

/// A small simulated run. The same for the same seed.
#[derive(Clone, Copy, Debug)]
pub struct Sketch {
    /// How many entries.
    pub entries: u64,
    /// Where chance starts from.
    pub seed: u64,
}

impl Visitor for Sketch {
    type Output = Result<Trace, String>;

    fn visit<P: Protocol>(self, _: &'static str, cluster: Vec<P>) -> Self::Output {
        let simulation = Simulation::new(cluster)
            .seed(self.seed)
            .delay(Delay::Uniform(0.6, 1.4))
            .workload(Workload::Poisson { rate: 0.7, entries: self.entries })
            .traced();
        // A run that ends in a deadlock is worth a picture too.
        match simulation.run() {
            Ok(report) => Ok(report.trace.unwrap_or_default()),
            Err(error) => error.trace.clone().ok_or_else(|| error.to_string()),
        }
    }
}
