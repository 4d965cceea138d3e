//! Wrong algorithms in which a token is the permission.

use std::collections::VecDeque;

use exclusion::check::Check;
use exclusion::protocol::naimi_trehel::Message as TreeMessage;
use exclusion::protocol::raymond::Message as LiftMessage;
use exclusion::protocol::{
    Message, NaimiTrehel, NodeId, Outbox, Phase, Protocol, Raymond, Refused, RicartAgrawalaToken,
    SuzukiKasami, Timer, TokenBased,
};

/// Naimi's and Trehel's algorithm, where only who wants in remembers a successor: a request that finds the token
/// resting is lost.
pub fn naimi_trehel_forwarding() -> Check<Forwarding> {
    let cluster = NaimiTrehel::cluster(2).expect("two are enough");
    let node = |inner| Forwarding { inner, wants: false };
    Check::new(cluster.into_iter().map(node).collect())
}

/// Suzuki's and Kasami's algorithm with a stack for a queue: the last comes first.
pub fn suzuki_kasami_stack() -> Check<Unhurried<Numbered>> {
    patience(Numbered::cluster(3, Flaw::Stack))
}

/// Suzuki's and Kasami's algorithm, with the bound that [`suzuki_kasami_stack`] exceeds.
pub fn suzuki_kasami_stack_fair() -> Check<Unhurried<SuzukiKasami>> {
    patience(SuzukiKasami::cluster(3).expect("three are enough"))
}

/// Ricart's and Agrawala's token, where who leaves looks for the next from the lowest number: the highest starves.
pub fn ricart_agrawala_token_lowest() -> Check<Unhurried<Numbered>> {
    patience(Numbered::cluster(3, Flaw::Lowest))
}

/// Ricart's and Agrawala's token, with the bound that [`ricart_agrawala_token_lowest`] exceeds.
pub fn ricart_agrawala_token_lowest_fair() -> Check<Unhurried<RicartAgrawalaToken>> {
    patience(RicartAgrawalaToken::cluster(3).expect("three are enough"))
}

/// Raymond's tree, where a node that has the token serves itself first: in the middle it passes those who asked before,
/// and again when the token comes back.
pub fn raymond_greedy() -> Check<Unhurried<Greedy>> {
    patience(Greedy::star(3))
}

/// Raymond's tree, with the bound that [`raymond_greedy`] exceeds.
pub fn raymond_greedy_fair() -> Check<Unhurried<Raymond>> {
    patience(Raymond::cluster(3).expect("three are enough"))
}

/// Of three, node 0 wants in twice, and nobody may be passed by more than there are others.
fn patience<P: Protocol>(cluster: Vec<P>) -> Check<Unhurried<P>> {
    let cluster = cluster.into_iter().map(Unhurried).collect();
    Check::new(cluster).requests_of(NodeId(0), 2).bypass(2)
}

/// A protocol whose users wait for a period before they enter, so that what was sent to them before arrives.
///
/// Without that none of these three keeps a bound: a request that is on its way for long is passed by all.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Unhurried<P>(P);

impl<P: Protocol> Unhurried<P> {
    fn pause(out: &mut Outbox<P::Message>) {
        if out.take_entry() {
            out.set_timer(Timer(0), 1);
        }
    }
}

impl<P: Protocol> Protocol for Unhurried<P> {
    type Message = P::Message;

    fn request(&mut self, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.0.request(out)?;
        Self::pause(out);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        self.0.release(out)
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: P::Message,
        out: &mut Outbox<P::Message>,
    ) -> Result<(), Refused> {
        self.0.receive(from, message, out)?;
        Self::pause(out);
        Ok(())
    }

    fn timeout(&mut self, _timer: Timer, out: &mut Outbox<P::Message>) -> Result<(), Refused> {
        out.enter();
        Ok(())
    }
}

/// Naimi's and Trehel's algorithm, where a resting token stays.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Forwarding {
    inner: NaimiTrehel,
    wants: bool,
}

impl Protocol for Forwarding {
    type Message = TreeMessage;

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
        if self.inner.has_token() && !self.wants {
            // The flaw: there is nobody to pass it on to.
            return Ok(());
        }
        self.inner.receive(from, message, out)
    }
}

/// What is wrong with [`Numbered`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw {
    Stack,
    Lowest,
}

/// What the nodes of [`Numbered`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum NumberedMessage {
    /// I want in, for the time with this number.
    Request(u64),
    /// The token: the number of each node's last entry, and who waits.
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

/// Suzuki's and Kasami's algorithm, or Ricart's and Agrawala's token, with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Numbered {
    flaw: Flaw,
    me: NodeId,
    phase: Phase,
    heard: Vec<u64>,
    token: Option<(Vec<u64>, Vec<NodeId>)>,
}

impl Numbered {
    fn cluster(nodes: usize, flaw: Flaw) -> Vec<Self> {
        let node = |me: NodeId| Self {
            flaw,
            me,
            phase: Phase::Idle,
            heard: vec![0; nodes],
            token: (me.index() == 0).then(|| (vec![0; nodes], Vec::new())),
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<NumberedMessage>) {
        let Some((served, mut stack)) = self.token.take() else { return };
        let nodes = self.heard.len();
        let wants = |node: &NodeId| self.heard[node.index()] > served[node.index()];
        let next = match self.flaw {
            Flaw::Lowest => NodeId::all(nodes).find(wants),
            Flaw::Stack => {
                for node in self.me.after(nodes).filter(wants) {
                    if !stack.contains(&node) {
                        stack.push(node);
                    }
                }
                stack.pop()
            }
        };
        match next {
            Some(next) => out.send(next, NumberedMessage::Token(served, stack)),
            None => self.token = Some((served, stack)),
        }
    }
}

impl Protocol for Numbered {
    type Message = NumberedMessage;

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
                    self.hand_over(out);
                }
            }
            NumberedMessage::Token(served, stack) => {
                self.token = Some((served, stack));
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

/// Raymond's tree, where a node that has the token serves itself first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Greedy {
    phase: Phase,
    towards: Option<NodeId>,
    /// The neighbours that have asked.
    queue: VecDeque<NodeId>,
    asked: bool,
}

impl Greedy {
    /// A star. The token is at node 0, in the middle.
    fn star(nodes: usize) -> Vec<Self> {
        let node = |me: NodeId| Self {
            phase: Phase::Idle,
            towards: (me.index() > 0).then_some(NodeId(0)),
            queue: VecDeque::new(),
            asked: false,
        };
        NodeId::all(nodes).map(node).collect()
    }

    fn serve(&mut self, out: &mut Outbox<LiftMessage>) {
        if self.towards.is_none() {
            if self.phase.is_waiting() {
                // The flaw: others may have asked before.
                self.phase.enter(out);
            } else if self.phase.is_idle()
                && let Some(first) = self.queue.pop_front()
            {
                self.towards = Some(first);
                out.send(first, LiftMessage::Token);
            }
        }
        let wanted = self.phase.is_waiting() || !self.queue.is_empty();
        if let Some(towards) = self.towards.filter(|_| wanted && !self.asked) {
            self.asked = true;
            out.send(towards, LiftMessage::Request);
        }
    }
}

impl Protocol for Greedy {
    type Message = LiftMessage;

    fn request(&mut self, out: &mut Outbox<LiftMessage>) -> Result<(), Refused> {
        self.phase.request()?;
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
