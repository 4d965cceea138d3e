//! What a user has while it is inside.

use std::fmt;

use exclusion::message::{Admission, Fence, NodeSet};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::actor::Event;

/// A user is inside, as far as its node knows. Dropping it leaves.
///
/// Show [`fence`](Self::fence) to whatever is protected, with every write: a guard that is
/// [`lost`](Self::lost) does not stop its holder. See the [module](super).
pub struct Guard {
    pub(super) admission: Admission,
    pub(super) resource: usize,
    pub(super) lost: watch::Receiver<bool>,
    pub(super) lease: watch::Receiver<Option<Instant>>,
    pub(super) events: mpsc::UnboundedSender<Event>,
}

impl Guard {
    /// What to show to the resource.
    pub fn fence(&self) -> Fence {
        self.admission.fence
    }

    /// The nodes that were lost since the last entry. What one of them was writing may be half
    /// done.
    pub fn perhaps_inside(&self) -> &NodeSet {
        &self.admission.perhaps_inside
    }

    /// Until when the guard can be trusted, unless its lease is renewed. None if it is lost.
    pub fn lease(&self) -> Option<Instant> {
        let until = (*self.lease.borrow()).filter(|_| !*self.lost.borrow());
        until.filter(|&until| Instant::now() < until)
    }

    /// Whether the guard can still be trusted, by the clock of this machine.
    pub fn is_valid(&self) -> bool {
        self.lease().is_some()
    }

    /// Waits until the guard can no longer be trusted: its lease has ended, its node was excluded
    /// from the view, or its node has stopped.
    pub async fn lost(&self) {
        let (mut lost, mut lease) = (self.lost.clone(), self.lease.clone());
        while let Some(until) = self.lease() {
            let gone = tokio::select! {
                changed = lost.changed() => changed.is_err(),
                changed = lease.changed() => changed.is_err(),
                () = tokio::time::sleep_until(until) => false,
            };
            if gone {
                return;
            }
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fence, lease) = (self.fence(), self.lease());
        f.debug_struct("Guard").field("fence", &fence).field("lease", &lease).finish()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A node that has stopped needs not to be told.
        let _ = self.events.send(Event::Release { resource: self.resource });
    }
}
