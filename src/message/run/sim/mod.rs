//! Runs any [`Protocol`] in a simulated network: seeded, replayable, and checked at every step.
//!
//! Time is counted in T, the time that a message takes. A [`Workload`] says who wants in, a
//! [`Delay`] how long messages take. At each step the simulator checks mutual exclusion, and that
//! no user is let in that did not ask. At the end it checks that no user is left waiting. The
//! [`Report`] has the measures of the papers: messages per entry, client delay, synchronization
//! delay.
//!
//! ```
//! use exclusion::message::{NodeId, RicartAgrawala};
//! use exclusion::message::sim::{Delay, Simulation, Workload};
//!
//! let report = Simulation::new(RicartAgrawala::cluster(5)?)
//!     .delay(Delay::Exponential(1.0))
//!     .workload(Workload::Saturated { wanting: 5, entries: 100 })
//!     .seed(7)
//!     .run()?;
//! assert_eq!(report.entries, 100);
//! assert_eq!(report.messages.total(), 100 * 2 * (5 - 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nodes and messages can be befallen by a [`Fault`]: at a time, at random by the seed, or when a
//! node has a role. At a stated moment all heals, and then nobody that lives may wait longer than a
//! bound:
//!
//! ```
//! use exclusion::message::sim::{Fault, Simulation, Workload};
//! use exclusion::message::{Lamport, NodeId};
//!
//! let report = Simulation::new(Lamport::cluster(3)?)
//!     .workload(Workload::Saturated { wanting: 3, entries: 100 })
//!     .fault_at(20.0, Fault::Pause(NodeId(1)))
//!     .healed_at(60.0, 20.0)
//!     .run()?;
//! assert_eq!(report.entries, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Contest`] is an election: who calls, who goes down and comes back, where the network is cut,
//! and who is told.
#![forbid(unsafe_code)]

#[macro_use]
mod settings;
#[macro_use]
mod plan;

mod befallen;
mod contest;
mod delay;
mod error;
mod faults;
mod patience;
mod queue;
mod report;
mod tally;
mod workload;
mod world;

pub use contest::{Contest, ContestReport};
pub use delay::Delay;
pub use error::{SimCause, SimError};
pub use faults::{Fault, Notices};
pub use plan::{Deed, RandomFaults};
pub use report::{Report, Spread};
pub use workload::Workload;
pub use world::View;

use crate::message::{Channels, Claims, ClusterError, NodeId, Protocol, Role, Time};
use plan::{Aim, Plan};
use settings::Settings;
use world::World;

/// A simulation to be run: a cluster, a network, and users.
#[derive(Clone, Debug)]
#[must_use = "call `run`"]
pub struct Simulation<P> {
    nodes: Vec<P>,
    settings: Settings,
    plan: Plan<P>,
}

impl<P: Protocol> Simulation<P> {
    /// A simulation of these nodes: each enters once in turn, messages and critical sections take
    /// T, and arrive in the order that the protocol needs.
    pub fn new(nodes: Vec<P>) -> Self {
        let settings = Settings::new(P::CHANNELS);
        Self { nodes, settings, plan: Plan::default() }
    }

    network_settings!();

    fault_settings!(P);

    /// Lets users be inside together, where else that ends the run. Where a detector errs, or a cut
    /// leaves a holder behind, only what is [fenced](crate::message::Fenced) is exclusive: check
    /// that instead.
    pub fn overlapping(mut self) -> Self {
        self.plan.may_overlap = true;
        self
    }

    /// At a time all heals: the cut, loss, duplication and slowness are over, and those that stand
    /// still go on. From then on no user that lives may wait longer than `within`: that would be
    /// [`Violation::NotServed`](crate::message::Violation::NotServed).
    pub fn healed_at(mut self, time: f64, within: f64) -> Self {
        self.plan.heals = Some((time, within));
        self
    }

    /// How long a user stays inside.
    pub fn inside(mut self, stay: Delay) -> Self {
        self.settings.inside = stay;
        self
    }

    /// How long a user of a [saturated](Workload::Saturated) cluster stays outside before it wants
    /// in again: not at all, unless it is set.
    pub fn outside(mut self, stay: Delay) -> Self {
        self.settings.outside = stay;
        self
    }

    /// How long a user waits before it gives up: for ever, unless it is set. It takes its request
    /// back, if the protocol [can](Protocol::WITHDRAWS) do that. If not, the request stands: its
    /// node is let in some day and leaves at once, unless the user wants in again before that, and
    /// takes it over.
    ///
    /// ```
    /// use exclusion::message::sim::{Delay, Simulation, Workload};
    /// use exclusion::message::{Raymond, SuzukiKasami};
    ///
    /// let workload = Workload::AllAtOnce { rounds: 1 };
    /// let report = Simulation::new(Raymond::cluster(5)?)
    ///     .workload(workload.clone())
    ///     .patience(Delay::Constant(4.0))
    ///     .run()?;
    /// assert!(report.withdrawn > 0);
    /// assert_eq!(report.entries + report.withdrawn, 5);
    ///
    /// let report = Simulation::new(SuzukiKasami::cluster(5)?)
    ///     .workload(workload)
    ///     .patience(Delay::Constant(4.0))
    ///     .run()?;
    /// assert!(report.given_up > 0);
    /// assert_eq!((report.entries, report.withdrawn), (5, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn patience(mut self, patience: Delay) -> Self {
        self.settings.patience = Some(patience);
        self
    }

    /// Who wants in, and when.
    pub fn workload(mut self, workload: Workload) -> Self {
        self.settings.workload = workload;
        self
    }

    /// Runs it to the end.
    ///
    /// # Errors
    /// Nodes in the wrong order, or a setting that makes no sense; a violation of mutual exclusion,
    /// an entry without a request, an input that a node refuses; a deadlock; too many events.
    pub fn run(self) -> Result<Report, SimError> {
        self.run_checking(|_| Ok(()))
    }

    /// Runs it to the end, and calls `check` after each step. An error that the check returns ends
    /// the run.
    ///
    /// # Errors
    /// As [`run`](Self::run), and those of the check.
    pub fn run_checking(
        self,
        check: impl FnMut(&View<'_, P>) -> Result<(), String>,
    ) -> Result<Report, SimError> {
        let Self { nodes, settings, plan } = self;
        let wrong = |cause| SimError { time: Time::default(), cause, trace: None };
        ClusterError::check_places(&nodes).map_err(|it| wrong(SimCause::Cluster(it)))?;
        let checked = settings
            .delay
            .check()
            .and_then(|()| settings.inside.check())
            .and_then(|()| settings.outside.check())
            .and_then(|()| settings.patience.map_or(Ok(()), Delay::check))
            .and_then(|()| settings.workload.check(nodes.len()))
            .and_then(|()| Delay::Constant(settings.period.unwrap_or_default()).check());
        checked.map_err(|setting| wrong(SimCause::Setting(setting)))?;
        plan.check(nodes.len()).map_err(wrong)?;
        World::new(nodes, settings).befallen_by(plan).run(check)
    }
}

impl<P: Claims> Simulation<P> {
    /// From a time on, the first node that has this role is hit, once.
    ///
    /// ```
    /// use exclusion::message::sim::{Deed, Simulation, Workload};
    /// use exclusion::message::{CentralCoordinator, Role};
    ///
    /// let simulation = Simulation::new(CentralCoordinator::cluster(3)?)
    ///     .workload(Workload::AllAtOnce { rounds: 1 })
    ///     .aim_at_role(0.0, Role::Holder, Deed::Crash(None));
    /// let error = simulation.run().unwrap_err();
    /// assert!(error.to_string().contains("a deadlock"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aim_at_role(self, time: f64, role: Role, deed: Deed) -> Self {
        self.aim_at(time, role.test(), deed)
    }
}
