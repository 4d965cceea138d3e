//! Broken permission-based algorithms.

use exclusion::message::check::Check;
use exclusion::message::lamport::Message as TimedMessage;
use exclusion::message::ricart_agrawala::Message as AskingMessage;
use exclusion::message::{
    Channels, Claims, Clock, Machine, NodeId, NodeSet, Outbox, Phase, Protocol, Refused, Shared,
    Stamp,
};

/// Ricart's and Agrawala's algorithm, where requests of the same time confirm each other: both
/// enter.
pub fn ricart_agrawala_ties(flawed: bool) -> Check<Asking> {
    Check::new(Asking::ricart_agrawala(2, flawed.then_some(Flaw::TiesConfirm)))
}

/// Ricart's and Agrawala's algorithm, where requests of the same time hold each other back: both
/// wait for ever.
pub fn ricart_agrawala_ties_held(flawed: bool) -> Check<Asking> {
    Check::new(Asking::ricart_agrawala(2, flawed.then_some(Flaw::TiesHold)))
}

/// Ricart's and Agrawala's algorithm, where a node counts on from the numbers that others ask with,
/// and not from its own: it asks with the same number again and again, and the other never comes
/// before it.
pub fn ricart_agrawala_own_number(flawed: bool) -> Check<Asking> {
    Check::new(Asking::ricart_agrawala(2, flawed.then_some(Flaw::OwnForgotten)))
        .requests_of(NodeId(0), 4)
        .bypass(2)
}

/// Ricart's and Agrawala's algorithm, where the younger of two requests goes first.
pub fn ricart_agrawala_youngest(flawed: bool) -> Check<Asking> {
    Check::new(Asking::ricart_agrawala(2, flawed.then_some(Flaw::YoungestFirst))).in_order(|node| {
        (!node.phase.is_idle()).then_some(Stamp { time: node.asked, node: node.me })
    })
}

/// Carvalho's and Roucairol's algorithm, where at first everybody has everybody's permission: all
/// enter unasked.
pub fn carvalho_roucairol_empty(flawed: bool) -> Check<Asking> {
    Check::new(Asking::carvalho_roucairol(2, flawed.then_some(Flaw::AllPermitted)))
        .keeps_its_invariant()
}

/// Carvalho's and Roucairol's algorithm, where a node that gives a permission away to an older
/// request does not ask for it again: it never comes back.
pub fn carvalho_roucairol_one_request(flawed: bool) -> Check<Asking> {
    let cluster = Asking::carvalho_roucairol(3, flawed.then_some(Flaw::AsksOnce));
    Check::new(cluster).keeps_its_invariant().requests_of(NodeId(1), 2)
}

/// Lamport's algorithm on channels of any order, which it does not claim: a confirmation overtakes
/// the older request before it.
pub fn lamport_unordered(flawed: bool) -> Check<Unordered> {
    let channels = if flawed { Channels::AnyOrder } else { Channels::Fifo };
    Check::new(Unordered::cluster(2)).channels(channels)
}

/// What is wrong with [`Asking`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    TiesConfirm,
    TiesHold,
    OwnForgotten,
    YoungestFirst,
    AllPermitted,
    AsksOnce,
}

/// Ricart's and Agrawala's algorithm, or Carvalho's and Roucairol's, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asking {
    flaw: Option<Flaw>,
    /// Whether a permission is good until it is given away: Carvalho's and Roucairol's idea.
    remembers: bool,
    me: NodeId,
    nodes: usize,
    phase: Phase,
    clock: Clock,
    asked: u64,
    lacking: NodeSet,
    held_back: NodeSet,
}

impl Asking {
    fn ricart_agrawala(nodes: usize, flaw: Option<Flaw>) -> Vec<Self> {
        Self::cluster(nodes, flaw, false)
    }

    fn carvalho_roucairol(nodes: usize, flaw: Option<Flaw>) -> Vec<Self> {
        Self::cluster(nodes, flaw, true)
    }

    fn cluster(nodes: usize, flaw: Option<Flaw>, remembers: bool) -> Vec<Self> {
        let node = |me: NodeId| {
            let lacking = me.others(nodes).filter(|_| flaw != Some(Flaw::AllPermitted));
            Self {
                flaw,
                remembers,
                me,
                nodes,
                phase: Phase::Idle,
                clock: Clock::default(),
                asked: 0,
                lacking: NodeSet::of(nodes, lacking),
                held_back: NodeSet::empty(nodes),
            }
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn goes_before(&self, time: u64, from: NodeId) -> bool {
        match (self.phase, self.flaw) {
            (Phase::Idle, _) => false,
            (Phase::Inside, _) => true,
            (Phase::Waiting, Some(Flaw::TiesConfirm)) => self.asked < time,
            (Phase::Waiting, Some(Flaw::TiesHold)) => self.asked <= time,
            (Phase::Waiting, Some(Flaw::YoungestFirst)) => (self.asked, self.me) > (time, from),
            (Phase::Waiting, _) => (self.asked, self.me) < (time, from),
        }
    }

    fn confirm(&mut self, peer: NodeId, out: &mut Outbox<AskingMessage>) {
        out.send(peer, AskingMessage::Confirm(self.clock.now()));
        if self.remembers && self.lacking.insert(peer) && self.flaw != Some(Flaw::AsksOnce) {
            self.ask_again(peer, out);
        }
    }

    fn ask_again(&self, peer: NodeId, out: &mut Outbox<AskingMessage>) {
        if self.phase.is_waiting() {
            out.send(peer, AskingMessage::Request(self.asked));
        }
    }
}

impl Machine for Asking {
    type Message = AskingMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<AskingMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = if self.flaw == Some(Flaw::OwnForgotten) {
            self.clock.now() + 1
        } else {
            self.clock.tick()?
        };
        out.broadcast(self.lacking.iter(), AskingMessage::Request(self.asked));
        if self.lacking.is_empty() {
            self.phase.enter(out);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<AskingMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        if !self.remembers {
            self.lacking = NodeSet::of(self.nodes, self.me.others(self.nodes));
        }
        let held_back = std::mem::replace(&mut self.held_back, NodeSet::empty(self.nodes));
        for peer in held_back.iter() {
            self.confirm(peer, out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: AskingMessage,
        out: &mut Outbox<AskingMessage>,
    ) -> Result<(), Refused> {
        let (AskingMessage::Request(time) | AskingMessage::Confirm(time)) = message;
        let is_request = matches!(message, AskingMessage::Request(_));
        if is_request || self.flaw != Some(Flaw::OwnForgotten) {
            self.clock.witness(time);
        }
        match message {
            AskingMessage::Request(_) if self.goes_before(time, from) => {
                self.held_back.insert(from);
            }
            AskingMessage::Request(_) => self.confirm(from, out),
            AskingMessage::Confirm(_) => {
                self.lacking.remove(from);
                if self.lacking.is_empty() && self.phase.is_waiting() {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for Asking {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for Asking {
    fn invariant(
        cluster: &[Self],
        _in_flight: &[(NodeId, NodeId, &AskingMessage)],
    ) -> Option<Result<(), &'static str>> {
        let lacks = |one: NodeId, other: NodeId| cluster[one.index()].lacking.contains(other);
        let mut pairs = NodeId::pairs(cluster.len());
        let holds = pairs.all(|(one, other)| lacks(one, other) || lacks(other, one));
        cluster[0].remembers.then_some(if holds {
            Ok(())
        } else {
            Err("two nodes have the permission between them")
        })
    }
}

/// Lamport's algorithm, on channels that do not keep order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Unordered {
    me: NodeId,
    phase: Phase,
    clock: Clock,
    requests: Vec<Option<u64>>,
    heard: Vec<u64>,
}

impl Unordered {
    fn cluster(nodes: usize) -> Vec<Self> {
        let node = |me| Self {
            me,
            phase: Phase::Idle,
            clock: Clock::default(),
            requests: vec![None; nodes],
            heard: vec![0; nodes],
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.heard.len())
    }

    fn enter_if_first(&mut self, out: &mut Outbox<TimedMessage>) {
        let Some(mine) = self.requests[self.me.index()] else { return };
        let first = self.others().all(|node| {
            let older = |time: u64| (time, node) < (mine, self.me);
            !older(self.heard[node.index()]) && !self.requests[node.index()].is_some_and(older)
        });
        if first && self.phase.is_waiting() {
            self.phase.enter(out);
        }
    }
}

impl Machine for Unordered {
    type Message = TimedMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<TimedMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        let now = self.clock.tick()?;
        self.requests[self.me.index()] = Some(now);
        out.broadcast(self.others(), TimedMessage::Request(now));
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<TimedMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        self.requests[self.me.index()] = None;
        out.broadcast(self.others(), TimedMessage::Release(self.clock.tick()?));
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: TimedMessage,
        out: &mut Outbox<TimedMessage>,
    ) -> Result<(), Refused> {
        let (TimedMessage::Request(time)
        | TimedMessage::Confirm(time)
        | TimedMessage::Release(time)
        | TimedMessage::Cancel(time)) = message;
        self.clock.witness(time);
        // The flaw: what comes after may be older.
        self.heard[from.index()] = time;
        match message {
            TimedMessage::Request(_) => {
                self.requests[from.index()] = Some(time);
                out.send(from, TimedMessage::Confirm(self.clock.tick()?));
            }
            TimedMessage::Confirm(_) => {}
            TimedMessage::Release(_) | TimedMessage::Cancel(_) => {
                self.requests[from.index()] = None;
            }
        }
        self.enter_if_first(out);
        Ok(())
    }
}

impl Protocol for Unordered {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}
