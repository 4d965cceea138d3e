//! Small simulated runs, to be drawn.

use exclusion::message::registry::{Algorithm, Shipped, Visitor};
use exclusion::message::sim::{Delay, Fault, Notices, Simulation, Workload};
use exclusion::message::{Protocol, Recovering, Trace};

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
        trace_of(self.simulation(cluster).delay(Delay::Uniform(0.6, 1.4)))
    }

    fn simulation<P: Protocol>(self, cluster: Vec<P>) -> Simulation<P> {
        Simulation::new(cluster)
            .seed(self.seed)
            .workload(Workload::Poisson { rate: 0.7, entries: self.entries })
    }
}

/// A small run of an algorithm that recovers, and what befalls it. All nodes are told who is down,
/// or out of reach; where some are cut off, a view needs a majority.
#[derive(Clone, Copy, Debug)]
pub struct Befallen<'a> {
    /// The run.
    pub sketch: Sketch,
    /// What befalls the nodes, and when.
    pub faults: &'a [(f64, Fault)],
}

impl Visitor for Befallen<'_> {
    type Output = Result<Trace, String>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let nodes = Recovering::over(algorithm, cluster).map_err(|error| error.to_string())?;
        let is_cut = self.faults.iter().any(|(_, fault)| matches!(fault, Fault::Cut(_)));
        let gate = |node: Recovering<_>| if is_cut { node.gated() } else { node };
        let simulation = self.sketch.simulation(nodes.into_iter().map(gate).collect());
        // A user that is inside on the wrong side of a cut is passed by one with a greater fence.
        let simulation = simulation.notices(Notices::ToAll).ignoring_refused().overlapping();
        let befall = |simulation: Simulation<_>, (time, fault): &(f64, Fault)| {
            simulation.fault_at(*time, fault.clone())
        };
        let simulation = self.faults.iter().fold(simulation, befall);
        trace_of(simulation.delay(Delay::Uniform(0.6, 1.0)).inside(Delay::Constant(1.0)))
    }
}

/// What happens. A run that ends in a deadlock is worth a picture too.
fn trace_of<P: Protocol>(simulation: Simulation<P>) -> Result<Trace, String> {
    match simulation.traced().run() {
        Ok(report) => Ok(report.trace.unwrap_or_default()),
        Err(error) => error.trace.clone().ok_or_else(|| error.to_string()),
    }
}
