//! Locks that recover: by hand, and explored with a crash at every step.
#![cfg(feature = "check")]

use exclusion::message::check::{Action, Check, Checker, Model, Progress};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::{FromRegistry, Protocol, Recovering};

type Recovers<P> = Recovering<FromRegistry<P>>;

/// All that are alive and wait can be served, once nothing befalls them any more.
fn all_are_served<P: Protocol>() -> Progress<Check<P>> {
    Progress {
        name: "all alive are served",
        goal: |_, state| {
            state.violation.is_some()
                || state.waiting().next().is_none() && state.inside().next().is_none()
        },
        counts: |action| !action.is_fault() && !matches!(action, Action::Request(_)),
    }
}

struct Explore {
    crashes: u8,
    recoveries: u8,
    most: usize,
}

impl Visitor for Explore {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) {
        let nodes = Recovers::over(algorithm, cluster).expect("it is a cluster");
        let check = Check::new(nodes).crashes(self.crashes).recoveries(self.recoveries);
        let checker = check.clone().checker().spawn_bfs().join();
        println!("{algorithm}: {} states", checker.unique_state_count());
        checker.assert_properties();
        let stuck = all_are_served().find_stuck(&check, self.most).expect("few enough states");
        if let Some(path) = stuck {
            panic!(
                "{algorithm}: {}",
                path.into_actions().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            );
        }
    }
}

#[test]
fn two_nodes_of_which_one_crashes() {
    for algorithm in ALGORITHMS {
        let explore = Explore { crashes: 1, recoveries: 0, most: 3_000_000 };
        if let Err(error) = algorithm.build(Size::of(2), explore) {
            println!("{error}");
        }
    }
}
