//! Critical sections as closures: `with` and its relatives.

use crate::lock::mutex::BakeryMutex;
use crate::lock::policy::Policy;
use crate::lock::sync::time;

impl<T: ?Sized + Send, P: Policy> BakeryMutex<T, P> {
    /// Runs `section` with the data, in the order of arrival, and returns what it returns.
    ///
    /// The order is one with that of `lock`. But a thread that waits here does not have to run for
    /// its turn to come: a thread that is inside, and is there by `with` too, runs `section` for
    /// it. So strict order costs no switch of threads per entry.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// use exclusion::BakeryMutex;
    ///
    /// static TOTAL: BakeryMutex<u64> = BakeryMutex::new(0);
    ///
    /// std::thread::scope(|scope| {
    ///     for number in 1..=100 {
    ///         scope.spawn(move || TOTAL.with(|total| *total += number));
    ///     }
    /// });
    /// assert_eq!(TOTAL.with(|total| *total), 5050);
    /// # }
    /// ```
    ///
    /// # Another thread may run it
    /// That is why `section`, what it returns and the data must be `Send`. In `section`,
    /// thread-locals and `thread::current` are those of the thread that runs it, and so are its
    /// priority and its affinity to cores. A `section` that blocks or takes long holds up the
    /// thread that runs it too. One thread runs at most 64 sections of others in one call, then it
    /// hands on.
    ///
    /// # Deadlock
    /// Threads that take their locks in one order stay free of deadlock. A thread runs others'
    /// sections only inside its own call of `with`. So what it holds, it took before this lock, and
    /// what a section takes comes after this lock. Dropping a guard runs nobody's section. But a
    /// `section` must not wait for what another thread does after its own call of `with`, such as a
    /// message or the end of that thread: it may be that thread that runs it.
    ///
    /// As with `lock`, a `section` that locks the same mutex waits for itself. And a `section` must
    /// not rest on its own thread having locked something before, as with a reentrant lock: the
    /// thread that runs it has not.
    ///
    /// # Panics
    /// If `section` panics: here, and not in the thread that ran it. The lock is released and not
    /// poisoned.
    #[inline]
    pub fn with<R: Send>(&self, section: impl FnOnce(&mut T) -> R + Send) -> R {
        match self.run_until(section, None) {
            Ok(result) => result,
            Err(_) => unreachable!("a thread without a deadline does not give up"),
        }
    }

    /// Runs `section` with the data if that means no waiting. Otherwise gives it back.
    ///
    /// ```
    /// # #[cfg(not(exclusion_loom))] {
    /// let mutex = exclusion::BakeryMutex::new(1);
    /// let guard = mutex.lock();
    /// assert!(mutex.try_with(|number| *number += 1).is_err());
    /// drop(guard);
    /// assert!(mutex.try_with(|number| *number += 1).is_ok());
    /// # }
    /// ```
    ///
    /// # Errors
    /// `section`, which has not been run.
    ///
    /// # Panics
    /// If `section` does.
    #[inline]
    pub fn try_with<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, section: F) -> Result<R, F> {
        // SAFETY: this is the data behind this lock. It, the closure and its result are `Send`.
        unsafe { self.raw().try_run(section, self.data_ptr()) }
    }

    /// As [`with`](Self::with), unless `section` has not begun in time. Then it is given back.
    ///
    /// A `section` that has begun is waited for, also by another thread and beyond the time.
    ///
    /// # Errors
    /// `section`, which has not been run and will not be.
    ///
    /// # Panics
    /// If `section` does.
    pub fn try_with_for<R: Send, F: FnOnce(&mut T) -> R + Send>(
        &self,
        timeout: std::time::Duration,
        section: F,
    ) -> Result<R, F> {
        self.run_until(section, time::after(timeout))
    }

    /// As [`try_with_for`](Self::try_with_for), until then.
    ///
    /// # Errors
    /// `section`, which has not been run and will not be.
    ///
    /// # Panics
    /// If `section` does.
    pub fn try_with_until<R: Send, F: FnOnce(&mut T) -> R + Send>(
        &self,
        deadline: std::time::Instant,
        section: F,
    ) -> Result<R, F> {
        self.run_until(section, Some(deadline))
    }

    #[inline]
    fn run_until<R: Send, F: FnOnce(&mut T) -> R + Send>(
        &self,
        section: F,
        deadline: time::Deadline,
    ) -> Result<R, F> {
        // SAFETY: this is the data behind this lock. It, the closure and its result are `Send`.
        unsafe { self.raw().run(section, self.data_ptr(), deadline) }
    }
}
