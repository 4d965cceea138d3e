//! The data directory of a node: what it must not forget, and what may still be inside.
//!
//! | file | what |
//! |---|---|
//! | `lock` | locked by the process of the node, as long as it runs: a second one is refused |
//! | `record` | incarnation, epoch and lives, with a checksum; replaced as a whole |
//! | `inside/` | a file for each command that the node has let in, locked by the command |
//! | `control` | the socket of the commands on this machine |

use std::error::Error;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::frame;
use crate::keys::PublicKey;
use crate::membership::Configuration;
use crate::strict::{Life, Record};

/// With this the record begins.
const MAGIC: &[u8; 8] = b"exclrec1";
/// How large a record may be.
const MOST_BYTES: u64 = 64 * 1024;

/// What is written: a record, with the names of the members instead of their places.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Kept {
    me: u32,
    incarnation: u64,
    epoch: u64,
    known: Vec<(u32, PublicKey, Option<Life>)>,
}

/// Why a data directory cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
    /// Another process of the node runs.
    InUse(PathBuf),
    /// The record is not one that was written.
    Damaged(PathBuf),
    /// The directory is of another node.
    OfAnother {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, why) => write!(f, "{}: {why}", path.display()),
            Self::InUse(path) => {
                write!(f, "{}: another process of this node runs with it", path.display())
            }
            Self::Damaged(path) => write!(
                f,
                "{}: it is damaged, and the node must not forget what was in it; \
                 restore it, or remove it and have the others `replace` this node",
                path.display()
            ),
            Self::OfAnother { path, owner } => {
                write!(f, "{}: it is of node {owner}; give each its own", path.display())
            }
        }
    }
}

impl Error for StoreError {}

/// The data directory of a node that runs. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    me: u32,
    members: Vec<(u32, PublicKey)>,
    /// Locked as long as it is open.
    _lock: File,
}

impl Store {
    /// Opens the directory, and makes it if there is none.
    ///
    /// # Errors
    /// If another process has it.
    pub(crate) fn open(
        folder: &Path,
        configuration: &Configuration,
        me: u32,
    ) -> Result<Self, StoreError> {
        let inside = folder.join("inside");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&inside);
        made.map_err(|why| StoreError::Io(inside, why))?;
        let path = folder.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&path);
        let lock = lock.map_err(|why| StoreError::Io(path.clone(), why))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(StoreError::InUse(folder.to_owned())),
            Err(why) => return Err(StoreError::Io(path, why.into())),
        }
        let members = configuration.membership.members().iter();
        let members = members.map(|member| (member.id, member.key)).collect();
        // Commands that run elsewhere are told of files in it.
        let folder = folder.canonicalize().map_err(|why| StoreError::Io(folder.to_owned(), why))?;
        Ok(Self { folder, me, members, _lock: lock })
    }

    /// What the node has kept. Blank, if it has never run with this directory.
    ///
    /// What is known of members that are no longer there, or have another key, is left out.
    ///
    /// # Errors
    /// If it cannot be read. A record that is damaged is never taken for a blank one.
    pub(crate) fn read(&self) -> Result<Record, StoreError> {
        let path = self.folder.join("record");
        let failed = |why| StoreError::Io(path.clone(), why);
        match fs::metadata(&path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => {
                return Ok(Record::blank(self.members.len()));
            }
            Err(why) => return Err(failed(why)),
            Ok(about) if about.len() > MOST_BYTES => return Err(StoreError::Damaged(path)),
            Ok(_) => {}
        }
        let bytes = fs::read(&path).map_err(failed)?;
        let kept = decode(&bytes).ok_or_else(|| StoreError::Damaged(path.clone()))?;
        if kept.me != self.me {
            return Err(StoreError::OfAnother { path, owner: kept.me });
        }
        let life_of = |&(id, key): &(u32, PublicKey)| {
            kept.known.iter().find(|it| (it.0, it.1) == (id, key)).and_then(|it| it.2)
        };
        Ok(Record {
            incarnation: kept.incarnation,
            epoch: kept.epoch,
            known: self.members.iter().map(life_of).collect(),
        })
    }

    /// Keeps a record. It is on the disk when this returns.
    pub(crate) fn keep(&self, record: &Record) -> Result<(), StoreError> {
        let (new, path) = (self.folder.join("record.new"), self.folder.join("record"));
        let known = self.members.iter().zip(&record.known);
        let kept = Kept {
            me: self.me,
            incarnation: record.incarnation,
            epoch: record.epoch,
            known: known.map(|(&(id, key), life)| (id, key, *life)).collect(),
        };
        let write = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(&encode(&kept)?)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|why| StoreError::Io(path.clone(), why))
    }

    /// The file that a command locks which this life of the node lets in.
    pub(crate) fn place_inside(&self, incarnation: u64, number: u64) -> PathBuf {
        self.folder.join("inside").join(format!("{incarnation}-{number}"))
    }

    /// Where the socket of the commands is.
    pub(crate) fn control(&self) -> PathBuf {
        control(&self.folder)
    }

    /// What earlier lives of the node have let in, and what may still be there.
    pub(crate) fn left_inside(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.folder.join("inside");
        let list = || -> io::Result<Vec<_>> {
            fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect()
        };
        list().map_err(|why| StoreError::Io(folder.clone(), why))
    }
}

/// Where the socket of the commands is in a data directory.
pub(crate) fn control(folder: &Path) -> PathBuf {
    folder.join("control")
}

/// Removes a file if nobody has it locked any more, and says whether nobody has.
pub(crate) fn try_to_clear(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => fs::remove_file(path).map(|()| true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(why) => Err(why.into()),
    }
}

/// Waits until nobody has a file locked any more, and removes it.
pub(crate) async fn clear(path: &Path) -> io::Result<()> {
    let mut pause = Duration::from_millis(2);
    while !try_to_clear(path)? {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
    Ok(())
}

fn encode(kept: &Kept) -> io::Result<Vec<u8>> {
    let bytes = frame::encode(kept)?;
    Ok([&MAGIC[..], &Sha256::digest(&bytes), &bytes].concat())
}

fn decode(bytes: &[u8]) -> Option<Kept> {
    let (checksum, bytes) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
    (Sha256::digest(bytes)[..] == *checksum).then_some(())?;
    frame::decode(bytes).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::membership::tests::cluster;
    use crate::scratch::Folder;

    fn configuration() -> Configuration {
        cluster(3, "lamport").0.parse().unwrap()
    }

    fn some_record() -> Record {
        let life = Life { incarnation: 4, mark: 9 };
        Record { incarnation: 3, epoch: 12, known: vec![None, Some(life), None] }
    }

    #[test]
    fn a_record_is_read_as_it_was_kept() {
        let (folder, configuration) = (Folder::new("store"), configuration());
        let store = Store::open(folder.path(), &configuration, 1).unwrap();
        assert_eq!(store.read().unwrap(), Record::blank(3));
        store.keep(&some_record()).unwrap();
        assert_eq!(store.read().unwrap(), some_record());
        drop(store);
        let store = Store::open(folder.path(), &configuration, 1).unwrap();
        assert_eq!(store.read().unwrap(), some_record());
    }

    #[test]
    fn a_second_process_is_kept_out_and_so_is_another_node() {
        let (folder, configuration) = (Folder::new("store"), configuration());
        let store = Store::open(folder.path(), &configuration, 1).unwrap();
        store.keep(&some_record()).unwrap();
        let second = Store::open(folder.path(), &configuration, 1);
        assert!(matches!(second, Err(StoreError::InUse(_))), "{second:?}");
        drop(store);
        let other = Store::open(folder.path(), &configuration, 2).unwrap();
        assert!(matches!(other.read(), Err(StoreError::OfAnother { owner: 1, .. })));
    }

    #[test]
    fn a_member_with_another_key_is_another_member() {
        let (folder, before) = (Folder::new("store"), configuration());
        let store = Store::open(folder.path(), &before, 1).unwrap();
        store.keep(&some_record()).unwrap();
        drop(store);
        let store = Store::open(folder.path(), &configuration(), 1).unwrap();
        let record = store.read().unwrap();
        assert_eq!((record.epoch, record.known), (12, vec![None; 3]));
    }

    #[test]
    fn damage_is_noticed_wherever_it_is() {
        let (folder, configuration) = (Folder::new("store"), configuration());
        let store = Store::open(folder.path(), &configuration, 1).unwrap();
        store.keep(&some_record()).unwrap();
        let path = folder.path().join("record");
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert!(matches!(store.read(), Err(StoreError::Damaged(_))), "byte {place}");
            fs::write(&path, &whole[..place]).unwrap();
            assert!(matches!(store.read(), Err(StoreError::Damaged(_))), "{place} bytes");
        }
        fs::write(&path, vec![0; 1 << 20]).unwrap();
        assert!(matches!(store.read(), Err(StoreError::Damaged(_))));
    }

    #[test]
    fn a_file_that_is_locked_is_not_cleared() {
        let folder = Folder::new("store");
        let path = folder.path().join("1-1");
        assert!(try_to_clear(&path).unwrap(), "there is none");
        let file = File::create(&path).unwrap();
        flock(&file, FlockOperation::LockShared).unwrap();
        assert!(!try_to_clear(&path).unwrap());
        drop(file);
        assert!(try_to_clear(&path).unwrap());
        assert!(!path.exists());
    }
}
