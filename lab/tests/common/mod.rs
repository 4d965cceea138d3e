//! The lab as its users call it.
#![allow(dead_code, reason = "each test file is a crate of its own and uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Calls the lab.
pub fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).output().expect("the lab runs")
}

/// A folder of a test's own, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("there is room");
    folder
}

/// Calls the lab from a folder.
pub fn lab_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.args(arguments).current_dir(folder).output().expect("the lab runs")
}

/// It ends with 2, and says what to do.
#[track_caller]
pub fn assert_wrong_usage(output: &Output, arguments: &[&str], reason: &str) {
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains(reason), "{arguments:?}: {error}");
}
