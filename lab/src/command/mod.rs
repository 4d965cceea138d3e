//! The lab's commands, one per file.

pub(crate) mod check;
pub(crate) mod cost;
mod destination;
pub(crate) mod diagram;
pub(crate) mod elect;
mod explore;
mod fates;
pub(crate) mod faults;
mod graph;
mod kinds;
pub(crate) mod list;
pub(crate) mod locks;
pub(crate) mod messages;
mod names;
mod registry;
pub(crate) mod report;

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use serde::Serialize;

/// Whether all checks hold; or an error in the arguments.
pub(crate) type Outcome = Result<bool, String>;

/// Prints a line. If the reader closes the pipe, the program ends.
pub(crate) fn say(line: impl Display) {
    print(format_args!("{line}\n"));
}

/// Prints a text as it is.
fn print(text: impl Display) {
    match write!(io::stdout(), "{text}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            say_aside(format_args!("error: the output cannot be written: {error}"));
            std::process::exit(2);
        }
    }
}

/// Prints a line on the standard error. If nobody reads it, it is lost.
pub(crate) fn say_aside(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a row as a JSON object on a line.
pub(crate) fn say_json(row: &impl Serialize) {
    say(serde_json::to_string(row).expect("a row is plain data"));
}
