//! A state of a cluster, and the actions that lead to the next.

use std::fmt;

use super::network::{Envelope, Network, Sent};
use super::plight::{Cut, Troubles};
use crate::message::{Input, NodeId, Outbox, Output, Phase, Protocol, Timer, Violation, step_lock};

/// An action: one step of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Action<M> {
    /// A user wants in.
    Request(NodeId),
    /// A user leaves.
    Leave(NodeId),
    /// A user that waits takes its request back.
    Withdraw(NodeId),
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
    /// A node calls an election.
    Elect(NodeId),
    /// A node goes down.
    Crash(NodeId),
    /// A node comes back.
    Recover(NodeId),
    /// A message is lost.
    Lose {
        /// Who sent it.
        from: NodeId,
        /// To whom.
        to: NodeId,
        /// What it says.
        message: M,
    },
    /// A message arrives, and will arrive once more.
    Double {
        /// Who sent it.
        from: NodeId,
        /// Who gets it.
        to: NodeId,
        /// What it says.
        message: M,
    },
    /// A node is told that another is down, which is not.
    Suspect {
        /// Who is told.
        observer: NodeId,
        /// Of whom.
        node: NodeId,
    },
    /// A node is told that another is down, or up again.
    Notify {
        /// Who is told.
        observer: NodeId,
        /// Of whom.
        node: NodeId,
    },
    /// The network is cut in two.
    Cut,
    /// The cut is over.
    Heal,
    /// A period passes.
    Tick,
}

impl<M> Action<M> {
    /// Whether it is something that may befall the nodes, but need not. A cut is over sooner or
    /// later.
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Crash(_) | Self::Recover(_) | Self::Cut => true,
            Self::Lose { .. } | Self::Double { .. } | Self::Suspect { .. } => true,
            Self::Request(_) | Self::Leave(_) | Self::Withdraw(_) | Self::Elect(_) => false,
            Self::Deliver { .. } | Self::Timeout(..) | Self::Tick => false,
            Self::Notify { .. } | Self::Heal => false,
        }
    }
}

impl<M: fmt::Debug> fmt::Display for Action<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(node) => write!(f, "{node} requests"),
            Self::Leave(node) => write!(f, "{node} leaves"),
            Self::Withdraw(node) => write!(f, "{node} withdraws"),
            Self::Deliver { from, to, message } => {
                write!(f, "{to} receives {message:?} from {from}")
            }
            Self::Timeout(node, Timer(timer)) => write!(f, "timer {timer} of {node} runs out"),
            Self::Elect(node) => write!(f, "{node} calls an election"),
            Self::Crash(node) => write!(f, "{node} crashes"),
            Self::Recover(node) => write!(f, "{node} recovers"),
            Self::Lose { from, to, message } => write!(f, "{to} misses {message:?} from {from}"),
            Self::Double { from, to, message } => {
                write!(f, "{to} receives {message:?} from {from}, not for the last time")
            }
            Self::Suspect { observer, node } => write!(f, "{observer} suspects {node}"),
            Self::Notify { observer, node } => {
                write!(f, "{observer} is told of the fate of {node}")
            }
            Self::Cut => write!(f, "the network is cut"),
            Self::Heal => write!(f, "the cut is over"),
            Self::Tick => write!(f, "a period passes"),
        }
    }
}

/// A state of a cluster.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State<P: Protocol> {
    /// The nodes.
    pub nodes: Vec<P>,
    pub(super) network: Network<Sent<P::Message>>,
    /// The timers that run, sorted, and in how many periods they run out, where time is counted.
    pub(super) timers: Vec<(NodeId, Timer, u8)>,
    pub(super) users: Vec<Wish>,
    /// The violation that happened, if any. Such a state has no successors.
    pub violation: Option<Violation>,
    /// How many messages have been sent. Counted only if a bound is claimed, and only up to one
    /// more than the bound.
    pub(super) sent: u32,
    /// None where nothing befalls the nodes.
    pub(super) troubles: Option<Box<Troubles>>,
}

/// What does not change from state to state.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) ghosts: Ghosts,
    /// Whether time is counted in periods.
    pub(super) timed: bool,
    pub(super) cut: Option<Cut>,
    /// Whether a message that a node refuses is as good as lost.
    pub(super) ignores_refused: bool,
}

/// Ghost counters. They enlarge the state space: only those are switched on that a property needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ghosts {
    /// How many others enter while a user waits.
    pub(super) passed: bool,
    /// How many messages have been sent, up to this limit.
    pub(super) sent: Option<u32>,
}

/// Where a node's user is, and what it still wants.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Wish {
    pub(super) phase: Phase,
    /// How many more times it wants in.
    pub(super) requests_left: u8,
    /// How many more times it may take a request back.
    pub(super) withdrawals_left: u8,
    /// How many others have entered while it waits; counted only where a bound is claimed.
    pub(super) passed: u8,
}

impl Wish {
    /// The user asks once more, if it still wants to.
    fn ask(&mut self) -> Option<()> {
        self.requests_left = self.requests_left.checked_sub(1)?;
        Some(())
    }

    /// The user takes its request back, if it still may.
    fn withdraw(&mut self) -> Option<()> {
        self.withdrawals_left = self.withdrawals_left.checked_sub(1)?;
        self.passed = 0;
        Some(())
    }
}

impl<P: Protocol> State<P> {
    /// The messages in flight: sender, receiver, message.
    pub fn in_flight(&self) -> impl Iterator<Item = (NodeId, NodeId, &P::Message)> {
        self.network.iter().map(|(from, to, sent)| (from, to, &sent.message))
    }

    /// The nodes whose users are inside.
    pub fn inside(&self) -> impl Iterator<Item = NodeId> {
        self.in_phase(Phase::Inside)
    }

    /// The nodes whose users wait.
    pub fn waiting(&self) -> impl Iterator<Item = NodeId> {
        self.in_phase(Phase::Waiting)
    }

    /// Where a node's user is. That of a node that is down is idle.
    pub fn phase(&self, node: NodeId) -> Phase {
        self.users[node.index()].phase
    }

    /// Whether a node's user is idle, but wants in again.
    pub(super) fn may_ask(&self, node: NodeId) -> bool {
        let user = &self.users[node.index()];
        user.phase.is_idle() && user.requests_left > 0
    }

    fn in_phase(&self, phase: Phase) -> impl Iterator<Item = NodeId> {
        let users = NodeId::all(self.users.len()).zip(&self.users);
        users.filter(move |(_, user)| user.phase == phase).map(|(node, _)| node)
    }

    /// Whether no message, timer or user inside can lead to another step.
    pub(super) fn is_silent(&self) -> bool {
        self.network.is_empty() && self.timers.is_empty() && self.inside().next().is_none()
    }

    /// Whether a message is in flight to the node or from it.
    pub(super) fn awaits(&self, node: NodeId) -> bool {
        self.network.iter().any(|(from, to, _)| from == node || to == node)
    }

    /// The state after an action. None if it cannot happen.
    pub(super) fn after(&self, action: &Action<P::Message>, rules: &Rules) -> Option<Self> {
        let mut next = self.clone();
        let (node, input) = match action {
            Action::Request(node) => {
                next.users[node.index()].ask()?;
                (*node, Input::Request)
            }
            Action::Elect(node) => {
                next.users[node.index()].ask()?;
                (*node, Input::Elect)
            }
            Action::Crash(node) => {
                next.crash(*node)?;
                return Some(next);
            }
            Action::Recover(node) => {
                next.recover(*node, rules)?;
                return Some(next);
            }
            Action::Notify { observer, node } => {
                next.notify(*observer, *node, rules)?;
                return Some(next);
            }
            Action::Suspect { observer, node } => {
                next.suspect(*observer, *node, rules)?;
                return Some(next);
            }
            Action::Lose { from, to, message } => {
                next.lose(&(*from, *to, message.clone()))?;
                return Some(next);
            }
            Action::Double { from, to, message } => {
                next.double(&(*from, *to, message.clone()))?;
                (*to, Input::Receive { from: *from, message: message.clone() })
            }
            Action::Cut => {
                next.cut(rules)?;
                return Some(next);
            }
            Action::Heal => {
                next.heal(rules)?;
                return Some(next);
            }
            Action::Tick => {
                next.tick();
                return Some(next);
            }
            Action::Leave(node) => (*node, Input::Release),
            Action::Withdraw(node) => {
                next.users[node.index()].withdraw()?;
                (*node, Input::Withdraw)
            }
            Action::Deliver { from, to, message } => {
                next.take(&(*from, *to, message.clone()))?;
                if next.is_down(*to) {
                    return Some(next);
                }
                (*to, Input::Receive { from: *from, message: message.clone() })
            }
            Action::Timeout(node, timer) => {
                let is_it =
                    |&(of, it, left): &(NodeId, Timer, u8)| (of, it, left) == (*node, *timer, 0);
                let set = next.timers.iter().position(is_it)?;
                next.timers.remove(set);
                (*node, Input::Timeout(*timer))
            }
        };
        next.give(node, input, rules);
        Some(next)
    }

    /// Takes a message out, of equal ones that which is due first; and says within how many periods
    /// it would have arrived.
    pub(super) fn take(&mut self, (from, to, message): &Envelope<P::Message>) -> Option<u8> {
        (0..=1).find(|&due| {
            let sent = Sent { message: message.clone(), due };
            self.network.take(&(*from, *to, sent))
        })
    }

    /// Gives a node an input, and applies its outputs.
    pub(super) fn give(&mut self, node: NodeId, input: Input<P::Message>, rules: &Rules) {
        let ghosts = rules.ghosts;
        let mut out = Outbox::new();
        let may_be_refused = rules.ignores_refused && matches!(input, Input::Receive { .. });
        let (machine, user) = (&mut self.nodes[node.index()], &mut self.users[node.index()]);
        match step_lock(machine, &mut user.phase, input, &mut out) {
            Ok(()) => {}
            Err(Violation::Unexpected(_)) if may_be_refused => return,
            Err(violation) => {
                self.violation = Some(violation);
                return;
            }
        }
        for output in out.drain() {
            match output {
                Output::Send { to, message } => {
                    if !self.is_lost(node, to) {
                        self.network.send(node, to, Sent { message, due: u8::from(rules.timed) });
                    }
                    self.sent = ghosts.sent.map_or(0, |most| most.min(self.sent + 1));
                }
                Output::SetTimer { timer, periods } => {
                    let left =
                        if rules.timed { u8::try_from(periods).unwrap_or(u8::MAX) } else { 0 };
                    let place = self.timers.partition_point(|it| *it < (node, timer, left));
                    self.timers.insert(place, (node, timer, left));
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
