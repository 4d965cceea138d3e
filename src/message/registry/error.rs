//! Why there is no such algorithm, or no cluster of it.

use std::error::Error;
use std::fmt;

use super::{ALGORITHMS, ELECTIONS};
use crate::message::ClusterError;

/// Why there is no such cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// No algorithm has this name.
    Unknown(String),
    /// The algorithm cannot be for so many nodes.
    Unfit(&'static str, ClusterError),
    /// It could, but neither memory nor patience would last.
    TooManyNodes {
        /// The algorithm.
        algorithm: &'static str,
        /// So many would do.
        most: usize,
    },
    /// The algorithm lets in one at a time.
    OneAtATime(&'static str),
    /// No election has this name.
    UnknownElection(String),
    /// The election does not run on any graph.
    OwnGraph(&'static str),
    /// A complete graph of so many nodes would fill the memory.
    TooManyEdges {
        /// How many nodes.
        nodes: usize,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                write!(f, "no algorithm is called '{name}'; there are")?;
                for (position, algorithm) in ALGORITHMS.iter().enumerate() {
                    write!(f, "{} {algorithm}", if position == 0 { "" } else { "," })?;
                }
                Ok(())
            }
            Self::Unfit(algorithm, why) => write!(f, "{algorithm}: {why}"),
            Self::TooManyNodes { algorithm, most } => {
                write!(f, "{algorithm}: so many nodes would take too long: take at most {most}")
            }
            Self::OneAtATime(algorithm) => {
                write!(f, "{algorithm} lets in one at a time: leave the number of entries out")
            }
            Self::UnknownElection(name) => {
                let names: Vec<_> = ELECTIONS.iter().map(|election| election.name).collect();
                write!(f, "no election is called '{name}'; there are {}", names.join(", "))
            }
            Self::OwnGraph(algorithm) => write!(
                f,
                "{algorithm} does not run on any graph: leave the graph out, or take extinction"
            ),
            Self::TooManyEdges { nodes } => {
                let edges = nodes.saturating_mul(nodes.saturating_sub(1)) / 2;
                let graph = format!("a complete graph of {nodes} nodes has {edges} edges");
                write!(f, "{graph}: name another graph")
            }
        }
    }
}

impl Error for RegistryError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unfit(_, why) => why.source(),
            _ => None,
        }
    }
}
