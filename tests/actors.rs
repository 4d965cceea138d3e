//! Clusters of actors: what their users may rely on, and what they are told when it goes wrong.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::within_two_minutes;
use exclusion::actor::{Cluster, Down, Handle, HandleError, StartError};
use exclusion::protocol::{
    CarvalhoRoucairol, CentralCoordinator, ClusterError, Exclusive, GrantingSets, Lamport, Maekawa,
    Message, NodeId, Outbox, Phase, Protocol, RaymondK, Refused, RicartAgrawala, Timer,
};

const SOON: Duration = Duration::from_millis(20);

fn cluster<P: Protocol<Message: Send> + Send + 'static>(nodes: Vec<P>) -> Cluster<P, u64> {
    Cluster::start(nodes, 0).expect("it starts")
}

fn pair<P: Protocol<Message: Send> + Send + 'static>(
    cluster: &Cluster<P, u64>,
) -> [Handle<P, u64>; 2] {
    let mut handles = cluster.handles().into_iter();
    [(); 2].map(|()| handles.next().expect("two nodes"))
}

#[test]
fn alone_actors_send_to_the_message_what_the_simulator_counts() {
    let cluster = cluster(RicartAgrawala::cluster(4).unwrap());
    let [_, mut handle] = pair(&cluster);
    for _ in 0..10 {
        *handle.lock().unwrap() += 1;
    }
    let messages = cluster.shutdown();
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
        // Two of the three nodes do not coordinate; and so do two of the three that looked at the end.
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
        let nodes = Maekawa::cluster(&GrantingSets::grid(6).unwrap());
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

/// Says hello to node 1 for each request, and does something wrong there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Faulty(Fault);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fault {
    PanicsAtAMessage,
    PanicsAtARequest,
    RefusesAMessage,
    LetsInUnasked,
    LetsEverybodyIn,
    LetsInOneTooMany,
    WritesToNobody,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hello;

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "HELLO"
    }
}

impl Protocol for Faulty {
    type Message = Hello;

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        match self.0 {
            Fault::PanicsAtARequest => panic!("at a request"),
            Fault::LetsEverybodyIn | Fault::LetsInOneTooMany => out.enter(),
            Fault::WritesToNobody => out.send(NodeId(7), Hello),
            _ => out.send(NodeId(1), Hello),
        }
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        Ok(())
    }

    fn entries_at_a_time(&self) -> usize {
        if self.0 == Fault::LetsInOneTooMany { 2 } else { 1 }
    }

    fn receive(&mut self, _: NodeId, _: Hello, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        match self.0 {
            Fault::PanicsAtAMessage => panic!("at a message"),
            Fault::RefusesAMessage => Err(Refused("it is in a bad mood")),
            _ => {
                out.enter();
                Ok(())
            }
        }
    }
}

impl Exclusive for Faulty {}

#[test]
fn one_too_many_of_several_is_noticed() {
    let cluster = cluster(vec![Faulty(Fault::LetsInOneTooMany); 3]);
    let mut handles = cluster.handles();
    let [first, second, third] = &mut handles[..] else { panic!("three nodes") };
    let inside = (first.lock().unwrap(), second.lock().unwrap());
    assert_eq!(third.lock().map(|_| ()), Err(Down::NotExclusive(NodeId(2))));
    drop(inside);
}

#[test]
fn a_message_to_nobody_is_noticed() {
    let cluster = cluster(vec![Faulty(Fault::WritesToNobody); 2]);
    let down = Down::NoSuchNode { from: NodeId(0), to: NodeId(7) };
    assert_eq!(cluster.handles()[0].lock().map(|_| ()), Err(down));
}

#[test]
fn a_guard_that_was_forgotten_is_told_to_its_user_alone() {
    let cluster = cluster(CarvalhoRoucairol::cluster(2).unwrap());
    let [mut one, mut other] = pair(&cluster);
    std::mem::forget(one.lock().unwrap());
    assert_eq!(one.lock().map(|_| ()), Err(Down::Forgotten(NodeId(0))));
    assert_eq!(one.try_lock().map(|_| ()), Err(Down::Forgotten(NodeId(0))));
    assert!(other.lock_timeout(SOON).unwrap().is_none());
}

#[test]
fn a_node_that_dies_tells_those_who_wait() {
    within_two_minutes(|| {
        let down = |fault| {
            let cluster = cluster(vec![Faulty(fault); 2]);
            let [mut one, mut other] = pair(&cluster);
            let down = one.lock().map(|_| ()).unwrap_err();
            assert_eq!(other.lock().map(|_| ()).unwrap_err(), down, "and those who come later");
            down
        };
        assert_eq!(down(Fault::PanicsAtAMessage), Down::Panicked(NodeId(1)));
        assert_eq!(down(Fault::LetsInUnasked), Down::NotAsked(NodeId(1)));
        assert_eq!(
            down(Fault::RefusesAMessage).to_string(),
            "the cluster is down: n1 cannot take HELLO from n0: it is in a bad mood"
        );
    });
}

#[test]
fn a_node_that_panics_in_its_users_thread_tells_the_others() {
    let cluster = cluster(vec![Faulty(Fault::PanicsAtARequest); 2]);
    let [mut one, mut other] = pair(&cluster);
    std::thread::spawn(move || one.lock().map(|_| ())).join().unwrap_err();
    assert_eq!(other.lock().map(|_| ()), Err(Down::Panicked(NodeId(0))));
}

#[test]
fn two_inside_are_noticed() {
    let cluster = cluster(vec![Faulty(Fault::LetsEverybodyIn); 2]);
    let [mut one, mut other] = pair(&cluster);
    let inside = one.lock().unwrap();
    assert_eq!(other.lock().map(|_| ()), Err(Down::NotExclusive(NodeId(1))));
    drop(inside);
}

/// Lets its user in when its timers have run out, the second set first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Patient {
    phase: Phase,
    ran_out: Vec<Timer>,
}

impl Protocol for Patient {
    type Message = Hello;

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.request()?;
        out.set_timer(Timer(1), 3);
        out.set_timer(Timer(2), 1);
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, _: NodeId, _: Hello, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        Err(Refused("nobody says anything"))
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.ran_out.push(timer);
        if self.ran_out.len() == 2 {
            assert_eq!(self.ran_out, [2, 1].map(Timer));
            self.phase.enter(out);
        }
        Ok(())
    }
}

#[test]
fn timers_run_out_in_the_order_of_their_times() {
    within_two_minutes(|| {
        let node = Patient { phase: Phase::Idle, ran_out: Vec::new() };
        let cluster = Cluster::builder()
            .resource("time", vec![node; 2], 0)
            .period(Duration::from_millis(2))
            .start()
            .unwrap();
        let entered = cluster.handles()[0].lock().map(|_| ());
        assert_eq!(entered, Ok(()));
    });
}

/// Sends a message to itself and back without end, and enters when its timer runs out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Busy(Phase);

impl Protocol for Busy {
    type Message = Hello;

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.0.request()?;
        out.set_timer(Timer(1), 1);
        for _ in 0..10 {
            out.send(NodeId(1), Hello);
        }
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.0.release()
    }

    fn receive(&mut self, from: NodeId, _: Hello, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        out.send(from, Hello);
        Ok(())
    }

    fn timeout(&mut self, _: Timer, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.0.enter(out);
        Ok(())
    }
}

#[test]
fn timers_run_out_however_busy_the_node_is() {
    within_two_minutes(|| {
        for shuffle in [None, Some(1)] {
            let mut builder = Cluster::builder().resource("busy", vec![Busy(Phase::Idle); 2], 0);
            if let Some(seed) = shuffle {
                builder = builder.shuffled(seed);
            }
            let cluster = builder.start().unwrap();
            let entered = cluster.handles()[0].lock().map(|_| ());
            assert_eq!(entered, Ok(()));
        }
    });
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
