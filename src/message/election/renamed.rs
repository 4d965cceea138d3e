//! Locks whose node 0 is special, with any node in its place.

use std::fmt::Debug;
use std::hash::Hash;

use super::elected::{Inherits, TellsAll};
use crate::message::banta_efficient::Late;
use crate::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, Channels, ClusterError, Input, Machine,
    NaimiTrehel, NaimiTrehelQueue, NodeId, Outbox, Output, Phase, Protocol, Raymond, Refused,
    RicartAgrawalaToken, SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing,
    TokenRing, Topology, Tree, banta_k, forward_inputs, step_part,
};

/// A lock whose token is at node 0 when it starts.
pub trait FirstHasToken: Protocol {
    /// What all nodes know beforehand. `()` where that is only how many they are.
    type Plan: Clone + Eq + Hash + Debug;

    /// How many may be inside at a time.
    fn entries(_plan: &Self::Plan) -> usize {
        1
    }

    /// One node of a cluster.
    ///
    /// # Errors
    /// If there is no such node, or no such cluster.
    fn one_of(plan: &Self::Plan, me: NodeId, nodes: usize) -> Result<Self, ClusterError>;
}

macro_rules! first_has_token {
    ($($type:ty, $plan:ty: $make:expr;)*) => {
        $(impl FirstHasToken for $type {
            type Plan = $plan;

            fn one_of(plan: &$plan, me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
                let make: fn(&$plan, NodeId, usize) -> Result<Self, ClusterError> = $make;
                make(plan, me, nodes)
            }
        })*
    };
}

first_has_token! {
    TokenRing, (): |(), me, nodes| Self::node(me, nodes);
    SuzukiKasami, Topology: |topology, me, _| Self::node(me, topology);
    SuzukiKasamiFifo, (): |(), me, nodes| Self::node(me, nodes);
    SuzukiKasamiFifoRing, (): |(), me, nodes| Self::node(me, nodes);
    RicartAgrawalaToken, (): |(), me, nodes| Self::node(me, nodes);
    SinghalHeuristic, (): |(), me, nodes| Self::node(me, nodes);
    // On a tree that was there before the election, and not the one that it has left.
    Raymond, Tree: |tree, me, _| Self::node(me, tree);
    NaimiTrehel, (): |(), me, nodes| Self::node(me, nodes);
    NaimiTrehelQueue, (): |(), me, nodes| Self::node(me, nodes);
    BantaSimple, (): |(), me, nodes| Self::node(me, nodes);
    BantaFair, (): |(), me, nodes| Self::node(me, nodes);
    BantaEfficient, Late: |late, me, nodes| Self::node(me, nodes, *late);
}

impl FirstHasToken for BantaK {
    type Plan = banta_k::Plan;

    fn entries(plan: &banta_k::Plan) -> usize {
        plan.entries
    }

    fn one_of(plan: &banta_k::Plan, me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node(me, nodes, plan.entries, plan.late)
    }
}

/// A lock in which some node and node 0 have changed their names, so that the token starts there.
/// All nodes agree on the names, so they may be within messages too.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Renamed<P> {
    first: NodeId,
    inner: P,
}

impl<P: FirstHasToken> Renamed<P> {
    /// One node of a cluster in which the token starts at `first`.
    ///
    /// # Errors
    /// If one of them is not there, or there is no such cluster.
    pub fn node(
        plan: &P::Plan,
        me: NodeId,
        first: NodeId,
        nodes: usize,
    ) -> Result<Self, ClusterError> {
        ClusterError::check_node(first, nodes)?;
        let inner = P::one_of(plan, exchange(first, me), nodes)?;
        if inner.nodes() != nodes {
            let (position, node, nodes) = (me.index(), me, inner.nodes());
            return Err(ClusterError::OutOfPlace { position, node, nodes });
        }
        Ok(Self { first, inner })
    }

    /// The node under its other name.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    fn give(
        &mut self,
        input: Input<P::Message>,
        out: &mut Outbox<P::Message>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.inner, input)? {
            match output {
                Output::Send { to, message } => out.send(exchange(self.first, to), message),
                other => out.forward(other, |message| message),
            }
        }
        Ok(())
    }
}

/// The other name of a node.
fn exchange(first: NodeId, node: NodeId) -> NodeId {
    match node {
        NodeId(0) => first,
        _ if node == first => NodeId(0),
        _ => node,
    }
}

impl<P: FirstHasToken> Machine for Renamed<P> {
    type Message = P::Message;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        exchange(self.first, self.inner.id())
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    forward_inputs!(give: start, request, release, timeout);

    fn receive(
        &mut self,
        from: NodeId,
        message: P::Message,
        out: &mut Outbox<P::Message>,
    ) -> Result<(), Refused> {
        self.give(Input::Receive { from: exchange(self.first, from), message }, out)
    }
}

impl<P: FirstHasToken> Protocol for Renamed<P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }

    fn entries_at_a_time(&self) -> usize {
        self.inner.entries_at_a_time()
    }
}

/// The leader has the token.
impl<E: TellsAll, P: FirstHasToken> Inherits<E> for Renamed<P> {
    type Plan = P::Plan;

    fn check(plan: &P::Plan, nodes: usize) -> Result<(), ClusterError> {
        Self::node(plan, NodeId(0), NodeId(0), nodes).map(drop)
    }

    fn entries(plan: &P::Plan) -> usize {
        P::entries(plan)
    }

    fn inherit(plan: &P::Plan, election: &E, leader: NodeId) -> Self {
        Self::node(plan, election.id(), leader, election.nodes())
            .unwrap_or_else(|error| panic!("{error}"))
    }
}
