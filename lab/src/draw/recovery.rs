//! Small runs in which a node dies inside, and the others go on without it.

use exclusion::message::registry::{Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Fault, Notices, Simulation, Workload};
use exclusion::message::{NodeId, Recovering, Trace};

use crate::played::Played;

/// A run in which the node that is inside dies.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The algorithm that recovers.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// What happened.
    pub trace: Trace,
    /// What the nodes knew at each step.
    pub played: Played,
}

/// The algorithms whose recovery is shown: one that asks all, one with a token, one with quorums.
pub const SHOWN: [&str; 3] = ["ricart_agrawala", "suzuki_kasami", "maekawa"];

impl Recovery {
    /// The run of an algorithm of the registry, always the same.
    ///
    /// # Errors
    /// If it is no run, and why.
    pub fn of(name: &str) -> Result<Self, String> {
        let algorithm = Algorithm::named(name).map_err(|error| error.to_string())?;
        let nodes = if name == "maekawa" { 4 } else { 3 };
        algorithm.build(Size::of(nodes), Dies).map_err(|error| error.to_string())?
    }
}

struct Dies;

impl Visitor for Dies {
    type Output = Result<Recovery, String>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let nodes = cluster.len();
        let cluster = Recovering::over(algorithm, cluster).map_err(|error| error.to_string())?;
        // The others ask when they know that node 1 has asked. So it is inside when it dies, and
        // 0 and 2 wait.
        let wanted = [(0.0, NodeId(1)), (1.2, NodeId(2)), (1.4, NodeId(0))];
        let report = Simulation::new(cluster.clone())
            .seed(1)
            .delay(Delay::Uniform(0.6, 1.0))
            .inside(Delay::Constant(4.0))
            .workload(Workload::Script(wanted.to_vec()))
            .fault_at(DIES_AT, Fault::Crash(NodeId(1)))
            .notices(Notices::ToAll)
            .ignoring_refused()
            .traced()
            .run()
            .map_err(|error| error.to_string())?;
        let trace = report.trace.unwrap_or_default();
        let played = Played::of(cluster, &trace);
        Ok(Recovery { algorithm: algorithm.name, nodes, trace, played })
    }
}

/// When the node dies.
const DIES_AT: f64 = 3.0;

#[cfg(test)]
mod tests {
    use exclusion::message::{Happening, Phase};

    use super::*;

    #[test]
    fn a_node_dies_inside_and_the_others_are_served() {
        for name in SHOWN {
            let run = Recovery::of(name).unwrap_or_else(|why| panic!("{name}: {why}"));
            let mut phase = Phase::Idle;
            let mut served = Vec::new();
            for event in &run.trace.events {
                match event.happening {
                    Happening::Enters if event.node == NodeId(1) => phase = Phase::Inside,
                    Happening::Leaves if event.node == NodeId(1) => phase = Phase::Idle,
                    Happening::Crashes => assert_eq!(phase, Phase::Inside, "{name}"),
                    Happening::Enters => served.push(event.node),
                    _ => {}
                }
            }
            served.sort_unstable();
            assert_eq!(served, [NodeId(0), NodeId(2)], "{name}");
            assert_eq!(run.played.steps.last().map(|it| it.events), Some(run.trace.events.len()));
            assert!(!run.played.steps.iter().any(|step| step.says.contains("refuses")), "{name}");
        }
    }
}
