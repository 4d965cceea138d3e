//! What the actors run on: channels, threads and cells, of the machine or of loom.

#[cfg(not(exclusion_loom))]
pub(crate) use machine::*;
#[cfg(exclusion_loom)]
pub(crate) use modelled::*;

#[cfg(not(exclusion_loom))]
mod machine {
    pub(crate) use std::sync::mpsc::{Receiver, Sender, channel};
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    use std::sync::{PoisonError, RwLock, RwLockReadGuard, TryLockError, TryLockResult};
    pub(crate) use std::thread::JoinHandle;
    use std::time::Instant;

    pub(crate) fn spawn(
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        std::thread::Builder::new().name(name).spawn(run)
    }

    /// The next message, or None if the deadline comes first.
    pub(crate) fn receive_until<M>(inbox: &Receiver<M>, due: Instant) -> Option<M> {
        inbox.recv_timeout(due.saturating_duration_since(Instant::now())).ok()
    }

    /// Waits at most until the deadline. Says whether the time is up; None if another user of the
    /// mutex panicked.
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

    /// Data for one user at a time. Never contended, since a protocol decides who gets it.
    pub struct ExclusiveCell<T>(Mutex<T>);

    /// The data of an [`ExclusiveCell`], to change.
    pub type ExclusiveAccess<'a, T> = MutexGuard<'a, T>;

    impl<T> ExclusiveCell<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(Mutex::new(data))
        }

        /// None if it is in use after all.
        pub(crate) fn enter(&self) -> Option<ExclusiveAccess<'_, T>> {
            if_free(self.0.try_lock())
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Data for several users at a time, to look at.
    pub struct SharedCell<T>(RwLock<T>);

    /// The data of a [`SharedCell`], to look at.
    pub type SharedAccess<'a, T> = RwLockReadGuard<'a, T>;

    impl<T> SharedCell<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(RwLock::new(data))
        }

        /// None if somebody changes it after all.
        pub(crate) fn enter(&self) -> Option<SharedAccess<'_, T>> {
            if_free(self.0.try_read())
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// After a panic inside, the data is as it was left: as with `parking_lot`, nobody is kept from
    /// it.
    fn if_free<G>(attempt: TryLockResult<G>) -> Option<G> {
        match attempt {
            Ok(access) => Some(access),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// There is no time under loom: a deadline passes at the first wait, and a timer runs out as soon
/// as its node looks.
#[cfg(exclusion_loom)]
mod modelled {
    use core::marker::PhantomData;
    use core::ops::{Deref, DerefMut};
    use std::time::Instant;

    use loom::cell::{ConstPtr, MutPtr, UnsafeCell};
    pub(crate) use loom::sync::mpsc::{Receiver, Sender, channel};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::JoinHandle;

    pub(crate) fn spawn(
        name: String,
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

    /// Data in a cell of loom's, which checks each access: two accesses at a time, or two without a
    /// happens-before edge between them, fail the model.
    pub struct ExclusiveCell<T>(UnsafeCell<T>);

    // SAFETY: loom checks that no two accesses overlap.
    unsafe impl<T: Send> Sync for ExclusiveCell<T> {}

    /// The data of an [`ExclusiveCell`], to change.
    pub struct ExclusiveAccess<'a, T>(MutPtr<T>, PhantomData<&'a mut T>);

    impl<T> ExclusiveCell<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(UnsafeCell::new(data))
        }

        pub(crate) fn enter(&self) -> Option<ExclusiveAccess<'_, T>> {
            Some(ExclusiveAccess(self.0.get_mut(), PhantomData))
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T> Deref for ExclusiveAccess<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            // SAFETY: loom has checked that nobody else uses it, and `self` keeps it so.
            unsafe { self.0.deref() }
        }
    }

    impl<T> DerefMut for ExclusiveAccess<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: loom has checked that nobody else uses it, and `self` keeps it so.
            unsafe { self.0.deref() }
        }
    }

    /// The same for several users at a time.
    pub struct SharedCell<T>(UnsafeCell<T>);

    // SAFETY: loom checks that nobody changes it while others look.
    unsafe impl<T: Send + Sync> Sync for SharedCell<T> {}

    /// The data of a [`SharedCell`], to look at.
    pub struct SharedAccess<'a, T>(ConstPtr<T>, PhantomData<&'a T>);

    impl<T> SharedCell<T> {
        pub(crate) fn new(data: T) -> Self {
            Self(UnsafeCell::new(data))
        }

        pub(crate) fn enter(&self) -> Option<SharedAccess<'_, T>> {
            Some(SharedAccess(self.0.get(), PhantomData))
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T> Deref for SharedAccess<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            // SAFETY: loom has checked that nobody changes it, and `self` keeps it so.
            unsafe { self.0.deref() }
        }
    }
}
