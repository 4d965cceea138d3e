//! The log and the vote of the consensus engine, on disk.
//!
//! One piece of the [medium](super::medium) has them all, as [frames](super::frame): each frame is
//! one change, and is durable before it is acknowledged. When the engine drops the beginning of its
//! log, the piece is written anew.
//!
//! After a write that failed nothing is written any more: what is on the disk is not known then,
//! and a second `fsync` that succeeds says nothing about the first. The engine stops, and with it
//! the node.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openraft::storage::{LogFlushed, LogState, RaftLogStorage};
use openraft::{
    Entry, ErrorSubject, ErrorVerb, LogId, OptionalSend, RaftLogReader, StorageError,
    StorageIOError, Vote,
};
use serde::{Deserialize, Serialize};

use super::frame;
use super::medium::Medium;
use super::roster::{Command, Stale};

/// What the roster says to a command: the epoch that holds now, or why nothing has changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verdict(pub Result<u64, Stale>);

openraft::declare_raft_types!(
    /// What the consensus engine is about.
    pub Types:
        D = Command,
        R = Verdict,
        NodeId = u64,
        Node = openraft::EmptyNode,
        SnapshotData = Vec<u8>,
);

/// The name of the log's piece.
const LOG: &str = "log";

/// A change of the log.
#[derive(Serialize, Deserialize)]
enum Record {
    Vote(Vote<u64>),
    Append(Vec<Entry<Types>>),
    /// From this index on nothing is left.
    Truncate(u64),
    /// All there is, up to here.
    Whole(Log),
}

/// What the frames add up to.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Log {
    vote: Option<Vote<u64>>,
    purged: Option<LogId<u64>>,
    entries: BTreeMap<u64, Entry<Types>>,
}

impl Log {
    fn take(&mut self, record: Record) {
        match record {
            Record::Vote(vote) => self.vote = Some(vote),
            Record::Append(entries) => {
                self.entries.extend(entries.into_iter().map(|entry| (entry.log_id.index, entry)));
            }
            Record::Truncate(from) => drop(self.entries.split_off(&from)),
            Record::Whole(log) => *self = log,
        }
    }
}

/// The log and the vote. Clones are the same log.
#[derive(Clone)]
pub struct LogStore {
    medium: Arc<dyn Medium>,
    log: Arc<Mutex<Log>>,
    /// Why nothing is written any more.
    failed: Arc<Mutex<Option<String>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LogStore {
    /// Reads the log. What the last crash has left of an append is taken away.
    ///
    /// # Errors
    /// If it cannot be read, or has lost what was acknowledged.
    pub fn open(medium: Arc<dyn Medium>) -> io::Result<Self> {
        let bytes = medium.read(LOG)?.unwrap_or_default();
        let (frames, whole) = frame::read(&bytes).map_err(io::Error::other)?;
        let mut log = Log::default();
        for contents in frames {
            log.take(postcard::from_bytes(contents).map_err(io::Error::other)?);
        }
        if whole < bytes.len() {
            tracing::warn!(bytes = bytes.len() - whole, "the log has a torn end, which is cut off");
            medium.truncate(LOG, whole as u64)?;
        }
        Ok(Self { medium, log: Arc::new(Mutex::new(log)), failed: Arc::default() })
    }

    /// The last entry that is not in the log any more, but in a snapshot.
    pub fn purged(&self) -> Option<LogId<u64>> {
        locked(&self.log).purged
    }

    /// Whether nothing was ever written.
    pub fn is_blank(&self) -> bool {
        let log = locked(&self.log);
        log.vote.is_none() && log.purged.is_none() && log.entries.is_empty()
    }

    /// Makes a change durable, and then known.
    async fn keep(&self, record: Record) -> io::Result<()> {
        let this = self.clone();
        let kept = tokio::task::spawn_blocking(move || {
            let mut failed = locked(&this.failed);
            if let Some(why) = &*failed {
                return Err(io::Error::other(format!("an earlier write failed: {why}")));
            }
            let bytes = frame::write(&postcard::to_stdvec(&record).map_err(io::Error::other)?);
            let written = match record {
                Record::Whole(_) => this.medium.replace(LOG, &bytes),
                _ => this.medium.append(LOG, &bytes),
            };
            written.inspect_err(|error| *failed = Some(error.to_string()))?;
            locked(&this.log).take(record);
            Ok(())
        });
        kept.await.map_err(io::Error::other)?
    }
}

fn write_failed(subject: ErrorSubject<u64>, error: io::Error) -> StorageError<u64> {
    StorageIOError::new(subject, ErrorVerb::Write, openraft::AnyError::new(&error)).into()
}

impl RaftLogReader<Types> for LogStore {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: R,
    ) -> Result<Vec<Entry<Types>>, StorageError<u64>> {
        Ok(locked(&self.log).entries.range(range).map(|(_, entry)| entry.clone()).collect())
    }
}

impl RaftLogStorage<Types> for LogStore {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, StorageError<u64>> {
        let log = locked(&self.log);
        let last = log.entries.last_key_value().map(|(_, entry)| entry.log_id);
        Ok(LogState { last_purged_log_id: log.purged, last_log_id: last.or(log.purged) })
    }

    async fn get_log_reader(&mut self) -> Self::LogReader {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<(), StorageError<u64>> {
        let kept = self.keep(Record::Vote(*vote)).await;
        kept.map_err(|error| write_failed(ErrorSubject::Vote, error))
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>, StorageError<u64>> {
        Ok(locked(&self.log).vote)
    }

    async fn append<I>(
        &mut self,
        entries: I,
        callback: LogFlushed<Types>,
    ) -> Result<(), StorageError<u64>>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let entries: Vec<_> = entries.into_iter().collect();
        match self.keep(Record::Append(entries)).await {
            Ok(()) => {
                callback.log_io_completed(Ok(()));
                Ok(())
            }
            Err(error) => {
                let told = io::Error::new(error.kind(), error.to_string());
                callback.log_io_completed(Err(told));
                Err(write_failed(ErrorSubject::Logs, error))
            }
        }
    }

    async fn truncate(&mut self, log_id: LogId<u64>) -> Result<(), StorageError<u64>> {
        let kept = self.keep(Record::Truncate(log_id.index)).await;
        kept.map_err(|error| write_failed(ErrorSubject::Logs, error))
    }

    async fn purge(&mut self, log_id: LogId<u64>) -> Result<(), StorageError<u64>> {
        let mut log = locked(&self.log).clone();
        log.entries = log.entries.split_off(&(log_id.index + 1));
        log.purged = log.purged.max(Some(log_id));
        let kept = self.keep(Record::Whole(log)).await;
        kept.map_err(|error| write_failed(ErrorSubject::Logs, error))
    }
}
