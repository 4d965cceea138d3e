//! Singhal's heuristic algorithm as published.

use exclusion::message::check::Check;
use exclusion::message::{
    Machine, Message, NodeId, Outbox, Phase, Protocol, Refused, Shared, SinghalHeuristic,
};

/// Singhal's heuristic as published: the token makes a node forget that another wants in, while its
/// request is still in flight.
pub fn singhal_heuristic_as_published() -> Check<Published> {
    Check::new(Published::cluster(3)).requests_of(NodeId(2), 2)
}

/// The same, remedied.
pub fn singhal_heuristic_remedied() -> Check<SinghalHeuristic> {
    let cluster = SinghalHeuristic::cluster(3).expect("three are enough");
    Check::new(cluster).keeps_its_invariant().requests_of(NodeId(2), 2)
}

/// What a node of [`Published`] believes of another: whether it wants in, and the number of the
/// request that this rests on.
type Belief = (bool, u64);

/// What the nodes of [`Published`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PublishedMessage {
    /// A request with this number.
    Request(u64),
    /// The token, with what is known where it has been.
    Token(Vec<Belief>),
}

impl Message for PublishedMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// Singhal's heuristic as published.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Published {
    me: NodeId,
    phase: Phase,
    beliefs: Vec<Belief>,
    token: Option<Vec<Belief>>,
}

impl Published {
    fn cluster(nodes: usize) -> Vec<Self> {
        let node = |me: NodeId| Self {
            me,
            phase: Phase::Idle,
            beliefs: NodeId::all(nodes).map(|node| (node < me, 0)).collect(),
            token: (me.index() == 0).then(|| vec![(false, 0); nodes]),
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<PublishedMessage>) {
        let Some(mut token) = self.token.take() else { return };
        for (mine, its) in self.beliefs.iter_mut().zip(&mut token) {
            if mine.1 > its.1 {
                *its = *mine;
            } else {
                // The flaw: the request may still be in flight, and will then count for nothing.
                *mine = *its;
            }
        }
        let wants = |node: &NodeId| self.beliefs[node.index()].0;
        match self.me.after(self.beliefs.len()).find(wants) {
            Some(next) => out.send(next, PublishedMessage::Token(token)),
            None => self.token = Some(token),
        }
    }
}

impl Machine for Published {
    type Message = PublishedMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.beliefs.len()
    }

    fn request(&mut self, out: &mut Outbox<PublishedMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        let number = self.beliefs[self.me.index()].1 + 1;
        self.beliefs[self.me.index()] = (true, number);
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            let likely = self.me.others(self.beliefs.len());
            let likely = likely.filter(|node| self.beliefs[node.index()].0);
            out.broadcast(likely, PublishedMessage::Request(number));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<PublishedMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        self.beliefs[self.me.index()].0 = false;
        if let Some(token) = &mut self.token {
            token[self.me.index()] = self.beliefs[self.me.index()];
        }
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: PublishedMessage,
        out: &mut Outbox<PublishedMessage>,
    ) -> Result<(), Refused> {
        match message {
            PublishedMessage::Request(number) => {
                let (wanted, last) = self.beliefs[from.index()];
                if number <= last {
                    return Ok(());
                }
                self.beliefs[from.index()] = (true, number);
                if self.phase.is_waiting() && !wanted {
                    out.send(from, PublishedMessage::Request(self.beliefs[self.me.index()].1));
                } else if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            PublishedMessage::Token(token) => {
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for Published {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}
