//! Wrong readings of Banta's algorithms.

use std::collections::VecDeque;

use exclusion::message::banta_efficient::Late;
use exclusion::message::check::{Check, Timers};
use exclusion::message::{
    BantaEfficient, Machine, Message, NodeId, Outbox, Phase, Protocol, Refused, Shared, Timer,
};

/// Chapter 4 as printed: a stale update is accepted, and a request comes back to its sender.
pub fn banta_4_as_printed(flawed: bool) -> Check<Chapter4> {
    let cluster = Chapter4::cluster(3, flawed.then_some(Flaw4::NoEpochs));
    Check::new(cluster).requests_of(NodeId(2), 2)
}

/// Chapter 4, where the local queue is copied to the token's queue: the token visits sites that
/// want nothing.
pub fn banta_queue_copied(flawed: bool) -> Check<Chapter4> {
    Check::new(Chapter4::cluster(2, flawed.then_some(Flaw4::Copies)))
}

/// Chapter 4 as printed, where a site asks even if it has the token itself: it waits for its own
/// request.
pub fn banta_holder_asks(flawed: bool) -> Check<Chapter4> {
    Check::new(Chapter4::cluster(2, flawed.then_some(Flaw4::HolderAsks)))
}

/// Chapter 5 as written, where messages may take longer than a period: a late request is kept where
/// the token never comes.
pub fn banta_5_strict_without_tmax(flawed: bool) -> Check<BantaEfficient> {
    let cluster = BantaEfficient::cluster(3, Late::Strict).expect("three are enough");
    let timers = if flawed { Timers::AnyTime } else { Timers::InTime };
    Check::new(cluster).requests_of(NodeId(0), 0).timers(timers)
}

/// Chapter 6, where the semaphore is never restored: in a later cycle there is nobody to wait for.
pub fn banta_6_semaphore(flawed: bool) -> Check<Chapter6> {
    let cluster = Chapter6::cluster(3, 1, flawed.then_some(Flaw6::SemaphoreStays));
    Check::new(cluster).requests_of(NodeId(0), 2)
}

/// Chapter 6, where the good site waits for k to leave: fewer may have entered.
pub fn banta_6_k_releases(flawed: bool) -> Check<Chapter6> {
    Check::new(Chapter6::cluster(2, 1, flawed.then_some(Flaw6::WaitsForAll)))
}

/// Chapter 6, where a site that is told of a leaving before the token comes forgets it.
pub fn banta_6_early_release(flawed: bool) -> Check<Chapter6> {
    Check::new(Chapter6::cluster(4, 1, flawed.then_some(Flaw6::ForgetsEarly)))
}

/// Chapter 6, where of two sites the lower number is told of a leaving, instead of the one that
/// comes first: nobody tells the good site, or the wrong one waits.
pub fn banta_6_numbers(flawed: bool) -> Check<Chapter6> {
    Check::new(Chapter6::cluster(4, 1, flawed.then_some(Flaw6::ByNumber)))
}

/// Puts sites behind a queue, none of them twice.
fn append(queue: &mut VecDeque<NodeId>, sites: impl IntoIterator<Item = NodeId>) {
    for site in sites {
        if !queue.contains(&site) {
            queue.push_back(site);
        }
    }
}

/// What is wrong with [`Chapter4`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw4 {
    NoEpochs,
    Copies,
    HolderAsks,
}

/// What the sites of [`Chapter4`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message4 {
    /// This site wants in.
    Request(NodeId),
    /// This is a good site to ask, since this epoch.
    Update(u64, NodeId),
    /// The token: the sites that it visits, and the epoch of the last.
    Token(u64, VecDeque<NodeId>),
}

impl Message for Message4 {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Update(..) => "UPDATE",
            Self::Token(..) => "TOKEN",
        }
    }
}

/// Chapter 4, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Chapter4 {
    flaw: Option<Flaw4>,
    me: NodeId,
    nodes: usize,
    phase: Phase,
    epoch: u64,
    good: NodeId,
    kept: VecDeque<NodeId>,
    token: Option<VecDeque<NodeId>>,
}

impl Chapter4 {
    fn cluster(nodes: usize, flaw: Option<Flaw4>) -> Vec<Self> {
        let site = |me: NodeId| Self {
            flaw,
            me,
            nodes,
            phase: Phase::Idle,
            epoch: 0,
            good: NodeId(0),
            kept: VecDeque::new(),
            token: (me.index() == 0).then(VecDeque::new),
        };
        NodeId::all(nodes).map(site).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<Message4>) {
        let Some(mut queue) = self.token.take() else { return };
        let before = queue.len();
        append(&mut queue, self.kept.iter().copied());
        if self.flaw != Some(Flaw4::Copies) {
            self.kept.clear();
        }
        let (Some(&first), Some(&last)) = (queue.front(), queue.back()) else {
            self.token = Some(queue);
            return;
        };
        self.good = last;
        if queue.len() > before {
            self.epoch += u64::from(self.flaw != Some(Flaw4::NoEpochs));
            let others = self.me.others(self.nodes).filter(|site| !queue.contains(site));
            out.broadcast(others, Message4::Update(self.epoch, last));
        }
        out.send(first, Message4::Token(self.epoch, queue));
    }
}

impl Machine for Chapter4 {
    type Message = Message4;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message4>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.token.is_some() && self.flaw != Some(Flaw4::HolderAsks) {
            self.phase.enter(out);
        } else {
            out.send(self.good, Message4::Request(self.me));
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message4>) -> Result<(), Refused> {
        self.phase.release()?;
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        _from: NodeId,
        message: Message4,
        out: &mut Outbox<Message4>,
    ) -> Result<(), Refused> {
        match message {
            Message4::Request(_) if self.phase.is_idle() && self.token.is_none() => {
                if self.good == self.me {
                    return Err(Refused("it would pass the request on to itself, for ever"));
                }
                out.send(self.good, message);
            }
            Message4::Request(site) => {
                append(&mut self.kept, [site]);
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            Message4::Update(epoch, site) => {
                if self.flaw == Some(Flaw4::NoEpochs) || epoch > self.epoch {
                    (self.epoch, self.good) = (epoch, site);
                }
            }
            Message4::Token(epoch, mut queue) => {
                if !self.phase.is_waiting() {
                    return Err(Refused("it does not wait for the token"));
                }
                self.epoch = epoch;
                self.good = *queue.back().expect("it visits this site");
                queue.pop_front();
                self.token = Some(queue);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for Chapter4 {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// What is wrong with [`Chapter6`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Flaw6 {
    SemaphoreStays,
    WaitsForAll,
    ByNumber,
    ForgetsEarly,
}

/// What the token of [`Chapter6`] carries.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Token6 {
    queue: VecDeque<NodeId>,
    good: NodeId,
    semaphore: usize,
}

/// What the sites of [`Chapter6`] say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message6 {
    /// A request.
    Request,
    /// This is a good site to ask.
    Update(NodeId),
    /// The token.
    Token(Token6),
    /// The sender has left.
    Release,
}

impl Message for Message6 {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Update(_) => "UPDATE",
            Self::Token(_) => "TOKEN",
            Self::Release => "RELEASE",
        }
    }
}

/// Chapter 6, perhaps with a flaw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Chapter6 {
    flaw: Option<Flaw6>,
    me: NodeId,
    nodes: usize,
    entries: usize,
    phase: Phase,
    good: NodeId,
    kept: VecDeque<NodeId>,
    token: Option<Token6>,
    /// Whether we wait for late requests.
    collecting: bool,
    /// Once the token has been here: how many must leave before we enter; and how many have.
    to_leave: Option<usize>,
    have_left: usize,
    /// The site to tell when we leave; none for the good site.
    to_tell: Option<NodeId>,
}

impl Chapter6 {
    fn cluster(nodes: usize, entries: usize, flaw: Option<Flaw6>) -> Vec<Self> {
        let token = Token6 { queue: VecDeque::new(), good: NodeId(0), semaphore: entries };
        let site = |me: NodeId| Self {
            flaw,
            me,
            nodes,
            entries,
            phase: Phase::Idle,
            good: NodeId(0),
            kept: VecDeque::new(),
            token: (me.index() == 0).then(|| token.clone()),
            collecting: false,
            to_leave: None,
            have_left: 0,
            to_tell: None,
        };
        NodeId::all(nodes).map(site).collect()
    }

    fn begin(&mut self, out: &mut Outbox<Message6>) {
        let Some(token) = &mut self.token else { return };
        append(&mut token.queue, self.kept.drain(..));
        if let Some(&last) = token.queue.back() {
            self.good = last;
            token.good = last;
            let others = self.me.others(self.nodes).filter(|site| !token.queue.contains(site));
            out.broadcast(others, Message6::Update(last));
            self.collecting = true;
            out.set_timer(Timer(0), 2);
        }
    }

    fn pass_on(&mut self, out: &mut Outbox<Message6>) {
        if let Some(token) = self.token.take() {
            out.send(token.queue[0], Message6::Token(token));
        }
    }

    fn take_token(&mut self, mut token: Token6, out: &mut Outbox<Message6>) {
        token.queue.pop_front();
        self.good = token.good;
        let good = token.queue.iter().position(|&site| site == token.good);
        if let Some(good) = good {
            let kth = token.queue[good.min(self.entries - 1)];
            self.to_tell = Some(match self.flaw {
                Some(Flaw6::ByNumber) => kth.min(token.good),
                _ => kth,
            });
            self.to_leave = Some(usize::from(token.semaphore == 0));
            token.semaphore = token.semaphore.saturating_sub(1);
            self.token = Some(token);
            self.pass_on(out);
        } else {
            // Two flaws: of the sites that must leave, only some are out; and nothing puts the
            // semaphore back to k.
            self.to_leave = Some(match self.flaw {
                Some(Flaw6::WaitsForAll) => self.entries,
                _ => self.entries - token.semaphore,
            });
            self.token = Some(token);
        }
    }

    fn enter_if_enough_have_left(&mut self, out: &mut Outbox<Message6>) {
        let Some(to_leave) = self.to_leave.filter(|&to_leave| to_leave <= self.have_left) else {
            return;
        };
        self.have_left -= to_leave;
        self.to_leave = None;
        if self.flaw != Some(Flaw6::SemaphoreStays)
            && let Some(token) = &mut self.token
        {
            token.semaphore = self.entries;
        }
        self.phase.enter(out);
    }
}

impl Machine for Chapter6 {
    type Message = Message6;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<Message6>) -> Result<(), Refused> {
        self.phase.request()?;
        match &mut self.token {
            None => out.send(self.good, Message6::Request),
            Some(token) if self.collecting => token.queue.push_back(self.me),
            Some(_) => self.phase.enter(out),
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Message6>) -> Result<(), Refused> {
        self.phase.release()?;
        match self.to_tell.take() {
            Some(site) => out.send(site, Message6::Release),
            None => self.begin(out),
        }
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message6,
        out: &mut Outbox<Message6>,
    ) -> Result<(), Refused> {
        match message {
            Message6::Request => match &mut self.token {
                Some(token) if self.collecting => append(&mut token.queue, [from]),
                _ => {
                    append(&mut self.kept, [from]);
                    if self.phase.is_idle() {
                        self.begin(out);
                    }
                }
            },
            Message6::Update(good) => self.good = good,
            Message6::Token(token) => {
                self.take_token(token, out);
                self.enter_if_enough_have_left(out);
            }
            Message6::Release => {
                let early = self.to_leave.is_none() && self.flaw == Some(Flaw6::ForgetsEarly);
                self.have_left += usize::from(!early);
                self.enter_if_enough_have_left(out);
            }
        }
        Ok(())
    }

    fn timeout(&mut self, _timer: Timer, out: &mut Outbox<Message6>) -> Result<(), Refused> {
        self.collecting = false;
        self.pass_on(out);
        Ok(())
    }
}

impl Protocol for Chapter6 {
    type Access = Shared;

    fn phase(&self) -> Phase {
        self.phase
    }

    fn entries_at_a_time(&self) -> usize {
        self.entries
    }
}
