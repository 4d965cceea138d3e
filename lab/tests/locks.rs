//! `lab locks`, as its users call it.

mod common;

use std::process::{Command, Output};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use common::{assert_wrong_usage, folder, lab, lab_in};
use lab::measure::contention::measurables;
#[cfg(target_os = "linux")]
use lab::measure::{
    contention::{Plan, contend},
    workload::Workload,
};
use serde_json::Value;

fn quick(arguments: &[&str]) -> Output {
    lab(&[&["locks", "--seconds", "0.05", "--rounds", "1"], arguments].concat())
}

fn rows_of(output: &Output) -> Vec<Value> {
    let text = str::from_utf8(&output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

#[test]
fn each_row_is_an_object_with_all_fields() {
    let output = quick(&[
        "--locks",
        "bakery,std,parking_lot",
        "--workloads",
        "hot,long",
        "--threads",
        "2",
        "--json",
    ]);
    assert!(output.status.success());
    let rows = rows_of(&output);
    assert_eq!(rows.len(), 6);
    for row in &rows {
        for field in [
            "mops",
            "mops_lowest",
            "mops_highest",
            "ratio_std",
            "ratio_parking_lot",
            "jain",
            "p50_ns",
            "p99_ns",
            "p999_ns",
            "longest_ns",
            "longest_lowest_ns",
            "longest_highest_ns",
            "begun_ns",
            "rounds",
        ] {
            assert!(row[field].as_f64().is_some_and(|value| value > 0.0), "{field} in {row}");
        }
        assert_eq!(row["threads"], 2);
        assert_eq!(row["hogs"], 0);
    }
    assert_eq!(rows[0]["lock"], "bakery");
    assert_eq!(rows[0]["workload"], "hot");
    assert_eq!(rows[1]["ratio_std"], 1.0);
}

#[test]
fn a_ratio_to_a_lock_that_was_not_measured_is_null() {
    let output = quick(&["--locks", "bakery", "--workloads", "uncontended", "--json"]);
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one row");
    assert!(row["ratio_std"].is_null());
}

#[test]
fn every_lock_runs_and_the_best_are_marked() {
    let output = quick(&["--workloads", "short", "--threads", "2"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for lock in measurables() {
        assert!(text.lines().any(|line| line.starts_with(lock.name)), "{} in\n{text}", lock.name);
    }
    assert!(text.contains('*'));
}

#[test]
fn a_lock_for_two_is_left_out_of_a_crowd() {
    let output = quick(&["--locks", "peterson2", "--workloads", "short", "--threads", "3"]);
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("none of the chosen locks is for so many")
    );
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_to_do() {
    for (arguments, says) in [
        (&["--locks", "bakry"][..], "no lock is called 'bakry'; there are bakery, "),
        (&["--threads", "0"], "--threads takes 1 or more, and at most 1024"),
        (&["--threads", "99999"], "--threads takes 1 or more, and at most 1024"),
        (&["--rounds", "0"], "--rounds takes 1 or more"),
        (&["--seconds", "0"], "--seconds takes more than 0"),
        (&["--seconds", "NaN"], "--seconds takes more than 0"),
        (&["--hogs", "1025"], "--hogs takes at most 1024"),
        (&["--hogs", "two"], "invalid value 'two' for '--hogs"),
        (&["--json", "--markdown"], "cannot be used with"),
        (&["--from", "x.json", "--rounds", "3"], "cannot be used with"),
        (&["--from", "no-such-run.json"], "no-such-run.json cannot be read"),
        (&["--workloads", "lunch"], "possible values: uncontended, hot, short, long"),
    ] {
        assert_wrong_usage(&lab(&[&["locks"], arguments].concat()), arguments, says);
    }
}

/// Stacks that are larger than all memory that can be addressed.
#[test]
fn threads_that_cannot_be_started_are_told() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let locks = ["locks", "--locks", "std", "--workloads", "short", "--threads", "2"];
    let output = lab.args(locks).env("RUST_MIN_STACK", (1_u64 << 47).to_string()).output();
    let output = output.expect("the lab runs");
    assert_wrong_usage(&output, &locks, "2 threads cannot be started");
}

/// The threads of this process that are called so.
#[cfg(target_os = "linux")]
fn threads_called(name: &str) -> usize {
    let threads = std::fs::read_dir("/proc/self/task").expect("a list of threads");
    // A thread may end while it is looked at.
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|it| it.trim_end() == name).count()
}

/// The only test that has hogs in this process.
#[cfg(target_os = "linux")]
#[test]
fn hogs_run_as_long_as_a_measurement_and_no_longer() {
    let chosen: Vec<_> =
        measurables().into_iter().filter(|lock| ["std", "bakery"].contains(&lock.name)).collect();
    let slice = Duration::from_millis(1);
    let plan = Plan { workload: Workload::Short, threads: 2, hogs: 3, slice, rounds: 2 };
    let mut seen = Vec::new();
    let patience = Instant::now() + Duration::from_secs(60);
    let rows = contend(&plan, &chosen, |_| {
        // A thread has its name a moment after it has started.
        while threads_called("hog") < plan.hogs && Instant::now() < patience {
            std::thread::yield_now();
        }
        seen.push(threads_called("hog"));
    });
    assert_eq!(seen, [3; 4], "before each measurement");
    assert!(rows.expect("few threads").iter().all(|row| row.hogs == 3));
    assert_eq!(threads_called("hog"), 0, "they go on");
}

#[test]
fn hogs_are_told_in_rows_and_tables() {
    let locks = ["--locks", "bakery_with,std", "--workloads", "uncontended,short", "--hogs", "2"];
    let output = quick(&[&locks[..], &["--threads", "1", "--json"]].concat());
    assert!(output.status.success(), "{output:?}");
    let rows = rows_of(&output);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["hogs"] == 2), "{rows:?}");

    let output = quick(&[&locks[..], &["--threads", "1"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("short, 1 thread, beside 2 busy ones\n"), "{text}");
}

#[test]
fn hogs_that_cannot_be_started_are_told() {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let locks = ["locks", "--locks", "std", "--workloads", "short", "--threads", "2"];
    let lab = lab.args(locks).args(["--hogs", "3"]);
    let output = lab.env("RUST_MIN_STACK", (1_u64 << 47).to_string()).output();
    let output = output.expect("the lab runs");
    assert_wrong_usage(&output, &locks, "5 threads cannot be started");
}

/// Every setting that the documentation shows is measured unless told otherwise.
#[test]
fn the_usual_run_has_every_workload_with_its_threads() {
    let quickest = ["locks", "--seconds", "0.001", "--rounds", "1", "--locks", "std", "--json"];
    let output = lab(&quickest);
    let rows = rows_of(&output);
    let settings: Vec<_> = rows
        .iter()
        .map(|row| (row["workload"].as_str().unwrap(), row["threads"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("uncontended", 1),
        ("hot", 2),
        ("hot", 8),
        ("short", 2),
        ("short", 8),
        ("short", 32),
        ("long", 8),
        ("long", 32),
    ];
    assert_eq!(settings, expected);
}

#[test]
fn a_row_spans_its_rounds() {
    let output = quick(&[
        "--locks",
        "parking_lot_fair,bakery_bypass,bakery_bypass_32_50,bakery_bypass_8192_1000",
        "--workloads",
        "short",
        "--threads",
        "2",
        "--json",
    ]);
    let once = rows_of(&output);
    assert_eq!(once.len(), 4);
    for row in once {
        assert_eq!(row["rounds"], 1);
        assert_eq!(row["mops_lowest"], row["mops_highest"]);
        assert_eq!(row["longest_lowest_ns"], row["longest_highest_ns"]);
    }
    let thrice = ["--locks", "std", "--workloads", "short", "--threads", "2", "--json"];
    let seconds = ["locks", "--seconds", "0.01", "--rounds", "3"];
    for row in rows_of(&lab(&[&seconds[..], &thrice].concat())) {
        assert_eq!(row["rounds"], 3);
        let of = |field: &str| row[field].as_f64().expect("a number");
        assert!(of("mops_lowest") <= of("mops") && of("mops") <= of("mops_highest"), "{row}");
        assert!(of("longest_lowest_ns") <= of("longest_ns"), "{row}");
        assert!(of("longest_ns") <= of("longest_highest_ns"), "{row}");
    }
}

/// Two rows as `locks --json` prints them, with figures that are easily told apart.
fn kept_rows() -> String {
    let row = |lock, mops: f64, ratio: f64, workload, threads, hogs| {
        serde_json::json!({
            "lock": lock, "threads": threads, "workload": workload, "hogs": hogs, "rounds": 9,
            "mops": mops, "mops_lowest": 0.5, "mops_highest": 4.0,
            "ratio_std": ratio, "ratio_parking_lot": null, "jain": 0.875,
            "p50_ns": 1, "p90_ns": 2, "p99_ns": 3, "p999_ns": 4, "p9999_ns": 5,
            "longest_ns": 23_400_000, "longest_lowest_ns": 6, "longest_highest_ns": 24_000_000,
            "begun_ns": 1_230_000, "switches": 0.25, "shares": [0.75, 0.25],
        })
    };
    let rows = [
        row("bakery_with", 1.0, 0.5, "short", 8, 0),
        row("std", 2.0, 1.0, "short", 8, 0),
        row("std", 150.0, 1.0, "uncontended", 1, 2),
    ];
    rows.map(|row| row.to_string() + "\n").concat()
}

#[test]
fn what_was_kept_is_shown_again() {
    let folder = folder("kept");
    std::fs::write(folder.join("run.json"), kept_rows()).expect("there is room");
    let again = lab_in(&folder, &["locks", "--from", "run.json", "--json"]);
    assert!(again.status.success(), "{again:?}");
    let kept: Vec<Value> =
        kept_rows().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows_of(&again), kept);

    let tables = lab_in(&folder, &["locks", "--from", "run.json"]);
    let text = String::from_utf8(tables.stdout).unwrap();
    for part in [
        "short, 8 threads\n",
        "uncontended, 1 thread, beside 2 busy ones\n",
        "begun",
        "switches",
        "23.4 ms",
        "1.2 ms",
        "0.88",
        "700%", // 0.5 to 4 million
    ] {
        assert!(text.contains(part), "'{part}' in\n{text}");
    }
}

#[test]
fn the_tables_of_the_documentation_have_a_column_per_setting() {
    let folder = folder("markdown");
    std::fs::write(folder.join("run.json"), kept_rows()).expect("there is room");
    let output = lab_in(&folder, &["locks", "--from", "run.json", "--markdown"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "| lock | short, 8 | uncontended, 1, beside 2 busy |",
        "| `bakery_with` | 0.50 |  |",
        "| `std` | 1.0 | 1.0 |",
        "| std: million entries per second | 2.0 | 150 |",
        "| lock | short, 8 |",
        "| `bakery_with` | 23 (1.2) |",
        "| `std` | 0.88 |",
        "Switches of threads per entry:",
        "| `std` | 0.25 |",
    ] {
        assert!(text.lines().any(|it| it == line), "'{line}' in\n{text}");
    }
    assert!(!text.contains("mcs"), "a line for what was not measured:\n{text}");
}

#[test]
fn a_run_that_was_kept_badly_is_told_by_its_line() {
    let folder = folder("badly-kept");
    let unknown = kept_rows().replace("\"std\"", "\"stud\"");
    std::fs::write(folder.join("unknown.json"), unknown).expect("there is room");
    std::fs::write(folder.join("table.json"), "short, 8 threads\n").expect("there is room");
    for (file, says) in [
        ("unknown.json", "line 2: no lock is called 'stud'"),
        ("table.json", "keep what `locks --json` prints"),
    ] {
        let arguments = ["locks", "--from", file];
        let output = lab_in(&folder, &arguments);
        assert_wrong_usage(&output, &arguments, says);
        assert!(output.stdout.is_empty(), "errors come before any output");
    }
}
