//! Recovery and fences: without a detector, with a cut, and with a restart that nobody notices.
#![cfg(feature = "check")]

mod common;

use std::collections::HashSet;

use common::by_hand::ByHand;
use exclusion::message::check::Check;
use exclusion::message::registry::Algorithm;
use exclusion::message::{
    Epoch, Fence, Fenced, FromRegistry, Input, Link, NodeId, Notice, Phase, Protocol, Recovering,
    SuzukiKasami,
};

type Recovers<P> = Recovering<FromRegistry<P>>;

/// More states than any exploration here has.
const MOST_STATES: usize = 10_000_000;

fn suzuki_kasami(nodes: usize) -> Vec<Recovers<SuzukiKasami>> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    let cluster = SuzukiKasami::cluster(nodes).expect("enough nodes");
    Recovering::over(algorithm, cluster).expect("it is a cluster")
}

#[test]
fn without_the_detectors_notice_a_crash_blocks() {
    let check = Check::new(suzuki_kasami(2)).crashes(1).untold().serving_all();
    let progress = check.progress().expect("it is claimed");
    assert!(progress.find_stuck(&check, MOST_STATES).expect("few states").is_some());
}

#[test]
fn a_crash_and_a_restart_within_one_round_trip_end_the_view_and_the_next_user_is_told() {
    let mut world = ByHand::new(Link::over(suzuki_kasami(2)));
    world.request(0);
    assert_eq!(world.entries_of(0), 1, "it has the token");
    world.request(1);
    // Node 0 dies inside, and is back before the request arrives.
    world.users[0] = Phase::Idle;
    world.give(0, Input::Notice(Notice::Recovered)).expect("it restarts");
    world.deliver_all();
    assert_eq!(world.entries_of(1), 1);
    let admission = world.nodes[1].admission().expect("it is inside");
    assert!(admission.perhaps_inside.contains(NodeId(0)), "{admission:?}");
    world.release(1);
    world.request(0);
    world.deliver_all();
    let admission = world.nodes[0].admission().expect("it is inside").clone();
    assert!(admission.perhaps_inside.is_empty(), "that one has been told");
    assert!(admission.fence > Fence { epoch: Epoch::default(), entry: u64::MAX });
}

#[test]
fn after_a_cut_with_the_holder_in_the_minority_fences_grow_and_its_write_is_refused() {
    let nodes = suzuki_kasami(5).into_iter().map(Recovering::gated).collect();
    let mut world = ByHand::new(nodes);
    let mut cell = Fenced::new("nothing");
    let fence = |world: &ByHand<Recovers<SuzukiKasami>>, node: usize| {
        world.nodes[node].admission().expect("it is inside").fence
    };
    world.request(0);
    let old = fence(&world, 0);
    *cell.write(old).expect("nobody else was here") = "first";
    // Nothing passes between {0, 1} and {2, 3, 4}, and each side takes the other for dead.
    let is_cut = |one: u32, other: u32| (one < 2) != (other < 2);
    for observer in 0..5 {
        for node in (0..5).filter(|&node| is_cut(observer, node)) {
            let down = Notice::Down(NodeId(node));
            world.give(observer, Input::Notice(down)).expect("it can occur");
        }
    }
    world.request(1);
    world.request(3);
    let deliver = |world: &mut ByHand<_>| {
        while let Some((from, to, message)) = world.in_flight.pop_front() {
            if !is_cut(NodeId::index(from) as u32, NodeId::index(to) as u32) {
                let receive = Input::Receive { from, message };
                world.give(to.0, receive).expect("it can occur");
            }
        }
    };
    deliver(&mut world);
    assert_eq!((world.entries_of(1), world.entries_of(3)), (0, 1), "a minority admits nobody");
    assert!(world.nodes[1].view().is_none());
    let new = fence(&world, 3);
    assert!(new > old);
    *cell.write(new).expect("it is the greatest") = "second";
    assert!(cell.write(old).is_err(), "the old holder has been overtaken");

    // The cut is over.
    for observer in 0..5 {
        for node in (0..5).filter(|&node| is_cut(observer, node)) {
            let up = Notice::Up(NodeId(node));
            world.give(observer, Input::Notice(up)).expect("it can occur");
        }
    }
    world.deliver_all();
    world.release(0);
    world.deliver_all();
    world.release(3);
    world.deliver_all();
    assert_eq!(world.entries_of(1), 1, "all are served");
    assert!(fence(&world, 1) > new);
    let views: HashSet<_> = world.nodes.iter().map(|node| node.view().cloned()).collect();
    assert_eq!(views.len(), 1, "{views:?}");
    let view = views.into_iter().next().flatten().expect("all are in it");
    assert_eq!(view.members.len(), 5);
    *cell.write(fence(&world, 1)).expect("it is the greatest") = "third";
    assert_eq!(cell.into_inner(), "third");
}
