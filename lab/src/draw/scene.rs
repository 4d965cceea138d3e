//! A small run of each algorithm that shows what is its own.

use exclusion::message::registry::{Algorithm, Shipped, Size, Visitor};
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{NodeId, Trace};

use crate::played::Played;

/// A run: which nodes ask, and when, so that what distinguishes the algorithm can be seen.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The algorithm, by its name in the registry.
    pub algorithm: &'static str,
    /// How many nodes.
    pub nodes: usize,
    /// When a node asks, and which one.
    requests: &'static [(f64, u32)],
    /// What there is to see, in a sentence or two.
    pub shows: &'static str,
}

impl Scene {
    /// The scene of the algorithm of this name, if there is one.
    pub fn of(algorithm: &str) -> Option<&'static Self> {
        SCENES.iter().find(|scene| scene.algorithm == algorithm)
    }

    /// The run, always the same.
    ///
    /// # Errors
    /// If it is no run, and why.
    pub fn trace(&self) -> Result<Trace, String> {
        self.play().map(|(trace, _)| trace)
    }

    /// The run, and what the nodes know at each step of it.
    ///
    /// # Errors
    /// If it is no run, and why.
    pub fn play(&self) -> Result<(Trace, Played), String> {
        let algorithm = Algorithm::named(self.algorithm).map_err(|error| error.to_string())?;
        algorithm.build(Size::of(self.nodes), self).map_err(|error| error.to_string())?
    }
}

impl Visitor for &Scene {
    type Output = Result<(Trace, Played), String>;

    fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> Self::Output {
        let script = self.requests.iter().map(|&(time, node)| (time, NodeId(node)));
        let simulation = Simulation::new(cluster.clone())
            .seed(1)
            .delay(Delay::Uniform(0.6, 1.4))
            .workload(Workload::Script(script.collect()))
            .traced();
        let report = simulation.run().map_err(|error| error.to_string())?;
        let trace = report.trace.unwrap_or_default();
        let played = Played::of(cluster, &trace);
        Ok((trace, played))
    }
}

macro_rules! scenes {
    ($($name:literal, $nodes:literal: [$($time:literal n $node:literal),*] $shows:literal;)*) => {
        /// A scene for each algorithm, in the order of the registry.
        pub const SCENES: &[Scene] = &[$(Scene {
            algorithm: $name,
            nodes: $nodes,
            requests: &[$(($time, $node)),*],
            shows: $shows,
        }),*];
    };
}

scenes! {
    "central_coordinator", 3: [0.0 n 1, 0.3 n 2, 6.0 n 0]
        "n0 coordinates: n1 and n2 ask it in turn, and it enters itself without a message.";
    "lamport", 3: [0.0 n 0, 0.2 n 1]
        "Everybody queues every request: n1 is in all queues, and enters when n0's RELEASE comes.";
    "ricart_agrawala", 3: [0.0 n 0, 0.3 n 1, 0.6 n 2]
        "An answer held back stands for the RELEASE: each leaver answers the next.";
    "carvalho_roucairol", 3: [0.0 n 1, 5.0 n 1, 8.0 n 1, 11.0 n 2, 15.0 n 1]
        "Permissions are kept: n1 enters again and again without a message, until n2 asks.";
    "singhal_dynamic", 4: [0.0 n 3, 6.0 n 3, 10.0 n 2, 15.0 n 3, 20.0 n 2]
        "The set of nodes that a node asks follows who is active: n2 and n3 soon ask each other \
         only.";
    "maekawa", 4: [0.0 n 0, 0.2 n 3]
        "Each asks its row and column of a grid. The quorums of n0 and n3 meet in n1 and n2.";
    "maekawa_circle", 3: [0.0 n 2, 0.3 n 1, 0.6 n 0]
        "Each asks the next on the circle: any two quorums of three meet in one node.";
    "maekawa_triangle", 6: [0.0 n 0, 0.3 n 5]
        "Quorums are rows and columns of a triangle, in turn: each two meet once.";
    "maekawa_triangle_columns", 6: [0.0 n 1, 0.3 n 4]
        "All quorums are columns of the triangle.";
    "maekawa_triangle_rows", 6: [0.0 n 2, 0.3 n 3]
        "All quorums are rows of the triangle.";
    "maekawa_plane", 7: [0.0 n 0, 0.3 n 6]
        "A line of the plane of seven points has three: two lines meet in one point.";
    "majority", 3: [0.0 n 0, 0.4 n 1, 5.0 n 2]
        "Everybody is asked, and two of three are enough.";
    "weighted_majority", 3: [0.0 n 2, 0.4 n 0]
        "Votes weigh 1, 2 and 3: n2 needs one other, and n0 with n1 needs both.";
    "majority_fixed", 5: [0.0 n 0, 0.3 n 2]
        "Each asks the same majority always: itself and its successors.";
    "weighted_majority_fixed", 5: [0.0 n 4, 0.3 n 1]
        "The heaviest are asked: few votes are enough.";
    "raymond_k", 4: [0.0 n 0, 0.1 n 1, 0.2 n 2]
        "Two may be inside: n0 and n1 are, and n2 waits for the first of them to leave.";
    "token_ring", 4: [1.0 n 2, 6.0 n 1]
        "The token goes round whether or not anybody wants in.";
    "suzuki_kasami", 4: [0.0 n 1, 0.2 n 2, 0.4 n 3]
        "Requests go to all. The token carries its queue from the one to the next.";
    "suzuki_kasami_ring", 4: [0.0 n 2, 0.2 n 1]
        "Requests and token go one way round the ring, and the token serves n1 on its way.";
    "suzuki_kasami_line", 4: [0.0 n 3, 0.2 n 1]
        "On a line the token passes n1 on its way to n3.";
    "suzuki_kasami_tree", 7: [0.0 n 3, 0.2 n 6]
        "On a tree requests are relayed away from where they come from.";
    "suzuki_kasami_fifo", 4: [0.0 n 3, 0.2 n 2, 0.4 n 1]
        "Where channels keep order a request needs no number.";
    "suzuki_kasami_fifo_ring", 4: [0.0 n 3, 2.0 n 2]
        "A request stops where it meets the token, or one that waits.";
    "ricart_agrawala_token", 4: [0.0 n 2, 0.2 n 1, 0.4 n 3]
        "A leaver looks for the next from its own number on, round the cluster.";
    "singhal_heuristic", 4: [0.0 n 2, 6.0 n 1, 12.0 n 2]
        "A node asks only those that it believes have the token, or wait for it.";
    "raymond", 7: [0.0 n 3, 1.0 n 6, 9.0 n 4]
        "Each node knows in which direction the token is, and turns that edge when the token \
         passes.";
    "raymond_ternary", 8: [0.0 n 4, 1.0 n 7]
        "With three children per node the tree is flatter.";
    "raymond_4ary", 9: [0.0 n 5, 1.0 n 8]
        "With four children per node the tree is flatter still.";
    "raymond_star", 5: [0.0 n 1, 0.3 n 4]
        "In a star everything goes through the middle, which passes the token on.";
    "raymond_line", 4: [0.0 n 3, 0.3 n 1]
        "On a line a request goes through everybody, and meets others on its way.";
    "naimi_trehel", 5: [0.0 n 1, 4.0 n 2, 8.0 n 3, 12.0 n 4, 16.0 n 1]
        "The tree bends: each request makes its sender the root for all that it passes, so n1's \
         second request goes a longer way than its first.";
    "naimi_trehel_queue", 5: [0.0 n 1, 0.1 n 2, 0.2 n 3, 0.3 n 4]
        "The token takes the queue of the requests that its holder has kept with it.";
    "banta_simple", 4: [0.0 n 1, 0.8 n 2, 1.2 n 3, 4.0 n 1, 4.6 n 2]
        "A request goes to the good site, and chases the token if that one has sent it on.";
    "banta_fair", 4: [0.0 n 1, 0.7 n 3, 1.1 n 2, 4.2 n 3, 4.8 n 1]
        "A request that comes too late is kept, and does not chase the token.";
    "banta_efficient", 4: [0.0 n 1, 0.3 n 2, 0.6 n 3, 8.0 n 2, 8.3 n 1]
        "The token goes in cycles: the good site waits for two periods, so that all know of it.";
    "banta_efficient_hardened", 4: [0.0 n 3, 0.3 n 1, 0.5 n 2, 9.0 n 3]
        "The same cycles, for a message that might be late: then old news is told apart.";
    "banta_k", 4: [0.0 n 1, 0.2 n 2, 0.4 n 3, 6.0 n 1]
        "Two may be inside, and the one that leaves tells the good site.";
    "banta_k_hardened", 4: [0.0 n 3, 0.2 n 1, 0.4 n 2, 7.0 n 2, 7.2 n 3]
        "Two may be inside, also where a message might be late.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use exclusion::message::registry::ALGORITHMS;

    use super::*;
    use crate::draw::diagram::{Diagram, Unit};

    #[test]
    fn every_algorithm_has_a_scene_in_the_order_of_the_registry() {
        let shown: Vec<_> = SCENES.iter().map(|scene| scene.algorithm).collect();
        let shipped: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
        assert_eq!(shown, shipped);
    }

    #[test]
    fn no_two_stories_have_the_same_picture() {
        let mut drawn: BTreeMap<String, &str> = BTreeMap::new();
        for scene in SCENES {
            let trace = scene.trace().unwrap_or_else(|why| panic!("{}: {why}", scene.algorithm));
            let (unit, nodes) = (Unit::MessageDelay, scene.nodes);
            let diagram = Diagram { title: "", unit, nodes, widest: 900, violated: None };
            let picture = diagram.embedded(&trace);
            if let Some(other) = drawn.insert(picture, scene.algorithm) {
                panic!("{other} and {} have the same picture", scene.algorithm);
            }
        }
    }
}
