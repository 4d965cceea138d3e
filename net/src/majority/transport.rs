//! How a node reaches the others: requests and responses, of bytes.

use std::future::Future;
use std::io;
use std::pin::Pin;

use exclusion::message::NodeId;

/// The most bytes of a request or a response. A transport refuses larger ones.
pub const MOST_BYTES: usize = 60 * 1024;

/// What comes of a call, later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The way to the other nodes. It knows who answers: a peer cannot pass for another.
///
/// A call may be lost, late or done twice. It may be given up at any time by dropping it, and then
/// may or may not have been done.
pub trait Transport: Send + Sync + 'static {
    /// Asks a peer.
    fn call(&self, peer: NodeId, request: Vec<u8>) -> Later<'_, io::Result<Vec<u8>>>;
}

/// What answers the calls of other nodes.
pub trait Service: Send + Sync + 'static {
    /// Answers a peer.
    fn answer(&self, from: NodeId, request: Vec<u8>) -> Later<'_, Vec<u8>>;
}
