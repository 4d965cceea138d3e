//! What happens to a node, what it wants done, and how far it is.

use exclusion::message::{Fence, NodeId, Timer};

use super::message::{Message, Record, Why};

/// Something that happens to a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Input<M> {
    /// A session with this peer is up. There was none.
    Up(NodeId),
    /// The session with this peer has ended.
    Ended(NodeId),
    /// A message has come over the session with this peer.
    Receive(NodeId, Message<M>),
    /// A timer of a lock has run out.
    Timeout {
        /// The epoch in which it was set.
        epoch: u64,
        /// Whose it is.
        resource: usize,
        /// Which one.
        timer: Timer,
    },
    /// The user of a resource wants in.
    Request(usize),
    /// The user of a resource leaves.
    Release(usize),
    /// The user of a resource waits no longer.
    Withdraw(usize),
    /// Nothing of an earlier life of this node is inside any more.
    OrphansGone,
    /// An operator says that nothing of any life of this peer is running, and that it may begin
    /// anew without its memory. Of this word nothing is checked.
    Replace(NodeId),
}

/// What a node wants done, in this order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Output<M> {
    /// Write this to the disk, before anything else is done.
    Keep(Record),
    /// Send a message over the session with a peer.
    Send(NodeId, Message<M>),
    /// End the session with a peer.
    End(NodeId, Why),
    /// An epoch has begun.
    Begun(u64),
    /// The epoch is over: the session with this peer has ended.
    Over(u64, NodeId),
    /// Say when so many periods have passed.
    SetTimer {
        /// The epoch in which it is set.
        epoch: u64,
        /// Whose it is.
        resource: usize,
        /// Which one.
        timer: Timer,
        /// So many.
        periods: u32,
    },
    /// The user of a resource is inside.
    Enter(usize, Fence),
}

/// What a node makes sure of. All of it: one is left out only to show what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Precautions {
    /// Its epoch is over when a session ends.
    pub epochs: bool,
    /// It is ready only with nodes that have heard the same.
    pub agreement: bool,
    /// It says hello only while no user is inside.
    pub outside: bool,
    /// It compares configurations.
    pub digest: bool,
    /// It refuses nodes that have lost their memory.
    pub memory: bool,
}

impl Precautions {
    /// All of them.
    pub const ALL: Self =
        Self { epochs: true, agreement: true, outside: true, digest: true, memory: true };
}

/// How far a node is. See the [module](super).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Some hello is missing: of a peer, or its own.
    Gathering,
    /// It has promised this epoch, and waits for the others.
    Agreed(u64),
    /// This epoch runs.
    Running(u64),
}
