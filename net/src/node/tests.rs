//! Nodes over sessions within a process, which can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use exclusion::message::registry::ALGORITHMS;

use super::*;
use crate::link::Event;
use crate::link::memory::Network;
use crate::membership::tests::cluster;
use crate::scratch::Folder;
use crate::strict::Message;
use crate::{Fence, frame};

/// Nobody waits longer for something that must happen.
const LIMIT: Duration = Duration::from_secs(60);

struct World {
    folder: Folder,
    network: Network,
    configuration: Configuration,
}

impl World {
    fn new(nodes: u16, algorithm: &str) -> Self {
        let configuration: Configuration = cluster(nodes, algorithm).0.parse().unwrap();
        let network = Network::of(nodes.into());
        Self { folder: Folder::new("node"), network, configuration }
    }

    fn try_start(&self, id: u32) -> Result<Node, StoreError> {
        let store = Store::open(&self.data(id), &self.configuration, id)?;
        let me = self.configuration.membership.node(id).unwrap();
        let kept = store.read()?;
        let (link, configuration) = (self.network.link(me), self.configuration.clone());
        Node::start_over(link, configuration, me, store, kept, Precautions::ALL)
    }

    fn start(&self, id: u32) -> Node {
        self.try_start(id).unwrap()
    }

    fn start_all(&self) -> Vec<Node> {
        (1..=self.configuration.size().nodes as u32).map(|id| self.start(id)).collect()
    }

    fn data(&self, id: u32) -> PathBuf {
        self.folder.path().join(id.to_string())
    }

    fn cut(&self, one: u32, other: u32, cut: bool) {
        let node = |id| self.configuration.membership.node(id).unwrap();
        self.network.cut(node(one), node(other), cut);
    }
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens")
}

/// Waits until the status is as it should be.
async fn until(node: &Node, is: impl Fn(&Status) -> bool) -> Status {
    soon(async {
        loop {
            let status = node.status().await.expect("it runs");
            if is(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_is_inside_at_a_time_whatever_the_algorithm() {
    for algorithm in ALGORITHMS.iter().filter(|it| !it.several_entries) {
        let world = World::new(algorithm.nodes_to_show as u16, algorithm.name);
        let nodes = world.start_all();
        let (inside, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let mut users = tokio::task::JoinSet::new();
        for node in &nodes {
            for name in ["one", "one", "two"] {
                let handle = node.handle(name).unwrap();
                let (inside, last) = (inside.clone(), last.clone());
                users.spawn(async move {
                    for _ in 0..5 {
                        let guard = soon(handle.lock()).await.unwrap();
                        if handle.name() == "one" {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            let Fence { epoch, entry } = guard.fence();
                            assert_eq!(epoch.number, 1);
                            assert!(last.swap(entry, Ordering::SeqCst) < entry, "fences grow");
                            tokio::task::yield_now().await;
                            assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                        }
                    }
                });
            }
        }
        while let Some(user) = users.join_next().await {
            user.unwrap_or_else(|why| panic!("{algorithm}: {why}"));
        }
    }
}

#[tokio::test]
async fn a_cut_keeps_the_others_out_and_not_the_one_that_is_inside() {
    let world = World::new(3, "ricart_agrawala");
    let nodes = world.start_all();
    let handles: Vec<_> = nodes.iter().map(|node| node.handle("one").unwrap()).collect();
    let guard = soon(handles[0].lock()).await.unwrap();
    let second = tokio::spawn({
        let handle = handles[1].clone();
        async move { handle.lock().await }
    });
    until(&nodes[1], |status| status.resources[0].waiting == 1).await;
    let impatient = tokio::spawn({
        let handle = handles[2].unless_incomplete();
        async move { handle.lock().await }
    });
    until(&nodes[2], |status| status.resources[0].waiting == 1).await;

    world.cut(2, 3, true);
    let down = soon(impatient).await.unwrap().unwrap_err();
    assert!(matches!(down, Down::Incomplete { .. }), "{down}");
    until(&nodes[0], |status| status.epoch.is_none() && status.is_awaited).await;
    world.cut(2, 3, false);
    // All sessions are up again, and everybody waits for the one that is inside.
    until(&nodes[1], |status| status.peers.iter().all(|peer| peer.is_up)).await;
    let down = soon(handles[2].try_lock()).await.unwrap_err();
    assert!(matches!(down, Down::Incomplete { .. }), "{down}");
    assert!(!second.is_finished());

    let first = guard.fence();
    drop(guard);
    let guard = soon(second).await.unwrap().unwrap();
    assert!(guard.fence() > first && guard.fence().epoch.number > 1);
}

#[tokio::test]
async fn a_deadline_takes_the_request_back() {
    // One algorithm that can, and one that cannot.
    for algorithm in ["ricart_agrawala", "raymond"] {
        let world = World::new(3, algorithm);
        let nodes = world.start_all();
        let handles: Vec<_> = nodes.iter().map(|node| node.handle("one").unwrap()).collect();
        let guard = soon(handles[0].lock()).await.unwrap();
        let late = handles[1].lock_within(Duration::from_millis(20)).await.unwrap_err();
        assert_eq!(late, Down::TimedOut);
        assert_eq!(handles[2].try_lock().await.unwrap_err(), Down::Busy);
        assert_eq!(handles[0].try_lock().await.unwrap_err(), Down::Busy, "the same node");
        drop(guard);
        for handle in &handles {
            drop(soon(handle.lock()).await.unwrap());
        }
        let free = soon(async {
            loop {
                match handles[1].try_lock().await {
                    Ok(guard) => return guard,
                    Err(Down::Busy) => {}
                    Err(down) => panic!("{down}"),
                }
            }
        });
        drop(free.await);
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_those_inside_and_refuses_those_that_wait() {
    let world = World::new(2, "lamport");
    let nodes = world.start_all();
    let handle = nodes[0].handle("one").unwrap();
    let guard = soon(handle.lock()).await.unwrap();
    let mut waiting = Box::pin(handle.lock());
    let mut lost = Box::pin(guard.lost());
    let mut shutdown = Box::pin(nodes[0].shutdown());
    // Each is polled once, so that the request and the shutdown are under way.
    let once = Duration::ZERO;
    assert!(tokio::time::timeout(once, &mut waiting).await.is_err());
    assert!(tokio::time::timeout(once, &mut lost).await.is_err());
    assert!(tokio::time::timeout(once, &mut shutdown).await.is_err());
    assert_eq!(soon(&mut waiting).await.unwrap_err(), Down::Closed);
    assert_eq!(soon(lost).await, Down::Closed);
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut shutdown).await.is_err());
    // As long as somebody is inside, no other node may have the directory.
    assert!(matches!(world.try_start(1), Err(StoreError::InUse(_))));
    drop(guard);
    soon(shutdown).await;
    assert_eq!(handle.lock().await.unwrap_err(), Down::Closed);
    until(&nodes[1], |status| status.epoch.is_none()).await;
}

#[tokio::test]
async fn a_node_that_comes_back_is_taken_in_and_a_blank_one_is_not() {
    let world = World::new(3, "suzuki_kasami");
    let mut nodes = world.start_all();
    let first = until(&nodes[0], |status| status.epoch.is_some()).await;
    nodes.remove(2).shutdown().await;
    nodes.push(world.start(3));
    let second = until(&nodes[0], |status| status.epoch > first.epoch).await;
    until(&nodes[2], |status| status.epoch == second.epoch && status.incarnation == 2).await;

    nodes.remove(2).shutdown().await;
    std::fs::remove_dir_all(world.data(3)).unwrap();
    nodes.push(world.start(3));
    let refused = |status: &Status| {
        let end = &status.peers[1].last_end;
        end.as_ref().is_some_and(|why| why.contains("lost its memory"))
    };
    until(&nodes[0], refused).await;
    until(&nodes[1], refused).await;
    assert_eq!(nodes[0].status().await.unwrap().epoch, None);

    // The operator takes it in, and each other node must be told.
    nodes[0].replace(3).await.unwrap();
    nodes[1].replace(3).await.unwrap();
    let third = until(&nodes[2], |status| status.epoch.is_some()).await;
    assert!(third.epoch > second.epoch, "fences grow through it");
    soon(nodes[2].handle("one").unwrap().lock()).await.unwrap();
    assert!(nodes[0].replace(3).await.is_err(), "nobody is missing");
    assert!(nodes[0].replace(9).await.is_err());
}

#[tokio::test]
async fn a_node_that_was_replaced_while_it_was_down_is_forgotten() {
    let world = World::new(2, "lamport");
    let (text, keys) = cluster(2, "lamport");
    let configuration: Configuration = text.parse().unwrap();
    let settings = Settings { configuration, me: 1, secret: keys[0].clone(), data: world.data(1) };
    let (store, _) = open(&settings.configuration, 1, &keys[0], &settings.data).unwrap();
    let life = crate::strict::Life { incarnation: 3, mark: 4 };
    store.keep(&Record { incarnation: 2, epoch: 5, known: vec![None, Some(life)] }).unwrap();
    assert!(matches!(replace_while_down(&settings, 2), Err(StartError::Store(_))), "it runs");
    drop(store);
    replace_while_down(&settings, 2).unwrap();
    assert!(matches!(replace_while_down(&settings, 7), Err(StartError::NoMember(7))));
    let (store, _) = open(&settings.configuration, 1, &keys[0], &settings.data).unwrap();
    let record = store.read().unwrap();
    assert_eq!(record, Record { incarnation: 2, epoch: 5, known: vec![None, None] });
    let wrong = open(&settings.configuration, 1, &keys[1], &settings.data);
    assert!(matches!(wrong, Err(StartError::Key { me: 1, .. })));
}

type Central = <exclusion::message::CentralCoordinator as exclusion::message::Machine>::Message;

#[tokio::test]
async fn a_peer_that_says_what_it_cannot_say_is_cut_off_and_nothing_changes() {
    let world = World::new(2, "central_coordinator");
    let node = world.start(1);
    let mut fake = world.network.link(NodeId(1));
    let hello = |digest| {
        let life = crate::strict::Life { incarnation: 1, mark: 7 };
        let round = crate::strict::Round { life, number: 1 };
        Message::<Central>::Hello(crate::strict::Hello { digest, round, last: 0 })
    };
    let right = hello(world.configuration.digest());
    let wrong = [
        vec![],
        b"nonsense".to_vec(),
        vec![0xff; 1000],
        frame::encode(&hello(crate::strict::Digest([1; 32]))).unwrap(),
        frame::encode(&Message::<Central>::Ready { epoch: 1, rounds: Vec::new() }).unwrap(),
        [frame::encode(&right).unwrap(), vec![0]].concat(),
    ];
    for bytes in wrong {
        let said = bytes.clone();
        loop {
            match soon(fake.next()).await.unwrap() {
                Event::Up(peer) => fake.send(peer, bytes.clone()),
                Event::Ended(_, why) => {
                    assert!(why.contains("it said") || why.contains("another conf"), "{why}");
                    break;
                }
                Event::Frame(..) => {}
            }
        }
        let status = node.status().await.unwrap();
        assert_eq!((status.epoch, status.last_epoch), (None, 0), "after {said:?}");
    }
    // The same peer in its right mind is welcome.
    drop(fake);
    let second = world.start(2);
    soon(second.handle("two").unwrap().lock()).await.unwrap();
    assert_eq!(node.status().await.unwrap().epoch, Some(1));
}
