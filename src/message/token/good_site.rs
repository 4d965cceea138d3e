//! What Banta's algorithms share: a good site to ask, the queue on the token, and the epoch that tells old news from new.

use std::collections::VecDeque;

use crate::message::{NodeId, Outbox};

/// A good site to send a request to, and when it became one.
///
/// The thesis has no epoch. Without it an update that arrives late, about a site that was good once, can send a
/// request back to where it comes from, and nobody is asked.
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

    /// Takes news, unless they are old.
    pub(super) fn learn(&mut self, news: Self) {
        if news.epoch > self.epoch {
            *self = news;
        }
    }

    /// The good site changes.
    pub(super) fn succeed(&mut self, site: NodeId) {
        *self = Self { site, epoch: self.epoch + 1 };
    }
}

/// Puts sites behind a queue, none of them twice. Says whether there was one to put.
pub(super) fn append(
    queue: &mut VecDeque<NodeId>,
    sites: impl IntoIterator<Item = NodeId>,
) -> bool {
    let before = queue.len();
    for site in sites {
        if !queue.contains(&site) {
            queue.push_back(site);
        }
    }
    queue.len() > before
}

/// Tells all who are not on the queue, and so will not see the token soon, about the good site. The sender knows.
pub(super) fn announce<M: Clone>(
    update: M,
    me: NodeId,
    nodes: usize,
    queue: &VecDeque<NodeId>,
    out: &mut Outbox<M>,
) {
    out.broadcast(me.others(nodes).filter(|site| !queue.contains(site)), update);
}

/// How many messages an entry costs at most where requests are forwarded, as far as that has been explored.
pub(super) fn most_forwarded(nodes: usize) -> f64 {
    (2 * (nodes - 1)).max(nodes) as f64
}
