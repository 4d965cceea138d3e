//! A node at its post: its state, its user, and how both are woken.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::error::Down;
use crate::lock::sync::threads::{Condvar, Mutex, MutexGuard, Sender, wait_until};
use crate::message::{Input, Message, NodeId, Outbox, Protocol, Timer, Traffic, step};

/// What an inbox takes.
pub(super) enum Mail<M> {
    /// From another node.
    Message { resource: usize, from: NodeId, message: M },
    /// From oneself: a timer to watch.
    Timer { resource: usize, timer: Timer, due: Instant },
    /// No more.
    Stop,
}

/// Where a node's user is.
///
/// | from | by | to |
/// |---|---|---|
/// | `Idle` | `lock` | `Waiting`, or `Inside` at once |
/// | `Waiting` | the node lets it in | `Inside` |
/// | `Waiting` | its time runs out | `GaveUp` |
/// | `GaveUp` | the node lets it in | `Idle`: released at once |
/// | `GaveUp` | `lock` | `Waiting`: the old request serves the new wish |
/// | `Inside` | the guard is dropped | `Idle` |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum User {
    Idle,
    Waiting,
    GaveUp,
    Inside,
}

/// One node of one resource.
pub(super) struct Post<P: Protocol> {
    me: NodeId,
    state: Mutex<State<P>>,
    /// The user is let in, or the cluster is down.
    news: Condvar,
    /// How many it lets in at a time.
    pub(super) entries_at_a_time: usize,
}

pub(super) struct State<P: Protocol> {
    node: P,
    pub(super) user: User,
    out: Outbox<P::Message>,
    sent: Traffic,
    taken: bool,
}

impl<P: Protocol> Post<P> {
    pub(super) fn new(me: NodeId, node: P) -> Self {
        let entries_at_a_time = node.entries_at_a_time();
        let state = State {
            node,
            user: User::Idle,
            out: Outbox::new(me),
            sent: Traffic::default(),
            taken: false,
        };
        Self { me, state: Mutex::new(state), news: Condvar::new(), entries_at_a_time }
    }

    /// The state, unless the node panicked in the middle of changing it.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State<P>>, Down> {
        self.state.lock().map_err(|_| Down::Panicked(self.me))
    }

    /// The state, whatever it is like: for all but the node itself.
    fn state_at_any_rate(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the handle, or gives it back. Says whether it was taken before.
    pub(super) fn set_taken(&self, taken: bool) -> bool {
        std::mem::replace(&mut self.state_at_any_rate().taken, taken)
    }

    pub(super) fn sent(&self) -> Traffic {
        self.state_at_any_rate().sent.clone()
    }

    /// Wakes the user, to see that it has been let in.
    pub(super) fn tell_user(&self) {
        self.news.notify_all();
    }

    /// Wakes the user, to see something that is not in the state: whoever has looked before sleeps by now.
    pub(super) fn tell_user_of_elsewhere(&self) {
        drop(self.state_at_any_rate());
        self.news.notify_all();
    }

    /// Waits for news, at most until the deadline. Says whether the time is up.
    pub(super) fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, State<P>>,
        deadline: Option<Instant>,
    ) -> Result<(MutexGuard<'a, State<P>>, bool), Down> {
        let panicked = Down::Panicked(self.me);
        let Some(deadline) = deadline else {
            return self.news.wait(state).map(|state| (state, false)).map_err(|_| panicked);
        };
        wait_until(&self.news, state, &self.state, deadline).ok_or(panicked)
    }
}

/// How a node reaches the others.
pub(super) struct Wires<'a, M> {
    pub(super) me: NodeId,
    pub(super) resource: usize,
    pub(super) inboxes: &'a [Sender<Mail<M>>],
    pub(super) period: Duration,
}

impl<P: Protocol> State<P> {
    /// Gives the node an input, and sends what comes of it. Messages leave while the state is locked, so that they
    /// are on their way in the order in which the node sent them. Says whether the user has been let in.
    pub(super) fn step(
        &mut self,
        input: Input<P::Message>,
        wires: &Wires<'_, P::Message>,
    ) -> Result<bool, Down> {
        let user = match input {
            Input::Request => User::Waiting,
            Input::Release => User::Idle,
            Input::Start | Input::Receive { .. } | Input::Timeout(_) => self.user,
        };
        step(&mut self.node, input, &mut self.out).map_err(Down::Unexpected)?;
        self.user = user;
        self.send(wires)?;
        if !self.out.take_entry() {
            return Ok(false);
        }
        match self.user {
            User::Waiting => {
                self.user = User::Inside;
                Ok(true)
            }
            User::GaveUp => self.step(Input::Release, wires),
            User::Idle | User::Inside => Err(Down::NotAsked(wires.me)),
        }
    }

    /// Enters if the node can let its user in at once, without an answer from anybody. If not, nothing has happened.
    pub(super) fn try_enter(&mut self, wires: &Wires<'_, P::Message>) -> Result<bool, Down> {
        let before = self.node.clone();
        step(&mut self.node, Input::Request, &mut self.out).map_err(Down::Unexpected)?;
        if self.out.take_entry() {
            self.send(wires)?;
            self.user = User::Inside;
            Ok(true)
        } else {
            self.node = before;
            self.out.readdress(wires.me);
            Ok(false)
        }
    }

    fn send(&mut self, wires: &Wires<'_, P::Message>) -> Result<(), Down> {
        let &Wires { me, resource, inboxes, period } = wires;
        for (to, message) in self.out.sent() {
            let Some(inbox) = inboxes.get(to.index()) else {
                return Err(Down::NoSuchNode { from: me, to });
            };
            self.sent.count(message.kind());
            // Fails if the receiver is gone; then the cluster is down and everybody is told.
            let _ = inbox.send(Mail::Message { resource, from: me, message });
        }
        for (timer, periods) in self.out.timers() {
            // A time that is never reached is never waited for.
            if let Some(due) = Instant::now().checked_add(period.saturating_mul(periods)) {
                let _ = inboxes[me.index()].send(Mail::Timer { resource, timer, due });
            }
        }
        Ok(())
    }
}
