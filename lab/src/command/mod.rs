//! The lab's commands, one per file.

pub(crate) mod check;
mod destination;
pub(crate) mod diagram;
pub(crate) mod list;
pub(crate) mod locks;
pub(crate) mod messages;
mod registry;
pub(crate) mod report;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use serde::Serialize;

/// Whether everything that was checked holds; or what was wrong with the question.
pub(crate) type Outcome = Result<bool, String>;

/// Prints a line. The reader of our output may stop reading: then there is nobody left to work for.
pub(crate) fn say(line: impl Display) {
    print(format_args!("{line}\n"));
}

/// Prints a text as it is.
fn print(text: impl Display) {
    match write!(io::stdout(), "{text}") {
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
