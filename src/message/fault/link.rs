//! A link: over a network that loses, doubles and reorders, the channels that a machine needs.
//!
//! What a node sends to another is numbered, kept, and sent again until its receipt has come. What
//! has come before is dropped. Where the machine needs [`Channels::Fifo`], what comes too early is
//! kept until its turn.
//!
//! | message | when | to |
//! |---|---|---|
//! | of the machine | the machine sends it; again 2 periods later, until its receipt comes | it |
//! | `RECEIPT(through)` | a message comes: all before this number have come | its sender |
//!
//! # Lives
//! A node that restarts has forgotten what it has sent and received. It begins a new life, whose
//! number survives the restart. Each pair of nodes numbers its messages for a pair of lives, and
//! each message carries both. So what was sent to or by a former life is never taken for one of
//! this life. A message for a former life is answered with a receipt that tells the new one.
//!
//! Whoever learns of a new life of a node that it has been in contact with drops what it has kept
//! for the former one, and tells its machine that the node was down and is up. That notices also a
//! crash and a restart that no detector has seen.
//!
//! # What it promises
//! As long as neither node restarts, each message arrives exactly once, if the network does not
//! lose everything for ever. To a node that restarts a message arrives at most once, in one of its
//! lives.
//!
//! # Cost
//! Without loss one `RECEIPT` per message.

use std::collections::{BTreeMap, VecDeque};

use crate::message::part::whole;
use crate::message::{
    Admission, Channels, Claims, Input, Machine, NodeId, Notice, Outbox, Output, Phase, Protocol,
    Refused, Timer, forward_inputs, step_part,
};

/// A life of a node: how often it has restarted.
pub type Life = u32;

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// A message of the machine.
    Data {
        /// The life of the sender.
        life: Life,
        /// The life of the receiver, as far as the sender knows.
        to_life: Life,
        /// Its number between these two lives, from 0.
        number: u64,
        /// What the machine says.
        message: M,
    },
    /// So much has come.
    Receipt {
        /// The life of the sender.
        life: Life,
        /// The life of the receiver, as far as the sender knows.
        to_life: Life,
        /// All before this number have come.
        through: u64,
    },
}

impl<M: crate::message::Message> crate::message::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Data { message, .. } => message.kind(),
            Self::Receipt { .. } => "RECEIPT",
        }
    }
}

/// So far ahead of what has come a message may be. What is farther is dropped, and comes again.
const WINDOW: u64 = 1024;

/// After so many periods a message is sent again: its way there, and that of the receipt back.
const PATIENCE: u32 = 2;

/// What a node keeps of another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Peer<M> {
    /// The last life that it has heard of.
    life: Life,
    /// Whether it has been in contact with that life. When the cluster starts, all have: everybody
    /// knows that it is the first.
    met: bool,
    /// What has not been received, as far as it knows, and the number after the last.
    kept: VecDeque<M>,
    next: u64,
    /// All before this number have come.
    expected: u64,
    /// What has come of those after. A message is there if it waits for its turn.
    ahead: BTreeMap<u64, Option<M>>,
    /// Whether the timer runs.
    timed: bool,
    /// Whether it is suspected: then nothing is sent again.
    suspected: bool,
}

impl<M> Peer<M> {
    fn new(met: bool) -> Self {
        Self {
            life: 0,
            met,
            kept: VecDeque::new(),
            next: 0,
            expected: 0,
            ahead: BTreeMap::new(),
            timed: false,
            suspected: false,
        }
    }

    /// The number of the first message that is kept.
    fn first_kept(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    fn has_come(&self, number: u64) -> bool {
        number < self.expected || self.ahead.contains_key(&number)
    }
}

/// A machine over a link. See the [module](self).
///
/// ```
/// use exclusion::message::sim::Simulation;
/// use exclusion::message::{Lamport, Link};
///
/// // Lamport's algorithm needs channels that keep order. These do not.
/// let report = Simulation::new(Link::over(Lamport::cluster(3)?)).run()?;
/// assert_eq!(report.entries, 3);
/// assert_eq!(report.messages.total(), 2 * 3 * 3 * (3 - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "M: serde::Serialize, M::Message: serde::Serialize",
        deserialize = "M: serde::Deserialize<'de>, M::Message: serde::Deserialize<'de>"
    ))
)]
pub struct Link<M: Machine> {
    inner: M,
    /// Survives a restart.
    life: Life,
    peers: Vec<Peer<M::Message>>,
}

impl<M: Machine> Link<M> {
    /// A machine over a link, in its first life.
    pub fn new(inner: M) -> Self {
        let peers = (0..inner.nodes()).map(|_| Peer::new(true)).collect();
        Self { inner, life: 0, peers }
    }

    /// The machines of a cluster, each over a link.
    pub fn over(machines: Vec<M>) -> Vec<Self> {
        machines.into_iter().map(Self::new).collect()
    }

    /// The same with the life that it had before it was restarted. Give it [`Notice::Recovered`]
    /// then, and no [`Input::Start`].
    #[must_use]
    pub fn restored(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// The machine.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// How often it has restarted. It is to survive a restart: keep it on a disk.
    pub fn life(&self) -> Life {
        self.life
    }

    /// How many messages are kept, since their receipts have not come.
    pub fn kept(&self) -> usize {
        self.peers.iter().map(|peer| peer.kept.len()).sum()
    }

    const IN_ORDER: bool = matches!(M::CHANNELS, Channels::Fifo);

    fn give(
        &mut self,
        input: Input<M::Message>,
        out: &mut Outbox<Message<M::Message>>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.inner, input)? {
            match output {
                Output::Send { to, message } => self.send(to, message, out),
                Output::SetTimer { timer, periods } => {
                    out.set_timer(Timer(2 * timer.0 + 1), periods);
                }
                Output::Enter => out.enter(),
                Output::Leader(leadership) => out.settle(leadership),
            }
        }
        Ok(())
    }

    fn send(&mut self, to: NodeId, message: M::Message, out: &mut Outbox<Message<M::Message>>) {
        let peer = &mut self.peers[to.index()];
        let (life, to_life, number) = (self.life, peer.life, peer.next);
        peer.kept.push_back(message.clone());
        peer.next += 1;
        out.send(to, Message::Data { life, to_life, number, message });
        self.watch(to, out);
    }

    /// Sets the timer, if it does not run and something is kept.
    fn watch(&mut self, node: NodeId, out: &mut Outbox<Message<M::Message>>) {
        let peer = &mut self.peers[node.index()];
        if !peer.kept.is_empty() && !peer.timed && !peer.suspected {
            peer.timed = true;
            out.set_timer(Timer(2 * node.0), PATIENCE);
        }
    }

    /// Sends again what is kept.
    fn send_again(&mut self, to: NodeId, out: &mut Outbox<Message<M::Message>>) {
        let peer = &self.peers[to.index()];
        let (life, to_life) = (self.life, peer.life);
        for (number, message) in (peer.first_kept()..).zip(peer.kept.iter().cloned()) {
            out.send(to, Message::Data { life, to_life, number, message });
        }
    }

    fn send_receipt(&self, to: NodeId, out: &mut Outbox<Message<M::Message>>) {
        let Peer { life: to_life, expected: through, .. } = self.peers[to.index()];
        out.send(to, Message::Receipt { life: self.life, to_life, through });
    }

    /// Hears from a new life of a node.
    fn meet(
        &mut self,
        node: NodeId,
        life: Life,
        out: &mut Outbox<Message<M::Message>>,
    ) -> Result<(), Refused> {
        let peer = &mut self.peers[node.index()];
        peer.life = life;
        (peer.expected, peer.ahead) = (0, BTreeMap::new());
        if peer.met {
            (peer.next, peer.kept) = (0, VecDeque::new());
            self.give(Input::Notice(Notice::Down(node)), out)?;
            return self.give(Input::Notice(Notice::Up(node)), out);
        }
        // It was sent to a life that was only guessed, and that did not take it.
        self.send_again(node, out);
        Ok(())
    }

    fn take_data(
        &mut self,
        from: NodeId,
        (to_life, number): (Life, u64),
        message: M::Message,
        out: &mut Outbox<Message<M::Message>>,
    ) -> Result<(), Refused> {
        let peer = &mut self.peers[from.index()];
        let too_far = number >= peer.expected.saturating_add(WINDOW);
        let is_new = to_life == self.life && !too_far && !peer.has_come(number);
        if is_new && Self::IN_ORDER && number != peer.expected {
            peer.ahead.insert(number, Some(message));
        } else if is_new {
            self.give(Input::Receive { from, message }, out)?;
            self.peers[from.index()].ahead.insert(number, None);
            while let Some(next) = self.take_next(from) {
                if let Some(message) = next {
                    self.give(Input::Receive { from, message }, out)?;
                }
            }
        }
        self.peers[from.index()].met = true;
        self.send_receipt(from, out);
        Ok(())
    }

    /// The next message has come: it is there if it is still to be delivered.
    fn take_next(&mut self, from: NodeId) -> Option<Option<M::Message>> {
        let peer = &mut self.peers[from.index()];
        let next = peer.ahead.remove(&peer.expected)?;
        peer.expected += 1;
        Some(next)
    }

    fn take_receipt(&mut self, from: NodeId, through: u64) -> Result<(), Refused> {
        let peer = &mut self.peers[from.index()];
        if through > peer.next {
            return Err(Refused("so many messages were not sent"));
        }
        peer.met = true;
        let received = through.saturating_sub(peer.first_kept());
        peer.kept.drain(..received as usize);
        Ok(())
    }
}

impl<M: Machine> Machine for Link<M> {
    type Message = Message<M::Message>;

    const RESTS: bool = M::RESTS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    forward_inputs!(give: start, elect, request, release, withdraw);

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        let (Message::Data { life, to_life, .. } | Message::Receipt { life, to_life, .. }) =
            message;
        if to_life > self.life {
            return Err(Refused("it has not had so many lives"));
        }
        if life < self.peers[from.index()].life {
            // Of a former life.
            return Ok(());
        }
        if matches!(message, Message::Receipt { .. }) && to_life < self.life {
            // To a former life.
            return Ok(());
        }
        let peer = &self.peers[from.index()];
        let is_new_life = life > peer.life;
        let is_awaited = peer.ahead.values().any(Option::is_some);
        let take = |it: &mut Self| {
            if is_new_life {
                it.meet(from, life, out)?;
            }
            match message {
                Message::Data { number, message, .. } => {
                    it.take_data(from, (to_life, number), message, out)
                }
                Message::Receipt { through, .. } => it.take_receipt(from, through),
            }
        };
        // Otherwise the machine takes one step, the first of all.
        if is_new_life || is_awaited { whole(self, take) } else { take(self) }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let number = timer.0 / 2;
        if timer.0 % 2 == 1 {
            return self.give(Input::Timeout(Timer(number)), out);
        }
        let peer = self.peers.get_mut(number as usize).filter(|peer| peer.timed);
        let peer = peer.ok_or(Refused("no such timer runs"))?;
        peer.timed = false;
        if !peer.suspected {
            self.send_again(NodeId(number), out);
            self.watch(NodeId(number), out);
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        notice.check(self.id(), self.nodes())?;
        whole(self, |it| {
            match notice {
                Notice::Down(node) => it.peers[node.index()].suspected = true,
                Notice::Up(node) => {
                    it.peers[node.index()].suspected = false;
                    it.watch(node, out);
                }
                Notice::Recovered => {
                    it.life = it.life.checked_add(1).ok_or(Refused("it has had all its lives"))?;
                    it.peers = it.peers.iter().map(|_| Peer::new(false)).collect();
                }
            }
            it.give(Input::Notice(notice), out)
        })
    }
}

impl<P: Protocol> Protocol for Link<P> {
    type Access = P::Access;

    const WITHDRAWS: bool = P::WITHDRAWS;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }

    fn entries_at_a_time(&self) -> usize {
        self.inner.entries_at_a_time()
    }

    fn goes_on_without(&self, dead: &Self) -> bool {
        self.inner.goes_on_without(&dead.inner)
    }

    fn admission(&self) -> Option<&Admission> {
        self.inner.admission()
    }
}

impl<P: Protocol> Claims for Link<P> {}
