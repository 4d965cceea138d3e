//! A moment of a cluster, and what can happen in it.

use std::fmt;

use super::network::{Envelope, Network};
use crate::message::{Input, NodeId, Outbox, Output, Phase, Protocol, Timer, Violation, step_lock};

/// What can happen.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
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

/// A moment of a cluster.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State<P: Protocol> {
    /// The nodes.
    pub nodes: Vec<P>,
    pub(super) network: Network<P::Message>,
    /// The timers that run, sorted.
    pub(super) timers: Vec<(NodeId, Timer)>,
    pub(super) users: Vec<Wish>,
    /// What must not happen, and did. Nothing happens after it.
    pub violation: Option<Violation>,
    /// How many messages have been sent; counted only where a bound is claimed, and only as far as one too many.
    pub(super) sent: u32,
}

/// Ghost counters. They enlarge the state space: only those are switched on that a property needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ghosts {
    /// How often each is passed.
    pub(super) passed: bool,
    /// How many messages have been sent, up to so many.
    pub(super) sent: Option<u32>,
}

/// Where a node's user is, and what it still wants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Wish {
    pub(super) phase: Phase,
    /// How many more times it wants in.
    pub(super) requests_left: u8,
    /// How many others have entered while it waits; counted only where a bound is claimed.
    pub(super) passed: u8,
}

impl<P: Protocol> State<P> {
    /// The messages in flight: from whom, to whom, what.
    pub fn in_flight(&self) -> impl Iterator<Item = (NodeId, NodeId, &P::Message)> {
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

    /// Whether a message is in flight to the node or from it.
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
                (*node, Input::Request)
            }
            Action::Leave(node) => (*node, Input::Release),
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
        let mut out = Outbox::new();
        let (machine, user) = (&mut self.nodes[node.index()], &mut self.users[node.index()]);
        self.violation = step_lock(machine, &mut user.phase, input, &mut out).err();
        if self.violation.is_some() {
            return;
        }
        for output in out.drain() {
            match output {
                Output::Send { to, message } => {
                    self.network.send(node, to, message);
                    self.sent = ghosts.sent.map_or(0, |most| most.min(self.sent + 1));
                }
                Output::SetTimer { timer, .. } => {
                    let place = self.timers.partition_point(|it| *it < (node, timer));
                    self.timers.insert(place, (node, timer));
                }
                Output::Enter => self.enter(node, ghosts),
                // It is in the node's state.
                Output::Leader(_) => {}
            }
        }
    }

    fn enter(&mut self, node: NodeId, ghosts: Ghosts) {
        self.users[node.index()].passed = 0;
        if ghosts.passed {
            for user in self.users.iter_mut().filter(|user| user.phase.is_waiting()) {
                user.passed = user.passed.saturating_add(1);
            }
        }
    }
}
