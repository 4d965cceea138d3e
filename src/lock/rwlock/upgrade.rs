//! Readers that may become writers.

use std::time::{Duration, Instant};

use super::{PATIENT, READ, RawBakeryRwLock, Reading, UPGRADABLE, WRITE, Writing};
use crate::lock::policy::Policy;
use crate::lock::sync::time;

/// The state of an upgradable reader's guard. It may be sent to another thread.
#[derive(Debug)]
pub struct Upgradable(());

impl<P: Policy> RawBakeryRwLock<P> {
    #[inline]
    fn read_upgradably_until(&self, deadline: time::Deadline) -> Option<Upgradable> {
        self.0.enter(UPGRADABLE, deadline).then_some(Upgradable(()))
    }

    #[inline]
    fn upgrade_until(
        &self,
        state: Upgradable,
        deadline: time::Deadline,
    ) -> Result<Writing, Upgradable> {
        if self.0.upgrade(deadline) { Ok(Writing(())) } else { Err(state) }
    }
}

// SAFETY: an upgradable reader has more than half of the units, so there is one. It becomes a
// writer when it has all of them (invariants 1 and 4 of `gate`), and E1 orders it after the readers
// that have left. No operation unwinds.
unsafe impl<P: Policy> lock_api::RawRwLockUpgrade for RawBakeryRwLock<P> {
    type UpgradableGuard = Upgradable;

    #[inline]
    fn lock_upgradable(&self) -> Upgradable {
        self.read_upgradably_until(None).expect(PATIENT)
    }

    #[inline]
    fn try_lock_upgradable(&self) -> Option<Upgradable> {
        self.0.try_enter(UPGRADABLE).then_some(Upgradable(()))
    }

    #[inline]
    unsafe fn unlock_upgradable(&self, _: Upgradable) {
        self.0.leave(UPGRADABLE.units);
    }

    #[inline]
    unsafe fn upgrade(&self, state: Upgradable) -> Writing {
        self.upgrade_until(state, None).expect(PATIENT)
    }

    #[inline]
    unsafe fn try_upgrade(&self, state: Upgradable) -> Result<Writing, Upgradable> {
        if self.0.try_upgrade() { Ok(Writing(())) } else { Err(state) }
    }
}

// SAFETY: as above.
unsafe impl<P: Policy> lock_api::RawRwLockUpgradeFair for RawBakeryRwLock<P> {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self, _: Upgradable) {
        self.0.leave_fairly(UPGRADABLE.units);
    }

    #[inline]
    unsafe fn bump_upgradable(&self, state: &mut Upgradable) {
        if self.0.is_awaited() {
            self.0.leave_fairly(UPGRADABLE.units);
            *state = lock_api::RawRwLockUpgrade::lock_upgradable(self);
        }
    }
}

// SAFETY: as above. Units are given back, and those that stay are those of the new state.
unsafe impl<P: Policy> lock_api::RawRwLockUpgradeDowngrade for RawBakeryRwLock<P> {
    #[inline]
    unsafe fn downgrade_upgradable(&self, _: Upgradable) -> Reading {
        self.0.leave(UPGRADABLE.units - READ.units);
        Reading(())
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self, _: Writing) -> Upgradable {
        self.0.leave(WRITE.units - UPGRADABLE.units);
        Upgradable(())
    }
}

// SAFETY: as above. A thread that gives up has the units that it had.
unsafe impl<P: Policy> lock_api::RawRwLockUpgradeTimed for RawBakeryRwLock<P> {
    #[inline]
    fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<Upgradable> {
        self.read_upgradably_until(time::after(timeout))
    }

    #[inline]
    fn try_lock_upgradable_until(&self, deadline: Instant) -> Option<Upgradable> {
        self.read_upgradably_until(Some(deadline))
    }

    #[inline]
    unsafe fn try_upgrade_for(
        &self,
        state: Upgradable,
        timeout: Duration,
    ) -> Result<Writing, Upgradable> {
        self.upgrade_until(state, time::after(timeout))
    }

    #[inline]
    unsafe fn try_upgrade_until(
        &self,
        state: Upgradable,
        deadline: Instant,
    ) -> Result<Writing, Upgradable> {
        self.upgrade_until(state, Some(deadline))
    }
}
