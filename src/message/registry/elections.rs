//! Every election: its name, its paper, how to build it, what it costs and needs.
//!
//! ```
//! use exclusion::message::registry::{Electorate, ELECTIONS, ElectionAlgorithm, ElectionVisitor};
//! use exclusion::message::registry::ShippedElection;
//! use exclusion::message::sim::Contest;
//! use exclusion::message::{Graph, NodeId};
//!
//! struct Leader;
//! impl ElectionVisitor for Leader {
//!     type Output = Option<NodeId>;
//!     fn visit<E: ShippedElection>(
//!         self,
//!         _: &'static ElectionAlgorithm,
//!         cluster: Vec<E>,
//!     ) -> Option<NodeId> {
//!         let report = Contest::new(cluster).initiators([NodeId(2)]).run().unwrap();
//!         report.leader.map(|it| it.leader)
//!     }
//! }
//!
//! let on_a_grid = Electorate::on(Graph::grid(2, 4)?);
//! let [extinction, bully] = ["extinction", "bully"].map(ElectionAlgorithm::named);
//! assert_eq!(extinction?.build(&on_a_grid, Leader)?, Some(NodeId(2)));
//! assert_eq!(bully?.build(&Electorate::of(8), Leader)?, Some(NodeId(7)));
//! assert!(ELECTIONS.iter().any(|election| election.paper == "Le Lann 1977"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

use super::{ACQUAINTED, ElectionVisitor, RegistryError};
use crate::message::ring_election::{Announcement, Choice};
use crate::message::{
    Bully, BullyHalt, ChangRoberts, Channels, ClusterError, Echo, Extinction, Graph, LeLann,
    Machine, RingElection,
};

/// Along which lines the nodes of an election send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Ground {
    /// Everybody reaches everybody.
    Complete,
    /// Each reaches the next.
    Ring,
    /// The edges of a graph, which is chosen.
    AnyGraph,
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Ring => "ring",
            Self::AnyGraph => "any graph",
        })
    }
}

/// Who elects: how many nodes, and on which graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Electorate {
    nodes: usize,
    graph: Option<Graph>,
}

impl Electorate {
    /// So many nodes, each of which reaches those that the algorithm needs; where any graph will
    /// do, all others.
    pub fn of(nodes: usize) -> Self {
        Self { nodes, graph: None }
    }

    /// The nodes of a graph.
    pub fn on(graph: Graph) -> Self {
        Self { nodes: graph.nodes(), graph: Some(graph) }
    }

    /// Refuses so many nodes that each of them cannot be everybody's neighbour: the edges would
    /// fill the memory.
    ///
    /// # Errors
    /// [`TooManyEdges`](RegistryError::TooManyEdges) past 4096.
    pub fn check_complete(nodes: usize) -> Result<(), RegistryError> {
        if nodes > ACQUAINTED {
            return Err(RegistryError::TooManyEdges { nodes });
        }
        Ok(())
    }

    fn graph(&self) -> Result<Graph, ClusterError> {
        match &self.graph {
            Some(graph) => Ok(graph.clone()),
            None => Graph::complete(self.nodes),
        }
    }
}

/// An election, or an arrangement of one.
#[derive(PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ElectionAlgorithm {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// The type that implements it.
    pub implemented_by: &'static str,
    /// Who published it, and when.
    pub paper: &'static str,
    /// Where it is an arrangement of another, what is different.
    pub arrangement: Option<&'static str>,
    /// Along which lines its nodes send.
    pub ground: Ground,
    /// Messages in all, for people.
    pub messages: &'static str,
    /// What it needs to be right.
    pub needs: &'static str,
    /// The channels that it needs.
    pub channels: Channels,
    /// Whether its timers rely on a bound on message delays, Tmax.
    pub within_tmax: bool,
    /// Whether its nodes must be told who is down.
    pub detector: bool,
    /// Whether nodes may crash and recover.
    pub stands_crashes: bool,
    /// Up to how many nodes a cluster of it is practical.
    pub most_nodes: usize,
    /// How many nodes show best what it does.
    pub nodes_to_show: usize,
}

/// How many nodes may each know their neighbours only.
const NEIGHBOURS: usize = 1_000_000;

impl ElectionAlgorithm {
    fn check(&self, electorate: &Electorate) -> Result<(), RegistryError> {
        self.check_nodes(electorate.nodes)?;
        if electorate.graph.is_some() && self.ground != Ground::AnyGraph {
            return Err(RegistryError::OwnGraph(self.name));
        }
        // The limit on nodes is for graphs with few edges.
        if electorate.graph.is_none() && self.ground == Ground::AnyGraph {
            Electorate::check_complete(electorate.nodes)?;
        }
        Ok(())
    }
}

macro_rules! elections {
    ($(
        $name:literal: $type:ident, $paper:literal, on $ground:ident $(, with $arrangement:literal)?
            $(, within $tmax:ident)? $(, told by $detector:ident)? $(, stands $crashes:ident)?,
            up to $most:ident, shown with $shown:literal,
            $messages:literal, $needs:literal
            => $make:expr;
    )*) => {
        /// Every election.
        pub static ELECTIONS: &[ElectionAlgorithm] = &[$(ElectionAlgorithm {
            name: $name,
            implemented_by: stringify!($type),
            paper: $paper,
            arrangement: row!(@option $($arrangement)?),
            ground: Ground::$ground,
            messages: $messages,
            needs: $needs,
            channels: <$type as Machine>::CHANNELS,
            within_tmax: row!(@flag $($tmax)?),
            detector: row!(@flag $($detector)?),
            stands_crashes: row!(@flag $($crashes)?),
            most_nodes: $most,
            nodes_to_show: $shown,
        }),*];

        registered! {
            ELECTIONS of ElectionAlgorithm, each of &Electorate, for ElectionVisitor,
            or else UnknownElection:
            $($name: $type => $make;)*
        }
    };
}

elections! {
    "bully": Bully, "Garcia-Molina 1982", on Complete, within tmax, stands crashes,
        up to ACQUAINTED, shown with 5,
        "m² + n-2: the highest is down, and the initiator has m above it", "messages within T"
        => |of| Bully::cluster(of.nodes);
    "bully_halt": BullyHalt, "Stoller 2000", on Complete, told by detector, stands crashes,
        up to ACQUAINTED, shown with 4,
        "3(l-1), and 1 if not the highest calls: l live", "a detector"
        => |of| BullyHalt::cluster(of.nodes);
    "bully_majority": BullyHalt, "Stoller 2000", on Complete, with "a majority that acknowledges",
        told by detector, stands crashes,
        up to ACQUAINTED, shown with 5,
        "3(l-1), and 1 if not the highest calls: l live", "a detector, and a majority that lives"
        => |of| BullyHalt::gated(of.nodes);
    "ring_election": RingElection, "folklore", on Ring, told by detector, stands crashes,
        up to ACQUAINTED, shown with 4,
        "2mk: m live, k call", "a detector"
        => |of| RingElection::cluster(of.nodes);
    "ring_election_to_all": RingElection, "folklore", on Ring, with "the lowest, told to all",
        told by detector, stands crashes,
        up to ACQUAINTED, shown with 4,
        "k(2m-1): m live, k call", "a detector"
        => |of| RingElection::with(of.nodes, Choice::Lowest, Announcement::ToAll);
    "chang_roberts": ChangRoberts, "Chang and Roberts 1979", on Ring,
        up to ACQUAINTED, shown with 4,
        "2n-1 to n(n+1)/2, n·Hₙ on average, and n", "nobody down, nothing lost"
        => |of| ChangRoberts::cluster(of.nodes);
    "le_lann": LeLann, "Le Lann 1977", on Ring,
        up to ACQUAINTED, shown with 4,
        "kn + n: k call", "channels that keep order, nobody down, nothing lost"
        => |of| LeLann::cluster(of.nodes);
    "echo": Echo, "Chang 1982", on AnyGraph,
        up to NEIGHBOURS, shown with 5,
        "2E on a graph of E edges", "one initiator, nobody down, nothing lost"
        => |of| Ok(Echo::over(&of.graph()?));
    "extinction": Extinction, "Chang 1982", on AnyGraph, with "extinction",
        up to NEIGHBOURS, shown with 5,
        "2E to 2Ek, and n-1: k call", "nobody down, nothing lost"
        => |of| Ok(Extinction::over(&of.graph()?));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::registry::ShippedElection;

    struct Named;

    impl ElectionVisitor for Named {
        type Output = (String, usize);

        fn visit<E: ShippedElection>(
            self,
            _: &'static ElectionAlgorithm,
            cluster: Vec<E>,
        ) -> (String, usize) {
            ClusterError::check_places(&cluster).expect("every node stands where it belongs");
            (std::any::type_name::<E>().to_owned(), cluster.len())
        }
    }

    #[test]
    fn every_election_is_built_by_the_type_that_it_names_and_with_as_many_nodes() {
        for algorithm in ELECTIONS {
            let of = Electorate::of(algorithm.nodes_to_show);
            let (name, nodes) = algorithm.build(&of, Named).expect("it can be shown");
            assert!(name.ends_with(&format!("::{}", algorithm.implemented_by)), "{algorithm}");
            assert_eq!(nodes, algorithm.nodes_to_show);
            assert_eq!(ElectionAlgorithm::named(algorithm.name), Ok(algorithm), "names are unique");
        }
    }

    #[test]
    fn what_cannot_be_built_is_said_with_the_reason() {
        let why = |name: &str, of: Electorate| {
            let built = ElectionAlgorithm::named(name).and_then(|it| it.build(&of, Named));
            built.unwrap_err().to_string()
        };
        let unknown = why("bullies", Electorate::of(3));
        assert!(unknown.starts_with("no election is called 'bullies'; there are bully,"));
        assert!(why("bully", Electorate::of(1)).contains("take 2 or more"));
        assert!(why("bully", Electorate::of(5000)).contains("take at most 4096"));
        let grid = Electorate::on(Graph::grid(2, 2).expect("four nodes"));
        assert!(why("chang_roberts", grid).contains("leave the graph out"));
        assert_eq!(
            why("echo", Electorate::of(100_000)),
            "a complete graph of 100000 nodes has 4999950000 edges: name another graph"
        );
        assert!(why("extinction", Electorate::of(2_000_000)).contains("take at most 1000000"));
    }
}
