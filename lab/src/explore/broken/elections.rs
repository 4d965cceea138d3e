//! Wrong elections. Each is the shipped one with one rule changed, or the smallest machine that has
//! the flaw.

use exclusion::message::check::{Check, Timers};
use exclusion::message::{
    Agreement, Bully, BullyHalt, ChangRoberts, Channels, Echo, Election, Extinction, Graph, LeLann,
    NodeId, RingElection, Unattended,
};

use super::altered::{Altered, Rule};
use super::waves::{Count, Waves};

type Poll<E> = Check<Unattended<E>>;

/// The bully that waits for an `OK` for one period instead of two: two lead in one epoch.
pub fn bully_one_period(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), either(flawed, Rule::OnePeriod))).initiators([NodeId(0)])
}

/// The bully without a timer for `COORDINATOR`: if the node that answered goes down, all wait.
pub fn bully_without_second_timer(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), either(flawed, Rule::NoSecondTimer)))
        .initiators([NodeId(0)])
        .crashes(1)
}

/// The bully whose highest node leads as soon as it is back, without asking what epoch it is. So
/// does the one that was about to lead.
pub fn bully_leads_at_once(flawed: bool) -> Poll<Altered<Bully>> {
    comes_back(either(flawed, Rule::LeadsAtOnce))
}

/// The bully as it stands in textbooks, without epochs: a node that comes back leads at once, and
/// the last `COORDINATOR` is believed. That two may lead for a while is not what is shown. As it is
/// shipped, the greatest epoch and number is believed, and all agree in every epoch.
pub fn bully_last_coordinator(flawed: bool) -> Poll<Altered<Bully>> {
    let check = comes_back(either(flawed, Rule::Last));
    if flawed { check.agreeing(Agreement::Inherent) } else { check }
}

/// The middle one of three calls, and the highest goes down and comes back.
fn comes_back(rule: Rule) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), rule))
        .channels(Channels::Fifo)
        .initiators([NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(2)])
        .recoveries(1)
}

/// The bully that comes back with the leader that it had.
pub fn bully_old_view(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(2), either(flawed, Rule::OldView)))
        .initiators([NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(1)])
        .recoveries(1)
}

/// The bully in a network that is cut: each half elects.
pub fn bully_split_brain() -> Poll<Bully> {
    let check = timed(bullies(3)).initiators([NodeId(0), NodeId(2)]);
    check.cut([NodeId(2)]).agreeing(Agreement::Always).settling_apart()
}

/// The same cut, where a majority must acknowledge.
pub fn bully_majority() -> Poll<BullyHalt> {
    bully_halt_split_brain(false)
}

/// The bully that halts in a network that is cut; or the same where a majority must acknowledge.
pub fn bully_halt_split_brain(flawed: bool) -> Poll<BullyHalt> {
    let cluster = if flawed { BullyHalt::cluster(3) } else { BullyHalt::gated(3) };
    let check = Check::election(cluster.expect("three are enough"));
    check.initiators([NodeId(0), NodeId(2)]).cut([NodeId(2)]).settling_apart()
}

/// A majority must acknowledge, and the leader is cut off, but is told so later than the others; or
/// at the same moment.
pub fn bully_majority_told_late(flawed: bool) -> Poll<BullyHalt> {
    let cluster = BullyHalt::gated(3).expect("three are enough");
    let check = Check::election(cluster).initiators([NodeId(2)]).cut_later([NodeId(2)]);
    let check = check.settling_apart();
    if flawed { check } else { check.told_at_once() }
}

/// The bully that halts, where a node that comes back has forgotten its epoch: an answer to its
/// former life counts in this one.
pub fn bully_halt_without_lives(flawed: bool) -> Poll<Altered<BullyHalt>> {
    let cluster = BullyHalt::cluster(2).expect("two are enough");
    Check::election(Altered::all(cluster, either(flawed, Rule::NoLives)))
        .initiators([NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(1)])
        .recoveries(1)
}

/// The ring where only the caller takes its list off: if it goes down, the list goes round for
/// ever.
pub fn ring_orphan(flawed: bool) -> Poll<Altered<RingElection>> {
    let cluster = Altered::all(rings(3), either(flawed, Rule::Orphan));
    Check::election(cluster).initiators([NodeId(0)]).crashes(1)
}

/// The ring without epochs: of two lists that saw other nodes alive, the last one counts.
pub fn ring_without_epochs(flawed: bool) -> Poll<Altered<RingElection>> {
    two_lists(either(flawed, Rule::LastList))
}

/// The ring where a list that has come too late is dropped, and the one that is under way not sent
/// again: a node that was down for a moment has lost it, and nobody was told.
pub fn ring_drops_late_list(flawed: bool) -> Poll<Altered<RingElection>> {
    two_lists(either(flawed, Rule::DropsLate))
}

/// Two of three call, and the highest goes down and comes back in between.
fn two_lists(rule: Rule) -> Poll<Altered<RingElection>> {
    Check::election(Altered::all(rings(3), rule))
        .channels(Channels::Fifo)
        .initiators([NodeId(0), NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(2)])
        .recoveries(1)
}

/// The ring where a winner that is known to be down is announced and followed all the same. Nobody
/// is told again that it is down.
pub fn ring_dead_winner(flawed: bool) -> Poll<Altered<RingElection>> {
    let cluster = Altered::all(rings(3), either(flawed, Rule::DeadWinner));
    Check::election(cluster).initiators([NodeId(1)]).crashes(1).crashes_of([NodeId(2)])
}

/// Le Lann's algorithm on channels that keep no order.
pub fn le_lann_unordered(flawed: bool) -> Poll<LeLann> {
    let cluster = LeLann::cluster(3).expect("three are enough");
    let channels = if flawed { Channels::AnyOrder } else { Channels::Fifo };
    Check::election(cluster).initiators(NodeId::all(3)).channels(channels)
}

/// The echo algorithm that counts messages, not neighbours: an initiator that explores again makes
/// a node believe that all have answered.
pub fn echo_counts_messages(flawed: bool) -> Poll<Waves> {
    let cluster = Waves::ring(4, if flawed { Count::Messages } else { Count::Neighbours });
    Check::election(cluster).requests_of(NodeId(0), 2)
}

/// The echo algorithm with extinction, where what was heard of a smaller wave counts for the
/// greater one.
pub fn extinction_count_kept(flawed: bool) -> Poll<Waves> {
    let cluster = Waves::ring(4, if flawed { Count::Kept } else { Count::Neighbours });
    Check::election(cluster).initiators([NodeId(0), NodeId(2)])
}

/// The echo algorithm with two initiators, which cannot be told apart.
pub fn echo_two_initiators() -> Poll<Echo> {
    Check::election(Echo::over(&ring(4))).initiators([NodeId(0), NodeId(2)])
}

/// The same two, told apart.
pub fn extinction_two_initiators() -> Poll<Extinction> {
    Check::election(Extinction::over(&ring(4))).initiators([NodeId(0), NodeId(2)])
}

/// Chang's and Roberts' algorithm, and a node that goes down.
pub fn chang_roberts_crash(flawed: bool) -> Poll<ChangRoberts> {
    let cluster = ChangRoberts::cluster(4).expect("four are enough");
    Check::election(cluster).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// Le Lann's algorithm, and a node that goes down.
pub fn le_lann_crash(flawed: bool) -> Poll<LeLann> {
    let cluster = LeLann::cluster(4).expect("four are enough");
    Check::election(cluster).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// The echo algorithm, and a node that goes down.
pub fn echo_crash(flawed: bool) -> Poll<Echo> {
    Check::election(Echo::over(&ring(4))).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// The echo algorithm with extinction, and a node that goes down.
pub fn extinction_crash(flawed: bool) -> Poll<Extinction> {
    Check::election(Extinction::over(&ring(4))).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// Chang's and Roberts' algorithm, and a node that goes down and comes back.
pub fn chang_roberts_recovery(flawed: bool) -> Poll<ChangRoberts> {
    chang_roberts_crash(flawed).recoveries(u8::from(flawed))
}

/// Le Lann's algorithm, and a node that goes down and comes back.
pub fn le_lann_recovery(flawed: bool) -> Poll<LeLann> {
    le_lann_crash(flawed).recoveries(u8::from(flawed))
}

/// The echo algorithm, and a node that goes down and comes back.
pub fn echo_recovery(flawed: bool) -> Poll<Echo> {
    echo_crash(flawed).recoveries(u8::from(flawed))
}

/// The echo algorithm with extinction, and a node that goes down and comes back.
pub fn extinction_recovery(flawed: bool) -> Poll<Extinction> {
    extinction_crash(flawed).recoveries(u8::from(flawed))
}

/// The election with this rule changed, or as it is shipped.
fn either(flawed: bool, rule: Rule) -> Rule {
    if flawed { rule } else { Rule::AsShipped }
}

fn bullies(nodes: usize) -> Vec<Bully> {
    Bully::cluster(nodes).expect("two are enough")
}

fn rings(nodes: usize) -> Vec<RingElection> {
    RingElection::cluster(nodes).expect("two are enough")
}

fn ring(nodes: usize) -> Graph {
    Graph::ring(nodes).expect("two are enough")
}

fn timed<E: Election>(cluster: Vec<E>) -> Poll<E> {
    Check::election(cluster).timers(Timers::Timed)
}
