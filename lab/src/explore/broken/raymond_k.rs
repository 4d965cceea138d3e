//! Raymond's algorithm for k entries, wrong.

use exclusion::message::check::Check;
use exclusion::message::raymond_k::Message as CountedMessage;
use exclusion::message::{Clock, Machine, NodeId, Outbox, Phase, Protocol, Refused, Shared};

/// Raymond's algorithm for k entries, where an answer at once also answers the requests held back;
/// one of them may be the younger one.
pub fn raymond_k_combined(flawed: bool) -> Check<Counted> {
    let cluster = Counted::cluster(3, 2, flawed.then_some(CountedFlaw::SaysTooMuch));
    Check::new(cluster).requests_of(NodeId(2), 2)
}

/// Raymond's algorithm for k entries, where answers are only counted: one that comes late counts
/// for the next request.
pub fn raymond_k_late_answer(flawed: bool) -> Check<Counted> {
    let cluster = Counted::cluster(3, 2, flawed.then_some(CountedFlaw::CountsLate));
    Check::new(cluster).requests_of(NodeId(2), 2)
}

/// What is wrong with [`Counted`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum CountedFlaw {
    SaysTooMuch,
    CountsLate,
}

/// Raymond's algorithm for k entries, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Counted {
    flaw: Option<CountedFlaw>,
    me: NodeId,
    entries: usize,
    phase: Phase,
    clock: Clock,
    asked: u64,
    owed_to_us: Vec<u32>,
    /// Answers since we asked: what the variant that counts late looks at.
    answered: usize,
    held_back: Vec<u32>,
}

impl Counted {
    fn cluster(nodes: usize, entries: usize, flaw: Option<CountedFlaw>) -> Vec<Self> {
        let node = |me| Self {
            flaw,
            me,
            entries,
            phase: Phase::Idle,
            clock: Clock::default(),
            asked: 0,
            owed_to_us: vec![0; nodes],
            answered: 0,
            held_back: vec![0; nodes],
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.held_back.len())
    }

    fn answer(&self, peer: NodeId, answers: u32, out: &mut Outbox<CountedMessage>) {
        if answers > 0 {
            out.send(peer, CountedMessage::Confirm { answers, time: self.clock.now() });
        }
    }

    fn is_let_in(&self) -> bool {
        let consenting = self.others().filter(|peer| self.owed_to_us[peer.index()] == 0);
        let consents = match self.flaw {
            Some(CountedFlaw::CountsLate) => self.answered,
            _ => consenting.count(),
        };
        consents >= self.held_back.len() - self.entries
    }
}

impl Machine for Counted {
    type Message = CountedMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.held_back.len()
    }

    fn request(&mut self, out: &mut Outbox<CountedMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.asked = self.clock.tick()?;
        self.answered = 0;
        for peer in self.others() {
            self.owed_to_us[peer.index()] += 1;
            out.send(peer, CountedMessage::Request(self.asked));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<CountedMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        for peer in self.others() {
            let answers = std::mem::take(&mut self.held_back[peer.index()]);
            self.answer(peer, answers, out);
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
                if self.phase.is_inside() || self.phase.is_waiting() && first {
                    self.held_back[from.index()] += 1;
                } else if self.flaw == Some(CountedFlaw::SaysTooMuch) {
                    let answers = std::mem::take(&mut self.held_back[from.index()]);
                    self.answer(from, answers + 1, out);
                } else {
                    self.answer(from, 1, out);
                }
            }
            CountedMessage::Confirm { answers, time } => {
                self.clock.witness(time);
                self.owed_to_us[from.index()] -= answers;
                self.answered += 1;
                if self.is_let_in() && self.phase.is_waiting() {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for Counted {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries
    }
}
