//! A critical section as a closure that any thread may run.
//!
//! The closure, and what becomes of it, live on the stack of the thread that brought it, which
//! waits until it is run or taken back. A combiner knows only where it is and how to run it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Result;

use crate::lock::sync::probe::Probe;

/// A closure whose type is forgotten: the first part of a [`Closure`].
#[repr(align(8))]
pub(super) struct Task {
    run: unsafe fn(*mut Task),
    probe: Probe,
}

impl Task {
    /// Runs the closure. If it panics, its owner will hear of it, and nobody else.
    ///
    /// # Safety
    /// The task is that of a `Closure` which has not been run, is nobody else's for now, and whose
    /// data is nobody else's either.
    pub(super) unsafe fn run(task: *mut Self) {
        // SAFETY: the same contract.
        unsafe {
            (*task).probe.is_inside();
            ((*task).run)(task);
        }
    }
}

/// A closure over the data of a mutex.
#[repr(C)]
pub(super) struct Closure<T: ?Sized, F, R> {
    task: Task,
    state: State<F, R>,
    data: *mut T,
}

enum State<F, R> {
    Waits(F),
    Runs,
    Ran(Result<R>),
}

impl<T: ?Sized, F: FnOnce(&mut T) -> R, R> Closure<T, F, R> {
    pub(super) fn new(closure: F, data: *mut T) -> Self {
        let task = Task { run: Self::run, probe: Probe::new(0) };
        task.probe.is_inside();
        Self { task, state: State::Waits(closure), data }
    }

    /// What others know it by. It must not be moved while they do.
    pub(super) fn task(&mut self) -> *mut Task {
        core::ptr::from_mut(self).cast()
    }

    /// # Safety
    /// As for [`Task::run`].
    unsafe fn run(task: *mut Task) {
        // SAFETY: the task is the first part of a closure of this type.
        let this = unsafe { &mut *task.cast::<Self>() };
        if let State::Waits(closure) = core::mem::replace(&mut this.state, State::Runs) {
            // SAFETY: the data is nobody else's for now.
            let data = unsafe { &mut *this.data };
            // Only the owner goes on from a panic, and there it does go on.
            this.state = State::Ran(catch_unwind(AssertUnwindSafe(|| closure(data))));
        }
    }

    /// What the closure returned; or the closure, if it has not been run. Panics as it did.
    pub(super) fn outcome(self) -> core::result::Result<R, F> {
        self.task.probe.is_inside();
        match self.state {
            State::Waits(closure) => Err(closure),
            State::Ran(Ok(result)) => Ok(result),
            State::Ran(Err(panic)) => resume_unwind(panic),
            State::Runs => unreachable!("a closure that is run ends or panics"),
        }
    }
}
