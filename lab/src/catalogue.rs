//! Every message algorithm under its name. Adding one is a line at the end of this file.

use std::error::Error;
use std::fmt;

use exclusion::message::banta_efficient::Late;
use exclusion::message::quorum::{QuorumError, Scheme};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    ClusterError, GrantingSets, Lamport, Maekawa, MaekawaVoting, NaimiTrehel, NaimiTrehelQueue,
    Protocol, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
    SinghalHeuristic, SuzukiKasami, TokenRing, Topology,
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
    /// No algorithm has this name; these are the names.
    UnknownAlgorithm(String, &'static [&'static str]),
    /// The algorithm cannot be for so many nodes.
    Unfit(&'static str, ClusterError),
    /// It could, but neither memory nor patience would last. So many would do.
    TooManyNodes(&'static str, usize),
}

impl fmt::Display for NoCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAlgorithm(name, names) => {
                write!(f, "no algorithm is called '{name}'; there are {}", names.join(", "))
            }
            Self::Unfit(name, why) => write!(f, "{name}: {why}"),
            Self::TooManyNodes(name, most) => {
                write!(f, "{name}: so many nodes would take too long: take at most {most}")
            }
        }
    }
}

impl NoCluster {
    /// No algorithm has this name; these are the names.
    pub fn unknown(name: &str, names: &'static [&'static str]) -> Self {
        Self::UnknownAlgorithm(name.to_owned(), names)
    }
}

impl Error for NoCluster {}

/// How many nodes may all know each other, or meet in one queue. States, or times, grow with the square.
const ACQUAINTED: usize = 4096;

/// How many nodes may each know a few others.
const STRANGERS: usize = 10_000_000;

macro_rules! algorithms {
    ($($name:literal, up to $most:ident => $make:expr;)*) => {
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
                    if nodes > $most {
                        return Err(NoCluster::TooManyNodes($name, $most));
                    }
                    let cluster = $make(nodes).map_err(|why| NoCluster::Unfit($name, why))?;
                    Ok(visitor.visit($name, cluster))
                })*
                _ => Err(NoCluster::unknown(name, NAMES)),
            }
        }
    };
}

fn maekawa(sets: Result<GrantingSets, QuorumError>) -> Result<Vec<Maekawa>, ClusterError> {
    Ok(Maekawa::cluster(&sets?))
}

/// Weights 1, 2, 3, ...
pub(crate) fn weighted(nodes: usize) -> Result<GrantingSets, QuorumError> {
    GrantingSets::weighted_majority(&(1..=nodes as u64).collect::<Vec<_>>())
}

/// Suzuki's and Kasami's algorithm, where nodes are not all neighbours.
fn suzuki_kasami(
    topology: Result<Topology, ClusterError>,
) -> Result<Vec<SuzukiKasami>, ClusterError> {
    Ok(SuzukiKasami::over(&topology?))
}

algorithms! {
    "central_coordinator", up to ACQUAINTED => CentralCoordinator::cluster;
    "lamport", up to ACQUAINTED => Lamport::cluster;
    "ricart_agrawala", up to ACQUAINTED => RicartAgrawala::cluster;
    "carvalho_roucairol", up to ACQUAINTED => CarvalhoRoucairol::cluster;
    "singhal_dynamic", up to ACQUAINTED => SinghalDynamic::cluster;
    "maekawa", up to ACQUAINTED => |n| maekawa(GrantingSets::grid(n));
    "maekawa_triangle", up to ACQUAINTED =>
        |n| maekawa(GrantingSets::triangle(n, Scheme::Alternating));
    "maekawa_triangle_columns", up to ACQUAINTED =>
        |n| maekawa(GrantingSets::triangle(n, Scheme::Column));
    "maekawa_triangle_rows", up to ACQUAINTED => |n| maekawa(GrantingSets::triangle(n, Scheme::Row));
    "maekawa_plane", up to ACQUAINTED => |n| maekawa(GrantingSets::projective_plane_of(n));
    "majority", up to ACQUAINTED => |n| maekawa(GrantingSets::majority(n));
    "weighted_majority", up to ACQUAINTED => |n| maekawa(weighted(n));
    "maekawa_voting", up to ACQUAINTED => |n| Ok(MaekawaVoting::cluster(&GrantingSets::grid(n)?));
    "raymond_k", up to ACQUAINTED => |n: usize| RaymondK::cluster(n, n.div_ceil(3));
    "token_ring", up to ACQUAINTED => TokenRing::cluster;
    "suzuki_kasami", up to ACQUAINTED => SuzukiKasami::cluster;
    "suzuki_kasami_ring", up to ACQUAINTED => |n| suzuki_kasami(Topology::ring(n));
    "suzuki_kasami_tree", up to ACQUAINTED => |n| suzuki_kasami(Topology::k_ary_tree(n, 2));
    "ricart_agrawala_token", up to ACQUAINTED => RicartAgrawalaToken::cluster;
    "singhal_heuristic", up to ACQUAINTED => SinghalHeuristic::cluster;
    "raymond", up to STRANGERS => Raymond::cluster;
    "naimi_trehel", up to STRANGERS => NaimiTrehel::cluster;
    "naimi_trehel_queue", up to STRANGERS => NaimiTrehelQueue::cluster;
    "banta_simple", up to ACQUAINTED => BantaSimple::cluster;
    "banta_fair", up to ACQUAINTED => BantaFair::cluster;
    "banta_efficient", up to ACQUAINTED => |n| BantaEfficient::cluster(n, Late::Strict);
    "banta_efficient_hardened", up to ACQUAINTED => |n| BantaEfficient::cluster(n, Late::Hardened);
    "banta_k", up to ACQUAINTED => |n: usize| BantaK::cluster(n, n.div_ceil(3), Late::Strict);
}
