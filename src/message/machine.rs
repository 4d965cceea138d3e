//! The pure state machine under every runner.
//!
//! A [`Machine`] takes an [`Input`] and answers through an [`Outbox`] with [`Output`]s. It has no
//! thread, no clock and no randomness: the same state and the same input give the same output.
//! [`step`] is the one way to give a machine an input. The simulator, the actors, the checker and
//! the replay all call it, and differ only in what they do with the outputs.
//!
//! A lock is a machine with a user that requests and releases: see [`Protocol`](super::Protocol)
//! and [`step_lock`](super::step_lock).

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

use super::{Leadership, NodeId, NodeSet, Refused, Violation};

/// What a message must be.
pub trait Message: Clone + Eq + Hash + Debug {
    /// Its kind, by which messages are counted, in one word: `REQUEST`, `GRANT`.
    fn kind(&self) -> &'static str;
}

/// In which order a channel between two nodes delivers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Channels {
    /// As sent: first in, first out, from each node to each other.
    Fifo,
    /// In any order.
    AnyOrder,
}

/// A timer of a node, named by a number of the machine's choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timer(pub u32);

/// What a node is told about failures and recoveries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notice {
    /// This node is down.
    Down(NodeId),
    /// This node, which was down, is up.
    Up(NodeId),
    /// The node itself was down, and is up again.
    Recovered,
}

impl Notice {
    /// Refuses what is said of a node that is no other one of the cluster.
    pub(super) fn check(self, me: NodeId, nodes: usize) -> Result<(), Refused> {
        match self {
            Self::Down(node) | Self::Up(node) => me.check_peer(node, nodes),
            Self::Recovered => Ok(()),
        }
    }
}

/// Something that happens to a machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Input<M> {
    /// The cluster starts.
    Start,
    /// It is to call an election.
    Elect,
    /// Its user wants to enter.
    Request,
    /// Its user leaves.
    Release,
    /// Its user waits no longer, and takes its request back.
    Withdraw,
    /// A message arrives.
    Receive {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        message: M,
    },
    /// A timer that it set has run out.
    Timeout(Timer),
    /// It is told about a failure or a recovery.
    Notice(Notice),
}

/// What a machine does in answer to an [`Input`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Output<M> {
    /// It sends a message to another node.
    Send {
        /// To whom.
        to: NodeId,
        /// What it says.
        message: M,
    },
    /// It wants to be told when a number of periods have passed.
    SetTimer {
        /// Which timer.
        timer: Timer,
        /// After how many periods. A period is the longest time that a message takes (Tmax).
        periods: u32,
    },
    /// It lets its user enter.
    Enter,
    /// It has settled on a leader.
    Leader(Leadership),
}

/// A node of a distributed algorithm: the whole of its state, and what it does.
///
/// Steps that an algorithm does not need have defaults.
///
/// A runner promises: a request comes only after the last one has been released, a release only
/// after an entry. Each message comes at most once, and only to the node that it was sent to. Each
/// timer comes once.
///
/// A machine promises: the same state and input give the same output. An input that cannot have
/// been sent in a cluster of this size, or cannot occur in this state, is an error with nothing
/// changed.
///
/// # What was decoded
///
/// With the feature `serde`, the messages and the states of the machines of this crate can be
/// written to bytes and read again. A message may come from anywhere, so `receive` checks it: no
/// message makes a machine panic, count past its limits, send to a node that does not exist, or let
/// in a user that does not wait. A forged message is accepted if a correct node could have sent it
/// in this state: the algorithms have no signatures. A decoded state is trusted. One that was
/// tampered with may misbehave in any way that is memory-safe.
pub trait Machine: Clone + Eq + Hash + Debug {
    /// What the nodes say to each other.
    type Message: Message;

    /// The channels that it needs.
    const CHANNELS: Channels = Channels::AnyOrder;

    /// Whether the nodes fall silent when no user wants anything. A token ring does not.
    const RESTS: bool = true;

    /// Which node this is.
    fn id(&self) -> NodeId;

    /// How many nodes the cluster has.
    fn nodes(&self) -> usize;

    /// The cluster starts, before anything else happens. Most algorithms have nothing to do.
    fn start(&mut self, _out: &mut Outbox<Self::Message>) {}

    /// It is to call an election. One that is under way goes on.
    ///
    /// # Errors
    /// If the machine is no election.
    fn elect(&mut self, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Err(Refused("it is no election"))
    }

    /// A message arrives, from another node of the cluster, or from this one if it has sent it to
    /// itself in the same step.
    ///
    /// [`step`] refuses every other sender before it calls this. Whoever calls it without [`step`]
    /// must do the same: the sender is not checked again.
    ///
    /// # Errors
    /// If it cannot occur in this state.
    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused>;

    /// A timer has run out.
    ///
    /// # Errors
    /// If it was not set.
    fn timeout(&mut self, _timer: Timer, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Err(Refused("it sets no timers"))
    }

    /// It is told about a failure or a recovery. Algorithms without fault tolerance ignore it.
    ///
    /// # Errors
    /// If it cannot occur in this state.
    fn notice(&mut self, _notice: Notice, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Ok(())
    }

    /// The user wants to enter.
    ///
    /// # Errors
    /// If it has asked already, is inside, or the machine is no lock.
    fn request(&mut self, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Err(Refused("it is no lock"))
    }

    /// The user leaves.
    ///
    /// # Errors
    /// If it is not inside, or the machine is no lock.
    fn release(&mut self, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Err(Refused("it is no lock"))
    }

    /// The user waits no longer, and takes its request back. It may ask anew at once.
    ///
    /// # Errors
    /// If it does not wait, or the lock [cannot](super::Protocol::WITHDRAWS) do that.
    fn withdraw(&mut self, _out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        Err(Refused("it cannot take a request back"))
    }
}

/// Where a machine puts its [`Output`]s, and its runner takes them from.
///
/// One outbox can serve a whole cluster, if it is emptied after each [`step`]. A message that a
/// machine sends to itself is delivered within the step, and never comes out.
///
/// ```
/// use exclusion::message::{Input, NodeId, Outbox, Output, RicartAgrawala, step};
///
/// let mut node = RicartAgrawala::node(NodeId(0), 2)?;
/// let mut out = Outbox::new();
/// step(&mut node, Input::Request, &mut out)?;
/// let outputs: Vec<_> = out.drain().collect();
/// assert!(matches!(outputs[..], [Output::Send { to: NodeId(1), .. }]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outbox<M> {
    /// The node that fills it at the moment, and the number of nodes.
    owner: NodeId,
    nodes: usize,
    /// Messages to others and timers. The entry is apart, since it comes last.
    outputs: Vec<Output<M>>,
    entered: bool,
    to_itself: VecDeque<M>,
    /// A message went to this node, which does not exist.
    astray: Option<NodeId>,
}

impl<M> Default for Outbox<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Outbox<M> {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            owner: NodeId(0),
            nodes: 0,
            outputs: Vec::new(),
            entered: false,
            to_itself: VecDeque::new(),
            astray: None,
        }
    }

    /// Sends a message.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: M) {
        if to == self.owner {
            self.to_itself.push_back(message);
        } else {
            if to.index() >= self.nodes {
                self.astray = Some(to);
            }
            self.outputs.push(Output::Send { to, message });
        }
    }

    /// Sends a message to each of the nodes.
    #[inline]
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = NodeId>, message: M)
    where
        M: Clone,
    {
        for node in to {
            self.send(node, message.clone());
        }
    }

    /// Asks for a timeout after a number of periods. A period is the longest time that a message
    /// takes (Tmax). The simulator knows it from its delays; for a cluster of actors it is a
    /// setting.
    pub fn set_timer(&mut self, timer: Timer, periods: u32) {
        self.outputs.push(Output::SetTimer { timer, periods });
    }

    /// Says on which leader the node has settled.
    pub fn settle(&mut self, leadership: Leadership) {
        self.outputs.push(Output::Leader(leadership));
    }

    /// Lets the user enter.
    #[inline]
    pub fn enter(&mut self) {
        self.entered = true;
    }

    /// Takes everything out: messages and timers in their order, then the entry.
    #[inline]
    pub fn drain(&mut self) -> impl Iterator<Item = Output<M>> + '_ {
        if std::mem::take(&mut self.entered) {
            self.outputs.push(Output::Enter);
        }
        self.outputs.drain(..)
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && !self.entered
    }

    /// Throws away what is in it.
    pub fn clear(&mut self) {
        self.outputs.clear();
        self.to_itself.clear();
        self.entered = false;
        self.astray = None;
    }

    /// An empty one for a machine that is a part of the one that this is of, under the same name.
    pub(super) fn of_a_part<N>(&self) -> Outbox<N> {
        Outbox { owner: self.owner, nodes: self.nodes, ..Outbox::new() }
    }

    /// Whether the node has sent a message to itself.
    pub(super) fn sends_to_itself(&self) -> bool {
        !self.to_itself.is_empty()
    }

    /// Throws away the messages to these nodes, which are down.
    pub(super) fn discard_for(&mut self, down: &NodeSet) {
        let is_lost =
            |output: &Output<M>| matches!(output, Output::Send { to, .. } if down.contains(*to));
        self.outputs.retain(|output| !is_lost(output));
    }

    /// Whether it holds an entry.
    #[inline]
    pub(super) fn lets_in(&self) -> bool {
        self.entered
    }

    /// Prepares it for a step of a node. Refuses if it is not empty.
    #[inline]
    pub(super) fn address_to(&mut self, node: NodeId, nodes: usize) -> Result<(), Violation> {
        if !self.is_empty() {
            return Err(Violation::OutboxNotEmpty { node, owner: self.owner });
        }
        (self.owner, self.nodes) = (node, nodes);
        Ok(())
    }

    /// The next message that the node has sent to itself.
    #[inline]
    pub(super) fn next_to_itself(&mut self) -> Option<M> {
        self.to_itself.pop_front()
    }

    /// A node to which a message went, and which does not exist.
    #[inline]
    pub(super) fn astray(&self) -> Option<NodeId> {
        self.astray
    }
}

#[cfg(doc)]
use super::step;
