//! Why a user is not let in, and why a node does not start.

use std::error::Error;
use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use crate::keys::PublicKey;
use crate::store::StoreError;

/// Why a user is not let in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Down {
    /// The deadline has passed.
    TimedOut,
    /// It was to be now, and somebody else is inside or waits.
    Busy,
    /// Not all nodes are here, and the user did not want to wait for them.
    Incomplete {
        /// The numbers of the members with which there is no session.
        missing: Vec<u32>,
    },
    /// So many wait at this node already.
    TooMany,
    /// The node is shut down.
    Closed,
    /// The node cannot go on.
    Broken(String),
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => write!(f, "the deadline has passed"),
            Self::Busy => write!(f, "somebody is inside or waits"),
            Self::Incomplete { missing } if missing.is_empty() => {
                write!(f, "not all nodes are ready")
            }
            Self::Incomplete { missing } => {
                let missing: Vec<_> = missing.iter().map(u32::to_string).collect();
                write!(f, "not all nodes are here: no session with {}", missing.join(", "))
            }
            Self::TooMany => write!(f, "too many wait at this node already"),
            Self::Closed => write!(f, "the node is shut down"),
            Self::Broken(why) => write!(f, "the node cannot go on: {why}"),
        }
    }
}

impl Error for Down {}

/// There is no resource of this name in the configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchResource {
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
}

impl fmt::Display for NoSuchResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.join(", ");
        write!(f, "no resource is called '{}'; the configuration has {names}", self.name)
    }
}

impl Error for NoSuchResource {}

/// Why a node does not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// No member has this number.
    NoMember(u32),
    /// The secret key does not belong to the public one of the member.
    Key {
        /// Its number.
        me: u32,
        /// The key that the configuration has for it.
        wanted: PublicKey,
        /// The one that the secret key belongs to.
        given: PublicKey,
    },
    /// The data directory cannot be used.
    Store(StoreError),
    /// The address cannot be used.
    Listen(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMember(me) => write!(f, "the configuration has no member {me}"),
            Self::Key { me, wanted, given } => write!(
                f,
                "the secret key is not that of member {me}: it belongs to {given}, and the \
                 configuration has {wanted}"
            ),
            Self::Store(why) => write!(f, "{why}"),
            Self::Listen(why) => write!(f, "{why}"),
        }
    }
}

impl Error for StartError {}

impl From<StoreError> for StartError {
    fn from(why: StoreError) -> Self {
        Self::Store(why)
    }
}
