//! Where the crate chooses between the machine and loom.
//!
//! Everything above is written against the names in this file, so the source that ships is the
//! source that loom explores. What else differs under `--cfg loom`: constructors are not `const`, an
//! edge can be weakened (`edge`), and the queues of the parking lot are loom's (`lot`).

pub(crate) use core::sync::atomic::Ordering;

/// A constructor: `const`, except under loom, whose atomics are registered as they are made.
macro_rules! constructor {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty)?) -> $result:ty $body:block) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visibility const fn $name($($argument: $type)?) -> $result $body

        #[cfg(loom)]
        $(#[$attribute])*
        $visibility fn $name($($argument: $type)?) -> $result $body
    };
}
pub(crate) use constructor;

#[cfg(not(loom))]
pub(crate) use machine::*;
#[cfg(loom)]
pub(crate) use modelled::*;

#[cfg(not(loom))]
mod machine {
    use core::cell::Cell;
    pub(crate) use core::sync::atomic::AtomicUsize;

    /// Orders everything before it against everything after it, stores against later loads too.
    #[inline(always)]
    pub(crate) fn full_fence() {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }

    /// Spins a little longer each time, then yields to the scheduler.
    ///
    /// A look follows every pause, and no pause is long, so that whoever is next notices its turn soon.
    pub(crate) struct Backoff {
        step: Cell<u32>,
    }

    impl Backoff {
        const LONGEST_PAUSE: u32 = 8;
        const SPINS: u32 = 20;
        #[cfg(target_has_atomic = "ptr")]
        const YIELDS: u32 = 100;

        #[inline]
        pub(crate) fn new() -> Self {
            Self { step: Cell::new(0) }
        }

        #[inline]
        pub(crate) fn snooze(&self) {
            let step = self.step.get();
            self.step.set(step.saturating_add(1));
            #[cfg(feature = "std")]
            if step >= Self::SPINS {
                return std::thread::yield_now();
            }
            for _ in 0..Self::LONGEST_PAUSE.min(1 << step.min(Self::SPINS)) {
                core::hint::spin_loop();
            }
        }

        /// Whether it would yield now, if it can.
        #[inline]
        #[cfg(target_has_atomic = "ptr")]
        pub(crate) fn has_spun(&self) -> bool {
            self.step.get() >= Self::SPINS
        }

        /// Whether it has yielded long enough too.
        #[inline]
        #[cfg(target_has_atomic = "ptr")]
        pub(crate) fn has_yielded(&self) -> bool {
            self.step.get() >= Self::SPINS + Self::YIELDS
        }
    }

    /// `core`'s cell with the accessor of loom's.
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    /// A pointer into an [`UnsafeCell`]; under loom it also marks the cell as being written.
    pub(crate) struct MutPtr<T>(*mut T);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }

        #[inline]
        pub(crate) fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }
    }

    impl<T> MutPtr<T> {
        #[inline]
        pub(crate) fn with<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
            access(self.0)
        }
    }

    /// Stands for the data behind a lock that keeps its data elsewhere.
    #[cfg(target_has_atomic = "ptr")]
    pub(crate) struct Witness;

    #[cfg(target_has_atomic = "ptr")]
    impl Witness {
        pub(crate) const fn new() -> Self {
            Self
        }

        #[inline(always)]
        pub(crate) fn touch(&self) {}
    }
}

/// What the actors run on.
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod threads {
    pub(crate) use std::sync::mpsc::{Receiver, Sender, channel};
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult};
    pub(crate) use std::thread::JoinHandle;
    use std::time::Instant;

    pub(crate) fn spawn(
        name: std::string::String,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name).spawn(run)
    }

    /// What comes before the time is up.
    pub(crate) fn receive_until<M>(inbox: &Receiver<M>, due: Instant) -> Option<M> {
        inbox.recv_timeout(due.saturating_duration_since(Instant::now())).ok()
    }

    /// Waits at most until the deadline. Says whether the time is up; None if somebody panicked.
    pub(crate) fn wait_until<'a, T>(
        news: &Condvar,
        state: MutexGuard<'a, T>,
        _mutex: &'a Mutex<T>,
        deadline: Instant,
    ) -> Option<(MutexGuard<'a, T>, bool)> {
        let left = deadline.saturating_duration_since(Instant::now());
        let (state, _) = news.wait_timeout(state, left).ok()?;
        Some((state, Instant::now() >= deadline))
    }

    /// Data that is never contended, since a protocol decides who gets it.
    pub(crate) struct Data<T>(RwLock<T>);

    pub(crate) enum Access<'a, T> {
        Exclusive(RwLockWriteGuard<'a, T>),
        Shared(RwLockReadGuard<'a, T>),
    }

    impl<T> Data<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(RwLock::new(data))
        }

        /// To change it. None if it is in use after all.
        pub(crate) fn exclusive(&self) -> Option<Access<'_, T>> {
            if_free(self.0.try_write()).map(Access::Exclusive)
        }

        /// To look at it. None if somebody changes it after all.
        pub(crate) fn shared(&self) -> Option<Access<'_, T>> {
            if_free(self.0.try_read()).map(Access::Shared)
        }
    }

    /// After a panic inside, the data is as it was left: as with `parking_lot`, nobody is kept from it.
    fn if_free<G>(attempt: TryLockResult<G>) -> Option<G> {
        match attempt {
            Ok(access) => Some(access),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    impl<T> Access<'_, T> {
        pub(crate) fn data(&self) -> &T {
            match self {
                Self::Exclusive(data) => data,
                Self::Shared(data) => data,
            }
        }

        pub(crate) fn data_mut(&mut self) -> &mut T {
            match self {
                Self::Exclusive(data) => data,
                Self::Shared(_) => unreachable!("an exclusive protocol lets in one at a time"),
            }
        }
    }
}

/// The same on loom's threads. There is no time: a deadline passes at the first wait, and a timer runs out as soon as
/// its node looks.
#[cfg(all(feature = "std", loom))]
pub(crate) mod threads {
    use loom::cell::{ConstPtr, MutPtr, UnsafeCell};
    pub(crate) use loom::sync::mpsc::{Receiver, Sender, channel};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::JoinHandle;
    use std::time::Instant;

    pub(crate) fn spawn(
        name: std::string::String,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        loom::thread::Builder::new().name(name).spawn(run)
    }

    pub(crate) fn receive_until<M>(inbox: &Receiver<M>, _due: Instant) -> Option<M> {
        inbox.try_recv().ok()
    }

    /// Lets go of the state for a moment.
    pub(crate) fn wait_until<'a, T>(
        _news: &Condvar,
        state: MutexGuard<'a, T>,
        mutex: &'a Mutex<T>,
        _deadline: Instant,
    ) -> Option<(MutexGuard<'a, T>, bool)> {
        drop(state);
        loom::thread::yield_now();
        mutex.lock().ok().map(|state| (state, true))
    }

    /// Data in a cell of loom's, which checks each access: two at a time, or one that does not know what the last one
    /// did, fails the model.
    pub(crate) struct Data<T>(UnsafeCell<T>);

    // SAFETY: loom checks each access.
    unsafe impl<T: Send + Sync> Sync for Data<T> {}

    pub(crate) enum Access<'a, T> {
        Exclusive(MutPtr<T>, core::marker::PhantomData<&'a T>),
        Shared(ConstPtr<T>),
    }

    impl<T> Data<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(UnsafeCell::new(data))
        }

        pub(crate) fn exclusive(&self) -> Option<Access<'_, T>> {
            Some(Access::Exclusive(self.0.get_mut(), core::marker::PhantomData))
        }

        pub(crate) fn shared(&self) -> Option<Access<'_, T>> {
            Some(Access::Shared(self.0.get()))
        }
    }

    impl<T> Access<'_, T> {
        pub(crate) fn data(&self) -> &T {
            match self {
                // SAFETY: loom has checked that nobody else uses it, and `self` keeps it so.
                Self::Exclusive(data, _) => unsafe { data.deref() },
                // SAFETY: loom has checked that nobody changes it, and `self` keeps it so.
                Self::Shared(data) => unsafe { data.deref() },
            }
        }

        pub(crate) fn data_mut(&mut self) -> &mut T {
            match self {
                // SAFETY: loom has checked that nobody else uses it, and `self` keeps it so.
                Self::Exclusive(data, _) => unsafe { data.deref() },
                Self::Shared(_) => unreachable!("an exclusive protocol lets in one at a time"),
            }
        }
    }
}

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::cell::{MutPtr, UnsafeCell};
    pub(crate) use loom::sync::atomic::AtomicUsize;

    pub(crate) fn full_fence() {
        loom::sync::atomic::fence(super::Ordering::SeqCst);
    }

    pub(crate) struct Backoff;

    impl Backoff {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn snooze(&self) {
            loom::thread::yield_now();
        }

        /// At once: loom explores the sleeping, not the spinning before it.
        pub(crate) fn has_spun(&self) -> bool {
            true
        }

        pub(crate) fn has_yielded(&self) -> bool {
            true
        }
    }

    /// A cell that each owner of the lock writes, so that loom sees two owners, or one that is
    /// not ordered after the one before, whatever the user's data is made of.
    pub(crate) struct Witness(UnsafeCell<()>);

    // SAFETY: there is nothing in it, and loom checks each access.
    unsafe impl Sync for Witness {}

    impl Witness {
        pub(crate) fn new() -> Self {
            Self(UnsafeCell::new(()))
        }

        pub(crate) fn touch(&self) {
            self.0.with_mut(|_| ());
        }
    }
}
