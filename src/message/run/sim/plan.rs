//! What is to befall a simulated cluster, and what is promised for afterwards.

use super::faults::{Fault, Notices};
use super::{Delay, SimCause};
use crate::message::random::Random;
use crate::message::{ClusterError, NodeId, Time};

/// What befalls the node that is aimed at.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Deed {
    /// It crashes, and comes back after so long, if at all.
    Crash(Option<f64>),
    /// It stands still for so long.
    Pause(f64),
    /// It is cut off from all others for so long.
    Isolate(f64),
}

/// The first node that fits, from a moment on, is hit.
#[derive(Debug)]
pub(super) struct Aim<P> {
    pub(super) from: f64,
    pub(super) fits: fn(&P) -> bool,
    pub(super) deed: Deed,
}

impl<P> Clone for Aim<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Aim<P> {}

/// Faults that a seed chooses: whom, and when. Nothing befalls the cluster unless it is set.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct RandomFaults {
    /// All of it begins before this time.
    pub within: f64,
    /// So many different nodes crash.
    pub crashes: usize,
    /// They come back after so long, if at all.
    pub down_for: Option<f64>,
    /// So many times a node stands still.
    pub pauses: usize,
    /// So many times a node is cut off from all others.
    pub cuts: usize,
    /// So many times what a node sends does not arrive.
    pub one_way_cuts: usize,
    /// So many times a node's messages take ten times as long.
    pub slow: usize,
    /// How long pauses, cuts and slowness last.
    pub lasting: f64,
    /// How probable it is that a message is lost.
    pub loss: f64,
    /// How probable it is that a message arrives twice.
    pub duplication: f64,
}

/// What is to befall the nodes.
#[derive(Debug)]
pub(super) struct Plan<P> {
    /// Who is down from the beginning.
    pub(super) down: Vec<NodeId>,
    pub(super) faults: Vec<(f64, Fault)>,
    pub(super) aims: Vec<Aim<P>>,
    pub(super) at_random: Option<RandomFaults>,
    pub(super) notices: Notices,
    /// When all heals, and how long a user may wait from then on.
    pub(super) heals: Option<(f64, f64)>,
    pub(super) ignores_refused: bool,
    /// Whether more may be inside than the lock lets in at a time.
    pub(super) may_overlap: bool,
}

impl<P> Clone for Plan<P> {
    fn clone(&self) -> Self {
        Self {
            down: self.down.clone(),
            faults: self.faults.clone(),
            aims: self.aims.clone(),
            at_random: self.at_random,
            notices: self.notices.clone(),
            heals: self.heals,
            ignores_refused: self.ignores_refused,
            may_overlap: self.may_overlap,
        }
    }
}

impl<P> Default for Plan<P> {
    fn default() -> Self {
        Self {
            down: Vec::new(),
            faults: Vec::new(),
            aims: Vec::new(),
            at_random: None,
            notices: Notices::ToNobody,
            heals: None,
            ignores_refused: false,
            may_overlap: false,
        }
    }
}

impl<P> Plan<P> {
    /// Whether nothing can befall the nodes.
    pub(super) fn is_empty(&self) -> bool {
        self.down.is_empty() && self.is_over_at_once()
    }

    /// Whether nothing can befall the nodes once they run.
    pub(super) fn is_over_at_once(&self) -> bool {
        self.faults.is_empty()
            && self.aims.is_empty()
            && self.at_random.is_none()
            && self.heals.is_none()
    }

    pub(super) fn check(&self, nodes: usize) -> Result<(), SimCause> {
        let known = |&node: &NodeId| {
            ClusterError::check_node(node, nodes).map(drop).map_err(SimCause::Cluster)
        };
        self.down.iter().try_for_each(known)?;
        let setting = |wrong: String| Err(SimCause::Setting(wrong));
        let mut chances = Vec::new();
        for (_, fault) in &self.faults {
            match fault {
                Fault::Crash(node)
                | Fault::Recover(node)
                | Fault::Pause(node)
                | Fault::Resume(node) => known(node)?,
                Fault::Slow(node, times) => {
                    known(node)?;
                    if let Err(wrong) = Delay::Constant(*times).check() {
                        return setting(wrong);
                    }
                }
                Fault::Cut(side) | Fault::CutOneWay(side) => side.iter().try_for_each(known)?,
                Fault::Lose(chance) | Fault::Double(chance) => chances.push(*chance),
                Fault::LoseNext(_) | Fault::Heal | Fault::HealAll => {}
            }
        }
        if let Some(random) = self.at_random {
            chances.extend([random.loss, random.duplication]);
            if random.crashes > nodes {
                return setting(format!("there are {nodes} nodes to crash: take no more"));
            }
        }
        if let Some(chance) = chances.into_iter().find(|chance| !(0.0..=1.0).contains(chance)) {
            return setting(format!("{chance} is no probability: take 0 to 1"));
        }
        if let Some(time) = self.times().find(|time| !(0.0..=1e12).contains(time)) {
            return setting(format!("nothing can happen at {time}: take 0 or later"));
        }
        Ok(())
    }

    /// Every time and duration that was named.
    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let lasting = |deed: Deed| match deed {
            Deed::Crash(after) => after.unwrap_or(0.0),
            Deed::Pause(time) | Deed::Isolate(time) => time,
        };
        let random = self.at_random.into_iter();
        let random = random.flat_map(|it| [it.within, it.lasting, it.down_for.unwrap_or(0.0)]);
        let aims = self.aims.iter().flat_map(move |aim| [aim.from, lasting(aim.deed)]);
        let faults = self.faults.iter().map(|it| it.0);
        faults.chain(aims).chain(random).chain(self.heals.iter().flat_map(|it| [it.0, it.1]))
    }

    /// All faults with their times, those that the seed chooses too.
    pub(super) fn timed(&self, nodes: usize, seed: u64) -> Vec<(Time, Fault)> {
        let mut faults = self.faults.clone();
        if let Some(random) = self.at_random {
            random.draw(nodes, &mut Random::new(!seed), &mut faults);
        }
        faults.extend(self.heals.map(|(time, _)| (time, Fault::HealAll)));
        faults.into_iter().map(|(time, fault)| (Time::units(time), fault)).collect()
    }
}

impl RandomFaults {
    fn draw(self, nodes: usize, random: &mut Random, faults: &mut Vec<(f64, Fault)>) {
        let mut alive: Vec<_> = NodeId::all(nodes).collect();
        for _ in 0..self.crashes {
            let node = alive.swap_remove(random.below(alive.len()));
            let time = random.fraction() * self.within;
            faults.push((time, Fault::Crash(node)));
            faults.extend(self.down_for.map(|after| (time + after, Fault::Recover(node))));
        }
        let mut while_lasting = |times: usize, begins: fn(NodeId) -> Fault, ends| {
            let ends: fn(NodeId) -> Fault = ends;
            for _ in 0..times {
                let node = NodeId::at(random.below(nodes));
                let time = random.fraction() * self.within;
                faults.push((time, begins(node)));
                faults.push((time + self.lasting, ends(node)));
            }
        };
        while_lasting(self.pauses, Fault::Pause, Fault::Resume);
        while_lasting(self.cuts, |node| Fault::Cut(vec![node]), |_| Fault::Heal);
        while_lasting(self.one_way_cuts, |node| Fault::CutOneWay(vec![node]), |_| Fault::Heal);
        while_lasting(self.slow, |node| Fault::Slow(node, 10.0), |node| Fault::Slow(node, 1.0));
        for (chance, fault) in
            [(self.loss, Fault::Lose as fn(f64) -> Fault), (self.duplication, Fault::Double)]
        {
            if chance > 0.0 {
                faults.push((0.0, fault(chance)));
            }
        }
    }
}

/// What can be set of what befalls the nodes: for a builder that has a `plan` for such machines.
macro_rules! fault_settings {
    ($machine:ty) => {
        /// Who is down from the beginning. Whoever is told of crashes knows it.
        pub fn without(mut self, nodes: impl IntoIterator<Item = NodeId>) -> Self {
            self.plan.down.extend(nodes);
            self
        }

        /// Something befalls the cluster at a time.
        pub fn fault_at(mut self, time: f64, fault: Fault) -> Self {
            self.plan.faults.push((time, fault));
            self
        }

        /// From a time on, the first node that fits is hit, once. Of several that fit it is the one
        /// with the lowest number.
        pub fn aim_at(mut self, time: f64, fits: fn(&$machine) -> bool, deed: Deed) -> Self {
            self.plan.aims.push(Aim { from: time, fits, deed });
            self
        }

        /// Faults that the seed chooses.
        pub fn faults_at_random(mut self, random: RandomFaults) -> Self {
            self.plan.at_random = Some(random);
            self
        }

        /// Who is told which nodes are down.
        pub fn notices(mut self, notices: Notices) -> Self {
            self.plan.notices = notices;
            self
        }

        /// A message that a node refuses is as good as lost, where it else ends the run. Under
        /// faults nodes may get what nobody would send them otherwise.
        pub fn ignoring_refused(mut self) -> Self {
            self.plan.ignores_refused = true;
            self
        }
    };
}
