//! Who does not belong is refused, with a reason in the log.

use std::fs;
use std::process::Command;

use exclusion_net::SecretKey;

use super::harness::{Cluster, Plan, node_program, wait_for};

#[test]
fn a_node_that_has_lost_its_data_is_refused_until_the_others_replace_it() {
    let cluster = Cluster::started(Plan::default());
    cluster.must_enter(3);
    // With its data it is taken in again.
    cluster.kill(3);
    cluster.start(3);
    cluster.must_enter(3);
    // Without, it is not.
    cluster.kill(3);
    fs::remove_dir_all(cluster.path("3.data")).unwrap();
    cluster.start(3);
    for id in [1, 2] {
        wait_for("a refusal", || cluster.log(id).contains("it has lost its memory"));
    }
    wait_for("the reason", || cluster.log(3).contains("it has lost its memory"));
    assert_eq!(cluster.enters(1, 2), Some(124));
    // One of the others is told while it runs, the other while it does not.
    let told = cluster.do_at(1, &["replace", "3"]);
    assert!(told.status.success(), "{told:?}");
    assert_eq!(cluster.enters(1, 1), Some(124), "one word is not enough");
    assert_eq!(cluster.end(2), Some(0));
    let told = cluster.do_at(2, &["replace", "3"]);
    assert!(told.status.success(), "{told:?}");
    cluster.start(2);
    cluster.must_enter(3);
    assert!(!cluster.do_at(1, &["replace", "3"]).status.success(), "nobody is missing");
}

#[test]
fn a_second_process_of_a_node_is_refused() {
    let cluster = Cluster::started(Plan::default());
    let second = cluster.do_at(1, &["run"]);
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("another process of this node runs"), "{said}");
    cluster.must_enter(1);
}

#[test]
fn a_copy_of_a_node_that_runs_is_refused_by_the_others() {
    let cluster = Cluster::started(Plan::default());
    cluster.must_enter(1);
    // The first of them has dialled. A copy with the same key, and the data of a moment ago.
    let (from, to) = (cluster.path("1.data"), cluster.path("copy"));
    let copied = Command::new("cp").arg("-r").args([from, to]).output().unwrap();
    // The socket cannot be copied, and need not be.
    assert!(cluster.path("copy/record").exists(), "{copied:?}");
    let _ = fs::remove_file(cluster.path("copy/control"));
    let config = fs::read_to_string(cluster.path("cluster.toml")).unwrap();
    let mine = config.lines().find(|line| line.starts_with("address")).unwrap().to_owned();
    let elsewhere = config.replacen(&mine, "address = \"127.0.0.1:0\"", 1);
    fs::write(cluster.path("copy.toml"), elsewhere).unwrap();
    fs::copy(cluster.path("1.key"), cluster.path("copy.key")).unwrap();
    let mut copy = Command::new(node_program())
        .args(["run", "--me", "1", "--config"])
        .arg(cluster.path("copy.toml"))
        .arg("--key")
        .arg(cluster.path("copy.key"))
        .arg("--data")
        .arg(cluster.path("copy"))
        .stderr(fs::File::create(cluster.path("copy.log")).unwrap())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The copy is a later life: it takes the place of the first, which is refused from then on.
    // Whichever of the two has it, the other is not let in beside it.
    let refused = || {
        let log = |path: &str| fs::read_to_string(cluster.path(path)).unwrap_or_default();
        (cluster.log(1) + &log("copy.log")).contains("it has lost its memory")
    };
    wait_for("a refusal", refused);
    copy.kill().unwrap();
    copy.wait().unwrap();
}

#[test]
fn another_key_is_refused() {
    let cluster = Cluster::new(Plan::default());
    // A member with a key that is not its own.
    fs::rename(cluster.path("1.key"), cluster.path("kept.key")).unwrap();
    SecretKey::generate().write_new(&cluster.path("1.key")).unwrap();
    let output = cluster.do_at(1, &["run"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not that of member 1"));
    // A stranger whose configuration says that it belongs.
    let config = fs::read_to_string(cluster.path("cluster.toml")).unwrap();
    let right = SecretKey::read(&cluster.path("kept.key")).unwrap().public().to_string();
    let own = SecretKey::read(&cluster.path("1.key")).unwrap().public().to_string();
    fs::write(cluster.path("stranger.toml"), config.replace(&right, &own)).unwrap();
    cluster.start(2);
    cluster.start(3);
    let mut stranger = cluster.spawn(1, &cluster.path("stranger.toml"));
    wait_for("a refusal", || cluster.log(2).contains("no member has this key"));
    wait_for("the reason", || cluster.log(1).contains("no member of this cluster has your key"));
    assert_eq!(cluster.enters(2, 1), Some(124));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    // The member itself is welcome.
    fs::remove_dir_all(cluster.path("1.data")).unwrap();
    fs::rename(cluster.path("kept.key"), cluster.path("1.key")).unwrap();
    cluster.start(1);
    cluster.must_enter(2);
}

#[test]
fn another_configuration_is_refused() {
    let cluster = Cluster::new(Plan::default());
    let config = fs::read_to_string(cluster.path("cluster.toml")).unwrap();
    fs::write(cluster.path("other.toml"), config.replace("\"other\"", "\"another\"")).unwrap();
    cluster.start(1);
    cluster.start(2);
    let mut other = cluster.spawn(3, &cluster.path("other.toml"));
    wait_for("a refusal", || {
        (1..=3).any(|id| cluster.log(id).contains("it has another configuration"))
    });
    assert_eq!(cluster.enters(1, 1), Some(124));
    other.kill().unwrap();
    other.wait().unwrap();
    cluster.start(3);
    cluster.must_enter(1);
    // What cannot be a configuration is wrong usage.
    fs::write(cluster.path("wrong.toml"), "algorithm = 7").unwrap();
    let output = Command::new(node_program())
        .args(["run", "--me", "1", "--config"])
        .arg(cluster.path("wrong.toml"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
