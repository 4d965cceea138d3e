//! What Banta's algorithms share: a good site to ask, and the epoch that tells old news from new.

use super::queue::NodeQueue;
use crate::message::{NodeId, Outbox, Refused};

/// A good site to send a request to, and when it became one.
///
/// The thesis has no epoch. Without it an update that arrives late, about a site that was good
/// once, can send a request back to where it comes from, and nobody is asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GoodSite {
    pub(super) site: NodeId,
    /// How often the good site had changed.
    pub(super) epoch: u64,
}

impl GoodSite {
    /// Node 0, at the beginning.
    pub(super) fn first() -> Self {
        Self { site: NodeId(0), epoch: 0 }
    }

    /// Refuses news that a node cannot get from another. They are of the last site on the token's
    /// queue, and go to all that are not on it; nor is the sender. `latest` is the epoch on the
    /// token, if it is here to tell.
    pub(super) fn check_news(
        self,
        me: NodeId,
        from: NodeId,
        nodes: usize,
        latest: Option<u64>,
    ) -> Result<(), Refused> {
        self.site.check_member(nodes)?;
        if self.site == me || self.site == from {
            return Err(Refused("a good site is not told of itself, nor tells of itself"));
        }
        if self.epoch == 0 {
            return Err(Refused("everybody knows the first good site"));
        }
        if latest.is_some_and(|latest| self.epoch > latest) {
            return Err(Refused("it has the token, and knows the latest good site"));
        }
        Self::check_epoch(self.epoch)
    }

    /// Refuses an epoch that has none after it.
    pub(super) fn check_epoch(epoch: u64) -> Result<(), Refused> {
        if epoch == u64::MAX {
            return Err(Refused("the good site cannot have changed so often"));
        }
        Ok(())
    }

    /// Refuses a request that would be passed on to the site that made it.
    pub(super) fn check_goes_on(self, site: NodeId) -> Result<(), Refused> {
        if self.site == site {
            return Err(Refused("the request would go back to where it comes from"));
        }
        Ok(())
    }

    /// Takes news, unless they are old.
    pub(super) fn learn(&mut self, news: Self) {
        if news.epoch > self.epoch {
            *self = news;
        }
    }

    /// The good site changes. Between two changes at a site the token comes, and its epoch was
    /// checked: there is one after it.
    pub(super) fn succeed(&mut self, site: NodeId) {
        *self = Self { site, epoch: self.epoch.saturating_add(1) };
    }
}

/// Tells all sites that are not on the queue, and so will not see the token soon, about the good
/// site. The sender knows.
pub(super) fn announce<M: Clone>(
    update: M,
    me: NodeId,
    nodes: usize,
    queue: &NodeQueue,
    out: &mut Outbox<M>,
) {
    out.broadcast(me.others(nodes).filter(|&site| !queue.contains(site)), update);
}

/// How many messages per entry costs at most where requests are forwarded, as far as that has been
/// explored.
pub(super) fn most_forwarded(nodes: usize) -> f64 {
    (2 * (nodes - 1)).max(nodes) as f64
}
