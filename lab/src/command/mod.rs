//! The lab's commands, one a file.

pub(crate) mod check;
pub(crate) mod diagram;
pub(crate) mod locks;
pub(crate) mod messages;
pub(crate) mod report;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use serde::Serialize;

/// Whether everything that was checked holds; or what was wrong with the question.
pub(crate) type Outcome = Result<bool, String>;

/// Prints a line. Whoever reads our output may stop reading: then there is nobody left to work for.
pub(crate) fn say(line: impl Display) {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        outcome => outcome.expect("the output can be written"),
    }
}

/// Prints a row as a JSON object on a line.
pub(crate) fn say_json(row: &impl Serialize) {
    say(serde_json::to_string(row).expect("a row is plain data"));
}

/// Writes a file, and says so. If that cannot be done, the option that names another path may help.
pub(crate) fn write(path: &Path, text: &str, option: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| cannot_write(path, &error, option))?;
    say(format_args!("wrote {}", path.display()));
    Ok(())
}

fn cannot_write(path: &Path, error: &io::Error, option: &str) -> String {
    format!("{} cannot be written ({error}): name another with {option}", path.display())
}
