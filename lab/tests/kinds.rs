//! `lab locks --kind`, as its users call it.

mod common;

use common::{assert_wrong_usage, folder, lab, lab_in};
use lab::measure::kind::Kind;
use serde_json::Value;

const QUICK: [&str; 5] = ["locks", "--seconds", "0.01", "--rounds", "1"];

fn rows_of(output: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(output).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

#[test]
fn each_kind_has_ours_and_the_peers_in_every_scene() {
    for kind in Kind::ALL {
        let output = lab(&[&QUICK[..], &["--kind", kind.name(), "--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        let rows = rows_of(&output.stdout);
        for scene in kind.scenes() {
            let locks: Vec<_> = rows.iter().filter(|row| row["scene"] == scene.name).collect();
            assert_eq!(locks.len(), scene.candidates.len());
            for name in ["bakery", "bakery_bypass", "std", "parking_lot"] {
                assert!(locks.iter().any(|row| row["lock"] == name), "{name} in {}", scene.name);
            }
            assert!(locks.iter().all(|row| row["mops"].as_f64().is_some_and(|mops| mops > 0.0)));
        }
    }
}

#[test]
fn locks_and_scenes_are_chosen_and_tables_say_what_a_wait_is() {
    let chosen = ["--kind", "rwlock", "--scenes", "mostly_reads_2", "--locks", "bakery,std"];
    let output = lab(&[&QUICK[..], &chosen].concat());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("mostly_reads_2, 2 threads\n"), "{text}");
    assert!(text.contains("a wait: from the call to going in"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("bakery ")), "{text}");
    assert!(!text.contains("bakery_bypass") && !text.contains("writer_among"), "{text}");
}

#[test]
fn what_was_kept_is_shown_again_and_as_a_table_of_the_documentation() {
    let folder = folder("kept-kinds");
    let chosen = ["--kind", "semaphore", "--scenes", "try_acquire", "--json"];
    let output = lab(&[&QUICK[..], &chosen].concat());
    std::fs::write(folder.join("run.json"), &output.stdout).expect("there is room");
    let from = ["locks", "--from", "run.json", "--kind"];
    let again = lab_in(&folder, &[&from[..], &["semaphore", "--json"]].concat());
    assert_eq!(rows_of(&again.stdout), rows_of(&output.stdout));
    let table = lab_in(&folder, &[&from[..], &["semaphore", "--markdown"]].concat());
    let text = String::from_utf8(table.stdout).expect("text");
    assert!(text.contains("| try_acquire, 1 thread | `tokio` |"), "{text}");
    let other = [&from[..], &["rwlock"]].concat();
    assert_wrong_usage(&lab_in(&folder, &other), &other, "ask for --kind semaphore");
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_to_do() {
    for (arguments, says) in [
        (&["--kind", "door"][..], "possible values: mutex, condvar, rwlock, semaphore"),
        (&["--kind", "condvar", "--locks", "tokio"], "no lock is called 'tokio'; there are bakery"),
        (&["--kind", "condvar", "--scenes", "read"], "there are ping_pong, notify_all"),
        (&["--kind", "condvar", "--threads", "2"], "choose --scenes"),
        (&["--kind", "condvar", "--workloads", "hot"], "choose --scenes"),
        (&["--kind", "rwlock", "--rounds", "0"], "--rounds takes 1 or more"),
        (&["--kind", "rwlock", "--hogs", "1025"], "--hogs takes at most 1024"),
        (&["--kind", "semaphore", "--scenes", "acquire", "--locks", "tokio"], "none of the chosen"),
        (&["--scenes", "read"], "mutexes have --workloads"),
    ] {
        assert_wrong_usage(&lab(&[&["locks"], arguments].concat()), arguments, says);
    }
}
