//! Broken token-based algorithms.

use std::collections::VecDeque;

use exclusion::message::check::{Check, Users};
use exclusion::message::naimi_trehel::Message as TreeMessage;
use exclusion::message::raymond::Message as LiftMessage;
use exclusion::message::{
    Claims, Machine, Message, NaimiTrehel, NodeId, Outbox, Phase, Protocol, Refused, Shared,
    TokenClaim,
};

/// Naimi's and Trehel's algorithm, where only a node that wants in remembers a successor: a request
/// that finds the token resting is lost.
pub fn naimi_trehel_forwarding(flawed: bool) -> Check<Forwarding> {
    let cluster = NaimiTrehel::cluster(2).expect("two are enough");
    let node = |inner| Forwarding { flawed, inner, wants: false };
    Check::new(cluster.into_iter().map(node).collect())
}

/// Suzuki's and Kasami's algorithm with a stack for a queue: the last comes first.
pub fn suzuki_kasami_stack(flawed: bool) -> Check<Numbered> {
    patience(Numbered::cluster(3, if flawed { Next::Stack } else { Next::Queue }), 2)
}

/// Suzuki's and Kasami's algorithm, where a request that finds the token resting is served whatever
/// its number: the token comes to a node that has been served.
pub fn suzuki_kasami_stale(flawed: bool) -> Check<Numbered> {
    Check::new(Numbered::cluster(3, if flawed { Next::Asking } else { Next::Queue }))
}

/// Suzuki's and Kasami's algorithm, where a node that sends the token on keeps it too: then there
/// are two.
pub fn suzuki_kasami_kept(flawed: bool) -> Check<Numbered> {
    let cluster = Numbered::cluster(2, if flawed { Next::Keeping } else { Next::Queue });
    Check::new(cluster).one_token(TokenClaim {
        has: |node| node.token.is_some(),
        is: |message| matches!(message, NumberedMessage::Token(..)),
    })
}

/// Ricart's and Agrawala's token, where a node that leaves looks for the next from the lowest
/// number: the highest starves.
pub fn ricart_agrawala_token_lowest(flawed: bool) -> Check<Numbered> {
    patience(Numbered::cluster(3, if flawed { Next::Lowest } else { Next::Round }), 2)
}

/// Raymond's tree, where a node that has the token serves itself first: in the middle of a star it
/// passes those that asked before. It does so once each time that the token comes by. So no node
/// starves, but the bound on bypass is exceeded by one.
pub fn raymond_greedy(flawed: bool) -> Check<Lift> {
    patience(Lift::star(3, flawed), 1)
}

/// Three nodes, each of which wants in three times, with a bound on bypass. Users act only when no
/// message is in flight.
fn patience<P: Protocol>(cluster: Vec<P>, most: u8) -> Check<P> {
    Check::new(cluster).requests(3).users(Users::Unhurried).bypass(most)
}

/// Naimi's and Trehel's algorithm, in which perhaps a resting token stays.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Forwarding {
    flawed: bool,
    inner: NaimiTrehel,
    wants: bool,
}

/// Whether a node of the algorithm itself has the token.
fn has_token(node: &NaimiTrehel) -> bool {
    NaimiTrehel::token().is_some_and(|token| (token.has)(node))
}

impl Machine for Forwarding {
    type Message = TreeMessage;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn request(&mut self, out: &mut Outbox<TreeMessage>) -> Result<(), Refused> {
        self.wants = true;
        self.inner.request(out)
    }

    fn release(&mut self, out: &mut Outbox<TreeMessage>) -> Result<(), Refused> {
        self.wants = false;
        self.inner.release(out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: TreeMessage,
        out: &mut Outbox<TreeMessage>,
    ) -> Result<(), Refused> {
        if self.flawed && has_token(&self.inner) && !self.wants {
            // The flaw: there is nobody to pass it on to.
            return Ok(());
        }
        self.inner.receive(from, message, out)
    }
}

impl Protocol for Forwarding {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }
}

/// Which node has the token next, in [`Numbered`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Next {
    /// First come, first served: Suzuki's and Kasami's rule.
    Queue,
    /// The node that comes after us in number: Ricart's and Agrawala's.
    Round,
    /// Wrong: last come, first served.
    Stack,
    /// Wrong: the lowest number.
    Lowest,
    /// Wrong: a node that asks while the token rests, whatever its number; else first come, first
    /// served.
    Asking,
    /// Wrong: first come, first served, but the token stays as well.
    Keeping,
}

/// What the nodes of [`Numbered`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumberedMessage {
    /// A request with this number.
    Request(u64),
    /// The token: the number of each node's last entry, and the nodes that wait.
    Token(Vec<u64>, Vec<NodeId>),
}

impl Message for NumberedMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Token(..) => "TOKEN",
        }
    }
}

/// Suzuki's and Kasami's algorithm, or Ricart's and Agrawala's token, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Numbered {
    next: Next,
    me: NodeId,
    phase: Phase,
    heard: Vec<u64>,
    token: Option<(Vec<u64>, Vec<NodeId>)>,
}

impl Numbered {
    fn cluster(nodes: usize, next: Next) -> Vec<Self> {
        let node = |me: NodeId| Self {
            next,
            me,
            phase: Phase::Idle,
            heard: vec![0; nodes],
            token: (me.index() == 0).then(|| (vec![0; nodes], Vec::new())),
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<NumberedMessage>) {
        let Some((served, mut line)) = self.token.take() else { return };
        let nodes = self.heard.len();
        let wants = |node: &NodeId| self.heard[node.index()] > served[node.index()];
        for node in self.me.after(nodes).filter(wants) {
            if !line.contains(&node) {
                line.push(node);
            }
        }
        let next = match self.next {
            Next::Round => self.me.after(nodes).find(wants),
            Next::Lowest => NodeId::all(nodes).find(wants),
            Next::Stack => line.pop(),
            Next::Queue | Next::Asking | Next::Keeping => {
                (!line.is_empty()).then(|| line.remove(0))
            }
        };
        match next {
            Some(next) => {
                if self.next == Next::Keeping {
                    self.token = Some((served.clone(), line.clone()));
                }
                out.send(next, NumberedMessage::Token(served, line));
            }
            None => self.token = Some((served, line)),
        }
    }
}

impl Machine for Numbered {
    type Message = NumberedMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.heard.len()
    }

    fn request(&mut self, out: &mut Outbox<NumberedMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.heard[self.me.index()] += 1;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            let request = NumberedMessage::Request(self.heard[self.me.index()]);
            out.broadcast(self.me.others(self.heard.len()), request);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<NumberedMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some((served, _)) = &mut self.token {
            served[self.me.index()] = self.heard[self.me.index()];
        }
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: NumberedMessage,
        out: &mut Outbox<NumberedMessage>,
    ) -> Result<(), Refused> {
        match message {
            NumberedMessage::Request(number) => {
                let heard = &mut self.heard[from.index()];
                *heard = number.max(*heard);
                if self.phase.is_idle() {
                    if self.next == Next::Asking
                        && let Some((served, line)) = self.token.take()
                    {
                        out.send(from, NumberedMessage::Token(served, line));
                    }
                    self.hand_over(out);
                }
            }
            NumberedMessage::Token(served, line) => {
                if !self.phase.is_waiting() {
                    return Err(Refused("it does not wait for the token"));
                }
                self.token = Some((served, line));
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for Numbered {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// Raymond's tree, in which a node that has the token perhaps serves itself first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lift {
    greedy: bool,
    me: NodeId,
    nodes: usize,
    phase: Phase,
    towards: Option<NodeId>,
    /// The neighbours that have asked; and the node itself.
    queue: VecDeque<NodeId>,
    asked: bool,
}

impl Lift {
    /// A star. The token is at node 0, in the middle.
    fn star(nodes: usize, greedy: bool) -> Vec<Self> {
        let node = |me: NodeId| Self {
            greedy,
            me,
            nodes,
            phase: Phase::Idle,
            towards: (me.index() > 0).then_some(NodeId(0)),
            queue: VecDeque::new(),
            asked: false,
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn serve(&mut self, out: &mut Outbox<LiftMessage>) {
        if self.towards.is_none() && !self.phase.is_inside() {
            // The flaw: others may have asked before.
            let jumps = self.greedy && self.phase.is_waiting();
            let first = if jumps {
                self.queue.retain(|&node| node != self.me);
                Some(self.me)
            } else {
                self.queue.pop_front()
            };
            match first {
                Some(me) if me == self.me => self.phase.enter(out),
                Some(neighbour) => {
                    self.towards = Some(neighbour);
                    out.send(neighbour, LiftMessage::Token);
                }
                None => {}
            }
        }
        if let Some(towards) = self.towards.filter(|_| !self.queue.is_empty() && !self.asked) {
            self.asked = true;
            out.send(towards, LiftMessage::Request);
        }
    }
}

impl Machine for Lift {
    type Message = LiftMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<LiftMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.queue.push_back(self.me);
        self.serve(out);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<LiftMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        self.serve(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: LiftMessage,
        out: &mut Outbox<LiftMessage>,
    ) -> Result<(), Refused> {
        match message {
            LiftMessage::Request => self.queue.push_back(from),
            LiftMessage::Token => {
                self.towards = None;
                self.asked = false;
            }
        }
        self.serve(out);
        Ok(())
    }
}

impl Protocol for Lift {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}
