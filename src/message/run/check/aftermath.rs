//! What a fault leaves behind: who can never enter again.

use std::fmt;

use super::model::Check;
use super::progress::{Graph, PathOf, TooManyStates, walk_back};
use super::state::{Action, State};
use crate::message::{NodeId, Protocol};

/// What the worst is that the faults of a [`Check`] can do to a lock, in the order of how bad it
/// is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// Everybody that lives and asks can be served.
    Harmless,
    /// One that waits is not served, until another asks.
    OneUntilAsked,
    /// One that waits is never served.
    One,
    /// Several that wait are never served, but others are.
    Several,
    /// All that live wait, and none of them is ever served.
    All,
    /// More are inside than may be, or a node does what it must not.
    Unsafe,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Harmless => "harmless",
            Self::OneUntilAsked => "one, until another asks",
            Self::One => "one blocks",
            Self::Several => "some block",
            Self::All => "all block",
            Self::Unsafe => "unsafe",
        })
    }
}

/// What faults can do to a lock, and the shortest way to it.
pub struct Aftermath<P: Protocol> {
    /// The worst that can come.
    pub outcome: Outcome,
    /// Who is never served, where somebody is not.
    pub blocked: Vec<NodeId>,
    /// A shortest way there, unless it is harmless.
    pub path: Option<PathOf<Check<P>>>,
    /// How many states there are.
    pub states: usize,
    /// Whether anything befell the nodes in any of them. If not, the outcome says nothing.
    pub happened: bool,
}

/// What counts of a state: sets of nodes are bits.
struct Seen {
    waiting: u32,
    live: u32,
    /// Those that are idle, but may still ask.
    may_ask: u32,
    is_unsafe: bool,
    is_befallen: bool,
}

impl<P: Protocol> Check<P> {
    /// The worst that faults can do, when their budgets are spent. All states are explored; a node
    /// that lives and waits is blocked where no way leads to its entry, if nobody else asks.
    ///
    /// ```
    /// use exclusion::message::check::{Check, Outcome};
    /// use exclusion::message::{CentralCoordinator, Role};
    ///
    /// let check = Check::new(CentralCoordinator::cluster(3)?).untold().crashes(1);
    /// let aftermath = check.crashes_of_role(Role::Holder).aftermath(100_000)?;
    /// assert_eq!(aftermath.outcome, Outcome::All);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are more states than `most`.
    ///
    /// # Panics
    /// If there are more than 32 nodes.
    pub fn aftermath(&self, most: usize) -> Result<Aftermath<P>, TooManyStates> {
        assert!(self.nodes.len() <= 32, "so many cannot be explored anyway");
        let mut seen: Vec<Seen> = Vec::new();
        // Whether a step is a request.
        let class = |action: &Action<P::Message>| match action {
            Action::Request(_) => Some(true),
            action => (!action.is_fault()).then_some(false),
        };
        let graph = Graph::of(self, most, class, |state| seen.push(self.look(state)))?;
        let states = seen.len();
        let happened = seen.iter().any(|seen| seen.is_befallen);
        if let Some(state) = seen.iter().position(|seen| seen.is_unsafe) {
            let path = Some(graph.path_to(self, state));
            let (outcome, blocked) = (Outcome::Unsafe, Vec::new());
            return Ok(Aftermath { outcome, blocked, path, states, happened });
        }
        let blocked = self.blocked(&graph, &seen, false);
        let even_if_asked = match blocked.iter().all(|blocked| *blocked == 0) {
            true => blocked.clone(),
            false => self.blocked(&graph, &seen, true),
        };
        let outcome = |state: usize| {
            let Seen { live, may_ask, .. } = seen[state];
            match (blocked[state], even_if_asked[state]) {
                (0, _) => Outcome::Harmless,
                (blocked, _) if blocked == live => Outcome::All,
                (blocked, _) if blocked.count_ones() > 1 => Outcome::Several,
                // Whether another could help is seen only where all others may ask.
                (blocked, for_ever) if for_ever != 0 && live == blocked | may_ask => Outcome::One,
                _ => Outcome::OneUntilAsked,
            }
        };
        // Of those that are equally bad, the nearest.
        let worst = (0..states).rev().max_by_key(|&state| outcome(state)).unwrap_or(0);
        let outcome = outcome(worst);
        let is_blocked = |node: &NodeId| blocked[worst] & bit(*node) != 0;
        Ok(Aftermath {
            outcome,
            blocked: NodeId::all(self.nodes.len()).filter(is_blocked).collect(),
            path: (outcome != Outcome::Harmless).then(|| graph.path_to(self, worst)),
            states,
            happened,
        })
    }

    fn look(&self, state: &State<P>) -> Seen {
        let set = |nodes: &mut dyn Iterator<Item = NodeId>| nodes.fold(0, |set, it| set | bit(it));
        Seen {
            waiting: set(&mut state.waiting()),
            live: set(&mut state.live()),
            may_ask: set(&mut state.live().filter(|&node| state.may_ask(node))),
            is_befallen: state.is_befallen(self.faults.budgets),
            is_unsafe: state.violation.is_some() || !self.is_exclusive(state),
        }
    }

    /// Who waits for ever, in each state; whether or not others may ask meanwhile.
    fn blocked(&self, graph: &Graph<bool>, seen: &[Seen], others_may_ask: bool) -> Vec<u32> {
        let counts = |&&(_, _, is_request): &&(u32, u32, bool)| others_may_ask || !is_request;
        let steps = graph.steps.iter().filter(counts);
        let mut steps: Vec<_> = steps.map(|&(target, before, _)| (target, before)).collect();
        steps.sort_unstable();
        steps.dedup();
        let mut blocked = vec![0; seen.len()];
        for node in NodeId::all(self.nodes.len()) {
            let served = seen.iter().map(|seen| seen.waiting & bit(node) == 0).collect();
            let can_be_served = walk_back(served, steps.clone());
            for (blocked, can) in blocked.iter_mut().zip(can_be_served) {
                *blocked |= if can { 0 } else { bit(node) };
            }
        }
        blocked
    }
}

fn bit(node: NodeId) -> u32 {
    1 << node.index()
}
