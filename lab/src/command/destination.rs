//! Where pictures, logs and pages go.

use std::fs::File;
use std::io;
use std::path::Path;

use super::print;

/// A file, or the standard output if it is called `-`.
#[derive(Clone, Copy)]
pub(super) struct Destination<'a> {
    path: &'a Path,
    /// The option that names it, for error messages.
    option: &'static str,
}

impl<'a> Destination<'a> {
    pub(super) fn new(path: &'a Path, option: &'static str) -> Self {
        Self { path, option }
    }

    pub(super) fn is_standard_output(self) -> bool {
        self.path == Path::new("-")
    }

    /// Whether both would be written to the same place.
    pub(super) fn is_same_as(self, other: Self) -> bool {
        let place = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        place(self.path) == place(other.path)
    }

    /// Makes sure that it can be written, before the work begins.
    ///
    /// # Errors
    /// If it cannot.
    pub(super) fn prepare(self) -> Result<(), String> {
        if self.is_standard_output() {
            return Ok(());
        }
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            return Err(format!("folder {} does not exist: create it first", folder.display()));
        }
        let opened = File::options().append(true).create(true).open(self.path);
        opened.map(drop).map_err(|error| self.cannot_write(&error))
    }

    /// Writes what was prepared.
    ///
    /// # Errors
    /// If it cannot be written after all.
    pub(super) fn write(self, text: &str) -> Result<(), String> {
        if self.is_standard_output() {
            print(text);
            return Ok(());
        }
        std::fs::write(self.path, text).map_err(|error| self.cannot_write(&error))
    }

    /// Removes a file that was prepared, if there is nothing to write.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(super) fn remove(self) -> Result<(), String> {
        std::fs::remove_file(self.path).map_err(|error| self.cannot_write(&error))
    }

    /// Says that it was written: a line to print.
    pub(super) fn written(self) -> String {
        format!("wrote {}", self.path.display())
    }

    fn cannot_write(self, error: &io::Error) -> String {
        let Self { path, option } = self;
        format!("{} cannot be written ({error}): name another with {option}", path.display())
    }
}
