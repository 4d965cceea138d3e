//! What faults do, as the lab finds it: the table of the documentation, and what the command
//! prints.
//!
//! `UPDATE_TABLES=1 cargo test -p lab --test faults` writes the rows that are explored within
//! seconds. `lab faults --all --markdown` prints all rows.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::{assert_wrong_usage, lab};
use exclusion::message::check::Outcome;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::{Trace, replay};
use lab::count::safety::{self, Safety};
use lab::explore::broken::{Broken, with_broken, with_mended};
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor};
use lab::explore::faults::{Cell, Plague, Seat, explore, markdown, plagues, reach};

const BEGIN: &str = "<!-- faults -->\n";
const END: &str = "<!-- /faults -->";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/failures.md")
}

/// Explores each fault of each algorithm that takes no longer than a second or so.
fn cells() -> Vec<Cell> {
    let soon = ALGORITHMS.iter().filter(|algorithm| reach(algorithm).soon);
    let all = soon.flat_map(|algorithm| {
        let plagues = plagues(algorithm).expect("there is such a cluster");
        plagues.into_iter().map(|plague| explore(algorithm, plague).expect("few states"))
    });
    all.collect()
}

#[test]
fn the_table_of_faults_is_what_is_explored_and_every_cell_has_a_trace() {
    let cells = cells();
    for cell in &cells {
        let is_bad = cell.outcome.is_some_and(|outcome| outcome != Outcome::Harmless);
        assert_eq!(cell.trace.is_some(), is_bad, "{cell:?}");
        if let Some(trace) = &cell.trace {
            let algorithm = Algorithm::named(cell.algorithm).expect("it is listed");
            let size = Size::of(cell.nodes);
            algorithm.build(size, Replay(trace)).expect("there is such a cluster");
        }
    }
    let found = markdown(&cells);
    let text = std::fs::read_to_string(page()).expect("a page");
    let (before, rest) = text.split_once(BEGIN).expect("the page has a marker");
    let (table, after) = rest.split_once(END).expect("the page has a second marker");
    let rows: BTreeSet<&str> = table.lines().collect();
    if std::env::var_os("UPDATE_TABLES").is_some() {
        // Rows that take longer stay as they are.
        let name = |row: &str| row.split('`').nth(1).map(str::to_owned);
        let long = |name: &str| ALGORITHMS.iter().any(|it| it.name == name && !reach(it).soon);
        let kept = |wanted: &str| table.lines().find(|row| name(row).as_deref() == Some(wanted));
        let mut lines: Vec<&str> = found.lines().take(2).collect();
        for algorithm in ALGORITHMS {
            let fresh = found.lines().find(|row| name(row).as_deref() == Some(algorithm.name));
            lines.extend(if long(algorithm.name) { kept(algorithm.name) } else { fresh });
        }
        let table = lines.join("\n");
        let text = format!("{before}{BEGIN}{table}\n{END}{after}");
        std::fs::write(page(), text).expect("the page can be written");
    } else {
        for row in found.lines() {
            assert!(rows.contains(row), "docs/failures.md has another row than\n{row}");
        }
        for algorithm in ALGORITHMS {
            let begins = format!("| `{}` |", algorithm.name);
            assert!(rows.iter().any(|row| row.starts_with(&begins)), "{begins} is missing");
        }
    }
}

struct Replay<'a>(&'a Trace);

impl Visitor for Replay<'_> {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        if let Err(error) = replay(cluster, self.0) {
            panic!("{algorithm}: {error}\n{}", self.0);
        }
    }
}

/// What is said of these algorithms in general, as far as it is so.
#[test]
fn the_claims_of_the_literature_come_out_where_they_are_right() {
    let worst = |name: &str, plague: Plague| {
        let algorithm = Algorithm::named(name).expect("it is listed");
        explore(algorithm, plague).expect("few states").outcome
    };
    let dies = |name: &str, seat: Seat| worst(name, Plague::Dies(seat));
    assert_eq!(dies("central_coordinator", Seat::Idle), Some(Outcome::Harmless));
    assert_eq!(dies("central_coordinator", Seat::Arbiter), Some(Outcome::All));
    assert_eq!(dies("central_coordinator", Seat::IdleWithToken), None);
    for seat in [Seat::Idle, Seat::IdleWithToken, Seat::Requester, Seat::Holder] {
        assert_eq!(dies("token_ring", seat), Some(Outcome::All), "{seat:?}");
    }
    assert_eq!(dies("suzuki_kasami", Seat::Idle), Some(Outcome::Harmless));
    assert_eq!(dies("suzuki_kasami", Seat::IdleWithToken), Some(Outcome::All));
    assert_eq!(dies("raymond", Seat::Idle), Some(Outcome::Harmless), "a leaf");
    assert_eq!(dies("raymond", Seat::Arbiter), Some(Outcome::All), "the root");
    let lost = |name: &str, kind: &'static str| worst(name, Plague::Lost(kind));
    assert_eq!(lost("central_coordinator", "REQUEST"), Some(Outcome::One));
    assert_eq!(lost("central_coordinator", "GRANT"), Some(Outcome::All));
    assert_eq!(lost("suzuki_kasami", "REQUEST"), Some(Outcome::OneUntilAsked));
    assert_eq!(lost("suzuki_kasami", "TOKEN"), Some(Outcome::All));
}

fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    let output = lab(&[&["faults"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

#[test]
fn the_command_says_what_befalls_the_plain_and_the_layered() {
    let rows = rows(&["central_coordinator"]);
    let faults: Vec<_> = rows.iter().map(|row| row["fault"].as_str().expect("a text")).collect();
    assert_eq!(
        faults,
        [
            "idle dies",
            "token dies",
            "requester dies",
            "holder dies",
            "arbiter dies",
            "GRANT lost",
            "RELEASE lost",
            "REQUEST lost"
        ]
    );
    for row in &rows {
        assert_eq!(row["algorithm"], "central_coordinator");
        assert_eq!(row["ok"], true, "{row}");
        let cannot_be = row["plain"] == "cannot be";
        assert_eq!(row["recovering"].is_null(), cannot_be, "{row}");
        assert!(cannot_be || row["recovering"] == "served", "{row}");
        assert!(cannot_be || row["messages"].as_f64().is_some_and(|it| it > 0.0), "{row}");
        assert!(cannot_be || row["delay"].as_f64().is_some_and(|it| it > 0.0), "{row}");
    }
}

/// The table between two markers of the page. With `UPDATE_TABLES` it is written.
#[test]
fn the_table_of_what_safety_costs_is_what_is_simulated() {
    let prices: Vec<_> =
        ALGORITHMS.iter().map(|algorithm| Safety::of(algorithm).expect("it runs")).collect();
    for Safety { algorithm, nodes, plain, link, recovering, .. } in &prices {
        let beats = (nodes * (nodes - 1)) as f64;
        assert_eq!((plain.heartbeats, link.heartbeats), (0.0, 0.0), "{algorithm}");
        assert!((recovering.heartbeats / beats - 1.0).abs() < 0.05, "{algorithm}: {recovering:?}");
    }
    let found = safety::markdown(&prices);
    let (begin, end) = ("<!-- safety -->\n", "<!-- /safety -->");
    let text = std::fs::read_to_string(page()).expect("a page");
    let (before, rest) = text.split_once(begin).expect("the page has a marker");
    let (table, after) = rest.split_once(end).expect("the page has a second marker");
    if std::env::var_os("UPDATE_TABLES").is_some() {
        let text = format!("{before}{begin}{found}{end}{after}");
        std::fs::write(page(), text).expect("the page can be written");
    } else {
        assert_eq!(table, found, "UPDATE_TABLES=1 cargo test -p lab --test faults writes it");
    }
}

#[test]
fn what_safety_costs_is_told_for_one_algorithm_and_as_objects() {
    let row = &rows(&["ricart_agrawala", "--cost"])[0];
    assert_eq!(row["plain"]["messages"], 8.0, "2(n-1): {row}");
    assert_eq!(row["link"]["messages"], 16.0, "each has a receipt: {row}");
    let of = |what: &str| row[what]["delay"].as_f64().expect("a number");
    assert!(of("losing") > of("recovering"), "{row}");
    let output = lab(&["faults", "ricart_agrawala", "--cost"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("ricart_agrawala"), "{output:?}");
}

#[test]
fn loss_is_survived_over_the_link_and_by_no_plain_algorithm() {
    for name in ["lamport", "suzuki_kasami", "maekawa"] {
        let rows = rows(&[name, "--loss", "0.1"]);
        assert_eq!(rows.len(), 1);
        assert_ne!(rows[0]["plain"], "served", "{}", rows[0]);
        assert_eq!(rows[0]["recovering"], "served", "{}", rows[0]);
    }
}

/// A cut of two from three: a minority grants nothing, and all are served when it is over.
#[test]
fn a_cut_is_survived_by_what_recovers_with_fences() {
    for name in ["suzuki_kasami", "lamport", "central_coordinator"] {
        let rows = rows(&[name, "--cut", "0,1"]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0]["recovering"], "served", "{}", rows[0]);
        assert_eq!(rows[0]["ok"], true, "{}", rows[0]);
        assert!(rows[0]["view_messages"].as_f64().is_some_and(|it| it > 0.0), "{}", rows[0]);
        assert!(rows[0]["heartbeats"].as_f64().is_some_and(|it| it > 0.0), "{}", rows[0]);
    }
}

struct Explore;

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        let explorer = Explorer { threads: 2, most_states: 5_000_000, progress: &|_, _| () };
        explorer.explore(name, model)
    }
}

/// Without the rule it is refuted in what it violates, and with the rule it holds.
#[track_caller]
fn is_needed(name: &str) {
    let broken = Broken::named(name).expect("it is listed");
    let explored = with_broken(name, Explore).expect("it is listed");
    assert!(broken.is_refuted(&explored), "{}: {}", broken.name, broken.why);
    assert_eq!(with_mended(name, Explore).expect("it is listed").verdict, "holds", "{name}");
}

#[test]
fn without_the_detectors_notice_survivors_wait_for_ever() {
    is_needed("recovery_untold");
}

#[test]
fn without_the_promise_after_halt_a_token_in_flight_becomes_two() {
    is_needed("recovery_without_promise");
}

#[test]
fn without_the_epoch_a_token_of_the_old_view_comes_to_the_new_one() {
    is_needed("recovery_without_epoch");
}

#[test]
fn without_the_filter_of_duplicates_a_grant_that_comes_twice_admits_twice() {
    is_needed("link_without_filter");
}

#[test]
fn without_incarnations_what_a_node_says_after_a_restart_is_not_heard() {
    is_needed("link_without_lives");
}

#[test]
fn without_a_majority_a_node_that_is_cut_off_makes_a_view_of_its_own() {
    is_needed("recovery_minority");
}

#[test]
fn faults_that_cannot_be_are_wrong_usage() {
    for (arguments, reason) in [
        (&["lampost"][..], "no algorithm is called 'lampost'"),
        (&["lamport", "--crash", "king"], "take one of idle, token, requester, holder, arbiter"),
        (&["token_ring", "--lose", "LETTER"], "take one of TOKEN"),
        (&["lamport", "--loss", "1.5"], "no probability"),
        (&["lamport", "--cut", "9"], "there is no n9"),
        (&["lamport", "--all"], "cannot be used with"),
        (&["--crash", "holder", "--loss", "0.1"], "cannot be used with"),
    ] {
        let output = lab(&[&["faults"], arguments].concat());
        assert_wrong_usage(&output, arguments, reason);
    }
}
