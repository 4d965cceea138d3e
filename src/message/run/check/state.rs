//! A moment of a cluster, and what can happen in it.

use std::fmt;

use super::network::{Envelope, Network};
use crate::message::{Input, NodeId, Outbox, Phase, Protocol, Timer, Unexpected, step};

/// What can happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action<M> {
    /// A user wants in.
    Request(NodeId),
    /// A user leaves.
    Leave(NodeId),
    /// A message arrives.
    Deliver {
        /// Who sent it.
        from: NodeId,
        /// Who gets it.
        to: NodeId,
        /// What it says.
        message: M,
    },
    /// A timer runs out.
    Timeout(NodeId, Timer),
}

impl<M: fmt::Debug> fmt::Display for Action<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(node) => write!(f, "{node} requests"),
            Self::Leave(node) => write!(f, "{node} leaves"),
            Self::Deliver { from, to, message } => {
                write!(f, "{to} receives {message:?} from {from}")
            }
            Self::Timeout(node, Timer(timer)) => write!(f, "timer {timer} of {node} runs out"),
        }
    }
}

/// What must not happen, and did.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Failure {
    /// A node refused an input.
    Unexpected(String),
    /// A node let its user in who had not asked.
    NotAsked(NodeId),
    /// A node sent a message to one that does not exist.
    NoSuchNode(NodeId),
}

impl From<Unexpected> for Failure {
    fn from(unexpected: Unexpected) -> Self {
        Self::Unexpected(unexpected.to_string())
    }
}

/// A moment of a cluster.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State<P: Protocol> {
    /// The nodes.
    pub nodes: Vec<P>,
    pub(super) network: Network<P::Message>,
    /// The timers that run, sorted.
    pub(super) timers: Vec<(NodeId, Timer)>,
    pub(super) users: Vec<User>,
    /// What must not happen, and did. Nothing happens after it.
    pub failure: Option<Failure>,
    /// How many messages have been sent; counted only where a bound is claimed, and only as far as one too many.
    pub(super) sent: u32,
}

/// What is counted beside what happens. States that differ in nothing else are different states, so nothing is counted
/// without need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ghosts {
    /// How often each is passed.
    pub(super) passed: bool,
    /// How many messages have been sent, up to so many.
    pub(super) sent: Option<u32>,
}

/// A node's user.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct User {
    pub(super) phase: Phase,
    /// How many more times it wants in.
    pub(super) requests_left: u8,
    /// How many others have entered while it waits; counted only where a bound is claimed.
    pub(super) passed: u8,
}

impl<P: Protocol> State<P> {
    /// The messages on the way: from whom, to whom, what.
    pub fn on_the_way(&self) -> impl Iterator<Item = (NodeId, NodeId, &P::Message)> {
        self.network.iter()
    }

    /// Who is inside.
    pub fn inside(&self) -> impl Iterator<Item = NodeId> {
        self.in_phase(Phase::Inside)
    }

    /// Who waits.
    pub fn waiting(&self) -> impl Iterator<Item = NodeId> {
        self.in_phase(Phase::Waiting)
    }

    fn in_phase(&self, phase: Phase) -> impl Iterator<Item = NodeId> {
        let users = NodeId::all(self.users.len()).zip(&self.users);
        users.filter(move |(_, user)| user.phase == phase).map(|(node, _)| node)
    }

    /// Whether nothing will happen unless somebody asks.
    pub(super) fn is_silent(&self) -> bool {
        self.network.is_empty() && self.timers.is_empty() && self.inside().next().is_none()
    }

    /// Whether a message is on its way to the node or from it.
    pub(super) fn awaits(&self, node: NodeId) -> bool {
        self.network.iter().any(|(from, to, _)| from == node || to == node)
    }

    /// What the action does. None if it cannot happen.
    pub(super) fn after(&self, action: &Action<P::Message>, ghosts: Ghosts) -> Option<Self> {
        let mut next = self.clone();
        let (node, input) = match action {
            Action::Request(node) => {
                let user = &mut next.users[node.index()];
                user.requests_left = user.requests_left.checked_sub(1)?;
                user.phase = Phase::Waiting;
                (*node, Input::Request)
            }
            Action::Leave(node) => {
                next.users[node.index()].phase = Phase::Idle;
                (*node, Input::Release)
            }
            Action::Deliver { from, to, message } => {
                let envelope: Envelope<_> = (*from, *to, message.clone());
                next.network.take(&envelope).then_some(())?;
                (*to, Input::Receive { from: *from, message: message.clone() })
            }
            Action::Timeout(node, timer) => {
                let set = next.timers.iter().position(|it| it == &(*node, *timer))?;
                next.timers.remove(set);
                (*node, Input::Timeout(*timer))
            }
        };
        next.give(node, input, ghosts);
        Some(next)
    }

    /// Gives a node an input, and takes what comes of it.
    pub(super) fn give(&mut self, node: NodeId, input: Input<P::Message>, ghosts: Ghosts) {
        let mut out = Outbox::new(node);
        if let Err(unexpected) = step(&mut self.nodes[node.index()], input, &mut out) {
            self.failure = Some(unexpected.into());
            return;
        }
        for (to, message) in out.sent() {
            if to.index() >= self.nodes.len() {
                self.failure = Some(Failure::NoSuchNode(to));
                return;
            }
            self.network.send(node, to, message);
            self.sent = ghosts.sent.map_or(0, |most| most.min(self.sent + 1));
        }
        for (timer, _) in out.timers() {
            let place = self.timers.partition_point(|it| *it < (node, timer));
            self.timers.insert(place, (node, timer));
        }
        if out.take_entry() {
            self.enter(node, ghosts);
        }
    }

    fn enter(&mut self, node: NodeId, ghosts: Ghosts) {
        let user = &mut self.users[node.index()];
        if !user.phase.is_waiting() {
            self.failure = Some(Failure::NotAsked(node));
            return;
        }
        (user.phase, user.passed) = (Phase::Inside, 0);
        if ghosts.passed {
            for user in self.users.iter_mut().filter(|user| user.phase.is_waiting()) {
                user.passed = user.passed.saturating_add(1);
            }
        }
    }
}
