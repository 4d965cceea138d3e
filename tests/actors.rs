//! Clusters of actors: what their users may rely on, and what they are told when it goes wrong.

mod common;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::actors::{cluster, pair};
use common::within_two_minutes;
use exclusion::message::actor::{Cluster, Down, HandleError, StartError};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, ClusterError, Lamport, Maekawa, NodeId, Quorums,
    RaymondK, RicartAgrawala,
};

const SOON: Duration = Duration::from_millis(20);

#[test]
fn alone_actors_send_to_the_message_what_the_simulator_counts() {
    let cluster = cluster(RicartAgrawala::cluster(4).unwrap());
    let [_, mut handle] = pair(&cluster);
    for _ in 0..10 {
        *handle.lock().unwrap() += 1;
    }
    let messages = cluster.shutdown().messages;
    assert_eq!((messages.of("REQUEST"), messages.of("CONFIRM")), (30, 30));
}

#[test]
fn who_gives_up_gets_nothing_and_loses_nothing() {
    within_two_minutes(|| {
        let cluster = cluster(RicartAgrawala::cluster(2).unwrap());
        let [mut one, mut other] = pair(&cluster);
        let guard = one.lock().unwrap();
        assert!(other.lock_timeout(SOON).unwrap().is_none());
        // The old request serves the new wish, and gives up again.
        assert!(other.lock_timeout(SOON).unwrap().is_none());
        drop(guard);
        // Nobody is left inside by the request that was given up, whenever it is granted.
        for _ in 0..50 {
            *one.lock().unwrap() += 1;
            *other.lock().unwrap() += 1;
        }
        assert_eq!(*one.lock().unwrap(), 100);
    });
}

#[test]
fn a_timeout_that_races_with_the_grant_is_one_or_the_other() {
    within_two_minutes(|| {
        let cluster = cluster(CentralCoordinator::cluster(3).unwrap());
        let mut entered = 0;
        std::thread::scope(|scope| {
            let users: Vec<_> = cluster
                .handles()
                .into_iter()
                .enumerate()
                .map(|(user, mut handle)| {
                    scope.spawn(move || {
                        let mut entered = 0;
                        for round in 0..2000_u64 {
                            let patience =
                                Duration::from_micros((round * 7 + user as u64 * 13) % 60);
                            if let Some(mut count) = handle.lock_timeout(patience).unwrap() {
                                *count += 1;
                                entered += 1;
                            }
                        }
                        entered
                    })
                })
                .collect();
            entered = users.into_iter().map(|user| user.join().unwrap()).sum();
        });
        let mut handle = cluster.handle(NodeId(1)).unwrap();
        assert_eq!(*handle.lock().unwrap(), entered);
    });
}

#[test]
fn try_lock_enters_where_nobody_need_be_asked() {
    let cluster = cluster(CarvalhoRoucairol::cluster(3).unwrap());
    let [mut one, mut other] = pair(&cluster);
    assert!(one.try_lock().unwrap().is_none(), "it has no permission yet");
    assert_eq!(cluster.messages().total(), 0, "and asks for none");
    drop(one.lock().unwrap());
    *one.try_lock().unwrap().expect("it has all permissions") += 1;
    assert!(other.try_lock().unwrap().is_none());
    assert_eq!(cluster.messages().total(), 4);
}

#[test]
fn resources_are_not_mixed_up() {
    within_two_minutes(|| {
        let names = ["printer", "scanner", "plotter"];
        let mut builder = Cluster::builder();
        for (coordinator, name) in names.into_iter().enumerate() {
            let nodes = CentralCoordinator::coordinated_by(NodeId::at(coordinator), 3).unwrap();
            builder = builder.resource(name, nodes, Vec::new());
        }
        let cluster = builder.start().unwrap();
        std::thread::scope(|scope| {
            for name in names {
                for node in NodeId::all(3) {
                    let mut handle = cluster.handle_for(name, node).unwrap();
                    scope.spawn(move || {
                        for _ in 0..100 {
                            handle.lock().unwrap().push(name);
                        }
                    });
                }
            }
        });
        for name in names {
            let mut handle = cluster.handle_for(name, NodeId(0)).unwrap();
            let used = handle.lock().unwrap();
            assert_eq!(used.len(), 300);
            assert!(used.iter().all(|user| *user == name));
        }
        // Two of the three nodes do not coordinate; and so do two of the three that looked at the
        // end.
        assert_eq!(cluster.messages_of("printer").unwrap().of("REQUEST"), 200);
        assert_eq!(cluster.messages_of("plotter").unwrap().of("REQUEST"), 201);
        assert_eq!(cluster.messages().of("REQUEST"), 602);
    });
}

#[test]
fn one_may_hold_one_resource_and_ask_for_another() {
    let nodes = || RicartAgrawala::cluster(2).unwrap();
    let cluster =
        Cluster::builder().resource("a", nodes(), 1).resource("b", nodes(), 2).start().unwrap();
    let [mut a, mut b] = ["a", "b"].map(|name| cluster.handle_for(name, NodeId(0)).unwrap());
    let sum = *a.lock().unwrap() + *b.lock().unwrap();
    assert_eq!(sum, 3);
}

#[test]
fn channels_without_order_are_survived() {
    within_two_minutes(|| {
        let nodes = Maekawa::cluster(&Quorums::grid(6).unwrap());
        let cluster =
            Cluster::builder().resource("shuffled", nodes, 0).shuffled(5).start().unwrap();
        std::thread::scope(|scope| {
            for mut handle in cluster.handles() {
                scope.spawn(move || (0..200).for_each(|_| *handle.lock().unwrap() += 1));
            }
        });
        assert_eq!(*cluster.handles()[0].lock().unwrap(), 1200);
    });
}

#[test]
fn several_are_inside_where_several_may_be() {
    within_two_minutes(|| {
        let cluster = cluster(RaymondK::cluster(4, 2).unwrap());
        let mut handles = cluster.handles();
        let [first, second, third, _] = &mut handles[..] else { panic!("four nodes") };
        let (one, other) = (first.lock().unwrap(), second.lock().unwrap());
        assert!(third.lock_timeout(SOON).unwrap().is_none());
        assert_eq!((*one, *other), (0, 0));
    });
}

#[test]
fn a_panic_inside_leaves() {
    let cluster = cluster(RicartAgrawala::cluster(2).unwrap());
    let [mut one, mut other] = pair(&cluster);
    let panicked = std::thread::spawn(move || {
        let mut guard = one.lock().unwrap();
        *guard = 7;
        panic!("inside");
    });
    panicked.join().unwrap_err();
    assert_eq!(*other.lock().unwrap(), 7);
}

#[test]
fn shutting_down_tells_those_who_wait() {
    within_two_minutes(|| {
        let cluster = cluster(RicartAgrawala::cluster(2).unwrap());
        let [mut one, mut other] = pair(&cluster);
        let mut inside = one.lock().unwrap();
        let waiter = std::thread::spawn(move || other.lock().map(|_| ()));
        std::thread::sleep(SOON);
        cluster.shutdown();
        assert_eq!(waiter.join().unwrap(), Err(Down::Shutdown));
        // Who is inside may finish.
        *inside += 1;
        drop(inside);
        assert_eq!(one.lock().map(|_| ()), Err(Down::Shutdown));
        assert_eq!(one.try_lock().map(|_| ()), Err(Down::Shutdown));
        assert_eq!(one.lock_timeout(SOON).map(|_| ()), Err(Down::Shutdown));
    });
}

#[test]
fn stopping_a_node_tells_those_who_wait() {
    within_two_minutes(|| {
        let cluster = cluster(RicartAgrawala::cluster(3).unwrap());
        let [mut one, mut other] = pair(&cluster);
        let inside = one.lock().unwrap();
        let waiter = std::thread::spawn(move || other.lock().map(|_| ()));
        std::thread::sleep(SOON);
        cluster.stop_node(NodeId(2)).unwrap();
        let down = waiter.join().unwrap().unwrap_err();
        assert_eq!(down.to_string(), "the cluster is down: n2 was stopped");
        drop(inside);
        assert_eq!(
            cluster.stop_node(NodeId(3)),
            Err(ClusterError::UnknownNode { node: NodeId(3), nodes: 3 })
        );
    });
}

#[test]
fn a_guard_that_was_forgotten_is_told_to_everybody_when_its_user_asks_again() {
    let cluster = cluster(CarvalhoRoucairol::cluster(2).unwrap());
    let [mut one, mut other] = pair(&cluster);
    std::mem::forget(one.lock().unwrap());
    assert_eq!(one.lock().map(|_| ()), Err(Down::Forgotten(NodeId(0))));
    assert_eq!(one.try_lock().map(|_| ()), Err(Down::Forgotten(NodeId(0))));
    assert_eq!(other.lock().map(|_| ()), Err(Down::Forgotten(NodeId(0))));
}

#[test]
fn a_guard_that_was_forgotten_is_told_to_those_who_wait_when_its_handle_is_dropped() {
    within_two_minutes(|| {
        let cluster = cluster(CentralCoordinator::cluster(3).unwrap());
        let [mut one, mut other] = pair(&cluster);
        std::mem::forget(one.lock().unwrap());
        let waiter = std::thread::spawn(move || other.lock().map(|_| ()));
        std::thread::sleep(SOON);
        drop(one);
        assert_eq!(waiter.join().unwrap(), Err(Down::Forgotten(NodeId(0))));
    });
}

#[test]
fn what_was_guarded_comes_back_unless_somebody_still_holds_a_handle() {
    let guarded = cluster(CentralCoordinator::cluster(2).unwrap());
    let [mut one, other] = pair(&guarded);
    *one.lock().unwrap() = 7;
    drop((one, other));
    assert_eq!(guarded.shutdown().into_data(), Some(7));

    let held = cluster(CentralCoordinator::cluster(2).unwrap());
    let [mut one, _] = pair(&held);
    let inside = one.lock().unwrap();
    let ended = held.shutdown();
    assert_eq!((*inside, ended.into_data()), (0, None));
}

#[test]
fn exclusive_protocols_guard_what_can_be_sent_and_not_shared() {
    let cluster = Cluster::start(RicartAgrawala::cluster(2).unwrap(), Cell::new(1)).unwrap();
    cluster.handle(NodeId(1)).unwrap().lock().unwrap().set(2);
    assert_eq!(cluster.shutdown().into_data(), Some(Cell::new(2)));
}

#[test]
fn clusters_that_cannot_be_do_not_start() {
    let nodes = |n| RicartAgrawala::cluster(n).unwrap();
    let builder = Cluster::<RicartAgrawala, ()>::builder;
    assert!(matches!(builder().start(), Err(StartError::NoResource)));
    for n in [0, 1] {
        let few = Cluster::start(nodes(2)[..n].to_vec(), ()).err().unwrap();
        assert!(matches!(few, StartError::Cluster(ClusterError::TooFewNodes(_))), "{few}");
    }
    let same = builder().resource("a", nodes(2), ()).resource("a", nodes(2), ()).start();
    assert_eq!(same.err().unwrap().to_string(), "two resources are called 'a': rename one");
    let other = builder().resource("a", nodes(2), ()).resource("b", nodes(3), ()).start();
    assert!(matches!(other, Err(StartError::OtherNodes { nodes: 3, first: 2, .. })));
    let lamport = Lamport::cluster(2).unwrap();
    let shuffled = Cluster::builder().resource("a", lamport, ()).shuffled(1).start();
    assert!(matches!(shuffled, Err(StartError::NeedsOrder)));
}

#[test]
fn a_handle_is_had_by_one() {
    let cluster = cluster(RicartAgrawala::cluster(2).unwrap());
    let handle = cluster.handle(NodeId(0)).unwrap();
    let error = |resource, node| cluster.handle_for(resource, NodeId(node)).err();
    assert_eq!(error("resource", 0), Some(HandleError::Taken(NodeId(0))));
    assert!(matches!(error("resource", 2), Some(HandleError::UnknownNode(_))));
    assert_eq!(
        error("printer", 0).unwrap().to_string(),
        "no resource is called 'printer'; there are: resource"
    );
    assert_eq!(cluster.handles().len(), 1);
    drop(handle);
    assert_eq!(error("resource", 0), None);
}

#[test]
fn dropping_a_cluster_ends_its_threads() {
    let gone = Arc::new(());
    let cluster = Cluster::start(RicartAgrawala::cluster(5).unwrap(), gone.clone()).unwrap();
    drop(cluster);
    assert_eq!(Arc::strong_count(&gone), 1, "nobody holds the data any more");
}

#[test]
fn handles_go_to_other_threads_and_stay_after_the_cluster() {
    let cluster = cluster(RicartAgrawala::cluster(2).unwrap());
    let [mut handle, _] = pair(&cluster);
    let (done, waits) = mpsc::channel::<()>();
    let entered = Arc::new(AtomicBool::new(false));
    let flag = entered.clone();
    let user = std::thread::spawn(move || {
        drop(handle.lock().unwrap());
        flag.store(true, Ordering::Release);
        let _ = waits.recv();
        handle.lock().map(|_| ()).unwrap_err()
    });
    while !entered.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    drop(cluster);
    drop(done);
    assert_eq!(user.join().unwrap(), Down::Shutdown);
}
