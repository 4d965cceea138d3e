//! The lab as its users call it.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{assert_wrong_usage, folder, lab, lab_in};

#[test]
fn messages_are_counted_beside_their_formulas() {
    let output = lab(&["messages", "--json", "--nodes", "4,7"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect();
    for name in names() {
        // Neither four nor seven make a triangle, or a circle that meets.
        let fits = !name.starts_with("maekawa_triangle") && name != "maekawa_circle";
        assert_eq!(rows.iter().any(|row| row["algorithm"] == name), fits, "{name}");
    }
    for row in &rows {
        for field in ["entries", "nodes", "min", "mean", "max"] {
            assert!(row[field].as_f64().is_some(), "{field} in {row}");
        }
        assert!(row["formula"].is_string() && row["load"].is_string());
        assert_eq!(row["ok"], true, "{row}");
        let [min, mean, max] = ["min", "mean", "max"].map(|field| row[field].as_f64().unwrap());
        assert!(min <= mean && mean <= max, "{row}");
    }
    let alone = rows.iter().find(|row| row["algorithm"] == "lamport" && row["load"] == "alone");
    assert_eq!(alone.unwrap()["mean"], 9.0);
}

#[test]
fn messages_of_what_cannot_be_are_wrong_usage() {
    for (arguments, reason) in [
        (&["--algorithms", "lampost"][..], "no algorithm is called 'lampost'; there are central"),
        (&["--nodes", "0"], "0 nodes are no cluster"),
        (&["--nodes", "1"], "1 node is no cluster"),
        (&["--algorithms", "maekawa_triangle", "--nodes", "7"], "take 6 or 10"),
        (&["--algorithms", "maekawa_plane", "--nodes", "43"], "take 31 or 57"),
        (&["--algorithms", "lamport", "--nodes", "5000"], "take at most 4096"),
        (&["--algorithms", "lamport,maekawa_plane", "--nodes", "40"], "take 31 or 57"),
        (&["--loads", "heavy"], "invalid value 'heavy'"),
        (&["--algorithms", "maekawa_voting"], "is broken on purpose"),
        (&["--algorithms", "maekawa_voting"], "`lab check maekawa_voting`"),
        (&["--algorithms", "maekawa_voting"], "`lab diagram maekawa_voting --from counterexample`"),
        (&["--waiting", "5", "--loads", "alone"], "cannot be used with"),
        (&["--waiting", "5", "--seed", "2"], "cannot be used with"),
        (&["--algorithms", "lamport", "--k", "2"], "lets in one at a time"),
        (&["--algorithms", "raymond_k", "--nodes", "4", "--k", "4"], "take 1 to 3"),
        (&["--algorithms", "raymond_k", "--k", "0"], "take 1 to"),
        (&["--waiting", "50"], "take 1 to 49"),
        (&["--waiting", "5", "--algorithms", "lamport"], "has no cycles"),
    ] {
        let output = lab(&[&["messages"], arguments].concat());
        assert_wrong_usage(&output, arguments, reason);
        assert!(output.stdout.is_empty(), "{arguments:?}: errors come before any output");
    }
}

/// The rows of a command that prints objects.
#[track_caller]
fn rows(output: &Output) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(&output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

#[test]
fn algorithms_that_cannot_be_so_large_are_left_out_with_a_word() {
    let counted = |nodes: &str, told: &[&str]| {
        let arguments = [&["messages", "--nodes", nodes, "--json", "--loads", "alone"], told];
        let output = lab(&arguments.concat());
        assert!(output.status.success(), "{output:?}");
        (rows(&output), String::from_utf8(output.stderr).expect("text"))
    };
    let has = |rows: &[serde_json::Value], name| rows.iter().any(|row| row["algorithm"] == name);
    let (of_40, said) = counted("40", &[]);
    assert!(has(&of_40, "lamport") && has(&of_40, "maekawa") && !has(&of_40, "maekawa_plane"));
    assert!(said.contains("not for 40 nodes: maekawa_circle, maekawa_triangle"), "{said}");
    assert!(said.contains("maekawa_plane") && !said.contains("lamport"), "{said}");

    let (of_5000, said) = counted("5000", &[]);
    assert!(has(&of_5000, "raymond") && has(&of_5000, "naimi_trehel_queue"));
    assert!(!has(&of_5000, "lamport") && said.contains("not for 5000 nodes: central"), "{said}");

    // Of the usual sizes nothing is said.
    let (usual, said) = counted("3,6", &["--algorithms", "maekawa_triangle"]);
    assert_eq!((usual.len(), said.as_str()), (2, ""));
}

#[test]
fn k_is_what_was_said_or_a_third_of_the_nodes_and_is_named() {
    let counted = |told: &[&str]| {
        let output = lab(&[&["messages", "--nodes", "7", "--json"], told].concat());
        assert!(output.status.success(), "{output:?}");
        rows(&output)
    };
    let of_k = |rows: &[serde_json::Value]| -> Vec<u64> {
        let mut of_k: Vec<_> =
            rows.iter().map(|row| row["entries_at_a_time"].as_u64().expect("a number")).collect();
        of_k.dedup();
        of_k
    };
    assert_eq!(of_k(&counted(&["--algorithms", "lamport,raymond_k"])), [1, 3]);
    assert_eq!(of_k(&counted(&["--algorithms", "lamport,raymond_k", "--criteria"])), [1, 3]);
    // Without names it is for those that let in several.
    let several = counted(&["--k", "2"]);
    assert_eq!(of_k(&several), [2]);
    for row in &several {
        let name = row["algorithm"].as_str().expect("a name");
        assert!(["raymond_k", "banta_k", "banta_k_hardened"].contains(&name), "{row}");
        assert_eq!(row["ok"], true, "{row}");
    }
    assert_eq!(of_k(&counted(&["--k", "2", "--criteria"])), [2]);
    assert_eq!(of_k(&counted(&["--k", "2", "--waiting", "3"])), [2]);

    let table = lab(&["messages", "--algorithms", "raymond_k", "--nodes", "7", "--k", "2"]);
    let table = String::from_utf8(table.stdout).expect("text");
    assert!(table.contains("messages per entry") && table.contains("raymond_k, k = 2"), "{table}");
    let table = lab(&["messages", "--algorithms", "raymond_k", "--nodes", "7", "--criteria"]);
    let table = String::from_utf8(table.stdout).expect("text");
    assert!(table.contains("3 of 7 nodes in raymond_k"), "{table}");
}

/// Chapter 6 has its own formula, also where a third of the nodes is one.
#[test]
fn bantas_k_is_known_by_what_it_is_and_not_by_its_k() {
    for k in [&[][..], &["--k", "1"], &["--k", "2"]] {
        let waiting = ["messages", "--algorithms", "banta_k", "--nodes", "3", "--waiting", "2"];
        let output = lab(&[&waiting[..], &["--json"], k].concat());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(rows(&output)[0]["formula"], (3.0 - 2.0) / 2.0 + 2.0);
    }
}

#[test]
fn bantas_cycles_cost_what_the_corrected_formula_says() {
    let output = lab(&["messages", "--waiting", "1,25", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect();
    assert_eq!(rows.len(), 8, "four algorithms go in cycles");
    let [mean, formula, thesis] =
        ["mean", "formula", "thesis"].map(|field| rows[1][field].as_f64().unwrap());
    assert_eq!((mean, formula, thesis), (49.0 / 25.0 + 1.0, 49.0 / 25.0 + 1.0, 3.0));
}

#[test]
fn costs_are_counted_beside_their_claims() {
    let output = lab(&["cost", "bakery", "tournament", "--threads", "2,8,128", "--json"]);
    assert!(output.status.success());
    let rows = rows(&output);
    assert_eq!(rows.len(), 2 * 3 * 2 * 2, "locks, numbers, loads, models");
    for row in &rows {
        for number in ["threads", "loads", "stores", "fences"] {
            assert!(row[number].is_number(), "{number} in {row}");
        }
        let is_unbounded = row["load"] == "contended" && row["model"] == "dsm";
        assert_eq!(row["remote"].is_null(), is_unbounded, "{row}");
        let claim = if row["lock"] == "bakery" { "O(n)" } else { "O(log n)" };
        assert_eq!(row["claim"], if is_unbounded { "unbounded" } else { claim });
        assert_eq!((&row["growth"], &row["ok"]), (&row["claim"], &true.into()));
        assert_eq!(row["read_modify_writes"], 0.0, "these are from reads and writes: {row}");
    }
    // Eight threads are too few to tell how it grows.
    for row in self::rows(&lab(&["cost", "bakery", "--threads", "2,4,8", "--json"])) {
        assert_eq!((&row["growth"], &row["ok"]), (&serde_json::Value::Null, &true.into()));
    }
    for (arguments, complaint) in [
        (["cost", "--threads", "3"].as_slice(), "powers of two"),
        (&["cost", "bakers"], "no lock is called 'bakers'"),
    ] {
        let output = lab(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(complaint), "{arguments:?}");
    }
}

#[test]
fn an_exploration_is_an_object_with_all_fields() {
    let output = lab(&["check", "ricart_agrawala", "--nodes", "3", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one row");
    assert_eq!(row["algorithm"], "ricart_agrawala");
    assert_eq!(
        (&row["nodes"], &row["requests"], &row["channels"]),
        (&3.into(), &"1".into(), &"any".into())
    );
    assert_eq!(row["verdict"], "holds");
    assert!(row["states"].as_u64().is_some_and(|states| states > 4000));
    assert!(row["depth"].is_u64() && row["seconds"].is_f64());
    assert_eq!(row["entries_at_a_time"], 1);
}

#[test]
fn two_may_be_inside_unless_it_is_said_otherwise() {
    let explored = |k: &[&str]| {
        let output = lab(&[&["check", "raymond_k", "--json"], k].concat());
        assert!(output.status.success(), "{output:?}");
        let row = rows(&output).remove(0);
        let of = |field: &str| row[field].as_u64().expect("a number");
        (of("entries_at_a_time"), of("states"))
    };
    // As many states as in the documentation.
    assert_eq!(explored(&[]), (2, 19425));
    let (k, states) = explored(&["--k", "1"]);
    assert!(k == 1 && states < 19425, "{states}");
    let table = lab(&["check", "banta_k", "--nodes", "3"]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("\nbanta_k, k = 2 "), "{table:?}");
}

#[test]
fn a_broken_variant_is_explored_by_its_name_and_refuted_as_expected() {
    for (name, nodes, why) in [
        ("maekawa_voting", 3, "nobody gives a vote back before it has been inside"),
        ("maekawa_1985", 3, "a waiting request that an older one comes before is not told"),
        ("bakery_ties", 2, "of equal tickets both go first"),
        ("banta_first_draft", 2, "a request that comes second, or finds no token, is forgotten"),
        ("banta_basic", 3, "a request that comes after the token has left is kept where it is"),
    ] {
        let output = lab(&["check", name]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(text.contains(&format!("broken on purpose: {why}\n{name}")), "{text}");
        assert!(text.contains("refuted\n") && text.contains("does not hold:\n"), "{text}");

        let output = lab(&["check", name, "--json"]);
        assert!(output.status.success(), "{output:?}");
        let rows = rows(&output);
        assert_eq!((rows.len(), &rows[0]["nodes"]), (1, &nodes.into()));
        assert_eq!(rows[0]["verdict"], "refuted");
    }
    // What was not found has not been refuted.
    let cut = lab(&["check", "raymond_k_combined", "--most-states", "1"]);
    assert_eq!(cut.status.code(), Some(1), "{cut:?}");
    assert!(String::from_utf8_lossy(&cut.stderr).contains("was not refuted"), "{cut:?}");
}

#[test]
fn a_refuted_property_is_told_with_its_trace_and_fails() {
    let output = lab(&["check", "lamport", "--nodes", "2", "--requests", "2", "--channels", "any"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("'mutual exclusion' does not hold:\n1.000000 n"), "{text}");
}

#[test]
fn explorations_of_what_cannot_be_are_wrong_usage() {
    for (arguments, reason) in [
        (&["lampost"][..], "no algorithm is called 'lampost'"),
        (&["lampost"], "locks over registers: bakery, rw_bakery, rw_bakery_of_two"),
        (&["lampost", "--explore"], "no algorithm is called 'lampost'"),
        (&["lamport", "--requests", "0"], "where nobody wants in there is nothing to explore"),
        (&["lamport", "--requests", "0,0,0"], "where nobody wants in"),
        (&["bakery", "--requests", "0"], "where nobody wants in"),
        (&["lamport", "--k", "2"], "lets in one at a time"),
        (&["raymond_k", "--k", "3"], "take 1 to 2"),
        (&["bakery", "--k", "2"], "leave --k out"),
        (&["raymond_k", "--k", "1", "--markdown"], "cannot be used with"),
        (&["maekawa_1985", "--nodes", "3"], "leave --nodes out"),
        (&["maekawa_1985", "--requests", "1"], "leave --requests out"),
        (&["maekawa_1985", "--quick"], "leave --quick out"),
        (&["lamport", "--diagram", "-"], "name a file with --diagram"),
        (&["lamport", "--diagram", "no/such.svg"], "folder no does not exist"),
        (&["lamport", "--nodes", "0"], "0 nodes are no cluster"),
        (&[], "required"),
        (&["lamport", "--all"], "cannot be used with"),
    ] {
        let output = lab(&[&["check"], arguments].concat());
        assert_wrong_usage(&output, arguments, reason);
        assert!(output.stdout.is_empty(), "{arguments:?}: errors come before any output");
    }
}

#[test]
fn what_cannot_be_drawn_or_written_is_wrong_usage() {
    let folder = folder("wrong");
    for (arguments, reason) in [
        (&["diagram", "lampost"][..], "no algorithm is called 'lampost'; there are central"),
        (&["diagram", "lamport", "--nodes", "0"], "0 nodes are no cluster"),
        (&["diagram", "lamport", "--nodes", "65"], "take at most 64"),
        (&["diagram", "maekawa_1985", "--from", "simulation"], "is broken on purpose"),
        (&["diagram", "maekawa_1985", "--from", "actors"], "--from counterexample"),
        (&["diagram", "maekawa_1985", "--k", "2"], "leave it out"),
        (&["diagram", "lamport", "--k", "2"], "lets in one at a time"),
        (&["diagram", "lamport", "--shiviz", "x", "--output", "x"], "the same file"),
        (&["diagram", "lamport", "--shiviz", "./x", "--output", "x"], "the same file"),
        (&["diagram", "lamport", "--shiviz", "lamport.svg"], "the same file"),
        (&["diagram", "lamport", "--shiviz", "-", "--output", "-"], "the same file"),
        (&["diagram", "lamport", "--output", "no/x.svg"], "folder no does not exist: create it"),
        (&["diagram", "lamport", "--shiviz", "no/x.log"], "folder no does not exist: create it"),
        (&["report", "--output", "no/page.html"], "folder no does not exist: create it first"),
        (&["diagram", "maekawa_1985", "--from", "counterexample", "--nodes", "3"], "leave it out"),
        (&["diagram", "lamport", "--from", "actors", "--seed", "3"], "leave it out"),
        (&["check", "bakery", "--nodes", "9"], "take at most 8"),
        (&["check", "raymond", "--nodes", "18446744073709551615"], "take at most 8"),
        (&["check", "raymond", "--explore", "--port", "0"], "0 is not in 1..=65535"),
        (&["check", "bakery", "--channels", "fifo"], "neither messages nor timers"),
        (&["check", "lamport", "--requests", "21"], "21 is not in 0..=20"),
        (&["check", "lamport", "--most-states", "0"], "takes 1 or more"),
        (&["check", "--all", "--nodes", "4"], "cannot be used with"),
        (&["diagram", "lamport", "--entries", "0"], "0 is not in 1..=1000"),
        (&["diagram", "lamport", "--output", "/dev/null/no.svg"], "name another with --output"),
        (&["diagram", "lamport", "--shiviz", "/dev/null/no.log"], "name another with --shiviz"),
        (&["check", "lamport", "--diagram", "/dev/null/no.svg"], "name another with --diagram"),
        (
            &["diagram", "lamport", "--from", "counterexample"],
            "no broken variant is called 'lamport'",
        ),
        (&["diagram", "bakery_ties", "--from", "counterexample"], "about registers"),
        (&["report", "--output", "/dev/null/page.html"], "name another with --output"),
        (&["report", "--rounds", "0"], "--rounds takes 1 or more"),
        (&["report", "--seconds", "0"], "--seconds takes more than 0"),
        (
            &["check", "lamport", "--nodes", "3", "--requests", "1,2"],
            "one for all, or one for each",
        ),
        (
            &["messages", "--criteria", "--algorithms", "lampost"],
            "no algorithm is called 'lampost'",
        ),
        (&["messages", "--criteria", "--nodes", "0"], "0 nodes are no cluster"),
        (&["tour"], "unrecognized subcommand"),
    ] {
        let output = lab_in(&folder, arguments);
        assert_wrong_usage(&output, arguments, reason);
        assert!(output.stdout.is_empty(), "{arguments:?}: errors come before any output");
    }
    assert!(!folder.join("no").exists(), "a folder was made");
    assert!(!folder.join("x").exists(), "a file was written");
}

#[test]
fn what_is_written_is_not_among_the_rows() {
    let folder = folder("rows");
    let check =
        ["check", "lamport", "--nodes", "2", "--channels", "any", "--json", "--diagram", "x.svg"];
    let output = lab_in(&folder, &check);
    assert_eq!(output.status.code(), Some(1));
    let _: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert!(String::from_utf8_lossy(&output.stderr).contains("wrote x.svg"));
}

/// The examples of each command's help; without those that take long or never end.
#[test]
fn the_examples_of_the_help_work() {
    let folder = folder("examples");
    let long = [
        "--all",
        "--soon",
        "--broken",
        "--explore",
        "1000000",
        "lab locks",
        "lab report",
        "lab messages\n",
        "lab cost\n",
        "1024",
    ];
    // Some show what does not hold.
    let refuted = ["--channels any", "--timers any-time", "--cut 0,1"];
    let mut tried = 0;
    for command in ["list", "locks", "cost", "messages", "elect", "check", "diagram", "report"] {
        let help = String::from_utf8(lab(&[command, "--help"]).stdout).unwrap();
        let (_, examples) = help.split_once("Examples:\n").expect("every command has examples");
        for example in examples.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<_> = example.split(' ').collect();
            assert_eq!(words[..3], ["cargo", "lab", command], "{example}");
            if long.iter().any(|it| format!("{example}\n").contains(it)) {
                continue;
            }
            let output = lab_in(&folder, &words[2..]);
            let expected = refuted.iter().any(|it| example.contains(it));
            assert_eq!(output.status.code(), Some(i32::from(expected)), "{example}: {output:?}");
            tried += 1;
        }
    }
    assert!(tried >= 17, "only {tried} were");
}

#[test]
fn the_criteria_are_objects_with_all_fields() {
    let output = lab(&["messages", "--criteria", "--nodes", "4", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect();
    let of = |name: &str| rows.iter().find(|row| row["algorithm"] == name).expect("it is there");
    let row = of("ricart_agrawala");
    assert_eq!((&row["alone"], &row["saturated"]), (&6.0.into(), &6.0.into()));
    assert_eq!(row["sync_delay"], 1.0);
    // Now and then two meet.
    let client_delay = row["client_delay"].as_f64().expect("it was measured");
    assert!((2.0..2.1).contains(&client_delay), "{client_delay}");
    assert_eq!(row["load"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&row["entries_at_a_time"], &of("raymond_k")["entries_at_a_time"]),
        (&1.into(), &2.into())
    );
}

/// What people read fits in a terminal of 80 columns.
#[test]
fn what_is_printed_fits_in_80_columns() {
    for arguments in [
        &["list"][..],
        &["check", "raymond_k", "--nodes", "2"],
        &["messages", "--nodes", "4"],
        &["messages", "--criteria", "--nodes", "4"],
        &["messages", "--waiting", "3", "--nodes", "7"],
        &["elect", "bully"],
        &["faults", "central_coordinator", "--crash", "holder"],
        &["cost", "bakery", "--threads", "2,4"],
        &["locks", "--seconds", "0.01", "--rounds", "1", "--workloads", "short", "--threads", "2"],
    ] {
        let output = lab(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(!text.is_empty() && wide.is_empty(), "{arguments:?}: {wide:#?}");
    }
}

#[test]
fn an_exploration_says_what_holds() {
    let text = String::from_utf8(lab(&["check", "lamport", "--nodes", "2"]).stdout).expect("text");
    // However the lines are broken.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("always: mutual exclusion"), "{text}");
    assert!(
        words.contains("no deadlock") && words.contains("possible: everybody enters"),
        "{text}"
    );
}

/// The tour begins with something to see, before anything is measured.
#[test]
fn the_tour_begins_with_a_counterexample() {
    let mut tour = Serving(
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .current_dir(folder("tour"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the lab runs"),
    );
    let stdout = BufReader::new(tour.0.stdout.take().expect("it is piped"));
    let mut seen = Vec::new();
    for line in stdout.lines().map(|line| line.expect("text")) {
        seen.push(line);
        if seen.last().is_some_and(|line| line.contains("wait for ever")) {
            break;
        }
        assert!(seen.len() < 60, "{seen:#?}");
    }
    assert!(seen.iter().any(|line| line.contains("1 of 5")), "{seen:#?}");
    assert!(seen.iter().any(|line| line.contains("▶")), "{seen:#?}");
    assert!(!seen.iter().any(|line| line.contains("2 of 5")), "{seen:#?}");
}

/// Whoever reads the page from a pipe is told what is being done.
#[test]
fn a_report_says_what_it_does() {
    let wrong = lab(&["report", "--rounds", "0"]);
    assert_eq!(wrong.status.code(), Some(2));
    let mut report = Serving(
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(["report", "--output", "-", "--rounds", "1", "--seconds", "0.01"])
            .current_dir(folder("piped"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the lab runs"),
    );
    let stderr = BufReader::new(report.0.stderr.take().expect("it is piped"));
    let first: Vec<_> = stderr.lines().take(2).map(|line| line.expect("text")).collect();
    assert!(first[0].starts_with("1 of 5") && first[1].starts_with("2 of 5"), "{first:?}");
}

#[test]
fn the_explorer_serves_on_this_machine() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = free.local_addr().expect("it has one").port().to_string();
    let taken = lab(&["check", "naimi_trehel", "--explore", "--port", &port]);
    assert_eq!(taken.status.code(), Some(2), "{taken:?}");
    drop(free);

    let mut serving = Serving(
        Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(["check", "naimi_trehel", "--explore", "--port", &port])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the lab runs"),
    );
    let mut said = String::new();
    let stdout = serving.0.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut said).expect("it says where");
    assert!(said.contains(&format!("http://localhost:{port}")), "{said}");

    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
        write!(stream, "GET /.status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    // It listens a moment after it has said so.
    let answer = (0..200).find_map(|_| {
        ask().ok().or_else(|| {
            std::thread::sleep(Duration::from_millis(50));
            None
        })
    });
    let answer = answer.expect("it answers");
    assert!(answer.contains("mutual exclusion") && answer.contains("no deadlock"), "{answer}");
}

/// A server that does not outlive its test, however that ends.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The names of all algorithms.
fn names() -> impl Iterator<Item = &'static str> {
    exclusion::message::registry::ALGORITHMS.iter().map(|algorithm| algorithm.name)
}
