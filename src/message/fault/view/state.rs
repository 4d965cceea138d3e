//! What nodes say about views, and what a caller makes of their states.

use std::collections::BTreeMap;

use crate::message::fault::fence::Fence;
use crate::message::{Epoch, NodeId, NodeSet, Refused};

/// The nodes that make up the cluster since an epoch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct View {
    /// Since when.
    pub epoch: Epoch,
    /// Who.
    pub members: NodeSet,
}

/// What a node says of itself when it is halted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// The view that it was in. None since a restart.
    pub view: Option<View>,
    /// Whether its user is inside.
    pub inside: bool,
    /// The greatest fence that it knows.
    pub fence: Option<Fence>,
    /// Of whom the next user that enters is to be told.
    pub perhaps_inside: NodeSet,
}

/// What the nodes say to each other about views.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// Halt, and refuse everything older.
    Halt(Epoch),
    /// I have promised to refuse everything older than this.
    Promised(Epoch),
    /// I have halted.
    State(Epoch, State),
    /// My user, who was inside, has left.
    Left(Epoch),
    /// Go on, in this view. The nodes that may have died inside are told to the next user.
    Install {
        /// The view.
        view: View,
        /// Who may have died inside.
        perhaps_inside: NodeSet,
    },
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Halt(_) => "HALT",
            Self::Promised(_) => "PROMISED",
            Self::State(..) => "STATE",
            Self::Left(_) => "LEFT",
            Self::Install { .. } => "INSTALL",
        }
    }
}

/// Where the lock of a node stands, for its [`State`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Standing {
    /// Whether the user is inside.
    pub inside: bool,
    /// The greatest fence that the node knows.
    pub fence: Option<Fence>,
}

impl State {
    /// Refuses what no node of a cluster of `nodes` says in answer to a call of this epoch.
    pub(super) fn check(&self, epoch: Epoch, nodes: usize) -> Result<(), Refused> {
        check_nodes(&self.perhaps_inside, nodes)?;
        if let Some(view) = &self.view {
            check_nodes(&view.members, nodes)?;
            if view.epoch >= epoch {
                return Err(Refused("a view is older than the call that ends it"));
            }
        }
        Ok(())
    }
}

/// Refuses a set with a node that does not exist.
pub(super) fn check_nodes(set: &NodeSet, nodes: usize) -> Result<(), Refused> {
    set.iter().try_for_each(|node| node.check_member(nodes))
}

/// The members of the last view that have not answered out of it, and those of whom nobody has been
/// told yet.
pub(super) fn lost(answers: &BTreeMap<NodeId, State>, nodes: usize) -> NodeSet {
    let views = || answers.values().filter_map(|state| state.view.as_ref());
    let Some(last) = views().max_by_key(|view| view.epoch) else {
        return NodeSet::of(nodes, NodeId::all(nodes));
    };
    let was_in = |node: NodeId| {
        let state = answers.get(&node)?;
        state.view.as_ref().filter(|view| view.epoch == last.epoch).map(|_| state)
    };
    let gone = last.members.iter().filter(|&node| was_in(node).is_none());
    let mut lost = NodeSet::of(nodes, gone);
    let stayed = || last.members.iter().filter_map(was_in);
    let entered = stayed().any(|state| state.fence.is_some_and(|it| it.epoch == last.epoch));
    if !entered {
        for node in stayed().flat_map(|state| state.perhaps_inside.iter()) {
            lost.insert(node);
        }
    }
    lost
}
