//! What the user of a lock that recovers knows of it.

use super::{Blueprint, LockOf, Recovering};
use crate::message::{Admission, Claims, Phase, Protocol};

impl<B: Blueprint> Protocol for Recovering<B> {
    type Access = <LockOf<B> as Protocol>::Access;

    const WITHDRAWS: bool = LockOf::<B>::WITHDRAWS;

    fn phase(&self) -> Phase {
        self.phase
    }

    fn entries_at_a_time(&self) -> usize {
        self.blueprint.entries_at_a_time()
    }

    /// It recovers, whatever the other was doing.
    fn goes_on_without(&self, _dead: &Self) -> bool {
        true
    }

    fn admission(&self) -> Option<&Admission> {
        self.admission.as_ref().filter(|_| self.phase.is_inside())
    }
}

impl<B: Blueprint> Claims for Recovering<B> {}
