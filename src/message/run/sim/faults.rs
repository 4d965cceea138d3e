//! What befalls the nodes of a simulation, and who is told.

use std::collections::HashMap;

use super::plan::{Aim, Deed, Plan};
use super::world::{Coming, World};
use super::{SimCause, Time};
use crate::message::random::Random;
use crate::message::run::plight::Plight;
use crate::message::{Channels, Happening, Input, NodeId, NodeSet, Notice, Protocol, Violation};

/// What can befall a cluster.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A node goes down: its timers are gone, its user dies, and what arrives is lost. What it has
    /// sent arrives.
    Crash(NodeId),
    /// A node comes back. It is told so, and keeps what it would have on a disk. Its user is idle.
    Recover(NodeId),
    /// A node stands still. What comes to it waits, also its timers and its user.
    Pause(NodeId),
    /// A node goes on, with all that has come to it.
    Resume(NodeId),
    /// Nothing passes between these nodes and the others, either way. What is in flight is lost. A
    /// cut that was there before is over.
    Cut(Vec<NodeId>),
    /// What these nodes send does not reach the others, but they hear them. What is in flight is
    /// lost. A cut that was there before is over.
    CutOneWay(Vec<NodeId>),
    /// The cut is over.
    Heal,
    /// From now on each message is lost with this probability.
    Lose(f64),
    /// The next message of this kind that would arrive is lost.
    LoseNext(&'static str),
    /// From now on each message arrives twice with this probability.
    Double(f64),
    /// What a node sends from now on, and what is sent to it, takes so many times as long.
    Slow(NodeId, f64),
    /// The cut, loss, duplication and slowness are over, and those that stand still go on. Those
    /// that are down stay so.
    HealAll,
}

/// Who is told which nodes are down: a detector that is right.
///
/// Of a node that has crashed it tells after Tmax, when all that the node has sent has arrived; of
/// one that has recovered before anything of its new life arrives. A node that is back before
/// anybody has been told was never down, as far as they know. Across a cut the others seem down.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum Notices {
    /// Nobody.
    #[default]
    ToNobody,
    /// Every node.
    ToAll,
    /// These nodes.
    To(Vec<NodeId>),
}

/// What has befallen the nodes, and what still is to.
pub(super) struct Troubles<P: Protocol> {
    pub(super) plight: Plight,
    /// How often each has crashed: timers of a former life are gone.
    lives: Vec<u32>,
    observers: Vec<NodeId>,
    /// Draws what befalls messages, so that the delays are the same without that.
    pub(super) random: Random,
    pub(super) loss: f64,
    pub(super) duplication: f64,
    /// The kinds of which the next message is lost.
    pub(super) lose_next: Vec<&'static str>,
    /// How many times as long messages to and from a node take, where it is slow.
    slow: HashMap<NodeId, f64>,
    /// When the last message between two nodes arrives, where order is kept and some are slow.
    last: Option<HashMap<(NodeId, NodeId), Time>>,
    /// Who stands still, and what waits for that to end.
    pub(super) paused: NodeSet,
    pub(super) held: Vec<Coming<P::Message>>,
    /// What a cut has swallowed at once: sender, receiver, number. It is written down after the
    /// step.
    pub(super) missed: Vec<(NodeId, NodeId, u64)>,
    aims: Vec<Aim<P>>,
    /// How long a user may wait once all has healed.
    pub(super) served_within: Option<f64>,
    /// Who sent the message that is being delivered, if one is.
    pub(super) delivers: Option<NodeId>,
    pub(super) ignores_refused: bool,
    pub(super) may_overlap: bool,
}

impl<P: Protocol> Troubles<P> {
    pub(super) fn new(nodes: usize, plan: Plan<P>, channels: Channels, seed: u64) -> Self {
        let observers = match plan.notices {
            Notices::ToNobody => Vec::new(),
            Notices::ToAll => NodeId::all(nodes).collect(),
            Notices::To(some) => some,
        };
        Self {
            plight: Plight::new(nodes),
            lives: vec![0; nodes],
            observers,
            random: Random::new(seed.rotate_left(32)),
            loss: 0.0,
            duplication: 0.0,
            lose_next: Vec::new(),
            slow: HashMap::new(),
            last: (channels == Channels::Fifo).then(HashMap::new),
            paused: NodeSet::empty(nodes),
            held: Vec::new(),
            missed: Vec::new(),
            aims: plan.aims,
            served_within: plan.heals.map(|(_, within)| within),
            delivers: None,
            ignores_refused: plan.ignores_refused,
            may_overlap: plan.may_overlap,
        }
    }

    pub(super) fn life(&self, node: NodeId) -> u32 {
        self.lives[node.index()]
    }

    /// When a message arrives that would arrive at this time if no node were slow.
    pub(super) fn slowed(&mut self, now: Time, from: NodeId, to: NodeId, arrival: Time) -> Time {
        let times = |node: NodeId| self.slow.get(&node).copied().unwrap_or(1.0);
        let times = times(from).max(times(to));
        let takes = Time(arrival.0 - now.0).as_units() * times;
        let arrival = if times == 1.0 { arrival } else { now.after(Time::units(takes).0) };
        let Some(last) = &mut self.last else { return arrival };
        let last = last.entry((from, to)).or_default();
        *last = arrival.max(*last);
        *last
    }
}

impl<P: Protocol> World<P> {
    /// These nodes are down before anything begins, and those that are to know it do.
    pub(super) fn begin_without(&mut self, down: &[NodeId]) -> Result<(), SimCause> {
        for &node in down {
            self.crash(node);
        }
        let Some(troubles) = &self.troubles else { return Ok(()) };
        let observers = troubles.observers.clone();
        for observer in observers {
            for &node in down {
                self.notify(observer, node)?;
            }
        }
        Ok(())
    }

    pub(super) fn befall(&mut self, fault: &Fault) -> Result<(), SimCause> {
        let Some(troubles) = self.troubles.as_deref_mut() else { return Ok(()) };
        let plight = &mut troubles.plight;
        match fault {
            Fault::Crash(node) => {
                if !plight.down.contains(*node) {
                    self.crash(*node);
                    self.announce_fate(*node);
                }
            }
            Fault::Recover(node) => {
                if plight.down.remove(*node) {
                    self.announce_fate(*node);
                    self.give(*node, Input::Notice(Notice::Recovered), 0)?;
                }
            }
            Fault::Pause(node) => {
                if troubles.paused.insert(*node) {
                    self.note(*node, Happening::Pauses);
                }
            }
            Fault::Resume(node) => self.resume(*node),
            Fault::Cut(side) => self.cut(Some(side), false),
            Fault::CutOneWay(side) => self.cut(Some(side), true),
            Fault::Heal => self.cut(None, false),
            Fault::Lose(chance) => troubles.loss = *chance,
            Fault::LoseNext(kind) => troubles.lose_next.push(kind),
            Fault::Double(chance) => troubles.duplication = *chance,
            Fault::Slow(node, times) => {
                troubles.slow.insert(*node, *times);
            }
            Fault::HealAll => {
                (troubles.loss, troubles.duplication) = (0.0, 0.0);
                troubles.lose_next.clear();
                troubles.slow.clear();
                troubles.aims.clear();
                if let Some(within) = troubles.served_within {
                    self.look_after(within);
                }
                NodeId::all(self.nodes.len()).for_each(|node| self.resume(node));
                self.cut(None, false);
            }
        }
        Ok(())
    }

    /// A cut begins or is over.
    fn cut(&mut self, side: Option<&Vec<NodeId>>, one_way: bool) {
        let nodes = self.nodes.len();
        let Some(troubles) = self.troubles.as_deref_mut() else { return };
        let apart = |plight: &Plight| -> Vec<_> {
            NodeId::all(nodes).map(|node| plight.beyond_reach(node, nodes)).collect()
        };
        let before = apart(&troubles.plight);
        let side = side.map(|side| NodeSet::of(nodes, side.iter().copied()));
        troubles.plight.cut(side, one_way);
        let after = apart(&troubles.plight);
        for ((node, before), after) in NodeId::all(nodes).zip(before).zip(after) {
            if !before.is_empty() && before != after {
                self.note(node, Happening::Rejoins);
            }
            if !after.is_empty() && before != after {
                self.note(node, Happening::CutOff(after));
            }
        }
        NodeId::all(nodes).for_each(|node| self.announce_fate(node));
    }

    /// A node that stands still goes on: what waits for it comes now, in its order.
    fn resume(&mut self, node: NodeId) {
        let Some(troubles) = self.troubles.as_deref_mut() else { return };
        if !troubles.paused.remove(node) {
            return;
        }
        let held = std::mem::take(&mut troubles.held);
        let (now, rest): (Vec<_>, _) = held.into_iter().partition(|it| it.node() == Some(node));
        troubles.held = rest;
        now.into_iter().for_each(|coming| self.bring_back(coming));
        self.note(node, Happening::Resumes);
    }

    /// Hits the nodes that were aimed at, if they fit now.
    pub(super) fn take_aim(&mut self) -> Result<(), SimCause> {
        let Some(troubles) = self.troubles.as_deref_mut() else { return Ok(()) };
        let mut hits = Vec::new();
        let (nodes, now, down) = (&self.nodes, self.now, &troubles.plight.down);
        troubles.aims.retain(|aim| {
            let mut live = nodes.iter().filter(|node| !down.contains(node.id()));
            let hit = live.find(|node| Time::units(aim.from) <= now && (aim.fits)(node));
            hits.extend(hit.map(|node| (node.id(), aim.deed)));
            hit.is_none()
        });
        for (node, deed) in hits {
            let (fault, end) = match deed {
                Deed::Crash(after) => {
                    (Fault::Crash(node), after.map(|after| (after, Fault::Recover(node))))
                }
                Deed::Pause(lasts) => (Fault::Pause(node), Some((lasts, Fault::Resume(node)))),
                Deed::Isolate(lasts) => (Fault::Cut(vec![node]), Some((lasts, Fault::Heal))),
            };
            if let Some((after, fault)) = end {
                let then = self.now.after(Time::units(after).0);
                self.schedule(then, Coming::Fault(Box::new(fault)));
            }
            self.befall(&fault)?;
        }
        Ok(())
    }

    /// Some time after all has healed: has anybody waited longer than it may?
    pub(super) fn look_after(&mut self, within: f64) {
        let then = self.now.after(Time::units(within).0).after(1);
        self.remind(then);
    }

    pub(super) fn check_service(&mut self) -> Result<(), SimCause> {
        let Some(within) = self.troubles.as_ref().and_then(|it| it.served_within) else {
            return Ok(());
        };
        let bound = Time::units(within).0;
        let waiting = self.waiting_since(Time(self.now.0.saturating_sub(bound)));
        if !waiting.is_empty() {
            return Err(SimCause::Violation(Violation::NotServed(waiting)));
        }
        self.look_after(within);
        Ok(())
    }

    /// Writes down what a cut has swallowed.
    pub(super) fn note_missed(&mut self) {
        let Some(troubles) = self.troubles.as_deref_mut() else { return };
        for (from, to, message) in std::mem::take(&mut troubles.missed) {
            self.note(to, Happening::Misses { from, message });
        }
    }

    pub(super) fn note(&mut self, node: NodeId, happening: Happening) {
        if let Some(scribe) = &mut self.tally.scribe {
            scribe.trace.note(self.now, node, happening);
        }
    }

    fn crash(&mut self, node: NodeId) {
        if let Some(troubles) = &mut self.troubles {
            troubles.plight.down.insert(node);
            troubles.plight.forget(node);
            troubles.lives[node.index()] += 1;
            // What waited for it to go on is lost, but for what is no business of the dead.
            troubles.paused.remove(node);
            let held = std::mem::take(&mut troubles.held);
            let (lost, rest): (Vec<_>, _) =
                held.into_iter().partition(|it| it.node() == Some(node));
            troubles.held = rest;
            lost.into_iter().for_each(|coming| self.bring_back(coming));
        }
        self.bury_user(node);
        self.note(node, Happening::Crashes);
    }

    /// The detectors will look at a node, and the node's own at all others, when Tmax has passed.
    fn announce_fate(&mut self, node: NodeId) {
        let Some(Troubles { plight, observers, .. }) = self.troubles.as_deref() else { return };
        let when = self.now.after(Time::units(self.period).0).after(1);
        let others = observers.iter().copied().filter(|&observer| observer != node);
        let mut looks: Vec<_> = others.map(|observer| (observer, node)).collect();
        if observers.contains(&node) {
            let others = NodeId::all(self.nodes.len()).filter(|&other| other != node);
            let seem_down = others.filter(|&other| plight.seems_down(node, other));
            looks.extend(seem_down.map(|other| (node, other)));
        }
        for (observer, node) in looks {
            self.schedule(when, Coming::Look(observer, node));
        }
    }

    /// A detector looks at a node, and tells if something has changed.
    pub(super) fn notify(&mut self, observer: NodeId, node: NodeId) -> Result<(), SimCause> {
        let troubles = self.troubles.as_mut();
        let news = troubles.and_then(|troubles| troubles.plight.tell(observer, node));
        news.map_or(Ok(()), |notice| self.give(observer, Input::Notice(notice), 0))
    }
}
