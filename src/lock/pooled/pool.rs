//! The pool of lines.
//!
//! A mutex has a line only while somebody waits for it. So a program needs as many lines as it has
//! contended mutexes at a time, however many mutexes there are. Lines are made when the pool is
//! empty, and never freed.
//!
//! The lines that are not in use are a stack (Treiber 1986): `top` names the first, and each names
//! the one below. A number of its own for each change of `top` tells a stack that looks the same
//! from one that is the same.
//!
//! | edge | write | read |
//! |---|---|---|
//! | E1 | `GIVE`: Release | `TAKE`: Acquire |
//!
//! - E1 carries the line as its last users left it, where it is, and which one is below.

use super::limits::lines;
use super::line::Line;
use crate::lock::sync::edge::edges;
use crate::lock::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

edges! { "pool":
    /// E1: we know the line as it was given back.
    TAKE = Acquire;
    /// E1: what became of the line is known to the next that takes it.
    GIVE = Release;
}

/// How many lines there may be: how many mutexes may be contended at a time.
pub(super) const MOST_LINES: usize = match () {
    () if cfg!(exclusion_loom) => 2,
    () if cfg!(exclusion_count) => 64,
    () => 1 << 14,
};

#[cfg(not(any(exclusion_loom, exclusion_count)))]
static POOL: Pool = Pool::new();

#[cfg(exclusion_count)]
std::thread_local! {
    static POOL: &'static Pool = std::boxed::Box::leak(std::boxed::Box::new(Pool::new()));
    /// Lines of former executions, to be had without an allocation.
    static SPARE: core::cell::RefCell<std::vec::Vec<core::ptr::NonNull<Line>>> =
        const { core::cell::RefCell::new(std::vec::Vec::new()) };
}

#[cfg(exclusion_loom)]
loom::lazy_static! {
    static ref POOL: Pool = Pool::new();
}

/// The pool of the program.
#[inline]
#[cfg(not(exclusion_count))]
pub(super) fn pool() -> &'static Pool {
    &POOL
}

/// The pool of the execution.
#[cfg(exclusion_count)]
pub(super) fn pool() -> &'static Pool {
    POOL.with(|pool| *pool)
}

/// Lines that are in use, and lines that are not.
pub(super) struct Pool {
    /// The number of changes in the upper half, the first line plus one in the lower.
    top: AtomicU64,
    made: AtomicUsize,
    lines: [AtomicPtr<Line>; MOST_LINES],
}

const LOWER: u64 = u32::MAX as u64;

impl Pool {
    #[cfg(not(exclusion_loom))]
    const fn new() -> Self {
        Self {
            top: AtomicU64::new(0),
            made: AtomicUsize::new(0),
            lines: [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST_LINES],
        }
    }

    #[cfg(exclusion_loom)]
    fn new() -> Self {
        Self {
            top: AtomicU64::new(0),
            made: AtomicUsize::new(0),
            lines: core::array::from_fn(|_| AtomicPtr::new(core::ptr::null_mut())),
        }
    }

    /// The line of that number. The caller has the number from `take`, or from a thread that has,
    /// and is ordered after that.
    #[inline]
    pub(super) fn line(&self, number: usize) -> &'static Line {
        // Relaxed: the caller is ordered after the store.
        let line = self.lines[number].load(Ordering::Relaxed);
        // SAFETY: a line is made before its number is given out, and no line is freed.
        let line = unsafe { &*line };
        line.birth.is_known();
        line
    }

    /// A line that nobody is in, if there is one, or memory for one.
    pub(super) fn take(&self) -> Option<usize> {
        let mut top = self.top.load(TAKE.ordering());
        while let Some(number) = ((top & LOWER) as usize).checked_sub(1) {
            // Relaxed: `TAKE` or `GIVE` of `top` carries it. If the line has been taken meanwhile,
            // this is nonsense, and the compare-exchange fails.
            let below = self.line(number).below.load(Ordering::Relaxed);
            match self.change(top, below) {
                Ok(()) => {
                    self.line(number).tenancy.changes_hands();
                    return Some(number);
                }
                Err(now) => top = now,
            }
        }
        self.make()
    }

    /// Gives a line back that nobody is in.
    pub(super) fn give(&self, number: usize) {
        let line = self.line(number);
        line.tenancy.changes_hands();
        line.reset();
        // Relaxed: `change` settles it.
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            line.below.store((top & LOWER) as usize, Ordering::Relaxed); // `GIVE` publishes it
            match self.change(top, number + 1) {
                Ok(()) => return,
                Err(now) => top = now,
            }
        }
    }

    fn change(&self, top: u64, first: usize) -> Result<(), u64> {
        let new = (top & !LOWER).wrapping_add(LOWER + 1) | first as u64;
        let changed = self.top.compare_exchange(top, new, TAKE.with(GIVE), TAKE.ordering());
        changed.map(|_| ())
    }

    #[cold]
    fn make(&self) -> Option<usize> {
        // Relaxed, this and the exchange: the number is ours alone.
        let mut number = self.made.load(Ordering::Relaxed);
        if number == lines() {
            return None;
        }
        #[cfg(exclusion_count)]
        let line = SPARE.with_borrow_mut(std::vec::Vec::pop).or_else(Line::allocate)?;
        #[cfg(not(exclusion_count))]
        let line = Line::allocate()?;
        while let Err(now) =
            self.made.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed)
        {
            number = now;
            if number == lines() {
                return None; // the line is lost, but it is the last
            }
        }
        // Relaxed: for the caller to publish.
        self.lines[..lines()][number].store(line.as_ptr(), Ordering::Relaxed);
        Some(number)
    }
}

#[cfg(exclusion_loom)]
impl Drop for Pool {
    fn drop(&mut self) {
        for line in &mut self.lines {
            let line = line.with_mut(|line| *line);
            if !line.is_null() {
                // SAFETY: the execution is over, and nobody uses a line any more.
                drop(unsafe { std::boxed::Box::from_raw(line) });
            }
        }
    }
}

/// Takes a line out of the pool, for a model of the pool alone.
#[cfg(exclusion_loom)]
pub fn take() -> Option<usize> {
    pool().take()
}

/// Gives a line back, for a model of the pool alone.
#[cfg(exclusion_loom)]
pub fn give(line: usize) {
    pool().give(line);
}

/// Starts an execution with an empty pool. At the end of the one before, all lines were back.
#[cfg(exclusion_count)]
pub fn start_afresh() {
    let pool = pool();
    SPARE.with_borrow_mut(|spare| {
        let lines = pool.lines.iter().map(|line| line.peek()).take(pool.made.peek());
        spare.extend(lines.map(|line| core::ptr::NonNull::new(line).expect("it was made")));
    });
    pool.top.poke(0);
    pool.made.poke(0);
}

/// Whether no line is in use, for the end of a model.
#[cfg(any(exclusion_loom, exclusion_count))]
pub fn all_are_back() -> bool {
    let (pool, mut count) = (pool(), 0);
    let mut first = (pool.top.load(TAKE.ordering()) & LOWER) as usize;
    while let Some(number) = first.checked_sub(1) {
        count += 1;
        first = pool.line(number).below.load(Ordering::Relaxed);
    }
    count == pool.made.load(Ordering::Relaxed)
}
