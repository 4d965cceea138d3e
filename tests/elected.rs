//! Locks that start from an election, under every runner; and elections among threads.

mod common;

use std::time::Duration;

use common::by_hand::ByHand;
use common::within_two_minutes;
use exclusion::message::actor::{Assembly, Cluster, DataOf};
use exclusion::message::banta_efficient::Late;
use exclusion::message::ring_election::{Announcement, Choice};
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{
    BantaEfficient, BantaFair, BantaK, BantaSimple, Bully, BullyHalt, CentralCoordinator,
    ChangRoberts, Claims, ClusterError, Echo, Elected, Election, Extinction, Graph, Inherits,
    Input, LeLann, Message, NaimiTrehel, NaimiTrehelQueue, NodeId, Protocol, Raymond, Renamed,
    RicartAgrawalaToken, RingElection, SinghalHeuristic, SuzukiKasami, SuzukiKasamiFifo,
    SuzukiKasamiFifoRing, TellsAll, TokenRing, Topology, Tree, banta_k, elected, raymond, replay,
};

/// Users that come before, while and after the leader is elected are all served, whatever the
/// delays; and each run can be replayed.
fn simulates<E: TellsAll, P: Inherits<E>>(name: &str, nodes: &[Elected<E, P>]) {
    let n = nodes.len();
    for (seed, workload) in (0..).zip([
        Workload::AllAtOnce { rounds: 3 },
        Workload::InTurn { rounds: 2 },
        Workload::Poisson { rate: 0.5, entries: 40 },
        Workload::Script((0..8).map(|at| (0.3 * f64::from(at), NodeId(at % n as u32))).collect()),
    ]) {
        let simulation = Simulation::new(nodes.to_vec()).seed(seed).workload(workload).traced();
        // Where timers rely on Tmax, T is within it.
        let report = simulation.delay(Delay::Uniform(0.0, 1.0)).run();
        let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.entries > 0);
        let trace = report.trace.expect("it was asked for");
        let nodes =
            replay(nodes.to_vec(), &trace).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(nodes.iter().all(|node| node.lock().is_some()), "{name}: all have settled");
    }
}

fn runs_as_threads<E, P>(name: &str, nodes: Vec<Elected<E, P>>)
where
    E: TellsAll<Message: Send> + Send + 'static,
    P: Inherits<E, Plan: Send + Sync> + Protocol<Message: Send> + Send + 'static,
    DataOf<Elected<E, P>, u64>: Send + Sync,
    <Elected<E, P> as Protocol>::Access: exclusion::message::actor::Guarded,
{
    let n = nodes.len() as u64;
    // The bully is right only if no thread is late by two periods.
    let builder = Cluster::builder().resource("number", nodes, 0_u64).period(PERIOD);
    let cluster = builder.start().expect("it starts");
    let entered = std::thread::scope(|scope| {
        let users: Vec<_> = cluster
            .handles()
            .into_iter()
            .map(|mut handle| {
                scope.spawn(move || {
                    (0..5).filter(|_| handle.lock().map(|inside| *inside).is_ok()).count() as u64
                })
            })
            .collect();
        users.into_iter().map(|user| user.join().expect("nobody panics")).sum::<u64>()
    });
    assert_eq!(entered, 5 * n, "{name}");
}

macro_rules! elected {
    (@plan) => { Default::default() };
    (@plan $plan:expr) => { $plan };
    ($($test:ident: $election:expr, $initiators:expr => $lock:ty $(, $plan:expr)?;)*) => {
        $(#[test]
        fn $test() {
            let name = stringify!($test);
            let initiators = $initiators.map(NodeId);
            let nodes = Elected::planned(elected!(@plan $($plan)?), $election, initiators);
            let nodes: Vec<Elected<_, $lock>> = nodes.expect("there is such a lock");
            simulates(name, &nodes);
            within_two_minutes(move || runs_as_threads(name, nodes));
        })*
    };
}

fn grid() -> Graph {
    Graph::grid(2, 3).expect("six nodes")
}

elected! {
    a_coordinator_is_elected_by_the_bully:
        Bully::cluster(4).unwrap(), [0, 2] => CentralCoordinator;
    a_coordinator_is_elected_by_the_bully_that_halts:
        BullyHalt::cluster(4).unwrap(), [1] => CentralCoordinator;
    a_coordinator_is_elected_on_a_ring:
        RingElection::cluster(4).unwrap(), [1] => CentralCoordinator;
    a_coordinator_is_elected_by_chang_and_roberts:
        ChangRoberts::cluster(5).unwrap(), [0, 3] => CentralCoordinator;
    a_coordinator_is_elected_by_le_lann:
        LeLann::cluster(4).unwrap(), [0, 1, 2] => CentralCoordinator;
    a_coordinator_is_elected_by_a_majority:
        BullyHalt::gated(5).unwrap(), [2] => CentralCoordinator;
    a_coordinator_is_elected_on_a_ring_that_tells_all:
        RingElection::with(4, Choice::Lowest, Announcement::ToAll).unwrap(), [1, 2]
        => CentralCoordinator;
    a_coordinator_is_elected_by_extinction: Extinction::over(&grid()), [2, 3] => CentralCoordinator;
    raymond_starts_from_extinction: Extinction::over(&grid()), [1, 4] => Raymond;
    raymond_on_a_tree_of_its_own_starts_from_extinction:
        Extinction::over(&grid()), [1, 4] => Renamed<Raymond>, Tree::k_ary(6, 3).unwrap();
    the_token_ring_starts_from_extinction: Extinction::over(&grid()), [1, 4] => Renamed<TokenRing>;
    suzuki_and_kasami_start_from_extinction:
        Extinction::over(&grid()), [5, 0] => Renamed<SuzukiKasami>, Topology::complete(6).unwrap();
    suzuki_and_kasami_on_a_ring_start_from_extinction:
        Extinction::over(&grid()), [2] => Renamed<SuzukiKasami>, Topology::ring(6).unwrap();
    suzuki_and_kasami_on_a_line_start_from_extinction:
        Extinction::over(&grid()), [0, 4] => Renamed<SuzukiKasami>, Topology::line(6).unwrap();
    suzuki_and_kasami_on_a_tree_start_from_extinction:
        Extinction::over(&grid()), [3] => Renamed<SuzukiKasami>,
        Topology::k_ary_tree(6, 2).unwrap();
    suzuki_kasami_fifo_starts_from_extinction:
        Extinction::over(&grid()), [3, 2] => Renamed<SuzukiKasamiFifo>;
    suzuki_kasami_fifo_ring_starts_from_extinction:
        Extinction::over(&grid()), [3] => Renamed<SuzukiKasamiFifoRing>;
    ricart_and_agrawala_s_token_starts_from_extinction:
        Extinction::over(&grid()), [1, 2, 3] => Renamed<RicartAgrawalaToken>;
    singhal_s_heuristic_starts_from_extinction:
        Extinction::over(&grid()), [4] => Renamed<SinghalHeuristic>;
    naimi_and_trehel_start_from_extinction:
        Extinction::over(&grid()), [2, 4] => Renamed<NaimiTrehel>;
    naimi_and_trehel_s_queue_starts_from_extinction:
        Extinction::over(&grid()), [2, 4] => Renamed<NaimiTrehelQueue>;
    banta_simple_starts_from_extinction: Extinction::over(&grid()), [5] => Renamed<BantaSimple>;
    banta_fair_starts_from_extinction: Extinction::over(&grid()), [5] => Renamed<BantaFair>;
    banta_efficient_starts_from_extinction:
        Extinction::over(&grid()), [2] => Renamed<BantaEfficient>;
    banta_efficient_hardened_starts_from_extinction:
        Extinction::over(&grid()), [2, 5] => Renamed<BantaEfficient>, Late::Hardened;
    banta_k_starts_from_extinction:
        Extinction::over(&grid()), [4, 1] => Renamed<BantaK>,
        banta_k::Plan { entries: 3, late: Late::Strict };
    banta_k_hardened_starts_from_extinction:
        Extinction::over(&grid()), [5] => Renamed<BantaK>,
        banta_k::Plan { entries: 2, late: Late::Hardened };
}

#[test]
fn the_winner_has_the_token_and_the_tree_points_to_it() {
    let nodes: Vec<Elected<Extinction, Raymond>> =
        Elected::cluster(Extinction::over(&grid()), [1, 4].map(NodeId));
    let report = Simulation::new(nodes.clone())
        .workload(Workload::Alone { node: NodeId(4), entries: 1 })
        .traced()
        .run()
        .unwrap();
    // It is inside without a request: it has the token.
    assert_eq!(report.messages.of("TOKEN"), 0);
    let nodes = replay(nodes, &report.trace.unwrap()).unwrap();
    let raymond: Vec<_> = nodes.iter().map(|node| node.lock().unwrap().clone()).collect();
    assert_eq!(Raymond::invariant(&raymond, &[]), Some(Ok(())));
    let token = Raymond::token().unwrap();
    assert_eq!(raymond.iter().filter(|node| (token.has)(node)).count(), 1);
    assert!((token.has)(&raymond[4]), "the winner has it");
}

/// Delivers everything but the news of the leader to the last of three.
fn deliver_but_keep_news<P: Protocol>(cluster: &mut ByHand<P>) {
    let mut kept = Vec::new();
    while let Some((from, to, message)) = cluster.in_flight.pop_front() {
        if to == NodeId(2) && message.kind() == "LEADER" {
            kept.push((from, to, message));
        } else {
            cluster.give(to.0, Input::Receive { from, message }).expect("it can occur");
        }
    }
    cluster.in_flight.extend(kept);
}

#[test]
fn a_node_that_settles_late_has_kept_all_that_was_said_in_a_hundred_rounds() {
    let line = Graph::line(3).unwrap();
    let complete = Topology::complete(3).unwrap();
    let nodes: Vec<Elected<Extinction, Renamed<SuzukiKasami>>> =
        Elected::planned(complete, Extinction::over(&line), [NodeId(0)]).unwrap();
    let mut cluster = ByHand::new(nodes);
    cluster.give(0, Input::Start).unwrap();
    deliver_but_keep_news(&mut cluster);
    for _ in 0..100 {
        for node in [1, 0] {
            cluster.request(node);
            deliver_but_keep_news(&mut cluster);
            cluster.release(node);
        }
    }
    assert_eq!(cluster.entered.len(), 200);
    assert!(cluster.nodes[2].lock().is_none(), "it does not know who leads");
    cluster.request(2);
    cluster.deliver_all();
    assert_eq!(cluster.entries_of(2), 1);
}

#[test]
fn what_came_early_and_cannot_be_is_refused_when_the_node_settles() {
    let nodes: Vec<Elected<Extinction, Raymond>> =
        Elected::cluster(Extinction::over(&Graph::line(2).unwrap()), [NodeId(0)]);
    let mut cluster = ByHand::new(nodes);
    cluster.give(0, Input::Start).unwrap();
    cluster.deliver(1, |message| message.kind() == "EXPLORE");
    // A second token, from nowhere.
    let (leader, message) = (NodeId(0), raymond::Message::Token);
    let message = elected::Message::Lock { leader, message };
    let forged = Input::Receive { from: NodeId(1), message };
    cluster.give(0, forged).expect("nobody leads yet, so it is kept");
    let (from, to, echo) = cluster.in_flight.pop_front().expect("the wave comes home");
    let refused = cluster.give(to.0, Input::Receive { from, message: echo }).unwrap_err();
    assert!(refused.to_string().starts_with("n0 cannot take ECHO from n1: "), "{refused}");
}

#[test]
fn a_plan_for_other_nodes_than_those_of_the_election_is_refused() {
    let election = || ChangRoberts::cluster(4).unwrap();
    let ring = |nodes| -> Result<Vec<Elected<_, Renamed<SuzukiKasami>>>, _> {
        Elected::planned(Topology::ring(nodes).unwrap(), election(), [NodeId(0)])
    };
    assert!(ring(4).is_ok());
    assert!(matches!(ring(5), Err(ClusterError::OutOfPlace { nodes: 5, .. })));
    assert!(matches!(ring(3), Err(ClusterError::OutOfPlace { nodes: 3, .. })));
    let several = |entries| -> Result<Vec<Elected<_, Renamed<BantaK>>>, _> {
        let plan = banta_k::Plan { entries, late: Late::Strict };
        Elected::planned(plan, election(), [NodeId(0)])
    };
    assert!(several(3).is_ok());
    let why = several(4).unwrap_err();
    assert_eq!(why, ClusterError::Entries { entries: 4, nodes: 4 });
}

/// Before it has started as much as afterwards: runners ask when they begin.
#[test]
fn a_lock_that_lets_in_several_says_so_before_anybody_leads() {
    let plan = banta_k::Plan { entries: 3, late: Late::Strict };
    let nodes: Vec<Elected<_, Renamed<BantaK>>> =
        Elected::planned(plan, Extinction::over(&grid()), [NodeId(0)]).unwrap();
    assert!(nodes.iter().all(|node| node.lock().is_none() && node.entries_at_a_time() == 3));
    let report = Simulation::new(nodes).workload(Workload::AllAtOnce { rounds: 2 }).run().unwrap();
    assert_eq!(report.entries, 12);
}

/// What was found to be wrong with an elected coordinator, of what must hold whoever goes down.
#[cfg(feature = "check")]
fn wrong_with<E>(check: exclusion::message::check::Check<E>) -> Vec<&'static str>
where
    E: Protocol<Message: Send + Sync> + Send + Sync + 'static,
{
    use exclusion::message::check::{Checker, Model};

    let checker = check.checker().spawn_bfs().join();
    let safe = ["mutual exclusion", "expected inputs only"];
    safe.into_iter().filter(|property| checker.discovery(property).is_some()).collect()
}

/// A node that comes back may win a later election, and one that is told late may never hear of the
/// first: neither starts a second lock.
#[cfg(feature = "check")]
#[test]
fn an_elected_coordinator_excludes_whoever_goes_down_and_comes_back_at_any_moment() {
    use exclusion::message::check::{Check, Timers};

    for initiators in [&[0][..], &[1], &[0, 1]] {
        let callers = || initiators.iter().copied().map(NodeId);
        macro_rules! excludes {
            ($election:expr) => {{
                let nodes: Vec<Elected<_, CentralCoordinator>> =
                    Elected::cluster($election.unwrap(), callers());
                let check = Check::new(nodes).timers(Timers::Timed).crashes(1).recoveries(1);
                assert_eq!(wrong_with(check), [""; 0], "{}: {initiators:?}", stringify!($election));
            }};
        }
        excludes!(BullyHalt::cluster(2));
        excludes!(RingElection::cluster(2));
        if initiators == [0] {
            excludes!(Bully::cluster(2));
        }
    }
}

/// A lock that starts from an election, where a node that comes back before it has started takes
/// part as if it had not been away.
#[cfg(feature = "check")]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TakesPartAgain(Elected<BullyHalt, CentralCoordinator>);

#[cfg(feature = "check")]
mod takes_part_again {
    use exclusion::message::{
        Channels, Exclusive, Input, Machine, NodeId, Notice, Outbox, Phase, Protocol, Refused,
        forward_inputs, step_part,
    };

    use super::TakesPartAgain;
    use super::elected::Message;

    type Said = <TakesPartAgain as Machine>::Message;

    impl TakesPartAgain {
        fn give(&mut self, input: Input<Said>, out: &mut Outbox<Said>) -> Result<(), Refused> {
            let outputs = step_part(&mut self.0, input)?;
            outputs.into_iter().for_each(|output| out.forward(output, |message| message));
            Ok(())
        }
    }

    impl Machine for TakesPartAgain {
        type Message =
            Message<exclusion::message::bully_halt::Message, exclusion::message::central::Message>;

        const CHANNELS: Channels = Channels::AnyOrder;

        fn id(&self) -> NodeId {
            self.0.id()
        }

        fn nodes(&self) -> usize {
            self.0.nodes()
        }

        forward_inputs!(give: start, elect, request, release, timeout);

        fn receive(
            &mut self,
            from: NodeId,
            message: Said,
            out: &mut Outbox<Said>,
        ) -> Result<(), Refused> {
            self.give(Input::Receive { from, message }, out)
        }

        fn notice(&mut self, notice: Notice, out: &mut Outbox<Said>) -> Result<(), Refused> {
            match notice {
                Notice::Recovered if self.0.lock().is_none() => self.give(Input::Elect, out),
                _ => self.give(Input::Notice(notice), out),
            }
        }
    }

    impl Protocol for TakesPartAgain {
        type Access = Exclusive;

        fn phase(&self) -> Phase {
            self.0.phase()
        }
    }
}

/// The check above would notice a second lock.
#[cfg(feature = "check")]
#[test]
fn a_node_that_comes_back_and_takes_part_again_lets_a_second_user_in() {
    use exclusion::message::check::Check;

    let nodes = Elected::cluster(BullyHalt::cluster(2).unwrap(), [NodeId(0)]).into_iter();
    let check = Check::new(nodes.map(TakesPartAgain).collect()).crashes(1).recoveries(1);
    assert!(wrong_with(check).contains(&"mutual exclusion"));
}

/// Three nodes whose coordinator is elected, one of which may go down and stay down.
#[cfg(feature = "check")]
fn one_of_three_goes_down<E>(
    election: Vec<E>,
    calls: u32,
    victim: u32,
) -> exclusion::message::check::Check<Elected<E, CentralCoordinator>>
where
    E: TellsAll,
{
    use exclusion::message::check::Check;

    let nodes = Elected::cluster(election, [NodeId(calls)]);
    let check = Check::new(nodes).requests_of(NodeId(victim), 0);
    check.crashes(1).crashes_of([NodeId(victim)])
}

/// A node that has not settled when the leader goes down may win the next election, while a user is
/// inside whom the first leader has let in.
#[cfg(feature = "check")]
#[test]
fn a_node_that_is_told_of_a_crash_before_it_has_settled_starts_no_second_lock() {
    for (calls, victim) in [(2, 2), (0, 2), (1, 2), (2, 0), (0, 1)] {
        let halting = BullyHalt::cluster(3).unwrap();
        assert_eq!(wrong_with(one_of_three_goes_down(halting, calls, victim)), [""; 0]);
        let ring = RingElection::cluster(3).unwrap();
        assert_eq!(wrong_with(one_of_three_goes_down(ring, calls, victim)), [""; 0]);
    }
}

/// There the lowest node may go down, and the next one be told that it leads before it is told of
/// the crash: by an election that is not the first.
#[cfg(feature = "check")]
#[test]
fn a_ring_that_tells_all_at_once_starts_one_lock_whoever_goes_down() {
    for (calls, victim) in [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)] {
        let ring = RingElection::with(3, Choice::Lowest, Announcement::ToAll).unwrap();
        let wrong = wrong_with(one_of_three_goes_down(ring, calls, victim));
        assert_eq!(wrong, [""; 0], "n{calls} calls, n{victim} goes down");
    }
}

const LIMIT: Duration = Duration::from_secs(60);

/// Long enough for threads that wait for a processor.
const PERIOD: Duration = Duration::from_millis(100);

fn settles_on<E>(assembly: &Assembly<E>, leader: u32)
where
    E: Election<Message: Send> + Send + Sync + 'static,
{
    // A machine that is too busy may make the bully elect twice: what counts is how it ends.
    let deadline = std::time::Instant::now() + LIMIT;
    loop {
        let found = assembly.wait(LIMIT).unwrap_or_else(|down| panic!("{down}"));
        if found.is_some_and(|it| it.leader == NodeId(leader)) {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "it ends with {found:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn survives_among_threads<E>(nodes: Vec<E>, shuffle: Option<u64>)
where
    E: Election<Message: Send> + Send + Sync + 'static,
{
    let fresh = nodes.clone();
    let assembly = match shuffle {
        Some(seed) => Assembly::shuffled(nodes, PERIOD, seed),
        None => Assembly::start(nodes, PERIOD),
    };
    let assembly = assembly.expect("it starts");
    assembly.call(NodeId(0)).unwrap();
    settles_on(&assembly, 3);
    assembly.crash(NodeId(3)).unwrap();
    assembly.crash(NodeId(3)).unwrap();
    settles_on(&assembly, 2);
    assembly.crash(NodeId(2)).unwrap();
    assembly.crash(NodeId(0)).unwrap();
    settles_on(&assembly, 1);
    assembly.recover(NodeId(2)).unwrap();
    settles_on(&assembly, 2);
    for node in [0, 3] {
        assembly.recover(NodeId(node)).unwrap();
    }
    settles_on(&assembly, 3);
    assert!(assembly.leader(NodeId(0)).unwrap().is_some());
    assert!(assembly.call(NodeId(4)).unwrap_err().to_string().contains("there is no n4"));
    let report = assembly.shutdown();
    assert_eq!((report.views.len(), &report.down[..]), (4, &[][..]));
    assert!(report.time.is_some(), "all have settled since the last recovery");
    assert!(report.messages.total() > 0);
    replay(fresh, &report.trace).expect("the shipped nodes do the same");
}

#[test]
fn the_bully_survives_crashes_among_threads() {
    within_two_minutes(|| survives_among_threads(Bully::cluster(4).unwrap(), None));
}

#[test]
fn the_bully_that_halts_survives_crashes_among_threads() {
    within_two_minutes(|| survives_among_threads(BullyHalt::cluster(4).unwrap(), None));
    within_two_minutes(|| survives_among_threads(BullyHalt::cluster(4).unwrap(), Some(5)));
}

#[test]
fn the_ring_survives_crashes_among_threads() {
    within_two_minutes(|| survives_among_threads(RingElection::cluster(4).unwrap(), None));
    within_two_minutes(|| survives_among_threads(RingElection::cluster(4).unwrap(), Some(5)));
}

/// A cut in which node 0 and the leader are the minority, and after it.
fn cut_among_threads(nodes: Vec<BullyHalt>, shuffle: Option<u64>, gated: bool) {
    let assembly = match shuffle {
        Some(seed) => Assembly::shuffled(nodes, PERIOD, seed),
        None => Assembly::start(nodes, PERIOD),
    };
    let assembly = assembly.expect("it starts");
    assembly.call(NodeId(1)).unwrap();
    settles_on(&assembly, 4);
    assembly.cut([0, 4].map(NodeId)).unwrap();
    let minority = (!gated).then_some(4);
    let expected = [minority, Some(3), Some(3), Some(3), minority];
    let deadline = std::time::Instant::now() + LIMIT;
    let views = || NodeId::all(5).map(|node| assembly.leader(node).unwrap().map(|it| it.leader.0));
    while views().collect::<Vec<_>>() != expected {
        assert!(
            std::time::Instant::now() < deadline,
            "it ends with {:?}",
            views().collect::<Vec<_>>()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(assembly.wait(Duration::ZERO).unwrap(), None, "not all agree");
    assembly.heal();
    settles_on(&assembly, 4);
    assert!(assembly.cut([NodeId(5)]).unwrap_err().to_string().contains("there is no n5"));
    let report = assembly.shutdown();
    assert_eq!(report.leader.map(|it| it.leader), Some(NodeId(4)));
    assert!(report.views.iter().all(|view| *view == report.leader), "{:?}", report.views);
}

#[test]
fn a_cut_among_threads_has_two_leaders_and_with_a_majority_one() {
    for shuffle in [None, Some(7)] {
        within_two_minutes(move || {
            cut_among_threads(BullyHalt::cluster(5).unwrap(), shuffle, false);
            cut_among_threads(BullyHalt::gated(5).unwrap(), shuffle, true);
        });
    }
}

#[test]
fn the_others_elect_among_threads() {
    within_two_minutes(|| {
        let grid = grid();
        macro_rules! elects {
            ($nodes:expr, $calls:expr, $leader:expr) => {
                let assembly = Assembly::start($nodes, PERIOD).expect("it starts");
                $calls.into_iter().for_each(|node| assembly.call(NodeId(node)).unwrap());
                settles_on(&assembly, $leader);
            };
        }
        elects!(Extinction::over(&grid), [4], 4);
        elects!(Echo::over(&grid), [2], 2);
        elects!(ChangRoberts::cluster(5).unwrap(), [1], 4);
        elects!(LeLann::cluster(5).unwrap(), [3], 3);
    });
}
