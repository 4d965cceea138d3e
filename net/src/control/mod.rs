//! Commands on the same machine talk to a node over a socket in its data directory.
//!
//! A command that is let in holds a locked file, and so do its children. The node knows by the file
//! whether one of them is still inside, even if the command's parent or the node itself was killed.
//!
//! | command | node |
//! |---|---|
//! | `Lock` | `Place`: a file of this command and this life of the node |
//! | locks the file, `Held` | asks, waits; `Entered` or `Refused` |
//! | runs, `Release` or is gone | waits until nobody has the file locked, and leaves |
//!
//! A node that comes back looks for the files of its earlier lives, and says hello when nobody has
//! one locked. A new command locks a file of the new life only, so it never holds the node up.

mod client;
mod server;

pub use client::{Client, ClientError, Entered};
pub use server::serve;

use std::time::Duration;

use exclusion::message::Fence;
use serde::{Deserialize, Serialize};

use crate::{Down, Status};

/// How long a command waits to be let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Patience {
    /// For everything.
    #[default]
    Endless,
    /// For so long.
    Within(Duration),
    /// Not for missing nodes.
    UnlessIncomplete,
    /// Not for other users either.
    Try,
}

/// What a command says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    Lock { name: String, patience: Patience },
    Held,
    Release,
    Status,
    Replace(u32),
}

/// What the node answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Place(String),
    Entered(Fence),
    Refused(Down),
    /// Whether something that the command has started is still inside.
    Released {
        lingers: bool,
    },
    Status(Status),
    Replaced,
    Wrong(String),
}
