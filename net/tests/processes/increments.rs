//! Increments of a number in a plain file: none is lost, whichever node is killed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::harness::{Cluster, Plan, SplitMix, setting};

/// Not atomic, without the lock.
const INCREMENT: &str = "read n < number; echo $((n + 1)) > number";

/// How many increments: some by default, and as many as are asked for.
fn wanted() -> u64 {
    setting("INCREMENTS", 150)
}

#[test]
fn no_increment_is_lost_while_nodes_are_killed_and_restarted() {
    let (wanted, seed) = (wanted(), setting("SEED", 1));
    println!("{wanted} increments, seed {seed}");
    let cluster = Cluster::started(Plan { idle_timeout_ms: 1000, ..Plan::default() });
    let (done, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for id in 1..=3 {
            let (cluster, done, refused) = (&cluster, &done, &refused);
            scope.spawn(move || {
                while done.load(Ordering::SeqCst) < wanted {
                    match cluster.lock(id, &[], INCREMENT).status.code() {
                        Some(0) => {
                            done.fetch_add(1, Ordering::SeqCst);
                        }
                        // The node was killed before it let the command in.
                        Some(125) => {
                            refused.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(Duration::from_millis(20));
                        }
                        code => panic!("node {id}: {code:?}"),
                    }
                }
            });
        }
        let mut random = SplitMix(seed);
        let mut killed = 0;
        while done.load(Ordering::SeqCst) < wanted {
            // Three times in the run at least.
            if done.load(Ordering::SeqCst) * 4 >= wanted * (killed + 1) || random.below(200) == 0 {
                let id = 1 + random.below(3) as u32;
                cluster.kill(id);
                std::thread::sleep(Duration::from_millis(random.below(300)));
                cluster.start(id);
                killed += 1;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("{killed} times a node was killed");
    });
    let (done, refused) = (done.into_inner(), refused.into_inner());
    println!("{done} increments, {refused} commands were not let in");
    assert_eq!(cluster.number(), done);
}

#[test]
fn without_the_lock_increments_are_lost() {
    // What is tested above can fail: the same without the lock, with time for a race.
    let cluster = Cluster::new(Plan::default());
    let racy = "read n < number; sleep 0.05; echo $((n + 1)) > number";
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut command = std::process::Command::new("sh");
                command.args(["-c", racy]).current_dir(&cluster.folder).status().unwrap();
            });
        }
    });
    assert!(cluster.number() < 3);
}

#[test]
fn every_algorithm_serves_processes() {
    // Some of each family: all of them run over sessions within a process.
    for algorithm in ["central_coordinator", "maekawa", "token_ring", "banta_efficient_hardened"] {
        let cluster = Cluster::started(Plan { algorithm, ..Plan::default() });
        std::thread::scope(|scope| {
            for id in 1..=3 {
                let cluster = &cluster;
                scope.spawn(move || {
                    for _ in 0..3 {
                        let output = cluster.lock(id, &[], INCREMENT);
                        assert!(output.status.success(), "{algorithm}: {output:?}");
                    }
                });
            }
        });
        assert_eq!(cluster.number(), 9, "{algorithm}");
    }
}
