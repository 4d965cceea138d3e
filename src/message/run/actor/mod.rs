//! Runs any [`Protocol`](crate::message::Protocol) among threads: a lock made of messages.
//!
//! A [`Cluster`] gives each node a thread and an inbox, and each node's user a [`Handle`]: [`lock`](Handle::lock) asks,
//! waits until the node lets it in, and returns a guard over the cluster's data. What the nodes say to each other goes
//! through channels and is counted by kind. A cluster can serve several named resources, each with its own nodes'
//! states and data; a message names the resource that it is about.
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
//! # When a node dies
//!
//! These algorithms need every node they ask. If one panics, refuses a message or is [stopped](Cluster::stop_node), no
//! promise can be kept: everybody who waits, and everybody who asks later, gets a [`Down`] that says why. Who is inside
//! may finish.
#![forbid(unsafe_code)]

mod cluster;
mod data;
mod error;
mod handle;
mod post;
mod record;
mod serve;

pub use cluster::{Builder, Cluster, Ended};
pub use data::{DataOf, Guarded};
pub use error::{Down, HandleError, StartError};
pub use handle::{Guard, Handle};
