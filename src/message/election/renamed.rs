//! Locks whose node 0 is special, with any node in its place.

use super::elected::{Inherits, TellsAll};
use crate::message::banta_efficient::Late;
use crate::message::{
    BantaEfficient, BantaFair, BantaSimple, Channels, Input, Machine, NaimiTrehel,
    NaimiTrehelQueue, NodeId, Outbox, Output, Phase, Protocol, Refused, RicartAgrawalaToken,
    SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing, TokenRing, Topology,
    forward_inputs, step_part,
};

/// A lock whose token is at node 0 when it starts.
pub trait FirstHasToken: Protocol {
    /// One node of a cluster.
    ///
    /// # Panics
    /// If there is no such node.
    fn one_of(me: NodeId, nodes: usize) -> Self;
}

macro_rules! first_has_token {
    ($($type:ty: $make:expr;)*) => {
        $(impl FirstHasToken for $type {
            fn one_of(me: NodeId, nodes: usize) -> Self {
                let make: fn(NodeId, usize) -> Result<Self, crate::message::ClusterError> = $make;
                make(me, nodes).unwrap_or_else(|error| panic!("{error}"))
            }
        })*
    };
}

first_has_token! {
    TokenRing: Self::node;
    SuzukiKasami: |me, nodes| Self::node(me, &Topology::complete(nodes)?);
    SuzukiKasamiFifo: Self::node;
    SuzukiKasamiFifoRing: Self::node;
    RicartAgrawalaToken: Self::node;
    SinghalHeuristic: Self::node;
    NaimiTrehel: Self::node;
    NaimiTrehelQueue: Self::node;
    BantaSimple: Self::node;
    BantaFair: Self::node;
    BantaEfficient: |me, nodes| Self::node(me, nodes, Late::Strict);
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
    /// # Panics
    /// If one of them is not there.
    pub fn node(me: NodeId, first: NodeId, nodes: usize) -> Self {
        Self { first, inner: P::one_of(exchange(first, me), nodes) }
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
    fn inherit(election: &E, leader: NodeId) -> Self {
        Self::node(election.id(), leader, election.nodes())
    }
}
