//! Views: which nodes make up the cluster at present, and since which epoch.
//!
//! A node that finds out that a member is down, or that a node is back, calls a new view. First it
//! halts the others: each promises to refuse everything older. Then it installs the view of those
//! that have answered. A user that is inside is waited for: the view is installed when it has left,
//! or when its node is down.
//!
//! | message | when | to |
//! |---|---|---|
//! | `HALT(epoch)` | a new view is called; a node is in reach again meanwhile | all others; it |
//! | `STATE(epoch, state)` | a `HALT` comes, of the greatest epoch so far | its sender |
//! | `PROMISED(epoch)` | a `HALT` comes that is too old, in a view | its sender, who calls again |
//! | `LEFT(epoch)` | a user leaves that was inside in the `STATE` | the caller of the epoch |
//! | `INSTALL(epoch, members)` | all that are not suspected have answered, none is inside | them |
//!
//! Channels may reorder. What a `STATE` says: the view that the node was in, whether its user is
//! inside, and the greatest fence that it knows. Whether its user waits is not needed: each node
//! asks again by itself.
//!
//! # Who calls
//! The lowest member that is not suspected, for a member that is down. The caller of the view or
//! its lowest member, for a node that is in reach and not a member. A node that was halted by one
//! that is down. A node that has recovered, for itself.
//!
//! # A majority
//! Where the detector may err, a view needs more than half of all nodes: then any two views have a
//! node in common, which has promised. A node that suspects half of the nodes halts by itself.

mod state;

pub use state::{Message, Standing, State, View};

use std::collections::{BTreeMap, BTreeSet};

use crate::message::{Epoch, NodeId, NodeSet, Notice, Outbox, Refused};
use state::{check_nodes, lost};

/// What comes of a step, for the lock above.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum News {
    /// Nothing.
    None,
    /// The view is over: nothing of it counts any more.
    Halted,
    /// A new view begins.
    Installed,
}

/// | stage | by | then |
/// |---|---|---|
/// | any | a call | `Calling`, in an epoch of its own |
/// | any | `HALT` of a greater epoch | `Halted` |
/// | `Calling` | the last answer | `Settled` |
/// | `Halted` | `INSTALL` of the promised epoch | `Settled` |
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Stage {
    Settled,
    Halted,
    Calling {
        answers: BTreeMap<NodeId, State>,
        /// Whose `LEFT` has come. It may overtake the `STATE`.
        left: BTreeSet<NodeId>,
    },
}

/// A node's part in the views. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Views {
    me: NodeId,
    nodes: u32,
    /// Whether a majority is needed.
    gated: bool,
    /// Everything older is refused. Survives a restart.
    promised: Epoch,
    /// The view that it is in, or was in when it halted. None since a restart.
    view: Option<View>,
    perhaps_inside: NodeSet,
    suspected: NodeSet,
    stage: Stage,
}

type Out<'a> = &'a mut dyn Sends;

/// Where messages about views go.
pub(super) trait Sends {
    fn send_to(&mut self, to: NodeId, message: Message);
}

/// An outbox of messages of which those about views are a part.
pub(super) struct Within<'a, M, F>(pub(super) &'a mut Outbox<M>, pub(super) F);

impl<M, F: Fn(Message) -> M> Sends for Within<'_, M, F> {
    fn send_to(&mut self, to: NodeId, message: Message) {
        self.0.send(to, (self.1)(message));
    }
}

impl Views {
    /// A node of a cluster that begins with a view of all nodes.
    pub(super) fn new(me: NodeId, nodes: usize, gated: bool) -> Self {
        let all = NodeSet::of(nodes, NodeId::all(nodes));
        Self {
            me,
            nodes: NodeId::at(nodes).0,
            gated,
            promised: Epoch::default(),
            view: Some(View { epoch: Epoch::default(), members: all }),
            perhaps_inside: NodeSet::empty(nodes),
            suspected: NodeSet::empty(nodes),
            stage: Stage::Settled,
        }
    }

    pub(super) fn me(&self) -> NodeId {
        self.me
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes as usize
    }

    pub(super) fn promised(&self) -> Epoch {
        self.promised
    }

    pub(super) fn restore(&mut self, promised: Epoch) {
        self.promised = self.promised.max(promised);
    }

    /// The view that it is in, unless it has halted.
    pub(super) fn current(&self) -> Option<&View> {
        self.view.as_ref().filter(|_| self.stage == Stage::Settled)
    }

    /// Whether it waits for the view of the promised epoch.
    pub(super) fn is_halted(&self) -> bool {
        self.stage == Stage::Halted
    }

    pub(super) fn suspects(&self, node: NodeId) -> bool {
        self.suspected.contains(node)
    }

    pub(super) fn perhaps_inside(&self) -> &NodeSet {
        &self.perhaps_inside
    }

    fn state(&self, standing: Standing) -> State {
        let Standing { inside, fence } = standing;
        let (view, perhaps_inside) = (self.view.clone(), self.perhaps_inside.clone());
        State { view, inside, fence, perhaps_inside }
    }

    /// Calls a new view.
    pub(super) fn call(&mut self, standing: Standing, out: Out<'_>) -> News {
        self.promised = Epoch::called_by(self.promised.number + 1, self.me);
        let answers = BTreeMap::from([(self.me, self.state(standing))]);
        self.stage = Stage::Calling { answers, left: BTreeSet::new() };
        for node in self.me.others(self.nodes()) {
            out.send_to(node, Message::Halt(self.promised));
        }
        match self.try_to_install(out) {
            News::None => News::Halted,
            news => news,
        }
    }

    /// Installs the view, if everybody has answered and nobody is inside.
    fn try_to_install(&mut self, out: Out<'_>) -> News {
        let Stage::Calling { answers, .. } = &self.stage else { return News::None };
        let mut others = self.me.others(self.nodes());
        let all = others.all(|it| self.suspected.contains(it) || answers.contains_key(&it));
        let enough = !self.gated || 2 * answers.len() > self.nodes();
        if !all || !enough || answers.values().any(|state| state.inside) {
            return News::None;
        }
        let members = NodeSet::of(self.nodes(), answers.keys().copied());
        let perhaps_inside = lost(answers, self.nodes());
        let view = View { epoch: self.promised, members };
        for node in view.members.iter().filter(|&node| node != self.me) {
            let (view, perhaps_inside) = (view.clone(), perhaps_inside.clone());
            out.send_to(node, Message::Install { view, perhaps_inside });
        }
        self.settle(view, perhaps_inside)
    }

    fn settle(&mut self, view: View, perhaps_inside: NodeSet) -> News {
        self.view = Some(view);
        self.perhaps_inside = perhaps_inside;
        self.stage = Stage::Settled;
        News::Installed
    }

    /// Calls if something must be done that nobody else will do.
    pub(super) fn mind(&mut self, standing: Standing, out: Out<'_>) -> News {
        let suspects = |node: &NodeId| self.suspected.contains(*node);
        let must = match &self.stage {
            Stage::Calling { .. } => false,
            Stage::Halted => self.promised.called_by.as_ref().is_some_and(suspects),
            Stage::Settled => {
                let lacks_majority = self.gated && 2 * self.suspected.len() >= self.nodes();
                let lacks_member = self.view.as_ref().is_some_and(|view| {
                    let lowest = view.members.iter().find(|node| !suspects(node));
                    lowest == Some(self.me) && view.members.iter().any(|node| suspects(&node))
                });
                lacks_majority || lacks_member
            }
        };
        if must { self.call(standing, out) } else { News::None }
    }

    /// The user has left who was inside when the node halted.
    pub(super) fn left(&mut self, out: Out<'_>) -> News {
        match (&mut self.stage, self.promised.called_by) {
            (Stage::Calling { answers, .. }, _) => {
                answers.get_mut(&self.me).into_iter().for_each(|state| state.inside = false);
                self.try_to_install(out)
            }
            (Stage::Halted, Some(caller)) => {
                out.send_to(caller, Message::Left(self.promised));
                News::None
            }
            _ => News::None,
        }
    }

    pub(super) fn notice(
        &mut self,
        notice: Notice,
        standing: Standing,
        out: Out<'_>,
    ) -> Result<News, Refused> {
        notice.check(self.me, self.nodes())?;
        Ok(match notice {
            Notice::Down(node) => {
                self.suspected.insert(node);
                if let Stage::Calling { answers, left } = &mut self.stage {
                    answers.remove(&node);
                    left.remove(&node);
                }
                self.try_to_install(out)
            }
            Notice::Up(node) => {
                self.suspected.remove(node);
                self.is_up(node, standing, out)
            }
            Notice::Recovered => {
                self.suspected.clear();
                self.view = None;
                self.perhaps_inside.clear();
                self.call(standing, out)
            }
        })
    }

    fn is_up(&mut self, node: NodeId, standing: Standing, out: Out<'_>) -> News {
        match &self.stage {
            Stage::Calling { answers, .. } => {
                if !answers.contains_key(&node) {
                    out.send_to(node, Message::Halt(self.promised));
                }
                News::None
            }
            Stage::Halted => News::None,
            Stage::Settled => {
                let must = self.view.as_ref().is_some_and(|view| {
                    let mut trusted =
                        view.members.iter().filter(|&it| !self.suspected.contains(it));
                    let calls = view.epoch.called_by == Some(self.me);
                    !view.members.contains(node) && (calls || trusted.next() == Some(self.me))
                });
                if must { self.call(standing, out) } else { News::None }
            }
        }
    }

    pub(super) fn receive(
        &mut self,
        from: NodeId,
        message: Message,
        standing: Standing,
        out: Out<'_>,
    ) -> Result<News, Refused> {
        match message {
            Message::Halt(epoch) => {
                if epoch.check_called(self.nodes())? != from {
                    return Err(Refused("a node halts others in its own epoch only"));
                }
                Ok(self.halt(from, epoch, standing, out))
            }
            Message::Promised(epoch) => {
                epoch.check_called(self.nodes())?;
                if matches!(self.stage, Stage::Calling { .. }) && epoch > self.promised {
                    self.promised = epoch;
                    return Ok(self.call(standing, out));
                }
                Ok(News::None)
            }
            Message::State(epoch, state) => {
                self.check_called_here(epoch)?;
                state.check(epoch, self.nodes())?;
                if epoch < self.promised || self.suspected.contains(from) {
                    return Ok(News::None);
                }
                if let Stage::Calling { answers, left } = &mut self.stage {
                    let inside = state.inside && !left.contains(&from);
                    answers.insert(from, State { inside, ..state });
                }
                Ok(self.try_to_install(out))
            }
            Message::Left(epoch) => {
                self.check_called_here(epoch)?;
                if epoch < self.promised || self.suspected.contains(from) {
                    return Ok(News::None);
                }
                if let Stage::Calling { answers, left } = &mut self.stage {
                    left.insert(from);
                    answers.get_mut(&from).into_iter().for_each(|state| state.inside = false);
                }
                Ok(self.try_to_install(out))
            }
            Message::Install { view, perhaps_inside } => {
                self.check_install(from, &view, &perhaps_inside, standing)?;
                if view.epoch < self.promised || self.stage != Stage::Halted {
                    return Ok(News::None);
                }
                Ok(self.settle(view, perhaps_inside))
            }
        }
    }

    fn halt(&mut self, from: NodeId, epoch: Epoch, standing: Standing, out: Out<'_>) -> News {
        if epoch < self.promised {
            // Otherwise a greater call is under way, which halts the sender in its turn. If the
            // sender answered a refusal of that with a still greater call, two could go on so for
            // ever.
            if self.stage == Stage::Settled {
                out.send_to(from, Message::Promised(self.promised));
            }
            return News::None;
        }
        let is_new = epoch > self.promised;
        if is_new {
            self.promised = epoch;
            self.stage = Stage::Halted;
        }
        if self.stage == Stage::Halted {
            out.send_to(from, Message::State(epoch, self.state(standing)));
        }
        if is_new { News::Halted } else { News::None }
    }

    /// Refuses an answer to a call that this node has not made.
    fn check_called_here(&self, epoch: Epoch) -> Result<(), Refused> {
        if epoch.called_by != Some(self.me) || epoch > self.promised {
            return Err(Refused("it has called no such view"));
        }
        Ok(())
    }

    fn check_install(
        &self,
        from: NodeId,
        view: &View,
        perhaps_inside: &NodeSet,
        standing: Standing,
    ) -> Result<(), Refused> {
        let View { epoch, members } = view;
        if epoch.check_called(self.nodes())? != from || *epoch > self.promised {
            return Err(Refused("it has promised nothing to such a view"));
        }
        check_nodes(members, self.nodes())?;
        check_nodes(perhaps_inside, self.nodes())?;
        if !members.contains(self.me) || !members.contains(from) {
            return Err(Refused("a view has its caller and its receiver for members"));
        }
        if standing.inside && self.stage == Stage::Halted && *epoch == self.promised {
            return Err(Refused("a view is installed when nobody is inside"));
        }
        Ok(())
    }
}
