//! Where a node keeps what it must not forget.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A few named pieces of bytes that survive a crash.
///
/// When a method returns `Ok`, what it did is durable. When it returns an error, or the machine
/// crashes meanwhile, [`replace`](Self::replace) has done all or nothing; an
/// [`append`](Self::append) may have left any part of its bytes, or other bytes as many at most.
pub trait Medium: Send + Sync + 'static {
    /// All bytes of a piece. None if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Adds bytes to the end of a piece, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes these the bytes of a piece.
    ///
    /// # Errors
    /// If it cannot be written.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a piece off after so many bytes.
    ///
    /// # Errors
    /// If it cannot be written.
    fn truncate(&self, name: &str, length: u64) -> io::Result<()>;
}

/// A directory of a file system, for one process at a time.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Locked as long as this lives.
    _lock: File,
}

impl Directory {
    /// Opens a directory, which is made if there is none.
    ///
    /// # Errors
    /// If another process has it open, or it cannot be written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        fs::create_dir_all(&path)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("in-use"))?;
        lock.try_lock().map_err(|error| {
            let path = path.display();
            io::Error::other(format!("{path} is in use: stop the other process first ({error})"))
        })?;
        Ok(Self { path, _lock: lock })
    }

    /// What the directory has is durable when this returns.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

impl Medium for Directory {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path.join(name);
        let is_new = !path.try_exists()?;
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        if is_new { self.sync() } else { Ok(()) }
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.path.join(format!("{name}.new"));
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, self.path.join(name))?;
        self.sync()
    }

    fn truncate(&self, name: &str, length: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(self.path.join(name))?;
        file.set_len(length)?;
        file.sync_all()
    }
}
