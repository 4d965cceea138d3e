//! What can be wrong: with an input, with a run, and with a cluster.

use std::error::Error;
use std::fmt;

use super::quorum::QuorumError;
use super::{Machine, NodeId, Phase};

/// Why a machine does not take an input. [`step`](super::step) makes an [`InputError`] of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused(pub &'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Refused {}

/// A node got an input that cannot occur in its state. Examples are a message that nobody sent, and
/// a release without an entry.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InputError {
    /// The node that got it.
    pub node: NodeId,
    /// What it got.
    pub input: String,
    /// Why it cannot be.
    pub why: &'static str,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, input, why } = self;
        write!(f, "{node} cannot take {input}: {why}")
    }
}

impl Error for InputError {}

/// What must not happen in a run, whichever runner runs it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// A node refused an input.
    Unexpected(InputError),
    /// A node let its user in without a request.
    NotAsked(NodeId),
    /// A node does not know where its user is.
    WrongPhase {
        /// The node.
        node: NodeId,
        /// Where the node says that its user is.
        phase: Phase,
        /// Where its user is.
        user: Phase,
    },
    /// Mutual exclusion is violated: these users are inside, as far as they are known.
    NotExclusive(Vec<NodeId>),
    /// A deadlock: these users wait, and no step is possible.
    Deadlock(Vec<NodeId>),
    /// These users live and wait longer than they may, although all has healed.
    NotServed(Vec<NodeId>),
    /// A node sent a message to one that does not exist.
    NoSuchNode {
        /// Who sent it.
        from: NodeId,
        /// To whom.
        to: NodeId,
    },
    /// The outbox of a step still holds outputs of an earlier one.
    OutboxNotEmpty {
        /// The node that was to take the step.
        node: NodeId,
        /// The node that filled the outbox.
        owner: NodeId,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected(input) => input.fmt(f),
            Self::NotAsked(node) => write!(f, "{node} let its user in without a request"),
            Self::WrongPhase { node, phase, user } => {
                write!(f, "{node} says that its user is {phase:?}, but it is {user:?}")
            }
            Self::NotExclusive(inside) => match inside[..] {
                [node] => write!(f, "{node} was let in while others were inside"),
                _ => write!(f, "{inside:?} are inside together"),
            },
            Self::Deadlock(waiting) => {
                write!(f, "{waiting:?} wait, and nothing is in flight: a deadlock")
            }
            Self::NotServed(waiting) => {
                write!(f, "{waiting:?} wait longer than they may, although all has healed")
            }
            Self::NoSuchNode { from, to } => {
                write!(f, "{from} sent a message to {to}, which does not exist")
            }
            Self::OutboxNotEmpty { node, owner } => {
                write!(f, "{node} cannot use the outbox that {owner} has filled: empty it first")
            }
        }
    }
}

/// What a machine refuses that is a part of another, the other refuses too.
impl From<Violation> for Refused {
    fn from(violation: Violation) -> Self {
        match violation {
            Violation::Unexpected(error) => Self(error.why),
            _ => Self("a part of it makes a mistake of its own"),
        }
    }
}

impl Error for Violation {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unexpected(input) => input.source(),
            _ => None,
        }
    }
}

/// A cluster that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClusterError {
    /// Fewer than two nodes: nobody to exclude, and nobody to elect.
    TooFewNodes(usize),
    /// More nodes than there are [`NodeId`]s.
    TooManyNodes(usize),
    /// A node is at the wrong position: the node at position `i` must be node `i`, and of a cluster
    /// of this size.
    OutOfPlace {
        /// The position.
        position: usize,
        /// The node at that position.
        node: NodeId,
        /// The size of the cluster that it was made for.
        nodes: usize,
    },
    /// A node that the cluster does not have.
    UnknownNode {
        /// The node.
        node: NodeId,
        /// How many there are.
        nodes: usize,
    },
    /// The number of entries at a time is 0, or so large that nobody is excluded.
    Entries {
        /// How many at a time.
        entries: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Edges that are no tree.
    NotATree(&'static str),
    /// Edges that are no graph.
    NotAGraph(&'static str),
    /// An edge from this node to itself.
    Loop(NodeId),
    /// An edge that is there twice, between these nodes.
    DoubleEdge(NodeId, NodeId),
    /// A graph in parts: this node cannot be reached from node 0.
    NotConnected(NodeId),
    /// A number of nodes that is no power of two.
    NotACube {
        /// How many nodes.
        nodes: usize,
        /// The next power of two below.
        below: usize,
    },
    /// A number of edges that no connected graph of so many nodes has.
    Edges {
        /// How many edges.
        edges: usize,
        /// How many nodes.
        nodes: usize,
        /// At least so many.
        least: usize,
        /// At most so many.
        most: usize,
    },
    /// An order of nodes in which one is missing, or there twice.
    NotAnOrder(NodeId),
    /// Quorums that cannot be.
    Quorum(QuorumError),
}

impl ClusterError {
    /// The number of nodes, if it is one that makes sense.
    ///
    /// # Errors
    /// [`TooFewNodes`](Self::TooFewNodes) for 0 and 1, [`TooManyNodes`](Self::TooManyNodes) past
    /// 2³² - 1.
    pub fn check_size(nodes: usize) -> Result<usize, Self> {
        match nodes {
            0 | 1 => Err(Self::TooFewNodes(nodes)),
            _ if u32::try_from(nodes).is_err() => Err(Self::TooManyNodes(nodes)),
            _ => Ok(nodes),
        }
    }

    /// The node, if it is one of a cluster that makes sense.
    ///
    /// # Errors
    /// As [`check_size`](Self::check_size) and [`check_node`](Self::check_node).
    pub fn check_member(node: NodeId, nodes: usize) -> Result<NodeId, Self> {
        Self::check_size(nodes)?;
        Self::check_node(node, nodes)
    }

    /// All nodes of a cluster, each made by itself.
    ///
    /// # Errors
    /// If the number makes no sense, or a node cannot be made.
    pub fn all_nodes<N>(
        nodes: usize,
        node: impl FnMut(NodeId) -> Result<N, Self>,
    ) -> Result<Vec<N>, Self> {
        Self::check_size(nodes)?;
        NodeId::all(nodes).map(node).collect()
    }

    /// Whether each machine is at its own position: the one at position `i` is node `i`, and all
    /// are of one cluster.
    ///
    /// # Errors
    /// [`OutOfPlace`](Self::OutOfPlace) for the first that does not,
    /// [`TooFewNodes`](Self::TooFewNodes) for too few.
    pub fn check_places<M: Machine>(machines: &[M]) -> Result<(), Self> {
        let nodes = Self::check_size(machines.len())?;
        let strays = machines.iter().enumerate().filter(|(position, machine)| {
            machine.id().index() != *position || machine.nodes() != nodes
        });
        match strays.map(|(position, it)| (position, it.id(), it.nodes())).next() {
            Some((position, node, nodes)) => Err(Self::OutOfPlace { position, node, nodes }),
            None => Ok(()),
        }
    }

    /// The node, if the cluster has it.
    ///
    /// # Errors
    /// [`UnknownNode`](Self::UnknownNode) if not.
    pub fn check_node(node: NodeId, nodes: usize) -> Result<NodeId, Self> {
        if node.index() < nodes { Ok(node) } else { Err(Self::UnknownNode { node, nodes }) }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewNodes(1) => f.write_str("1 node is no cluster: take 2 or more"),
            Self::TooFewNodes(nodes) => write!(f, "{nodes} nodes are no cluster: take 2 or more"),
            Self::TooManyNodes(nodes) => {
                write!(f, "{nodes} nodes cannot be numbered: take at most {}", u32::MAX)
            }
            Self::OutOfPlace { position, node, nodes } => write!(
                f,
                "at position {position} stands {node} of {nodes} nodes: \
                 put each node of one cluster at its own number"
            ),
            Self::UnknownNode { node, nodes } => {
                write!(f, "there is no {node}: the nodes are n0 to n{}", nodes.saturating_sub(1))
            }
            Self::Entries { entries, nodes } => write!(
                f,
                "{entries} entries at a time exclude nobody among {nodes} nodes: take 1 to {}",
                nodes.saturating_sub(1)
            ),
            Self::NotATree(why) => write!(f, "the edges are no tree: {why}"),
            Self::NotAGraph(why) => write!(f, "the edges are no graph: {why}"),
            Self::Loop(node) => {
                write!(f, "the edges are no graph: one leads from {node} to itself: leave it out")
            }
            Self::DoubleEdge(one, other) => write!(
                f,
                "the edges are no graph: {one} and {other} are joined twice: name that edge once"
            ),
            Self::NotConnected(node) => write!(
                f,
                "the graph is in parts: no way leads from n0 to {node}: join them by an edge"
            ),
            Self::NotACube { nodes, below } => {
                write!(f, "{nodes} nodes are no hypercube: take {below} or {}", 2 * below)
            }
            Self::Edges { edges, nodes, least, most } => write!(
                f,
                "{edges} edges are no connected graph of {nodes} nodes: take {least} to {most}"
            ),
            Self::NotAnOrder(node) => {
                write!(f, "{node} is not there exactly once: name each node of the ring once")
            }
            Self::Quorum(quorum) => quorum.fmt(f),
        }
    }
}

impl Error for ClusterError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Quorum(quorum) => quorum.source(),
            _ => None,
        }
    }
}

impl From<QuorumError> for ClusterError {
    fn from(quorum: QuorumError) -> Self {
        match quorum {
            QuorumError::TooFewNodes(nodes) => Self::TooFewNodes(nodes),
            other => Self::Quorum(other),
        }
    }
}
