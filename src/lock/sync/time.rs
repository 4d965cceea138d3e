//! What time it is, and when waiting ends.
//!
//! Under loom time stands still until a model says otherwise, or until a thread that sleeps by a
//! deadline is not woken: then the deadline has passed. So a model sees time pass after a waiter
//! has fallen asleep. It sees it pass before if every look at the clock finds it later
//! ([`passes_at_every_look`]), or some look does ([`passes_at_some_look`]).

pub(crate) use std::time::{Duration, Instant};

/// When a waiter gives up, if ever.
pub(crate) type Deadline = Option<Instant>;

/// Whether it is time to give up.
#[inline]
pub(crate) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| now() >= deadline)
}

/// So long from now; never, if no clock goes that far.
#[inline]
pub(crate) fn after(duration: Duration) -> Deadline {
    now().checked_add(duration)
}

/// The earlier of two.
#[inline]
pub(crate) fn earlier(left: Deadline, right: Deadline) -> Deadline {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

/// Microseconds since some moment of this program.
pub(crate) fn micros() -> u64 {
    now().saturating_duration_since(start()).as_micros() as u64
}

/// Some moment of this program, always the same.
fn start() -> Instant {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *START.get_or_init(Instant::now)
}

#[cfg(not(any(exclusion_loom, exclusion_count)))]
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(exclusion_count)]
pub(crate) fn now() -> Instant {
    start() + super::clock::elapsed()
}

#[cfg(exclusion_loom)]
pub(crate) use modelled::{elapse_until, now};
#[cfg(exclusion_loom)]
pub use modelled::{passes_at_every_look, passes_at_some_look, stands_still};

#[cfg(exclusion_loom)]
mod modelled {
    use core::cell::Cell;

    use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::{Duration, Instant, start};

    const HOUR: Duration = Duration::from_secs(3600);

    // loom runs the threads of a model as coroutines of the thread that checks it, so a
    // thread-local is seen by all of them and by no other test.
    std::thread_local! {
        static ELAPSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static STEP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static MAY_JUMP: Cell<bool> = const { Cell::new(false) };
    }

    loom::lazy_static! {
        static ref HAS_JUMPED: AtomicBool = AtomicBool::new(false);
    }

    pub(crate) fn now() -> Instant {
        ELAPSED.set(ELAPSED.get() + STEP.get());
        let has_jumped = MAY_JUMP.get() && HAS_JUMPED.load(Relaxed);
        start() + ELAPSED.get() + if has_jumped { HOUR } else { Duration::ZERO }
    }

    /// Lets time pass until then.
    pub(crate) fn elapse_until(moment: Instant) {
        ELAPSED.set(ELAPSED.get().max(moment.saturating_duration_since(start())));
    }

    /// From now on time passes only while threads sleep. Each execution of a model starts with it.
    pub fn stands_still() {
        ELAPSED.set(Duration::ZERO);
        STEP.set(Duration::ZERO);
        MAY_JUMP.set(false);
    }

    /// From now on every look at the clock finds it an hour later.
    pub fn passes_at_every_look() {
        STEP.set(HOUR);
    }

    /// From now on some look at the clock finds it an hour later, and so do all after it.
    ///
    /// Which one it is, loom chooses. For each thread it is at the latest the first look that is
    /// ordered after this call.
    pub fn passes_at_some_look() {
        MAY_JUMP.set(true);
        HAS_JUMPED.store(true, Relaxed);
    }
}

#[cfg(all(test, not(any(exclusion_loom, exclusion_count))))]
mod tests {
    use super::{Duration, after, earlier, has_passed, micros, now};

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_deadline_passes_when_its_time_has_come() {
        assert!(!has_passed(None));
        assert!(has_passed(Some(now())) && !has_passed(Some(now() + HOUR)));
        assert!(after(HOUR).is_some_and(|deadline| deadline >= now() + HOUR / 2));
        assert_eq!(after(Duration::MAX), None);
    }

    #[test]
    fn the_earlier_of_two_deadlines_counts() {
        let [soon, late] = [now(), now() + HOUR].map(Some);
        assert_eq!((earlier(soon, late), earlier(late, soon)), (soon, soon));
        assert_eq!(
            (earlier(soon, None), earlier(None, soon), earlier(None, None)),
            (soon, soon, None)
        );
    }

    #[test]
    fn microseconds_go_by() {
        let before = micros();
        std::thread::sleep(Duration::from_millis(2));
        assert!(micros() >= before + 2000);
    }
}
