//! Letters on their way to one other member: each is taken there once, in order, within a view.
//!
//! They are numbered from the beginning of the view. One call is under way at a time, with what has
//! not been acknowledged; it is repeated until the answer comes. A node that is restarted comes
//! back in a later view only, so there is nothing to be remembered about an earlier one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exclusion::message::NodeId;
use tokio::sync::Notify;

use super::transport::MOST_BYTES;
use super::wire::{Batch, Call, Caller, Receipt, Reply};

/// How many letters may wait. A node whose letters are not taken stops, and does not grow.
const MOST_WAITING: usize = 1 << 16;

/// How many letters, and of how many bytes, are in one call. A letter is no longer than that.
const MOST_IN_CALL: (usize, usize) = (256, MOST_BYTES / 2);

#[derive(Default)]
struct Waiting {
    epoch: u64,
    first: u64,
    letters: VecDeque<Vec<u8>>,
    /// The peer takes nothing more in this view.
    over: bool,
}

/// The letters to one member.
pub(super) struct Post {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

impl Post {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::default(), bell: Notify::new() })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A view begins: nothing of an earlier one is sent any more.
    pub(super) fn begin(&self, epoch: u64) {
        *self.waiting() = Waiting { epoch, ..Waiting::default() };
    }

    /// Puts a letter in. Says whether there was room.
    pub(super) fn push(&self, letter: Vec<u8>) -> bool {
        let mut waiting = self.waiting();
        if waiting.letters.len() >= MOST_WAITING || letter.len() > MOST_IN_CALL.1 {
            return false;
        }
        waiting.letters.push_back(letter);
        self.bell.notify_one();
        true
    }

    fn next(&self) -> Option<Batch> {
        let waiting = self.waiting();
        let mut bytes = 0;
        let fit = waiting.letters.iter().take_while(|letter| {
            bytes += letter.len();
            bytes <= MOST_IN_CALL.1
        });
        let letters: Vec<_> = fit.take(MOST_IN_CALL.0).cloned().collect();
        let is_none = waiting.over || letters.is_empty();
        (!is_none).then_some(Batch { epoch: waiting.epoch, first: waiting.first, letters })
    }

    fn settle(&self, epoch: u64, receipt: Receipt) {
        let mut waiting = self.waiting();
        if waiting.epoch != epoch {
            return;
        }
        match receipt {
            Receipt::Taken(next) => {
                while waiting.first < next && waiting.letters.pop_front().is_some() {
                    waiting.first += 1;
                }
            }
            Receipt::Early => {}
            Receipt::Over => waiting.over = true,
        }
    }

    /// Brings the letters to the peer, for ever.
    pub(super) async fn carry(self: Arc<Self>, caller: Caller, peer: NodeId, wait: Duration) {
        loop {
            let Some(batch) = self.next() else {
                self.bell.notified().await;
                continue;
            };
            let epoch = batch.epoch;
            let reply = caller.call(peer, Call::Letters(batch), wait).await;
            match reply {
                Ok(Reply::Letters(receipt @ Receipt::Taken(_))) => {
                    self.settle(epoch, receipt);
                    continue;
                }
                Ok(Reply::Letters(receipt)) => self.settle(epoch, receipt),
                Ok(other) => tracing::debug!(%peer, ?other, "letters are not taken"),
                Err(error) => tracing::debug!(%peer, %error, "letters are not taken"),
            }
            tokio::time::sleep(wait / 20).await;
        }
    }
}
