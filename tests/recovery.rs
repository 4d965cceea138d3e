//! Locks that recover: explored with a crash at every step, with recoveries, and with detectors
//! that err.
//!
//! The gate explores what takes seconds. The rest, which takes minutes for each algorithm, by
//!
//! ```sh
//! RECOVERY_NODES=3 RECOVERY_ALGORITHMS=all \
//!     cargo test --release --all-features --test recovery -- --nocapture crash
//! ```
#![cfg(feature = "check")]

use std::time::Instant;

use exclusion::message::check::{Check, Checker, Model};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::{FromRegistry, Recovering};

type Recovers<P> = Recovering<FromRegistry<P>>;

/// What may befall the nodes.
#[derive(Clone, Copy)]
struct Explore {
    crashes: u8,
    recoveries: u8,
}

/// More states than any exploration of the gate has.
const MOST_STATES: usize = 40_000_000;

impl Visitor for Explore {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let began = Instant::now();
        let nodes = Recovers::over(algorithm, cluster).expect("it is a cluster");
        let check = Check::new(nodes).crashes(self.crashes).recoveries(self.recoveries);
        let check = check.serving_all();
        let checker = check.clone().checker().spawn_bfs().join();
        println!("{algorithm}: {} states in {:.1?}", checker.unique_state_count(), began.elapsed());
        checker.assert_properties();
        let progress = check.progress().expect("it is claimed");
        let stuck = progress.find_stuck(&check, MOST_STATES).expect("few enough states");
        if let Some(path) = stuck {
            let actions = path.into_actions();
            panic!(
                "{algorithm}: {:#?}",
                actions.iter().map(ToString::to_string).collect::<Vec<_>>()
            );
        }
    }
}

fn explore(gate: &[&str], explore: Explore) {
    let nodes = std::env::var("RECOVERY_NODES").map_or(2, |it| it.parse().expect("a number"));
    let wanted = std::env::var("RECOVERY_ALGORITHMS").unwrap_or_else(|_| gate.join(","));
    let is_wanted = |name: &str| wanted == "all" || wanted.split(',').any(|it| it == name);
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_wanted(algorithm.name)) {
        if let Err(error) = algorithm.build(Size::of(nodes), explore) {
            println!("{error}");
        }
    }
}

#[test]
fn a_crash_at_any_step_leaves_exclusion_and_everybody_alive_served() {
    explore(&["all"], Explore { crashes: 1, recoveries: 0 });
}

#[test]
fn a_crash_and_a_recovery_at_any_step_leave_exclusion_and_everybody_alive_served() {
    explore(&["all"], Explore { crashes: 1, recoveries: 1 });
}
