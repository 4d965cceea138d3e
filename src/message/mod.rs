//! Mutual exclusion from messages: every algorithm a pure state machine.
//!
//! A node of a cluster is a [`Protocol`]: it takes an [`Input`] (its user wants in or leaves, a message arrives, a
//! timer runs out) and answers through an [`Outbox`]. It has no thread, no clock and no chance in it: the same state
//! and the same input give the same output. So the same node runs as an [actor], in a
//! [simulator](sim), and in your own program.
//!
//! | algorithm | messages an entry | order of service | channels |
//! |---|---|---|---|
//! | [`CentralCoordinator`] | 3; 0 for the coordinator | as requests reach the coordinator | any |
//! | [`Lamport`] 1978 | 3(n-1) | by (time, node) | **first in, first out** |
//! | [`RicartAgrawala`] 1981 | 2(n-1) | by (time, node) | any |
//! | [`CarvalhoRoucairol`] 1983 | 0 to 2(n-1) | who holds the permissions goes first | any |
//! | [`SinghalDynamic`] 1989 | 0 to 2(n-1), n-1 on average when nodes come at random | as above | any |
//! | [`Maekawa`] 1985, remedied | 3(K-1) alone, at most 6(K-1) | by (time, node), nearly | any |
//! | [`MaekawaVoting`] | 3(K-1), if it ends at all: **it deadlocks** | none | any |
//! | [`RaymondK`] 1989 | 2n-k-1 to 2(n-1), k inside at a time | by (time, node), as far as k allows | any |
//! | [`TokenRing`], Le Lann 1977 | 1 when all want in, **unbounded** when nobody does | round the ring | any |
//! | [`SuzukiKasami`] 1985 | 0 or n; ring 0 to 2n-2; tree 0 to n-1 and the token's way | the token's queue | any |
//! | [`RicartAgrawalaToken`] 1983 | 0 or n | round, by number | any |
//! | [`SinghalHeuristic`] 1989, remedied | 0 to n, and one for each request that comes late; (n+1)/2 on average when nodes come at random | round, by number | any |
//! | [`Raymond`] 1989 | at most 2D on a tree of diameter D; 4 when all want in | each node's queue | any |
//! | [`NaimiTrehel`] 1987 | 0 to n, O(log n) on average | as requests reach the last | any |
//! | [`NaimiTrehelQueue`] 1987 | 0 to n, O(log n), fewer when many want in | the token's queue | any |
//! | [`BantaSimple`] 1993, ch. 4 | n light, 2 heavy, and what is passed on: **it can starve a node** | the token's queue | any |
//! | [`BantaFair`] 1993, 4.6 | n light, 2 heavy, at most 2(n-1) | the token's queue | any |
//! | [`BantaEfficient`] 1993, ch. 5 | (n-1)/m + 1 when m wait | the token's queue, in cycles | any, **within Tmax** |
//! | [`BantaK`] 1993, ch. 6 | (n-2)/m + 2 when m wait, k inside at a time | the token's queue, in cycles | any, **within Tmax** |
//!
//! `n` nodes, granting sets of `K` ([`quorum`]). What a node sends to itself is no message. The first eight ask for
//! permission; in the others a [token](TokenBased) is the permission.
//!
//! To write your own, implement [`Protocol`]; `examples/own_protocol.rs` is one of sixty lines under every runner.
//!
//! ```
//! use exclusion::message::{Input, NodeId, Outbox, RicartAgrawala, step};
//!
//! let mut nodes = RicartAgrawala::cluster(2)?;
//! let mut out = Outbox::new(NodeId(0));
//! step(&mut nodes[0], Input::Request, &mut out)?;
//! let [(to, request)] = out.sent().collect::<Vec<_>>().try_into().unwrap();
//!
//! out.readdress(to);
//! step(&mut nodes[1], Input::Receive { from: NodeId(0), message: request }, &mut out)?;
//! let [(to, reply)] = out.sent().collect::<Vec<_>>().try_into().unwrap();
//!
//! out.readdress(to);
//! step(&mut nodes[0], Input::Receive { from: NodeId(1), message: reply }, &mut out)?;
//! assert!(out.take_entry());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod claims;
mod clock;
mod error;
mod machine;
mod node;
mod permission;
mod protocol;
pub mod quorum;
mod random;
pub mod registry;
mod run;
mod token;
mod topology;
mod trace;
mod traffic;

pub use claims::{Bypass, Claims, Cost, TokenClaim};
pub use clock::{Clock, Stamp};
pub use error::{ClusterError, InputError, Refused, Violation};
pub use machine::{
    Channels, Input, Machine, Message, Notice, Outbox, Output, Timer, step, step_lock,
};
pub use node::{NodeId, NodeSet};
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
pub use run::replay::{ReplayCause, ReplayError, replay};
pub use run::{actor, sim};
pub use token::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, NaimiTrehel, NaimiTrehelQueue, Raymond,
    RicartAgrawalaToken, SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo, SuzukiKasamiFifoRing,
    TokenRing,
};
pub use token::{
    banta_efficient, banta_fair, banta_k, banta_simple, naimi_trehel, naimi_trehel_queue, raymond,
    ricart_agrawala_token, singhal_heuristic, suzuki_kasami, suzuki_kasami_fifo,
    suzuki_kasami_fifo_ring, token_ring,
};
pub use topology::{Topology, Tree};
pub use trace::{Event, Happening, ParseTraceError, Time, Trace};
pub use traffic::Traffic;
