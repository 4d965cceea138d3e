//! From every state, a good one can be reached.
//!
//! Stateright checks what holds always or sometimes. That something stays possible whatever has
//! happened is another question. It notices what falls silent too early, and what goes round for
//! ever. All states are found, with the steps between them that count; then the good ones are
//! walked back from. A state from which no way leads to a good one is stuck.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::{Model, Path};

/// What must be possible from every state.
pub struct Progress<M: Model> {
    /// What it is called.
    pub name: &'static str,
    /// Whether a state is a good one.
    pub goal: fn(&M, &M::State) -> bool,
    /// Whether an action may be relied on to come about. What may befall the nodes may not.
    pub counts: fn(&M::Action) -> bool,
}

/// There are more states than were to be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyStates {
    /// So many were looked at.
    pub states: usize,
}

impl fmt::Display for TooManyStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not all states were found among {}: raise the limit", self.states)
    }
}

impl Error for TooManyStates {}

/// A way through a model.
pub type PathOf<M> = Path<<M as Model>::State, <M as Model>::Action>;

/// How a state was found: from which other, by which of its actions.
type Origin = Option<(u32, u16)>;

impl<M: Model> Progress<M>
where
    M::State: Hash + Clone + PartialEq,
    M::Action: Clone + PartialEq,
{
    /// A shortest way to a state from which no good one can be reached, if there is such a state.
    ///
    /// # Errors
    /// If there are more states than `most`.
    pub fn find_stuck(&self, model: &M, most: usize) -> Result<Option<PathOf<M>>, TooManyStates> {
        let mut good: Vec<bool> = Vec::new();
        let counts = |action: &M::Action| (self.counts)(action).then_some(());
        let see = |state: &M::State| good.push((self.goal)(model, state));
        let graph = Graph::of(model, most, counts, see)?;
        let steps = graph.steps.iter().map(|&(target, before, ())| (target, before)).collect();
        let stuck = walk_back(good, steps).iter().position(|reaches| !reaches);
        Ok(stuck.map(|stuck| graph.path_to(model, stuck)))
    }
}

/// All states of a model, numbered in the order of their distance, and the steps between them.
pub(super) struct Graph<C> {
    /// How each state was found.
    origins: Vec<Origin>,
    /// The steps that count: to which state, from which, and of which class.
    pub(super) steps: Vec<(u32, u32, C)>,
}

impl<C> Graph<C> {
    /// Finds all states. `class` says which steps count; `see` sees each state once, in order.
    pub(super) fn of<M: Model>(
        model: &M,
        most: usize,
        class: impl Fn(&M::Action) -> Option<C>,
        mut see: impl FnMut(&M::State),
    ) -> Result<Self, TooManyStates>
    where
        M::State: Hash,
    {
        let mut found: HashMap<u64, u32> = HashMap::new();
        let mut graph = Self { origins: Vec::new(), steps: Vec::new() };
        let mut layer: Vec<(u32, M::State)> = Vec::new();
        for state in model.init_states() {
            let index = graph.origins.len() as u32;
            if found.insert(fingerprint(&state), index).is_none() {
                graph.origins.push(None);
                see(&state);
                layer.push((index, state));
            }
        }
        while !layer.is_empty() {
            let mut next_layer = Vec::new();
            for (index, state) in layer {
                let mut actions = Vec::new();
                model.actions(&state, &mut actions);
                for (place, action) in actions.into_iter().enumerate() {
                    let class = class(&action);
                    let Some(next) = model.next_state(&state, action) else { continue };
                    let fresh = graph.origins.len() as u32;
                    let target = *found.entry(fingerprint(&next)).or_insert(fresh);
                    if target == fresh {
                        graph.origins.push(Some((index, place as u16)));
                        see(&next);
                        next_layer.push((fresh, next));
                    }
                    graph.steps.extend(class.map(|class| (target, index, class)));
                }
                if graph.origins.len() > most {
                    return Err(TooManyStates { states: graph.origins.len() });
                }
            }
            layer = next_layer;
        }
        Ok(graph)
    }

    /// The way by which a state was found.
    pub(super) fn path_to<M: Model>(&self, model: &M, state: usize) -> PathOf<M>
    where
        M::State: Hash + Clone + PartialEq,
        M::Action: Clone + PartialEq,
    {
        let mut places = Vec::new();
        let mut at = state;
        while let Some((before, place)) = self.origins[at] {
            places.push(place);
            at = before as usize;
        }
        let first = model.init_states().swap_remove(at);
        let mut state = first.clone();
        let mut actions = Vec::new();
        for place in places.into_iter().rev() {
            let mut possible = Vec::new();
            model.actions(&state, &mut possible);
            let action = possible.swap_remove(place.into());
            state = model.next_state(&state, action.clone()).expect("it was possible before");
            actions.push(action);
        }
        Path::from_actions(model, first, &actions).expect("it was possible before")
    }
}

fn fingerprint(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// From which states a good one can be reached.
pub(super) fn walk_back(mut good: Vec<bool>, mut steps: Vec<(u32, u32)>) -> Vec<bool> {
    steps.sort_unstable();
    steps.dedup();
    let mut to_visit: Vec<u32> =
        (0..).zip(&good).filter(|(_, good)| **good).map(|it| it.0).collect();
    while let Some(state) = to_visit.pop() {
        let first = steps.partition_point(|(target, _)| *target < state);
        for &(_, before) in steps[first..].iter().take_while(|(target, _)| *target == state) {
            if !std::mem::replace(&mut good[before as usize], true) {
                to_visit.push(before);
            }
        }
    }
    good
}
