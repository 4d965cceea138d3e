//! Elections in the simulator: exact counts, and what becomes of them under faults.

mod common;

use common::chance::Chance;
use exclusion::message::ring_election::{Announcement, Choice};
use exclusion::message::sim::{Contest, ContestReport, Delay, Fault, Notices, View};
use exclusion::message::{
    Bully, BullyHalt, ChangRoberts, Echo, Election, Extinction, Graph, LeLann, Leadership, NodeId,
    RingElection, Unattended, replay,
};

#[track_caller]
fn run<E: Election>(contest: Contest<E>) -> ContestReport {
    let report = contest.run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.invariant, Ok(()));
    report
}

#[track_caller]
fn leader(report: &ContestReport) -> NodeId {
    report.leader.unwrap_or_else(|| panic!("nobody leads: {:?}", report.views)).leader
}

const DELAYS: [Delay; 3] =
    [Delay::Constant(1.0), Delay::Uniform(0.0, 1.0), Delay::Exponential(0.1)];

#[test]
fn the_bully_costs_its_formula_from_every_initiator() {
    for n in 2..=8 {
        for initiator in NodeId::all(n - 1) {
            for (seed, delay) in (0..).zip(DELAYS) {
                let top = NodeId::at(n - 1);
                let contest = Contest::new(Bully::cluster(n).unwrap()).seed(seed).delay(delay);
                let report = run(contest.without([top]).initiators([initiator]));
                let m = (n - 1 - initiator.index()) as u64;
                assert_eq!(leader(&report), NodeId::at(n - 2));
                assert_eq!(report.messages.total(), m * m + n as u64 - 2, "n={n}, {initiator}");
                assert_eq!(report.messages.of("ELECTION"), m * (m + 1) / 2);
                assert_eq!(report.messages.of("OK"), m * (m - 1) / 2);
                assert_eq!(report.messages.of("COORDINATOR"), n as u64 - 2);
            }
        }
    }
}

#[test]
fn the_bully_with_nobody_down_ends_with_the_highest() {
    for n in 2..=8 {
        for initiator in NodeId::all(n) {
            let report = run(Contest::new(Bully::cluster(n).unwrap()).initiators([initiator]));
            let m = (n - 1 - initiator.index()) as u64;
            assert_eq!(leader(&report), NodeId::at(n - 1));
            assert_eq!(report.messages.total(), m * (m + 1) + n as u64 - 1);
        }
    }
}

/// All orders of the numbers below n.
fn arrangements(n: u32) -> Vec<Vec<NodeId>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = arrangements(last).into_iter();
    let with_last = shorter.flat_map(|order| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, NodeId(last));
            order
        })
    });
    with_last.collect()
}

#[test]
fn chang_and_roberts_cost_what_they_say_over_all_arrangements() {
    for n in 2..=7_u64 {
        let arrangements = arrangements(n as u32);
        let counts: Vec<u64> = arrangements
            .iter()
            .map(|order| {
                let cluster = ChangRoberts::arranged(order).unwrap();
                let contest = Contest::new(cluster.clone()).initiators(order.iter().copied());
                let at_once = contest.circumstances().unwrap();
                let formula = ChangRoberts::cost(&cluster, &at_once).unwrap();
                let report = run(contest);
                assert_eq!(leader(&report), NodeId(n as u32 - 1));
                assert_eq!(report.messages.of("ELECTED"), n);
                let total = report.messages.total();
                assert_eq!(formula.messages, total..=total, "{order:?}");
                report.messages.of("ELECTION")
            })
            .collect();
        assert_eq!(counts.iter().min(), Some(&(2 * n - 1)));
        assert_eq!(counts.iter().max(), Some(&(n * (n + 1) / 2)));
        // The mean is n times the n-th harmonic number, exactly: both sides times n!.
        let factorial: u64 = (1..=n).product();
        assert_eq!(counts.len() as u64, factorial);
        let harmonic: u64 = (1..=n).map(|i| factorial / i).sum();
        assert_eq!(counts.iter().sum::<u64>(), n * harmonic);
    }
}

/// Some nodes of n, by the bits of a number.
fn subset(n: usize, bits: u32) -> Vec<NodeId> {
    NodeId::all(n).filter(|node| bits >> node.0 & 1 == 1).collect()
}

#[test]
fn le_lann_sends_every_number_all_the_way() {
    for n in 2..=6 {
        for bits in 1..1 << n {
            let initiators = subset(n, bits);
            let contest = Contest::new(LeLann::cluster(n).unwrap()).delay(Delay::Exponential(1.0));
            let report = run(contest.seed(bits.into()).initiators(initiators.clone()));
            assert_eq!(leader(&report), *initiators.last().unwrap());
            assert_eq!(report.messages.of("ELECTION"), (initiators.len() * n) as u64);
            assert_eq!(report.messages.total(), ((initiators.len() + 1) * n) as u64);
        }
    }
}

#[test]
fn the_ring_costs_2mk_among_those_who_live() {
    for n in 2..=6 {
        for dead in 0..1_u32 << n {
            let crashed = subset(n, dead);
            let live: Vec<_> = NodeId::all(n).filter(|node| !crashed.contains(node)).collect();
            let m = live.len() as u64;
            if m < 2 {
                continue;
            }
            for k in 1..=live.len() {
                for (choice, best) in
                    [(Choice::Highest, live[live.len() - 1]), (Choice::Lowest, live[0])]
                {
                    for (announcement, each) in
                        [(Announcement::Round, 2 * m), (Announcement::ToAll, 2 * m - 1)]
                    {
                        let cluster = RingElection::with(n, choice, announcement).unwrap();
                        let contest = Contest::new(cluster)
                            .without(crashed.clone())
                            .notices(Notices::ToAll)
                            .initiators(live[..k].iter().copied());
                        let report = run(contest);
                        assert_eq!(leader(&report), best);
                        assert_eq!(report.messages.total(), each * k as u64);
                    }
                }
            }
        }
    }
}

#[test]
fn a_dead_successor_that_has_to_be_found_out_costs_the_ring_one_message() {
    for n in 3..=6_u32 {
        // Node 1 is down, and only node 0 will be told, after it has sent its list there.
        let contest = Contest::new(RingElection::cluster(n as usize).unwrap())
            .fault_at(0.0, Fault::Crash(NodeId(1)))
            .notices(Notices::To(vec![NodeId(0)]))
            .call_at(0.5, NodeId(0));
        let report = run(contest);
        let m = u64::from(n) - 1;
        assert_eq!(leader(&report), NodeId(n - 1));
        assert_eq!(report.messages.total(), 2 * m + 1);
    }
}

/// The list of the second caller is lost, and nobody was told. The one that lost it calls in a
/// lower number, and by that the list is sent again.
#[test]
fn two_lists_that_a_node_misses_which_is_back_before_anybody_was_told_are_sent_again() {
    for time in [2.6, 20.0] {
        let contest = Contest::new(RingElection::cluster(3).unwrap())
            .notices(Notices::ToAll)
            .initiators([NodeId(0)])
            .call_at(1.5, NodeId(1))
            .fault_at(1.6, Fault::Crash(NodeId(2)))
            .fault_at(time, Fault::Recover(NodeId(2)));
        let report = run(contest);
        assert!(report.settled, "back at {time}: {:?}", report.views);
        assert_eq!(leader(&report), NodeId(2));
    }
}

/// Whoever crashes at any step, and whenever it comes back: two callers, and news by both ways.
#[cfg(feature = "check")]
#[test]
fn two_callers_on_a_ring_survive_a_crash_and_a_recovery_at_any_step() {
    use exclusion::message::Channels;
    use exclusion::message::check::{Check, Checker, Model};

    let settings = [(Choice::Highest, Announcement::Round), (Choice::Lowest, Announcement::ToAll)];
    for (choice, announcement) in settings {
        let cluster = RingElection::with(3, choice, announcement).unwrap();
        let check = Check::election(cluster).channels(Channels::Fifo);
        let check = check.initiators([0, 1].map(NodeId)).crashes(1).recoveries(1);
        check.clone().checker().spawn_bfs().join().assert_properties();
        let progress = check.progress().expect("it is an election");
        let stuck = progress.find_stuck(&check, 1_000_000).expect("it ends");
        assert!(stuck.is_none(), "{announcement:?}: {stuck:?}");
    }
}

/// A node that has acknowledged a call may be halted again by one that goes down then: its first
/// answer does not count. Among three with a majority two nodes never follow two leaders, though
/// two go down and one comes back.
#[cfg(feature = "check")]
#[test]
fn an_answer_that_a_node_has_gone_back_on_does_not_make_a_leader() {
    use exclusion::message::Channels;
    use exclusion::message::check::{Check, Checker, Model};

    let explored = |cluster: Vec<BullyHalt>| {
        let check = Check::election(cluster).channels(Channels::Fifo).initiators([NodeId(2)]);
        check.crashes(2).recoveries(1).checker().spawn_bfs().join()
    };
    let gated = explored(BullyHalt::gated(3).unwrap());
    assert!(gated.discovery("one leader").is_none());
    // Without one, a node that is still taken for dead follows a leader that is down, and is not
    // told yet.
    let plain = explored(BullyHalt::cluster(3).unwrap());
    assert!(plain.discovery("one leader").is_some());
}

#[test]
fn the_bully_that_halts_costs_three_for_each_other_node() {
    for n in 2..=8 {
        for dead in 0..n {
            let crashed: Vec<_> = NodeId::all(n).skip(n - dead).collect();
            for initiator in NodeId::all(n - dead) {
                let cluster = BullyHalt::cluster(n).unwrap();
                let contest = Contest::new(cluster.clone()).without(crashed.clone());
                let contest = contest.notices(Notices::ToAll).initiators([initiator]);
                let at_once = contest.circumstances().unwrap();
                let cost = BullyHalt::cost(&cluster, &at_once).unwrap();
                let report = run(contest);
                assert_eq!(leader(&report), NodeId::at(n - dead - 1));
                assert!(cost.messages.contains(&report.messages.total()), "{report} {cost:?}");
                assert_eq!(report.messages.of("HALT"), (n - dead - 1) as u64);
            }
        }
    }
}

#[test]
fn there_is_no_formula_without_a_majority() {
    for (down, leads) in [(&[3][..], true), (&[3, 2], false), (&[3, 2, 1], false)] {
        let cluster = BullyHalt::gated(4).unwrap();
        let down: Vec<_> = down.iter().copied().map(NodeId).collect();
        let contest = Contest::new(cluster.clone()).without(down).notices(Notices::ToAll);
        let contest = contest.initiators([NodeId(0)]);
        let cost = BullyHalt::cost(&cluster, &contest.circumstances().unwrap());
        let report = run(contest);
        assert_eq!((report.settled, cost.is_some()), (leads, leads));
        let messages = report.messages.total();
        assert!(cost.is_none_or(|cost| cost.messages.contains(&messages)));
    }
}

#[test]
fn there_is_no_formula_for_what_happens_later() {
    let contest = || Contest::new(RingElection::cluster(4).unwrap()).initiators([NodeId(0)]);
    let at_once = contest().call_at(0.0, NodeId(2)).circumstances().unwrap();
    assert_eq!(at_once.initiators, [0, 2].map(NodeId));
    assert_eq!(contest().call_at(2.5, NodeId(2)).circumstances(), None);
    assert_eq!(contest().fault_at(2.5, Fault::Crash(NodeId(2))).circumstances(), None);
    assert_eq!(contest().crashes_at_random(1, 9.0, None).circumstances(), None);
}

/// What a node has sent before it went down comes home to one that knows nothing of it.
#[test]
fn a_node_that_comes_back_has_forgotten_that_it_stood_and_the_election_stops() {
    macro_rules! stops {
        ($cluster:expr, $initiators:expr, $node:literal at $time:literal, then $calls:literal) => {{
            let (node, time) = (NodeId($node), $time);
            let contest = Contest::new($cluster)
                .initiators($initiators.map(NodeId))
                .fault_at(time, Fault::Crash(node))
                .fault_at(time + 0.2, Fault::Recover(node));
            let run = |contest: Contest<_>| contest.run().unwrap_or_else(|it| panic!("{it}"));
            let report = run(contest.clone());
            assert!(!report.settled, "{:?}", report.views);
            run(contest.call_at(50.0, NodeId($calls))).leader.map(|it| it.leader.0)
        }};
    }
    let line = Graph::line(4).unwrap();
    // The others wait for the election to end. One that knows of none can call another.
    assert_eq!(stops!(ChangRoberts::cluster(4).unwrap(), [1, 3], 3 at 3.5, then 3), Some(3));
    assert_eq!(stops!(Extinction::over(&line), [0], 1 at 1.5, then 1), Some(1));
    // Here that is the one that believes that the other has won.
    assert_eq!(stops!(LeLann::cluster(4).unwrap(), [1, 3], 3 at 1.5, then 1), Some(1));
    // A wave of the echo algorithm has no tag, so nobody may call again.
    let contest = Contest::new(Echo::over(&line)).initiators([NodeId(0)]);
    let contest = contest.fault_at(1.5, Fault::Crash(NodeId(1)));
    let report = run(contest.fault_at(1.7, Fault::Recover(NodeId(1))));
    assert!(!report.settled, "{:?}", report.parents);
}

fn graphs(n: usize) -> Vec<Graph> {
    let side =
        (1..=n).filter(|side| n.is_multiple_of(*side)).find(|side| side * side >= n).unwrap();
    let graphs = [
        Graph::ring(n),
        Graph::line(n),
        Graph::star(n),
        Graph::tree(n, 3),
        Graph::grid(n / side, side),
        Graph::random(n, 3 * n, 5),
        Graph::random(n, n - 1, 9),
    ];
    let mut graphs: Vec<_> = graphs.into_iter().collect::<Result<_, _>>().unwrap();
    if n.is_power_of_two() {
        graphs.push(Graph::hypercube(n).unwrap());
    }
    if n <= 1024 {
        graphs.push(Graph::complete(n).unwrap());
    }
    graphs
}

#[track_caller]
fn echoes(graph: &Graph, initiator: NodeId, delay: Delay) {
    let report = run(Contest::new(Echo::over(graph)).delay(delay).initiators([initiator]));
    let (n, edges) = (graph.nodes() as u64, graph.edges() as u64);
    assert_eq!(leader(&report), initiator, "{graph}");
    assert_eq!(report.messages.total(), 2 * edges, "{graph}");
    assert_eq!(report.messages.of("ECHO"), n - 1, "{graph}");
    assert_eq!(report.parents.iter().filter(|parent| parent.is_none()).count(), 1);
}

#[test]
fn the_echo_costs_twice_the_edges_on_every_graph() {
    for graph in [8, 12, 16].into_iter().flat_map(graphs) {
        for initiator in NodeId::all(graph.nodes()) {
            DELAYS.iter().for_each(|&delay| echoes(&graph, initiator, delay));
        }
    }
}

#[test]
fn the_echo_costs_twice_the_edges_of_a_thousand_and_of_a_hundred_thousand_nodes() {
    for graph in [1000, 1024].into_iter().flat_map(graphs) {
        echoes(&graph, NodeId(777), Delay::Uniform(0.0, 1.0));
    }
    for graph in graphs(100_000) {
        echoes(&graph, NodeId(54_321), Delay::Constant(1.0));
    }
}

#[test]
fn extinction_elects_the_greatest_initiator_within_its_bound() {
    for graph in [8, 12].into_iter().flat_map(graphs) {
        let (n, edges) = (graph.nodes(), graph.edges() as u64);
        for bits in (1..1 << n).step_by(if n == 8 { 1 } else { 37 }) {
            let initiators = subset(n, bits);
            let contest = Contest::new(Extinction::over(&graph)).seed(bits.into());
            let contest = contest.delay(Delay::Exponential(1.0)).initiators(initiators.clone());
            let report = run(contest);
            assert_eq!(leader(&report), *initiators.last().unwrap(), "{graph}");
            assert_eq!(report.messages.of("LEADER"), n as u64 - 1);
            let waves = report.messages.total() - (n as u64 - 1);
            let most = 2 * edges * initiators.len() as u64;
            assert!((2 * edges..=most).contains(&waves), "{graph}: {waves} of {most}");
        }
    }
}

#[test]
fn elections_that_stand_crashes_agree_at_every_step_and_settle_after_random_ones() {
    for seed in 0..300 {
        let n = 3 + seed as usize % 5;
        let crashes = 1 + seed as usize % (n - 1);
        let down_for = (seed % 3 > 0).then_some(0.3 + (seed % 7) as f64);
        macro_rules! settles {
            ($cluster:expr, $check:expr) => {
                let contest = Contest::new($cluster.unwrap())
                    .seed(seed)
                    .delay(Delay::Uniform(0.0, 1.0))
                    .notices(Notices::ToAll)
                    .crashes_at_random(crashes, 9.0, down_for)
                    .initiators([NodeId(0), NodeId(1)])
                    .traced();
                let report = contest.run_checking($check);
                let report = report.unwrap_or_else(|it| panic!("{seed}: {it}\n{:?}", it.trace));
                let trace = report.trace.unwrap_or_default();
                assert!(report.settled, "seed {seed}: {:?}\n{trace}", report.views);
            };
        }
        settles!(Bully::cluster(n), agree_in_each_epoch);
        settles!(BullyHalt::cluster(n), agree_in_all);
        settles!(RingElection::cluster(n), agree_in_each_epoch);
    }
}

/// What the nodes that live have settled on.
fn views<E: Election>(view: &View<'_, Unattended<E>>) -> Vec<Leadership> {
    let live = NodeId::all(view.nodes.len()).filter(|&node| !view.is_down(node));
    live.filter_map(|node| view.nodes[node.index()].0.leadership()).collect()
}

fn agree_in_each_epoch<E: Election>(view: &View<'_, Unattended<E>>) -> Result<(), String> {
    let views = views(view);
    let agree = |one: &Leadership, other: &Leadership| one.epoch != other.epoch || one == other;
    let all_agree = views.iter().all(|one| views.iter().all(|other| agree(one, other)));
    if all_agree { Ok(()) } else { Err(format!("they disagree within an epoch: {views:?}")) }
}

fn agree_in_all<E: Election>(view: &View<'_, Unattended<E>>) -> Result<(), String> {
    let views = views(view);
    let all_agree = views.iter().all(|it| it.leader == views[0].leader);
    if all_agree { Ok(()) } else { Err(format!("they follow two leaders: {views:?}")) }
}

/// A check of every step that cannot fail would show nothing: a timeout that is too short makes two
/// leaders, for a moment.
#[test]
fn a_period_that_is_too_short_is_noticed_at_the_step_that_shows_it() {
    let found = (0..100).any(|seed| {
        let contest = Contest::new(Bully::cluster(4).unwrap()).seed(seed).period(0.4);
        let contest = contest.delay(Delay::Uniform(0.0, 1.0)).initiators([NodeId(0)]);
        let refuted = contest.run_checking(agree_in_each_epoch);
        refuted.is_err_and(|it| it.to_string().contains("they disagree within an epoch"))
    });
    assert!(found);
}

/// The views of five nodes that settled on node 4 and were cut then.
fn gated_views(side: &[u32], healed: bool) -> Vec<Option<u32>> {
    let contest = Contest::new(BullyHalt::gated(5).unwrap())
        .notices(Notices::ToAll)
        .initiators([NodeId(0)])
        .fault_at(20.0, Fault::Cut(side.iter().copied().map(NodeId).collect()));
    let contest = if healed { contest.fault_at(60.0, Fault::Heal) } else { contest };
    run(contest).views.into_iter().map(|view| view.map(|it| it.leader.0)).collect()
}

#[test]
fn a_node_without_a_majority_leaves_its_leader_even_if_that_lives() {
    // Node 0 and its leader are on the same side, and both step down.
    assert_eq!(gated_views(&[0, 4], false), [None, Some(3), Some(3), Some(3), None]);
    assert_eq!(gated_views(&[3, 4], false), [Some(2), Some(2), Some(2), None, None]);
    assert_eq!(gated_views(&[0, 1], false), [None, None, Some(4), Some(4), Some(4)]);
    for side in [&[0, 4][..], &[3, 4], &[0, 1], &[2]] {
        assert_eq!(gated_views(side, true), [Some(4); 5], "{side:?}");
    }
}

#[test]
fn half_of_the_nodes_have_no_leader_when_the_others_are_down() {
    let contest = Contest::new(BullyHalt::gated(4).unwrap())
        .notices(Notices::ToAll)
        .initiators([NodeId(0)])
        .fault_at(20.0, Fault::Crash(NodeId(1)))
        .fault_at(20.0, Fault::Crash(NodeId(2)));
    let report = run(contest.clone());
    assert_eq!((report.views[0], report.views[3]), (None, None));
    let report = run(contest.fault_at(40.0, Fault::Recover(NodeId(1))));
    assert_eq!(leader(&report), NodeId(3));
}

#[test]
fn a_node_that_recovers_during_a_cut_is_told_that_the_other_side_seems_down() {
    let contest = Contest::new(BullyHalt::cluster(4).unwrap())
        .notices(Notices::ToAll)
        .initiators([NodeId(0)])
        .fault_at(20.0, Fault::Crash(NodeId(1)))
        .fault_at(40.0, Fault::Cut(vec![NodeId(0), NodeId(1)]))
        .fault_at(60.0, Fault::Recover(NodeId(1)));
    let report = run(contest);
    let leaders: Vec<_> = report.views.iter().map(|view| view.map(|it| it.leader.0)).collect();
    assert_eq!(leaders, [Some(1), Some(1), Some(3), Some(3)]);
}

/// A node that has echoed a wave lets it come home, and calls no other of the same number.
#[test]
fn extinction_elects_once_even_if_a_greater_node_calls_late() {
    let line = Graph::line(3).unwrap();
    for late in 1..=5 {
        let contest = Contest::new(Extinction::over(&line)).initiators([NodeId(0)]);
        let report = run(contest.call_at(f64::from(late) - 0.5, NodeId(2)).traced());
        let trace = report.trace.as_ref().unwrap().to_string();
        let settles = trace.matches("settles").count();
        match late {
            // No wave has come to it yet.
            1 | 2 => assert_eq!((leader(&report), settles), (NodeId(2), 3), "{trace}"),
            _ => assert_eq!((leader(&report), settles), (NodeId(0), 3), "{trace}"),
        }
    }
}

#[test]
fn a_cut_makes_two_leaders_and_a_majority_one() {
    let side = vec![NodeId(0), NodeId(1)];
    let cut =
        |time| move |contest: Contest<Bully>| contest.fault_at(time, Fault::Cut(side.clone()));
    let report =
        run(cut(0.0)(Contest::new(Bully::cluster(5).unwrap())).initiators([NodeId(0), NodeId(2)]));
    assert_eq!(report.leaders(), [NodeId(1), NodeId(4)]);

    for minority in [vec![NodeId(0), NodeId(1)], vec![NodeId(3), NodeId(4)], vec![NodeId(2)]] {
        let plain = Contest::new(BullyHalt::cluster(5).unwrap());
        let gated = Contest::new(BullyHalt::gated(5).unwrap());
        let leaders = |contest: Contest<BullyHalt>, healed: bool| {
            let contest = contest
                .notices(Notices::ToAll)
                .initiators([NodeId(0)])
                .fault_at(20.0, Fault::Cut(minority.clone()));
            let contest = if healed { contest.fault_at(60.0, Fault::Heal) } else { contest };
            run(contest).leaders()
        };
        assert_eq!(leaders(plain, false).len(), 2, "{minority:?}");
        let highest = NodeId::all(5).rfind(|node| !minority.contains(node)).unwrap();
        assert_eq!(leaders(gated.clone(), false), [highest]);
        assert_eq!(leaders(gated, true), [NodeId(4)]);
    }
}

/// A node may be back, and on the list, before the caller's detector says so. Then it is told too.
#[cfg(feature = "check")]
#[test]
fn four_on_a_ring_survive_a_crash_at_any_step_and_a_recovery_at_rest() {
    use exclusion::message::Channels;
    use exclusion::message::check::{Check, Checker, Model};

    let settings = [(Choice::Highest, Announcement::Round), (Choice::Lowest, Announcement::ToAll)];
    for (choice, announcement) in settings {
        let cluster = RingElection::with(4, choice, announcement).unwrap();
        let check = Check::election(cluster).channels(Channels::Fifo).initiators([NodeId(0)]);
        let check = check.crashes(1).recoveries(1).recoveries_at_rest();
        check.clone().checker().spawn_bfs().join().assert_properties();
        let progress = check.progress().expect("it is an election");
        let stuck = progress.find_stuck(&check, 1_000_000).expect("it ends");
        assert!(stuck.is_none(), "{announcement:?}: {stuck:?}");
    }
}

#[cfg(feature = "check")]
#[test]
fn what_is_on_its_way_when_a_cut_begins_is_lost_to_the_checker_too() {
    use exclusion::message::check::{Action, Check, Model};

    let receivers = |side: u32, is_cut: bool| -> Vec<u32> {
        let check = Check::election(BullyHalt::gated(3).unwrap()).initiators([NodeId(2)]);
        let check = check.cut_later([NodeId(side)]);
        let start = check.init_states().remove(0);
        let called = check.next_state(&start, Action::Elect(NodeId(2))).unwrap();
        let now = if is_cut { check.next_state(&called, Action::Cut).unwrap() } else { called };
        let mut actions = Vec::new();
        check.actions(&now, &mut actions);
        let receiver = |action| match action {
            Action::Deliver { to, .. } => Some(to.0),
            _ => None,
        };
        let mut receivers: Vec<_> = actions.into_iter().filter_map(receiver).collect();
        receivers.sort_unstable();
        receivers
    };
    assert_eq!(receivers(0, false), [0, 1]);
    assert_eq!(receivers(0, true), [1]);
    assert!(receivers(2, true).is_empty());
}

#[test]
fn after_a_cut_the_plain_bully_has_two_leaders_until_somebody_calls() {
    let contest = Contest::new(Bully::cluster(5).unwrap())
        .notices(Notices::ToAll)
        .initiators([NodeId(0), NodeId(2)])
        .fault_at(0.0, Fault::Cut(vec![NodeId(0), NodeId(1)]))
        .fault_at(30.0, Fault::Heal);
    assert_eq!(run(contest.clone()).leaders(), [NodeId(1), NodeId(4)]);
    for caller in NodeId::all(4) {
        let report = run(contest.clone().call_at(60.0, caller));
        assert_eq!(leader(&report), NodeId(4), "{caller} calls");
    }
}

#[test]
fn a_run_is_the_same_for_the_same_seed_and_can_be_replayed() {
    for seed in 0..20 {
        let contest = || {
            Contest::new(Bully::cluster(5).unwrap())
                .seed(seed)
                .delay(Delay::Uniform(0.0, 1.0))
                .notices(Notices::ToAll)
                .crashes_at_random(2, 6.0, Some(3.0))
                .initiators([NodeId(1)])
                .traced()
        };
        let report = run(contest());
        assert_eq!(report, run(contest()));
        let trace = report.trace.unwrap();
        assert_eq!(trace.to_string().parse().as_ref(), Ok(&trace));
        let nodes = replay(Bully::cluster(5).unwrap(), &trace).unwrap();
        let views: Vec<_> = nodes.iter().map(|node| node.leadership()).collect();
        assert_eq!(views, report.views);
    }
}

#[test]
fn an_election_can_be_called_again() {
    let mut chance = Chance(7);
    for _ in 0..20 {
        let (first, second) = (chance.below(6) as u32, chance.below(6) as u32);
        let graph = Graph::random(6, 8, chance.next()).unwrap();
        macro_rules! again {
            ($cluster:expr) => {{
                let contest = Contest::new($cluster).call_at(0.0, NodeId(first));
                let report = run(contest.call_at(100.0, NodeId(second)));
                assert!(report.leader.is_some_and(|it| it.epoch.number == 2), "{report:?}");
            }};
        }
        again!(Bully::cluster(6).unwrap());
        again!(BullyHalt::cluster(6).unwrap());
        again!(RingElection::cluster(6).unwrap());
        again!(ChangRoberts::cluster(6).unwrap());
        again!(LeLann::cluster(6).unwrap());
        again!(Extinction::over(&graph));
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    let contest = || Contest::new(Bully::cluster(3).unwrap());
    let says = |contest: Contest<Bully>| contest.run().unwrap_err().to_string();
    assert!(says(contest().initiators([NodeId(3)])).contains("there is no n3"));
    assert!(says(contest().without([NodeId(9)])).contains("there is no n9"));
    assert!(says(contest().without([0, 1, 2].map(NodeId))).contains("leave one that can lead"));
    let dead_caller = contest().without([NodeId(1)]).initiators([NodeId(1)]);
    assert!(says(dead_caller).contains("name one that lives"));
    assert!(says(contest().fault_at(-1.0, Fault::Heal)).contains("take 0 or later"));
    assert!(says(contest().crashes_at_random(4, 1.0, None)).contains("take no more"));
    assert!(Bully::cluster(1).unwrap_err().to_string().contains("take 2 or more"));
    let twice = ChangRoberts::arranged(&[0, 1, 1].map(NodeId)).unwrap_err().to_string();
    assert!(twice.contains("name each node of the ring once"), "{twice}");
}
