//! A lock that starts from an election: the winner coordinates, or has the token.
//!
//! The nodes of most locks begin with something that all know: node 0 coordinates, or has the
//! token, and the tree points to it. Here nobody knows anything but its neighbours. When the
//! cluster starts, some nodes call an election. A node that has settled makes its node of the lock
//! from what it has learnt. Until then its user waits, and what others say of the lock is kept.
//!
//! The lock starts once. What a later election decides is ignored: to recover a lock is another
//! matter.
//!
//! # Timing
//! The lock is as right as the election. With [`Bully`](super::Bully) that means: only where no
//! message takes longer than T. If one does, two nodes may settle on two leaders. Each makes a
//! coordinator, or a token, and two users are inside. The other elections need no T.

use std::collections::VecDeque;

use super::{Bully, BullyHalt, ChangRoberts, Extinction, LeLann, RingElection};
use crate::message::{
    CentralCoordinator, Channels, Election, Input, Machine, NodeId, Notice, Outbox, Output, Phase,
    Protocol, Raymond, Refused, Timer, step_part,
};

/// A lock whose nodes can be made from what an election has decided.
pub trait Inherits<E: Election>: Protocol {
    /// The node of the lock at a node that has settled on a leader.
    fn inherit(election: &E, leader: NodeId) -> Self;
}

/// An election that tells every node who leads, so that a lock can start from it. The echo
/// algorithm does not: only its initiator learns that a tree is built, and nobody was elected.
///
/// ```compile_fail,E0277
/// use exclusion::message::{CentralCoordinator, Echo, Elected, Graph, NodeId};
///
/// let ring = Graph::ring(4).unwrap();
/// let nodes: Vec<Elected<Echo, CentralCoordinator>> =
///     Elected::cluster(Echo::over(&ring), [NodeId(0)]);
/// ```
pub trait TellsAll: Election {}

impl TellsAll for Bully {}
impl TellsAll for BullyHalt {}
impl TellsAll for RingElection {}
impl TellsAll for ChangRoberts {}
impl TellsAll for LeLann {}
impl TellsAll for Extinction {}

/// The leader coordinates.
impl<E: TellsAll> Inherits<E> for CentralCoordinator {
    fn inherit(election: &E, leader: NodeId) -> Self {
        Self::node_coordinated_by(election.id(), leader, election.nodes())
            .expect("the election has the same nodes")
    }
}

/// The leader has the token, and the tree of the election leads there: the lift algorithm starts
/// so.
impl Inherits<Extinction> for Raymond {
    fn inherit(election: &Extinction, _: NodeId) -> Self {
        Self::rooted(election.id(), election.nodes(), election.parent(), election.children())
    }
}

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message<E, P> {
    /// About the election.
    Election(E),
    /// About the lock.
    Lock(P),
}

impl<E: crate::message::Message, P: crate::message::Message> crate::message::Message
    for Message<E, P>
{
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(message) => message.kind(),
            Self::Lock(message) => message.kind(),
        }
    }
}

type Said<E, P> = Message<<E as Machine>::Message, <P as Machine>::Message>;

/// A node of a lock that starts from an election. See the [module](self).
///
/// ```
/// use exclusion::message::sim::Simulation;
/// use exclusion::message::{Elected, Extinction, Graph, NodeId, Raymond};
///
/// let grid = Graph::grid(3, 4)?;
/// let nodes: Vec<Elected<Extinction, Raymond>> =
///     Elected::cluster(Extinction::over(&grid), [NodeId(2), NodeId(7)]);
/// let report = Simulation::new(nodes).run()?;
/// assert_eq!(report.entries, 12);
/// assert_eq!(report.messages.of("LEADER"), 11);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elected<E: Election, P: Protocol> {
    election: E,
    /// Whether it calls the election.
    calls: bool,
    /// Once it has settled.
    lock: Option<P>,
    /// Where its user is, before.
    phase: Phase,
    /// What came about the lock, before. There is no bound on it: the nodes that have settled may
    /// enter as often as they like while news of the leader is on its way here.
    early: VecDeque<(NodeId, P::Message)>,
}

impl<E: Election, P: Inherits<E>> Elected<E, P> {
    /// A cluster in which these nodes call the election as soon as it starts.
    pub fn cluster(election: Vec<E>, initiators: impl IntoIterator<Item = NodeId>) -> Vec<Self> {
        let initiators: Vec<_> = initiators.into_iter().collect();
        let node = |election: E| Self {
            calls: initiators.contains(&election.id()),
            election,
            lock: None,
            phase: Phase::Idle,
            early: VecDeque::new(),
        };
        election.into_iter().map(node).collect()
    }

    /// The node of the lock, once it has settled.
    pub fn lock(&self) -> Option<&P> {
        self.lock.as_ref()
    }

    fn give_election(
        &mut self,
        input: Input<E::Message>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        let mut settled = None;
        for output in step_part(&mut self.election, input)? {
            if let Output::Leader(leadership) = output {
                settled = Some(leadership.leader);
            }
            match output {
                Output::SetTimer { timer, periods } => out.set_timer(Timer(2 * timer.0), periods),
                other => out.forward(other, Message::Election),
            }
        }
        match settled {
            Some(leader) if self.lock.is_none() => {
                self.lock = Some(P::inherit(&self.election, leader));
                self.begin(out)
            }
            _ => Ok(()),
        }
    }

    /// The lock takes what has come too early.
    ///
    /// # Errors
    /// If it refuses something of that. The node has settled by then, and cannot go on.
    fn begin(&mut self, out: &mut Outbox<Said<E, P>>) -> Result<(), Refused> {
        self.give_lock(Input::Start, out)?;
        if self.phase.is_waiting() {
            self.give_lock(Input::Request, out)?;
        }
        while let Some((from, message)) = self.early.pop_front() {
            self.give_lock(Input::Receive { from, message }, out)?;
        }
        Ok(())
    }

    fn give_lock(
        &mut self,
        input: Input<P::Message>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        let lock = self.lock.as_mut().ok_or(Refused("nobody leads yet"))?;
        for output in step_part(lock, input)? {
            match output {
                Output::SetTimer { timer, periods } => {
                    out.set_timer(Timer(2 * timer.0 + 1), periods);
                }
                other => out.forward(other, Message::Lock),
            }
        }
        Ok(())
    }
}

impl<E: Election, P: Inherits<E>> Machine for Elected<E, P> {
    type Message = Said<E, P>;

    const CHANNELS: Channels = match (E::CHANNELS, P::CHANNELS) {
        (Channels::AnyOrder, Channels::AnyOrder) => Channels::AnyOrder,
        _ => Channels::Fifo,
    };
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.election.id()
    }

    fn nodes(&self) -> usize {
        self.election.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Self::Message>) {
        if self.calls {
            self.give_election(Input::Elect, out).expect("an election can be called");
        }
    }

    fn elect(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.give_election(Input::Elect, out)
    }

    fn request(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        if self.lock.is_none() {
            return self.phase.request();
        }
        self.give_lock(Input::Request, out)
    }

    fn release(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.give_lock(Input::Release, out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Election(message) => self.give_election(Input::Receive { from, message }, out),
            Message::Lock(message) if self.lock.is_none() => {
                self.early.push_back((from, message));
                Ok(())
            }
            Message::Lock(message) => self.give_lock(Input::Receive { from, message }, out),
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let inner = Timer(timer.0 / 2);
        match timer.0 % 2 {
            0 => self.give_election(Input::Timeout(inner), out),
            _ => self.give_lock(Input::Timeout(inner), out),
        }
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.give_election(Input::Notice(notice), out)
    }
}

impl<E: Election, P: Inherits<E>> Protocol for Elected<E, P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.lock.as_ref().map_or(self.phase, Protocol::phase)
    }

    fn entries_at_a_time(&self) -> usize {
        self.lock.as_ref().map_or(1, Protocol::entries_at_a_time)
    }
}
