//! What an algorithm claims about itself, apart from running it: its cost, its invariant, its token, its order.
//!
//! Tests, the checker and the lab hold each algorithm to its [`Claims`].

use std::ops::RangeInclusive;

use super::{NodeId, Protocol, Stamp};

/// What an algorithm claims about itself. Whatever it does not claim, it leaves out.
pub trait Claims: Protocol {
    /// What an entry costs in this cluster, if there is a formula for it.
    fn cost(_cluster: &[Self]) -> Option<Cost> {
        None
    }

    /// Whether what always holds between the nodes and the messages in flight (from whom, to whom, what) does, beyond
    /// what holds for every protocol. None if the algorithm claims nothing.
    fn invariant(
        _cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &Self::Message)],
    ) -> Option<Result<(), &'static str>> {
        None
    }

    /// How to recognise the token, if a token is the permission: there is exactly one, held or in flight.
    fn token() -> Option<TokenClaim<Self>> {
        None
    }

    /// The stamp of a node's request, while its user waits or is inside, if requests are served in the order of their
    /// stamps: whoever is inside asked before everybody who waits.
    fn order() -> Option<fn(&Self) -> Option<Stamp>> {
        None
    }

    /// How many messages are sent at most for each request that has been made, as far as it has been explored; `in_time`
    /// says that no message takes longer than a period. None if there is no bound. It is what the formula allows under
    /// contention, unless the algorithm says otherwise.
    fn most_messages(cluster: &[Self], _in_time: bool) -> Option<f64> {
        Self::cost(cluster).map(|cost| *cost.contended.end()).filter(|most| most.is_finite())
    }

    /// How many others may enter while one waits.
    fn bypass(_cluster: &[Self]) -> Bypass {
        Bypass { always: None, quick: None }
    }
}

/// How to recognise a token.
#[derive(Debug)]
pub struct TokenClaim<P: Protocol> {
    /// Whether a node has it.
    pub has: fn(&P) -> bool,
    /// Whether a message is it.
    pub is: fn(&P::Message) -> bool,
}

impl<P: Protocol> Clone for TokenClaim<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Protocol> Copy for TokenClaim<P> {}

/// How many others may enter from a user's request until its entry. None where no bound is claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bypass {
    /// However long messages take. A request in flight can be overtaken by all that ask where it has not arrived yet, so
    /// few algorithms have such a bound.
    pub always: Option<usize>,
    /// Where users act only when no message is in flight.
    pub quick: Option<usize>,
}

impl Bypass {
    /// What service in the order of stamps gives: each other node may pass once with a request that was confirmed before,
    /// and once with one in flight.
    pub fn in_order(nodes: usize) -> Self {
        Self { always: Some(2 * (nodes - 1)), quick: Some(nodes - 1) }
    }

    /// Each other node may pass once, where users act only when no message is in flight.
    pub fn once(nodes: usize) -> Self {
        Self { always: None, quick: Some(nodes - 1) }
    }

    /// Each other node may pass twice, where users act only when no message is in flight.
    pub fn twice(nodes: usize) -> Self {
        Self { always: None, quick: Some(2 * (nodes - 1)) }
    }
}

/// What a formula promises for the messages of an entry.
///
/// `alone`: nobody else wants in, and the nodes come one after the other, starting from a fresh cluster; the cheapest
/// and the dearest entry have exactly these costs. `contended`: bounds for the average over the entries between two
/// moments of silence, whoever wants in.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// As it is written.
    pub formula: &'static str,
    /// The cheapest and the dearest entry when nobody else wants in.
    pub alone: RangeInclusive<f64>,
    /// Bounds for the average entry under any load.
    pub contended: RangeInclusive<f64>,
}

impl Cost {
    /// The same whatever the load.
    pub fn always(formula: &'static str, messages: usize) -> Self {
        Self::within(formula, messages, messages)
    }

    /// Between two bounds that are both met when nodes come one after the other, and hold under any load.
    pub fn within(formula: &'static str, least: usize, most: usize) -> Self {
        let range = least as f64..=most as f64;
        Self { formula, alone: range.clone(), contended: range }
    }
}
