//! Every message algorithm under its name. Adding one is a line at the end of this file.

use std::error::Error;
use std::fmt;

use exclusion::protocol::quorum::{QuorumError, Scheme};
use exclusion::protocol::{
    CarvalhoRoucairol, CentralCoordinator, ClusterError, GrantingSets, Lamport, Maekawa,
    MaekawaVoting, Protocol, RaymondK, RicartAgrawala, SinghalDynamic,
};

/// Does something with a cluster, whatever its algorithm.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P>(self, name: &'static str, cluster: Vec<P>) -> Self::Output
    where
        P: Protocol<Message: Send> + Send + 'static;
}

/// Why there is no such cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoCluster {
    /// No algorithm has this name.
    UnknownAlgorithm(String),
    /// The algorithm cannot be for so many nodes.
    Unfit(&'static str, ClusterError),
    /// It could, but would not fit into memory.
    TooManyNodes(&'static str, usize),
}

impl fmt::Display for NoCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAlgorithm(name) => {
                write!(f, "no algorithm is called '{name}'; there are {}", NAMES.join(", "))
            }
            Self::Unfit(name, why) => write!(f, "{name}: {why}"),
            Self::TooManyNodes(name, nodes) => write!(
                f,
                "{name}: {nodes} nodes that all know each other do not fit into memory: \
                 take at most {MOST_ACQUAINTED}"
            ),
        }
    }
}

impl Error for NoCluster {}

/// How many nodes may all know each other. Their states grow with the square.
const MOST_ACQUAINTED: usize = 4096;

macro_rules! algorithms {
    ($($name:literal => $make:expr;)*) => {
        /// The names of all algorithms.
        pub const NAMES: &[&str] = &[$($name),*];

        /// Makes a cluster of the algorithm with this name, and does something with it.
        ///
        /// # Errors
        /// If there is no such algorithm, or not for so many nodes.
        pub fn with_cluster<V: Visitor>(
            name: &str,
            nodes: usize,
            visitor: V,
        ) -> Result<V::Output, NoCluster> {
            match name {
                $($name => {
                    if nodes > MOST_ACQUAINTED {
                        return Err(NoCluster::TooManyNodes($name, nodes));
                    }
                    let cluster = $make(nodes).map_err(|why| NoCluster::Unfit($name, why))?;
                    Ok(visitor.visit($name, cluster))
                })*
                _ => Err(NoCluster::UnknownAlgorithm(name.to_owned())),
            }
        }
    };
}

fn maekawa(sets: Result<GrantingSets, QuorumError>) -> Result<Vec<Maekawa>, ClusterError> {
    Ok(Maekawa::cluster(&sets?))
}

/// Weights 1, 2, 3, ...
fn weighted(nodes: usize) -> Result<GrantingSets, QuorumError> {
    GrantingSets::weighted_majority(&(1..=nodes as u64).collect::<Vec<_>>())
}

algorithms! {
    "central_coordinator" => CentralCoordinator::cluster;
    "lamport" => Lamport::cluster;
    "ricart_agrawala" => RicartAgrawala::cluster;
    "carvalho_roucairol" => CarvalhoRoucairol::cluster;
    "singhal_dynamic" => SinghalDynamic::cluster;
    "maekawa" => |n| maekawa(GrantingSets::grid(n));
    "maekawa_triangle" => |n| maekawa(GrantingSets::triangle(n, Scheme::Alternating));
    "maekawa_plane" => |n| maekawa(GrantingSets::projective_plane_of(n));
    "majority" => |n| maekawa(GrantingSets::majority(n));
    "weighted_majority" => |n| maekawa(weighted(n));
    "maekawa_voting" => |n| Ok(MaekawaVoting::cluster(&GrantingSets::grid(n)?));
    "raymond_k" => |n: usize| RaymondK::cluster(n, n.div_ceil(3));
}
