//! A node at its post: its state, its user, and how both are woken.

use std::time::{Duration, Instant};

use super::error::Down;
use crate::primitive::threads::{Condvar, Mutex, MutexGuard, Sender};
use crate::protocol::{Input, Message, NodeId, Outbox, Protocol, Timer, Traffic, step};

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
    state: Mutex<State<P>>,
    /// The user is let in, or the cluster is down.
    news: Condvar,
    /// Whether it lets in one at a time.
    pub(super) exclusive: bool,
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
        let exclusive = node.entries_at_a_time() == 1;
        let state = State {
            node,
            user: User::Idle,
            out: Outbox::new(me),
            sent: Traffic::default(),
            taken: false,
        };
        Self { state: Mutex::new(state), news: Condvar::new(), exclusive }
    }

    /// Whoever panicked has brought the cluster down; what it leaves behind is looked at by nobody who minds.
    pub(super) fn state(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the handle, or gives it back. Says whether it was taken before.
    pub(super) fn set_taken(&self, taken: bool) -> bool {
        std::mem::replace(&mut self.state().taken, taken)
    }

    pub(super) fn sent(&self) -> Traffic {
        self.state().sent.clone()
    }

    /// Wakes the user to look for news. To be called unlocked after what is new was written under the lock, or with
    /// `state` taken in between: or the user may have looked just before, and sleep just after.
    pub(super) fn tell_user(&self) {
        self.news.notify_all();
    }

    /// Waits for news, at most until the deadline. Says whether the time is up.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State<P>>,
        deadline: Option<Instant>,
    ) -> (MutexGuard<'a, State<P>>, bool) {
        let Some(deadline) = deadline else {
            return (self.news.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()), false);
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let (state, _) =
            self.news.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner());
        (state, Instant::now() >= deadline)
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
        match input {
            Input::Request => self.user = User::Waiting,
            Input::Release => self.user = User::Idle,
            Input::Receive { .. } | Input::Timeout(_) => {}
        }
        step(&mut self.node, input, &mut self.out).map_err(Down::Unexpected)?;
        self.send(wires);
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
            self.send(wires);
            self.user = User::Inside;
            Ok(true)
        } else {
            self.node = before;
            self.out.readdress(wires.me);
            Ok(false)
        }
    }

    fn send(&mut self, wires: &Wires<'_, P::Message>) {
        let &Wires { me, resource, inboxes, period } = wires;
        for (to, message) in self.out.sent() {
            self.sent.count(message.kind());
            // Fails if the receiver is gone; then the cluster is down and everybody is told.
            let _ = inboxes[to.index()].send(Mail::Message { resource, from: me, message });
        }
        for (timer, periods) in self.out.timers() {
            let due = Instant::now() + period * periods;
            let _ = inboxes[me.index()].send(Mail::Timer { resource, timer, due });
        }
    }
}
