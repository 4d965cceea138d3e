//! Locks that are started from an election in the wrong way.

use std::collections::{BTreeSet, VecDeque};

use exclusion::message::bully_halt::Message as HaltMessage;
use exclusion::message::check::Check;
use exclusion::message::extinction::Message as WaveMessage;
use exclusion::message::{
    BullyHalt, Channels, Elected, Election, Epoch, Exclusive, Extinction, Graph, Inherits, Input,
    Leadership, Machine, Message, NodeId, Notice, Outbox, Output, Phase, Protocol, Raymond,
    Refused, TellsAll, step_part,
};

/// Raymond's tree, whose nodes start when they have a parent, and do not wait to be told that it is
/// the last one: two nodes take each other for the way to the token, and the one is asked by the
/// node that it would ask.
pub fn raymond_hasty(flawed: bool) -> Check<Elected<Eager, Raymond>> {
    let graph = Graph::complete(3).expect("three are enough");
    let neighbours = |node: &Extinction| graph.neighbours(node.id()).to_vec();
    let eager = |inner| Eager { neighbours: neighbours(&inner), inner, flawed, began: false };
    let nodes = Extinction::over(&graph).into_iter().map(eager).collect();
    Check::new(Elected::cluster(nodes, [NodeId(1), NodeId(2)]))
        .requests(0)
        .requests_of(NodeId(0), 1)
}

/// A coordinator that comes back, wins the election, and begins with an empty desk, while a user is
/// inside whom it has let in before.
pub fn central_empty_desk(flawed: bool) -> Check<Office> {
    let office = |election| Office {
        flawed,
        election,
        phase: Phase::Idle,
        led: None,
        down: BTreeSet::new(),
        desk: Desk::default(),
    };
    let cluster = BullyHalt::cluster(2).expect("two are enough");
    Check::new(cluster.into_iter().map(office).collect()).crashes(1).recoveries(1)
}

/// The echo algorithm with extinction, perhaps too early with what it says.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Eager {
    inner: Extinction,
    neighbours: Vec<NodeId>,
    flawed: bool,
    began: bool,
}

impl Eager {
    fn give(
        &mut self,
        input: Input<WaveMessage>,
        out: &mut Outbox<WaveMessage>,
    ) -> Result<(), Refused> {
        let outputs = step_part(&mut self.inner, input)?;
        if self.flawed && self.inner.parent().is_some() && !self.began {
            // The flaw: the parent may change. That the greater of the two initiators will lead is
            // a guess, and right.
            self.began = true;
            let leader = NodeId(2);
            out.settle(Leadership { epoch: Epoch::numbered(1), leader });
        }
        outputs.into_iter().for_each(|output| out.forward(output, |message| message));
        Ok(())
    }
}

impl Machine for Eager {
    type Message = WaveMessage;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn elect(&mut self, out: &mut Outbox<WaveMessage>) -> Result<(), Refused> {
        self.give(Input::Elect, out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: WaveMessage,
        out: &mut Outbox<WaveMessage>,
    ) -> Result<(), Refused> {
        self.give(Input::Receive { from, message }, out)
    }
}

impl Election for Eager {
    fn leadership(&self) -> Option<Leadership> {
        self.inner.leadership()
    }

    fn parent(&self) -> Option<NodeId> {
        self.inner.parent()
    }
}

impl TellsAll for Eager {}

impl Inherits<Eager> for Raymond {
    type Plan = ();

    fn inherit((): &(), election: &Eager, _: NodeId) -> Self {
        let (me, nodes, parent) = (election.id(), election.nodes(), election.parent());
        if !election.flawed {
            return Self::rooted(me, nodes, parent, election.inner.children());
        }
        // It does not know yet who its children will be.
        let others = election.neighbours.iter().copied().filter(|&node| Some(node) != parent);
        Self::rooted(me, nodes, parent, others)
    }
}

/// What the nodes of [`Office`] say to each other. What is about the lock has its epoch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Note {
    /// About the election.
    Election(HaltMessage),
    /// To a new coordinator: where my user is.
    State(Epoch, Phase),
    /// May I?
    Ask(Epoch),
    /// You may.
    Grant(Epoch),
    /// I have left.
    Leave(Epoch),
}

impl Message for Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(message) => message.kind(),
            Self::State(..) => "STATE",
            Self::Ask(_) => "REQUEST",
            Self::Grant(_) => "GRANT",
            Self::Leave(_) => "RELEASE",
        }
    }
}

/// What a coordinator knows.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
struct Desk {
    reported: BTreeSet<NodeId>,
    inside: Option<NodeId>,
    queue: VecDeque<NodeId>,
}

/// A node of a cluster whose coordinator is elected, and elected again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Office {
    flawed: bool,
    election: BullyHalt,
    phase: Phase,
    led: Option<Leadership>,
    down: BTreeSet<NodeId>,
    desk: Desk,
}

impl Office {
    fn give_election(
        &mut self,
        input: Input<HaltMessage>,
        out: &mut Outbox<Note>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.election, input)? {
            match output {
                Output::Leader(leadership) => self.follow(leadership, out),
                other => out.forward(other, Note::Election),
            }
        }
        Ok(())
    }

    /// Tells a new coordinator where the user is; or begins with a desk of its own.
    fn follow(&mut self, led: Leadership, out: &mut Outbox<Note>) {
        self.led = Some(led);
        self.desk = Desk::default();
        if led.leader == self.id() {
            self.hear_of(self.id(), self.phase);
            self.serve(out);
        } else if !self.flawed || self.phase.is_waiting() {
            out.send(led.leader, Note::State(led.epoch, self.phase));
        }
    }

    fn hear_of(&mut self, node: NodeId, phase: Phase) {
        self.desk.reported.insert(node);
        match phase {
            Phase::Inside => self.desk.inside = Some(node),
            Phase::Waiting => self.desk.queue.push_back(node),
            Phase::Idle => {}
        }
    }

    /// The epoch in which it coordinates, if it does.
    fn coordinates(&self) -> Option<Epoch> {
        let led = self.led.filter(|led| led.leader == self.id())?;
        (self.election.leadership() == Some(led)).then_some(led.epoch)
    }

    fn serve(&mut self, out: &mut Outbox<Note>) {
        let Some(epoch) = self.coordinates() else { return };
        let mut others = self.id().others(self.nodes());
        let known = |node| self.down.contains(&node) || self.desk.reported.contains(&node);
        // The flaw: nobody is inside, as far as the desk knows.
        let all_known = self.flawed || others.all(known);
        if !all_known || self.desk.inside.is_some() {
            return;
        }
        if let Some(next) = self.desk.queue.pop_front() {
            self.desk.inside = Some(next);
            if next == self.id() {
                self.phase.enter(out);
            } else {
                out.send(next, Note::Grant(epoch));
            }
        }
    }
}

impl Machine for Office {
    type Message = Note;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.election.id()
    }

    fn nodes(&self) -> usize {
        self.election.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Note>) {
        if self.id().index() + 1 == self.nodes() {
            self.give_election(Input::Elect, out).expect("it can be called");
        }
    }

    fn request(&mut self, out: &mut Outbox<Note>) -> Result<(), Refused> {
        self.phase.request()?;
        match self.led {
            Some(led) if led.leader == self.id() => {
                self.desk.queue.push_back(self.id());
                self.serve(out);
            }
            Some(led) => out.send(led.leader, Note::Ask(led.epoch)),
            // It will tell the one that is elected.
            None => {}
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Note>) -> Result<(), Refused> {
        self.phase.release()?;
        match self.led {
            Some(led) if led.leader == self.id() => {
                self.desk.inside = None;
                self.serve(out);
            }
            Some(led) => out.send(led.leader, Note::Leave(led.epoch)),
            None => {}
        }
        Ok(())
    }

    fn receive(&mut self, from: NodeId, note: Note, out: &mut Outbox<Note>) -> Result<(), Refused> {
        let current = self.led.map(|led| led.epoch);
        match note {
            Note::Election(message) => {
                return self.give_election(Input::Receive { from, message }, out);
            }
            Note::State(epoch, phase) if Some(epoch) == current => self.hear_of(from, phase),
            Note::Ask(epoch) if Some(epoch) == current => self.desk.queue.push_back(from),
            Note::Leave(epoch) if Some(epoch) == current => self.desk.inside = None,
            Note::Grant(epoch) if Some(epoch) == current && self.phase.is_waiting() => {
                self.phase.enter(out);
                return Ok(());
            }
            // Of another epoch: whoever leads now has been told anew.
            _ => return Ok(()),
        }
        self.serve(out);
        Ok(())
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Note>) -> Result<(), Refused> {
        match notice {
            Notice::Down(node) => {
                self.down.insert(node);
                self.desk.queue.retain(|&waiting| waiting != node);
                self.desk.inside = self.desk.inside.filter(|&inside| inside != node);
            }
            Notice::Up(node) => drop(self.down.remove(&node)),
            _ => {
                self.down.clear();
                self.phase = Phase::Idle;
                self.led = None;
                self.desk = Desk::default();
            }
        }
        self.give_election(Input::Notice(notice), out)?;
        self.serve(out);
        Ok(())
    }
}

impl Protocol for Office {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}
