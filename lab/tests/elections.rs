//! Elections as the lab's users see them: told, counted, drawn and explored.

mod common;

use common::{folder, lab, lab_in};
use exclusion::message::check::Check;
use exclusion::message::registry::ELECTIONS;
use exclusion::message::{Agreement, BullyHalt, NodeId};
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor};
use lab::explore::scope::{Scope, with_check};

fn said(arguments: &[&str]) -> String {
    let output = lab(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_bully_tells_who_noticed_who_asked_whom_who_leads_and_what_it_took() {
    // Lines of more than 80 columns are broken.
    let text = said(&["elect", "bully", "--nodes", "5", "--crash", "4"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "n4 goes down",
        "n0 notices that n4 is down",
        "n0 calls an election: sends ELECTION to n1, n2, n3, n4",
        "n1 gets ELECTION from n0: sends OK to n0; sends ELECTION to n2, n3, n4",
        "n3 has waited long enough: sends COORDINATOR to n0, n1, n2; settles on n3 in epoch 1",
        "n0 gets COORDINATOR from n3: settles on n3 in epoch 1",
        "n3 leads. It took 19 messages, and 4.0 T until all knew.",
        "3 COORDINATOR, 10 ELECTION, 6 OK",
        "m^2 + n-2: 19",
    ] {
        assert!(text.contains(line), "'{line}' is not in\n{text}");
    }
}

#[test]
fn each_election_is_an_object_with_all_fields() {
    let text = said(&["elect", "--json"]);
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect();
    let names: Vec<_> = rows.iter().map(|row| row["algorithm"].as_str().expect("a name")).collect();
    assert_eq!(names, ELECTIONS.iter().map(|election| election.name).collect::<Vec<_>>());
    for row in &rows {
        for field in ["nodes", "messages", "leader", "time", "least", "most"] {
            assert!(row[field].is_number(), "{field} in {row}");
        }
        for field in ["initiators", "crashed"] {
            assert!(row[field].is_array(), "{field} in {row}");
        }
        assert!(row["graph"].is_string() && row["formula"].is_string(), "{row}");
        assert_eq!((&row["settled"], &row["ok"]), (&true.into(), &true.into()), "{row}");
    }
}

#[test]
fn the_options_say_who_calls_who_is_down_and_on_which_graph() {
    let json = |arguments: &[&str]| -> serde_json::Value {
        let text = said(&[&["elect"], arguments, &["--json"]].concat());
        serde_json::from_str(&text).expect("one object")
    };
    let ring = json(&["ring_election", "--nodes", "6", "--crash", "5,2", "--initiators", "0,1"]);
    assert_eq!((&ring["leader"], &ring["messages"]), (&4.into(), &(2 * 4 * 2).into()));
    assert_eq!(ring["crashed"], serde_json::json!([2, 5]));
    let all = json(&["chang_roberts", "--nodes", "7", "--initiators", "all"]);
    assert_eq!(all["messages"], 2 * 7 - 1 + 7);
    let cube = json(&["echo", "--nodes", "1024", "--graph", "hypercube"]);
    assert_eq!((&cube["messages"], &cube["graph"]), (&10240.into(), &"hypercube".into()));
    let drawn = json(&["extinction", "--nodes", "4", "--graph", "0-1,1-2,2-3,3-0"]);
    assert_eq!((&drawn["messages"], &drawn["graph"]), (&11.into(), &"given".into()));
    let back = json(&["bully", "--nodes", "4", "--crash", "3@1.5", "--recover", "3@12"]);
    assert_eq!((&back["leader"], &back["crashed"]), (&3.into(), &serde_json::json!([])));
    // A timer runs out just after the period: that is no thousandth.
    let bully = json(&["bully", "--nodes", "5", "--crash", "4"]);
    assert_eq!((&bully["time"], &bully["knowing"]), (&4.0.into(), &4.into()));
    assert!(bully.get("parents").is_none(), "it builds no tree");
}

#[test]
fn an_echo_elects_nobody_and_shows_its_tree() {
    let text = said(&["elect", "echo", "--nodes", "4", "--graph", "line"]);
    for line in [
        "n0 has decided: the tree spans all 4 nodes. It took 6 messages, and 6.0 T.",
        "The tree, each node to its parent: n1 to n0, n2 to n1, n3 to n2.",
    ] {
        assert!(text.contains(line), "'{line}' is not in\n{text}");
    }
    let text = said(&["elect", "echo", "--nodes", "4", "--graph", "star", "--json"]);
    let row: serde_json::Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(row["parents"], serde_json::json!([null, 0, 0, 0]));
    let text = said(&["elect", "extinction", "--nodes", "4", "--graph", "line"]);
    assert!(text.contains("n0 leads. It took") && text.contains("n3 to n2."), "{text}");
}

/// The bully from each initiator, beside m² + n-2.
#[test]
fn an_election_is_held_once_for_each_that_calls() {
    let bully = ["elect", "bully", "--nodes", "6", "--crash", "5", "--initiators", "each"];
    let text = said(&[&bully[..], &["--json"]].concat());
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("an object per line"));
    let counted: Vec<(serde_json::Value, serde_json::Value)> = rows
        .map(|row: serde_json::Value| (row["initiators"].clone(), row["messages"].clone()))
        .collect();
    let expected = [5, 4, 3, 2, 1].iter().zip(0..);
    let expected = expected.map(|(m, caller)| (serde_json::json!([caller]), (m * m + 4).into()));
    assert_eq!(counted, expected.collect::<Vec<_>>());
    let table = said(&bully);
    assert!(table.lines().count() == 6 && !table.contains("leads"), "no story: {table}");
}

#[test]
fn chang_and_roberts_are_held_on_every_ring_beside_the_three_formulas() {
    let text = said(&["elect", "chang_roberts", "--nodes", "5", "--all-arrangements"]);
    for line in [
        "5 nodes, 120 arrangements",
        "fewest         9  2n-1: 9",
        "most          15  n(n+1)/2: 15",
        "mean      11.417  n*H(n): 1370/120, counted: 1370/120",
    ] {
        assert!(text.contains(line), "'{line}' is not in\n{text}");
    }
    let json = ["elect", "chang_roberts", "--nodes", "6", "--all-arrangements", "--json"];
    let row: serde_json::Value = serde_json::from_str(&said(&json)).expect("one object");
    assert_eq!((&row["total"], &row["expected_total"]), (&10584.into(), &10584.into()));
    assert_eq!((&row["least"], &row["most"], &row["ok"]), (&11.into(), &21.into(), &true.into()));
}

#[test]
fn columns_do_not_touch_however_many_nodes_there_are() {
    let text = said(&["elect", "echo", "--nodes", "100000", "--graph", "line"]);
    let row: Vec<_> = text.lines().last().expect("a row").split_whitespace().collect();
    assert_eq!(row[..2], ["echo", "100000"]);
    assert_eq!(row[6..], ["199998", "199998.0", "2E:", "199998"], "{text}");
}

#[test]
fn a_cut_has_two_leaders_and_a_crash_stops_who_stands_none() {
    let output = lab(&["elect", "bully", "--nodes", "5", "--initiators", "0,2", "--cut", "0,1"]);
    assert_eq!(output.status.code(), Some(1), "not all agree");
    let text = String::from_utf8_lossy(&output.stdout);
    for line in [
        "0.00 T  the network is cut: n0, n1 | n2, n3, n4",
        "n1 and n4 lead, each in its part.",
        "none for this  <- several lead",
    ] {
        assert!(text.contains(line), "'{line}' is not in\n{text}");
    }

    let cut = ["--nodes", "5", "--initiators", "0,2", "--cut", "0,1"];
    let output = lab(&[&["elect", "bully_majority"], &cut[..]].concat());
    assert_eq!(output.status.code(), Some(1), "not all settle");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("n4 leads its part; the others have no leader."), "{text}");
    assert!(text.contains("<- not all have settled"), "{text}");

    let output = lab(&["elect", "chang_roberts", "--nodes", "4", "--crash", "2"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("The election stops before all that live have settled"), "{text}");
    assert!(text.contains("<- nobody leads"), "{text}");
}

#[test]
fn bad_input_ends_with_2_and_says_what_to_do() {
    for (arguments, says) in [
        (&["bully", "--nodes", "1"][..], "1 node is no cluster: take 2 or more"),
        (&["bully", "--nodes", "0"], "0 nodes are no cluster: take 2 or more"),
        (&["bully", "--nodes", "2", "--crash", "5,6"], "there is no n5: the nodes are n0 to n1"),
        (&["bully", "--nodes", "3", "--cut", "7,8,9"], "there is no n7: the nodes are n0 to n2"),
        (
            &["bully", "--nodes", "2", "--crash", "0@1,1@1"],
            "leave one that can lead out of --crash",
        ),
        (&["bully", "--nodes", "2", "--crash", "0,1@1"], "leave one that can lead out of --crash"),
        (
            &["bully", "--nodes", "3", "--crash", "2@1", "--recover", "1@5"],
            "n1 is not down at 5, and cannot come back: crash it before, with --crash",
        ),
        (&["bully", "--nodes", "3", "--crash", "2@6", "--recover", "2@5"], "n2 is not down at 5"),
        (&["bully", "--nodes", "5", "--crash", "7"], "there is no n7: the nodes are n0 to n4"),
        (&["bully", "--nodes", "2", "--crash", "0,1"], "leave one that can lead out of --crash"),
        (&["bully", "--nodes", "3", "--crash", "x"], "take a number"),
        (&["bully", "--nodes", "3", "--crash", "1,1"], "name it once"),
        (
            &["bully", "--nodes", "3", "--crash", "1@1,1@2"],
            "n1 is down already at 2: name it once with --crash",
        ),
        (
            &["bully", "--nodes", "3", "--initiators", "foo"],
            "'foo' is no initiator: take a number, all, or each",
        ),
        (
            &["bully", "--initiators", "each", "--diagram", "each.svg"],
            "a picture shows one election: name who calls",
        ),
        (
            &["echo", "--nodes", "100000"],
            "a complete graph of 100000 nodes has 4999950000 edges: name another graph",
        ),
        (
            &["extinction", "--nodes", "100000", "--graph", "complete"],
            "name another graph with --graph",
        ),
        (&["echo", "--nodes", "4000000000", "--graph", "ring"], "take at most 1000000"),
        (&["echo", "--nodes", "100000", "--graph", "random:4000000000"], "take at most 10000000"),
        (&["echo", "--nodes", "2", "--graph", "0-0"], "one leads from n0 to itself: leave it out"),
        (
            &["echo", "--nodes", "2", "--graph", "0-1,1-0"],
            "n0 and n1 are joined twice: name that edge once",
        ),
        (&["bully", "--nodes", "3", "--initiators", "9"], "there is no n9"),
        (&["bully", "--nodes", "3", "--crash", "0", "--initiators", "0"], "name one that lives"),
        (&["bully", "--nodes", "3", "--cut", "0,1,2"], "name fewer with --cut"),
        (&["bully", "--graph", "ring"], "leave the graph out"),
        (&["echo", "--nodes", "4", "--graph", "0-1,2-3"], "no way leads from n0 to n2: join them"),
        (&["echo", "--nodes", "6", "--graph", "hypercube"], "take 4 or 8"),
        (
            &["echo", "--nodes", "6", "--graph", "torus"],
            "no graph is called 'torus': take complete",
        ),
        (&["echo", "--nodes", "6", "--graph", "random:2"], "take 5 to 15"),
        (&["chang_roberts", "--nodes", "1", "--all-arrangements"], "take 2 or more"),
        (&["chang_roberts", "--nodes", "9", "--all-arrangements"], "take at most 8"),
        (&["bully", "--all-arrangements"], "name chang_roberts"),
        (&["bullies"], "no election is called 'bullies'; there are bully, "),
        (&["lamport"], "is a lock: see it with `lab messages --algorithms lamport`"),
        (&["ring_orphan"], "is broken on purpose: see it with `lab check ring_orphan`"),
    ] {
        let output = lab(&[&["elect"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}

#[test]
fn a_diagram_marks_the_leader_and_crosses_out_who_is_down() {
    let folder = folder("election-diagram");
    let output = lab_in(&folder, &["diagram", "bully", "--nodes", "4"]);
    assert!(output.status.success(), "{output:?}");
    let picture = std::fs::read_to_string(folder.join("bully.svg")).expect("it is written");
    // Once in the legend, once on a line.
    assert_eq!(picture.matches(r#"class="leads""#).count(), 2);
    assert_eq!(picture.matches(r#"class="gone""#).count(), 1);
    assert!(picture.contains("calls an election") && picture.contains("ELECTION"));

    let cut = ["--nodes", "5", "--initiators", "0,2", "--cut", "0,1", "--diagram", "split.svg"];
    lab_in(&folder, &[&["elect", "bully"], &cut[..]].concat());
    let picture = std::fs::read_to_string(folder.join("split.svg")).expect("it is written");
    assert_eq!(picture.matches(r#"class="leads""#).count(), 3, "two lead");

    let output = lab_in(&folder, &["diagram", "ring_orphan"]);
    assert!(output.status.success(), "a counterexample is drawn: {output:?}");
    let output = lab(&["diagram", "bully", "--from", "actors"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The picture of the documentation is what its command draws.
#[test]
fn the_split_brain_of_the_documentation_is_drawn_by_its_command() {
    let page = include_str!("../../docs/elections.md");
    let command = "elect bully --nodes 5 --initiators 0,2 --cut 0,1";
    assert!(page.contains(&format!("The picture is `lab {command}`")), "the page names it");
    let folder = folder("split-brain");
    let arguments: Vec<_> = command.split(' ').chain(["--diagram", "split_brain.svg"]).collect();
    lab_in(&folder, &arguments);
    let drawn = std::fs::read_to_string(folder.join("split_brain.svg")).expect("it is written");
    let kept = include_str!("../../docs/split_brain.svg");
    assert!(drawn == kept, "draw it again: lab {command} --diagram docs/split_brain.svg");
}

#[test]
fn elections_are_explored_with_crashes_and_recoveries() {
    let text = said(&["check", "bully", "--nodes", "3", "--crashes", "1"]);
    assert!(text.contains("any, timed, 1 down") && text.contains("holds"), "{text}");
    // As many crashes as nodes: where nobody lives, nobody need settle.
    for name in ["bully_halt", "bully_majority", "ring_election"] {
        let text = said(&["check", name, "--nodes", "2", "--crashes", "2"]);
        assert!(text.contains("any, 2 down") && text.contains("holds"), "{text}");
    }
    // Time passes, and that is told.
    let output = lab(&["check", "bully_one_period"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\n# 2.000000 a period passes\n"), "{text}");
    // Where there is no end it gives up, and tells what it has found.
    let output = lab(&["check", "bully", "--timers", "any-time"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("refuted") && text.contains("'agreement' does not hold"), "{text}");
    let graph = ["--requests", "1,0,0,1", "--graph", "ring"];
    said(&[&["check", "extinction", "--nodes", "4"], &graph[..]].concat());
    for (arguments, says) in [
        (&["bully", "--k", "2"][..], "an election lets nobody in: leave --k out"),
        (
            &["lamport", "--crashes", "1"],
            "locks that start from one, are explored so: leave --crashes out",
        ),
        (&["bully", "--nodes", "1"], "take 2 or more"),
        (&["bully", "--nodes", "9"], "take at most 8"),
    ] {
        let output = lab(&[&["check"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}

struct Explore(usize);

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let explorer = Explorer { threads: 2, most_states: self.0, progress: &|_, _| () };
        explorer.explore(name, model)
    }
}

fn refuted(name: &str, scope: &Scope, most_states: usize) -> Vec<&'static str> {
    let explored = with_check(name, scope, Explore(most_states)).expect("it can be explored");
    explored.refuted().map(|finding| finding.property).collect()
}

/// Where timers run out at any moment nothing is finite: the election is called again and again.
/// But that two lead is found soon.
#[test]
fn an_ok_that_comes_late_makes_two_leaders() {
    let late = Scope::of([1, 0, 0]).late();
    assert!(refuted("bully", &late, 20_000).contains(&"agreement"));
}

#[test]
fn what_stands_no_crash_stops_wherever_it_comes_and_what_does_goes_on() {
    for name in ["chang_roberts", "le_lann", "echo", "extinction"] {
        let crash = Scope::of([1, 0, 0, 0]).with_faults(1, 0);
        assert_eq!(refuted(name, &crash, 1_000_000), ["all can settle"], "{name}");
        // One that comes back has forgotten all, its parent in the tree too.
        let back = Scope::of([1, 0, 0]).with_faults(1, 1);
        let wrong = refuted(name, &back, 1_000_000);
        let tree = ["echo", "extinction"].contains(&name);
        assert!(wrong.contains(&"all can settle"), "{name}: {wrong:?}");
        assert!(tree || wrong.len() == 1, "{name}: {wrong:?}");
        assert!(!wrong.contains(&"expected inputs only"), "{name}: {wrong:?}");
    }
    for name in ["bully", "bully_halt", "bully_majority", "ring_election", "ring_election_to_all"] {
        let crash = Scope::of([1, 0, 0]).with_faults(1, 0);
        assert!(refuted(name, &crash, 1_000_000).is_empty(), "{name}");
        let two = Scope::of([1, 0, 0]).with_faults(2, 0);
        // If the caller goes down, and so does the only node that it asked, nobody that lives knows
        // that there was a call.
        let unheard: &[_] = if name == "bully_halt" { &["all can settle"] } else { &[] };
        assert_eq!(refuted(name, &two, 1_000_000), unheard, "{name}");
        let back = Scope::of([1, 0]).with_faults(1, 1);
        assert!(refuted(name, &back, 1_000_000).is_empty(), "{name}");
    }
}

/// Where all are told at once that a node is cut off, and that it is in reach again, one leads, and
/// all settle.
#[test]
fn a_cut_that_begins_and_ends_at_any_moment_leaves_one_leader() {
    let cluster = BullyHalt::gated(3).expect("three are enough");
    let check = Check::election(cluster).initiators([NodeId(2)]).cut_for_a_while([NodeId(0)]);
    let told = Explore(1_000_000).visit("at once", check.clone().told_at_once());
    assert_eq!(told.verdict, "holds", "{:?}", told.refuted().collect::<Vec<_>>());

    // A cut that is over before anybody was told has lost a HALT that nobody sends again.
    let late = Explore(1_000_000).visit("late", check.agreeing(Agreement::Inherent));
    let wrong: Vec<_> = late.refuted().map(|finding| finding.property).collect();
    assert_eq!(wrong, ["all can settle"]);
}
