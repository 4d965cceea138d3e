//! The lab's commands, one a file.

pub(crate) mod check;
pub(crate) mod diagram;
pub(crate) mod locks;
pub(crate) mod messages;
pub(crate) mod report;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use serde::Serialize;

/// Whether everything that was checked holds; or what was wrong with the question.
pub(crate) type Outcome = Result<bool, String>;

/// Prints a line. Whoever reads our output may stop reading: then there is nobody left to work for.
pub(crate) fn say(line: impl Display) {
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            eprintln!("error: the output cannot be written: {error}");
            std::process::exit(2);
        }
    }
}

/// Prints a row as a JSON object on a line.
pub(crate) fn say_json(row: &impl Serialize) {
    say(serde_json::to_string(row).expect("a row is plain data"));
}

/// Sees that a file can be written, and its folder be there: better before the work than after it. If not, the option that
/// names another path may help.
pub(crate) fn prepare(path: &Path, option: &str) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    let opened = made.and_then(|()| File::options().append(true).create(true).open(path));
    opened.map(drop).map_err(|error| cannot_write(path, &error, option))
}

/// Writes a file that was prepared.
pub(crate) fn write(path: &Path, text: &str, option: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| cannot_write(path, &error, option))
}

fn cannot_write(path: &Path, error: &io::Error, option: &str) -> String {
    format!("{} cannot be written ({error}): name another with {option}", path.display())
}
