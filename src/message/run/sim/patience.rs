//! Users that do not wait for ever.

use super::SimCause;
use super::world::{Coming, World};
use crate::message::{Input, NodeId, Protocol, Time};

impl<P: Protocol> World<P> {
    /// A user begins to wait, and will not do so for ever. Nobody waits for the end of that.
    pub(super) fn wait_patiently(&mut self, node: NodeId) {
        let Some(patience) = self.patience else { return };
        let until = self.now.after(patience.draw(&mut self.random));
        let number = self.users[node.index()].asked.number;
        self.queue.push(until, Coming::Patience(node, number));
    }

    /// A user gives up, if it still waits with the request of this number. It takes the request
    /// back where that can be. Otherwise the request stands, and the user's next one takes it over.
    pub(super) fn give_up(&mut self, node: NodeId, number: u64) -> Result<(), SimCause> {
        let user = &mut self.users[node.index()];
        if !user.phase.is_waiting() || user.asked.number != number || user.stands {
            return Ok(());
        }
        self.tally.given_up += 1;
        let next = user.backlog.pop_front();
        if !P::WITHDRAWS {
            user.stands = true;
            if let Some(came_at) = next {
                self.take_over(node, came_at);
            }
            return Ok(());
        }
        let asked = user.asked;
        self.active -= 1;
        self.tally.withdrawn += 1;
        self.tally.forget(asked);
        self.give(node, Input::Withdraw, 0)?;
        self.go_on_outside(node, next)
    }

    /// The request that stands is wanted again.
    pub(super) fn take_over(&mut self, node: NodeId, came_at: Time) {
        let user = &mut self.users[node.index()];
        user.stands = false;
        user.asked.came_at = came_at;
        self.wait_patiently(node);
    }
}
