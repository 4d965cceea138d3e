//! Models with erased types, so that stateright's Explorer is compiled once for all of them.
//! Slower, but fast enough for a person who clicks.

use std::any::Any;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use exclusion::message::check::{Expectation, Model, Property};

use super::exploration::Explorable;

/// Any model.
pub struct Erased(Box<dyn Forgetful>);

impl Erased {
    /// Erases the type of the model.
    pub fn new<M>(model: M) -> Self
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        Self(Box::new(model))
    }
}

/// A state or an action of any model: how it looks, and itself.
#[derive(Clone)]
pub struct Opaque {
    text: String,
    hash: u64,
    /// Which properties' conditions are met, a bit each.
    met: u32,
    itself: Arc<dyn Any + Send + Sync>,
}

impl Opaque {
    fn itself<T: 'static>(&self) -> &T {
        self.itself.downcast_ref().expect("it comes from the same model")
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        (self.hash, &self.text) == (other.hash, &other.text)
    }
}

impl Hash for Opaque {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The interface of a model with erased types.
trait Forgetful: Send + Sync {
    fn begin(&self) -> Vec<Opaque>;
    fn possible(&self, state: &Opaque) -> Vec<Opaque>;
    fn after(&self, state: &Opaque, action: &Opaque) -> Option<Opaque>;
    fn claims(&self) -> Vec<(Expectation, &'static str)>;
}

impl<M> Forgetful for M
where
    M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
{
    fn begin(&self) -> Vec<Opaque> {
        self.init_states().into_iter().map(|state| opaque_state(self, state)).collect()
    }

    fn possible(&self, state: &Opaque) -> Vec<Opaque> {
        let mut actions = Vec::new();
        self.actions(state.itself(), &mut actions);
        let opaque = |action: M::Action| {
            let text = self.format_action(&action);
            Opaque { text, hash: 0, met: 0, itself: Arc::new(action) }
        };
        actions.into_iter().map(opaque).collect()
    }

    fn after(&self, state: &Opaque, action: &Opaque) -> Option<Opaque> {
        let action: &M::Action = action.itself();
        let next = self.next_state(state.itself(), action.clone());
        next.map(|state| opaque_state(self, state))
    }

    fn claims(&self) -> Vec<(Expectation, &'static str)> {
        self.properties().into_iter().map(|it| (it.expectation, it.name)).collect()
    }
}

fn opaque_state<M>(model: &M, state: M::State) -> Opaque
where
    M: Explorable<State: Send + Sync + 'static>,
{
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    let met = model.properties().into_iter().enumerate();
    let met = met.map(|(index, it)| u32::from((it.condition)(model, &state)) << index).sum();
    Opaque { text: format!("{state:#?}"), hash: hasher.finish(), met, itself: Arc::new(state) }
}

fn is_met<const INDEX: usize>(_: &Erased, state: &Opaque) -> bool {
    state.met >> INDEX & 1 == 1
}

/// A condition is a plain function: one for each property that a model can have.
const CONDITIONS: [fn(&Erased, &Opaque) -> bool; 10] = [
    is_met::<0>,
    is_met::<1>,
    is_met::<2>,
    is_met::<3>,
    is_met::<4>,
    is_met::<5>,
    is_met::<6>,
    is_met::<7>,
    is_met::<8>,
    is_met::<9>,
];

impl Model for Erased {
    type State = Opaque;
    type Action = Opaque;

    fn init_states(&self) -> Vec<Opaque> {
        self.0.begin()
    }

    fn actions(&self, state: &Opaque, actions: &mut Vec<Opaque>) {
        actions.extend(self.0.possible(state));
    }

    fn next_state(&self, state: &Opaque, action: Opaque) -> Option<Opaque> {
        self.0.after(state, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let claims = self.0.claims();
        assert!(claims.len() <= CONDITIONS.len(), "a condition for each property");
        let property = |((expectation, name), condition)| Property { expectation, name, condition };
        claims.into_iter().zip(CONDITIONS).map(property).collect()
    }
}

#[cfg(test)]
mod tests {
    use exclusion::message::check::{Check, Checker};
    use exclusion::message::{Quorums, RicartAgrawala};

    use crate::explore::broken::maekawa_voting::MaekawaVoting;

    use super::*;

    #[test]
    fn what_is_forgotten_makes_no_difference() {
        let model = Check::new(RicartAgrawala::cluster(2).expect("two are enough")).at_its_cost();
        let typed = model.clone().checker().spawn_bfs().join().unique_state_count();
        let erased = Erased::new(model.clone()).checker().spawn_bfs().join();
        erased.assert_properties();
        assert_eq!(erased.unique_state_count(), typed);
    }

    #[test]
    fn what_does_not_hold_is_found_all_the_same() {
        let sets = Quorums::majority(3).expect("three are enough");
        let model = Erased::new(Check::new(MaekawaVoting::cluster(&sets)));
        let checker = model.checker().spawn_bfs().join();
        assert!(checker.discovery("no deadlock").is_some());
        assert!(checker.discovery("mutual exclusion").is_none());
    }
}
