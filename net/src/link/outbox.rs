//! What is on its way to a peer: bounded, by frames and by bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc;

/// How many frames may wait to be sent over a session.
const MOST_FRAMES: usize = 8192;
/// How many bytes.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Where frames are put.
#[derive(Debug)]
pub(super) struct Outbox {
    frames: mpsc::Sender<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
}

/// Where they are taken out.
#[derive(Debug)]
pub(super) struct Outgoing {
    frames: mpsc::Receiver<Vec<u8>>,
    bytes: Arc<AtomicUsize>,
}

pub(super) fn outbox() -> (Outbox, Outgoing) {
    let (sender, receiver) = mpsc::channel(MOST_FRAMES);
    let bytes = Arc::new(AtomicUsize::new(0));
    (Outbox { frames: sender, bytes: bytes.clone() }, Outgoing { frames: receiver, bytes })
}

impl Outbox {
    /// Puts a frame in.
    ///
    /// # Errors
    /// If it is full, or nobody takes anything out any more.
    pub(super) fn put(&self, frame: Vec<u8>) -> Result<(), &'static str> {
        // Relaxed: the count is only a bound. The channel carries the frames.
        let before = self.bytes.fetch_add(frame.len(), Ordering::Relaxed);
        if before + frame.len() > MOST_BYTES {
            return Err("it takes too slowly what it is sent");
        }
        self.frames.try_send(frame).map_err(|why| match why {
            mpsc::error::TrySendError::Full(_) => "it takes too slowly what it is sent",
            mpsc::error::TrySendError::Closed(_) => "the session was lost",
        })
    }
}

impl Outgoing {
    /// The next frame. None once there will be none.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        let frame = self.frames.recv().await?;
        self.bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }

    /// The next one, if it is there already.
    pub(super) fn ready(&mut self) -> Option<Vec<u8>> {
        let frame = self.frames.try_recv().ok()?;
        self.bytes.fetch_sub(frame.len(), Ordering::Relaxed);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_outbox_is_bounded_by_frames_and_by_bytes() {
        let (small, mut outgoing) = outbox();
        assert!((0..MOST_FRAMES).all(|_| small.put(vec![1]).is_ok()));
        assert!(small.put(vec![1]).is_err());
        assert_eq!(outgoing.next().await, Some(vec![1]));

        let (large, mut outgoing) = outbox();
        assert!((0..4).all(|_| large.put(vec![0; MOST_BYTES / 4]).is_ok()));
        assert!(large.put(vec![0; 1]).is_err());
        assert_eq!(outgoing.ready().map(|frame| frame.len()), Some(MOST_BYTES / 4));
        drop(outgoing);
        assert!(large.put(Vec::new()).is_err());
    }
}
