//! Every list of names has the same names: the registry, the page's stories, the explorations, the
//! golden traces, and the tables of the documentation.
//!
//! `UPDATE_TABLES=1 cargo test -p lab --test list` writes the tables between their markers.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::lab;
use exclusion::message::registry::{ALGORITHMS, ELECTIONS};
use lab::explore::broken::BROKEN;
use lab::explore::elected::ELECTED;
use lab::explore::scope::RegisterLock;
use lab::explore::scopes::all;
use lab::measure::contention::measurables;
use lab::report::stories::{DRAFTS, STORIES};

/// The names of all algorithms.
fn names() -> Vec<&'static str> {
    ALGORITHMS.iter().map(|algorithm| algorithm.name).collect()
}

/// The names of all elections.
fn elections() -> Vec<&'static str> {
    ELECTIONS.iter().map(|election| election.name).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_algorithm_has_a_story_and_every_story_an_algorithm() {
    let told: Vec<_> = STORIES.iter().map(|story| story.algorithm).collect();
    assert_eq!(told, names());
}

/// A draft is no algorithm to use: it is found among what the checker refutes.
#[test]
fn every_draft_with_a_story_is_a_broken_variant() {
    for draft in DRAFTS {
        let broken = BROKEN.iter().find(|broken| broken.name == draft.algorithm);
        assert_eq!(broken.map(|broken| broken.violates), Some("no deadlock"), "{draft:?}");
    }
}

#[test]
fn every_algorithm_is_explored_and_whatever_is_explored_is_listed() {
    let explored: BTreeSet<_> = all().into_iter().map(|(name, _)| name).collect();
    let locks = RegisterLock::ALL.map(RegisterLock::name);
    assert_eq!(explored, names().into_iter().chain(elections()).chain(locks).collect());
}

/// Which traces of other arrangements there are is said where they are written.
#[test]
fn every_algorithm_has_a_golden_trace_and_every_trace_an_algorithm() {
    let traces = std::fs::read_dir(root().join("tests/traces")).expect("the traces are there");
    let traces: BTreeSet<String> = traces
        .map(|file| file.expect("a file").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    for name in names() {
        assert!(traces.contains(name), "{name} has no golden trace");
    }
    for trace in &traces {
        let is_of = |name: &&str| {
            trace.strip_prefix(*name).is_some_and(|it| it.is_empty() || it.starts_with('_'))
        };
        assert!(names().iter().any(is_of), "no algorithm is called as the trace {trace}");
    }
}

#[test]
fn no_name_stands_for_two_things() {
    let locks = RegisterLock::ALL.map(RegisterLock::name);
    let all = names()
        .into_iter()
        .chain(elections())
        .chain(locks)
        .chain(ELECTED.iter().copied())
        .chain(BROKEN.iter().map(|broken| broken.name));
    let mut seen = BTreeSet::new();
    for name in all {
        assert!(seen.insert(name), "{name} is there twice");
    }
}

#[test]
fn the_list_has_everything_as_objects() {
    let output = lab(&["list", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect();
    let listed = |kind: &str| -> Vec<&str> {
        let of_kind = rows.iter().filter(|row| row["kind"] == kind);
        of_kind.map(|row| row["name"].as_str().expect("a name")).collect()
    };
    assert_eq!(listed("algorithm"), names());
    assert_eq!(listed("election"), elections());
    let measured = rows.iter().filter(|row| row["measured"] == true);
    let measured: Vec<_> = measured.map(|row| row["name"].as_str().expect("a name")).collect();
    assert_eq!(measured, measurables().iter().map(|lock| lock.name).collect::<Vec<_>>());
    assert!(ELECTED.iter().all(|name| listed("lock").contains(name)));
    let explored = rows.iter().filter(|row| row["explored"] == true);
    let explored: Vec<_> = explored.map(|row| row["name"].as_str().expect("a name")).collect();
    let registers = RegisterLock::ALL.map(RegisterLock::name);
    assert_eq!(explored.len(), registers.len(), "{explored:?}");
    assert!(registers.iter().all(|name| explored.contains(name)), "{explored:?}");
    let kinds: BTreeSet<_> = rows.iter().map(|row| row["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, BTreeSet::from(["algorithm", "broken", "election", "lock"]));
    for row in &rows {
        assert!(row["what"].as_str().is_some_and(|what| !what.is_empty()), "{row}");
    }
    assert_eq!(listed("broken"), BROKEN.iter().map(|broken| broken.name).collect::<Vec<_>>());

    let of = |name: &str| rows.iter().find(|row| row["name"] == name).expect("it is listed");
    let plane = of("maekawa_plane");
    assert_eq!(plane["arrangement"], "a projective plane");
    assert_eq!(plane["nodes"], "3, 7, 13, 21, 31, …");
    assert_eq!(of("maekawa_circle")["nodes"], "2, 3");
    let lamport = of("lamport");
    assert_eq!((&lamport["nodes"], &lamport["most_nodes"]), (&"2 to 4096".into(), &4096.into()));
    assert_eq!(lamport["channels"], "first in, first out");
    assert_eq!(lamport["messages_per_entry"], "3(n-1)");
    assert_eq!(of("banta_k")["several_entries"], true);
    assert_eq!(of("maekawa_voting")["violates"], "no deadlock");
}

#[test]
fn the_list_for_people_names_everything() {
    let text = String::from_utf8(lab(&["list"]).stdout).expect("text");
    let locks = measurables().into_iter().map(|lock| lock.name);
    let broken = BROKEN.iter().map(|broken| broken.name);
    let registers = RegisterLock::ALL.map(RegisterLock::name);
    let algorithms = names().into_iter().chain(elections()).chain(ELECTED.iter().copied());
    for name in algorithms.chain(locks).chain(broken).chain(registers) {
        let is_it = |line: &str| line.split_whitespace().next() == Some(name);
        assert!(text.lines().any(is_it), "{name} is not in\n{text}");
    }
    assert!(!text.contains("**"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

const BEGIN: &str = "<!-- algorithms -->\n";
const END: &str = "<!-- /algorithms -->";

/// What stands between the markers of a page, if it has them.
fn embedded(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(BEGIN)?;
    rest.split_once(END).map(|(table, _)| table)
}

#[test]
fn the_tables_of_the_documentation_are_the_generated_ones() {
    let pages: [(&str, &[&str]); 2] = [
        ("docs/messages.md", &["list", "--markdown"]),
        ("docs/elections.md", &["list", "--markdown", "--elections"]),
    ];
    for (name, command) in pages {
        let table = String::from_utf8(lab(command).stdout).expect("text");
        let rows = table.lines().filter(|line| line.starts_with("| `"));
        let tabled: Vec<_> = rows.filter_map(|row| row.split('`').nth(1)).collect();
        let by_itself = ALGORITHMS.iter().filter(|it| it.arrangement.is_none());
        let expected: Vec<_> = match name {
            "docs/elections.md" => elections(),
            _ => by_itself.map(|it| it.name).collect(),
        };
        assert_eq!(tabled, expected);

        let path = root().join(name);
        let page = std::fs::read_to_string(&path).expect("a page");
        let found = embedded(&page);
        let found = found.unwrap_or_else(|| panic!("{name} has no markers {BEGIN}and {END}"));
        if std::env::var_os("UPDATE_TABLES").is_some() {
            let (old, new) = (format!("{BEGIN}{found}{END}"), format!("{BEGIN}{table}{END}"));
            std::fs::write(&path, page.replace(&old, &new)).expect("the page can be written");
        } else {
            let hint = "UPDATE_TABLES=1 writes the generated tables";
            assert!(found.trim() == table.trim(), "{name} has another table:{found}\n{hint}");
        }
    }
}

/// The README has six of them, by type.
#[test]
fn what_the_readme_says_of_costs_is_in_the_registry() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("it is there");
    let (_, section) = readme.split_once("## Messages").expect("a section");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 6, "{rows:#?}");
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, implemented_by, messages, _] = cells[..] else { panic!("{row}") };
        let implemented_by = implemented_by.trim_matches('`');
        let of_type = ALGORITHMS.iter().find(|it| it.implemented_by == implemented_by);
        let formula = of_type.unwrap_or_else(|| panic!("{row}")).messages;
        for part in messages.split(" to ") {
            assert!(formula.contains(part), "{row}: {formula}");
        }
    }
}
