//! What the actors run on: channels, threads and cells, of the machine or of loom.

#[cfg(not(exclusion_loom))]
pub(crate) use machine::*;
#[cfg(exclusion_loom)]
pub(crate) use modelled::*;

#[cfg(not(exclusion_loom))]
mod machine {
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

/// There is no time under loom: a deadline passes at the first wait, and a timer runs out as soon as its node looks.
#[cfg(exclusion_loom)]
mod modelled {
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
