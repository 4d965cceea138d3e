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
        self.replace(text).map_err(|error| self.cannot_write(&error))
    }

    /// Writes beside the file first, so that an interruption leaves the old one as it was. What is
    /// no file is written to as it is.
    fn replace(self, text: &str) -> io::Result<()> {
        // A link stays a link: what it leads to is replaced.
        let path = std::fs::canonicalize(self.path)?;
        if !path.is_file() {
            return std::fs::write(path, text);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        let written = std::fs::write(&beside, text)
            .and_then(|()| {
                std::fs::set_permissions(&beside, std::fs::metadata(&path)?.permissions())
            })
            .and_then(|()| std::fs::rename(&beside, &path));
        if written.is_err() {
            let _it_may_not_be_there = std::fs::remove_file(&beside);
        }
        written
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_there_until_the_new_one_is_whole() {
        let folder = std::env::temp_dir().join(format!("exclusion-write-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("page.html");
        std::fs::write(&path, "old").expect("it is written");
        let old = File::open(&path).expect("it is there");
        let page = Destination::new(&path, "--output");
        page.prepare().expect("it can be written");
        page.write("new").expect("it is written");
        // Whoever had opened the old file still reads that: it was replaced, not emptied.
        assert_eq!(io::read_to_string(old).expect("it can be read"), "old");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "new");
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "nothing beside it");
        std::fs::remove_dir_all(&folder).expect("it was ours");
    }
}
