//! The roster as the consensus engine's state machine, with its snapshots on disk.
//!
//! The roster itself is in memory. After a restart it is that of the last snapshot, and the log
//! that is committed is applied again.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use openraft::storage::{RaftStateMachine, Snapshot};
use openraft::{
    AnyError, Entry, EntryPayload, LogId, OptionalSend, RaftSnapshotBuilder, SnapshotMeta,
    StorageError, StorageIOError, StoredMembership,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::frame;
use super::medium::Medium;
use super::roster::Roster;
use super::store::{Types, Verdict};

/// The name of the snapshot's piece.
const SNAPSHOT: &str = "snapshot";

type Membership = StoredMembership<u64, openraft::EmptyNode>;
type Meta = SnapshotMeta<u64, openraft::EmptyNode>;

/// A snapshot, as it lies on the disk.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    meta: Meta,
    data: Vec<u8>,
}

#[derive(Clone, Default)]
struct Applied {
    last: Option<LogId<u64>>,
    membership: Membership,
}

/// The replicated roster. Clones are the same roster.
#[derive(Clone)]
pub struct StateStore {
    medium: Arc<dyn Medium>,
    applied: Arc<Mutex<Applied>>,
    roster: Arc<watch::Sender<Roster>>,
    kept: Arc<Mutex<Option<Kept>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StateStore {
    /// Reads the last snapshot. Without one it begins with the roster of a cluster of so many nodes
    /// that has no member yet.
    ///
    /// # Errors
    /// If the snapshot cannot be read, or is not whole.
    pub fn open(medium: Arc<dyn Medium>, nodes: u32) -> io::Result<Self> {
        let kept =
            match medium.read(SNAPSHOT)? {
                None => None,
                Some(bytes) => Some(read(&bytes).ok_or_else(|| {
                    io::Error::other("the snapshot is damaged: replace this node")
                })?),
            };
        let (applied, roster) = match &kept {
            None => (Applied::default(), Roster::new(nodes)),
            Some(Kept { meta, data }) => {
                let roster = postcard::from_bytes(data).map_err(io::Error::other)?;
                let (last, membership) = (meta.last_log_id, meta.last_membership.clone());
                (Applied { last, membership }, roster)
            }
        };
        Ok(Self {
            medium,
            applied: Arc::new(Mutex::new(applied)),
            roster: Arc::new(watch::Sender::new(roster)),
            kept: Arc::new(Mutex::new(kept)),
        })
    }

    /// The last entry that the snapshot covers.
    pub fn covers(&self) -> Option<LogId<u64>> {
        locked(&self.kept).as_ref().and_then(|kept| kept.meta.last_log_id)
    }

    /// Where the roster can be seen as it changes.
    pub fn watch(&self) -> watch::Receiver<Roster> {
        self.roster.subscribe()
    }

    /// Makes a snapshot durable, unless there is a later one.
    async fn keep(&self, kept: Kept) -> Result<(), StorageError<u64>> {
        let this = self.clone();
        let signature = kept.meta.signature();
        let written = tokio::task::spawn_blocking(move || {
            let mut current = locked(&this.kept);
            let covered = current.as_ref().and_then(|it| it.meta.last_log_id);
            if current.is_some() && kept.meta.last_log_id < covered {
                return Ok(());
            }
            let contents = postcard::to_stdvec(&kept).map_err(io::Error::other)?;
            this.medium.replace(SNAPSHOT, &frame::write(&contents))?;
            *current = Some(kept);
            Ok(())
        });
        let written = written.await.map_err(io::Error::other).and_then(|written| written);
        written.map_err(|error: io::Error| {
            StorageIOError::write_snapshot(Some(signature), AnyError::new(&error)).into()
        })
    }
}

fn read(bytes: &[u8]) -> Option<Kept> {
    match frame::read(bytes) {
        Ok((frames, whole)) if frames.len() == 1 && whole == bytes.len() => {
            postcard::from_bytes(frames[0]).ok()
        }
        _ => None,
    }
}

impl RaftSnapshotBuilder<Types> for StateStore {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>, StorageError<u64>> {
        let (Applied { last, membership }, roster) = {
            let applied = locked(&self.applied);
            (applied.clone(), self.roster.borrow().clone())
        };
        let data = postcard::to_stdvec(&roster)
            .map_err(|error| StorageIOError::read_state_machine(AnyError::new(&error)))?;
        let snapshot_id = last.map_or_else(|| "none".into(), |last| last.to_string());
        let meta = Meta { last_log_id: last, last_membership: membership, snapshot_id };
        self.keep(Kept { meta: meta.clone(), data: data.clone() }).await?;
        Ok(Snapshot { meta, snapshot: Box::new(data) })
    }
}

impl RaftStateMachine<Types> for StateStore {
    type SnapshotBuilder = Self;

    async fn applied_state(
        &mut self,
    ) -> Result<(Option<LogId<u64>>, Membership), StorageError<u64>> {
        let Applied { last, membership } = locked(&self.applied).clone();
        Ok((last, membership))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Verdict>, StorageError<u64>>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut applied = locked(&self.applied);
        let mut verdicts = Vec::new();
        self.roster.send_modify(|roster| {
            for entry in entries {
                applied.last = Some(entry.log_id);
                verdicts.push(Verdict(match entry.payload {
                    EntryPayload::Blank => Ok(roster.epoch()),
                    EntryPayload::Normal(command) => roster.apply(&command),
                    EntryPayload::Membership(membership) => {
                        applied.membership = Membership::new(Some(entry.log_id), membership);
                        Ok(roster.epoch())
                    }
                }));
            }
        });
        Ok(verdicts)
    }

    async fn get_snapshot_builder(&mut self) -> Self::SnapshotBuilder {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Vec<u8>>, StorageError<u64>> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &Meta,
        snapshot: Box<Vec<u8>>,
    ) -> Result<(), StorageError<u64>> {
        let roster: Roster = postcard::from_bytes(&snapshot).map_err(|error| {
            StorageIOError::read_snapshot(Some(meta.signature()), AnyError::new(&error))
        })?;
        self.keep(Kept { meta: meta.clone(), data: *snapshot }).await?;
        let mut applied = locked(&self.applied);
        applied.last = meta.last_log_id;
        applied.membership = meta.last_membership.clone();
        self.roster.send_replace(roster);
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>, StorageError<u64>> {
        let kept = locked(&self.kept).clone();
        Ok(kept.map(|Kept { meta, data }| Snapshot { meta, snapshot: Box::new(data) }))
    }
}
