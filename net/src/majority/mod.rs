//! The majority mode: locks that survive a minority of their nodes.
//!
//! Which **view** holds (its epoch, its members, the greatest fence) is agreed by consensus, with
//! [openraft], whose log is on disk. The locks run among the members of the view, by any algorithm
//! of the registry. A member that is not heard of is excluded by a new view; then every lock begins
//! anew among those that are left, as in [`Recovering`](exclusion::message::Recovering). A minority
//! cannot agree on anything, and stands still.
//!
//! # What is promised
//!
//! - **Exclusion of what is fenced, always.** Every entry has a [fence](Guard::fence) that is
//!   greater than those of all entries before it, through every view, crash and restart. A resource
//!   that refuses a fence smaller than one that it has seen, as
//!   [`Fenced`](exclusion::message::Fenced) does, is never changed by a holder that was overtaken.
//! - **Exclusion of what is not fenced: not promised.** A holder that is paused after it has looked
//!   at its guard, and writes when it goes on, writes while another is inside. No lock with
//!   leases can prevent that. If the resource cannot check a fence, use the
//!   [strict mode](crate::strict).
//! - **Of two guards at most one is [valid](Guard::is_valid) at a time**, if the clocks keep to the
//!   assumption below.
//! - **Progress** while a majority of the nodes is up and reaches each other, and suspicion
//!   settles. A holder that is alive and in reach is never overtaken, for as long as it stays
//!   inside.
//! - A minority lets nobody in once its leases have ended, and never makes a view or a token.
//! - The next holder is [told](Guard::perhaps_inside) who may have died inside.
//!
//! # What is assumed
//!
//! - **Clocks**: while a node waits for two leases by its clock, at least one lease passes by the
//!   clock of every other. So no clock runs twice as fast as another. Only how fast clocks run
//!   matters, not what they show: they are monotonic ones. A virtual machine that is stopped, or a
//!   computer that sleeps, breaks the assumption; then two guards can be valid at a time, and the
//!   fence still holds.
//! - **Disks** keep what `fsync` has acknowledged. A record that has a wrong checksum is noticed; a
//!   torn end is cut off; a node of which a write fails stops before it acknowledges anything.
//! - **Nodes** may stop, come back, be slow or cut off. They do not lie. A peer that says what its
//!   algorithm cannot say is cut off for the rest of the view.
//! - A node that has lost its disk must not come back under its number: it is refused. See
//!   the first start below.
//!
//! # How a lease works
//!
//! A member submits a *beat* four times per lease, and counts its lease from when it sent the last
//! one that was agreed on. The leader excludes a member of which it has applied no beat for two
//! leases by its own clock; the command names the last beat, and is stale if there was a later one.
//! So whoever led meanwhile, a lease has ended before its holder is excluded. Nothing depends on
//! the engine's own leader lease.
//!
//! A user is let in only while its node has a lease. A view that admits a node waits for users that
//! are inside: the lock of a resource opens when all members have said that it is free.
//!
//! # The first start, and later ones
//!
//! The first start of a cluster needs all nodes: each keeps the *mark* of every other before it
//! says welcome. From then on a node starts with its data directory and needs nobody. A node
//! without its data directory has another mark, and is refused by every other.
//!
//! # When to use etcd instead
//!
//! If you have etcd, ZooKeeper or Consul, or need keys and values, watches, thousands of clients
//! that come and go, or members that change while it runs, use them: they are older than this, and
//! their leases promise the same. This is for a few processes that lock few things, and that want
//! the lock within them: no further service, any algorithm of the registry, a word about who died
//! inside, and a fence with each guard. Neither etcd's lock nor this one protects what does not
//! check the fence (etcd: the revision of the key).
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use exclusion::message::registry::Algorithm;
//! use exclusion::message::{Fenced, FromRegistry, NodeId, RicartAgrawala};
//! use exclusion_net::majority::{Directory, Down, Node, Settings, Wires};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let algorithm = Algorithm::named("ricart_agrawala").unwrap();
//! let blueprint = FromRegistry::of(algorithm, &RicartAgrawala::cluster(3).unwrap());
//! let wires = Wires::new(0);
//! let mut nodes = Vec::new();
//! for me in NodeId::all(3) {
//!     let disk = Directory::open(folder.path().join(me.to_string())).unwrap();
//!     let settings = Settings::new(me, 3, &["balance"]);
//!     let node = Node::open(settings, blueprint.clone(), Arc::new(disk), wires.end(me))?;
//!     wires.attach(me, node.service());
//!     nodes.push(node);
//! }
//! let mut balance = Fenced::new(100);
//! for node in &nodes {
//!     let guard = node.lock("balance").await?;
//!     *balance.write(guard.fence()).unwrap() -= 10;
//! }
//! assert_eq!(*balance.read(), 70);
//! # for node in nodes { node.stop().await; }
//! # Ok::<(), Down>(())
//! # }).unwrap();
//! ```
//!
//! [openraft]: https://docs.rs/openraft

mod actor;
mod desk;
pub mod frame;
mod guard;
mod identity;
pub mod medium;
pub mod memory;
mod network;
mod node;
mod post;
pub mod roster;
mod sessions;
mod settings;
mod shared;
pub mod site;
pub mod state;
pub mod store;
pub mod transport;
mod wire;

pub use guard::Guard;
pub use medium::{Directory, Medium};
pub use memory::Wires;
pub use node::Node;
pub use roster::{Command, Roster, Seat, Stale};
pub use sessions::start;
pub use settings::{Down, Settings};
pub use site::Site;
pub use transport::{Later, Service, Transport};
