//! What an algorithm claims about itself, apart from running it: its cost, its invariant, its
//! token, its order.
//!
//! Tests, the checker and the lab hold each algorithm to its [`Claims`].

use std::ops::RangeInclusive;

use super::{NodeId, Protocol, Stamp};

/// What an algorithm claims about itself. By default it claims nothing.
pub trait Claims: Protocol {
    /// What an entry costs in this cluster, if there is a formula for it.
    fn cost(_cluster: &[Self]) -> Option<Cost> {
        None
    }

    /// Checks the algorithm's own invariant over the nodes and the messages in flight (sender,
    /// receiver, message). None if it claims no invariant.
    fn invariant(
        _cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &Self::Message)],
    ) -> Option<Result<(), &'static str>> {
        None
    }

    /// How to recognise the token, if a token is the permission: there is exactly one, held or in
    /// flight.
    fn token() -> Option<TokenClaim<Self>> {
        None
    }

    /// The stamp of a node's request, while its user waits or is inside, if requests are served in
    /// the order of their stamps: a user that is inside has an older stamp than every waiter.
    fn order() -> Option<fn(&Self) -> Option<Stamp>> {
        None
    }

    /// A bound on messages per request, as far as it has been explored. `in_time` says that no
    /// message takes longer than a period. None if there is no bound. By default it is the upper
    /// bound of the formula under contention.
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
    /// The bound whatever the delays. Few algorithms have one: a request in flight can be overtaken
    /// at every node that it has not reached yet.
    pub always: Option<usize>,
    /// The bound if users act only when no message is in flight.
    pub quick: Option<usize>,
}

impl Bypass {
    /// The bound for service in the order of stamps. Each other node may enter once with a request
    /// that was confirmed before, and once with one in flight.
    pub fn in_order(nodes: usize) -> Self {
        Self { always: Some(2 * (nodes - 1)), quick: Some(nodes - 1) }
    }

    /// Each other node may enter once, if users act only when no message is in flight.
    pub fn once(nodes: usize) -> Self {
        Self { always: None, quick: Some(nodes - 1) }
    }

    /// Each other node may enter twice, if users act only when no message is in flight.
    pub fn twice(nodes: usize) -> Self {
        Self { always: None, quick: Some(2 * (nodes - 1)) }
    }
}

/// Messages per entry, by a formula.
///
/// `alone`: the nodes enter one after the other, without contention, starting from a fresh cluster.
/// The cheapest and the dearest entry have exactly these costs. `contended`: bounds on the average
/// over the entries between two moments of silence, under any load.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// The formula as text.
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

    /// Between two bounds. Both are met when nodes enter one after the other, and both hold under
    /// any load.
    pub fn within(formula: &'static str, least: usize, most: usize) -> Self {
        let range = least as f64..=most as f64;
        Self { formula, alone: range.clone(), contended: range }
    }
}
