//! The numbers of requests: each node counts its own from 1, and the token knows each node's last
//! entry.
//!
//! A node asks again only after it has entered and left. So its requests have at most the number
//! after its last entry, and a node that waits for the token is exactly one ahead of it.

use crate::message::{NodeId, Refused};

/// The number of the next request.
pub(super) fn next(number: u64) -> Result<u64, Refused> {
    number.checked_add(1).ok_or(Refused("its requests are numbered to the limit"))
}

/// Refuses a number that no request of a node can have. `served` is the number of the node's last
/// entry, if the token is here to tell.
pub(super) fn check_request(number: u64, served: Option<u64>) -> Result<(), Refused> {
    if number == 0 {
        return Err(Refused("requests are numbered from 1"));
    }
    if served.is_some_and(|served| served < number - 1) {
        return Err(Refused("the request before that one has not been served"));
    }
    Ok(())
}

/// Refuses the entries on a token that is of another cluster than one of `nodes`, or does not know
/// that the request of this number is the next of this node.
pub(super) fn check_served(
    served: &[u64],
    nodes: usize,
    me: NodeId,
    number: u64,
) -> Result<(), Refused> {
    if served.len() != nodes {
        return Err(Refused("the token is of a cluster of another size"));
    }
    if served[me.index()].checked_add(1) != Some(number) {
        return Err(Refused("the token has another entry for its last"));
    }
    Ok(())
}
