//! Mutual exclusion from reads and writes, and from messages: fair mutexes, locks without
//! compare-and-swap, and the distributed algorithms as state machines.
//!
//! | you have | take |
//! |---|---|
//! | threads, and no thread may overtake another | [`BakeryMutex`] |
//! | the same with more threads than cores | [`BakeryMutex::with`], which keeps the order |
//! | throughput to keep, and short waits | [`BakeryMutex<T, Bypass>`](BakeryMutex#bypass) |
//! | threads that wait for a condition | [`BakeryCondvar`] |
//! | readers and writers, none of them starved | [`BakeryRwLock`] |
//! | so many at a time | [`BakerySemaphore`] |
//! | throughput to keep, and nothing allocated | [`TournamentMutex`] |
//! | no compare-and-swap, no `alloc`, no `std` | [`lock::Seated`] over a lock of [`lock::raw`] |
//! | exactly two contenders | [`lock::Seated`] over [`lock::raw::Peterson`] |
//! | an algorithm to study, or threads of your own | [`lock::raw`] |
//! | nodes that share no memory | an algorithm of [`message`], fed by your program |
//! | a distributed algorithm to study or measure | the simulator [`message::sim`] |
//! | the same among threads, as a lock made of messages | [`message::actor`] |
//! | every reachable state of it, explored | [`message::check`], with the feature `check` |
//! | an algorithm of your own | [`message::Protocol`] |
//!
//! [`BakeryMutex`] and [`TournamentMutex`] have the interface of `parking_lot::Mutex`, by way of
//! [`lock_api`]:
//!
//! ```
//! # #[cfg(not(exclusion_loom))] {
//! use exclusion::BakeryMutex;
//!
//! let queue = BakeryMutex::new(Vec::new());
//! std::thread::scope(|scope| {
//!     for number in 0..8 {
//!         let queue = &queue;
//!         scope.spawn(move || queue.lock().push(number));
//!     }
//! });
//! assert_eq!(queue.into_inner().len(), 8);
//! # }
//! ```
//!
//! [`Seated`](lock::Seated) hands out its seats, one per contender, and needs nothing but loads,
//! stores and fences:
//!
//! ```
//! use exclusion::lock::{Seated, raw::Bakery};
//!
//! let mut cell = Seated::<Bakery<2>, _>::new(0);
//! let [mut core_0, mut core_1] = cell.seats();
//! *core_0.lock() += 1;
//! *core_1.lock() += 1;
//! assert_eq!(cell.into_inner(), 2);
//! ```
//!
//! A node of a distributed algorithm is a [`message::Machine`]: it takes an input, and answers with
//! messages. The same node runs in a simulator, among threads, and under a checker:
//!
//! ```
//! # #[cfg(all(feature = "message", not(exclusion_loom)))] {
//! use exclusion::message::RicartAgrawala;
//! use exclusion::message::sim::Simulation;
//!
//! let report = Simulation::new(RicartAgrawala::cluster(10).unwrap()).run().unwrap();
//! assert_eq!(report.per_entry.unwrap().mean, 2.0 * (10.0 - 1.0));
//! # }
//! ```
//!
//! # See it
//!
//! In the repository, `cargo run --release` is a tour of about a minute: the locks beside their
//! peers, messages beside their formulas, explorations, and a page with all of it as pictures.
//! `./test.sh` runs every check. `lab diagram` draws what the nodes say to each other; this is
//! Ricart and Agrawala, with three of them:
//!
#![doc = concat!(
    "<style>.drawn svg{max-width:100%;height:auto}</style><div class=\"drawn\">",
    include_str!("../docs/ricart_agrawala.svg"),
    "</div>"
)]
//!
//! # The book
//!
//! - [`shared_memory`](docs::shared_memory): how the locks work, from the registers up to `lock()`.
//! - [`which_lock`](docs::which_lock): which lock when, by measurement.
//! - [`parity`](docs::parity): what a program needs that leaves `parking_lot`.
//! - [`cost`](docs::cost): what an entry costs by the number of threads, counted.
//! - [`messages`]: the distributed algorithms, how to run them, and which to choose. Then
//!   elections, failures and remedies.
//! - [`verification`](docs::verification): how this crate knows that it is right.
//! - [`proofs`]: what is proved for any number of nodes.
//! - [`explored`]: appendix, what was explored of the algorithms.
//!
//! # When not to use it
//!
//! If the order of service does not matter, take [`std::sync::Mutex`]: it is a word in size too,
//! and the fastest when many threads contend for short critical sections. A `lock()` that serves in
//! order must switch threads for each entry: with more threads than cores that is ten to twenty
//! times slower. [`BakeryMutex::with`] keeps the order without that.
//! [`which_lock`](docs::which_lock) has the figures.
//!
//! Unlocking a drop-in mutex still uses it for a moment after it is free: do not free its memory
//! on the strength of having acquired it.
//!
//! The distributed algorithms assume that no message is lost and no node dies.
//!
//! # Sizes
//!
//! On a 64-bit target, without the data:
//!
//! | type | bytes |
//! |---|---|
//! | [`BakeryMutex`], whatever its policy | 8 |
//! | [`Leased`](lock::Leased) over a [`raw::Bakery`](lock::raw::Bakery) of 64 seats | 552 |
//! | [`TournamentMutex`] of 64 seats (the default), of 8 | 1576, 232 |
//! | [`raw::Peterson`](lock::raw::Peterson), [`raw::Priority`](lock::raw::Priority) | 24 |
//!
//! ```
//! # #[cfg(all(not(exclusion_loom), feature = "std", target_pointer_width = "64"))] {
//! # use exclusion::{BakeryMutex, Bypass, TournamentMutex, lock::{Leased, raw}};
//! assert_eq!(size_of::<BakeryMutex<()>>(), 8);
//! assert_eq!(size_of::<BakeryMutex<(), Bypass>>(), 8);
//! assert_eq!(size_of::<Leased<raw::Bakery<64>>>(), 552);
//! assert_eq!(size_of::<TournamentMutex<()>>(), 1576);
//! assert_eq!(size_of::<TournamentMutex<(), 8>>(), 232);
//! assert_eq!(size_of::<raw::Peterson>(), 24);
//! # }
//! ```
//!
//! # Features
//!
//! - `std` (default): waiters of the drop-in types sleep, after spinning and, where no newcomer may
//!   pass, yielding. Those of owned seats yield. The methods with a timeout exist. Without `std`
//!   all spin, and the crate needs neither `std` nor `alloc`.
//! - `message` (default): [`message`], the distributed algorithms with simulator and actors. Needs
//!   `std`.
//! - `serde`: messages, nodes and traces can be written to bytes and read again.
//! - `check`: exhaustive exploration of the distributed algorithms, with stateright.
//! - `arc_lock`: `lock_arc` and its kin. Needs `alloc`.
//!
//! On targets without compare-and-swap the drop-in types do not exist; [`raw`](lock::raw) and
//! [`Seated`](lock::Seated) do.
//!
//! # Under loom
//!
//! With `--cfg exclusion_loom` the same types run on loom's atomics, so that a user's own loom
//! tests can use them. Constructors are then not `const`. [`message::actor`] runs over loom's
//! channels. A deadline passes at the first wait, since there is no time under loom.
//! [`verification`](docs::verification) tells how the crate's own orderings are checked.
//!
//! [`std::sync::Mutex`]: https://doc.rust-lang.org/std/sync/struct.Mutex.html
// A link to an item that this build leaves out leads to docs.rs.
#![cfg_attr(feature = "message", doc = "[`messages`]: docs::messages")]
#![cfg_attr(feature = "message", doc = "[`explored`]: docs::explored")]
#![cfg_attr(feature = "message", doc = "[`proofs`]: docs::proofs")]
#![cfg_attr(
    not(feature = "message"),
    doc = "
[`message`]: https://docs.rs/exclusion/latest/exclusion/message/index.html
[`message::Machine`]: https://docs.rs/exclusion/latest/exclusion/message/trait.Machine.html
[`message::Protocol`]: https://docs.rs/exclusion/latest/exclusion/message/trait.Protocol.html
[`message::actor`]: https://docs.rs/exclusion/latest/exclusion/message/actor/index.html
[`message::sim`]: https://docs.rs/exclusion/latest/exclusion/message/sim/index.html
[`messages`]: https://docs.rs/exclusion/latest/exclusion/docs/messages/index.html
[`explored`]: https://docs.rs/exclusion/latest/exclusion/docs/explored/index.html
[`proofs`]: https://docs.rs/exclusion/latest/exclusion/docs/proofs/index.html"
)]
#![cfg_attr(
    not(all(feature = "check", not(exclusion_loom))),
    doc = "[`message::check`]: https://docs.rs/exclusion/latest/exclusion/message/check/index.html"
)]
#![cfg_attr(not(any(feature = "std", exclusion_loom)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arc_lock")]
extern crate alloc;

pub mod docs;
pub mod lock;
#[cfg(feature = "message")]
pub mod message;

pub use lock_api;

#[cfg(all(target_has_atomic = "ptr", feature = "arc_lock"))]
pub use lock::{ArcBakeryMutexGuard, ArcTournamentMutexGuard};
#[cfg(all(feature = "std", target_has_atomic = "64"))]
pub use lock::{
    BakeryCondvar, BakeryPermit, BakeryRwLock, BakeryRwLockReadGuard,
    BakeryRwLockUpgradableReadGuard, BakeryRwLockWriteGuard, BakerySemaphore,
    MappedBakeryRwLockReadGuard, MappedBakeryRwLockWriteGuard, PolicyCondvar, PolicyRwLock,
    RawBakeryCondvar, RawBakeryRwLock,
};
#[cfg(target_has_atomic = "ptr")]
pub use lock::{
    BakeryMutex, BakeryMutexGuard, Bypass, MappedBakeryMutexGuard, MappedTournamentMutexGuard,
    RawBakeryMutex, RawTournamentMutex, Strict, TournamentMutex, TournamentMutexGuard,
};
#[cfg(all(feature = "std", target_has_atomic = "ptr"))]
pub use lock::{BakeryReentrantMutex, BakeryReentrantMutexGuard, PolicyReentrantMutex};
