//! What becomes of what was to happen, where something has befallen the nodes.

use super::SimCause;
use super::faults::Troubles;
use super::world::{Coming, World};
use crate::message::{Happening, Message, NodeId, Phase, Protocol, Time, Violation};

impl<M> Coming<M> {
    /// The node that it comes to.
    pub(super) fn node(&self) -> Option<NodeId> {
        match *self {
            Self::Arrival(node) | Self::Leaving(node, _) | Self::Timeout(node, ..) => Some(node),
            Self::Call(node) | Self::Look(node, _) | Self::Delivery { to: node, .. } => Some(node),
            Self::Patience(node, _) => Some(node),
            Self::Fault(_) | Self::Reminder => None,
        }
    }
}

impl<P: Protocol> World<P> {
    /// An event where something may befall the nodes before it, and after it.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_befallen(&mut self, coming: Coming<P::Message>) -> Result<(), SimCause> {
        if let Some(left) = self.befallen(coming)? {
            self.handle(left)?;
        }
        self.note_missed();
        self.take_aim()
    }

    /// What is left of an event: none if it is lost, or waits for its node to go on.
    fn befallen(
        &mut self,
        coming: Coming<P::Message>,
    ) -> Result<Option<Coming<P::Message>>, SimCause> {
        let Some(troubles) = self.troubles.as_deref_mut() else { return Ok(Some(coming)) };
        troubles.delivers = None;
        if coming.node().is_some_and(|node| troubles.paused.contains(node)) {
            troubles.held.push(coming);
            return Ok(None);
        }
        let is_down = |node| troubles.plight.down.contains(node);
        match coming {
            Coming::Timeout(node, _, life) if troubles.life(node) != life => {
                self.in_flight -= 1;
                Ok(None)
            }
            Coming::Leaving(node, life) if troubles.life(node) != life => Ok(None),
            Coming::Call(node) if is_down(node) => {
                self.ahead -= 1;
                Ok(None)
            }
            Coming::Arrival(node) if is_down(node) => {
                self.announced -= 1;
                self.announce_after_arrival();
                Ok(None)
            }
            Coming::Delivery { from, to, number, message } => self.carry(from, to, number, message),
            coming => Ok(Some(coming)),
        }
    }

    /// A message reaches a node: it may be lost on the last step, or come once more.
    fn carry(
        &mut self,
        from: NodeId,
        to: NodeId,
        number: u64,
        message: P::Message,
    ) -> Result<Option<Coming<P::Message>>, SimCause> {
        let Some(troubles) = self.troubles.as_deref_mut() else { return Ok(None) };
        let unreachable = troubles.plight.down.contains(to) || troubles.plight.is_cut(from, to);
        if unreachable || troubles.loses(message.kind()) {
            self.in_flight -= 1;
            self.note(to, Happening::Misses { from, message: number });
            return Ok(None);
        }
        let doubled =
            troubles.duplication > 0.0 && troubles.random.fraction() < troubles.duplication;
        // Whoever was told that the sender is down hears first that it is up.
        let was_told = troubles.plight.was_told(to, from);
        if doubled {
            self.note(to, Happening::Doubles { from, message: number });
            self.deliver_again(from, to, number, message.clone());
        }
        if was_told {
            self.notify(to, from)?;
        }
        if let Some(troubles) = self.troubles.as_deref_mut() {
            troubles.delivers = Some(from);
        }
        Ok(Some(Coming::Delivery { from, to, number, message }))
    }

    /// What had waited comes now.
    pub(super) fn bring_back(&mut self, coming: Coming<P::Message>) {
        self.queue.push(self.now, coming);
    }

    /// A message comes once more.
    pub(super) fn deliver_again(
        &mut self,
        from: NodeId,
        to: NodeId,
        number: u64,
        message: P::Message,
    ) {
        self.in_flight += 1;
        let arrival = self.transit.arrival(self.now, from, to, &mut self.random);
        self.queue.push(arrival, Coming::Delivery { from, to, number, message });
    }

    /// Looks after the users at a time. Nobody waits for that.
    pub(super) fn remind(&mut self, time: Time) {
        self.queue.push(time, Coming::Reminder);
    }

    /// A node has refused an input. If that was a message, it may be as good as lost.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        node: NodeId,
        message: u64,
        violation: Violation,
    ) -> Result<(), SimCause> {
        let troubles = self.troubles.as_ref().filter(|troubles| troubles.ignores_refused);
        match (violation, troubles.and_then(|troubles| troubles.delivers)) {
            (Violation::Unexpected(_), Some(from)) => {
                if let Some(scribe) = &mut self.tally.scribe {
                    scribe.trace.events.pop();
                }
                self.note(node, Happening::Misses { from, message });
                Ok(())
            }
            (violation, _) => Err(SimCause::Violation(violation)),
        }
    }

    /// A node's user dies with it.
    pub(super) fn bury_user(&mut self, node: NodeId) {
        let user = &mut self.users[node.index()];
        user.backlog.clear();
        user.stands = false;
        let asked = user.asked;
        match std::mem::take(&mut user.phase) {
            Phase::Idle => {}
            Phase::Waiting => {
                self.active -= 1;
                self.tally.forget(asked);
            }
            Phase::Inside => {
                self.active -= 1;
                self.inside -= 1;
            }
        }
    }

    /// The users that have waited since this time, or longer.
    pub(super) fn waiting_since(&self, time: Time) -> Vec<NodeId> {
        let mut waiting = self.users_in(Phase::Waiting);
        waiting.retain(|node| {
            let user = &self.users[node.index()];
            user.asked.asked_at <= time && !user.stands
        });
        waiting
    }
}

impl<P: Protocol> Troubles<P> {
    /// Whether a message is lost now.
    fn loses(&mut self, kind: &str) -> bool {
        if let Some(place) = self.lose_next.iter().position(|it| *it == kind) {
            self.lose_next.swap_remove(place);
            return true;
        }
        self.loss > 0.0 && self.random.fraction() < self.loss
    }
}
