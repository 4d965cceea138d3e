//! What can go wrong with a cluster of actors.

use std::error::Error;
use std::fmt;
use std::io;

use crate::message::{ClusterError, NodeId, Violation};

/// The cluster is down, and knows why. What a node's thread need know: it is small, and passed on
/// with every message.
pub(super) struct IsDown;

/// Why a cluster does not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The nodes are no cluster: too few, in the wrong order, or of several.
    Cluster(ClusterError),
    /// No resource at all.
    NoResource,
    /// Two resources of one name.
    SameName(String),
    /// A resource has other nodes than the first.
    OtherNodes {
        /// The resource.
        resource: String,
        /// How many nodes it has.
        nodes: usize,
        /// How many the first has.
        first: usize,
    },
    /// The protocol needs channels that keep order, and the cluster was to shuffle.
    NeedsOrder,
    /// The system gives no more threads.
    Thread(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(cluster) => cluster.fmt(f),
            Self::NoResource => write!(f, "a cluster guards something: add a resource"),
            Self::SameName(name) => write!(f, "two resources are called '{name}': rename one"),
            Self::OtherNodes { resource, nodes, first } => write!(
                f,
                "'{resource}' has {nodes} nodes, but the first resource has {first}: \
                 make them equal"
            ),
            Self::NeedsOrder => {
                write!(f, "this protocol needs channels that keep order: do not shuffle")
            }
            Self::Thread(_) => {
                write!(f, "the system has no thread for each node: take fewer nodes or resources")
            }
        }
    }
}

impl Error for StartError {
    /// What the system says, if it gives no thread; else what is behind the cause, which is in the
    /// words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cluster(cluster) => cluster.source(),
            Self::Thread(error) => Some(error),
            _ => None,
        }
    }
}

/// Why a node is not killed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KillError {
    /// There is no such node.
    Cluster(ClusterError),
    /// Its user is inside.
    Inside(NodeId),
}

impl fmt::Display for KillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster(cluster) => cluster.fmt(f),
            Self::Inside(node) => {
                write!(f, "the user of {node} is inside: drop its guard before the node is killed")
            }
        }
    }
}

impl Error for KillError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cluster(cluster) => cluster.source(),
            Self::Inside(_) => None,
        }
    }
}

/// Why there is no such handle.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandleError {
    /// No resource has this name.
    UnknownResource {
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// No node has this number.
    UnknownNode(ClusterError),
    /// Somebody has it already: a node has one user.
    Taken(NodeId),
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownResource { name, known } => {
                write!(f, "no resource is called '{name}'; there are: {}", known.join(", "))
            }
            Self::UnknownNode(cluster) => cluster.fmt(f),
            Self::Taken(node) => {
                write!(f, "the handle of {node} is taken: drop it first, or take another node's")
            }
        }
    }
}

impl Error for HandleError {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::UnknownNode(cluster) => cluster.source(),
            _ => None,
        }
    }
}

/// Why a cluster no longer lets anybody in.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Down {
    /// It was shut down.
    Shutdown,
    /// This node was stopped.
    Stopped(NodeId),
    /// What must not happen happened.
    Violation(Violation),
    /// This node's user is inside for ever, for its guard was forgotten instead of dropped.
    Forgotten(NodeId),
    /// This node panicked.
    Panicked(NodeId),
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shutdown => write!(f, "the cluster was shut down"),
            Self::Stopped(node) => write!(f, "the cluster is down: {node} was stopped"),
            Self::Violation(violation) => write!(f, "the cluster is down: {violation}"),
            Self::Forgotten(node) => write!(
                f,
                "the cluster is down: {node} is inside for ever, \
                 for its guard was forgotten instead of dropped"
            ),
            Self::Panicked(node) => write!(f, "the cluster is down: {node} panicked"),
        }
    }
}

impl Error for Down {
    /// What is behind the cause: the cause itself is in the words of this error.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Violation(violation) => violation.source(),
            _ => None,
        }
    }
}
