//! What goes into a node and what comes out of it: [`Input`], [`Outbox`], and [`step`], which every runner calls.

use std::collections::VecDeque;

use super::{Message, NodeId, Protocol, Unexpected};

/// A timer of a node, named by a number of the protocol's choice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timer(pub u32);

/// Something that happens to a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Input<M> {
    /// The cluster starts.
    Start,
    /// Its user wants to enter.
    Request,
    /// Its user leaves.
    Release,
    /// A message arrives.
    Receive {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        message: M,
    },
    /// A timer that it set has run out.
    Timeout(Timer),
}

/// What a node does in answer to an [`Input`]: messages, timers, and its user's entry.
///
/// A message to oneself is delivered at once, as a part of the same step, and is not counted.
///
/// ```
/// use exclusion::message::{NodeId, Outbox};
///
/// let mut out = Outbox::new(NodeId(0));
/// out.send(NodeId(1), "hello");
/// out.enter();
/// assert_eq!(out.sent().collect::<Vec<_>>(), [(NodeId(1), "hello")]);
/// assert!(out.take_entry());
/// ```
#[derive(Debug)]
pub struct Outbox<M> {
    node: NodeId,
    sent: Vec<(NodeId, M)>,
    to_oneself: VecDeque<M>,
    timers: Vec<(Timer, u32)>,
    entered: bool,
}

impl<M> Outbox<M> {
    /// An empty one, of this node.
    pub fn new(node: NodeId) -> Self {
        Self {
            node,
            sent: Vec::new(),
            to_oneself: VecDeque::new(),
            timers: Vec::new(),
            entered: false,
        }
    }

    /// Hands it to another node, empty: one outbox can serve a whole cluster.
    pub fn readdress(&mut self, node: NodeId) {
        self.clear();
        self.node = node;
    }

    /// Sends a message.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: M) {
        if to == self.node {
            self.to_oneself.push_back(message);
        } else {
            self.sent.push((to, message));
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

    /// Lets the user in.
    #[inline]
    pub fn enter(&mut self) {
        self.entered = true;
    }

    /// Asks for a timeout after a number of periods. A period is as long as a message takes at most (Tmax):
    /// the simulator knows it from its network, a cluster of actors as a setting.
    pub fn set_timer(&mut self, timer: Timer, periods: u32) {
        self.timers.push((timer, periods));
    }

    /// What was sent to others, in order. Empties that part of the outbox.
    pub fn sent(&mut self) -> impl Iterator<Item = (NodeId, M)> + '_ {
        self.sent.drain(..)
    }

    /// The timers that were set, with their periods. Empties that part of the outbox.
    pub fn timers(&mut self) -> impl Iterator<Item = (Timer, u32)> + '_ {
        self.timers.drain(..)
    }

    /// Whether the user was let in. Empties that part of the outbox.
    pub fn take_entry(&mut self) -> bool {
        std::mem::take(&mut self.entered)
    }

    /// Whether nothing has come out.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
            && self.to_oneself.is_empty()
            && self.timers.is_empty()
            && !self.entered
    }

    fn clear(&mut self) {
        self.sent.clear();
        self.to_oneself.clear();
        self.timers.clear();
        self.entered = false;
    }
}

/// Gives a node an input, and then what it sends to itself. What comes out is in the outbox.
///
/// # Errors
/// If the input cannot occur in this state. The outbox is then empty, and the node as it was unless it refused a
/// message of its own.
pub fn step<P: Protocol>(
    node: &mut P,
    input: Input<P::Message>,
    out: &mut Outbox<P::Message>,
) -> Result<(), Unexpected> {
    let me = out.node;
    let (what, outcome) = match input {
        Input::Start => {
            node.start(out);
            (What::Start, Ok(()))
        }
        Input::Request => (What::Request, node.request(out)),
        Input::Release => (What::Release, node.release(out)),
        Input::Receive { from, message } => {
            (What::Message(from, message.kind()), node.receive(from, message, out))
        }
        Input::Timeout(timer) => (What::Timeout(timer), node.timeout(timer, out)),
    };
    let outcome = outcome.map_err(|refused| what.unexpected(me, refused));
    let outcome = outcome.and_then(|()| {
        while let Some(message) = out.to_oneself.pop_front() {
            let what = What::Message(me, message.kind());
            node.receive(me, message, out).map_err(|refused| what.unexpected(me, refused))?;
        }
        Ok(())
    });
    if outcome.is_err() {
        out.clear();
    }
    outcome
}

/// An input without its contents, for the error that may come of it.
enum What {
    Start,
    Request,
    Release,
    Message(NodeId, &'static str),
    Timeout(Timer),
}

impl What {
    #[cold]
    fn unexpected(self, node: NodeId, refused: super::Refused) -> Unexpected {
        let input = match self {
            Self::Start => "the start".to_owned(),
            Self::Request => "a request of its user".to_owned(),
            Self::Release => "a release by its user".to_owned(),
            Self::Message(from, kind) => format!("{kind} from {from}"),
            Self::Timeout(Timer(timer)) => format!("the timeout of timer {timer}"),
        };
        Unexpected { node, input, why: refused.0 }
    }
}
