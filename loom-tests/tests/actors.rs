//! Clusters of actors under loom: two nodes, each with a thread and a user, over loom's channels.
//! The data behind the guard is a cell of loom's.

use std::time::Duration;

use exclusion::message::actor::{Cluster, Down};
use exclusion::message::{
    CarvalhoRoucairol, CentralCoordinator, Exclusive, Machine, Message, NodeId, Outbox, Phase,
    Protocol, Refused, RicartAgrawala,
};
use loom::thread;
use loom_tests::{Search, hold};

/// Both users enter once; nothing is lost.
fn both_enter<P>(nodes: Vec<P>)
where
    P: Protocol<Message: Send, Access = Exclusive> + Send + 'static,
{
    let cluster = Cluster::start(nodes, 0).expect("two nodes");
    let [mut one, mut other] = <[_; 2]>::try_from(cluster.handles()).expect("two handles");
    let user = thread::spawn(move || *other.lock().expect("nobody dies") += 1);
    *one.lock().expect("nobody dies") += 1;
    user.join().expect("it does not panic");
    assert_eq!(*one.lock().expect("nobody dies"), 2);
    cluster.shutdown();
}

#[test]
fn central_coordinator() {
    hold("actors::central_coordinator", Search::Preemptions(3), || {
        both_enter(CentralCoordinator::cluster(2).expect("two nodes"));
    });
}

#[test]
fn ricart_agrawala() {
    hold("actors::ricart_agrawala", Search::Preemptions(3), || {
        both_enter(RicartAgrawala::cluster(2).expect("two nodes"));
    });
}

/// A user that waits when the cluster is shut down is told so. A user that is inside stays.
#[test]
fn shutdown_while_waiting() {
    hold("actors::shutdown_while_waiting", Search::Preemptions(3), || {
        let nodes = RicartAgrawala::cluster(2).expect("two nodes");
        let cluster = Cluster::start(nodes, 0).expect("two nodes");
        let [mut one, mut other] = <[_; 2]>::try_from(cluster.handles()).expect("two handles");
        let mut inside = one.lock().expect("nobody dies");
        let user = thread::spawn(move || other.lock().map(|_| ()));
        cluster.shutdown();
        *inside += 1;
        assert_eq!(user.join().expect("it does not panic"), Err(Down::Shutdown));
    });
}

/// A timeout that races with the entry: one of them wins, and nothing is lost either way.
#[test]
fn timeout_racing_with_the_grant() {
    hold("actors::timeout_racing_with_the_grant", Search::Preemptions(3), || {
        let nodes = RicartAgrawala::cluster(2).expect("two nodes");
        let cluster = Cluster::start(nodes, 0).expect("two nodes");
        let [mut one, mut other] = <[_; 2]>::try_from(cluster.handles()).expect("two handles");
        let mut expected = 1;
        if let Some(mut inside) = one.lock_timeout(Duration::ZERO).expect("nobody dies") {
            *inside += 1;
            expected += 1;
        }
        // The request that was given up is granted, and released, or serves the next wish.
        *other.lock().expect("nobody dies") += 1;
        assert_eq!(*one.lock().expect("nobody dies"), expected);
        cluster.shutdown();
    });
}

/// Entering without asking anybody, and being asked meanwhile.
#[test]
fn try_lock_while_being_asked() {
    hold("actors::try_lock_while_being_asked", Search::Preemptions(3), || {
        let nodes = CarvalhoRoucairol::cluster(2).expect("two nodes");
        let cluster = Cluster::start(nodes, 0).expect("two nodes");
        let [mut one, mut other] = <[_; 2]>::try_from(cluster.handles()).expect("two handles");
        *one.lock().expect("nobody dies") += 1;
        let user = thread::spawn(move || *other.lock().expect("nobody dies") += 1);
        if let Some(mut inside) = one.try_lock().expect("nobody dies") {
            *inside += 1;
        }
        user.join().expect("it does not panic");
        cluster.shutdown();
    });
}

/// Lets everybody in at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Careless(NodeId, Phase);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Nothing;

impl Message for Nothing {
    fn kind(&self) -> &'static str {
        "NOTHING"
    }
}

impl Machine for Careless {
    type Message = Nothing;

    fn id(&self) -> NodeId {
        self.0
    }

    fn nodes(&self) -> usize {
        2
    }

    fn request(&mut self, out: &mut Outbox<Nothing>) -> Result<(), Refused> {
        self.1.request()?;
        self.1.enter(out);
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Nothing>) -> Result<(), Refused> {
        self.1.release()
    }

    fn receive(&mut self, _: NodeId, _: Nothing, _: &mut Outbox<Nothing>) -> Result<(), Refused> {
        Err(Refused("nobody says anything"))
    }
}

impl Protocol for Careless {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.1
    }
}

#[test]
fn a_careless_protocol_is_noticed() {
    let noticed = std::panic::catch_unwind(|| {
        hold("actors::careless", Search::Preemptions(2), || {
            both_enter(NodeId::all(2).map(|me| Careless(me, Phase::Idle)).collect())
        });
    });
    assert!(noticed.is_err(), "two were inside, and nobody noticed");
}
