//! A wrong reading of section 4.6 of Banta's thesis.

use std::collections::VecDeque;

use exclusion::message::check::Check;
use exclusion::message::{Machine, Message, NodeId, Outbox, Phase, Protocol, Refused, Shared};

/// Section 4.6, where only the history says whether a copy of a request is still needed: one that
/// is on the token's queue already is put there again, and the token visits a site that wants
/// nothing.
pub fn banta_fair_twice(flawed: bool) -> Check<Fair> {
    Check::new(Fair::cluster(3, flawed)).requests(2)
}

/// What the sites of [`Fair`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FairMessage {
    /// This site wants in, for the time with this number.
    Request(NodeId, u64),
    /// This is a good site to ask, since this epoch.
    Update(u64, NodeId),
    /// The token.
    Token(FairToken),
}

impl Message for FairMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(..) => "REQUEST",
            Self::Update(..) => "UPDATE",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// What the token of [`Fair`] carries: the sites that it visits, the number of each site's last
/// entry, and the epoch of the last.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FairToken {
    queue: VecDeque<NodeId>,
    served: Vec<u64>,
    epoch: u64,
}

/// Section 4.6, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fair {
    flawed: bool,
    me: NodeId,
    nodes: usize,
    phase: Phase,
    number: u64,
    epoch: u64,
    good: NodeId,
    copies: Vec<(NodeId, u64)>,
    token: Option<FairToken>,
}

impl Fair {
    fn cluster(nodes: usize, flawed: bool) -> Vec<Self> {
        let token = FairToken { queue: VecDeque::new(), served: vec![0; nodes], epoch: 0 };
        let site = |me: NodeId| Self {
            flawed,
            me,
            nodes,
            phase: Phase::Idle,
            number: 0,
            epoch: 0,
            good: NodeId(0),
            copies: Vec::new(),
            token: (me.index() == 0).then(|| token.clone()),
        };
        NodeId::all(nodes).map(site).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<FairMessage>) {
        let Some(mut token) = self.token.take() else { return };
        let before = token.queue.len();
        for (site, number) in self.copies.drain(..) {
            let open = number > token.served[site.index()];
            // The flaw: the history does not know which sites are on the queue.
            if open && (self.flawed || !token.queue.contains(&site)) {
                token.queue.push_back(site);
            }
        }
        let (Some(&first), Some(&last)) = (token.queue.front(), token.queue.back()) else {
            self.token = Some(token);
            return;
        };
        self.good = last;
        if token.queue.len() > before {
            token.epoch += 1;
            let others = self.me.others(token.served.len());
            let others = others.filter(|site| !token.queue.contains(site));
            out.broadcast(others, FairMessage::Update(token.epoch, last));
        }
        self.epoch = token.epoch;
        out.send(first, FairMessage::Token(token));
    }
}

impl Machine for Fair {
    type Message = FairMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<FairMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        self.number += 1;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.send(self.good, FairMessage::Request(self.me, self.number));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<FairMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        if let Some(token) = &mut self.token {
            token.served[self.me.index()] = self.number;
        }
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        _from: NodeId,
        message: FairMessage,
        out: &mut Outbox<FairMessage>,
    ) -> Result<(), Refused> {
        match message {
            // It was served by a copy before it came back.
            FairMessage::Request(site, _) if site == self.me => {}
            FairMessage::Request(site, number) => {
                match self.copies.iter_mut().find(|(known, _)| *known == site) {
                    Some((_, known)) => *known = number.max(*known),
                    None => self.copies.push((site, number)),
                }
                if self.phase.is_idle() && self.token.is_some() {
                    self.hand_over(out);
                } else if self.phase.is_idle() {
                    out.send(self.good, message);
                }
            }
            FairMessage::Update(epoch, site) => {
                if epoch > self.epoch {
                    (self.epoch, self.good) = (epoch, site);
                }
            }
            FairMessage::Token(mut token) => {
                if !self.phase.is_waiting() {
                    return Err(Refused("it does not wait for the token"));
                }
                (self.epoch, self.good) = (token.epoch, *token.queue.back().expect("it visits us"));
                token.queue.pop_front();
                self.token = Some(token);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for Fair {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}
