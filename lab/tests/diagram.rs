//! What the lab draws.

mod common;

use std::collections::HashMap;

use common::{assert_wrong_usage, folder, lab_in};

#[test]
fn a_diagram_of_a_seed_is_the_same_each_time() {
    let folder = folder("diagram");
    let draw = |seed: &str| {
        let output =
            lab_in(&folder, &["diagram", "ricart_agrawala", "--nodes", "3", "--seed", seed]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, b"wrote ricart_agrawala.svg\n");
        std::fs::read_to_string(folder.join("ricart_agrawala.svg")).expect("it was written")
    };
    let picture = draw("1");
    assert_eq!(picture, draw("1"));
    assert_ne!(picture, draw("2"));
    assert_eq!(picture, include_str!("../../docs/ricart_agrawala.svg"), "the README's picture");
    // Three lines of life, messages of two kinds, stays inside, and an answer that is delayed.
    assert_eq!(picture.matches("class=\"life\"").count(), 3);
    assert!(picture.contains(">REQUEST<") && picture.contains(">CONFIRM<"));
    assert!(picture.contains(">CONFIRM, held back<"));
    // Four of each, and one in the legend.
    assert_eq!(picture.matches("class=\"inside\"").count(), 4 + 1);
    assert_eq!(picture.matches("class=\"asks\"").count(), 4 + 1);
    assert!(picture.matches("class=\"delayed\"").count() > 1);
    // 2(n-1) messages per entry.
    assert_eq!(picture.matches("class=\"message\"").count(), 4 * 2 * (3 - 1));
}

#[test]
fn actors_and_counterexamples_are_drawn_too() {
    let folder = folder("drawn");
    let output =
        lab_in(&folder, &["diagram", "suzuki_kasami", "--from", "actors", "--entries", "2"]);
    assert!(output.status.success(), "{output:?}");
    let picture =
        std::fs::read_to_string(folder.join("suzuki_kasami.svg")).expect("it was written");
    assert_eq!(picture.matches("class=\"inside\"").count(), 3 * 2 + 1);
    assert!(picture.contains(" µs<"));

    let broken =
        ["diagram", "lamport_unordered", "--from", "counterexample", "--output", "broken.svg"];
    assert!(lab_in(&folder, &broken).status.success());
    let picture = std::fs::read_to_string(folder.join("broken.svg")).expect("it was written");
    assert_eq!(picture.matches("class=\"inside\"").count(), 2 + 1, "two are inside");

    let check = ["check", "lamport", "--nodes", "2", "--channels", "any", "--diagram", "check.svg"];
    assert_eq!(lab_in(&folder, &check).status.code(), Some(1));
    assert!(folder.join("check.svg").exists());
}

#[test]
fn what_befalls_nodes_and_what_comes_of_it_is_drawn() {
    let folder = folder("fates");
    let draw = |arguments: &[&str]| {
        let command = [&["diagram", "suzuki_kasami", "--nodes", "5"], arguments].concat();
        let output = lab_in(&folder, &command);
        assert!(output.status.success(), "{output:?}");
        let picture = folder.join("suzuki_kasami.svg");
        std::fs::read_to_string(picture).expect("it was written")
    };
    let drawn = |picture: &str, class: &str| picture.contains(&format!("class=\"{class}\""));
    let plain = draw(&["--entries", "8"]);
    let befallen = draw(&["--entries", "8", "--cut", "0+1@4-15", "--pause", "3@2-6"]);
    for (class, meaning) in [
        ("cut", "cut off"),
        ("paused", "stands still"),
        ("suspects", "suspects"),
        ("trusts", "trusts again"),
        ("epoch", "new epoch"),
    ] {
        assert!(drawn(&befallen, class) && befallen.contains(meaning), "{class}");
        assert!(!drawn(&plain, class) && !plain.contains(&format!(">{meaning}<")), "{class}");
    }
    assert!(befallen.contains("n0 does not reach n2, n3, n4"), "the picture says whom");
    assert!(befallen.contains("n2 suspects n0"), "and who suspects whom");
    let crash = draw(&["--entries", "6", "--crash", "0@3", "--recover", "0@20"]);
    assert!(drawn(&crash, "gone") && drawn(&crash, "epoch") && crash.contains("goes down"));
    assert!(!drawn(&crash, "cut"));
    for (arguments, reason) in [
        (&["--crash", "7@3"][..], "there is no n7: the nodes are n0 to n4"),
        (&["--crash", "x@3"], "take a number"),
        (&["--crash", "1"], "write it as 0@4"),
        (&["--pause", "1@3"], "write from and to, as 3-8"),
        (&["--pause", "1@5-3"], "ends before it begins"),
        (&["--cut", "0+1+2+3+4@1-2"], "name fewer with --cut"),
        (&["--from", "actors", "--crash", "1@3"], "leave it out"),
    ] {
        let command = [&["diagram", "suzuki_kasami", "--nodes", "5"], arguments].concat();
        assert_wrong_usage(&lab_in(&folder, &command), &command, reason);
    }
}

#[test]
fn a_log_for_shiviz_has_an_event_for_each_and_clocks_that_grow() {
    let folder = folder("shiviz");
    let output = lab_in(
        &folder,
        &["diagram", "central_coordinator", "--entries", "2", "--shiviz", "log.txt"],
    );
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(folder.join("log.txt")).expect("it was written");
    let events = log.strip_prefix("(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n");
    let lines: Vec<_> = events.expect("it begins with how to read it").lines().collect();
    type Clock = HashMap<String, u64>;
    let mut last: HashMap<&str, u64> = HashMap::new();
    let mut sent: HashMap<&str, Clock> = HashMap::new();
    let mut received = 0;
    for pair in lines.chunks(2) {
        let [clock, event] = pair else { panic!("two lines an event: {pair:?}") };
        let (host, clock) = clock.split_once(' ').expect("a host and its clock");
        let clock: Clock = serde_json::from_str(clock).expect("a clock");
        let mine = clock[host];
        assert_eq!(mine, last.insert(host, mine).unwrap_or(0) + 1, "{pair:?}");
        let words: Vec<_> = event.split(' ').collect();
        match words[..] {
            [_, _, "sends", message, ..] => drop(sent.insert(message, clock)),
            [_, _, "receives", message, ..] => {
                // The receiver knows all that the sender knew.
                let knew = sent.remove(message).expect("what is received was sent");
                assert!(knew.iter().all(|(node, count)| clock[node] >= *count), "{pair:?}");
                received += 1;
            }
            _ => {}
        }
    }
    assert!(last.len() > 1 && received > 0, "several hosts, and messages");
}

/// What a variant that is broken draws unless told otherwise.
#[test]
fn a_broken_variant_is_drawn_with_its_counterexample() {
    let folder = folder("broken");
    for told in [&[][..], &["--from", "counterexample"]] {
        let output = lab_in(&folder, &[&["diagram", "maekawa_voting"], told].concat());
        assert!(output.status.success(), "{output:?}");
        let picture = std::fs::read_to_string(folder.join("maekawa_voting.svg")).expect("drawn");
        // All three ask, and nobody enters; one stay stands in the legend.
        assert_eq!(picture.matches("class=\"asks\"").count(), 3 + 1);
        assert_eq!(picture.matches("class=\"inside\"").count(), 1);
        std::fs::remove_file(folder.join("maekawa_voting.svg")).expect("it was there");
    }
}

#[test]
fn what_goes_to_the_standard_output_is_the_picture_alone() {
    let folder = folder("standard-output");
    let draw = ["diagram", "raymond_k", "--nodes", "5", "--k", "3", "--output", "-"];
    let output = lab_in(&folder, &[&draw[..], &["--shiviz", "x.log"]].concat());
    assert!(output.status.success(), "{output:?}");
    let picture = String::from_utf8(output.stdout).expect("text");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"), "{picture}");
    assert!(picture.contains("raymond_k, k = 3, 5 nodes"), "the title names k");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("wrote x.log"), "{said}");
    assert!(!folder.join("-").exists(), "a file is called -");
}

/// A cross is where an answer is held back: never where a token goes to another, or one asks in
/// turn.
#[test]
fn crosses_are_where_confirmations_are_held_back() {
    let folder = folder("crosses");
    for (algorithm, held_back) in
        [("suzuki_kasami", false), ("lamport", false), ("naimi_trehel", false), ("raymond_k", true)]
    {
        assert!(lab_in(&folder, &["diagram", algorithm, "--entries", "12"]).status.success());
        let picture = std::fs::read_to_string(folder.join(format!("{algorithm}.svg"))).unwrap();
        // One stands in the legend.
        let crosses = picture.matches("class=\"delayed\"").count() - 1;
        assert_eq!(crosses > 0, held_back, "{algorithm}: {crosses}");
        assert_eq!(picture.contains(", held back<"), held_back, "{algorithm}");
    }
}
