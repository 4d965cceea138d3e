//! Nodes among threads that are killed, paused, restarted and stopped, and links that lose.

use std::time::Duration;

use exclusion::message::actor::{Cluster, Down, Handle, KillError};
use exclusion::message::registry::Algorithm;
use exclusion::message::{
    Admission, CentralCoordinator, ClusterError, Fenced, Happening, Link, Maekawa, NodeId, Quorums,
    Recovering, RicartAgrawala, SuzukiKasami, Trace, replay,
};

/// Long enough for whatever comes at all.
const PATIENCE: Duration = Duration::from_secs(60);

fn counts(trace: &Trace, is_it: fn(&Happening) -> bool) -> usize {
    trace.events.iter().filter(|event| is_it(&event.happening)).count()
}

#[test]
fn an_idle_client_of_the_coordinator_may_be_stopped() {
    let cluster = Cluster::start(CentralCoordinator::cluster(4).unwrap(), 0).unwrap();
    let mut users = cluster.handles();
    cluster.stop_node(NodeId(3)).unwrap();
    assert_eq!(users[3].lock().map(|_| ()), Err(Down::Stopped(NodeId(3))));
    assert_eq!(users[3].try_lock().map(|_| ()), Err(Down::Stopped(NodeId(3))));
    for user in &mut users[..3] {
        *user.lock().unwrap() += 1;
    }
    cluster.stop_node(NodeId(0)).unwrap();
    assert_eq!(users[1].lock().map(|_| ()), Err(Down::Stopped(NodeId(0))));
    drop(users);
    assert_eq!(cluster.shutdown().into_data(), Some(3));
}

#[test]
fn a_client_that_is_stopped_inside_brings_all_down() {
    let cluster = Cluster::start(CentralCoordinator::cluster(3).unwrap(), 0).unwrap();
    let mut users = cluster.handles();
    let (first, others) = users.split_at_mut(2);
    let guard = first[1].lock().unwrap();
    cluster.stop_node(NodeId(1)).unwrap();
    assert_eq!(others[0].lock().map(|_| ()), Err(Down::Stopped(NodeId(1))));
    drop(guard);
}

#[test]
fn a_node_outside_a_voting_set_may_be_stopped() {
    // On a grid of four each node asks the others of its row and column: all but the opposite one.
    let quorums = Quorums::grid(4).unwrap();
    let cluster = Cluster::start(Maekawa::cluster(&quorums), 0).unwrap();
    let mut users = cluster.handles();
    cluster.stop_node(NodeId(3)).unwrap();
    for (user, node) in users.iter_mut().zip(NodeId::all(4)) {
        let asks = quorums.of(node).iter().any(|set| set.contains(NodeId(3)));
        let outcome = user.lock().map(|mut count| *count += 1);
        let expected = if asks { Err(Down::Stopped(NodeId(3))) } else { Ok(()) };
        assert_eq!(outcome, expected, "{node}");
    }
    drop(users);
    assert_eq!(cluster.shutdown().into_data(), Some(1));
}

#[test]
fn a_lock_that_recovers_goes_on_without_a_node_that_is_killed_and_takes_it_back() {
    let algorithm = Algorithm::named("suzuki_kasami").unwrap();
    let nodes = Recovering::over(algorithm, SuzukiKasami::cluster(3).unwrap()).unwrap();
    let builder = Cluster::builder().resource("tally", nodes.clone(), 0).traced();
    let cluster = builder.start().unwrap();
    let mut users = cluster.handles();
    *users[1].lock().unwrap() += 1;
    // It has the token.
    cluster.kill_node(NodeId(1)).unwrap();
    assert_eq!(users[1].lock().map(|_| ()), Err(Down::Stopped(NodeId(1))));
    for user in [0, 2] {
        let entered = users[user].lock_timeout(PATIENCE).unwrap().map(|mut count| *count += 1);
        assert_eq!(entered, Some(()), "n{user} is served");
    }
    cluster.restart_node(NodeId(1)).unwrap();
    for user in &mut users {
        let entered = user.lock_timeout(PATIENCE).unwrap().map(|mut count| *count += 1);
        assert_eq!(entered, Some(()), "{} is served", user.node());
    }
    drop(users);
    let mut ended = cluster.shutdown();
    assert_eq!(ended.down, Down::Shutdown);
    let trace = ended.traces.remove(0);
    assert_eq!(counts(&trace, |it| *it == Happening::Crashes), 1, "{trace}");
    assert_eq!(ended.into_data(), Some(1 + 2 + 3));
    replay(nodes, &trace).unwrap_or_else(|error| panic!("{error}\n{trace}"));
}

#[test]
fn a_guard_has_a_fence_that_grows_and_says_who_may_have_died_inside() {
    let algorithm = Algorithm::named("suzuki_kasami").unwrap();
    let nodes = Recovering::over(algorithm, SuzukiKasami::cluster(3).unwrap()).unwrap();
    let cluster = Cluster::start(nodes, ()).unwrap();
    let mut users = cluster.handles();
    let mut disk = Fenced::new("nothing");
    let enter = |user: usize, users: &mut [_]| -> Admission {
        let handle: &mut Handle<_, ()> = &mut users[user];
        let guard = handle.lock_timeout(PATIENCE).unwrap().expect("it is served");
        guard.admission().expect("entries are fenced")
    };
    let first = enter(1, &mut users);
    assert!(first.perhaps_inside.is_empty());
    *disk.write(first.fence).unwrap() = "first";
    // It has the token, so nobody enters before the view without it.
    cluster.kill_node(NodeId(1)).unwrap();
    let second = enter(0, &mut users);
    assert!(second.fence > first.fence, "{first:?}, {second:?}");
    assert!(second.perhaps_inside.contains(NodeId(1)), "nobody knows where its user was");
    *disk.write(second.fence).unwrap() = "second";
    let third = enter(2, &mut users);
    assert!(third.fence > second.fence);
    assert!(third.perhaps_inside.is_empty(), "the one before has been told");
    disk.admit(third.fence).unwrap();
    for old in [first.fence, second.fence] {
        assert!(disk.write(old).is_err(), "{old} is older");
    }
    assert_eq!(disk.into_inner(), "second");
}

#[test]
fn an_algorithm_without_recovery_has_no_fences() {
    let cluster = Cluster::start(RicartAgrawala::cluster(2).unwrap(), 0).unwrap();
    assert_eq!(cluster.handles()[0].lock().unwrap().admission(), None);
}

#[test]
fn a_user_that_is_inside_keeps_its_node_alive() {
    let cluster = Cluster::start(RicartAgrawala::cluster(2).unwrap(), 0).unwrap();
    let mut user = cluster.handle(NodeId(1)).unwrap();
    let guard = user.lock().unwrap();
    let refused = cluster.kill_node(NodeId(1)).unwrap_err();
    assert_eq!(refused, KillError::Inside(NodeId(1)));
    assert!(refused.to_string().contains("drop its guard"), "{refused}");
    drop(guard);
    cluster.kill_node(NodeId(1)).unwrap();
    let unknown = ClusterError::UnknownNode { node: NodeId(2), nodes: 2 };
    assert_eq!(cluster.kill_node(NodeId(2)), Err(KillError::Cluster(unknown.clone())));
    assert_eq!(cluster.pause_node(NodeId(2)), Err(unknown));
}

#[test]
fn a_node_that_stands_still_answers_later() {
    let nodes = RicartAgrawala::cluster(2).unwrap();
    let cluster = Cluster::builder().resource("tally", nodes.clone(), 0).traced().start().unwrap();
    let mut user = cluster.handle(NodeId(0)).unwrap();
    cluster.pause_node(NodeId(1)).unwrap();
    // The order is in the inbox before the request, so nothing is answered.
    let entered = user.lock_timeout(Duration::from_millis(50)).unwrap().is_some();
    assert!(!entered, "its answer is needed");
    cluster.resume_node(NodeId(1)).unwrap();
    *user.lock().unwrap() += 1;
    drop(user);
    let mut ended = cluster.shutdown();
    let trace = ended.traces.remove(0);
    assert_eq!(counts(&trace, |it| *it == Happening::Pauses), 1, "{trace}");
    assert_eq!(counts(&trace, |it| *it == Happening::Resumes), 1, "{trace}");
    replay(nodes, &trace).unwrap_or_else(|error| panic!("{error}\n{trace}"));
}

#[test]
fn over_links_that_lose_and_double_everybody_is_served() {
    let nodes = Link::over(RicartAgrawala::cluster(3).unwrap());
    let builder = Cluster::builder().resource("tally", nodes.clone(), 0).traced();
    let seed = 11;
    println!("seed {seed}");
    let cluster = builder.period(Duration::from_millis(2)).losing(0.2, 0.2, seed).start().unwrap();
    std::thread::scope(|scope| {
        for mut user in cluster.handles() {
            scope.spawn(move || {
                for _ in 0..10 {
                    *user.lock().expect("nothing is refused") += 1;
                }
            });
        }
    });
    let mut ended = cluster.shutdown();
    let trace = ended.traces.remove(0);
    assert!(counts(&trace, |it| matches!(it, Happening::Misses { .. })) > 0, "none was lost");
    assert!(counts(&trace, |it| matches!(it, Happening::Doubles { .. })) > 0, "none was doubled");
    assert_eq!(ended.into_data(), Some(30));
    replay(nodes, &trace).unwrap_or_else(|error| panic!("{error}"));
}
