//! Sessions with peers, whatever carries them.
//!
//! A **session** is an ordered channel in both directions. It ends for both sides once it ends for
//! one, though not at the same moment. There is at most one with each peer, and a link begins a new
//! one by itself when one has ended.
//!
//! Nothing here waits for a peer. What a session does not get rid of in time is kept up to a bound,
//! and past the bound the session ends.

#[cfg(test)]
pub(crate) mod memory;
mod outbox;
pub(crate) mod quic;

use std::future::Future;

use exclusion::message::NodeId;

/// Something that happens to a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// There is one with this peer. There was none.
    Up(NodeId),
    /// It is over, and not because this side has [ended](Link::end) it.
    Ended(NodeId, String),
    /// A frame has come over it.
    Frame(NodeId, Vec<u8>),
}

/// The sessions of one node with all others.
pub(crate) trait Link: Send + 'static {
    /// What happens next. None once nothing can happen any more. Can be dropped without a loss.
    fn next(&mut self) -> impl Future<Output = Option<Event>> + Send;

    /// Sends a frame, if there is a session. If it cannot take it, the session ends.
    fn send(&mut self, peer: NodeId, frame: Vec<u8>);

    /// Ends the session, if there is one, and tells the peer why.
    fn end(&mut self, peer: NodeId, why: &str);

    /// Ends all of them for good.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}
