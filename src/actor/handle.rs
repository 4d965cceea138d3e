//! What a node's user holds: a handle, and while it is inside a guard.

use std::ops::{Deref, DerefMut};
use std::sync::{RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

use super::cluster::Shared;
use super::error::Down;
use super::post::{State, User};
use super::serve::Watch;
use crate::primitive::threads::{Arc, MutexGuard};
use crate::protocol::{Exclusive, Input, NodeId, Protocol};

/// The user of a node, for one resource. There is one at a time; it can be sent to another thread.
///
/// Locking borrows it mutably: who is inside cannot ask again, and need not find out by waiting for ever.
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

    /// Asks to enter, and waits at most so long.
    ///
    /// No algorithm here can take a request back. Who gives up leaves it standing: the node will be let in, and leave
    /// again at once; or the next `lock` gets what this one asked for. Where the time runs out and the entry comes in
    /// the same moment, it is an entry.
    ///
    /// # Errors
    /// If the cluster is down, or goes down meanwhile.
    pub fn lock_timeout(&mut self, timeout: Duration) -> Result<Option<Guard<'_, P, T>>, Down> {
        // A time that is never reached is no limit.
        let let_in = self.ask(Instant::now().checked_add(timeout))?;
        if let_in { self.enter().map(Some) } else { Ok(None) }
    }

    /// Enters if the node can let its user in at once: because it holds the token, has all permissions still, or
    /// coordinates and nobody is inside. If it had to ask anybody, it does not, and nothing has happened.
    ///
    /// An algorithm that always asks (Ricart's and Agrawala's, for one) never lets anybody in this way: use
    /// [`lock_timeout`](Self::lock_timeout).
    ///
    /// # Errors
    /// If the cluster is down.
    pub fn try_lock(&mut self) -> Result<Option<Guard<'_, P, T>>, Down> {
        let mut state = self.state()?;
        let entered = state.user == User::Idle && {
            let wires = self.shared.wires(self.resource, self.node);
            state.try_enter(&wires)?
        };
        drop(state);
        if entered { self.enter().map(Some) } else { Ok(None) }
    }

    /// Asks and waits. Says whether the node lets us in before the time is up.
    fn ask(&mut self, deadline: Option<Instant>) -> Result<bool, Down> {
        let outcome = self.ask_and_wait(deadline);
        if let Err(why @ (Down::Unexpected(_) | Down::NotAsked(_))) = &outcome {
            self.shared.bring_down(why);
        }
        outcome
    }

    fn ask_and_wait(&self, deadline: Option<Instant>) -> Result<bool, Down> {
        let _watch = Watch { shared: &self.shared, me: self.node };
        let post = self.shared.post(self.resource, self.node);
        let mut state = self.state()?;
        if state.user == User::GaveUp {
            state.user = User::Waiting;
        } else {
            state.step(Input::Request, &self.shared.wires(self.resource, self.node))?;
        }
        loop {
            if state.user == User::Inside {
                return Ok(true);
            }
            if let Some(down) = &state.down {
                return Err(down.clone());
            }
            let time_is_up;
            (state, time_is_up) = post.wait(state, deadline);
            // Under the same lock as the entry: one of the two comes first.
            if time_is_up && state.user == User::Waiting && state.down.is_none() {
                state.user = User::GaveUp;
                return Ok(false);
            }
        }
    }

    fn state(&self) -> Result<MutexGuard<'_, State<P>>, Down> {
        let state = self.shared.post(self.resource, self.node).state();
        match &state.down {
            Some(down) => Err(down.clone()),
            None => Ok(state),
        }
    }

    /// The node has let us in: so the data must be free.
    fn enter(&mut self) -> Result<Guard<'_, P, T>, Down> {
        let resource = &self.shared.resources[self.resource];
        let exclusive = self.state()?.node.entries_at_a_time() == 1;
        let access = if exclusive {
            match resource.data.try_write() {
                Ok(access) => Some(Access::Exclusive(access)),
                // A panic inside: the data is as it was left, as with `parking_lot`.
                Err(TryLockError::Poisoned(poisoned)) => {
                    Some(Access::Exclusive(poisoned.into_inner()))
                }
                Err(TryLockError::WouldBlock) => None,
            }
        } else {
            match resource.data.try_read() {
                Ok(access) => Some(Access::Shared(access)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    Some(Access::Shared(poisoned.into_inner()))
                }
                Err(TryLockError::WouldBlock) => None,
            }
        };
        let handle: &Self = self;
        match access {
            Some(access) => Ok(Guard { access: Some(access), handle }),
            None => {
                let why = Down::NotExclusive(handle.node);
                handle.shared.bring_down(&why);
                Err(why)
            }
        }
    }

    fn leave(&self) {
        let mut state = self.shared.post(self.resource, self.node).state();
        state.user = User::Idle;
        let down = state.down.is_some();
        drop(state);
        if !down && let Err(why) = self.shared.step(self.resource, self.node, Input::Release) {
            self.shared.bring_down(&why);
        }
    }
}

impl<P: Protocol, T> Drop for Handle<P, T> {
    fn drop(&mut self) {
        self.shared.post(self.resource, self.node).set_taken(false);
    }
}

/// Being inside. The data is free to use until it is dropped; dropping leaves.
///
/// For protocols that let in one at a time ([`Exclusive`]) it gives the data to be changed; for those that let in
/// several, to be shared.
#[must_use = "dropping it leaves at once"]
pub struct Guard<'a, P: Protocol, T> {
    /// Only absent while being dropped.
    access: Option<Access<'a, T>>,
    handle: &'a Handle<P, T>,
}

enum Access<'a, T> {
    Exclusive(RwLockWriteGuard<'a, T>),
    Shared(RwLockReadGuard<'a, T>),
}

impl<P: Protocol, T> Deref for Guard<'_, P, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.access.as_ref().expect("only absent while being dropped") {
            Access::Exclusive(data) => data,
            Access::Shared(data) => data,
        }
    }
}

impl<P: Exclusive, T> DerefMut for Guard<'_, P, T> {
    fn deref_mut(&mut self) -> &mut T {
        match self.access.as_mut().expect("only absent while being dropped") {
            Access::Exclusive(data) => data,
            Access::Shared(_) => unreachable!("an exclusive protocol lets in one at a time"),
        }
    }
}

impl<P: Protocol, T> Drop for Guard<'_, P, T> {
    fn drop(&mut self) {
        // The data must be free before anybody else is let in.
        self.access = None;
        self.handle.leave();
    }
}
