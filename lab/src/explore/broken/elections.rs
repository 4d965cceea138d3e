//! Wrong elections. Each is the shipped one with one rule changed, or the smallest machine that has
//! the flaw.

use std::collections::BTreeSet;

use exclusion::message::check::{Check, Timers};
use exclusion::message::{
    Bully, BullyHalt, ChangRoberts, Channels, Echo, Election, Epoch, Extinction, Graph, Input,
    LeLann, Leadership, Machine, Message, NodeId, Notice, Outbox, Output, Refused, RingElection,
    Timer, Unattended, Violation, bully, ring_election, step,
};

type Poll<E> = Check<Unattended<E>>;

/// The bully that waits for an `OK` for one period instead of two: two lead in one epoch.
pub fn bully_one_period(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), flawed.then_some(Flaw::OnePeriod))).initiators([NodeId(0)])
}

/// The bully without a timer for `COORDINATOR`: if the node that answered goes down, all wait.
pub fn bully_without_second_timer(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), flawed.then_some(Flaw::NoSecondTimer)))
        .initiators([NodeId(0)])
        .crashes(1)
}

/// The bully whose highest node leads as soon as it is back, without asking what epoch it is. So
/// does the one that was about to lead.
pub fn bully_leads_at_once(flawed: bool) -> Poll<Altered<Bully>> {
    comes_back(flawed.then_some(Flaw::LeadsAtOnce))
}

/// The same as it stands in textbooks, where the last `COORDINATOR` is believed, not the greatest.
pub fn bully_last_coordinator(flawed: bool) -> Poll<Altered<Bully>> {
    comes_back(flawed.then_some(Flaw::Textbook))
}

/// The middle one of three calls, and the highest goes down and comes back.
fn comes_back(flaw: Option<Flaw>) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(3), flaw))
        .channels(Channels::Fifo)
        .initiators([NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(2)])
        .recoveries(1)
}

/// The bully that comes back with the view that it had.
pub fn bully_old_view(flawed: bool) -> Poll<Altered<Bully>> {
    timed(Altered::all(bullies(2), flawed.then_some(Flaw::OldView)))
        .initiators([NodeId(1)])
        .crashes(1)
        .recoveries(1)
}

/// The bully in a network that is cut: each half elects.
pub fn bully_split_brain() -> Poll<Bully> {
    timed(bullies(3)).initiators([NodeId(0), NodeId(2)]).cut([NodeId(2)]).one_leader()
}

/// The same cut, where a majority must acknowledge.
pub fn bully_majority() -> Poll<BullyHalt> {
    let cluster = BullyHalt::gated(3).expect("three are enough");
    let check = Check::election(cluster).initiators([NodeId(0), NodeId(2)]);
    check.cut([NodeId(2)]).one_leader().settling_apart()
}

/// The bully that halts, where a node that comes back has forgotten its epoch: an answer to its
/// former life counts in this one.
pub fn bully_halt_without_lives(flawed: bool) -> Poll<Altered<BullyHalt>> {
    let cluster = BullyHalt::cluster(2).expect("two are enough");
    Check::election(Altered::all(cluster, flawed.then_some(Flaw::NoLives)))
        .initiators([NodeId(1)])
        .crashes(1)
        .recoveries(1)
        .one_leader()
}

/// The ring where only the caller takes its list off: if it goes down, the list goes round for
/// ever.
pub fn ring_orphan(flawed: bool) -> Poll<Altered<RingElection>> {
    let cluster = Altered::all(rings(3), flawed.then_some(Flaw::Orphan));
    Check::election(cluster).initiators([NodeId(0)]).crashes(1)
}

/// The ring without epochs: of two lists that saw other nodes alive, the last one counts.
pub fn ring_without_epochs(flawed: bool) -> Poll<Altered<RingElection>> {
    let cluster = Altered::all(rings(3), flawed.then_some(Flaw::LastCounts));
    Check::election(cluster)
        .channels(Channels::Fifo)
        .initiators([NodeId(0), NodeId(1)])
        .crashes(1)
        .crashes_of([NodeId(2)])
}

/// The ring where a winner that is down is followed all the same.
pub fn ring_dead_winner(flawed: bool) -> Poll<Altered<RingElection>> {
    let cluster = Altered::all(rings(3), flawed.then_some(Flaw::DeadWinner));
    Check::election(cluster).initiators([NodeId(0)]).crashes(1)
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
    let cluster = ChangRoberts::cluster(3).expect("three are enough");
    Check::election(cluster).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// Le Lann's algorithm, and a node that goes down.
pub fn le_lann_crash(flawed: bool) -> Poll<LeLann> {
    let cluster = LeLann::cluster(3).expect("three are enough");
    Check::election(cluster).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// The echo algorithm, and a node that goes down.
pub fn echo_crash(flawed: bool) -> Poll<Echo> {
    Check::election(Echo::over(&ring(3))).initiators([NodeId(0)]).crashes(u8::from(flawed))
}

/// The echo algorithm with extinction, and a node that goes down.
pub fn extinction_crash(flawed: bool) -> Poll<Extinction> {
    Check::election(Extinction::over(&ring(3))).initiators([NodeId(0)]).crashes(u8::from(flawed))
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

/// What is wrong with an [`Altered`] election.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flaw {
    /// The first timer runs for one period.
    OnePeriod,
    /// The second timer is never set.
    NoSecondTimer,
    /// Whoever is told of a leader last believes that.
    LastCounts,
    /// A node that recovers calls an election as a new one would.
    LeadsAtOnce,
    /// Both.
    Textbook,
    /// A node that recovers does not notice.
    OldView,
    /// A node that recovers remembers nothing at all.
    NoLives,
    /// A list that has come round is passed on, unless it is home.
    Orphan,
    /// A winner that is down is followed.
    DeadWinner,
}

/// What an election tells of a leader.
pub trait Announces: Election {
    /// The leadership that a message announces.
    fn announced(from: NodeId, message: &Self::Message) -> Option<Leadership>;

    /// The message, if it is a list that has come round to a node that did not call it.
    fn orphan(&self, message: &Self::Message) -> bool;

    /// A node of the same cluster that remembers nothing.
    fn forgetful(&self) -> Self;
}

impl Announces for Bully {
    fn announced(from: NodeId, message: &bully::Message) -> Option<Leadership> {
        let bully::Message::Coordinator { epoch } = message else { return None };
        Some(Leadership { epoch: Epoch::numbered(*epoch), leader: from })
    }

    fn orphan(&self, _: &bully::Message) -> bool {
        false
    }

    fn forgetful(&self) -> Self {
        Self::node(self.id(), self.nodes()).expect("it is one already")
    }
}

impl Announces for BullyHalt {
    fn announced(_: NodeId, _: &Self::Message) -> Option<Leadership> {
        None
    }

    fn orphan(&self, _: &Self::Message) -> bool {
        false
    }

    fn forgetful(&self) -> Self {
        Self::node(self.id(), self.nodes()).expect("it is one already")
    }
}

impl Announces for RingElection {
    fn announced(_: NodeId, message: &ring_election::Message) -> Option<Leadership> {
        let ring_election::Message::Coordinator { epoch, leader, .. } = message else {
            return None;
        };
        Some(Leadership { epoch: *epoch, leader: *leader })
    }

    fn orphan(&self, message: &ring_election::Message) -> bool {
        let ring_election::Message::Election { epoch, live } = message else { return false };
        live.contains(&self.id()) && epoch.called_by != Some(self.id())
    }

    fn forgetful(&self) -> Self {
        rings(self.nodes()).swap_remove(self.id().index())
    }
}

/// A shipped election, in which perhaps one rule is changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Altered<E> {
    inner: E,
    flaw: Option<Flaw>,
    /// What it was told last, where that counts.
    told: Option<Leadership>,
    down: BTreeSet<NodeId>,
}

impl<E: Announces> Altered<E> {
    fn all(cluster: Vec<E>, flaw: Option<Flaw>) -> Vec<Self> {
        let node = |inner| Self { inner, flaw, told: None, down: BTreeSet::new() };
        cluster.into_iter().map(node).collect()
    }

    fn next(&self) -> NodeId {
        let mut after = self.id().after(self.nodes());
        after.find(|node| !self.down.contains(node)).unwrap_or(self.id())
    }

    /// Gives the shipped machine an input, and passes on what it does, but for the flaw.
    fn give(
        &mut self,
        input: Input<E::Message>,
        out: &mut Outbox<E::Message>,
    ) -> Result<(), Refused> {
        let mut inner = Outbox::new();
        step(&mut self.inner, input, &mut inner).map_err(|violation| match violation {
            Violation::Unexpected(error) => Refused(error.why),
            _ => Refused("it goes astray"),
        })?;
        for output in inner.drain() {
            match output {
                Output::Send { to, message } => out.send(to, message),
                Output::SetTimer { timer, periods } => match (self.flaw, timer) {
                    (Some(Flaw::OnePeriod), Timer(0)) => out.set_timer(timer, 1),
                    (Some(Flaw::NoSecondTimer), Timer(1)) => {}
                    _ => out.set_timer(timer, periods),
                },
                Output::Leader(leadership) => {
                    self.told = Some(leadership);
                    out.settle(leadership);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<E: Announces> Machine for Altered<E> {
    type Message = E::Message;

    const CHANNELS: Channels = E::CHANNELS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn elect(&mut self, out: &mut Outbox<E::Message>) -> Result<(), Refused> {
        self.give(Input::Elect, out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: E::Message,
        out: &mut Outbox<E::Message>,
    ) -> Result<(), Refused> {
        let announced = E::announced(from, &message);
        match (self.flaw, announced) {
            (Some(Flaw::Orphan), _) if self.inner.orphan(&message) => {
                out.send(self.next(), message);
                return Ok(());
            }
            (Some(Flaw::DeadWinner), Some(news)) if self.down.contains(&news.leader) => {
                self.told = Some(news);
                out.settle(news);
                return Ok(());
            }
            _ => {}
        }
        self.give(Input::Receive { from, message }, out)?;
        if matches!(self.flaw, Some(Flaw::LastCounts | Flaw::Textbook)) && announced.is_some() {
            self.told = announced;
        }
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<E::Message>) -> Result<(), Refused> {
        self.give(Input::Timeout(timer), out)
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<E::Message>) -> Result<(), Refused> {
        match notice {
            Notice::Down(node) => drop(self.down.insert(node)),
            Notice::Up(node) => drop(self.down.remove(&node)),
            _ if self.flaw == Some(Flaw::OldView) => return Ok(()),
            _ if matches!(self.flaw, Some(Flaw::LeadsAtOnce | Flaw::Textbook)) => {
                self.down.clear();
                self.told = None;
                self.inner = self.inner.forgetful();
                return self.give(Input::Elect, out);
            }
            _ => {
                self.down.clear();
                if self.flaw == Some(Flaw::NoLives) {
                    self.inner = self.inner.forgetful();
                }
            }
        }
        self.give(Input::Notice(notice), out)
    }
}

impl<E: Announces> Election for Altered<E> {
    fn leadership(&self) -> Option<Leadership> {
        match self.flaw {
            // Without epochs there is but one.
            Some(Flaw::LastCounts | Flaw::Textbook) => {
                let told = self.told.filter(|_| self.inner.leadership().is_some());
                told.map(|told| Leadership { epoch: Epoch::default(), ..told })
            }
            Some(Flaw::DeadWinner) => {
                self.told.filter(|_| self.inner.leadership().is_some() || self.is_misled())
            }
            _ => self.inner.leadership(),
        }
    }
}

impl<E: Announces> Altered<E> {
    /// Whether it follows a winner that is down.
    fn is_misled(&self) -> bool {
        self.flaw == Some(Flaw::DeadWinner)
            && self.told.is_some_and(|told| self.down.contains(&told.leader))
    }
}

/// What a node of [`Waves`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// The neighbours that have answered.
    Neighbours,
    /// Wrong: the messages.
    Messages,
    /// Wrong: the neighbours, also those that have answered to a smaller wave.
    Kept,
}

/// A message of [`Waves`]: the initiator of the wave, and whether it is an echo.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ripple {
    wave: NodeId,
    is_echo: bool,
}

impl Message for Ripple {
    fn kind(&self) -> &'static str {
        if self.is_echo { "ECHO" } else { "EXPLORE" }
    }
}

/// The echo algorithm with extinction, without a word to the others at the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Waves {
    me: NodeId,
    neighbours: Vec<NodeId>,
    nodes: usize,
    count: Count,
    wave: Option<NodeId>,
    parent: Option<NodeId>,
    heard: Vec<NodeId>,
    echoed: bool,
}

impl Waves {
    fn ring(nodes: usize, count: Count) -> Vec<Self> {
        let graph = ring(nodes);
        let node = |me| Self {
            me,
            neighbours: graph.neighbours(me).to_vec(),
            nodes,
            count,
            wave: None,
            parent: None,
            heard: Vec::new(),
            echoed: false,
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn explore(&self, out: &mut Outbox<Ripple>) {
        let ripple = Ripple { wave: self.wave.expect("it has one"), is_echo: false };
        let others = self.neighbours.iter().copied();
        out.broadcast(others.filter(|&node| Some(node) != self.parent), ripple);
    }
}

impl Machine for Waves {
    type Message = Ripple;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn elect(&mut self, out: &mut Outbox<Ripple>) -> Result<(), Refused> {
        if self.wave.is_none_or(|wave| wave <= self.me) {
            if self.wave != Some(self.me) {
                (self.wave, self.parent, self.echoed) = (Some(self.me), None, false);
                self.heard.clear();
            }
            // An impatient initiator explores again.
            self.explore(out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        ripple: Ripple,
        out: &mut Outbox<Ripple>,
    ) -> Result<(), Refused> {
        if self.wave.is_some_and(|wave| wave > ripple.wave) {
            return Ok(());
        }
        if self.wave != Some(ripple.wave) {
            (self.wave, self.parent, self.echoed) = (Some(ripple.wave), Some(from), false);
            if self.count != Count::Kept {
                self.heard.clear();
            }
            self.explore(out);
        }
        if self.count == Count::Messages || !self.heard.contains(&from) {
            self.heard.push(from);
        }
        if self.heard.len() >= self.neighbours.len() && !self.echoed {
            self.echoed = true;
            match self.parent {
                Some(parent) => out.send(parent, Ripple { wave: ripple.wave, is_echo: true }),
                None => out.settle(self.leadership().expect("it has heard from all")),
            }
        }
        Ok(())
    }
}

impl Election for Waves {
    fn leadership(&self) -> Option<Leadership> {
        let decides = self.wave == Some(self.me) && self.echoed;
        decides.then(|| Leadership { epoch: Epoch::called_by(1, self.me), leader: self.me })
    }

    fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    fn is_done(cluster: &[&Self], live: &exclusion::message::NodeSet) -> bool {
        live.iter().any(|node| cluster[node.index()].leadership().is_some())
    }

    /// When a wave decides, each way leads to its initiator.
    fn invariant(cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        let leads_to = |root: NodeId, start: NodeId| {
            let parent = |node: &NodeId| cluster[node.index()].parent;
            let mut way = std::iter::successors(Some(start), parent).take(cluster.len());
            way.any(|node| node == root)
        };
        let spans = |root| {
            // A greater wave changes the parents again.
            let greater = cluster.iter().any(|node| node.wave > Some(root));
            greater || NodeId::all(cluster.len()).all(|start| leads_to(root, start))
        };
        let mut roots = cluster.iter().filter_map(|node| node.leadership());
        let holds = roots.all(|it| spans(it.leader));
        Some(if holds { Ok(()) } else { Err("a way does not lead to the initiator") })
    }
}
