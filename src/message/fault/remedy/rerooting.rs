//! Tree algorithms whose tree grows anew around the token, which is made anew when and only when it
//! is gone.
//!
//! Where requests are passed on from node to node, a death breaks the ways to the token, whoever it
//! was: those behind the dead one lead to it, and requests that it had are lost. So it is not
//! enough to know whether the token is gone. When a node is down, the survivor with the lowest
//! number holds a census, as in [`Regenerating`](super::Regenerating). Whoever reports freezes: it
//! sends nothing of the old tree any more, the token neither. A user that is inside stays there,
//! and may leave. The latest hop of all says where the token is: that node is the root of the next
//! tree. If it is gone, the one that holds the census makes it, of the next epoch, and is the root.
//! In the new tree all that wait ask again.
//!
//! | message | when | to |
//! |---|---|---|
//! | the lock's | as it has them, with the number of the tree; the token with that of its hop | |
//! | `CENSUS` | a node is down, and all lower ones are | all that live |
//! | `REPORT` | a `CENSUS` comes, and the node knows of the same dead | its sender |
//! | `ROOT` | all that live have reported | all that live |
//!
//! Cost: for each node that dies 3(n-2), and a request of each that waits. A lock that is [built
//! anew](crate::message::Recovering) costs one message more, and waits for the user that is inside
//! to leave.
//!
//! # Why there is one token
//!
//! 1. A node reports after it has been told of the dead, so after all that the dead have sent to
//!    it. If the latest hop of all went to a dead node, the token is gone.
//! 2. If it went to a node that lives, that one has it, or it is on its way there: everybody is
//!    frozen, so nobody has sent it on. That node begins when it has come.
//! 3. A census ends only if all that it does not name have reported. Of two that end, one names all
//!    the dead of the other and more: each node has been told of more dead than before. So the
//!    number of the dead is the number of the tree, and what belongs to an older one counts no
//!    more.

mod message;
mod tree;

pub use message::Message;

use std::collections::BTreeMap;

use super::regenerating::Hop;
use super::surviving::lost_peer;
use crate::message::{
    Channels, Claims, ClusterError, Input, Machine, NodeId, NodeSet, Notice, Outbox, Output, Phase,
    Protocol, Refused, Timer, TokenClaim, step_part,
};
use tree::Tree;

/// A token algorithm whose requests are passed on along a tree towards the token.
pub trait Reroots: Claims {
    /// One node of a cluster in which the token rests at the root, and everybody who lives knows a
    /// way there through those that live.
    fn grown(me: NodeId, nodes: usize, root: NodeId, living: &[NodeId]) -> Self;
}

/// Where the token was after the last hop that a node took part in.
type Trail = Option<(Hop, NodeId)>;

/// A node of a lock whose tree grows anew around the token. See the [module](self).
///
/// ```
/// use exclusion::message::Raymond;
/// use exclusion::message::fault::remedy::Rerooting;
/// use exclusion::message::sim::Simulation;
///
/// let nodes = Rerooting::<Raymond>::cluster(7)?;
/// assert_eq!(Simulation::new(nodes).run()?.entries, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "P: serde::Serialize, P::Message: serde::Serialize",
        deserialize = "P: serde::Deserialize<'de>, P::Message: serde::Deserialize<'de>"
    ))
)]
pub struct Rerooting<P: Machine> {
    me: NodeId,
    nodes: u32,
    phase: Phase,
    tree: Tree<P, P::Message>,
    /// Who is down, as far as the detector has told.
    down: NodeSet,
    trail: Trail,
    /// The census that we hold: who has reported what.
    census: Option<BTreeMap<NodeId, Trail>>,
    /// The census that we have not answered yet, since we do not know of all its dead.
    unanswered: Option<(NodeId, NodeSet)>,
}

type Out<'a, P> = &'a mut Outbox<Message<<P as Machine>::Message>>;

impl<P: Reroots> Rerooting<P> {
    /// A cluster. The token is at node 0.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(me, nodes))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        let all: Vec<_> = NodeId::all(nodes).collect();
        let first = NodeId(0);
        Ok(Self {
            me,
            nodes: NodeId::at(nodes).0,
            phase: Phase::Idle,
            tree: Tree::Grown { number: 0, lock: P::grown(me, nodes, first, &all) },
            down: NodeSet::empty(nodes),
            trail: (me == first).then_some((Hop::default(), me)),
            census: None,
            unanswered: None,
        })
    }

    /// The node of the lock; none while it is frozen.
    pub fn lock(&self) -> Option<&P> {
        match &self.tree {
            Tree::Grown { lock, .. } => Some(lock),
            Tree::Frozen { .. } => None,
        }
    }

    /// How many tokens have been made before the one that came here last.
    pub fn tokens_before(&self) -> Option<u64> {
        self.trail.map(|(hop, _)| hop.epoch)
    }

    fn claim() -> TokenClaim<P> {
        P::token().expect("an algorithm without a token has none to grow around")
    }

    fn survivors(&self) -> impl Iterator<Item = NodeId> + use<'_, P> {
        NodeId::all(self.nodes()).filter(|&node| !self.down.contains(node))
    }

    /// Gives the lock an input, unless it is frozen, and numbers the hop if it sends the token.
    fn give(&mut self, input: Input<P::Message>, out: Out<'_, P>) -> Result<(), Refused> {
        let Tree::Grown { number, lock } = &mut self.tree else { return Ok(()) };
        for output in step_part(lock, input)? {
            match output {
                Output::Send { to, message } if (Self::claim().is)(&message) => {
                    let hop = self.trail.map_or(Hop::default(), |(latest, _)| latest).next();
                    self.trail = Some((hop, to));
                    out.send(to, Message::Token(*number, hop, message));
                }
                // In a new tree the lock learns that its user is inside.
                Output::Enter if self.phase.is_inside() => {}
                Output::Enter => self.phase.enter(out),
                other => out.forward(other, |message| Message::Lock(*number, message)),
            }
        }
        out.discard_for(&self.down);
        Ok(())
    }

    /// From now on nothing of the old tree counts.
    fn freeze(&mut self) {
        self.tree = Tree::Frozen { dead: self.down.clone(), early: Vec::new(), root: None };
    }

    /// Holds a census, if it is ours to hold.
    fn count(&mut self, out: Out<'_, P>) {
        if self.survivors().next() != Some(self.me) {
            return;
        }
        self.freeze();
        self.census = Some(BTreeMap::from([(self.me, self.trail)]));
        let others = self.survivors().filter(|&node| node != self.me);
        out.broadcast(others, Message::Census(self.down.clone()));
        self.evaluate(out);
    }

    /// When all have reported: tells where the token is. If the latest hop went to the dead, makes
    /// it here.
    fn evaluate(&mut self, out: Out<'_, P>) {
        let (down, nodes) = (&self.down, self.nodes as usize);
        let mut survivors = NodeId::all(nodes).filter(|&node| !down.contains(node));
        let all = |reports: &mut BTreeMap<NodeId, Trail>| {
            survivors.all(|node| reports.contains_key(&node))
        };
        let Some(reports) = self.census.take_if(all) else { return };
        let latest = reports.into_values().flatten().max();
        let (hop, root) = match latest {
            Some((hop, place)) if !self.down.contains(place) => (hop, place),
            gone => {
                let epoch = gone.map_or(0, |(hop, _)| hop.epoch) + 1;
                let made = (Hop { epoch, number: 0 }, self.me);
                self.trail = Some(made);
                made
            }
        };
        let others = self.survivors().filter(|&node| node != self.me);
        out.broadcast(others, Message::Root { dead: self.down.clone(), root, hop });
        self.follow(root, hop, out);
    }

    /// Answers the census, if we know of the same dead.
    fn answer(&mut self, out: Out<'_, P>) {
        let down = &self.down;
        let is_outdated = |dead: &NodeSet| down.iter().any(|node| !dead.contains(node));
        self.unanswered.take_if(|(_, dead)| is_outdated(dead));
        if let Some((asker, dead)) = self.unanswered.take_if(|(_, dead)| dead == down) {
            self.freeze();
            out.send(asker, Message::Report(dead, self.trail));
        }
    }

    fn follow(&mut self, root: NodeId, hop: Hop, out: Out<'_, P>) {
        if let Tree::Frozen { root: awaited, .. } = &mut self.tree {
            *awaited = Some((root, hop));
        }
        self.grow(out);
    }

    /// The new tree begins, at its root when the token has come.
    fn grow(&mut self, out: Out<'_, P>) {
        let Tree::Frozen { dead, early, root: Some((root, hop)) } = &mut self.tree else { return };
        let has_come = self.trail.is_some_and(|(latest, _)| latest >= *hop);
        if *root == self.me && !has_come {
            return;
        }
        let nodes = self.nodes as usize;
        let living: Vec<_> = NodeId::all(nodes).filter(|&node| !dead.contains(node)).collect();
        let lock = P::grown(self.me, nodes, *root, &living);
        let (number, early) = (NodeId::at(dead.len()).0, std::mem::take(early));
        self.tree = Tree::Grown { number, lock };
        if !self.phase.is_idle() {
            let asked = self.give(Input::Request, out);
            debug_assert_eq!(asked, Ok(()), "a fresh lock is idle");
        }
        for (from, message) in early {
            // What nobody has sent is not missed: it was checked before for nothing but its tree.
            let _ = self.give(Input::Receive { from, message }, out);
        }
    }

    /// A message of the lock that is not the token.
    fn hear(
        &mut self,
        from: NodeId,
        tree: u32,
        message: P::Message,
        out: Out<'_, P>,
    ) -> Result<(), Refused> {
        if (Self::claim().is)(&message) {
            return Err(Refused("the token has the number of its hop"));
        }
        let most = 2 * self.nodes();
        let number = self.tree.number();
        match &mut self.tree {
            _ if tree > number => Err(Refused("it has reported for no such tree")),
            _ if tree < number => Ok(()),
            Tree::Frozen { early, .. } if early.len() == most => {
                Err(Refused("so many cannot have asked before the tree begins here"))
            }
            Tree::Frozen { early, .. } => {
                early.push((from, message));
                Ok(())
            }
            Tree::Grown { .. } => self.give(Input::Receive { from, message }, out),
        }
    }

    fn take_token(
        &mut self,
        from: NodeId,
        (tree, hop): (u32, Hop),
        message: P::Message,
        out: Out<'_, P>,
    ) -> Result<(), Refused> {
        hop.check()?;
        if !(Self::claim().is)(&message) {
            return Err(Refused("that is not the token"));
        }
        if self.trail.is_some_and(|(latest, _)| hop <= latest) {
            return Err(Refused("the token has come further than that"));
        }
        let before = self.trail.replace((hop, self.me));
        match &self.tree {
            Tree::Grown { number, .. } if *number == tree => {
                let taken = self.give(Input::Receive { from, message }, out);
                taken.inspect_err(|_| self.trail = before)
            }
            Tree::Frozen { .. } if tree < self.tree.number() => {
                self.grow(out);
                Ok(())
            }
            _ => {
                self.trail = before;
                Err(Refused("it has not asked in this tree"))
            }
        }
    }

    /// Who holds a census of these dead. Refuses if there is no such census, or we are among them.
    fn census_of(&self, dead: &NodeSet) -> Result<NodeId, Refused> {
        dead.iter().try_for_each(|node| node.check_member(self.nodes()))?;
        let holder = NodeId::all(self.nodes()).find(|&node| !dead.contains(node));
        holder.filter(|_| !dead.contains(self.me)).ok_or(Refused("it is not among the dead"))
    }

    fn check_trail(&self, trail: Trail) -> Result<(), Refused> {
        trail.map_or(Ok(()), |(hop, place)| {
            hop.check()?;
            place.check_member(self.nodes())
        })
    }
}

impl<P: Reroots> Machine for Rerooting<P> {
    type Message = Message<P::Message>;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn request(&mut self, out: Out<'_, P>) -> Result<(), Refused> {
        let before = self.phase;
        self.phase.request()?;
        self.give(Input::Request, out).inspect_err(|_| self.phase = before)
    }

    fn release(&mut self, out: Out<'_, P>) -> Result<(), Refused> {
        let before = self.phase;
        self.phase.release()?;
        self.give(Input::Release, out).inspect_err(|_| self.phase = before)
    }

    fn withdraw(&mut self, out: Out<'_, P>) -> Result<(), Refused> {
        let mut after = self.phase;
        after.withdraw()?;
        self.give(Input::Withdraw, out)?;
        self.phase = after;
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: Out<'_, P>,
    ) -> Result<(), Refused> {
        // Only where the notice has overtaken it.
        if self.down.contains(from) {
            return Ok(());
        }
        match message {
            Message::Lock(tree, message) => self.hear(from, tree, message, out),
            Message::Token(tree, hop, message) => self.take_token(from, (tree, hop), message, out),
            Message::Census(dead) => {
                if self.census_of(&dead)? != from {
                    return Err(Refused("it is not the sender's to hold that census"));
                }
                // One that names fewer was overtaken, or begins again when its holder knows more.
                let waiting = self.unanswered.as_ref().map_or(0, |(_, dead)| dead.len());
                if dead.len() > waiting {
                    self.unanswered = Some((from, dead));
                    self.answer(out);
                }
                Ok(())
            }
            Message::Report(dead, trail) => {
                self.check_trail(trail)?;
                if !dead.iter().all(|node| self.down.contains(node)) {
                    return Err(Refused("it has held no such census"));
                }
                // Of a census that has begun again, with more dead: that one is answered too.
                if dead == self.down {
                    let reports = self.census.as_mut().ok_or(Refused("it has not asked"))?;
                    if reports.contains_key(&from) {
                        return Err(Refused("the sender has reported already"));
                    }
                    reports.insert(from, trail);
                    self.evaluate(out);
                }
                Ok(())
            }
            Message::Root { dead, root, hop } => {
                self.check_trail(Some((hop, root)))?;
                if self.census_of(&dead)? != from || dead.contains(root) {
                    return Err(Refused("it is not the sender's to name that root"));
                }
                match &self.tree {
                    Tree::Frozen { dead: reported, root: None, .. } if *reported == dead => {
                        if self.phase.is_inside() && root != self.me {
                            return Err(Refused("the token is here"));
                        }
                        self.follow(root, hop, out);
                    }
                    // It has reported to a later census.
                    _ => {}
                }
                Ok(())
            }
        }
    }

    fn timeout(&mut self, timer: Timer, out: Out<'_, P>) -> Result<(), Refused> {
        self.give(Input::Timeout(timer), out)
    }

    fn notice(&mut self, notice: Notice, out: Out<'_, P>) -> Result<(), Refused> {
        let peer = lost_peer(notice, self.id(), &self.down, self.nodes())?;
        self.down.insert(peer);
        self.answer(out);
        self.count(out);
        Ok(())
    }
}

impl<P: Reroots> Protocol for Rerooting<P> {
    type Access = P::Access;

    const WITHDRAWS: bool = P::WITHDRAWS;

    fn phase(&self) -> Phase {
        self.phase
    }
}
