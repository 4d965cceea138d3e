//! Small simulated runs, to be drawn.

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{Protocol, Trace};

/// A small simulated run. The same for the same seed.
#[derive(Clone, Copy, Debug)]
pub struct Sketch {
    /// How many entries.
    pub entries: u64,
    /// The seed of the simulation.
    pub seed: u64,
}

impl Visitor for Sketch {
    type Output = Result<Trace, String>;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        self.draw(cluster)
    }
}

impl Sketch {
    /// A run of any cluster.
    ///
    /// # Errors
    /// If there is nothing to draw, and why.
    pub fn draw<P: Protocol>(self, cluster: Vec<P>) -> Result<Trace, String> {
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
