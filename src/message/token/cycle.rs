//! What chapters 5 and 6 of Banta's thesis share: cycles, each with one good site, and a wait
//! between them.
//!
//! A cycle begins when the good site has had its turn: it puts the requests it has kept behind the
//! token's queue, names the last of them the good site of the next cycle, tells all sites that are
//! not on the queue, and waits for two periods. A period is as long as a message takes at most
//! (Tmax). So a site that has not heard of the new good site yet has its late request there in
//! time: it takes one period to be told, and another for a request sent just before. Late requests
//! go behind the good site, and so belong to the cycle after.

use std::ops::RangeInclusive;

use super::good_site::{GoodSite, announce, most_forwarded};
use super::queue::NodeQueue;
use crate::message::{NodeId, Outbox, Phase, Refused, Timer};

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// This site wants in.
    Request(NodeId),
    /// This is a good site to ask.
    Update(GoodSite),
    /// The token.
    Token(Token),
    /// You may enter in my place, for I have left. Only where several may enter.
    Release,
}

impl crate::message::Message for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Update(_) => "UPDATE",
            Self::Token(_) => "TOKEN",
            Self::Release => "RELEASE",
        }
    }
}

/// What the token carries.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token {
    /// Whom it visits, the receiver first. The good site is among them; behind it are those of the
    /// next cycle.
    pub(super) queue: NodeQueue,
    /// The good site of this cycle.
    pub(super) good: GoodSite,
    /// How many may still enter in this cycle without waiting for another to leave.
    pub(super) free: usize,
}

/// What to do when the network breaks its promise, and a request comes to a site that the token has
/// left.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Late {
    /// Keeps it, as the thesis has it, until the token happens to come back. It may never.
    #[default]
    Strict,
    /// Passes it on to the good site, and believes no old news of who that is.
    Hardened,
}

/// A site in its cycles.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cycle {
    pub(super) me: NodeId,
    pub(super) nodes: usize,
    pub(super) phase: Phase,
    late: Late,
    good: GoodSite,
    /// The requests that have reached us while we want in.
    kept: NodeQueue,
    pub(super) token: Option<Token>,
    /// Whether we wait for late requests.
    collecting: bool,
}

impl Cycle {
    const COLLECTED: Timer = Timer(0);

    /// How long to wait for late requests, in periods.
    const WAIT: u32 = 2;

    /// A site of a cluster whose token rests at node 0.
    pub(super) fn new(me: NodeId, nodes: usize, free: usize, late: Late) -> Self {
        Self {
            me,
            nodes,
            phase: Phase::Idle,
            late,
            good: GoodSite::first(),
            kept: NodeQueue::new(),
            token: (me.index() == 0).then(|| Token {
                queue: NodeQueue::new(),
                good: GoodSite::first(),
                free,
            }),
            collecting: false,
        }
    }

    /// How many messages per entry costs at most. The formula supposes that messages come in time;
    /// a late request is forwarded, if it is, but not for ever.
    pub(super) fn most_messages(&self, in_time: bool) -> Option<f64> {
        match self.late {
            _ if in_time => Some(self.nodes as f64),
            Late::Strict => None,
            Late::Hardened => Some(most_forwarded(self.nodes)),
        }
    }

    /// The user has left, and the token is here: passes it on, or begins the next cycle if it was
    /// the last of this one.
    pub(super) fn go_on(&mut self, out: &mut Outbox<Message>) {
        let Some(token) = &self.token else { return };
        // By what the token says: our own news may be old, if the network breaks its promise.
        if token.queue.contains(token.good.site) {
            self.pass_on(out);
        } else {
            self.begin(out);
        }
    }

    pub(super) fn request(&mut self, out: &mut Outbox<Message>) -> Result<(), Refused> {
        self.phase.request()?;
        match &mut self.token {
            None => out.send(self.good.site, Message::Request(self.me)),
            // We are late ourselves.
            Some(token) if self.collecting => _ = token.queue.push_back(self.me),
            Some(_) => self.phase.enter(out),
        }
        Ok(())
    }

    pub(super) fn receive_request(
        &mut self,
        site: NodeId,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if site == self.me {
            return Err(Refused("its own request has come back"));
        }
        site.check_member(self.nodes)?;
        let queued = self.token.as_ref().is_some_and(|token| token.queue.contains(site));
        if queued || self.kept.contains(site) {
            return Err(Refused("that site has asked already"));
        }
        match &mut self.token {
            Some(token) if self.collecting => _ = token.queue.push_back(site),
            None if self.phase.is_idle() && self.late == Late::Hardened => {
                self.good.check_goes_on(site)?;
                out.send(self.good.site, Message::Request(site));
            }
            _ => {
                self.kept.push_back(site);
                if self.token.is_some() && self.phase.is_idle() {
                    self.begin(out);
                }
            }
        }
        Ok(())
    }

    pub(super) fn receive_update(&mut self, from: NodeId, news: GoodSite) -> Result<(), Refused> {
        // In the strict variant late news replace new ones, and the epoch on the token may fall
        // back.
        let latest = self.token.as_ref().filter(|_| self.late == Late::Hardened);
        news.check_news(self.me, from, self.nodes, latest.map(|token| token.good.epoch))?;
        match self.late {
            Late::Strict => self.good = news,
            Late::Hardened => self.good.learn(news),
        }
        Ok(())
    }

    /// Refuses a token that is not for us, or cannot be; `free` says how many may still enter.
    pub(super) fn check_token(
        &self,
        token: &Token,
        free: RangeInclusive<usize>,
    ) -> Result<(), Refused> {
        if !self.phase.is_waiting() || self.token.is_some() || token.queue.front() != Some(self.me)
        {
            return Err(Refused("it does not wait for the token"));
        }
        token.queue.check(self.nodes, [])?;
        if !token.queue.contains(token.good.site) {
            return Err(Refused("the good site is not on the token's queue"));
        }
        if !free.contains(&token.free) {
            return Err(Refused("so many cannot enter"));
        }
        GoodSite::check_epoch(token.good.epoch)
    }

    /// Takes a token that has been checked, and us off its queue.
    pub(super) fn take_token(&mut self, mut token: Token) {
        token.queue.pop_front();
        self.good = token.good;
        self.token = Some(token);
    }

    /// Begins a cycle, if anybody wants in; else the token rests here.
    pub(super) fn begin(&mut self, out: &mut Outbox<Message>) {
        let Some(token) = &mut self.token else { return };
        token.queue.append(&mut self.kept);
        if let Some(last) = token.queue.back() {
            self.good.succeed(last);
            token.good = self.good;
            announce(Message::Update(self.good), self.me, self.nodes, &token.queue, out);
            self.collecting = true;
            out.set_timer(Self::COLLECTED, Self::WAIT);
        }
    }

    /// The wait is over.
    pub(super) fn timeout(
        &mut self,
        timer: Timer,
        out: &mut Outbox<Message>,
    ) -> Result<(), Refused> {
        if !self.collecting || timer != Self::COLLECTED {
            return Err(Refused("it does not wait for late requests"));
        }
        self.collecting = false;
        self.pass_on(out);
        Ok(())
    }

    /// Without the token, passes on the requests that were kept while we wanted in, if we are to.
    pub(super) fn pass_on_requests(&mut self, out: &mut Outbox<Message>) {
        if self.late == Late::Hardened {
            for site in self.kept.drain() {
                out.send(self.good.site, Message::Request(site));
            }
        }
    }

    /// Sends the token to the first in the queue.
    pub(super) fn pass_on(&mut self, out: &mut Outbox<Message>) {
        if let Some(mut token) = self.token.take() {
            if self.late == Late::Hardened {
                token.queue.append(&mut self.kept);
            }
            if let Some(first) = token.queue.front() {
                out.send(first, Message::Token(token));
            }
        }
    }
}
