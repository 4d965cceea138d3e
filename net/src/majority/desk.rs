//! One resource at one node: its lock in the present view, and its user.

use std::collections::{BTreeMap, VecDeque};

use exclusion::message::{Epoch, step_lock};
use exclusion::message::{Fence, Input, NodeId, NodeSet, Outbox, Output, Protocol, Violation};

/// Where the user of a resource is.
///
/// | from | by | to |
/// |---|---|---|
/// | `Outside` | request | `Waiting` |
/// | `Waiting` | the lock lets it in | `Inside` |
/// | `Waiting` | withdraw, and the lock can or there is none | `Outside` |
/// | `Waiting` | withdraw, and the lock cannot | `GaveUp` |
/// | `GaveUp` | request | `Waiting` |
/// | `GaveUp` | the lock lets it in, and it leaves at once; or the view is over | `Outside` |
/// | `Inside` | release | `Outside` |
///
/// The end of a view leaves a waiting user waiting, and a user that is inside inside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum User {
    /// Wants nothing.
    Outside,
    /// Waits, in this view or for the next one.
    Waiting,
    /// Waits no longer, but its request stands.
    GaveUp,
    /// Is in the critical section.
    Inside(Fence),
}

/// The lock of the view.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Lock<P> {
    /// The node is not a member, or a user of an earlier view is not known to be outside.
    Closed,
    /// Nobody else is a member.
    Alone,
    /// Among the members, by their places.
    Among(P),
}

/// One resource at one node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Desk<P: Protocol> {
    pub(super) lock: Lock<P>,
    pub(super) user: User,
    /// The greatest entry of the view that it knows of.
    pub(super) entry: u64,
    /// The greatest fence that it knows to have been given to a user.
    pub(super) fence: Option<Fence>,
    /// The members that have said that their users of earlier views are outside, and the greatest
    /// fence that each knew of.
    pub(super) free: BTreeMap<NodeId, Option<Fence>>,
    /// Who may have died inside: for the first that enters in this view.
    pub(super) perhaps_inside: NodeSet,
    /// What members say whose lock is open before this one.
    pub(super) early: VecDeque<(NodeId, u64, P::Message)>,
}

impl<P: Protocol> Desk<P> {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            lock: Lock::Closed,
            user: User::Outside,
            entry: 0,
            fence: None,
            free: BTreeMap::new(),
            perhaps_inside: NodeSet::empty(nodes),
            early: VecDeque::new(),
        }
    }

    pub(super) fn is_inside(&self) -> bool {
        matches!(self.user, User::Inside(_))
    }

    /// The view is over: nothing of its lock counts any more.
    pub(super) fn close(&mut self) {
        self.lock = Lock::Closed;
        self.entry = 0;
        self.free.clear();
        self.early.clear();
        if self.user == User::GaveUp {
            self.user = User::Outside;
        }
    }

    /// The user asks.
    pub(super) fn request(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        let stands = std::mem::replace(&mut self.user, User::Waiting) == User::GaveUp;
        if stands { Ok(Vec::new()) } else { self.give(Input::Request, epoch) }
    }

    /// The user leaves.
    pub(super) fn release(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        self.user = User::Outside;
        match &self.lock {
            Lock::Among(lock) if lock.phase().is_inside() => self.give(Input::Release, epoch),
            // A user that has outlived its view has nobody to tell.
            _ => Ok(Vec::new()),
        }
    }

    /// The user waits no longer.
    pub(super) fn withdraw(&mut self, epoch: u64) -> Result<Vec<Output<P::Message>>, Violation> {
        match &self.lock {
            Lock::Among(_) if P::WITHDRAWS => {
                self.user = User::Outside;
                self.give(Input::Withdraw, epoch)
            }
            Lock::Among(_) => {
                self.user = User::GaveUp;
                Ok(Vec::new())
            }
            Lock::Alone | Lock::Closed => {
                self.user = User::Outside;
                Ok(Vec::new())
            }
        }
    }

    /// Gives the lock a message that came with the greatest entry that its sender knows of.
    pub(super) fn receive(
        &mut self,
        from: NodeId,
        entry: u64,
        message: P::Message,
        epoch: u64,
    ) -> Result<Vec<Output<P::Message>>, Violation> {
        let before = self.entry;
        self.entry = before.max(entry);
        let given = self.give(Input::Receive { from, message }, epoch);
        given.inspect_err(|_| self.entry = before)
    }

    /// Gives the lock an input. If it lets in a user that gave up, the user leaves at once.
    pub(super) fn give(
        &mut self,
        input: Input<P::Message>,
        epoch: u64,
    ) -> Result<Vec<Output<P::Message>>, Violation> {
        let mut outputs: Vec<_> = match &mut self.lock {
            Lock::Closed => Vec::new(),
            Lock::Alone if input == Input::Request => vec![Output::Enter],
            Lock::Alone => Vec::new(),
            Lock::Among(lock) => {
                let (mut out, mut phase) = (Outbox::new(), lock.phase());
                step_lock(lock, &mut phase, input, &mut out)?;
                out.drain().collect()
            }
        };
        if outputs.last() == Some(&Output::Enter) {
            if self.user == User::GaveUp {
                outputs.pop();
                self.user = User::Outside;
                outputs.extend(self.give(Input::Release, epoch)?);
            } else {
                self.entry += 1;
                let fence = Fence { epoch: Epoch::numbered(epoch), entry: self.entry };
                self.user = User::Inside(fence);
            }
        }
        Ok(outputs)
    }
}
