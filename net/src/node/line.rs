//! The users of one resource at this node. One at a time is the user of the lock.

use std::collections::VecDeque;
use std::time::Instant;

use exclusion::message::Fence;

use super::down::Down;
use super::order::{Impatience, Waiter};

/// How many users may wait for a resource at a node.
const MOST_WAITERS: usize = 10_000;

/// The user that is inside.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) ticket: u64,
    pub(super) fence: Fence,
    pub(super) since: Instant,
    /// Open as long as it is inside.
    pub(super) _span: tracing::Span,
}

/// The users of one resource: who is inside, and who waits, first come, first served.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) inside: Option<Holder>,
    waiting: VecDeque<Waiter>,
}

impl Line {
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.inside.is_none()
    }

    /// Puts a user at the end, or tells it why not.
    pub(super) fn join(&mut self, waiter: Waiter) {
        if self.waiting.len() >= MOST_WAITERS {
            refuse(waiter, Down::TooMany);
        } else if waiter.impatience == Impatience::Busy && !self.is_empty() {
            refuse(waiter, Down::Busy);
        } else {
            self.waiting.push_back(waiter);
        }
    }

    /// A user gives up.
    pub(super) fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|waiter| waiter.ticket != ticket);
    }

    /// The first user that still waits.
    pub(super) fn next(&mut self) -> Option<Waiter> {
        loop {
            let waiter = self.waiting.pop_front()?;
            if !waiter.reply.is_closed() {
                return Some(waiter);
            }
        }
    }

    /// Refuses those that do not wait for missing nodes.
    pub(super) fn refuse_impatient(&mut self, why: &Down) {
        let all = std::mem::take(&mut self.waiting);
        for waiter in all {
            match waiter.impatience {
                Impatience::None => self.waiting.push_back(waiter),
                Impatience::Missing | Impatience::Busy => refuse(waiter, why.clone()),
            }
        }
    }

    /// Refuses all.
    pub(super) fn refuse_all(&mut self, why: &Down) {
        self.waiting.drain(..).for_each(|waiter| refuse(waiter, why.clone()));
    }
}

fn refuse(waiter: Waiter, why: Down) {
    // Whoever has stopped waiting does not want to know.
    let _ = waiter.reply.send(Err(why));
}
