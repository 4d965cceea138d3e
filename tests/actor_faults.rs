//! Clusters of actors whose nodes are wrong on purpose, or watch the time.

mod common;

use std::time::Duration;

use common::actors::{cluster, pair};
use common::hello::Hello;
use common::within_two_minutes;
use exclusion::message::actor::{Cluster, Down};
use exclusion::message::{
    Machine, NodeId, Outbox, Phase, Protocol, Refused, Shared, Timer, Violation,
};

/// Says hello to node 1 for each request, and does something wrong there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Faulty {
    me: NodeId,
    nodes: usize,
    fault: Fault,
    phase: Phase,
}

/// So many nodes, all with this fault.
fn faulty(fault: Fault, nodes: usize) -> Vec<Faulty> {
    NodeId::all(nodes).map(|me| Faulty { me, nodes, fault, phase: Phase::Idle }).collect()
}

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

impl Machine for Faulty {
    type Message = Hello;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.request()?;
        match self.fault {
            Fault::PanicsAtARequest => panic!("at a request"),
            Fault::LetsEverybodyIn | Fault::LetsInOneTooMany => self.phase.enter(out),
            Fault::WritesToNobody => out.send(NodeId(7), Hello),
            _ => out.send(NodeId(1), Hello),
        }
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, _: NodeId, _: Hello, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        match self.fault {
            Fault::PanicsAtAMessage => panic!("at a message"),
            Fault::RefusesAMessage => Err(Refused("it is in a bad mood")),
            _ => {
                out.enter();
                Ok(())
            }
        }
    }
}

impl Protocol for Faulty {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }

    fn entries_at_a_time(&self) -> usize {
        if self.fault == Fault::LetsInOneTooMany { 2 } else { 1 }
    }
}

fn too_many(node: u32) -> Down {
    Down::Violation(Violation::NotExclusive(vec![NodeId(node)]))
}

#[test]
fn one_too_many_of_several_is_noticed() {
    let cluster = cluster(faulty(Fault::LetsInOneTooMany, 3));
    let mut handles = cluster.handles();
    let [first, second, third] = &mut handles[..] else { panic!("three nodes") };
    let inside = (first.lock().unwrap(), second.lock().unwrap());
    assert_eq!(third.lock().map(|_| ()), Err(too_many(2)));
    drop(inside);
}

#[test]
fn a_message_to_nobody_is_noticed() {
    let cluster = cluster(faulty(Fault::WritesToNobody, 2));
    let down = Down::Violation(Violation::NoSuchNode { from: NodeId(0), to: NodeId(7) });
    assert_eq!(cluster.handles()[0].lock().map(|_| ()), Err(down));
}

#[test]
fn a_node_that_dies_tells_those_who_wait() {
    within_two_minutes(|| {
        let down = |fault| {
            let cluster = cluster(faulty(fault, 2));
            let [mut one, mut other] = pair(&cluster);
            let down = one.lock().map(|_| ()).unwrap_err();
            assert_eq!(other.lock().map(|_| ()).unwrap_err(), down, "and users that come later");
            down
        };
        assert_eq!(down(Fault::PanicsAtAMessage), Down::Panicked(NodeId(1)));
        assert_eq!(down(Fault::LetsInUnasked), Down::Violation(Violation::NotAsked(NodeId(1))));
        assert_eq!(
            down(Fault::RefusesAMessage).to_string(),
            "the cluster is down: n1 cannot take HELLO from n0: it is in a bad mood"
        );
    });
}

#[test]
fn a_node_that_panics_in_its_users_thread_tells_the_others() {
    let cluster = cluster(faulty(Fault::PanicsAtARequest, 2));
    let [mut one, mut other] = pair(&cluster);
    std::thread::spawn(move || one.lock().map(|_| ())).join().unwrap_err();
    assert_eq!(other.lock().map(|_| ()), Err(Down::Panicked(NodeId(0))));
}

#[test]
fn two_inside_are_noticed() {
    let cluster = cluster(faulty(Fault::LetsEverybodyIn, 2));
    let [mut one, mut other] = pair(&cluster);
    let inside = one.lock().unwrap();
    assert_eq!(other.lock().map(|_| ()), Err(too_many(1)));
    drop(inside);
}

/// Lets its user in when its timers have run out, the second set first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Patient {
    me: NodeId,
    phase: Phase,
    ran_out: Vec<Timer>,
}

impl Machine for Patient {
    type Message = Hello;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

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

impl Protocol for Patient {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

#[test]
fn timers_run_out_in_the_order_of_their_times() {
    within_two_minutes(|| {
        let node = |me| Patient { me, phase: Phase::Idle, ran_out: Vec::new() };
        let cluster = Cluster::builder()
            .resource("time", NodeId::all(2).map(node).collect(), 0)
            .period(Duration::from_millis(2))
            .start()
            .unwrap();
        let entered = cluster.handles()[0].lock().map(|_| ());
        assert_eq!(entered, Ok(()));
    });
}

/// Sends a message to itself and back without end, and enters when its timer runs out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Busy {
    me: NodeId,
    phase: Phase,
}

impl Machine for Busy {
    type Message = Hello;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

    fn request(&mut self, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.request()?;
        out.set_timer(Timer(1), 1);
        for _ in 0..10 {
            out.send(NodeId(1), Hello);
        }
        Ok(())
    }

    fn release(&mut self, _: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.release()
    }

    fn receive(&mut self, from: NodeId, _: Hello, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        out.send(from, Hello);
        Ok(())
    }

    fn timeout(&mut self, _: Timer, out: &mut Outbox<Hello>) -> Result<(), Refused> {
        self.phase.enter(out);
        Ok(())
    }
}

impl Protocol for Busy {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

#[test]
fn timers_run_out_however_busy_the_node_is() {
    within_two_minutes(|| {
        for shuffle in [None, Some(1)] {
            let busy = |me| Busy { me, phase: Phase::Idle };
            let nodes = NodeId::all(2).map(busy).collect();
            let mut builder = Cluster::builder().resource("busy", nodes, 0);
            if let Some(seed) = shuffle {
                builder = builder.shuffled(seed);
            }
            let cluster = builder.start().unwrap();
            let entered = cluster.handles()[0].lock().map(|_| ());
            assert_eq!(entered, Ok(()));
        }
    });
}
