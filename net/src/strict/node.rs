//! A node of the strict mode: the machine.

mod agreement;

use std::collections::VecDeque;

use exclusion::message::{Blueprint, Machine, NodeId, Refused};
use exclusion::message::{Input as LockInput, Output as LockOutput};

use super::desk::{Desk, User};
use super::input::{Input, Output, Precautions, Stage};
use super::message::{Digest, Hello, Life, Message, Record, Round, Why};

/// How many messages of locks a node keeps of each peer that is in the new epoch before it.
const MOST_EARLY: usize = 4096;

/// What a node knows of the session with a peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Session {
    /// Whether it has said hello.
    greeted: bool,
    heard: Option<Hello>,
    ready: Option<(u64, Vec<Round>)>,
}

/// What a peer has said about locks in an epoch that has not begun here.
type Early<M> = VecDeque<(NodeId, u32, u64, M)>;

type LockOf<B> = <B as Blueprint>::Lock;
type Inner<B> = <LockOf<B> as Machine>::Message;
type Out<B> = Vec<Output<Inner<B>>>;

/// A node of the strict mode. See the [module](super).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Strict<B: Blueprint> {
    blueprint: B,
    me: NodeId,
    digest: Digest,
    precautions: Precautions,
    record: Record,
    round: Round,
    stage: Stage,
    /// One of each node; none of itself.
    sessions: Vec<Option<Session>>,
    desks: Vec<Desk<LockOf<B>>>,
    early: Early<Inner<B>>,
    /// Whether something of an earlier life may be inside.
    orphans: bool,
}

impl<B: Blueprint> Strict<B> {
    /// A node at the start of a life, with what it has kept of the last one, and with so many
    /// resources. The record that it has now must be on its disk before anything else happens.
    ///
    /// If something of an earlier life may still be inside, it says hello after
    /// [`Input::OrphansGone`].
    pub fn new(
        blueprint: B,
        me: NodeId,
        digest: Digest,
        kept: Record,
        mark: u64,
        resources: usize,
    ) -> Self {
        let incarnation = kept.incarnation + 1;
        let nodes = kept.known.len();
        Self {
            blueprint,
            me,
            digest,
            precautions: Precautions::ALL,
            record: Record { incarnation, ..kept },
            round: Round { life: Life { incarnation, mark }, number: 1 },
            stage: Stage::Gathering,
            sessions: vec![None; nodes],
            desks: (0..resources).map(|_| Desk::new()).collect(),
            early: Early::new(),
            orphans: false,
        }
    }

    /// The same, with something of an earlier life perhaps inside.
    #[must_use]
    pub fn with_orphans(self) -> Self {
        Self { orphans: true, ..self }
    }

    /// The same, with other precautions.
    #[must_use]
    pub fn with(self, precautions: Precautions) -> Self {
        Self { precautions, ..self }
    }

    /// Which node it is.
    pub fn id(&self) -> NodeId {
        self.me
    }

    /// What must not be forgotten.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The life that it is in.
    pub fn life(&self) -> Life {
        self.round.life
    }

    /// How far it is.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Where the user of a resource is.
    pub fn user(&self, resource: usize) -> User {
        self.desks[resource].user()
    }

    /// The lock of a resource, while an epoch runs.
    pub fn lock(&self, resource: usize) -> Option<&LockOf<B>> {
        self.desks[resource].lock()
    }

    /// Whether a session with a peer is up.
    pub fn is_up(&self, peer: NodeId) -> bool {
        self.sessions[peer.index()].is_some()
    }

    /// Whether it keeps the others waiting, because somebody is inside since an earlier epoch.
    pub fn is_awaited(&self) -> bool {
        !self.is_running() && self.is_occupied()
    }

    fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running(_))
    }

    fn is_occupied(&self) -> bool {
        self.orphans || self.desks.iter().any(Desk::is_inside)
    }

    fn nodes(&self) -> usize {
        self.sessions.len()
    }

    /// Gives it an input, and hands over what it wants done.
    ///
    /// # Errors
    /// If the runner or the user may not do that now. Nothing has changed. What a peer says is
    /// never an error: the session with it ends.
    pub fn step(&mut self, input: Input<Inner<B>>) -> Result<Out<B>, Refused> {
        let mut out = Vec::new();
        match input {
            Input::Up(peer) => {
                self.me.check_peer(peer, self.nodes())?;
                if self.is_up(peer) {
                    return Err(Refused("there is one session with each peer"));
                }
                self.sessions[peer.index()] =
                    Some(Session { greeted: false, heard: None, ready: None });
                self.greet(&mut out);
            }
            Input::Ended(peer) => {
                self.me.check_peer(peer, self.nodes())?;
                if self.is_up(peer) {
                    self.sessions[peer.index()] = None;
                    self.end_round(peer, &mut out);
                }
            }
            Input::Receive(from, message) => {
                self.me.check_peer(from, self.nodes())?;
                // What has come before the end was noticed is of an epoch that is over.
                if self.is_up(from)
                    && let Err(why) = self.receive(from, message, &mut out)
                {
                    self.cut_off(from, why, &mut out);
                }
            }
            Input::Timeout { epoch, resource, timer } => {
                if self.stage == Stage::Running(epoch) {
                    let done = self.desk(resource)?.give(LockInput::Timeout(timer), epoch);
                    self.follow(resource, done.map_err(|_| OWN_MISTAKE)?, &mut out);
                }
            }
            Input::Request(resource) => {
                let epoch = self.epoch();
                let desk = self.desk(resource)?;
                match desk.user() {
                    User::Outside | User::GaveUp => {}
                    User::Waiting => return Err(Refused("it has asked already")),
                    User::Inside(_) => return Err(Refused("it is inside")),
                }
                let done = desk.request(epoch).map_err(|_| OWN_MISTAKE)?;
                self.follow(resource, done, &mut out);
            }
            Input::Release(resource) => {
                let epoch = self.epoch();
                let desk = self.desk(resource)?;
                if !desk.is_inside() {
                    return Err(Refused("it is not inside"));
                }
                let done = desk.release(epoch).map_err(|_| OWN_MISTAKE)?;
                self.follow(resource, done, &mut out);
                self.greet(&mut out);
            }
            Input::Withdraw(resource) => {
                let epoch = self.epoch();
                let desk = self.desk(resource)?;
                if desk.user() != User::Waiting {
                    return Err(Refused("it does not wait"));
                }
                let done = desk.withdraw(epoch).map_err(|_| OWN_MISTAKE)?;
                self.follow(resource, done, &mut out);
            }
            Input::OrphansGone => {
                self.orphans = false;
                self.greet(&mut out);
            }
            Input::Replace(peer) => {
                self.me.check_peer(peer, self.nodes())?;
                if self.stage != Stage::Gathering {
                    return Err(Refused("the cluster is whole: nobody is missing"));
                }
                self.record.known[peer.index()] = None;
                out.push(Output::Keep(self.record.clone()));
            }
        }
        Ok(out)
    }

    fn desk(&mut self, resource: usize) -> Result<&mut Desk<LockOf<B>>, Refused> {
        self.desks.get_mut(resource).ok_or(Refused("there is no such resource"))
    }

    /// The epoch that runs. While none does, no lock is there to be told.
    fn epoch(&self) -> u64 {
        match self.stage {
            Stage::Running(epoch) => epoch,
            Stage::Gathering | Stage::Agreed(_) => self.record.epoch,
        }
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Message<Inner<B>>,
        out: &mut Out<B>,
    ) -> Result<(), Why> {
        match message {
            Message::Hello(hello) => {
                hello.check().map_err(unexpected)?;
                if self.precautions.digest && hello.digest != self.digest {
                    return Err(Why::Digest { ours: self.digest, theirs: hello.digest });
                }
                let life = hello.round.life;
                if self.precautions.memory && !self.record.admits(from, life) {
                    let known = self.record.known[from.index()].unwrap_or(life);
                    return Err(Why::Blank { told: life, known });
                }
                let session = self.session(from)?;
                if session.heard.is_some() {
                    return Err(unexpected(Refused("a node says hello once in a session")));
                }
                session.heard = Some(hello);
                self.try_to_agree(out);
                Ok(())
            }
            Message::Ready { epoch, rounds } => {
                let session = self.session(from)?;
                if session.heard.is_none() || session.ready.is_some() {
                    return Err(unexpected(Refused("a node is ready once, after its hello")));
                }
                session.ready = Some((epoch, rounds));
                self.try_to_begin(out)
            }
            Message::Lock { epoch, resource, entry, message } => {
                let ready = self.session(from)?.ready.as_ref().map(|ready| ready.0);
                if self.precautions.epochs && self.precautions.agreement && ready != Some(epoch) {
                    return Err(unexpected(Refused("it is ready before its locks say anything")));
                }
                if resource as usize >= self.desks.len() || entry > u64::MAX >> 1 {
                    return Err(unexpected(Refused("there is no such resource or entry")));
                }
                if self.is_running() {
                    return self.hand_over(from, resource, entry, message, out);
                }
                if self.early.len() >= MOST_EARLY {
                    return Err(unexpected(Refused("so much before an epoch has begun")));
                }
                self.early.push_back((from, resource, entry, message));
                Ok(())
            }
        }
    }

    fn session(&mut self, peer: NodeId) -> Result<&mut Session, Why> {
        self.sessions[peer.index()].as_mut().ok_or(Why::Lost)
    }

    /// Gives a message to the lock that it is for.
    fn hand_over(
        &mut self,
        from: NodeId,
        resource: u32,
        entry: u64,
        message: Inner<B>,
        out: &mut Out<B>,
    ) -> Result<(), Why> {
        let (epoch, resource) = (self.epoch(), resource as usize);
        let input = LockInput::Receive { from, message };
        match self.desks[resource].receive(input, entry, epoch) {
            Ok(done) => {
                self.follow(resource, done, out);
                Ok(())
            }
            Err(violation) => Err(Why::Unexpected(violation.to_string())),
        }
    }

    /// Does what a lock wants done.
    fn follow(&self, resource: usize, done: Vec<LockOutput<Inner<B>>>, out: &mut Out<B>) {
        let Stage::Running(epoch) = self.stage else { return };
        let entry = self.desks[resource].entry();
        let number = u32::try_from(resource).expect("there are few resources");
        for output in done {
            match output {
                LockOutput::Send { to, message } => {
                    let message = Message::Lock { epoch, resource: number, entry, message };
                    out.push(Output::Send(to, message));
                }
                LockOutput::SetTimer { timer, periods } => {
                    out.push(Output::SetTimer { epoch, resource, timer, periods });
                }
                LockOutput::Enter => {
                    if let User::Inside(fence) = self.desks[resource].user() {
                        out.push(Output::Enter(resource, fence));
                    }
                }
                // A lock of the registry has no leader to tell of.
                _ => {}
            }
        }
    }

    /// Ends the session with a peer that says what it should not.
    fn cut_off(&mut self, peer: NodeId, why: Why, out: &mut Out<B>) {
        if self.sessions[peer.index()].take().is_some() {
            out.push(Output::End(peer, why));
            self.end_round(peer, out);
        }
    }

    /// A session has ended. So do the others, and the epoch.
    fn end_round(&mut self, with: NodeId, out: &mut Out<B>) {
        if !self.precautions.epochs {
            return;
        }
        for (peer, session) in NodeId::all(self.nodes()).zip(&mut self.sessions) {
            if session.take().is_some() {
                out.push(Output::End(peer, Why::With(with)));
            }
        }
        if let Stage::Running(epoch) = self.stage {
            out.push(Output::Over(epoch, with));
        }
        self.stage = Stage::Gathering;
        self.round.number += 1;
        self.early.clear();
        self.desks.iter_mut().for_each(Desk::close);
    }
}

/// A lock of the registry that refuses its own user or timer.
const OWN_MISTAKE: Refused = Refused("the lock refuses what its own user may do");

fn unexpected(refused: Refused) -> Why {
    Why::Unexpected(refused.0.to_owned())
}
