//! Mutual exclusion from reads and writes, and from messages: fair mutexes, locks without compare-and-swap, and the
//! distributed algorithms as state machines.
//!
//! | you have | take |
//! |---|---|
//! | threads, and want a mutex that nobody overtakes in | [`BakeryMutex`] |
//! | the same where threads outnumber cores, and a bounded number may pass | [`BakeryMutex<T, 64, 32>`](BakeryMutex#bypass) |
//! | throughput to keep, and nobody to starve | [`TournamentMutex`] |
//! | no compare-and-swap, no allocator, no `std` | [`Seated`](lock::Seated) over a lock of [`raw`](lock::raw) |
//! | exactly two contenders | [`Seated`](lock::Seated) over [`raw::Peterson`](lock::raw::Peterson) |
//! | an algorithm to study, or threads of your own | [`raw`](lock::raw) |
//! | nodes that share no memory | an algorithm of [`message`], in your own program |
//! | a distributed algorithm to study, to count or to break | [`message`] in the simulator [`sim`](message::sim) |
//! | the same among threads, as a lock made of messages | [`actor::Cluster`](message::actor) |
//! | everything that can happen to it, explored | `message::check::Check`, with the feature `check` |
//!
//! [`BakeryMutex`] and [`TournamentMutex`] have the interface of `parking_lot::Mutex`, by way of [`lock_api`]:
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
//! [`Seated`](lock::Seated) hands out its seats, one a contender, and needs nothing but loads, stores and fences:
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
//! A node of a distributed algorithm is a [`message::Protocol`]: it takes an input, and answers with messages. The same node
//! runs in a simulator and among threads:
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
//! In the repository, `cargo run --release` is a tour of about a minute: the locks beside their peers, messages beside their
//! formulas, explorations, and a page with all of it as pictures. `./test.sh` runs every check. `lab diagram` draws what the
//! nodes say to each other; this is Ricart and Agrawala, with three of them:
//!
#![doc = concat!("<div>", include_str!("../docs/ricart_agrawala.svg"), "</div>")]
//!
//! # The book
//!
//! - [`shared_memory`](docs::shared_memory): how the locks work, from the registers up to `lock()`.
//! - [`messages`](docs::messages): the distributed algorithms, how to run them, and which to choose.
//! - [`verification`](docs::verification): how this crate knows that it is right; [`explored`](docs::explored) has all that was explored of the protocols.
//! - [`which_lock`](docs::which_lock): which lock when, by measurement.
//!
//! # When not to use it
//!
//! Where nobody cares who is served first, [`std::sync::Mutex`] is a word in size and the fastest when many
//! threads fight over it. A lock that serves in order must switch threads for each entry: with more threads
//! than cores that is ten to twenty times slower. [`which_lock`](docs::which_lock) has the figures.
//!
//! Unlocking a drop-in mutex still uses it for a moment after it is free: do not free its memory on the
//! strength of having acquired it.
//!
//! # Sizes
//!
//! On a 64-bit target, without the data:
//!
//! | type | bytes |
//! |---|---|
//! | [`BakeryMutex`] of 64 seats (the default), of 8 | 552, 104 |
//! | [`TournamentMutex`] of 64 seats (the default), of 8 | 1576, 232 |
//! | [`raw::Peterson`](lock::raw::Peterson), [`raw::Priority`](lock::raw::Priority) | 24 |
//!
//! ```
//! # #[cfg(all(not(exclusion_loom), feature = "std", target_pointer_width = "64"))] {
//! # use exclusion::{BakeryMutex, TournamentMutex, lock::raw};
//! assert_eq!(size_of::<BakeryMutex<()>>(), 552);
//! assert_eq!(size_of::<BakeryMutex<(), 8>>(), 104);
//! assert_eq!(size_of::<TournamentMutex<()>>(), 1576);
//! assert_eq!(size_of::<TournamentMutex<(), 8>>(), 232);
//! assert_eq!(size_of::<raw::Peterson>(), 24);
//! # }
//! ```
//!
//! # Features
//!
//! - `std` (default): waiters of the drop-in types sleep, after spinning and, where nobody may pass, yielding; those of
//!   owned seats yield; the methods with a timeout exist, and so do [`message`], [`sim`](message::sim) and [`actor`](message::actor). Without it all
//!   spin, and the crate needs neither `std` nor `alloc`.
//! - `check`: exhaustive exploration of the message algorithms, with stateright.
//! - `arc_lock`: `lock_arc` and its kin. Needs `alloc`.
//!
//! On targets without compare-and-swap the drop-in types do not exist; [`raw`](lock::raw) and [`Seated`](lock::Seated) do.
//!
//! # Under loom
//!
//! With `--cfg exclusion_loom` the same types run on loom's atomics, so that a user's own loom tests can use them;
//! constructors are then not `const`. [`actor`](message::actor) runs over loom's channels. A deadline passes at the first wait, since there is no time under loom.
//! How the crate's own orderings are checked is told in [`verification`](docs::verification).
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
#[cfg(target_has_atomic = "ptr")]
pub use lock::{
    BakeryMutex, BakeryMutexGuard, MappedBakeryMutexGuard, MappedTournamentMutexGuard,
    RawBakeryMutex, RawTournamentMutex, TournamentMutex, TournamentMutexGuard,
};
