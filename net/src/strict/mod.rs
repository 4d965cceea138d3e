//! The strict mode without its input and output: hello, epochs, the locks of all resources.
//!
//! Every two nodes have a session: an ordered channel in both directions, which ends for both once
//! it ends for one, though not at the same moment. An **epoch** begins when all n nodes have said
//! hello, and is over with the end of any session. Each epoch has fresh locks. A node says hello
//! only while none of its users is inside, so no user of an earlier epoch is inside when a later
//! one begins. There is no lease and no clock in this: a node that is paused, cut off or restarted
//! holds everybody up, and never puts two inside.
//!
//! # States of a node
//!
//! | stage | by | then |
//! |---|---|---|
//! | `Gathering` | a session is up, nobody is inside | say `HELLO` on it |
//! | `Gathering` | `HELLO` of all others has come, and theirs was said to all | `Agreed`: keep the epoch and all lives on the disk, say `READY` to all |
//! | `Agreed` | `READY` of all others, with the same rounds | `Running`: fresh locks, waiters ask |
//! | any | a session ends, or a peer says what it cannot say | `Gathering`, in a new round: end all sessions |
//!
//! # Why two are never inside
//!
//! An epoch is a vector of **rounds**, one of each node. A node takes part in one epoch of a round
//! at most: it hears one hello of each peer, on the one session of the round. Suppose that X is
//! inside in epoch V, and Y in epoch W.
//!
//! 1. X has said no hello in a later round than V's, for its user is inside. So W's round of X is
//!    not later than V's. In the same way V's round of Y is not later than W's.
//! 2. If V and W have the same round of X, or the same of Y, they are the same epoch.
//! 3. Else X was ready for W before it said hello for V, and Y was ready for V before it said hello
//!    for W. But Y was ready for V after X's hello for V, so after X was ready for W, so after Y's
//!    hello for W: a circle.
//!
//! So V and W are the same epoch. Within an epoch the channels keep order and lose nothing but
//! their end, and the algorithm excludes.
//!
//! The greatest of all last epochs, and one, is the number of the next. Every node has it on its
//! disk before it is ready, so a later epoch has a greater number, and **fences** grow.
//!
//! # What is refused
//! A node that has another configuration; a node that has lost its memory (a *blank restart*), for
//! its former self may still run elsewhere with a user inside; and whatever the algorithm of the
//! peer cannot have sent.

mod desk;
mod input;
mod message;
mod node;

pub use desk::User;
pub use input::{Input, Output, Precautions, Stage};
pub use message::{Digest, Hello, Life, Message, Record, Round, Why};
pub use node::Strict;
