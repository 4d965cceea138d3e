//! Every algorithm: its name, its paper, how to build it, what it costs.
//!
//! One list, from which the tests, the lab and the tables of the documentation come. An
//! [`Algorithm`] may stand for an arrangement of another: Maekawa's algorithm on a triangle,
//! Raymond's on a line.
//!
//! What to do with a cluster, whatever its algorithm, is a [`Visitor`]:
//!
//! ```
//! use exclusion::message::registry::{Size, Visitor, Shipped, ALGORITHMS, Algorithm};
//! use exclusion::message::sim::Simulation;
//!
//! struct Mean;
//! impl Visitor for Mean {
//!     type Output = f64;
//!     fn visit<P: Shipped>(self, _: &'static Algorithm, cluster: Vec<P>) -> f64 {
//!         Simulation::new(cluster).run().unwrap().per_entry.unwrap().mean
//!     }
//! }
//!
//! let lamport = Algorithm::named("lamport")?;
//! assert_eq!(lamport.build(Size::of(5), Mean)?, 3.0 * (5.0 - 1.0));
//! assert!(ALGORITHMS.iter().any(|algorithm| algorithm.paper == "Lamport 1978"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod entry;
mod elections;
mod error;
mod visitor;

use std::fmt;

pub use elections::{ELECTIONS, ElectionAlgorithm, Electorate, Ground};

use super::banta_efficient::Late;
use super::quorum::{QuorumError, Scheme};
use super::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, CarvalhoRoucairol, CentralCoordinator,
    Channels, ClusterError, Lamport, Machine, Maekawa, Majority, NaimiTrehel, NaimiTrehelQueue,
    Quorums, Raymond, RaymondK, RicartAgrawala, RicartAgrawalaToken, SinghalDynamic,
    SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing, TokenRing, Topology,
    Tree,
};

pub use error::RegistryError;
pub use visitor::{ElectionVisitor, Portable, Shipped, ShippedElection, Visitor};

/// How nodes come to agree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Family {
    /// A node asks the others for permission.
    Permission,
    /// A node asks a quorum.
    Quorum,
    /// A token is the permission.
    Token,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permission => "permission",
            Self::Quorum => "quorum",
            Self::Token => "token",
        })
    }
}

/// How large a cluster is to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// How many nodes.
    pub nodes: usize,
    /// How many may be inside at a time, where an algorithm lets in several. A third of the nodes
    /// if it is not said.
    pub entries: Option<usize>,
}

impl Size {
    /// So many nodes.
    pub fn of(nodes: usize) -> Self {
        Self { nodes, entries: None }
    }

    /// The same, with so many inside at a time.
    #[must_use]
    pub fn with_entries(self, entries: usize) -> Self {
        Self { entries: Some(entries), ..self }
    }

    fn k(self) -> usize {
        self.entries.unwrap_or(self.nodes.div_ceil(3))
    }
}

/// An algorithm, or an arrangement of one.
#[derive(PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Algorithm {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// The type that implements it.
    pub implemented_by: &'static str,
    /// Who published it, and when.
    pub paper: &'static str,
    /// How nodes come to agree.
    pub family: Family,
    /// Where it is an arrangement of another algorithm, how its nodes are arranged.
    pub arrangement: Option<&'static str>,
    /// Messages per entry, for people.
    pub messages: &'static str,
    /// In which order requests are served.
    pub order: &'static str,
    /// The channels that it needs.
    pub channels: Channels,
    /// Whether several may be inside at a time.
    pub several_entries: bool,
    /// Whether its timers rely on a bound on message delays, Tmax.
    pub within_tmax: bool,
    /// Up to how many nodes a cluster of it is practical.
    pub most_nodes: usize,
    /// How many nodes show best what it does: few, but as many as its arrangement needs.
    pub nodes_to_show: usize,
}

/// How many nodes may all know each other, or meet in one queue. States, or times, grow with the
/// square.
const ACQUAINTED: usize = 4096;

/// The same for triangles and planes: the first size past it that there is, so that the nearest
/// sizes of every number up to it can be built too.
const TRIANGULAR: usize = 91 * 92 / 2;
const PLANAR: usize = 64 * 64 + 64 + 1;

/// How many nodes may each know a few others.
const STRANGERS: usize = 10_000_000;

impl Algorithm {
    /// Whether there can be a cluster of this size.
    ///
    /// # Errors
    /// If not, and why.
    pub fn check(&self, size: Size) -> Result<(), RegistryError> {
        self.check_nodes(size.nodes)?;
        if size.entries.is_some() && !self.several_entries {
            return Err(RegistryError::OneAtATime(self.name));
        }
        Ok(())
    }
}

macro_rules! algorithms {
    ($(
        $name:literal: $type:ident, $paper:literal, $family:ident $(, on $arrangement:literal)?
            $(, entries $several:ident)? $(, within $tmax:ident)?,
            up to $most:ident, shown with $shown:literal,
            $messages:literal, $order:literal
            => $make:expr;
    )*) => {
        /// Every algorithm.
        pub static ALGORITHMS: &[Algorithm] = &[$(Algorithm {
            name: $name,
            implemented_by: stringify!($type),
            paper: $paper,
            family: Family::$family,
            arrangement: row!(@option $($arrangement)?),
            messages: $messages,
            order: $order,
            channels: <$type as Machine>::CHANNELS,
            several_entries: row!(@flag $($several)?),
            within_tmax: row!(@flag $($tmax)?),
            most_nodes: $most,
            nodes_to_show: $shown,
        }),*];

        registered! {
            ALGORITHMS of Algorithm, each of Size, for Visitor, or else Unknown:
            $($name: $type => $make;)*
        }
    };
}

fn maekawa(quorums: Result<Quorums, QuorumError>) -> Result<Vec<Maekawa>, ClusterError> {
    Ok(Maekawa::cluster(&quorums?))
}

/// Weights 1, 2, 3, ...
fn ascending_weights(nodes: usize) -> Vec<u64> {
    (1..=nodes as u64).collect()
}

fn suzuki_kasami(
    topology: Result<Topology, ClusterError>,
) -> Result<Vec<SuzukiKasami>, ClusterError> {
    Ok(SuzukiKasami::over(&topology?))
}

fn raymond(tree: Result<Tree, ClusterError>) -> Result<Vec<Raymond>, ClusterError> {
    Ok(Raymond::over(&tree?))
}

algorithms! {
    "central_coordinator": CentralCoordinator, "folklore", Permission,
        up to ACQUAINTED, shown with 3,
        "3; 0 for the coordinator", "as requests reach the coordinator"
        => |size| CentralCoordinator::cluster(size.nodes);
    "lamport": Lamport, "Lamport 1978", Permission,
        up to ACQUAINTED, shown with 3,
        "3(n-1)", "by (time, node)"
        => |size| Lamport::cluster(size.nodes);
    "ricart_agrawala": RicartAgrawala, "Ricart and Agrawala 1981", Permission,
        up to ACQUAINTED, shown with 3,
        "2(n-1)", "by (time, node)"
        => |size| RicartAgrawala::cluster(size.nodes);
    "carvalho_roucairol": CarvalhoRoucairol, "Carvalho and Roucairol 1983", Permission,
        up to ACQUAINTED, shown with 3,
        "0 to 2(n-1)", "a node that holds the permissions goes first"
        => |size| CarvalhoRoucairol::cluster(size.nodes);
    "singhal_dynamic": SinghalDynamic, "Singhal 1989", Permission,
        up to ACQUAINTED, shown with 3,
        "0 to 2(n-1); n-1 on average when nodes come at random",
        "a node that holds the permissions goes first"
        => |size| SinghalDynamic::cluster(size.nodes);
    "maekawa": Maekawa, "Maekawa 1985", Quorum,
        up to ACQUAINTED, shown with 4,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::grid(size.nodes));
    "maekawa_circle": Maekawa, "Maekawa 1985", Quorum, on "a circle of three",
        up to ACQUAINTED, shown with 3,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::circle(size.nodes));
    "maekawa_triangle": Maekawa, "Maekawa 1985", Quorum, on "a triangle, columns and rows in turn",
        up to TRIANGULAR, shown with 6,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::triangle(size.nodes, Scheme::Alternating));
    "maekawa_triangle_columns": Maekawa, "Maekawa 1985", Quorum, on "a triangle, columns",
        up to TRIANGULAR, shown with 6,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::triangle(size.nodes, Scheme::Column));
    "maekawa_triangle_rows": Maekawa, "Maekawa 1985", Quorum, on "a triangle, rows",
        up to TRIANGULAR, shown with 6,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::triangle(size.nodes, Scheme::Row));
    "maekawa_plane": Maekawa, "Maekawa 1985", Quorum, on "a projective plane",
        up to PLANAR, shown with 7,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::projective_plane_of(size.nodes));
    "majority": Majority, "Thomas 1979", Quorum,
        up to ACQUAINTED, shown with 3,
        "3(n-1) alone, at most 6(n-1)", "by (time, node), nearly"
        => |size| Majority::cluster(size.nodes);
    "weighted_majority": Majority, "Gifford 1979", Quorum, on "weights 1, 2, 3, and so on",
        up to ACQUAINTED, shown with 3,
        "3(n-1) alone, at most 6(n-1)", "by (time, node), nearly"
        => |size| Majority::weighted(&ascending_weights(size.nodes));
    "majority_fixed": Maekawa, "Maekawa 1985", Quorum, on "a majority of successors",
        up to ACQUAINTED, shown with 3,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::majority(size.nodes));
    "weighted_majority_fixed": Maekawa, "Maekawa 1985", Quorum,
        on "a weighted majority of successors",
        up to ACQUAINTED, shown with 3,
        "3(K-1) alone, at most 6(K-1)", "by (time, node), nearly"
        => |size| maekawa(Quorums::weighted_majority(&ascending_weights(size.nodes)));
    "raymond_k": RaymondK, "Raymond 1989", Permission, entries several,
        up to ACQUAINTED, shown with 4,
        "2n-k-1 to 2(n-1)", "by (time, node), as far as k allows"
        => |size| RaymondK::cluster(size.nodes, size.k());
    "token_ring": TokenRing, "Le Lann 1977", Token,
        up to ACQUAINTED, shown with 3,
        "1 when all want in, **unbounded** when nobody does", "round the ring"
        => |size| TokenRing::cluster(size.nodes);
    "suzuki_kasami": SuzukiKasami, "Suzuki and Kasami 1985", Token,
        up to ACQUAINTED, shown with 3,
        "0 or n", "the token's queue"
        => |size| SuzukiKasami::cluster(size.nodes);
    "suzuki_kasami_ring": SuzukiKasami, "Suzuki and Kasami 1985", Token, on "a ring",
        up to ACQUAINTED, shown with 3,
        "0 to 2n-2", "the token's queue, and nodes on its way"
        => |size| suzuki_kasami(Topology::ring(size.nodes));
    "suzuki_kasami_line": SuzukiKasami, "Suzuki and Kasami 1985", Token, on "a line",
        up to ACQUAINTED, shown with 3,
        "0 to n-1 and the token's way", "the token's queue, and nodes on its way"
        => |size| suzuki_kasami(Topology::line(size.nodes));
    "suzuki_kasami_tree": SuzukiKasami, "Suzuki and Kasami 1985", Token, on "a binary tree",
        up to ACQUAINTED, shown with 5,
        "0 to n-1 and the token's way", "the token's queue, and nodes on its way"
        => |size| suzuki_kasami(Topology::k_ary_tree(size.nodes, 2));
    "suzuki_kasami_fifo": SuzukiKasamiFifo, "Suzuki and Kasami 1985", Token,
        up to ACQUAINTED, shown with 3,
        "0 or n", "the token's queue"
        => |size| SuzukiKasamiFifo::cluster(size.nodes);
    "suzuki_kasami_fifo_ring": SuzukiKasamiFifoRing, "Suzuki and Kasami 1985", Token,
        up to ACQUAINTED, shown with 4,
        "0 to n", "round the ring"
        => |size| SuzukiKasamiFifoRing::cluster(size.nodes);
    "ricart_agrawala_token": RicartAgrawalaToken, "Ricart and Agrawala 1983", Token,
        up to ACQUAINTED, shown with 3,
        "0 or n", "round, by number"
        => |size| RicartAgrawalaToken::cluster(size.nodes);
    "singhal_heuristic": SinghalHeuristic, "Singhal 1989", Token,
        up to ACQUAINTED, shown with 3,
        "0 to n, and one per late request; (n+1)/2 on average when nodes come at random",
        "round, by number"
        => |size| SinghalHeuristic::cluster(size.nodes);
    "raymond": Raymond, "Raymond 1989", Token,
        up to STRANGERS, shown with 5,
        "at most 2D on a tree of diameter D; 4 when all want in", "each node's queue"
        => |size| Raymond::cluster(size.nodes);
    "raymond_ternary": Raymond, "Raymond 1989", Token, on "a ternary tree, k = 3",
        up to STRANGERS, shown with 5,
        "at most 2D on a tree of diameter D; 4 when all want in", "each node's queue"
        => |size| raymond(Tree::k_ary(size.nodes, 3));
    "raymond_4ary": Raymond, "Raymond 1989", Token, on "a 4-ary tree, k = 4",
        up to STRANGERS, shown with 6,
        "at most 2D on a tree of diameter D; 4 when all want in", "each node's queue"
        => |size| raymond(Tree::k_ary(size.nodes, 4));
    "raymond_star": Raymond, "Raymond 1989", Token, on "a star, k = n-1",
        up to ACQUAINTED, shown with 4,
        "at most 4", "each node's queue"
        => |size| raymond(Tree::star(size.nodes));
    "raymond_line": Raymond, "Raymond 1989", Token, on "a line, k = 1",
        up to ACQUAINTED, shown with 3,
        "at most 2(n-1)", "each node's queue"
        => |size| raymond(Tree::line(size.nodes));
    "naimi_trehel": NaimiTrehel, "Naimi and Trehel 1987", Token,
        up to STRANGERS, shown with 5,
        "0 to n, O(log n) on average", "as requests reach the last"
        => |size| NaimiTrehel::cluster(size.nodes);
    "naimi_trehel_queue": NaimiTrehelQueue, "Naimi and Trehel 1987", Token,
        up to STRANGERS, shown with 5,
        "0 to n, O(log n), fewer when many want in", "the token's queue"
        => |size| NaimiTrehelQueue::cluster(size.nodes);
    "banta_simple": BantaSimple, "Banta 1993", Token,
        up to ACQUAINTED, shown with 3,
        "n light, 2 heavy, and what is forwarded: **it can starve a node**", "the token's queue"
        => |size| BantaSimple::cluster(size.nodes);
    "banta_fair": BantaFair, "Banta 1993", Token,
        up to ACQUAINTED, shown with 3,
        "n light, 2 heavy, at most 2(n-1)", "the token's queue"
        => |size| BantaFair::cluster(size.nodes);
    "banta_efficient": BantaEfficient, "Banta 1993", Token, within tmax,
        up to ACQUAINTED, shown with 3,
        "(n-1)/m + 1 when m wait", "the token's queue, in cycles"
        => |size| BantaEfficient::cluster(size.nodes, Late::Strict);
    "banta_efficient_hardened": BantaEfficient, "Banta 1993", Token, on "hardened", within tmax,
        up to ACQUAINTED, shown with 3,
        "(n-1)/m + 1 when m wait", "the token's queue, in cycles"
        => |size| BantaEfficient::cluster(size.nodes, Late::Hardened);
    "banta_k": BantaK, "Banta 1993", Token, entries several, within tmax,
        up to ACQUAINTED, shown with 4,
        "(n-2)/m + 2 when m wait", "the token's queue, in cycles"
        => |size| BantaK::cluster(size.nodes, size.k(), Late::Strict);
    "banta_k_hardened": BantaK, "Banta 1993", Token, on "hardened", entries several, within tmax,
        up to ACQUAINTED, shown with 4,
        "(n-2)/m + 2 when m wait", "the token's queue, in cycles"
        => |size| BantaK::cluster(size.nodes, size.k(), Late::Hardened);
}

#[cfg(test)]
mod tests;
