//! What a node is doing at the moment when something befalls it.

use std::fmt;
use std::str::FromStr;

use crate::message::{Claims, Phase};

/// What a node is doing at the moment when something befalls it.
///
/// ```
/// use exclusion::message::{Role, TokenRing};
///
/// let nodes = TokenRing::cluster(3)?;
/// assert!(Role::IdleWithToken.is_of(&nodes[0]));
/// assert!(Role::Idle.is_of(&nodes[1]));
/// assert_eq!("holder".parse(), Ok(Role::Holder));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Role {
    /// Its user wants nothing, and it does not have the token, if there is one.
    Idle,
    /// Its user wants nothing, but it has the token.
    IdleWithToken,
    /// Its user waits.
    Requester,
    /// Its user is inside.
    Holder,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Idle, Self::IdleWithToken, Self::Requester, Self::Holder];

    /// Whether a node has this role.
    pub fn is_of<P: Claims>(self, node: &P) -> bool {
        let has_token = || P::token().is_some_and(|token| (token.has)(node));
        match self {
            Self::Idle => node.phase() == Phase::Idle && !has_token(),
            Self::IdleWithToken => node.phase() == Phase::Idle && has_token(),
            Self::Requester => node.phase() == Phase::Waiting,
            Self::Holder => node.phase() == Phase::Inside,
        }
    }

    /// The same as a function for one role.
    pub fn test<P: Claims>(self) -> fn(&P) -> bool {
        match self {
            Self::Idle => |node| Self::Idle.is_of(node),
            Self::IdleWithToken => |node| Self::IdleWithToken.is_of(node),
            Self::Requester => |node| Self::Requester.is_of(node),
            Self::Holder => |node| Self::Holder.is_of(node),
        }
    }

    /// Its name, as commands take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::IdleWithToken => "token",
            Self::Requester => "requester",
            Self::Holder => "holder",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("'{name}' is no role: take one of {names}")
        })
    }
}
