//! The tables of docs/cost.md are what the lab counts.
//!
//! `UPDATE_TABLES=1 cargo test --release -p lab --test cost` writes them between their markers.

mod common;

use std::path::{Path, PathBuf};

use common::lab;

const BEGIN: &str = "<!-- costs -->\n";
const END: &str = "<!-- /costs -->";

/// The numbers of threads of the tables, and those that are counted again each time.
const ALL: &str = "2,8,64,256,1024";
const AGAIN: &str = "2,8,64";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cost.md")
}

fn counted(threads: &str) -> String {
    let output = lab(&["cost", "--threads", threads]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The cells of the rows of all tables, with their headings, without the last `omitted` ones and
/// what is seen of the growth.
fn cells(tables: &str, omitted: usize) -> Vec<Vec<String>> {
    let rows = tables.lines().filter(|line| !line.is_empty() && !line.starts_with("| --"));
    rows.map(|line| {
        let mut cells: Vec<_> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells.len() > 1 {
            let (claim, numbers) = (cells[cells.len() - 3].clone(), cells.len() - 3 - omitted);
            cells.truncate(numbers);
            cells.push(claim);
        }
        cells
    })
    .collect()
}

#[test]
fn the_tables_of_the_documentation_are_what_is_counted() {
    let text = std::fs::read_to_string(page()).expect("a page");
    let (before, rest) = text.split_once(BEGIN).expect("the page has a marker");
    let (tables, after) = rest.split_once(END).expect("the page has a marker");
    if std::env::var_os("UPDATE_TABLES").is_some() {
        let new = format!("{before}{BEGIN}\n{}{END}{after}", counted(ALL));
        std::fs::write(page(), new).expect("the page can be written");
        return;
    }
    assert!(!tables.contains("(!)"), "no lock grows faster than it claims");
    let omitted = ALL.split(',').count() - AGAIN.split(',').count();
    let hint = "UPDATE_TABLES=1 writes the tables";
    assert_eq!(cells(tables, omitted), cells(&counted(AGAIN), 0), "{hint}");
}
