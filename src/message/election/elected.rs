//! A lock that starts from an election: the winner coordinates, or has the token.
//!
//! The nodes of most locks begin with something that all know: node 0 coordinates, or has the
//! token, and the tree points to it. Here nobody knows anything but its neighbours. When the
//! cluster starts, some nodes call an election. A node that has settled makes its node of the lock
//! from what it has learnt. Until then its user waits, and what others say of the lock is kept.
//!
//! The lock starts once, from the first election: what a later one decides is ignored. A node that
//! may have missed the first one takes no part. That is one that has recovered, one that had heard
//! of the election and was told of a crash before it settled, and one that settles by an election
//! that [cannot be the first](TellsAll::may_be_first). Its user waits for ever. So nobody may go
//! down before all have started, if all are to enter: to recover a lock is another matter.
//!
//! | stage | by | then |
//! |---|---|---|
//! | `Before` | it settles | `Started` |
//! | `Before` | it settles, by a later election than the first | `Out` |
//! | `Before` | somebody is down, and it has heard of the election | `Out` |
//! | any | it has recovered | `Out` |
//!
//! # Timing
//! The lock is as right as the election. With [`Bully`](super::Bully) that means: only where no
//! message takes longer than T. If one does, two nodes may settle on two leaders. Each makes a
//! coordinator, or a token, and two users are inside. The other elections need no T.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use super::{Bully, BullyHalt, ChangRoberts, Extinction, LeLann, RingElection};
use crate::message::{
    CentralCoordinator, Channels, ClusterError, Election, Input, Leadership, Machine, NodeId,
    Notice, Outbox, Output, Phase, Protocol, Raymond, Refused, Timer, step_part,
};

/// A lock whose nodes can be made from what an election has decided.
pub trait Inherits<E: TellsAll>: Protocol {
    /// What all nodes know of the lock before anybody leads: how many may be inside, say, or how
    /// they are arranged. `()` where that is nothing.
    type Plan: Clone + Eq + Hash + Debug;

    /// Whether there is such a lock among so many nodes.
    ///
    /// # Errors
    /// If not, and why.
    fn check(_plan: &Self::Plan, _nodes: usize) -> Result<(), ClusterError> {
        Ok(())
    }

    /// How many may be inside at a time.
    fn entries(_plan: &Self::Plan) -> usize {
        1
    }

    /// The node of the lock at a node that has settled on a leader.
    ///
    /// # Panics
    /// If there is [no such lock](Self::check).
    fn inherit(plan: &Self::Plan, election: &E, leader: NodeId) -> Self;
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
pub trait TellsAll: Election {
    /// Whether this can be the outcome of the first election, which some nodes call when they
    /// start. A lock that started from a later one might be the second.
    fn may_be_first(_settled: Leadership) -> bool {
        true
    }
}

impl TellsAll for Bully {}
impl TellsAll for BullyHalt {}

/// All that call at the start call in the first number. A later number is called for a node that
/// is down, or back, and by then some may have settled.
impl TellsAll for RingElection {
    fn may_be_first(settled: Leadership) -> bool {
        settled.epoch.number == 1
    }
}

impl TellsAll for ChangRoberts {}
impl TellsAll for LeLann {}
impl TellsAll for Extinction {}

/// The leader coordinates.
impl<E: TellsAll> Inherits<E> for CentralCoordinator {
    type Plan = ();

    fn inherit((): &(), election: &E, leader: NodeId) -> Self {
        Self::node_coordinated_by(election.id(), leader, election.nodes())
            .expect("the election has the same nodes")
    }
}

/// The leader has the token, and the tree of the election leads there: the lift algorithm starts
/// so.
impl Inherits<Extinction> for Raymond {
    type Plan = ();

    fn inherit((): &(), election: &Extinction, _: NodeId) -> Self {
        Self::rooted(election.id(), election.nodes(), election.parent(), election.children())
    }
}

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message<E, P> {
    /// About the election.
    Election(E),
    /// About the lock.
    Lock {
        /// Whom the sender had settled on when its lock started.
        leader: NodeId,
        /// What it says.
        message: P,
    },
}

impl<E: crate::message::Message, P: crate::message::Message> crate::message::Message
    for Message<E, P>
{
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(message) => message.kind(),
            Self::Lock { message, .. } => message.kind(),
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
pub struct Elected<E: TellsAll, P: Inherits<E>> {
    plan: Arc<P::Plan>,
    election: E,
    /// Whether it calls the election.
    calls: bool,
    stage: Stage<P>,
    /// Where its user is, without a lock.
    phase: Phase,
}

/// Who said what about the lock, and whom the sender follows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Early<P: Protocol> {
    from: NodeId,
    leader: NodeId,
    message: P::Message,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Stage<P: Protocol> {
    Before {
        /// Whether anybody has said something about the election.
        heard: bool,
        /// What came about the lock. There is no bound on it: the nodes that have settled may enter
        /// as often as they like while news of the leader is on its way here.
        early: VecDeque<Early<P>>,
    },
    Started {
        leader: NodeId,
        lock: P,
    },
    /// It may have missed the first election.
    Out,
}

impl<E: TellsAll, P: Inherits<E>> Elected<E, P> {
    /// A cluster in which these nodes call the election as soon as it starts.
    ///
    /// # Panics
    /// If the election has fewer than two nodes.
    pub fn cluster(election: Vec<E>, initiators: impl IntoIterator<Item = NodeId>) -> Vec<Self>
    where
        P::Plan: Default,
    {
        let nodes = Self::planned(P::Plan::default(), election, initiators);
        nodes.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, of a lock of which the nodes must know something beforehand.
    ///
    /// ```
    /// use exclusion::message::sim::Simulation;
    /// use exclusion::message::{ChangRoberts, Elected, NodeId, Renamed, SuzukiKasami, Topology};
    ///
    /// let ring = ChangRoberts::cluster(5)?;
    /// let nodes: Vec<Elected<_, Renamed<SuzukiKasami>>> =
    ///     Elected::planned(Topology::ring(5)?, ring, [NodeId(1)])?;
    /// assert_eq!(Simulation::new(nodes).run()?.entries, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the election has fewer than two nodes, or there is no such lock among its nodes.
    pub fn planned(
        plan: P::Plan,
        election: Vec<E>,
        initiators: impl IntoIterator<Item = NodeId>,
    ) -> Result<Vec<Self>, ClusterError> {
        ClusterError::check_places(&election)?;
        P::check(&plan, election.len())?;
        let plan = Arc::new(plan);
        let initiators: Vec<_> = initiators.into_iter().collect();
        let node = |election: E| Self {
            plan: Arc::clone(&plan),
            calls: initiators.contains(&election.id()),
            election,
            stage: Stage::Before { heard: false, early: VecDeque::new() },
            phase: Phase::Idle,
        };
        Ok(election.into_iter().map(node).collect())
    }

    /// The node of the lock, once it has settled. None again after a crash.
    pub fn lock(&self) -> Option<&P> {
        match &self.stage {
            Stage::Started { lock, .. } => Some(lock),
            Stage::Before { .. } | Stage::Out => None,
        }
    }

    fn give_election(
        &mut self,
        input: Input<E::Message>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        let mut settled = None;
        for output in step_part(&mut self.election, input)? {
            if let Output::Leader(leadership) = output {
                settled = Some(leadership);
            }
            match output {
                Output::SetTimer { timer, periods } => out.set_timer(Timer(2 * timer.0), periods),
                other => out.forward(other, Message::Election),
            }
        }
        match (settled, &mut self.stage) {
            (Some(settled), Stage::Before { .. }) if !E::may_be_first(settled) => {
                self.stage = Stage::Out;
                Ok(())
            }
            (Some(Leadership { leader, .. }), Stage::Before { early, .. }) => {
                let early = std::mem::take(early);
                let lock = P::inherit(&self.plan, &self.election, leader);
                self.stage = Stage::Started { leader, lock };
                self.begin(early, out)
            }
            _ => Ok(()),
        }
    }

    /// The lock takes what has come too early.
    ///
    /// # Errors
    /// If it refuses something of that. The node has settled by then, and cannot go on.
    fn begin(
        &mut self,
        early: VecDeque<Early<P>>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        self.give_lock(Input::Start, out)?;
        if self.phase.is_waiting() {
            self.give_lock(Input::Request, out)?;
        }
        early.into_iter().try_for_each(|early| self.hear_of_lock(early, out))
    }

    /// Something comes about the lock. It is of no use to a node that follows another leader, or
    /// takes no part.
    fn hear_of_lock(
        &mut self,
        said: Early<P>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        match &mut self.stage {
            Stage::Before { early, .. } => early.push_back(said),
            Stage::Started { leader, .. } if *leader == said.leader => {
                let Early { from, message, .. } = said;
                return self.give_lock(Input::Receive { from, message }, out);
            }
            Stage::Started { .. } | Stage::Out => {}
        }
        Ok(())
    }

    fn give_lock(
        &mut self,
        input: Input<P::Message>,
        out: &mut Outbox<Said<E, P>>,
    ) -> Result<(), Refused> {
        let Stage::Started { leader, lock } = &mut self.stage else {
            return Err(Refused("its lock has not started"));
        };
        let leader = *leader;
        for output in step_part(lock, input)? {
            match output {
                Output::SetTimer { timer, periods } => {
                    out.set_timer(Timer(2 * timer.0 + 1), periods);
                }
                other => out.forward(other, |message| Message::Lock { leader, message }),
            }
        }
        Ok(())
    }
}

impl<E: TellsAll, P: Inherits<E>> Machine for Elected<E, P> {
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
        match self.stage {
            Stage::Started { .. } => self.give_lock(Input::Request, out),
            Stage::Before { .. } | Stage::Out => self.phase.request(),
        }
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
            Message::Election(message) => {
                if let Stage::Before { heard, .. } = &mut self.stage {
                    *heard = true;
                }
                self.give_election(Input::Receive { from, message }, out)
            }
            Message::Lock { leader, message } => {
                leader.check_member(self.nodes())?;
                self.hear_of_lock(Early { from, leader, message }, out)
            }
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
        match (notice, &self.stage) {
            (Notice::Recovered, _) => {
                // What is sent to its former life is lost on it, and so is its user.
                (self.stage, self.phase) = (Stage::Out, Phase::Idle);
            }
            // Others may have started from a leader that this node will not settle on.
            (Notice::Down(_), Stage::Before { heard: true, .. }) => self.stage = Stage::Out,
            _ => {}
        }
        self.give_election(Input::Notice(notice), out)
    }
}

impl<E: TellsAll, P: Inherits<E>> Protocol for Elected<E, P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.lock().map_or(self.phase, Protocol::phase)
    }

    fn entries_at_a_time(&self) -> usize {
        P::entries(&self.plan)
    }
}
