//! Waves over a ring that count wrongly.

use exclusion::message::{
    Agreement, Election, Epoch, Graph, Leadership, Machine, Message, NodeId, NodeSet, Outbox,
    Refused,
};

/// What a node of [`Waves`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// The neighbours that have answered.
    Neighbours,
    /// Wrong: the messages.
    Messages,
    /// Wrong: the neighbours, also those that have answered to a smaller wave.
    Kept,
}

/// A message of [`Waves`]: the initiator of the wave, and whether it is an echo.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ripple {
    wave: NodeId,
    is_echo: bool,
}

impl Message for Ripple {
    fn kind(&self) -> &'static str {
        if self.is_echo { "ECHO" } else { "EXPLORE" }
    }
}

/// The echo algorithm with extinction, without a word to the others at the end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Waves {
    me: NodeId,
    neighbours: Vec<NodeId>,
    nodes: usize,
    count: Count,
    wave: Option<NodeId>,
    parent: Option<NodeId>,
    heard: Vec<NodeId>,
    echoed: bool,
}

impl Waves {
    pub(super) fn ring(nodes: usize, count: Count) -> Vec<Self> {
        let graph = Graph::ring(nodes).expect("two are enough");
        let node = |me| Self {
            me,
            neighbours: graph.neighbours(me).to_vec(),
            nodes,
            count,
            wave: None,
            parent: None,
            heard: Vec::new(),
            echoed: false,
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn explore(&self, out: &mut Outbox<Ripple>) {
        let ripple = Ripple { wave: self.wave.expect("it has one"), is_echo: false };
        let others = self.neighbours.iter().copied();
        out.broadcast(others.filter(|&node| Some(node) != self.parent), ripple);
    }
}

impl Machine for Waves {
    type Message = Ripple;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn elect(&mut self, out: &mut Outbox<Ripple>) -> Result<(), Refused> {
        if self.wave.is_none_or(|wave| wave <= self.me) {
            if self.wave != Some(self.me) {
                (self.wave, self.parent, self.echoed) = (Some(self.me), None, false);
                self.heard.clear();
            }
            // An impatient initiator explores again.
            self.explore(out);
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        ripple: Ripple,
        out: &mut Outbox<Ripple>,
    ) -> Result<(), Refused> {
        if self.wave.is_some_and(|wave| wave > ripple.wave) {
            return Ok(());
        }
        if self.wave != Some(ripple.wave) {
            (self.wave, self.parent, self.echoed) = (Some(ripple.wave), Some(from), false);
            if self.count != Count::Kept {
                self.heard.clear();
            }
            self.explore(out);
        }
        if self.count == Count::Messages || !self.heard.contains(&from) {
            self.heard.push(from);
        }
        if self.heard.len() >= self.neighbours.len() && !self.echoed {
            self.echoed = true;
            match self.parent {
                Some(parent) => out.send(parent, Ripple { wave: ripple.wave, is_echo: true }),
                None => out.settle(self.leadership().expect("it has heard from all")),
            }
        }
        Ok(())
    }
}

impl Election for Waves {
    const AGREEMENT: Agreement = Agreement::Inherent;

    fn leadership(&self) -> Option<Leadership> {
        let decides = self.wave == Some(self.me) && self.echoed;
        decides.then(|| Leadership { epoch: Epoch::called_by(1, self.me), leader: self.me })
    }

    fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    fn is_done(cluster: &[&Self], live: &NodeSet) -> bool {
        live.iter().any(|node| cluster[node.index()].leadership().is_some())
    }

    /// When a wave decides, each way leads to its initiator.
    fn invariant(cluster: &[&Self]) -> Option<Result<(), &'static str>> {
        let leads_to = |root: NodeId, start: NodeId| {
            let parent = |node: &NodeId| cluster[node.index()].parent;
            let mut way = std::iter::successors(Some(start), parent).take(cluster.len());
            way.any(|node| node == root)
        };
        let spans = |root| {
            // A greater wave changes the parents again.
            let greater = cluster.iter().any(|node| node.wave > Some(root));
            greater || NodeId::all(cluster.len()).all(|start| leads_to(root, start))
        };
        let mut roots = cluster.iter().filter_map(|node| node.leadership());
        let holds = roots.all(|it| spans(it.leader));
        Some(if holds { Ok(()) } else { Err("a way does not lead to the initiator") })
    }
}
