//! The central coordinator whose place is filled by an election.
//!
//! One node coordinates: it keeps a desk, with the node that is inside and the queue. When it goes
//! down, an election names another. Each client tells the new coordinator where its user is. When
//! all that live have told, the desk is as it was, and the coordinator serves.
//!
//! | message | when | to |
//! |---|---|---|
//! | the election's | the cluster starts, and the coordinator is down | as the election has it |
//! | `STATE` | the node has settled on a coordinator | the coordinator |
//! | `REQUEST` | the user wants in | the coordinator |
//! | `GRANT` | it is the node's turn | the head of the queue |
//! | `RELEASE` | the user leaves | the coordinator |
//!
//! Cost: 3 messages per entry, 0 for the coordinator's own. For each coordinator that dies the
//! election, and n-2 times `STATE`.
//!
//! # Why exclusion holds
//!
//! 1. All that concerns the lock has its epoch. A node that has told its state in an epoch takes no
//!    grant of an older one: it has promised.
//! 2. A coordinator grants only when every node that lives has told its state in this epoch. So no
//!    older grant is in force that it does not know of, and none will be.
//! 3. Its own desk counts a node as inside until that node has left, or is down.
//!
//! Rules 1 and 2 hold whoever is elected. So two nodes that both believe to lead for a while do no
//! harm, as long as the detector is right; that there is one in the end is the election's business.
//!
//! The channels must deliver in order: a `RELEASE` that overtook its `STATE` would be forgotten.

use std::collections::VecDeque;

use super::surviving::lost_peer;
use crate::message::{
    Channels, Election, Epoch, Exclusive, Input, Leadership, Machine, NodeId, NodeSet, Notice,
    Outbox, Output, Phase, Protocol, Refused, TellsAll, Timer, step_part,
};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<E> {
    /// About the election.
    Election(E),
    /// About the lock, in an epoch.
    Lock(Epoch, Note),
}

/// What the nodes say about the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Note {
    /// You coordinate now: my user is here.
    State(Phase),
    /// May I?
    Request,
    /// You may.
    Grant,
    /// I have left.
    Release,
}

impl<E: crate::message::Message> crate::message::Message for Message<E> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(message) => message.kind(),
            Self::Lock(_, Note::State(_)) => "STATE",
            Self::Lock(_, Note::Request) => "REQUEST",
            Self::Lock(_, Note::Grant) => "GRANT",
            Self::Lock(_, Note::Release) => "RELEASE",
        }
    }
}

type Said<E> = Message<<E as Machine>::Message>;

/// What a coordinator knows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Desk {
    /// Who has told its state.
    told: NodeSet,
    inside: Option<NodeId>,
    queue: VecDeque<NodeId>,
}

impl Desk {
    fn empty(nodes: usize) -> Self {
        Self { told: NodeSet::empty(nodes), inside: None, queue: VecDeque::new() }
    }

    /// A node says something. Refuses what it cannot say.
    fn hear(&mut self, from: NodeId, note: Note) -> Result<(), Refused> {
        let has_told = self.told.contains(from);
        match note {
            Note::State(phase) if !has_told => {
                if phase.is_inside() && self.inside.is_some() {
                    return Err(Refused("another node says that it is inside"));
                }
                self.told.insert(from);
                match phase {
                    Phase::Inside => self.inside = Some(from),
                    Phase::Waiting => self.queue.push_back(from),
                    Phase::Idle => {}
                }
            }
            Note::Request if has_told => {
                if self.inside == Some(from) || self.queue.contains(&from) {
                    return Err(Refused("the sender has asked already"));
                }
                self.queue.push_back(from);
            }
            Note::Release if self.inside == Some(from) => self.inside = None,
            Note::State(_) => return Err(Refused("the sender has told its state already")),
            Note::Request => return Err(Refused("the sender tells its state first")),
            Note::Release => return Err(Refused("the sender is not inside")),
            Note::Grant => return Err(Refused("it coordinates, and asks nobody")),
        }
        Ok(())
    }

    /// A node is down.
    fn lose(&mut self, node: NodeId) {
        self.told.remove(node);
        self.queue.retain(|&queued| queued != node);
        self.inside = self.inside.filter(|&inside| inside != node);
    }
}

/// A node of a cluster whose coordinator is elected, and elected again. See the [module](self).
///
/// ```
/// use exclusion::message::BullyHalt;
/// use exclusion::message::fault::remedy::Succession;
/// use exclusion::message::sim::Simulation;
///
/// let report = Simulation::new(Succession::cluster(BullyHalt::cluster(4)?)).run()?;
/// assert_eq!(report.entries, 4);
/// assert_eq!(report.messages.of("STATE"), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Succession<E: Election> {
    election: E,
    phase: Phase,
    /// The coordinator that it has told its state.
    led: Option<Leadership>,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    desk: Desk,
    /// What others say to the coordinator of an epoch before it knows that it is that one.
    early: VecDeque<(NodeId, Epoch, Note)>,
}

impl<E: TellsAll> Succession<E> {
    /// A cluster over these nodes of an election. The last of them calls it when the cluster
    /// starts.
    pub fn cluster(election: Vec<E>) -> Vec<Self> {
        election.into_iter().map(Self::node).collect()
    }

    /// One node of such a cluster.
    pub fn node(election: E) -> Self {
        let nodes = election.nodes();
        Self {
            election,
            phase: Phase::Idle,
            led: None,
            down: NodeSet::empty(nodes),
            desk: Desk::empty(nodes),
            early: VecDeque::new(),
        }
    }

    /// The coordinator that it has settled on.
    pub fn coordinator(&self) -> Option<Leadership> {
        self.led
    }

    /// The epoch in which it coordinates, if it does.
    fn coordinates(&self) -> Option<Epoch> {
        self.led.filter(|led| led.leader == self.id()).map(|led| led.epoch)
    }

    fn give_election(
        &mut self,
        input: Input<E::Message>,
        out: &mut Outbox<Said<E>>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.election, input)? {
            match output {
                Output::Leader(led) => self.follow(led, out),
                other => out.forward(other, Message::Election),
            }
        }
        Ok(())
    }

    /// Tells the coordinator of a later epoch where the user is.
    fn follow(&mut self, led: Leadership, out: &mut Outbox<Said<E>>) {
        if self.led.is_some_and(|before| before.epoch >= led.epoch) {
            return;
        }
        self.led = Some(led);
        self.desk = Desk::empty(self.nodes());
        self.tell(Note::State(self.phase), out);
        // What was said in older epochs is said anew. What cannot be said is not listened to.
        for (from, epoch, note) in std::mem::take(&mut self.early) {
            if epoch > led.epoch {
                self.early.push_back((from, epoch, note));
            } else if epoch == led.epoch && !self.down.contains(from) {
                let _not_believed = self.desk.hear(from, note);
            }
        }
        self.serve(out);
    }

    /// Says something to the coordinator, if there is one.
    fn tell(&mut self, note: Note, out: &mut Outbox<Said<E>>) {
        match self.led {
            Some(led) if led.leader == self.id() => {
                self.desk.hear(led.leader, note).expect("its own user is where it says");
                self.serve(out);
            }
            Some(led) => out.send(led.leader, Message::Lock(led.epoch, note)),
            // It will tell the one that is elected.
            None => {}
        }
    }

    /// Lets the next one in, if all is known.
    fn serve(&mut self, out: &mut Outbox<Said<E>>) {
        let Some(epoch) = self.coordinates() else { return };
        let known = |node| self.down.contains(node) || self.desk.told.contains(node);
        if !NodeId::all(self.nodes()).all(known) || self.desk.inside.is_some() {
            return;
        }
        let Some(next) = self.desk.queue.pop_front() else { return };
        self.desk.inside = Some(next);
        if next == self.id() {
            self.phase.enter(out);
        } else {
            out.send(next, Message::Lock(epoch, Note::Grant));
        }
    }

    fn hear(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        note: Note,
        out: &mut Outbox<Said<E>>,
    ) -> Result<(), Refused> {
        let current = self.led.map(|led| led.epoch);
        if Some(epoch) > current {
            let again = |&(node, of, it): &(NodeId, Epoch, Note)| {
                (node, of) == (from, epoch)
                    && matches!(it, Note::State(_)) == matches!(note, Note::State(_))
            };
            if note == Note::Grant || self.early.iter().any(again) {
                return Err(Refused("it has not told its state in that epoch"));
            }
            self.early.push_back((from, epoch, note));
            return Ok(());
        }
        // Of an older epoch: the one that coordinates now has been told anew.
        let Some(led) = self.led.filter(|led| led.epoch == epoch) else { return Ok(()) };
        if note == Note::Grant {
            if led.leader != from || !self.phase.is_waiting() {
                return Err(Refused("it does not wait for a grant of the sender"));
            }
            self.phase.enter(out);
            return Ok(());
        }
        if led.leader != self.id() {
            return Err(Refused("it does not coordinate"));
        }
        self.desk.hear(from, note)?;
        self.serve(out);
        Ok(())
    }
}

impl<E: TellsAll> Machine for Succession<E> {
    type Message = Said<E>;

    const CHANNELS: Channels = Channels::Fifo;

    fn id(&self) -> NodeId {
        self.election.id()
    }

    fn nodes(&self) -> usize {
        self.election.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Said<E>>) {
        if self.id().index() + 1 == self.nodes() {
            self.give_election(Input::Elect, out).expect("an election can be called");
        }
    }

    fn request(&mut self, out: &mut Outbox<Said<E>>) -> Result<(), Refused> {
        self.phase.request()?;
        self.tell(Note::Request, out);
        out.discard_for(&self.down);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Said<E>>) -> Result<(), Refused> {
        self.phase.release()?;
        self.tell(Note::Release, out);
        out.discard_for(&self.down);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Said<E>,
        out: &mut Outbox<Said<E>>,
    ) -> Result<(), Refused> {
        match message {
            Message::Election(message) => {
                self.give_election(Input::Receive { from, message }, out)?
            }
            // Only where the notice has overtaken it.
            Message::Lock(..) if self.down.contains(from) => {}
            Message::Lock(epoch, note) => self.hear(from, epoch, note, out)?,
        }
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Said<E>>) -> Result<(), Refused> {
        self.give_election(Input::Timeout(timer), out)
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Said<E>>) -> Result<(), Refused> {
        let peer = lost_peer(notice, self.id(), &self.down, self.nodes())?;
        self.give_election(Input::Notice(notice), out)?;
        self.down.insert(peer);
        self.early.retain(|(from, ..)| *from != peer);
        self.desk.lose(peer);
        self.serve(out);
        Ok(())
    }
}

impl<E: TellsAll> Protocol for Succession<E> {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}
