//! A post: a node of a cluster of actors with its state, its user, and how both are woken.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::error::Down;
use super::reach::Reach;
use super::record::{Record, Step};
use crate::lock::sync::threads::{Condvar, Mutex, MutexGuard, Sender, wait_until};
use crate::message::{
    Input, Message, NodeId, Outbox, Output, Phase, Protocol, Timer, Traffic, step_lock,
};

/// What an inbox takes.
pub(super) enum Mail<M> {
    /// From another node. In a traced cluster, `number` is that of the message in the trace.
    Message { resource: usize, from: NodeId, message: M, number: u64 },
    /// From the node itself: a timer to watch, in the life in which it was set.
    Timer { resource: usize, timer: Timer, due: Instant, life: u32 },
    /// From outside: what the node is to do.
    Order(Order),
    /// From another node, or on its behalf: it is down, or up again.
    Fate { node: NodeId, is_down: bool },
    /// No more.
    Stop,
}

/// What a node is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Elect,
    Crash,
    Recover,
    /// To stand still: what comes waits.
    Pause,
    Resume,
    /// To look who is cut off, and who is not any more.
    Look,
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

/// | user | gave up | by | then |
/// |---|---|---|---|
/// | `Idle` | no | `lock` | `Waiting`, or `Inside` at once |
/// | `Waiting` | no | the node lets it in | `Inside` |
/// | `Waiting` | no | its time runs out | `Idle` if the node can withdraw, else it gave up |
/// | `Waiting` | yes | the node lets it in | `Idle`: released at once |
/// | `Waiting` | yes | `lock` | `Waiting`, not given up: the old request stands for the new one |
/// | `Inside` | no | the guard is dropped | `Idle` |
pub(super) struct State<P: Protocol> {
    pub(super) node: P,
    pub(super) user: Phase,
    /// Whether the user no longer wants what it asked for.
    pub(super) gave_up: bool,
    out: Outbox<P::Message>,
    sent: Traffic,
    taken: bool,
    /// How often it has crashed.
    pub(super) life: u32,
    /// Whether it is down.
    pub(super) gone: bool,
    /// Why its user is not served any more, although the cluster goes on.
    pub(super) fate: Option<Down>,
}

impl<P: Protocol> Post<P> {
    pub(super) fn new(node: P) -> Self {
        let (me, entries_at_a_time) = (node.id(), node.entries_at_a_time());
        let state = State {
            node,
            user: Phase::Idle,
            gave_up: false,
            out: Outbox::new(),
            sent: Traffic::default(),
            taken: false,
            life: 0,
            gone: false,
            fate: None,
        };
        Self { me, state: Mutex::new(state), news: Condvar::new(), entries_at_a_time }
    }

    /// The state, unless the node panicked in the middle of changing it.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State<P>>, Down> {
        self.state.lock().map_err(|_| Down::Panicked(self.me))
    }

    /// The state, even if the node panicked: for everything but running the node.
    fn state_at_any_rate(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the handle, or gives it back. Says whether it was taken before.
    pub(super) fn set_taken(&self, taken: bool) -> bool {
        std::mem::replace(&mut self.state_at_any_rate().taken, taken)
    }

    /// Whether the user is inside.
    pub(super) fn is_inside(&self) -> bool {
        self.state_at_any_rate().user.is_inside()
    }

    /// The node as it is.
    pub(super) fn node(&self) -> P {
        self.state_at_any_rate().node.clone()
    }

    /// The node crashes: its timers are of a former life. Says which life begins.
    pub(super) fn crash(&self) -> u32 {
        let mut state = self.state_at_any_rate();
        state.life += 1;
        state.life
    }

    /// The node is up again, and its user may ask.
    pub(super) fn revive(&self) {
        let mut state = self.state_at_any_rate();
        (state.gone, state.fate) = (false, None);
    }

    pub(super) fn sent(&self) -> Traffic {
        self.state_at_any_rate().sent.clone()
    }

    /// Wakes the user, to see that it has been let in.
    pub(super) fn tell_user(&self) {
        self.news.notify_all();
    }

    /// Wakes the user because of a change outside the state. Locking the state first makes sure
    /// that a user that has not seen the change sleeps by now, and is woken.
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

/// How a node reaches the others, and where its steps are written down.
pub(super) struct Wires<'a, M> {
    pub(super) me: NodeId,
    pub(super) resource: usize,
    pub(super) inboxes: &'a [Sender<Mail<M>>],
    pub(super) reach: &'a Reach,
    pub(super) period: Duration,
    pub(super) record: Option<&'a Record>,
}

impl<P: Protocol> State<P> {
    /// Gives the node an input, and sends what comes of it. Messages leave while the state is
    /// locked, so that they are in flight in the order in which the node sent them. If the input is
    /// a message, `number` is that of the message. Says whether the user has been let in.
    #[inline]
    pub(super) fn step(
        &mut self,
        input: Input<P::Message>,
        number: u64,
        wires: &Wires<'_, P::Message>,
    ) -> Result<bool, Down> {
        let let_in = self.give(input, number, wires)?;
        if let_in && self.gave_up { self.leave_at_once(wires) } else { Ok(let_in) }
    }

    /// The user that is let in no longer wants to be.
    #[cold]
    fn leave_at_once(&mut self, wires: &Wires<'_, P::Message>) -> Result<bool, Down> {
        self.gave_up = false;
        self.give(Input::Release, 0, wires)
    }

    #[inline]
    fn give(
        &mut self,
        input: Input<P::Message>,
        number: u64,
        wires: &Wires<'_, P::Message>,
    ) -> Result<bool, Down> {
        let was_inside = self.user.is_inside();
        let writing = wires.record.map(|record| record.begin(wires.me, &input, number));
        step_lock(&mut self.node, &mut self.user, input, &mut self.out).map_err(Down::Violation)?;
        if !self.out.is_empty() || writing.is_some() {
            self.perform(wires, writing);
        }
        Ok(self.user.is_inside() && !was_inside)
    }

    /// Enters if the node can let its user in at once, without an answer from anybody. If not,
    /// nothing has happened.
    pub(super) fn try_enter(&mut self, wires: &Wires<'_, P::Message>) -> Result<bool, Down> {
        let before = self.node.clone();
        let mut user = self.user;
        step_lock(&mut self.node, &mut user, Input::Request, &mut self.out)
            .map_err(Down::Violation)?;
        if user.is_inside() {
            self.user = user;
            let asked: Input<P::Message> = Input::Request;
            let writing = wires.record.map(|record| record.begin(wires.me, &asked, 0));
            self.perform(wires, writing);
            Ok(true)
        } else {
            self.node = before;
            self.out.clear();
            Ok(false)
        }
    }

    /// Performs the node's outputs, and writes them down.
    fn perform(&mut self, wires: &Wires<'_, P::Message>, mut writing: Option<Step<'_>>) {
        let &Wires { me, resource, inboxes, reach, period, .. } = wires;
        let life = self.life;
        for output in self.out.drain() {
            let number = writing.as_mut().map_or(0, |writing| writing.output(&output));
            match output {
                Output::Send { to, message } => {
                    self.sent.count(message.kind());
                    if reach.is_cut(me, to) {
                        continue;
                    }
                    // Fails if the receiver is gone; then the cluster is down and everybody is
                    // told.
                    let mail = Mail::Message { resource, from: me, message, number };
                    let _ = inboxes[to.index()].send(mail);
                }
                Output::SetTimer { timer, periods } => {
                    // A time that is never reached is never waited for.
                    if let Some(due) = Instant::now().checked_add(period.saturating_mul(periods)) {
                        let _ =
                            inboxes[me.index()].send(Mail::Timer { resource, timer, due, life });
                    }
                }
                // `step_lock` has noted it; and the leader is in the node's state.
                Output::Enter | Output::Leader(_) => {}
            }
        }
    }
}
