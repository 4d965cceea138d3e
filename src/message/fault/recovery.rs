//! A lock that goes on without the nodes that are down, whatever its algorithm.
//!
//! The lock runs among the members of a [`view`]. When a member is down, or a node is
//! back, a new view is called. Whoever has halted refuses every message of the old lock, so nothing
//! of it counts any more: no permission, no vote, no token. The new view begins with a fresh
//! instance over its members, and each node whose user waits asks again.
//!
//! | message | when | to |
//! |---|---|---|
//! | of the lock | the lock sends it, in the epoch of its view | a member |
//! | `HALT`, `STATE`, `PROMISED`, `LEFT`, `INSTALL` | see [views](super::view) | |
//!
//! Each message of the lock carries the greatest entry that its sender knows of. So an entry that
//! comes after another has a greater [fence](super::fence). A later epoch has greater fences than
//! an earlier one.
//!
//! # What it promises
//! With a detector that is right: exclusion among the nodes that live, and everybody alive is
//! served. With one that errs, and [gated by a majority](Recovering::gated): exclusion of what is
//! fenced, always; everybody alive is served while a majority is up and suspicion settles.
//!
//! # What survives a restart
//! The promised epoch. A node that has lost it must not come back under its old number.
//!
//! # What comes early
//! A message of a view that is not installed here yet is kept until it is, up to 1024 of them. A
//! node that would have to keep more calls a view of its own, which begins here first.
//!
//! # Cost
//! Nothing while nobody is suspected. A new view among l of n nodes: n-1 `HALT`, l-1 `STATE`, l-1
//! `INSTALL`, and one `LEFT` if somebody is inside; then what the algorithm needs to ask again.

mod early;
mod message;
mod user;

pub use message::Message;

use early::Early;

use super::blueprint::{Blueprint, FromRegistry};
use super::fence::{Admission, Fence};
use super::ledger::Ledger;
use super::view::{self, News, Standing, View, Views, Within};
use crate::message::registry::{Algorithm, Shipped};
use crate::message::{
    Channels, ClusterError, Epoch, Input, Machine, NodeId, NodeSet, Notice, Outbox, Output, Phase,
    Refused, Timer, step_part,
};

type LockOf<B> = <B as Blueprint>::Lock;
type Inner<B> = <LockOf<B> as Machine>::Message;

/// The lock of the view.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Lock<P> {
    /// The node has halted.
    None,
    /// Nobody else is left.
    Alone,
    Among(P),
}

/// A node of a lock that recovers. See the [module](self).
///
/// ```
/// use exclusion::message::registry::Algorithm;
/// use exclusion::message::{Input, NodeId, Notice, Outbox, Output, Protocol, Recovering, Refused};
/// use exclusion::message::{SuzukiKasami, step};
///
/// let algorithm = Algorithm::named("suzuki_kasami")?;
/// let mut nodes = Recovering::over(algorithm, SuzukiKasami::cluster(2)?)?;
/// let mut out = Outbox::new();
/// // Node 1 waits for the token of node 0, which is down.
/// step(&mut nodes[1], Input::Request, &mut out)?;
/// out.clear();
/// step(&mut nodes[1], Input::Notice(Notice::Down(NodeId(0))), &mut out)?;
/// assert!(out.drain().any(|output| output == Output::Enter));
/// let admission = nodes[1].admission().expect("it is inside");
/// assert_eq!(admission.fence.to_string(), "1.n1/1");
/// assert!(admission.perhaps_inside.contains(NodeId(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "B: serde::Serialize, LockOf<B>: serde::Serialize, \
                     Inner<B>: serde::Serialize",
        deserialize = "B: serde::Deserialize<'de>, LockOf<B>: serde::Deserialize<'de>, \
                       Inner<B>: serde::Deserialize<'de>"
    ))
)]
pub struct Recovering<B: Blueprint> {
    blueprint: B,
    views: Views,
    lock: Lock<LockOf<B>>,
    phase: Phase,
    /// The greatest entry of the view's epoch that it knows of.
    entry: u64,
    /// Of the entry that its user is inside by, or was last.
    admission: Option<Admission>,
    early: Early<Inner<B>>,
    timers: Ledger,
}

impl<P: Shipped> Recovering<FromRegistry<P>> {
    /// A cluster of an algorithm of the registry that recovers.
    ///
    /// # Errors
    /// If the nodes are no cluster.
    ///
    /// # Panics
    /// If the cluster is none of that algorithm.
    pub fn over(algorithm: &'static Algorithm, cluster: Vec<P>) -> Result<Vec<Self>, ClusterError> {
        ClusterError::check_places(&cluster)?;
        let blueprint = FromRegistry::of(algorithm, &cluster);
        Self::cluster(&blueprint, cluster.len())
    }
}

impl<B: Blueprint> Recovering<B> {
    /// A cluster for a detector that is right. It goes on with any number of nodes.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(blueprint: &B, nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node(blueprint.clone(), me, nodes))
    }

    /// One node of it.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(blueprint: B, me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            lock: Lock::Among(blueprint.build(me, nodes)),
            blueprint,
            views: Views::new(me, nodes, false),
            phase: Phase::Idle,
            entry: 0,
            admission: None,
            early: Early::default(),
            timers: Ledger::default(),
        })
    }

    /// The same for a detector that may err: a view needs a majority of all nodes, and a node that
    /// suspects half of them admits nobody.
    #[must_use]
    pub fn gated(mut self) -> Self {
        self.views = Views::new(self.id(), self.nodes(), true);
        self
    }

    /// The same with what it has [promised](Self::promised) before it was restarted. Give it
    /// [`Notice::Recovered`] then, and no [`Input::Start`].
    #[must_use]
    pub fn restored(mut self, promised: Epoch) -> Self {
        self.views.restore(promised);
        self
    }

    /// The epoch before which it refuses everything. It is to survive a restart: keep it on a disk
    /// before the messages of a step go out.
    pub fn promised(&self) -> Epoch {
        self.views.promised()
    }

    /// The view that it is in; none while it has halted.
    pub fn view(&self) -> Option<&View> {
        self.views.current()
    }

    /// Whether its detector suspects a node.
    pub fn suspects(&self, node: NodeId) -> bool {
        self.views.suspects(node)
    }

    /// The fence of its user's last entry.
    pub fn last_fence(&self) -> Option<Fence> {
        self.admission.as_ref().map(|admission| admission.fence)
    }

    /// The lock of the view, if it has one.
    pub fn lock(&self) -> Option<&LockOf<B>> {
        match &self.lock {
            Lock::Among(lock) => Some(lock),
            Lock::None | Lock::Alone => None,
        }
    }

    fn standing(&self) -> Standing {
        let in_view = self.views.current().filter(|_| self.entry > 0);
        let fence = in_view.map(|view| Fence { epoch: view.epoch, entry: self.entry });
        Standing { inside: self.phase.is_inside(), fence: fence.max(self.last_fence()) }
    }

    /// Does what the views want done, and looks whether there is more to do.
    fn follow(&mut self, news: News, out: &mut Outbox<Message<Inner<B>>>) {
        self.apply(news, out);
        let standing = self.standing();
        let news = self.views.mind(standing, &mut Within(out, Message::View));
        self.apply(news, out);
    }

    fn apply(&mut self, news: News, out: &mut Outbox<Message<Inner<B>>>) {
        match news {
            News::None => {}
            News::Halted => {
                self.halt();
                self.early.clear();
            }
            News::Installed => {
                self.halt();
                self.begin(out);
            }
        }
    }

    /// Nothing of the old lock counts any more.
    fn halt(&mut self) {
        self.lock = Lock::None;
        self.timers.outlive();
        self.entry = 0;
    }

    /// Begins with a fresh lock over the members.
    fn begin(&mut self, out: &mut Outbox<Message<Inner<B>>>) {
        let members = &self.views.current().expect("a view was installed").members;
        let before = members.iter().take_while(|&node| node < self.views.me()).count();
        self.lock = match members.len() {
            1 => Lock::Alone,
            count => Lock::Among(self.blueprint.build(NodeId::at(before), count)),
        };
        let begun = self.give(Input::Start, 0, out);
        debug_assert_eq!(begun, Ok(()), "a start is never refused");
        if self.phase.is_waiting() {
            let asked = self.ask(out);
            debug_assert_eq!(asked, Ok(()), "a fresh lock is idle");
        }
        for (from, entry, message) in self.early.take() {
            // What a member has not sent is not missed: it was checked before for nothing but its
            // epoch.
            let _ = self.hear(from, entry, message, out);
        }
    }

    /// Keeps a message until its view is installed. If there are too many, one of them would have
    /// to be dropped, and with it perhaps a token: so a view is called in which none of them
    /// counts.
    fn keep(
        &mut self,
        from: NodeId,
        entry: u64,
        message: Inner<B>,
        out: &mut Outbox<Message<Inner<B>>>,
    ) {
        if self.early.keep(from, entry, message).is_err() {
            let standing = self.standing();
            let news = self.views.call(standing, &mut Within(out, Message::View));
            self.follow(news, out);
        }
    }

    /// The user's request, for the lock of the view.
    fn ask(&mut self, out: &mut Outbox<Message<Inner<B>>>) -> Result<(), Refused> {
        match self.lock {
            Lock::None => Ok(()),
            Lock::Alone => {
                self.enter(out);
                Ok(())
            }
            Lock::Among(_) => self.give(Input::Request, 0, out),
        }
    }

    /// A message of the lock of this view.
    fn hear(
        &mut self,
        from: NodeId,
        entry: u64,
        message: Inner<B>,
        out: &mut Outbox<Message<Inner<B>>>,
    ) -> Result<(), Refused> {
        let members = self.views.current().map(|view| &view.members);
        let place = members.and_then(|members| members.iter().position(|node| node == from));
        let place = place.ok_or(Refused("only a member of the view takes part in its lock"))?;
        self.give(Input::Receive { from: NodeId::at(place), message }, entry, out)
    }

    /// Gives the lock an input, after which it knows of this entry.
    fn give(
        &mut self,
        input: Input<Inner<B>>,
        entry: u64,
        out: &mut Outbox<Message<Inner<B>>>,
    ) -> Result<(), Refused> {
        let Lock::Among(lock) = &mut self.lock else { return Ok(()) };
        let outputs = step_part(lock, input)?;
        self.entry = self.entry.max(entry);
        for output in outputs {
            match output {
                Output::Send { to, message } => {
                    let view = self.views.current().expect("its lock runs");
                    let to = view.members.iter().nth(to.index()).expect("the lock has members");
                    let (epoch, entry) = (view.epoch, self.entry);
                    out.send(to, Message::Lock { epoch, entry, message });
                }
                Output::SetTimer { timer, periods } => {
                    out.set_timer(self.timers.set(timer), periods);
                }
                Output::Enter => self.enter(out),
                Output::Leader(_) => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, out: &mut Outbox<Message<Inner<B>>>) {
        let epoch = self.views.current().expect("its lock runs").epoch;
        let is_first = self.entry == 0;
        self.entry += 1;
        let perhaps_inside = match is_first {
            true => self.views.perhaps_inside().clone(),
            false => NodeSet::empty(self.nodes()),
        };
        let fence = Fence { epoch, entry: self.entry };
        self.admission = Some(Admission { fence, perhaps_inside });
        self.phase.enter(out);
    }
}

impl<B: Blueprint> Machine for Recovering<B> {
    type Message = Message<Inner<B>>;

    const CHANNELS: Channels = LockOf::<B>::CHANNELS;
    const RESTS: bool = LockOf::<B>::RESTS;

    fn id(&self) -> NodeId {
        self.views.me()
    }

    fn nodes(&self) -> usize {
        self.views.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Self::Message>) {
        let begun = self.give(Input::Start, 0, out);
        debug_assert_eq!(begun, Ok(()), "a start is never refused");
    }

    fn request(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let before = self.phase;
        self.phase.request()?;
        // The lock refuses it if its numbers are used up.
        self.ask(out).inspect_err(|_| self.phase = before)
    }

    fn release(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let before = self.phase;
        self.phase.release()?;
        match self.lock {
            Lock::Among(_) => {
                self.give(Input::Release, 0, out).inspect_err(|_| self.phase = before)
            }
            Lock::Alone => Ok(()),
            Lock::None => {
                let news = self.views.left(&mut Within(out, Message::View));
                self.follow(news, out);
                Ok(())
            }
        }
    }

    fn withdraw(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let mut after = self.phase;
        after.withdraw()?;
        // One that has halted has asked nobody.
        self.give(Input::Withdraw, 0, out)?;
        self.phase = after;
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::View(message) => {
                let standing = self.standing();
                let out_of_views = &mut Within(out, Message::View);
                let news = self.views.receive(from, message, standing, out_of_views)?;
                self.follow(news, out);
                Ok(())
            }
            Message::Lock { epoch, entry, message } => {
                Epoch::check(entry)?;
                let promised = self.views.promised();
                match self.views.current().map(|view| view.epoch) {
                    _ if epoch > promised => Err(Refused("it has promised nothing to this epoch")),
                    // The promise: nothing older counts.
                    _ if epoch < promised => Ok(()),
                    Some(_) => self.hear(from, entry, message, out),
                    None if self.views.is_halted() => {
                        self.keep(from, entry, message, out);
                        Ok(())
                    }
                    None => Err(Refused("it has not installed this view yet")),
                }
            }
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        let found = self.timers.find(timer).ok_or(Refused("no such timer runs"))?;
        let before = self.timers.clone();
        self.timers.strike(timer);
        let Some(inner) = found else { return Ok(()) };
        let outcome = self.give(Input::Timeout(inner), 0, out);
        if outcome.is_err() {
            self.timers = before;
        }
        outcome
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        notice.check(self.id(), self.nodes())?;
        if notice == Notice::Recovered {
            // Everything is forgotten but the promise.
            self.halt();
            (self.phase, self.admission) = (Phase::Idle, None);
            self.early.clear();
            self.timers.clear();
        }
        let standing = self.standing();
        let news = self.views.notice(notice, standing, &mut Within(out, Message::View))?;
        self.follow(news, out);
        Ok(())
    }
}
