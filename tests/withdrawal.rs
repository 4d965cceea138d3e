//! Users that wait no longer, and take their requests back.
#![cfg(feature = "check")]

use exclusion::message::check::{Check, Checker, Model};
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Claims, Input, Lamport, Maekawa, Majority, NodeId,
    Outbox, Protocol, Raymond, RaymondK, RicartAgrawala, TokenRing, step,
};

/// Each user may take a request back, once, at any point: exclusion, no refusal, no deadlock; from
/// every state all who wait can be served; and no request costs more than this.
fn withdraws<P>(name: &str, check: Check<P>, messages: f64)
where
    P: Claims + Protocol<Message: Send + Sync> + Send + Sync + 'static,
{
    let check = check.withdrawals(1).keeps_its_invariant().at_most(messages).serving_all();
    let checker = check.clone().checker().spawn_bfs().join();
    checker.assert_properties();
    eprintln!("{name}: {} states", checker.unique_state_count());
    let stuck = check.progress().expect("it claims so").find_stuck(&check, 4_000_000);
    if let Some(path) = stuck.expect("few enough states") {
        let actions: Vec<_> = path.into_actions().iter().map(ToString::to_string).collect();
        panic!("stuck after {actions:#?}");
    }
}

macro_rules! withdraw {
    ($($test:ident: $nodes:expr, $requests:expr, at most $messages:expr;)*) => {
        $(#[test]
        fn $test() {
            let mut check = Check::new($nodes);
            for (node, times) in (0..).zip($requests) {
                check = check.requests_of(NodeId(node), times);
            }
            withdraws(stringify!($test), check, f64::from($messages));
        })*
    };
}

withdraw! {
    the_coordinator_cancels: CentralCoordinator::cluster(3).unwrap(), [1, 2, 2], at most 5;
    lamport_cancels: Lamport::cluster(2).unwrap(), [2, 2], at most 3;
    lamport_cancels_among_three: Lamport::cluster(3).unwrap(), [1, 1, 0], at most 6;
    ricart_and_agrawala_confirm: RicartAgrawala::cluster(2).unwrap(), [3, 2], at most 2;
    ricart_and_agrawala_confirm_among_three:
        RicartAgrawala::cluster(3).unwrap(), [2, 1, 0], at most 4;
    carvalho_and_roucairol_confirm: CarvalhoRoucairol::cluster(2).unwrap(), [3, 2], at most 2;
    carvalho_and_roucairol_confirm_among_three:
        CarvalhoRoucairol::cluster(3).unwrap(), [2, 1, 0], at most 8;
    raymond_answers: RaymondK::cluster(3, 2).unwrap(), [2, 1, 0], at most 4;
    raymond_answers_where_one_enters: RaymondK::cluster(2, 1).unwrap(), [3, 2], at most 2;
    maekawa_releases: Maekawa::grid(2).unwrap(), [2, 2], at most 6;
    maekawa_releases_among_three: Maekawa::grid(3).unwrap(), [2, 1, 0], at most 12;
    majorities_release: Majority::cluster(2).unwrap(), [2, 2], at most 6;
    majorities_release_among_three: Majority::cluster(3).unwrap(), [1, 1, 0], at most 12;
    the_ring_goes_on: TokenRing::cluster(3).unwrap(), [2, 1, 1], at most f32::INFINITY;
    the_tree_goes_on: Raymond::cluster(3).unwrap(), [2, 2, 1], at most 4;
}

const PAGE: &str = include_str!("../docs/remedies.md");

/// What it says of itself is what it does, and what the table says.
struct Withdraws;

impl Visitor for Withdraws {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, mut cluster: Vec<P>) {
        let (mut out, name) = (Outbox::new(), algorithm.name);
        // In each, the last node has neither token nor desk: it waits.
        let last = cluster.last_mut().expect("it has nodes");
        step(last, Input::Request, &mut out).expect("it is idle");
        out.clear();
        let before = last.clone();
        let withdrawn = step(last, Input::Withdraw, &mut out);
        assert_eq!(withdrawn.is_ok(), P::WITHDRAWS, "{name}");
        assert_eq!(last.phase().is_idle(), P::WITHDRAWS, "{name}");
        assert!(P::WITHDRAWS || *last == before, "{name}");
        out.clear();
        let again = step(last, Input::Withdraw, &mut out);
        again.expect_err("it does not wait any more, or it cannot");
        let what = if P::WITHDRAWS { "taken back" } else { "stands" };
        let row = format!("| `{name}` | {what} |");
        // An arrangement does what its algorithm does, which has the row.
        let has_row = PAGE.lines().any(|line| line.starts_with(&row));
        assert!(algorithm.arrangement.is_some() || has_row, "docs/remedies.md lacks {row}");
    }
}

#[test]
fn an_algorithm_says_whether_a_request_can_be_taken_back() {
    for algorithm in ALGORITHMS {
        let size = Size { nodes: 3, entries: algorithm.several_entries.then_some(2) };
        algorithm.build(size, Withdraws).unwrap();
    }
}
