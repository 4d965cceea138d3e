//! One resource at one node: its lock, while an epoch runs, and its user.

use exclusion::message::{Epoch, Fence, Input, Outbox, Output, Protocol, Violation, step_lock};

/// Where the user of a resource is.
///
/// | from | by | to |
/// |---|---|---|
/// | `Outside` | request | `Waiting` |
/// | `Waiting` | the lock lets it in | `Inside` |
/// | `Waiting` | withdraw, and the lock can or no epoch runs | `Outside` |
/// | `Waiting` | withdraw, and the lock cannot | `GaveUp` |
/// | `GaveUp` | request | `Waiting` |
/// | `GaveUp` | the lock lets it in, and it leaves at once; or the epoch ends | `Outside` |
/// | `Inside` | release | `Outside` |
///
/// The end of an epoch leaves a waiting user waiting, and a user that is inside inside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum User {
    /// Wants nothing.
    Outside,
    /// Waits, in this epoch or for the next one.
    Waiting,
    /// Waits no longer, but its request stands.
    GaveUp,
    /// Is in the critical section.
    Inside(Fence),
}

/// One resource at one node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Desk<P> {
    /// None while no epoch runs.
    lock: Option<P>,
    user: User,
    /// The greatest entry of the epoch that it knows of.
    entry: u64,
}

impl<P: Protocol> Desk<P> {
    pub(super) fn new() -> Self {
        Self { lock: None, user: User::Outside, entry: 0 }
    }

    pub(super) fn user(&self) -> User {
        self.user
    }

    pub(super) fn entry(&self) -> u64 {
        self.entry
    }

    pub(super) fn lock(&self) -> Option<&P> {
        self.lock.as_ref()
    }

    pub(super) fn is_inside(&self) -> bool {
        matches!(self.user, User::Inside(_))
    }

    /// An epoch begins with a fresh lock. A user that waits asks anew.
    pub(super) fn open(
        &mut self,
        lock: P,
        epoch: u64,
    ) -> Result<Vec<Output<P::Message>>, Violation> {
        (self.lock, self.entry) = (Some(lock), 0);
        let mut outputs = self.give(Input::Start, epoch)?;
        if self.user == User::Waiting {
            outputs.extend(self.give(Input::Request, epoch)?);
        }
        Ok(outputs)
    }

    /// The epoch is over: nothing of the lock counts any more.
    pub(super) fn close(&mut self) {
        self.lock = None;
        if self.user == User::GaveUp {
            self.user = User::Outside;
        }
    }

    /// The user asks. Says whether it may.
    pub(super) fn request(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        let stands = std::mem::replace(&mut self.user, User::Waiting) == User::GaveUp;
        if stands || self.lock.is_none() {
            Ok(Vec::new())
        } else {
            self.give(Input::Request, epoch)
        }
    }

    /// The user leaves.
    pub(super) fn release(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        self.user = User::Outside;
        // A user that has outlived its epoch has nobody to tell.
        let inside = self.lock.as_ref().is_some_and(|lock| lock.phase().is_inside());
        if inside { self.give(Input::Release, epoch) } else { Ok(Vec::new()) }
    }

    /// The user waits no longer.
    pub(super) fn withdraw(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        match (&self.lock, P::WITHDRAWS) {
            (Some(_), true) => {
                self.user = User::Outside;
                self.give(Input::Withdraw, epoch)
            }
            (Some(_), false) => {
                self.user = User::GaveUp;
                Ok(Vec::new())
            }
            (None, _) => {
                self.user = User::Outside;
                Ok(Vec::new())
            }
        }
    }

    /// Gives the lock an input that came with the greatest entry that a peer knows of.
    pub(super) fn receive(
        &mut self,
        input: Input<P::Message>,
        entry: u64,
        epoch: u64,
    ) -> Result<Vec<Output<P::Message>>, Violation> {
        let before = self.entry;
        self.entry = before.max(entry);
        self.give(input, epoch).inspect_err(|_| self.entry = before)
    }

    /// Gives the lock an input. If it lets in a user that gave up, the user leaves at once.
    pub(super) fn give(
        &mut self,
        input: Input<P::Message>,
        epoch: u64,
    ) -> Result<Vec<Output<P::Message>>, Violation> {
        let Some(lock) = &mut self.lock else { return Ok(Vec::new()) };
        let (mut out, mut phase) = (Outbox::new(), lock.phase());
        step_lock(lock, &mut phase, input, &mut out)?;
        let mut outputs: Vec<_> = out.drain().collect();
        if outputs.last() == Some(&Output::Enter) {
            self.entry += 1;
            if self.user == User::GaveUp {
                outputs.pop();
                self.user = User::Outside;
                outputs.extend(self.give(Input::Release, epoch)?);
            } else {
                self.user =
                    User::Inside(Fence { epoch: Epoch::numbered(epoch), entry: self.entry });
            }
        }
        Ok(outputs)
    }
}
