//! The storage of the consensus engine: openraft's own suite, and a crash at every write.

use std::collections::BTreeMap;
use std::sync::Arc;

use exclusion_net::majority::state::StateStore;
use exclusion_net::majority::store::{LogStore, Types};
use exclusion_net::majority::{Command, Directory, Medium};
use openraft::storage::{RaftLogStorage, RaftLogStorageExt, RaftStateMachine};
use openraft::testing::{StoreBuilder, Suite};
use openraft::{
    CommittedLeaderId, Entry, EntryPayload, LogId, RaftLogReader, RaftSnapshotBuilder,
    StorageError, Vote,
};

use crate::support::Disk;

struct OnDisk;

impl StoreBuilder<Types, LogStore, StateStore, tempfile::TempDir> for OnDisk {
    async fn build(&self) -> Result<(tempfile::TempDir, LogStore, StateStore), StorageError<u64>> {
        let folder = tempfile::tempdir().expect("there is room");
        let medium: Arc<dyn Medium> = Arc::new(Directory::open(folder.path()).expect("it is new"));
        let log = LogStore::open(Arc::clone(&medium)).expect("it is empty");
        Ok((folder, log, StateStore::open(medium, 3).expect("it is empty")))
    }
}

#[test]
fn the_suite_of_the_engine_passes_on_a_real_disk() {
    Suite::test_all(OnDisk).expect("the storage is as the engine wants it");
}

#[test]
fn a_directory_is_for_one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("there is room");
    let first = Directory::open(folder.path()).expect("it is new");
    let second = Directory::open(folder.path()).expect_err("it is in use");
    assert!(second.to_string().contains("in use"), "{second}");
    drop(first);
    Directory::open(folder.path()).expect("it is free again");
}

fn id(term: u64, index: u64) -> LogId<u64> {
    LogId::new(CommittedLeaderId::new(term, 0), index)
}

fn entry(term: u64, index: u64) -> Entry<Types> {
    let payload = EntryPayload::Normal(Command::Raise { epoch: 1000 * term + index });
    Entry { log_id: id(term, index), payload }
}

/// What a log holds.
#[derive(Clone, PartialEq, Debug, Default)]
struct Contents {
    vote: Option<Vote<u64>>,
    purged: Option<LogId<u64>>,
    entries: BTreeMap<u64, Entry<Types>>,
}

/// A write of the engine.
#[derive(Clone, Debug)]
enum Write {
    Vote(u64),
    Append(u64, std::ops::Range<u64>),
    Truncate(u64, u64),
    Purge(u64, u64),
}

const SCRIPT: [Write; 11] = [
    Write::Vote(1),
    Write::Append(1, 0..3),
    Write::Append(1, 3..6),
    Write::Vote(2),
    Write::Truncate(1, 4),
    Write::Append(2, 4..9),
    Write::Purge(1, 2),
    Write::Append(2, 9..10),
    Write::Vote(5),
    Write::Purge(2, 9),
    Write::Append(5, 10..12),
];

impl Contents {
    /// What it is after a write.
    fn after(&self, write: &Write) -> Self {
        let mut it = self.clone();
        match *write {
            Write::Vote(term) => it.vote = Some(Vote::new(term, 0)),
            Write::Append(term, ref range) => {
                it.entries.extend(range.clone().map(|index| (index, entry(term, index))));
            }
            Write::Truncate(_, index) => it.entries.retain(|&at, _| at < index),
            Write::Purge(term, index) => {
                it.purged = Some(id(term, index));
                it.entries.retain(|&at, _| at > index);
            }
        }
        it
    }

    async fn of(log: &mut LogStore) -> Self {
        let entries = log.try_get_log_entries(0..).await.expect("it can be read");
        let state = log.get_log_state().await.expect("it can be read");
        Self {
            vote: log.read_vote().await.expect("it can be read"),
            purged: state.last_purged_log_id,
            entries: entries.into_iter().map(|entry| (entry.log_id.index, entry)).collect(),
        }
    }
}

async fn perform(log: &mut LogStore, write: &Write) -> Result<(), StorageError<u64>> {
    match *write {
        Write::Vote(term) => log.save_vote(&Vote::new(term, 0)).await,
        Write::Append(term, ref range) => {
            log.blocking_append(range.clone().map(|index| entry(term, index))).await
        }
        Write::Truncate(term, index) => log.truncate(id(term, index)).await,
        Write::Purge(term, index) => log.purge(id(term, index)).await,
    }
}

#[tokio::test]
async fn a_crash_at_every_write_loses_nothing_that_was_acknowledged() {
    for crash in 0..SCRIPT.len() {
        for part in (0..=256).step_by(16) {
            for garbage in [false, true] {
                let disk = Disk::default();
                let mut log = LogStore::open(Arc::new(disk.clone())).expect("it is empty");
                disk.fail_after(crash, part, garbage);
                let mut acknowledged = Contents::default();
                for write in &SCRIPT[..crash] {
                    perform(&mut log, write).await.expect("the disk works so far");
                    acknowledged = acknowledged.after(write);
                }
                let torn = &SCRIPT[crash];
                perform(&mut log, torn).await.expect_err("the disk has failed");
                // What was not acknowledged is not known, and nothing is written any more.
                disk.mend();
                assert_eq!(Contents::of(&mut log).await, acknowledged);
                perform(&mut log, torn).await.expect_err("it does not go on after a failure");
                let mut log = LogStore::open(Arc::new(disk.clone())).expect("it is torn at most");
                let found = Contents::of(&mut log).await;
                let or = acknowledged.after(torn);
                assert!(
                    found == acknowledged || found == or,
                    "crash at {torn:?} with {part} of 256: {found:?}"
                );
                // It goes on from there, and a further restart finds the same.
                let mut expected = found;
                for write in &SCRIPT[crash..] {
                    perform(&mut log, write).await.expect("the disk works again");
                    expected = expected.after(write);
                }
                let mut log = LogStore::open(Arc::new(disk)).expect("it is whole");
                assert_eq!(Contents::of(&mut log).await, expected);
            }
        }
    }
}

#[tokio::test]
async fn a_log_that_is_cut_at_any_byte_is_one_that_was_acknowledged() {
    let folder = tempfile::tempdir().expect("there is room");
    let open = || {
        let directory = Directory::open(folder.path()).expect("nobody has it");
        LogStore::open(Arc::new(directory))
    };
    let mut states = vec![Contents::default()];
    let mut log = open().expect("it is empty");
    for write in &SCRIPT[..6] {
        perform(&mut log, write).await.expect("the disk works");
        states.push(Contents::of(&mut log).await);
    }
    drop(log);
    let path = folder.path().join("log");
    let bytes = std::fs::read(&path).expect("it was written");
    let mut seen = Vec::new();
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).expect("there is room");
        let found = Contents::of(&mut open().expect("it is torn at most")).await;
        let which = states.iter().position(|state| *state == found);
        seen.push(which.unwrap_or_else(|| panic!("cut at {cut}: {found:?}")));
    }
    assert!(seen.is_sorted() && seen.last() == Some(&6), "{seen:?}");
}

#[tokio::test]
async fn a_log_that_has_lost_what_was_acknowledged_is_refused() {
    let disk = Disk::default();
    let mut log = LogStore::open(Arc::new(disk.clone())).expect("it is empty");
    for write in &SCRIPT[..4] {
        perform(&mut log, write).await.expect("the disk works");
    }
    let mut bytes = disk.piece("log");
    bytes[13] ^= 1;
    disk.set("log", bytes);
    let error = LogStore::open(Arc::new(disk)).err().expect("it is damaged");
    assert!(error.to_string().contains("damaged at byte 0"), "{error}");
}

#[tokio::test]
async fn a_snapshot_is_whole_or_the_one_before() {
    let disk = Disk::default();
    let mut state = StateStore::open(Arc::new(disk.clone()), 3).expect("it is empty");
    state.apply([entry(1, 1)]).await.expect("it is in memory");
    state.build_snapshot().await.expect("the disk works");
    state.apply([entry(1, 2)]).await.expect("it is in memory");
    disk.fail_after(0, 0, false);
    state.build_snapshot().await.expect_err("the disk has failed");
    disk.mend();
    let again = StateStore::open(Arc::new(disk.copy()), 3).expect("it is whole");
    assert_eq!(again.covers(), Some(id(1, 1)));
    assert_eq!(again.watch().borrow().epoch(), 1002);
    state.build_snapshot().await.expect("the disk works");
    let again = StateStore::open(Arc::new(disk.copy()), 3).expect("it is whole");
    assert_eq!(again.covers(), Some(id(1, 2)));
    let mut bytes = disk.piece("snapshot");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    disk.set("snapshot", bytes);
    assert!(StateStore::open(Arc::new(disk), 3).is_err(), "it is damaged");
}
