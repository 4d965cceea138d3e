//! Clusters in one process: what the majority mode promises, fault by fault.

use std::sync::Arc;
use std::time::Duration;

use exclusion::message::registry::Algorithm;
use exclusion::message::{Fenced, FromRegistry, Maekawa, NodeId, Quorums, RicartAgrawala};
use exclusion_net::majority::{Directory, Down, Node, Settings, Wires};
use tokio::time::Instant;

use crate::support::{Cluster, Disk, LEASE, RESOURCE, within};

const ALL: usize = 3;

fn others(of: usize, nodes: usize) -> impl Iterator<Item = usize> {
    (0..nodes).filter(move |&it| it != of)
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_enters_and_fences_grow() {
    let cluster = Cluster::start(ALL, 1).await;
    let mut register = Fenced::new(0);
    for round in 0..12 {
        let guard = cluster.lock(round % ALL).await;
        assert!(register.seen() < Some(guard.fence()), "fences grow");
        *register.write(guard.fence()).expect("it is the latest") += 1;
    }
    assert_eq!(*register.read(), 12);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_leader_a_cluster_goes_on() {
    let mut cluster = Cluster::start(ALL, 2).await;
    let before = cluster.lock(0).await.fence();
    let leader = cluster.leader(0).await;
    cluster.kill(leader).await;
    let mut last = before;
    for me in others(leader, ALL) {
        let guard = cluster.lock(me).await;
        assert!(guard.fence() > last);
        last = guard.fence();
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_dies_is_succeeded_and_the_next_is_told() {
    let mut cluster = Cluster::start(ALL, 3).await;
    let guard = cluster.lock(1).await;
    cluster.kill(1).await;
    within(guard.lost()).await;
    let next = cluster.lock(2).await;
    assert!(next.fence() > guard.fence());
    assert!(next.perhaps_inside().contains(NodeId(1)), "{next:?}");
    drop(next);
    let next = cluster.lock(0).await;
    assert!(next.perhaps_inside().is_empty(), "it is told once");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_in_a_minority_is_overtaken_and_what_it_writes_is_refused() {
    const NODES: usize = 5;
    let cluster = Cluster::start(NODES, 4).await;
    // All are members, so that nobody is admitted later on.
    cluster.until(0, |roster| roster.members().count() == NODES).await;
    let mut register = Fenced::new("nothing");
    let old = cluster.lock(0).await;
    *register.write(old.fence()).expect("it is the first") = "old";
    let minority = [NodeId(0), NodeId(1)];
    cluster.wires.cut_off(&minority, NODES);
    within(old.lost()).await;
    assert!(!old.is_valid());
    let new = cluster.lock(3).await;
    assert!(new.fence() > old.fence());
    assert!(new.perhaps_inside().contains(NodeId(0)), "{new:?}");
    *register.write(new.fence()).expect("it is the latest") = "new";
    let overtaken = register.write(old.fence()).expect_err("it was excluded");
    assert_eq!(overtaken.shown, old.fence());
    assert_eq!(*register.read(), "new");

    // The minority knows of no other view than the one that it was in, and lets nobody in.
    let known = cluster.node(1).roster().epoch();
    assert!(known < new.fence().epoch.number);
    drop(old);
    for me in [0, 1] {
        let end = Instant::now() + LEASE;
        let refused = cluster.node(me).lock_until(RESOURCE, end).await.expect("it runs");
        assert!(refused.is_none(), "a minority lets nobody in");
    }
    assert_eq!(cluster.node(1).roster().epoch(), known, "a minority makes no view");

    drop(new);
    cluster.wires.heal();
    let mut last = register.seen().expect("somebody was inside");
    for me in 0..NODES {
        let guard = cluster.lock(me).await;
        assert!(guard.fence() > last, "{:?} after {last:?}", guard.fence());
        last = guard.fence();
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_that_admits_a_node_waits_for_a_holder_that_lives() {
    let mut cluster = Cluster::start(ALL, 5).await;
    cluster.kill(2).await;
    cluster.until(0, |roster| roster.members().count() == 2).await;
    let guard = cluster.lock(0).await;
    cluster.revive(2).expect("its disk is whole");
    cluster.until(2, |roster| roster.members().count() == ALL).await;
    let (node, end) = (cluster.node(2).clone(), Instant::now() + LEASE);
    assert!(node.lock_until(RESOURCE, end).await.expect("it runs").is_none());
    assert!(guard.is_valid(), "nobody has taken it away");
    let fence = guard.fence();
    drop(guard);
    assert!(cluster.lock(2).await.fence() > fence);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_of_all_fences_go_on() {
    let mut cluster = Cluster::start(ALL, 6).await;
    let mut last = cluster.lock(0).await.fence();
    for _ in 0..2 {
        for me in 0..ALL {
            cluster.kill(me).await;
        }
        for me in 0..ALL {
            cluster.revive(me).expect("its disk is whole");
        }
        for me in 0..ALL {
            let guard = cluster.lock(me).await;
            assert!(guard.fence() > last);
            last = guard.fence();
        }
    }
    assert_eq!(cluster.node(0).life().incarnation, 3);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_has_lost_its_disk_is_refused() {
    let mut cluster = Cluster::start(ALL, 7).await;
    drop(cluster.lock(0).await);
    cluster.kill(1).await;
    cluster.disks[1] = Disk::default();
    let blank = cluster.revive(1).expect("an empty disk can be opened");
    let why = within(blank.running()).await.expect_err("it has lost its memory");
    assert!(matches!(why, Down::Blank(_)), "{why}");
    assert_eq!(within(blank.lock(RESOURCE)).await.expect_err("it is down"), why);
    // The others do not need it.
    drop(cluster.lock(2).await);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_of_which_a_part_is_missing_is_refused() {
    let mut cluster = Cluster::start(ALL, 8).await;
    drop(cluster.lock(1).await);
    cluster.kill(1).await;
    let fresh = Disk::default();
    fresh.set("log", cluster.disks[1].piece("log"));
    cluster.disks[1] = fresh;
    let why = cluster.revive(1).expect_err("its identity is missing");
    assert!(matches!(why, Down::Disk(_)), "{why}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_of_which_a_write_fails_stops_and_comes_back_when_it_is_mended() {
    let mut cluster = Cluster::start(ALL, 9).await;
    let guard = cluster.lock(1).await;
    cluster.disks[1].fail_after(0, 100, true);
    let why = within(cluster.node(1).ended()).await;
    assert!(matches!(why, Down::Engine(_) | Down::Disk(_)), "{why}");
    within(guard.lost()).await;
    let next = cluster.lock(2).await;
    assert!(next.fence() > guard.fence());
    let fence = next.fence();
    drop(next);
    cluster.kill(1).await;
    cluster.disks[1].mend();
    cluster.revive(1).expect("its log has a torn end at most");
    assert!(cluster.lock(1).await.fence() > fence);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_another_configuration_is_refused() {
    let mut cluster = Cluster::open(ALL, 10);
    cluster.kill(2).await;
    let other = Settings { resources: vec!["another".to_owned()], ..cluster.settings(2) };
    let (disk, end) = (Arc::new(Disk::default()), cluster.wires.end(NodeId(2)));
    let stranger = Node::open(other, crate::support::blueprint(ALL), disk, end);
    let stranger = stranger.expect("an empty disk can be opened");
    let why = within(stranger.running()).await.expect_err("it does not belong");
    assert!(matches!(&why, Down::Foreign(_, why) if why.contains("configuration")), "{why}");
    stranger.stop().await;
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_away_for_long_gets_a_snapshot() {
    let mut cluster = Cluster::start(ALL, 11).await;
    drop(cluster.lock(2).await);
    cluster.kill(2).await;
    let mut epoch = 1000;
    for _ in 0..120 {
        let raised = async {
            // The leader may change meanwhile.
            while cluster.node(0).raise(epoch).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
                epoch = epoch.max(cluster.node(0).roster().epoch());
            }
        };
        within(raised).await;
        epoch += 5;
    }
    assert!(!cluster.disks[0].piece("snapshot").is_empty(), "a snapshot was made");
    cluster.revive(2).expect("its disk is whole");
    let guard = cluster.lock(2).await;
    assert!(guard.fence().epoch.number > 1000);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_no_longer_is_not_let_in_and_a_try_does_not_wait() {
    let cluster = Cluster::start(ALL, 12).await;
    let guard = cluster.lock(0).await;
    for me in 0..ALL {
        assert!(within(cluster.node(me).try_lock(RESOURCE)).await.expect("it runs").is_none());
    }
    let soon = Instant::now() + Duration::from_millis(20);
    assert!(cluster.node(1).lock_until(RESOURCE, soon).await.expect("it runs").is_none());
    drop(guard);
    drop(cluster.lock(2).await);
    let why = cluster.node(0).lock("nothing").await.expect_err("there is no such resource");
    assert_eq!(why, Down::NoSuchResource("nothing".to_owned()));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_shuts_down_leaves_and_nobody_is_told_of_a_loss() {
    let mut cluster = Cluster::start(ALL, 13).await;
    cluster.until(0, |roster| roster.members().count() == ALL).await;
    drop(cluster.lock(1).await);
    let node = cluster.nodes[1].take().expect("it runs");
    within(node.shutdown()).await;
    assert_eq!(within(node.lock(RESOURCE)).await.expect_err("it is down"), Down::Stopped);
    cluster.until(0, |roster| roster.seat(NodeId(1)).is_none()).await;
    let guard = cluster.lock(0).await;
    assert!(!guard.perhaps_inside().contains(NodeId(1)));
    drop(guard);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_loses_delays_and_doubles_holds_nobody_up_for_ever() {
    let cluster = Cluster::start(ALL, 14).await;
    cluster.wires.disturb(50, Duration::from_millis(10));
    let mut last = None;
    for round in 0..9 {
        let guard = cluster.lock(round % ALL).await;
        assert!(last < Some(guard.fence()));
        last = Some(guard.fence());
    }
    cluster.stop().await;
}

/// Two algorithms more, on real disks.
async fn runs<B>(blueprint: B)
where
    B: exclusion::message::Blueprint + Send + 'static,
    B::Lock: Send,
    <B::Lock as exclusion::message::Machine>::Message:
        serde::Serialize + serde::de::DeserializeOwned + Send,
{
    let folder = tempfile::tempdir().expect("there is room");
    let wires = Wires::new(0);
    let mut nodes = Vec::new();
    for me in NodeId::all(ALL) {
        let disk = Directory::open(folder.path().join(me.to_string())).expect("it is new");
        let settings = Settings::new(me, ALL, &["a", "b"]).with_lease(LEASE);
        let end = wires.end(me);
        let node = Node::open(settings, blueprint.clone(), Arc::new(disk), end);
        let node = node.expect("a fresh disk");
        wires.attach(me, node.service());
        nodes.push(node);
    }
    let mut last = [None, None];
    for round in 0..6 {
        for (which, name) in ["a", "b"].into_iter().enumerate() {
            let guard = within(nodes[round % ALL].lock(name)).await.expect("it can be locked");
            assert!(last[which] < Some(guard.fence()));
            last[which] = Some(guard.fence());
        }
    }
    wires.detach(NodeId(0));
    within(nodes.remove(0).stop()).await;
    for node in &nodes {
        let guard = within(node.lock("a")).await.expect("it can be locked");
        assert!(last[0] < Some(guard.fence()));
        last[0] = Some(guard.fence());
    }
    for node in nodes {
        within(node.stop()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_algorithms_run_in_views_too() {
    let algorithm = Algorithm::named("ricart_agrawala").expect("there is one");
    let cluster = RicartAgrawala::cluster(ALL).expect("enough");
    runs(FromRegistry::of(algorithm, &cluster)).await;
    let algorithm = Algorithm::named("maekawa").expect("there is one");
    let cluster = Maekawa::cluster(&Quorums::grid(ALL).expect("enough"));
    runs(FromRegistry::of(algorithm, &cluster)).await;
}
