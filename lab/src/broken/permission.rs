//! Wrong algorithms that ask for permission.

use exclusion::check::Check;
use exclusion::protocol::lamport::Message as TimedMessage;
use exclusion::protocol::raymond_k::Message as CountedMessage;
use exclusion::protocol::ricart_agrawala::Message as AskingMessage;
use exclusion::protocol::{Clock, NodeId, NodeSet, Outbox, Phase, Protocol, Refused};

/// Ricart's and Agrawala's algorithm, where requests of the same time confirm each other: both enter.
pub fn ricart_agrawala_ties() -> Check<Asking> {
    Check::new(Asking::cluster(2, Flaw::TiesConfirm))
}

/// Ricart's and Agrawala's algorithm, where requests of the same time hold each other back: both wait for ever.
pub fn ricart_agrawala_ties_held() -> Check<Asking> {
    Check::new(Asking::cluster(2, Flaw::TiesHold))
}

/// Carvalho's and Roucairol's algorithm, where at first everybody has everybody's permission: all enter unasked.
pub fn carvalho_roucairol_empty() -> Check<Asking> {
    Check::new(Asking::cluster(2, Flaw::AllPermitted))
}

/// Carvalho's and Roucairol's algorithm, where who gives a permission away to an older request does not ask for it
/// again: it never comes back.
pub fn carvalho_roucairol_one_request() -> Check<Asking> {
    Check::new(Asking::cluster(3, Flaw::AsksOnce)).requests_of(NodeId(1), 2)
}

/// Lamport's algorithm on channels of any order: a confirmation overtakes the older request before it.
pub fn lamport_unordered() -> Check<Unordered> {
    Check::new(Unordered::cluster(2))
}

/// Raymond's algorithm for k entries, where an answer at once also answers the requests held back; one of them may be
/// the younger one.
pub fn raymond_k_combined() -> Check<Combined> {
    Check::new(Combined::cluster(3, 2)).requests_of(NodeId(2), 2)
}

/// What is wrong with [`Asking`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    TiesConfirm,
    TiesHold,
    AllPermitted,
    AsksOnce,
}

/// Ricart's and Agrawala's algorithm, or Carvalho's and Roucairol's, with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Asking {
    flaw: Flaw,
    me: NodeId,
    nodes: usize,
    phase: Phase,
    clock: Clock,
    asked: u64,
    lacking: NodeSet,
    held_back: NodeSet,
}

impl Asking {
    fn cluster(nodes: usize, flaw: Flaw) -> Vec<Self> {
        let node = |me: NodeId| {
            let lacking = me.others(nodes).filter(|_| flaw != Flaw::AllPermitted);
            Self {
                flaw,
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

    /// Whether a permission is good until it is given away.
    fn remembers(&self) -> bool {
        matches!(self.flaw, Flaw::AllPermitted | Flaw::AsksOnce)
    }

    fn goes_before(&self, time: u64, from: NodeId) -> bool {
        match (self.phase, self.flaw) {
            (Phase::Idle, _) => false,
            (Phase::Inside, _) => true,
            (Phase::Waiting, Flaw::TiesConfirm) => self.asked < time,
            (Phase::Waiting, Flaw::TiesHold) => self.asked <= time,
            (Phase::Waiting, _) => (self.asked, self.me) < (time, from),
        }
    }

    fn confirm(&mut self, peer: NodeId, out: &mut Outbox<AskingMessage>) {
        out.send(peer, AskingMessage::Confirm(self.clock.now()));
        if self.remembers() && self.lacking.insert(peer) && self.flaw != Flaw::AsksOnce {
            self.ask_again(peer, out);
        }
    }

    fn ask_again(&self, peer: NodeId, out: &mut Outbox<AskingMessage>) {
        if self.phase.is_waiting() {
            out.send(peer, AskingMessage::Request(self.asked));
        }
    }
}

impl Protocol for Asking {
    type Message = AskingMessage;

    fn request(&mut self, out: &mut Outbox<AskingMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = self.clock.tick()?;
        out.broadcast(self.lacking.iter(), AskingMessage::Request(self.asked));
        if self.lacking.is_empty() {
            self.phase.enter(out);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<AskingMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        if !self.remembers() {
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
        self.clock.witness(time);
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

impl Protocol for Unordered {
    type Message = TimedMessage;

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
        | TimedMessage::Release(time)) = message;
        self.clock.witness(time);
        // The flaw: what comes after may be older.
        self.heard[from.index()] = time;
        match message {
            TimedMessage::Request(_) => {
                self.requests[from.index()] = Some(time);
                out.send(from, TimedMessage::Confirm(self.clock.tick()?));
            }
            TimedMessage::Confirm(_) => {}
            TimedMessage::Release(_) => self.requests[from.index()] = None,
        }
        self.enter_if_first(out);
        Ok(())
    }
}

/// Raymond's algorithm for k entries, with answers that say too much.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combined {
    me: NodeId,
    entries: usize,
    phase: Phase,
    clock: Clock,
    asked: u64,
    owed_to_us: Vec<u32>,
    held_back: Vec<u32>,
}

impl Combined {
    fn cluster(nodes: usize, entries: usize) -> Vec<Self> {
        let node = |me| Self {
            me,
            entries,
            phase: Phase::Idle,
            clock: Clock::default(),
            asked: 0,
            owed_to_us: vec![0; nodes],
            held_back: vec![0; nodes],
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.held_back.len())
    }

    /// Answers all requests of a peer.
    fn answer(&mut self, peer: NodeId, out: &mut Outbox<CountedMessage>) {
        let answers = std::mem::take(&mut self.held_back[peer.index()]);
        if answers > 0 {
            out.send(peer, CountedMessage::Confirm { answers, time: self.clock.now() });
        }
    }
}

impl Protocol for Combined {
    type Message = CountedMessage;

    fn request(&mut self, out: &mut Outbox<CountedMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = self.clock.tick()?;
        for peer in self.others() {
            self.owed_to_us[peer.index()] += 1;
            out.send(peer, CountedMessage::Request(self.asked));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<CountedMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        for peer in self.others() {
            self.answer(peer, out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: CountedMessage,
        out: &mut Outbox<CountedMessage>,
    ) -> Result<(), Refused> {
        match message {
            CountedMessage::Request(time) => {
                self.clock.witness(time);
                let first = (self.asked, self.me) < (time, from);
                self.held_back[from.index()] += 1;
                if self.phase.is_idle() || self.phase.is_waiting() && !first {
                    // The flaw: for this request alone would be right.
                    self.answer(from, out);
                }
            }
            CountedMessage::Confirm { answers, time } => {
                self.clock.witness(time);
                self.owed_to_us[from.index()] -= answers;
                let consenting = self.others().filter(|peer| self.owed_to_us[peer.index()] == 0);
                let enough = consenting.count() >= self.held_back.len() - self.entries;
                if enough && self.phase.is_waiting() {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries
    }
}
