//! What users hold: a handle of a resource, and a guard while they are inside.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use exclusion::message::Fence;
use tokio::sync::oneshot;

use super::down::Down;
use super::order::{Desk, Impatience, Order, Waiter};

/// No two requests of a process have the same.
static TICKETS: AtomicU64 = AtomicU64::new(1);

/// A resource, as the users of one node see it. Any number of them may be made.
#[derive(Clone, Debug)]
pub struct Handle {
    desk: Desk,
    resource: usize,
    name: std::sync::Arc<str>,
    impatience: Impatience,
    /// How long [`try_lock`](Handle::try_lock) waits for answers.
    patience: Duration,
}

impl Handle {
    pub(super) fn new(desk: Desk, resource: usize, name: &str, period: Duration) -> Self {
        let (name, impatience) = (name.into(), Impatience::None);
        Self { desk, resource, name, impatience, patience: period * 2 }
    }

    /// The name of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same resource, for a user that wants an error, instead of a wait, while nodes are
    /// missing: at once, or when a session ends while it waits.
    #[must_use]
    pub fn unless_incomplete(&self) -> Self {
        Self { impatience: Impatience::Missing, ..self.clone() }
    }

    /// Waits until it is inside. If the future is dropped, the request is taken back.
    ///
    /// # Errors
    /// If the node is shut down or cannot go on; or if nodes are missing, and the user did not want
    /// to [wait](Self::unless_incomplete) for them.
    pub async fn lock(&self) -> Result<Guard, Down> {
        self.ask(self.impatience).await
    }

    /// Waits for so long at most.
    ///
    /// # Errors
    /// As [`lock`](Self::lock), or [`Down::TimedOut`].
    pub async fn lock_within(&self, limit: Duration) -> Result<Guard, Down> {
        let asked = self.ask(self.impatience);
        tokio::time::timeout(limit, asked).await.unwrap_or(Err(Down::TimedOut))
    }

    /// Waits until then at most.
    ///
    /// # Errors
    /// As [`lock_within`](Self::lock_within).
    pub async fn lock_by(&self, deadline: Instant) -> Result<Guard, Down> {
        self.lock_within(deadline.saturating_duration_since(Instant::now())).await
    }

    /// Enters if nobody is inside or waits. It waits for the answers of other nodes, though not
    /// longer than two periods of the configuration.
    ///
    /// # Errors
    /// [`Down::Busy`] if somebody is inside or waits, or an answer took longer;
    /// [`Down::Incomplete`] if nodes are missing.
    pub async fn try_lock(&self) -> Result<Guard, Down> {
        let asked = self.ask(Impatience::Busy);
        tokio::time::timeout(self.patience, asked).await.unwrap_or(Err(Down::Busy))
    }

    async fn ask(&self, impatience: Impatience) -> Result<Guard, Down> {
        // Relaxed: nothing but a number that is not used twice.
        let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let span = tracing::debug_span!("wait", resource = &*self.name, ticket);
        let waiter = Waiter { ticket, impatience, since: Instant::now(), span, reply };
        if self.desk.orders.send(Order::Ask(self.resource, waiter)).is_err() {
            return Err(self.why_over());
        }
        let mut asking = Asking { handle: self, ticket, waits: true };
        let answer = answer.await;
        asking.waits = false;
        answer.unwrap_or_else(|_| Err(self.why_over()))
    }

    fn why_over(&self) -> Down {
        self.desk.over.borrow().clone().unwrap_or(Down::Closed)
    }
}

/// A request that is taken back if it is dropped.
struct Asking<'a> {
    handle: &'a Handle,
    ticket: u64,
    waits: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if self.waits {
            let Handle { desk, resource, .. } = self.handle;
            let order = Order::GiveUp { resource: *resource, ticket: self.ticket };
            let _ = desk.orders.send(order);
        }
    }
}

/// A user is inside as long as it has this.
///
/// In the strict mode nobody else enters before it is dropped, whatever happens to the network:
/// the end of an epoch keeps the others out, not this one.
#[derive(Debug)]
pub struct Guard {
    desk: Desk,
    resource: usize,
    ticket: u64,
    fence: Fence,
}

impl Guard {
    pub(super) fn new(desk: Desk, resource: usize, ticket: u64, fence: Fence) -> Self {
        Self { desk, resource, ticket, fence }
    }

    /// The number of the entry: greater than that of any entry before.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// Resolves when the guard can no longer be trusted, and says why: the node is being shut down
    /// and waits for the guard, or it has broken down.
    pub async fn lost(&self) -> Down {
        let mut over = self.desk.over.clone();
        let why = over.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or(Down::Closed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let order = Order::Release { resource: self.resource, ticket: self.ticket };
        // A node that is gone says no hello any more, so there is nobody to tell.
        let _ = self.desk.orders.send(order);
    }
}
