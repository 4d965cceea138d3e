//! The ring algorithm of the textbooks: a list of numbers goes round, and the best of them leads.
//!
//! A node that misses the coordinator sends a list with its number to the next node that lives.
//! Each node adds its own number. When the list comes home, its caller takes the highest number (or
//! the lowest), and tells the others: once round the ring, or each by itself.
//!
//! | message | when | to |
//! |---|---|---|
//! | `ELECTION` | the coordinator is down; a list is passed on | the next node that lives |
//! | `ELECTION` | the next node is down, and a list was with it | the one behind it |
//! | `COORDINATOR` | a list comes home; or one is passed on | the next node that lives, or all |
//! | `ELECTION` | a list comes of a lower number than the one under way | the next, once more |
//! | `BEHIND` | a list comes of a lower number than the one that is over | its caller |
//!
//! # Timing
//! None: messages may take any time. It needs a detector that is right about who is down. What a
//! node said before it went down arrives before the detector reports it.
//!
//! # Cost
//! m nodes live and k of them call: 2mk if `COORDINATOR` goes round, k(2m-1) if it goes to all; and
//! one more for each next node that is down but not known to be.
//!
//! # When a node goes down
//! - The next node: what it was sent is sent again, to the one behind it. A list that was passed on
//!   before is then there twice. That does no harm: the caller takes the first that comes home.
//! - The caller: its list comes to a node that is on it already. That node takes it off the ring
//!   and calls again, or the list would go round for ever.
//! - The winner: whoever knows that calls again.
//! - A node that is back before anybody was told has lost the lists that it had, and calls. Where
//!   its list meets one of a higher number that is under way, that one is sent again.
//!
//! A node that has recovered calls an election, and so does the node before it when it learns that
//! the node is up. Two callers may have seen other nodes alive. Their elections have the same
//! number but are two epochs, and everybody settles on the greater one.

use super::ring;
use crate::message::{
    Circumstances, ClusterError, Election, ElectionCost, Epoch, Leadership, Machine, NodeId,
    NodeSet, Notice, Outbox, Refused,
};

/// Which number leads.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Choice {
    /// The highest that lives.
    #[default]
    Highest,
    /// The lowest that lives.
    Lowest,
}

/// How the others are told.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Announcement {
    /// Once round the ring.
    #[default]
    Round,
    /// Each by itself.
    ToAll,
}

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// These live.
    Election {
        /// Which election, and who called it.
        epoch: Epoch,
        /// The nodes that the list has passed, the caller first.
        live: Vec<NodeId>,
    },
    /// This node leads.
    Coordinator {
        /// Which election, and who called it.
        epoch: Epoch,
        /// The leader.
        leader: NodeId,
        /// The nodes that have been told.
        told: Vec<NodeId>,
    },
    /// That election is over, and so are all up to this number.
    Behind(u64),
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "ELECTION",
            Self::Coordinator { .. } => "COORDINATOR",
            Self::Behind(_) => "BEHIND",
        }
    }
}

/// A node of the ring algorithm. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RingElection {
    me: NodeId,
    /// The other nodes, as they come round the ring.
    others: Box<[NodeId]>,
    choice: Choice,
    announcement: Announcement,
    /// The highest number of an election that it has called or heard of. Survives a crash.
    number: u64,
    /// Whether its own list of that number is on the way.
    awaits_list: bool,
    settled: Option<Leadership>,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    /// What it has sent to the next node in elections of this number.
    with_next: Vec<Message>,
}

impl RingElection {
    /// A ring of nodes in their own order, which elects the highest and tells it once round.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Self::with(nodes, Choice::default(), Announcement::default())
    }

    /// The same, with other settings.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn with(
        nodes: usize,
        choice: Choice,
        announcement: Announcement,
    ) -> Result<Vec<Self>, ClusterError> {
        let next = ring::successors(&ring::in_order(nodes))?;
        let node = |me: NodeId| {
            let after = |node: &NodeId| Some(next[node.index()]);
            let others = std::iter::successors(after(&me), after).take(nodes - 1);
            Self {
                me,
                others: others.collect(),
                choice,
                announcement,
                number: 0,
                awaits_list: false,
                settled: None,
                down: NodeSet::empty(nodes),
                with_next: Vec::new(),
            }
        };
        Ok(NodeId::all(nodes).map(node).collect())
    }

    /// The nodes after this one that are not known to be down.
    fn live(&self) -> impl Iterator<Item = NodeId> {
        self.others.iter().copied().filter(|&node| !self.down.contains(node))
    }

    fn next(&self) -> Option<NodeId> {
        self.live().next()
    }

    /// Sends something to the next node that lives, and remembers it until that is done with.
    fn pass_on(&mut self, message: Message, out: &mut Outbox<Message>) {
        if let Some(next) = self.next() {
            out.send(next, message.clone());
            if !self.with_next.contains(&message) {
                self.with_next.push(message);
            }
        }
    }

    /// A list has come of an election before this number, so its caller may have missed this one.
    ///
    /// If that is over, the caller is told. If it is under way, what was sent to the next node is
    /// sent again: a node may have lost it, and be back before anybody was told that it was down.
    /// To tell the caller would not do: it would call again, overtake, and be overtaken for ever.
    fn answer_late_list(&self, caller: NodeId, out: &mut Outbox<Message>) {
        if self.settled.is_some() {
            out.send(caller, Message::Behind(self.number));
        } else if let Some(next) = self.next() {
            self.with_next.iter().for_each(|message| out.send(next, message.clone()));
        }
    }

    /// Forgets the elections before this number.
    fn go_on_to(&mut self, number: u64) {
        if number > self.number {
            self.number = number;
            self.awaits_list = false;
            self.settled = None;
            self.with_next.clear();
        }
    }

    fn call(&mut self, out: &mut Outbox<Message>) {
        self.go_on_to(self.number + 1);
        let epoch = Epoch::called_by(self.number, self.me);
        if self.next().is_none() {
            return self.settle(Leadership { epoch, leader: self.me }, out);
        }
        self.awaits_list = true;
        self.pass_on(Message::Election { epoch, live: vec![self.me] }, out);
    }

    fn settle(&mut self, leadership: Leadership, out: &mut Outbox<Message>) {
        self.settled = Some(leadership);
        out.settle(leadership);
    }

    /// The own list is home.
    fn announce(&mut self, live: &[NodeId], out: &mut Outbox<Message>) {
        let epoch = Epoch::called_by(self.number, self.me);
        let lives = live.iter().copied().filter(|&node| !self.down.contains(node));
        let leader = match self.choice {
            Choice::Highest => lives.max(),
            Choice::Lowest => lives.min(),
        };
        let leader = leader.unwrap_or(self.me);
        self.awaits_list = false;
        let news = Message::Coordinator { epoch, leader, told: vec![self.me] };
        match self.announcement {
            Announcement::Round => self.pass_on(news, out),
            Announcement::ToAll => {
                // One that is on the list may be back before the detector says so.
                let is_told = |node: &NodeId| !self.down.contains(*node) || live.contains(node);
                out.broadcast(self.others.iter().copied().filter(is_told), news);
            }
        }
        self.adopt(Leadership { epoch, leader }, out);
    }

    /// Settles on a leader, unless it has settled in a greater epoch.
    fn adopt(&mut self, leadership: Leadership, out: &mut Outbox<Message>) {
        if self.settled.is_none_or(|settled| leadership.epoch > settled.epoch) {
            self.settle(leadership, out);
        }
    }

    /// Refuses a list that nobody can have collected: each node is on it at most once.
    fn check_list(&self, list: &[NodeId], first: Option<NodeId>) -> Result<(), Refused> {
        let nodes = self.nodes();
        let mut seen = NodeSet::empty(nodes);
        for &node in list {
            node.check_member(nodes)?;
            if !seen.insert(node) {
                return Err(Refused("a node is on the list twice"));
            }
        }
        if list.is_empty() || first.is_some_and(|first| list[0] != first) {
            return Err(Refused("the caller is the first on the list"));
        }
        Ok(())
    }

    fn is_down(&mut self, node: NodeId, out: &mut Outbox<Message>) {
        let was_next = self.next() == Some(node);
        self.down.insert(node);
        let leads = self.settled.is_some_and(|settled| settled.leader == node);
        if leads || was_next && self.next().is_none() {
            self.call(out);
        } else if was_next {
            for message in std::mem::take(&mut self.with_next) {
                self.pass_on(message, out);
            }
        }
    }
}

impl Machine for RingElection {
    type Message = Message;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.others.len() + 1
    }

    fn elect(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        if !self.awaits_list {
            self.call(out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        _: NodeId,
        message: Message,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Election { epoch, mut live } => {
                let caller = epoch.check_called(self.nodes())?;
                self.check_list(&live, Some(caller))?;
                if caller == self.me && epoch.number > self.number {
                    return Err(Refused("it has not called that election"));
                }
                if epoch.number < self.number {
                    if caller != self.me {
                        self.answer_late_list(caller, out);
                    }
                    return Ok(());
                }
                self.go_on_to(epoch.number);
                if caller == self.me {
                    // It may be there twice, or be from a former life.
                    if self.awaits_list {
                        self.announce(&live, out);
                    }
                } else if live.contains(&self.me) {
                    // Once round, and its caller is gone: take it off the ring.
                    if self.settled.is_none() && !self.awaits_list {
                        self.call(out);
                    }
                } else {
                    live.push(self.me);
                    self.pass_on(Message::Election { epoch, live }, out);
                }
            }
            Message::Coordinator { epoch, leader, mut told } => {
                epoch.check_called(self.nodes())?;
                leader.check_member(self.nodes())?;
                self.check_list(&told, None)?;
                if epoch.number == 0 {
                    return Err(Refused("epochs are numbered from 1"));
                }
                if epoch.number < self.number || told.contains(&self.me) {
                    return Ok(());
                }
                self.go_on_to(epoch.number);
                if self.down.contains(leader) {
                    // It has won, and gone down.
                    self.call(out);
                    return Ok(());
                }
                if self.announcement == Announcement::Round {
                    told.push(self.me);
                    self.pass_on(Message::Coordinator { epoch, leader, told }, out);
                }
                self.adopt(Leadership { epoch, leader }, out);
            }
            Message::Behind(number) => {
                Epoch::check(number)?;
                if number > self.number {
                    self.go_on_to(number);
                    self.call(out);
                }
            }
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Message>) -> Result<(), Refused> {
        notice.check(self.me, self.nodes())?;
        match notice {
            Notice::Down(node) => self.is_down(node, out),
            Notice::Up(node) => {
                self.down.remove(node);
                if self.next() == Some(node) {
                    self.call(out);
                }
            }
            Notice::Recovered => {
                self.down.clear();
                self.awaits_list = false;
                self.settled = None;
                self.with_next.clear();
                self.call(out);
            }
        }
        Ok(())
    }
}

impl Election for RingElection {
    fn leadership(&self) -> Option<Leadership> {
        self.settled
    }

    fn cost(cluster: &[Self], circumstances: &Circumstances) -> Option<ElectionCost> {
        let Circumstances { initiators, crashed } = circumstances;
        let (m, k) = (cluster.len().checked_sub(crashed.len())?, initiators.len());
        match cluster[0].announcement {
            // One that is alone has nobody to tell.
            _ if m == 1 => ElectionCost::exactly("0", 0),
            Announcement::Round => ElectionCost::exactly("2mk", 2 * m * k),
            Announcement::ToAll => ElectionCost::exactly("k(2m-1)", k * (2 * m - 1)),
        }
    }
}
