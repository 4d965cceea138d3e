//! What a node's user holds: a handle, and while it is inside a guard.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::cluster::Shared;
use super::data::{Guarded, InsideOf, data_mut};
use super::error::Down;
use crate::lock::sync::threads::Arc;
use crate::message::{Admission, Exclusive, Input, NodeId, Phase, Protocol, Violation};

/// The user of a node, for one resource. There is one at a time; it can be sent to another thread.
///
/// Locking borrows it mutably. So a user that is inside cannot ask again, which would be a
/// deadlock: the compiler refuses it.
pub struct Handle<P: Protocol, T> {
    shared: Arc<Shared<P, T>>,
    resource: usize,
    node: NodeId,
}

impl<P: Protocol, T> Handle<P, T> {
    pub(super) fn new(shared: Arc<Shared<P, T>>, resource: usize, node: NodeId) -> Self {
        Self { shared, resource, node }
    }

    /// Whose user this is.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Asks to enter, and waits until the node lets it in.
    ///
    /// # Errors
    /// If the cluster is down, or goes down meanwhile.
    pub fn lock(&mut self) -> Result<Guard<'_, P, T>, Down> {
        let let_in = self.ask(None)?;
        debug_assert!(let_in, "without a deadline nobody gives up");
        self.enter()
    }

    /// Asks to enter, and waits at most until the timeout.
    ///
    /// After a timeout the request is taken back, if the algorithm [can](Protocol::WITHDRAWS) do
    /// that. If not, it stands: either its node is let in later and leaves at once, or the next
    /// `lock` takes it over. If the entry and the timeout come at the same moment, the entry
    /// counts.
    ///
    /// # Errors
    /// If the cluster is down, or goes down meanwhile.
    pub fn lock_timeout(&mut self, timeout: Duration) -> Result<Option<Guard<'_, P, T>>, Down> {
        // A time that is never reached is no limit.
        let let_in = self.ask(Instant::now().checked_add(timeout))?;
        if let_in { self.enter().map(Some) } else { Ok(None) }
    }

    /// Enters if the node can let its user in at once: because it holds the token, has all
    /// permissions still, or coordinates and nobody is inside. If it had to ask anybody, it does
    /// not, and nothing has happened.
    ///
    /// An algorithm that always asks (Ricart's and Agrawala's, for one) never lets anybody in this
    /// way: use [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Errors
    /// If the cluster is down.
    pub fn try_lock(&mut self) -> Result<Option<Guard<'_, P, T>>, Down> {
        self.shared.check()?;
        self.check_outside()?;
        let post = self.shared.post(self.resource, self.node);
        let wires = self.shared.wires(self.resource, self.node);
        let entered = self.shared.watched(self.node, || {
            let mut state = post.state()?;
            if let Some(why) = &state.fate {
                return Ok(Err(why.clone()));
            }
            // A user that has given up still waits for its turn.
            let entered = if state.user.is_idle() { state.try_enter(&wires)? } else { false };
            Ok(Ok(entered))
        })??;
        if entered { self.enter().map(Some) } else { Ok(None) }
    }

    /// Asks and waits. Says whether the node lets us in before the time is up.
    fn ask(&self, deadline: Option<Instant>) -> Result<bool, Down> {
        self.shared.check()?;
        self.check_outside()?;
        let let_in = self.shared.watched(self.node, || {
            let mut state = self.shared.post(self.resource, self.node).state()?;
            if let Some(why) = &state.fate {
                return Ok(Err(why.clone()));
            }
            if state.gave_up {
                state.gave_up = false;
                return Ok(Ok(false));
            }
            state.step(Input::Request, 0, &self.shared.wires(self.resource, self.node)).map(Ok)
        })??;
        if let_in { Ok(true) } else { self.wait(deadline) }
    }

    fn wait(&self, deadline: Option<Instant>) -> Result<bool, Down> {
        let post = self.shared.post(self.resource, self.node);
        let mut state = post.state()?;
        let mut time_is_up = false;
        loop {
            self.shared.check()?;
            if let Some(why) = &state.fate {
                return Err(why.clone());
            }
            // Under one lock: either the entry or the end of the time comes first.
            if state.user.is_inside() {
                return Ok(true);
            }
            if time_is_up && P::WITHDRAWS {
                drop(state);
                return self.withdraw();
            }
            if time_is_up {
                state.gave_up = true;
                return Ok(false);
            }
            (state, time_is_up) = post.wait(state, deadline)?;
        }
    }

    /// Takes the request back, unless the entry comes first. Says whether it does.
    fn withdraw(&self) -> Result<bool, Down> {
        self.shared.watched(self.node, || {
            let mut state = self.shared.post(self.resource, self.node).state()?;
            if state.user.is_inside() {
                return Ok(true);
            }
            state.step(Input::Withdraw, 0, &self.shared.wires(self.resource, self.node))
        })
    }

    /// A user that is inside has borrowed the handle, unless its guard was forgotten. Then it never
    /// leaves, and all users must be told.
    fn check_outside(&self) -> Result<(), Down> {
        match self.shared.post(self.resource, self.node).state()?.user {
            Phase::Idle | Phase::Waiting => return Ok(()),
            Phase::Inside => {}
        }
        let why = Down::Forgotten(self.node);
        self.shared.bring_down(&why);
        Err(why)
    }

    /// The node has let us in. So no more users may be inside than the protocol allows, and the
    /// data must be free.
    fn enter(&mut self) -> Result<Guard<'_, P, T>, Down> {
        let handle: &Self = self;
        let resource = &handle.shared.resources[handle.resource];
        let most = handle.shared.post(handle.resource, handle.node).entries_at_a_time;
        // Relaxed: a user that was let in after another has left knows of it through the messages.
        let room = resource.inside.fetch_add(1, Ordering::Relaxed) < most;
        let inside = if room { P::Access::enter(&resource.data) } else { None };
        match inside {
            Some(inside) => Ok(Guard { inside: Some(inside), handle }),
            None => {
                let why = Down::Violation(Violation::NotExclusive(vec![handle.node]));
                handle.shared.bring_down(&why);
                Err(why)
            }
        }
    }

    fn leave(&self) {
        self.shared.resources[self.resource].inside.fetch_sub(1, Ordering::Relaxed);
        if self.shared.check().is_ok() {
            // If the node refuses, all other users are told. The user that leaves needs no answer.
            let _ = self.shared.step(self.resource, self.node, Input::Release, 0);
        }
    }
}

impl<P: Protocol, T> fmt::Debug for Handle<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("node", &self.node).finish_non_exhaustive()
    }
}

impl<P: Protocol, T> Drop for Handle<P, T> {
    fn drop(&mut self) {
        let post = self.shared.post(self.resource, self.node);
        // No guard can outlive the handle that it borrows: one that is still inside was forgotten.
        if post.is_inside() {
            self.shared.bring_down(&Down::Forgotten(self.node));
        }
        post.set_taken(false);
    }
}

/// Access to the data, from entry to exit. Dropping it leaves the critical section.
///
/// If the protocol lets in one user at a time ([`Exclusive`]), the data can be changed. If it lets
/// in several, the data is shared.
#[must_use = "dropping it leaves at once"]
pub struct Guard<'a, P: Protocol, T: 'a> {
    /// Only absent while being dropped.
    inside: Option<InsideOf<'a, P, T>>,
    handle: &'a Handle<P, T>,
}

impl<P: Protocol, T> Guard<'_, P, T> {
    /// The fence of this entry, and who may have died inside before it, where entries are
    /// [fenced](crate::message::Recovering). Show it to whatever the lock protects beside the data.
    pub fn admission(&self) -> Option<Admission> {
        let post = self.handle.shared.post(self.handle.resource, self.handle.node);
        post.node().admission().cloned()
    }
}

impl<P: Protocol, T> Deref for Guard<'_, P, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inside.as_ref().expect("only absent while being dropped")
    }
}

impl<P: Protocol, T: fmt::Debug> fmt::Debug for Guard<'_, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("node", &self.handle.node)
            .field("data", &**self)
            .finish_non_exhaustive()
    }
}

impl<P: Protocol<Access = Exclusive>, T> DerefMut for Guard<'_, P, T> {
    fn deref_mut(&mut self) -> &mut T {
        data_mut::<P, T>(self.inside.as_mut().expect("only absent while being dropped"))
    }
}

impl<P: Protocol, T> Drop for Guard<'_, P, T> {
    fn drop(&mut self) {
        // The data must be free before anybody else is let in.
        self.inside = None;
        self.handle.leave();
    }
}
