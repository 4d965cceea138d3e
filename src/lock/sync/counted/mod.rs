//! The third ground: registers that are counted, under a scheduler that can be replayed.
//!
//! It is there under `--cfg exclusion_count`, which the crate `counted` sets for its own copy of
//! these sources. The threads are tasks of shuttle: one runs at a time, and before each access the
//! scheduler chooses which. Memory is sequentially consistent here. Orderings are loom's business.
//!
//! | part | what is in it |
//! |---|---|
//! | this file | the atomics, the fence, and the ways of waiting |
//! | [`ledger`] | who accessed which word, and what that costs |
//! | [`clock`] | time, which passes only where a thread waits for it to |
//! | [`parking_lot_core`] | the queues of sleepers |
//!
//! A thread that looks in vain is not run again before a word that it looked at has changed. So a
//! wait costs the looks that find something new, however long it takes, and a thread that waits for
//! what never comes is a deadlock, which the scheduler reports.

pub mod clock;
pub mod ledger;
pub(crate) mod parking_lot_core;
mod tasks;

pub(crate) use super::cells::{ConstPtr, Late, MutPtr, UnsafeCell};

use super::Ordering;
use ledger::Access;
pub(crate) use ledger::aside;

/// What an execution is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To count. The scheduler chooses before each access whose number is a multiple of `pace`:
    /// with many threads each choice takes long.
    Costs {
        /// How many accesses there are to a choice.
        pace: usize,
    },
    /// To find mistakes. The scheduler chooses before each access, and nothing is counted.
    Mistakes,
}

/// Begins an execution: nothing has been counted, no time has passed, nobody sleeps, and the pool
/// is empty.
pub fn begin(purpose: Purpose) {
    ledger::open(purpose != Purpose::Mistakes);
    tasks::set_pace(purpose);
    clock::start();
    parking_lot_core::open();
    crate::lock::pooled::pool::start_afresh();
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident [$($generic:ident)?] $value:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name$(<$generic>)?(core::sync::atomic::$name$(<$generic>)?);

        impl$(<$generic>)? $name$(<$generic>)? {
            /// A word that starts so.
            pub const fn new(value: $value) -> Self {
                Self(core::sync::atomic::$name::new(value))
            }

            /// Reads the word, as no step of any thread.
            pub(crate) fn peek(&self) -> $value {
                self.0.load(Ordering::Relaxed)
            }

            /// Writes the word, as no step of any thread.
            #[allow(dead_code, reason = "not every kind of word is")]
            pub(crate) fn poke(&self, value: $value) {
                self.0.store(value, Ordering::Relaxed);
            }

            fn address(&self) -> usize {
                core::ptr::from_ref(self).addr()
            }

            /// Does something to the word, as one step of this thread.
            fn step<R>(
                &self,
                access: Access,
                act: impl FnOnce(&core::sync::atomic::$name$(<$generic>)?) -> R,
            ) -> R {
                if ledger::is_aside() {
                    return act(&self.0);
                }
                tasks::switch();
                let before = self.peek();
                let result = act(&self.0);
                ledger::record(self.address(), access, self.peek() != before);
                result
            }

            /// Reads the word.
            pub fn load(&self, order: Ordering) -> $value {
                self.step(Access::Load, |word| word.load(order))
            }

            /// Writes the word.
            pub fn store(&self, value: $value, order: Ordering) {
                self.step(Access::Store, |word| word.store(value, order));
            }
        }
    };
}

macro_rules! integer {
    ($(#[$doc:meta])* $name:ident $value:ty; $($operation:ident)*) => {
        atomic!($(#[$doc])* $name [] $value);

        impl $name {
            /// Writes the word if it is as expected. Says what it was.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.step(Access::ReadModifyWrite, |word| {
                    word.compare_exchange(current, new, success, failure)
                })
            }

            /// As `compare_exchange`: it never fails for nothing here.
            pub(crate) fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            $(
                /// A read-modify-write, as in `core`.
                #[allow(dead_code, reason = "unit tests of the locks use more of them")]
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    self.step(Access::ReadModifyWrite, |word| word.$operation(value, order))
                }
            )*
        }
    };
}

integer! {
    /// A counted word.
    AtomicUsize usize; swap fetch_add fetch_sub fetch_or fetch_and fetch_max
}
integer! {
    /// A counted word of 64 bits.
    AtomicU64 u64; fetch_add fetch_sub fetch_and fetch_or
}
atomic! {
    /// A counted pointer.
    AtomicPtr [T] *mut T
}

/// Memory is sequentially consistent: the fence is counted, and does nothing.
pub(crate) fn full_fence() {
    ledger::record_fence();
}

/// Waits until what was looked at since the last pause has changed.
pub struct Backoff;

impl Backoff {
    /// From here on the thread looks.
    #[allow(clippy::new_without_default, reason = "as the other grounds have it")]
    pub fn new() -> Self {
        ledger::begin_to_look();
        Self
    }

    /// A pause, after it has looked in vain.
    pub fn snooze(&self) {
        nap();
    }

    /// At once: spinning before sleeping costs a constant, which is left out.
    pub(crate) fn has_spun(&self) -> bool {
        true
    }
}

/// None, or one: as under loom.
pub(crate) struct Spins(bool);

impl Spins {
    pub(crate) fn new(_: u32) -> Self {
        ledger::begin_to_look();
        Self(false)
    }

    pub(crate) fn once_at_least(_: u32) -> Self {
        ledger::begin_to_look();
        Self(true)
    }

    pub(crate) fn spin(&mut self) -> bool {
        core::mem::take(&mut self.0)
    }
}

/// Waits for what nobody announces. If the thread has looked at the clock since its last pause,
/// time passes instead.
pub(crate) fn nap() {
    if !clock::passes_for_who_looked() {
        tasks::await_change();
    }
}

/// Waits for what no word shows: time passes.
pub(crate) struct Naps;

impl Naps {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn nap(&mut self) {
        clock::pass();
    }
}
