//! Shipped elections, in each of which one rule is changed.

use std::collections::BTreeSet;

use exclusion::message::{
    Agreement, Bully, BullyHalt, Channels, Election, Epoch, Input, Leadership, Machine, NodeId,
    Notice, Outbox, Output, Refused, RingElection, Timer, bully, forward_inputs, ring_election,
    step_part,
};

/// The rule that is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// None.
    AsShipped,
    /// The first timer runs for one period.
    OnePeriod,
    /// The second timer is never set.
    NoSecondTimer,
    /// A node that recovers leads without asking for the epoch.
    LeadsAtOnce,
    /// The same without epochs: the last word counts.
    Last,
    /// A node that recovers and had a leader keeps it.
    OldView,
    /// A node that recovers has forgotten the epoch.
    NoLives,
    /// A list that has come round is passed on, unless it is home.
    Orphan,
    /// The ring without epochs: the last word counts.
    LastList,
    /// A list of an election before the one that is under way is dropped, and nothing is sent
    /// again.
    DropsLate,
    /// A winner that is down is announced and followed.
    DeadWinner,
}

impl Rule {
    /// Whether what counts is kept here, and not in the shipped machine.
    fn believes_by_itself(self) -> bool {
        matches!(self, Self::Last | Self::LastList)
    }

    fn leads_at_once(self) -> bool {
        matches!(self, Self::LeadsAtOnce | Self::Last)
    }
}

/// What must be known of an election to change a rule.
pub trait Alterable: Election {
    /// The leadership that a message announces.
    fn announced(from: NodeId, message: &Self::Message) -> Option<Leadership>;

    /// The message with another leader, if it announces one.
    fn announcing(message: Self::Message, _leader: NodeId) -> Self::Message {
        message
    }

    /// Who has won by a list that has come home, if it is one.
    fn winner(&self, _message: &Self::Message) -> Option<Leadership> {
        None
    }

    /// Whether it is a list that has come round to a node that did not call it.
    fn is_orphan(&self, _message: &Self::Message) -> bool {
        false
    }

    /// Whether it is about a later election than the one that it is sent for.
    fn is_later(_message: &Self::Message, _than: &Self::Message) -> bool {
        false
    }

    /// The same node as it was in the beginning, but for the epoch that it knows.
    fn anew(&self, epoch: u64) -> Self;
}

impl Alterable for Bully {
    fn announced(from: NodeId, message: &bully::Message) -> Option<Leadership> {
        let bully::Message::Coordinator { epoch } = message else { return None };
        Some(Leadership { epoch: Epoch::numbered(*epoch), leader: from })
    }

    fn anew(&self, epoch: u64) -> Self {
        let mut node = Self::node(self.id(), self.nodes()).expect("it is one already");
        // It asks nobody yet, so an answer does no more than tell the epoch.
        let from = self.id().others(self.nodes()).next().expect("it is not alone");
        let answer = Input::Receive { from, message: bully::Message::Ok { epoch, life: 0 } };
        step_part(&mut node, answer).expect("it may be told");
        node
    }
}

impl Alterable for BullyHalt {
    fn announced(_: NodeId, _: &Self::Message) -> Option<Leadership> {
        None
    }

    fn anew(&self, _: u64) -> Self {
        Self::node(self.id(), self.nodes()).expect("it is one already")
    }
}

impl Alterable for RingElection {
    fn announced(_: NodeId, message: &ring_election::Message) -> Option<Leadership> {
        let ring_election::Message::Coordinator { epoch, leader, .. } = message else {
            return None;
        };
        Some(Leadership { epoch: *epoch, leader: *leader })
    }

    fn announcing(message: ring_election::Message, leader: NodeId) -> ring_election::Message {
        match message {
            ring_election::Message::Coordinator { epoch, told, .. } => {
                ring_election::Message::Coordinator { epoch, leader, told }
            }
            other => other,
        }
    }

    fn winner(&self, message: &ring_election::Message) -> Option<Leadership> {
        let ring_election::Message::Election { epoch, live } = message else { return None };
        let is_home = epoch.called_by == Some(self.id());
        // A list that comes home a second time changes nothing.
        let settled = self.leadership().is_some_and(|it| it.epoch == *epoch);
        let leader = live.iter().max().filter(|_| is_home && !settled)?;
        Some(Leadership { epoch: *epoch, leader: *leader })
    }

    fn is_orphan(&self, message: &ring_election::Message) -> bool {
        let ring_election::Message::Election { epoch, live } = message else { return false };
        live.contains(&self.id()) && epoch.called_by != Some(self.id())
    }

    fn is_later(message: &ring_election::Message, than: &ring_election::Message) -> bool {
        use ring_election::Message::Election;
        match (message, than) {
            (Election { epoch, .. }, Election { epoch: earlier, .. }) => {
                epoch.number > earlier.number
            }
            _ => false,
        }
    }

    fn anew(&self, _: u64) -> Self {
        let nodes = Self::cluster(self.nodes()).expect("it is one already");
        nodes.into_iter().nth(self.id().index()).expect("it is one of them")
    }
}

/// A shipped election, in which perhaps one rule is changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Altered<E> {
    inner: E,
    rule: Rule,
    /// What it was told, where that counts.
    told: Option<Leadership>,
    /// The greatest epoch in which it had a leader.
    epoch: u64,
    down: BTreeSet<NodeId>,
}

impl<E: Alterable> Altered<E> {
    /// A cluster of it.
    pub(super) fn all(cluster: Vec<E>, rule: Rule) -> Vec<Self> {
        let node = |inner| Self { inner, rule, told: None, epoch: 0, down: BTreeSet::new() };
        cluster.into_iter().map(node).collect()
    }

    fn next(&self) -> NodeId {
        let mut after = self.id().after(self.nodes());
        after.find(|node| !self.down.contains(node)).unwrap_or(self.id())
    }

    /// Gives the shipped machine an input, and passes on what it does, but for the rule.
    fn give(
        &mut self,
        input: Input<E::Message>,
        out: &mut Outbox<E::Message>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.inner, input)? {
            match (self.rule, output) {
                (Rule::OnePeriod, Output::SetTimer { timer: Timer(0), .. }) => {
                    out.set_timer(Timer(0), 1);
                }
                (Rule::NoSecondTimer, Output::SetTimer { timer: Timer(1), .. }) => {}
                (Rule::DeadWinner, Output::Send { to, message }) => {
                    out.send(to, self.with_dead_winner(message));
                }
                (_, Output::Leader(leadership)) => {
                    self.epoch = self.epoch.max(leadership.epoch.number);
                    if self.rule.believes_by_itself() {
                        self.told = Some(leadership);
                    }
                    out.settle(self.leadership().unwrap_or(leadership));
                }
                (_, output) => out.forward(output, |message| message),
            }
        }
        Ok(())
    }

    /// The shipped machine believes that this node leads in the epoch of a winner that is down.
    fn with_dead_winner(&self, message: E::Message) -> E::Message {
        let announced = E::announced(self.id(), &message);
        match (self.told, announced) {
            (Some(dead), Some(news)) if news.epoch == dead.epoch => {
                E::announcing(message, dead.leader)
            }
            _ => message,
        }
    }
}

impl<E: Alterable> Machine for Altered<E> {
    type Message = E::Message;

    const CHANNELS: Channels = E::CHANNELS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    forward_inputs!(give: elect, timeout);

    fn receive(
        &mut self,
        from: NodeId,
        message: E::Message,
        out: &mut Outbox<E::Message>,
    ) -> Result<(), Refused> {
        let announced = E::announced(from, &message);
        match (self.rule, announced) {
            (Rule::Orphan, _) if self.inner.is_orphan(&message) => {
                out.send(self.next(), message);
                Ok(())
            }
            (Rule::DropsLate, _) => {
                let received = Input::Receive { from, message: message.clone() };
                for output in step_part(&mut self.inner, received)? {
                    match output {
                        Output::Send { message: sent, .. } if E::is_later(&sent, &message) => {}
                        output => out.forward(output, |message| message),
                    }
                }
                Ok(())
            }
            (Rule::DeadWinner, Some(news)) if self.down.contains(&news.leader) => {
                self.told = Some(news);
                let message = E::announcing(message, self.id());
                self.give(Input::Receive { from, message }, out)
            }
            (Rule::DeadWinner, None) => {
                if let Some(won) = self.inner.winner(&message)
                    && self.down.contains(&won.leader)
                {
                    self.told = Some(won);
                }
                self.give(Input::Receive { from, message }, out)
            }
            (rule, Some(news)) if rule.believes_by_itself() => {
                self.give(Input::Receive { from, message }, out)?;
                self.told = Some(news);
                Ok(())
            }
            _ => self.give(Input::Receive { from, message }, out),
        }
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<E::Message>) -> Result<(), Refused> {
        match notice {
            Notice::Down(node) => drop(self.down.insert(node)),
            Notice::Up(node) => drop(self.down.remove(&node)),
            _ if self.rule == Rule::OldView && self.inner.leadership().is_some() => return Ok(()),
            _ => {
                self.down.clear();
                self.told = None;
                if self.rule == Rule::NoLives {
                    self.inner = self.inner.anew(0);
                }
                if self.rule.leads_at_once() {
                    self.inner = self.inner.anew(self.epoch);
                    return self.give(Input::Elect, out);
                }
            }
        }
        self.give(Input::Notice(notice), out)
    }
}

impl<E: Alterable> Election for Altered<E> {
    const AGREEMENT: Agreement = E::AGREEMENT;

    fn leadership(&self) -> Option<Leadership> {
        let inner = self.inner.leadership()?;
        match (self.rule, self.told) {
            // Without epochs there is but one.
            (rule, told) if rule.believes_by_itself() => {
                told.map(|told| Leadership { epoch: Epoch::default(), ..told })
            }
            (Rule::DeadWinner, Some(dead)) if dead.epoch == inner.epoch => Some(dead),
            _ => Some(inner),
        }
    }
}
