//! What handles, guards and the operator tell the node.

use std::sync::Arc;
use std::time::Instant;

use exclusion::message::NodeId;
use tokio::sync::{mpsc, oneshot, watch};

use super::down::Down;
use super::handle::Guard;
use super::status::Status;
use crate::store::Store;

/// Something that the node is told.
#[derive(Debug)]
pub(super) enum Order {
    /// A user wants in.
    Ask(usize, Waiter),
    /// A user that waits gives up.
    GiveUp { resource: usize, ticket: u64 },
    /// A user leaves.
    Release { resource: usize, ticket: u64 },
    /// Nothing of an earlier life is inside any more.
    OrphansGone,
    /// The operator takes a blank node in.
    Replace(NodeId, oneshot::Sender<Result<(), String>>),
    /// How is it?
    Status(oneshot::Sender<Status>),
    /// The node is to be shut down. It says when it is.
    Shutdown(oneshot::Sender<()>),
}

/// A user that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) ticket: u64,
    pub(super) impatience: Impatience,
    pub(super) since: Instant,
    pub(super) span: tracing::Span,
    pub(super) reply: oneshot::Sender<Result<Guard, Down>>,
}

/// What a user does not wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Impatience {
    /// It waits for everything.
    None,
    /// It does not wait for missing nodes.
    Missing,
    /// Nor for users of this node.
    Busy,
}

/// What a node and all its handles and guards share.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    pub(super) orders: mpsc::UnboundedSender<Order>,
    /// Why nothing of the node can be trusted any more, if so.
    pub(super) over: watch::Receiver<Option<Down>>,
    /// Kept by guards, so that no other node can use the directory while a user is inside.
    pub(super) store: Arc<Store>,
}
