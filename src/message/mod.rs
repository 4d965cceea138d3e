//! Mutual exclusion from messages: every algorithm a pure state machine.
//!
//! A node of a cluster is a [`Machine`]: it takes an [`Input`] (a message arrives, a timer runs
//! out, its user wants in or leaves) and answers with [`Output`]s. It has no thread, no clock and
//! no randomness: the same state and the same input give the same output. A [`Protocol`] is a
//! machine that is a lock. What an algorithm [`Claims`] about itself is written apart: its cost,
//! its invariant, its order of service. The [`registry`] lists every algorithm; the
//! [book](crate::docs::messages) compares them in a table.
//!
//! The same node runs
//!
//! - among threads and channels, as a lock made of messages: [`actor`];
//! - in a simulated network, seeded and replayable: [`sim`];
//! - in an exhaustive exploration of its states: `check`, with the feature `check`;
//! - again from a trace: [`replay`](fn@replay);
//! - and in your own program, step by step:
//!
//! ```
//! use exclusion::message::{Input, NodeId, Outbox, Output, RicartAgrawala, step};
//!
//! let mut nodes = RicartAgrawala::cluster(2)?;
//! let mut out = Outbox::new();
//!
//! step(&mut nodes[0], Input::Request, &mut out)?;
//! let Some(Output::Send { to, message }) = out.drain().next() else { panic!() };
//! assert_eq!(to, NodeId(1));
//!
//! step(&mut nodes[1], Input::Receive { from: NodeId(0), message }, &mut out)?;
//! let Some(Output::Send { to, message }) = out.drain().next() else { panic!() };
//! assert_eq!(to, NodeId(0));
//!
//! step(&mut nodes[0], Input::Receive { from: NodeId(1), message }, &mut out)?;
//! assert_eq!(out.drain().next(), Some(Output::Enter));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Messages may come from a network. A message that cannot have been sent in a cluster of this size
//! is refused, with nothing changed. With the feature `serde`, messages, nodes and traces can be
//! written to bytes and read again. A node's state is trusted when it is read: store it where only
//! the node writes.
//!
//! An [`Election`] is a machine without a user: its nodes agree on one of them. The book has a
//! [page](crate::docs::elections) about elections, and about locks that start from one.
//!
//! To write your own algorithm, implement [`Machine`] and [`Protocol`]; `examples/own_protocol.rs`
//! is one of some sixty lines under every runner.
#![forbid(unsafe_code)]

mod claims;
mod clock;
mod election;
mod error;
mod facts;
pub mod fault;
mod graph;
mod machine;
mod node;
mod part;
mod permission;
mod protocol;
pub mod quorum;
mod random;
pub mod registry;
mod run;
mod step;
mod token;
mod topology;
mod trace;
mod traffic;

pub use crate::forward_inputs;
pub use claims::{Bypass, Claims, Cost, TokenClaim};
pub use clock::{Clock, Stamp};
pub use election::{
    Agreement, Bully, BullyHalt, ChangRoberts, Circumstances, Echo, Elected, Election,
    ElectionCost, Epoch, Extinction, FirstHasToken, Inherits, LeLann, Leadership, Renamed,
    RingElection, TellsAll, Unattended,
};
pub use election::{
    bully, bully_halt, chang_roberts, echo, elected, extinction, le_lann, ring_election,
};
pub use error::{ClusterError, InputError, Refused, Violation};
pub use facts::{Fact, facts};
pub use fault::{
    Admission, Blueprint, Detector, Fence, Fenced, FromRegistry, Link, Overtaken, Recovering, View,
    Witness,
};
pub use graph::Graph;
pub use machine::{Channels, Input, Machine, Message, Notice, Outbox, Output, Timer};
pub use node::{NodeId, NodeSet};
pub use part::step_part;
pub use permission::{
    CarvalhoRoucairol, CentralCoordinator, Lamport, Maekawa, Majority, RaymondK, RicartAgrawala,
    SinghalDynamic,
};
pub use permission::{
    carvalho_roucairol, central, lamport, maekawa, majority, raymond_k, ricart_agrawala,
    singhal_dynamic,
};
pub use protocol::{Access, Exclusive, Phase, Protocol, Shared};
pub use quorum::Quorums;
#[cfg(all(feature = "check", not(exclusion_loom)))]
pub use run::check;
pub use run::replay::{ReplayCause, ReplayError, Replayed, replay, replay_watched};
pub use run::role::Role;
pub use run::{actor, sim};
pub use step::{step, step_lock};
pub use token::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, NaimiTrehel, NaimiTrehelQueue, NamedTwice,
    NodeQueue, Raymond, RicartAgrawalaToken, SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo,
    SuzukiKasamiFifoRing, TokenRing,
};
pub use token::{
    banta_efficient, banta_fair, banta_k, banta_simple, naimi_trehel, naimi_trehel_queue, raymond,
    ricart_agrawala_token, singhal_heuristic, suzuki_kasami, suzuki_kasami_fifo,
    suzuki_kasami_fifo_ring, token_ring,
};
pub use topology::{Topology, Tree};
pub use trace::{Event, Happening, ParseTraceError, Time, Trace};
pub use traffic::Traffic;
