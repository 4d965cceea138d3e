//! The strict mode, explored: sessions that end, processes that die, and each precaution missing.

use super::model::{Act, Cluster};
use exclusion::message::check::{Checker, Model, Progress};
use exclusion::message::registry::{Algorithm, Shipped};
use exclusion::message::{Blueprint, CentralCoordinator, FromRegistry, NodeId, SuzukiKasami};
use exclusion_net::strict::Precautions;

type Central = FromRegistry<CentralCoordinator>;
type Token = FromRegistry<SuzukiKasami>;

fn central(nodes: usize) -> Cluster<Central> {
    let cluster = CentralCoordinator::cluster(nodes).expect("enough");
    let algorithm = Algorithm::named("central_coordinator").expect("it is registered");
    Cluster::of(&FromRegistry::of(algorithm, &cluster), nodes)
}

fn token(nodes: usize) -> Cluster<Token> {
    let cluster = SuzukiKasami::cluster(nodes).expect("enough");
    let algorithm = Algorithm::named("suzuki_kasami").expect("it is registered");
    Cluster::of(&FromRegistry::of(algorithm, &cluster), nodes)
}

/// Explores all states, and says how many there are.
fn explore<P: Shipped>(cluster: Cluster<FromRegistry<P>>) -> usize {
    let checker = cluster.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

/// What is found wrong with a cluster.
fn refute<P: Shipped>(cluster: Cluster<FromRegistry<P>>) -> Vec<Act> {
    let checker = cluster.checker().threads(2).spawn_bfs().join();
    let path = checker.discovery("mutual exclusion").expect("two are inside");
    path.into_actions()
}

fn without(leave_out: impl FnOnce(&mut Precautions)) -> Precautions {
    let mut precautions = Precautions::ALL;
    leave_out(&mut precautions);
    precautions
}

#[test]
fn two_nodes_are_never_both_inside_whatever_ends_and_dies() {
    for cuts in 0..=2 {
        for crashes in 0..=1 {
            let states = explore(Cluster { cuts, crashes, orphans: true, ..central(2) });
            println!("central, 2 nodes, {cuts} cuts, {crashes} crashes: {states} states");
        }
    }
}

#[test]
fn whatever_has_happened_all_can_be_served() {
    let cluster = Cluster { cuts: 1, crashes: 1, orphans: true, ..token(2) };
    let served = Progress::<Cluster<Token>> {
        name: "all can be served",
        goal: |_, world| world.is_done(),
        counts: |act| !act.is_fault(),
    };
    assert_eq!(served.find_stuck(&cluster, 1_000_000).expect("few states"), None);
}

#[test]
fn three_nodes_agree_on_an_epoch_or_begin_anew() {
    let cluster = Cluster { requests: 0, cuts: 1, most_connects: 4, ..token(3) };
    println!("3 nodes, 1 cut, 4 sessions: {} states", explore(cluster));
}

#[test]
fn a_lock_that_outlives_its_sessions_puts_two_inside() {
    let precautions = without(|it| it.epochs = false);
    let path = refute(Cluster { precautions, crashes: 1, ..central(2) });
    assert!(path.contains(&Act::Restart(NodeId(0))), "{path:?}");
}

#[test]
fn a_hello_while_a_user_is_inside_puts_two_inside() {
    let precautions = without(|it| it.outside = false);
    let path = refute(Cluster { precautions, cuts: 1, ..central(2) });
    assert!(path.iter().any(|act| matches!(act, Act::Cut(..))), "{path:?}");
}

#[test]
fn a_command_that_outlives_its_node_and_is_not_looked_for_puts_two_inside() {
    let path = refute(Cluster { forgets_orphans: true, crashes: 1, orphans: true, ..token(2) });
    assert!(path.iter().any(|act| matches!(act, Act::Crash { orphan: true, .. })), "{path:?}");
}

#[test]
fn a_blank_restart_that_is_accepted_puts_two_inside() {
    let precautions = without(|it| it.memory = false);
    let path = refute(Cluster { precautions, blanks: 1, ..central(2) });
    assert!(path.iter().any(|act| matches!(act, Act::RestartBlank(_))), "{path:?}");
    // With the precaution it is refused, as often as it tries.
    let cluster = Cluster { blanks: 1, cuts: 1, most_connects: 5, ..central(2) };
    println!("2 nodes, one blank: {} states", explore(cluster));
}

/// A coordinator that is another one in another configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct CoordinatedBy(NodeId);

impl Blueprint for CoordinatedBy {
    type Lock = CentralCoordinator;

    fn build(&self, me: NodeId, nodes: usize) -> CentralCoordinator {
        CentralCoordinator::node_coordinated_by(me, self.0, nodes).expect("there are enough")
    }
}

#[test]
fn nodes_of_two_configurations_that_do_not_compare_them_put_two_inside() {
    let blueprints = vec![CoordinatedBy(NodeId(0)), CoordinatedBy(NodeId(1))];
    let cluster =
        Cluster { blueprints, most_connects: 3, ..Cluster::of(&CoordinatedBy(NodeId(0)), 2) };
    let found = |precautions| {
        let checker = Cluster { precautions, ..cluster.clone() }.checker().spawn_bfs().join();
        checker.discovery("mutual exclusion").is_some()
    };
    assert!(found(without(|it| it.digest = false)));
    assert!(!found(Precautions::ALL));
}
