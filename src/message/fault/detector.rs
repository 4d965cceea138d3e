//! A failure detector: each node tells the others that it lives, and suspects one that is silent.
//!
//! | message | when | to |
//! |---|---|---|
//! | `HEARTBEAT(life)` | every period | all others |
//! | of the machine | the machine sends it | as it says |
//!
//! A peer is unsuspected, or suspected. A suspect that is heard of is trusted again: that was a
//! mistake, unless it has restarted meanwhile. The machine is told with [`Notice::Down`] and
//! [`Notice::Up`].
//!
//! # How long a silence may be
//! With T known ([`Detector::reliable`]) a heartbeat takes at most one period. So at most three
//! timers of the observer run out between two heartbeats: the fourth tells that the peer is down,
//! and then all that it has sent has arrived. If T is no bound after all, the mistakes show it.
//! Without a known T ([`Detector::unreliable`]) the patience for a peer grows at each mistake. Once
//! it is longer than messages take, the suspicion settles.
//!
//! # Cost
//! n(n-1) `HEARTBEAT` in each period, whatever else happens.

use crate::message::part::whole;
use crate::message::{
    Admission, Channels, Claims, Input, Machine, NodeId, NodeSet, Notice, Outbox, Output, Phase,
    Protocol, Refused, Timer, forward_inputs, step_part,
};

use super::link::Life;

/// What the nodes say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message<M> {
    /// I live, since so many restarts.
    Heartbeat(Life),
    /// A message of the machine.
    Of(M),
}

impl<M: crate::message::Message> crate::message::Message for Message<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Heartbeat(_) => "HEARTBEAT",
            Self::Of(message) => message.kind(),
        }
    }
}

/// So many of the observer's timers may run out between two heartbeats that are in time.
const PATIENCE: u32 = 3;

/// The detector's own timer. Those of its machine come after it.
const BEAT: Timer = Timer(0);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Watched {
    /// How many timers have run out since it was heard of.
    silence: u32,
    /// How many may.
    patience: u32,
    suspected: bool,
    life: Life,
}

impl Watched {
    fn new() -> Self {
        Self { silence: 0, patience: PATIENCE, suspected: false, life: 0 }
    }
}

/// A machine that is told by a detector who is down. See the [module](self).
///
/// ```
/// use exclusion::message::sim::Simulation;
/// use exclusion::message::{Detector, RicartAgrawala};
///
/// let nodes = RicartAgrawala::cluster(3)?.into_iter().map(Detector::reliable).collect();
/// let report = Simulation::new(nodes).run()?;
/// assert_eq!(report.entries, 3);
/// assert!(report.messages.of("HEARTBEAT") > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Detector<M> {
    inner: M,
    /// Whether the patience grows.
    learns: bool,
    /// Survives a restart.
    life: Life,
    watched: Vec<Watched>,
    mistakes: u64,
}

impl<M: Machine> Detector<M> {
    /// For a network whose longest delay is known: it is a period.
    pub fn reliable(inner: M) -> Self {
        let watched = vec![Watched::new(); inner.nodes()];
        Self { inner, learns: false, life: 0, watched, mistakes: 0 }
    }

    /// For a network whose longest delay is not known.
    pub fn unreliable(inner: M) -> Self {
        Self { learns: true, ..Self::reliable(inner) }
    }

    /// The same with the life that it had before it was restarted. Give it [`Notice::Recovered`]
    /// then, and no [`Input::Start`].
    #[must_use]
    pub fn restored(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// The machine.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// Whom it suspects.
    pub fn suspects(&self) -> NodeSet {
        let all = NodeId::all(self.watched.len());
        NodeSet::of(self.watched.len(), all.filter(|node| self.watched[node.index()].suspected))
    }

    /// How often it has suspected a node that was up.
    pub fn mistakes(&self) -> u64 {
        self.mistakes
    }

    /// How many periods of silence it takes to suspect a node.
    pub fn patience(&self, node: NodeId) -> u32 {
        self.watched[node.index()].patience + 1
    }

    fn give(
        &mut self,
        input: Input<M::Message>,
        out: &mut Outbox<Message<M::Message>>,
    ) -> Result<(), Refused> {
        for output in step_part(&mut self.inner, input)? {
            match output {
                Output::SetTimer { timer, periods } => out.set_timer(Timer(timer.0 + 1), periods),
                other => out.forward(other, Message::Of),
            }
        }
        Ok(())
    }

    fn beat(&self, out: &mut Outbox<Message<M::Message>>) {
        out.broadcast(self.id().others(self.nodes()), Message::Heartbeat(self.life));
        out.set_timer(BEAT, 1);
    }

    /// A node was heard of, perhaps in a new life.
    fn hear(
        &mut self,
        node: NodeId,
        life: Option<Life>,
        out: &mut Outbox<Message<M::Message>>,
    ) -> Result<(), Refused> {
        let watched = &mut self.watched[node.index()];
        let is_reborn = life.is_some_and(|life| life > watched.life);
        watched.life = watched.life.max(life.unwrap_or(0));
        watched.silence = 0;
        if !std::mem::take(&mut watched.suspected) {
            return Ok(());
        }
        if !is_reborn {
            self.mistakes = self.mistakes.saturating_add(1);
            watched.patience = watched.patience.saturating_add(u32::from(self.learns));
        }
        self.give(Input::Notice(Notice::Up(node)), out)
    }

    fn look(&mut self, out: &mut Outbox<Message<M::Message>>) -> Result<(), Refused> {
        for node in self.id().others(self.nodes()) {
            let watched = &mut self.watched[node.index()];
            watched.silence = watched.silence.saturating_add(1);
            if watched.silence > watched.patience && !watched.suspected {
                watched.suspected = true;
                self.give(Input::Notice(Notice::Down(node)), out)?;
            }
        }
        Ok(())
    }
}

impl<M: Machine> Machine for Detector<M> {
    type Message = Message<M::Message>;

    const CHANNELS: Channels = M::CHANNELS;
    const RESTS: bool = false;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Self::Message>) {
        self.beat(out);
        let begun = self.give(Input::Start, out);
        debug_assert_eq!(begun, Ok(()), "a start is never refused");
    }

    forward_inputs!(give: elect, request, release, withdraw);

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        match message {
            Message::Heartbeat(life) if life < self.watched[from.index()].life => Ok(()),
            Message::Heartbeat(life) => whole(self, |it| it.hear(from, Some(life), out)),
            Message::Of(message) if self.watched[from.index()].suspected => {
                // What the machine refuses leaves nothing changed, so a suspect is one still.
                whole(self, |it| {
                    it.hear(from, None, out)?;
                    it.give(Input::Receive { from, message }, out)
                })
            }
            Message::Of(message) => {
                self.give(Input::Receive { from, message }, out)?;
                self.watched[from.index()].silence = 0;
                Ok(())
            }
        }
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        if timer != BEAT {
            return self.give(Input::Timeout(Timer(timer.0 - 1)), out);
        }
        whole(self, |it| {
            it.beat(out);
            it.look(out)
        })
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        notice.check(self.id(), self.nodes())?;
        if notice == Notice::Recovered {
            return whole(self, |it| {
                it.life = it.life.checked_add(1).ok_or(Refused("it has had all its lives"))?;
                it.watched = vec![Watched::new(); it.nodes()];
                it.beat(out);
                it.give(Input::Notice(notice), out)
            });
        }
        // It finds out by itself who is down.
        Ok(())
    }
}

impl<P: Protocol> Protocol for Detector<P> {
    type Access = P::Access;

    const WITHDRAWS: bool = P::WITHDRAWS;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }

    fn entries_at_a_time(&self) -> usize {
        self.inner.entries_at_a_time()
    }

    fn goes_on_without(&self, dead: &Self) -> bool {
        self.inner.goes_on_without(&dead.inner)
    }

    fn admission(&self) -> Option<&Admission> {
        self.inner.admission()
    }
}

impl<P: Protocol> Claims for Detector<P> {}
