//! Locks among processes and machines: the algorithms of [`exclusion`] over QUIC.
//!
//! A cluster is a fixed list of nodes, each known by its public key. Every node runs the same
//! algorithm of the [registry](exclusion::message::registry), once for each named resource. The
//! mode that is built here is the **strict** one: never two inside, across pauses, cuts and
//! restarts, without a lease and without a clock. The price is that one missing node stops
//! everybody. How that works is in [`strict`].
//!
//! ```no_run
//! use exclusion_net::{Configuration, Node, SecretKey, Settings};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let node = Node::start(Settings {
//!     configuration: Configuration::read("cluster.toml".as_ref())?,
//!     me: 1,
//!     secret: SecretKey::read("1.key".as_ref())?,
//!     data: "data/1".into(),
//! })
//! .await?;
//! let deploy = node.handle("deploy")?;
//! let guard = deploy.lock().await?;
//! println!("inside, with fence {}", guard.fence());
//! drop(guard);
//! node.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! Programs without an async runtime take [`blocking`]. Commands take the binary `exclusion-node`.
#![forbid(unsafe_code)]

pub mod bench;
pub mod blocking;
pub mod control;
mod frame;
#[cfg(test)]
mod fuzz;
mod keys;
mod link;
#[cfg(feature = "majority")]
pub mod majority;
mod membership;
mod node;
#[cfg(test)]
mod scratch;
mod store;
pub mod strict;

pub use exclusion::message::Fence;
pub use keys::{NoKey, PublicKey, SecretKey};
pub use membership::{Configuration, ConfigurationError, Member, Membership, PROTOCOL_VERSION};
pub use node::{
    Down, Guard, Handle, NoSuchResource, Node, PeerStatus, ResourceStatus, Settings, StartError,
    Status, replace_while_down,
};
pub use store::StoreError;
