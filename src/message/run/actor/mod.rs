//! Runs any [`Protocol`](crate::message::Protocol) among threads: a lock made of messages.
//!
//! A [`Cluster`] gives each node a thread and an inbox, and each node's user a [`Handle`]:
//! [`lock`](Handle::lock) asks, waits until the node lets it in, and returns a guard over the
//! cluster's data. Messages go through channels and are counted by kind. A cluster can serve
//! several named resources. Each has data and node states of its own, and a message names the
//! resource that it is about.
//!
//! ```
//! use exclusion::message::actor::Cluster;
//! use exclusion::message::{NodeId, RicartAgrawala};
//!
//! let cluster = Cluster::start(RicartAgrawala::cluster(3)?, 0)?;
//! std::thread::scope(|scope| {
//!     for mut handle in cluster.handles() {
//!         scope.spawn(move || *handle.lock().unwrap() += 1);
//!     }
//! });
//! let mut handle = cluster.handle(NodeId(2))?;
//! assert_eq!(*handle.lock()?, 3);
//! drop(handle);
//! let ended = cluster.shutdown();
//! assert_eq!(ended.messages.of("REQUEST"), 4 * 2);
//! assert_eq!(ended.into_data(), Some(3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`Assembly`] is a cluster that elects. Its nodes can be crashed and brought back.
//!
//! # When a node dies
//!
//! These algorithms need an answer from every node that they ask. If one panics or refuses a
//! message, nobody can be let in any more. Every user that waits, or asks later, gets a [`Down`]
//! that says why. A user that is inside may finish. If a node is [stopped](Cluster::stop_node),
//! those go on that can do without it.
//!
//! A node can also be [killed](Cluster::kill_node) and [restarted](Cluster::restart_node), or stand
//! still [for a while](Cluster::pause_node), and messages can be [lost](Builder::losing) and
//! doubled by a seed. What stands that is in [`fault`](crate::message::fault).
#![forbid(unsafe_code)]

mod assembly;
mod cluster;
mod data;
mod error;
mod fate;
mod handle;
mod post;
mod reach;
mod record;
mod serve;

pub use assembly::{Assembly, AssemblyReport};
pub use cluster::{Builder, Cluster, Ended};
pub use data::{DataOf, Guarded};
pub use error::{Down, HandleError, KillError, StartError};
pub use handle::{Guard, Handle};
