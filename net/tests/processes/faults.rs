//! What is inside stays inside, and keeps others out: stopped nodes, commands that outlive theirs.

use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;

use super::harness::{Cluster, Plan, wait_for};

/// Notes that it is inside, and stays until it may go.
const STAY: &str = "echo $EXCLUSION_FENCE > fence.$$; mv fence.$$ inside; \
                    until [ -e go ]; do sleep 0.05; done; rm inside";

fn stay_inside(cluster: &Cluster, id: u32) -> Child {
    let child = cluster.locking(id, &[], STAY).spawn().unwrap();
    wait_for("an entry", || cluster.path("inside").exists());
    child
}

fn let_go(cluster: &Cluster) {
    std::fs::write(cluster.path("go"), "").unwrap();
}

#[test]
fn a_command_has_its_fence_and_its_exit_code() {
    let cluster = Cluster::started(Plan::default());
    let script = "echo $EXCLUSION_RESOURCE $EXCLUSION_EPOCH $EXCLUSION_ENTRY $EXCLUSION_FENCE";
    let output = cluster.lock(1, &[], script);
    let said = String::from_utf8_lossy(&output.stdout);
    let words: Vec<_> = said.split_whitespace().collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    assert_eq!(words[0], "counter", "{output:?}");
    assert!(number(words[1]) >= 1 && number(words[2]) == 1);
    assert_eq!(words[3], format!("{:0>20}.{:0>20}", words[1], words[2]));
    assert_eq!(cluster.lock(2, &[], "exit 7").status.code(), Some(7));
    assert_eq!(cluster.lock(2, &[], "kill -TERM $$").status.code(), Some(128 + 15));
    let wrong = |what: &[&str]| cluster.do_at(3, what).status.code();
    assert_eq!(wrong(&["lock", "counter", "--", "/no/such/command"]), Some(127));
    assert_eq!(wrong(&["lock", "counter", "--", "/etc/passwd"]), Some(126));
    assert_eq!(wrong(&["lock", "nothing", "--", "true"]), Some(2));
    assert_eq!(wrong(&["lock", "counter"]), Some(2));
    let status = cluster.status(1);
    assert!(status.contains("epoch") && status.contains("node 3: up"), "{status}");
    assert_eq!(cluster.end(1), Some(0));
    assert_eq!(wrong(&["lock", "counter", "--unless-incomplete", "--", "true"]), Some(125));
}

#[test]
fn nobody_enters_while_a_stopped_node_has_a_command_inside() {
    let cluster = Cluster::started(Plan { idle_timeout_ms: 500, ..Plan::default() });
    let mut inside = stay_inside(&cluster, 1);
    cluster.signal(1, Signal::STOP);
    wait_for("the end of the epoch", || cluster.status(2).contains("no epoch runs"));
    assert_eq!(cluster.enters(2, 2), Some(124));
    cluster.signal(1, Signal::CONT);
    wait_for("hello of the others", || cluster.status(1).contains("all wait for a user"));
    assert_eq!(cluster.enters(3, 1), Some(124));
    let_go(&cluster);
    assert!(inside.wait().unwrap().success());
    cluster.must_enter(2);
}

#[test]
fn a_stopped_node_that_goes_on_is_taken_in_again() {
    let cluster = Cluster::started(Plan { idle_timeout_ms: 500, ..Plan::default() });
    cluster.must_enter(1);
    for id in [2, 3] {
        cluster.signal(id, Signal::STOP);
        assert_eq!(cluster.enters(1, 2), Some(124));
        cluster.signal(id, Signal::CONT);
        cluster.must_enter(1);
    }
}

#[test]
fn a_command_that_outlives_its_node_is_not_forgotten() {
    let cluster = Cluster::started(Plan { idle_timeout_ms: 500, ..Plan::default() });
    let mut inside = stay_inside(&cluster, 1);
    cluster.kill(1);
    cluster.start(1);
    assert_eq!(cluster.enters(2, 2), Some(124));
    // A command of the new life does not hold it up, nor does it get in.
    assert_eq!(cluster.enters(1, 1), Some(124));
    assert!(cluster.log(1).contains("commands of an earlier life are still inside"));
    let_go(&cluster);
    // The command has ended well, though its node has not.
    assert!(inside.wait().unwrap().success());
    cluster.must_enter(2);
}

#[test]
fn a_command_that_outlives_its_parent_is_not_forgotten() {
    let cluster = Cluster::started(Plan::default());
    let mut inside = stay_inside(&cluster, 1);
    inside.kill().unwrap();
    inside.wait().unwrap();
    assert_eq!(cluster.enters(1, 1), Some(124));
    assert_eq!(cluster.enters(2, 1), Some(124));
    let_go(&cluster);
    cluster.must_enter(2);
    // What a command leaves in the background is inside too.
    std::fs::remove_file(cluster.path("go")).unwrap();
    let output = cluster.lock(1, &[], "(until [ -e go ]; do sleep 0.05; done) > /dev/null 2>&1 &");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("is still inside"), "{output:?}");
    assert_eq!(cluster.enters(2, 1), Some(124));
    let_go(&cluster);
    cluster.must_enter(2);
}

#[test]
fn a_command_that_stops_waiting_leaves_the_line() {
    let cluster = Cluster::started(Plan::default());
    let mut inside = stay_inside(&cluster, 1);
    let mut waiting = cluster.locking(1, &[], "true").spawn().unwrap();
    wait_for("a waiter", || cluster.status(1).contains("counter: 1 waiting"));
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    wait_for("no waiter", || cluster.status(1).contains("counter: 0 waiting"));
    assert_eq!(cluster.lock(2, &["--try"], "true").status.code(), Some(124));
    let_go(&cluster);
    assert!(inside.wait().unwrap().success());
    cluster.must_enter(2);
    std::thread::sleep(Duration::from_millis(1));
}
