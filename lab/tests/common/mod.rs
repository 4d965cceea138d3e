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
