//! The line in front of a contended mutex: a bakery, and the threads on its seats.
//!
//! A thread that is counted in the word of a mutex may use its line. It takes a seat, draws a
//! ticket in the bakery and waits for its turn. There are as many seats as threads may be counted,
//! so a thread that is counted always finds one.
//!
//! | part | meaning |
//! |---|---|
//! | `bakery` | the tickets, one register per seat |
//! | `slots` | who sits on a seat, where that thread sleeps, and its closure |
//! | `reach` | no seat above this one was used since the line was last given back |
//! | `since` | when newcomers began to pass the thread that is next |
//!
//! A line lives as long as the program. It goes from mutex to mutex by way of the
//! [pool](super::pool). So a thread that is no longer counted may still wake a seat: at worst it
//! wakes the wrong thread, which looks and sleeps again.

use super::limits::seats;
use super::slot::Slot;
use super::task::Task;
use super::word::MOST_IN_LINE;
use crate::lock::raw::{Attendance, Bakery};
use crate::lock::sync::probe::{Birth, Probe, Tenancy};
use crate::lock::sync::{AtomicU64, AtomicUsize, Ordering, aside};

/// How many threads may be in one line. Those that come when it is full wait until it is not.
pub(super) const SEATS: usize = if cfg!(exclusion_loom) { 4 } else { 4096 };

const _: () = assert!(SEATS <= MOST_IN_LINE);

/// A line. All zero bytes are a line that nobody is in.
pub(super) struct Line {
    pub(super) bakery: Bakery<SEATS>,
    reach: AtomicUsize,
    /// When newcomers began to pass the thread that is next, in microseconds.
    pub(super) since: AtomicU64,
    /// The line below this one in the pool.
    pub(super) below: AtomicUsize,
    pub(super) birth: Birth,
    pub(super) tenancy: Tenancy,
    probe: Probe,
    slots: [Slot; SEATS],
}

impl Line {
    /// A line that nobody is in, if there is memory for it.
    #[cfg(not(exclusion_loom))]
    pub(super) fn allocate() -> Option<core::ptr::NonNull<Self>> {
        // With the alignment of a line the allocator would write all the zeros itself. With that of
        // a word it takes them from the system, page by page when they are touched: only the first
        // seats of most lines ever are. So the line is aligned by hand.
        let (size, align) = (size_of::<Self>(), align_of::<Self>());
        let room = std::alloc::Layout::from_size_align(size + align, align_of::<usize>()).ok()?;
        // SAFETY: the room has a size.
        let start = unsafe { std::alloc::alloc_zeroed(room) };
        let start = core::ptr::NonNull::new(start)?;
        // SAFETY: there is room for as much more. The parts of a line are atomics, for which zero
        // is a value.
        Some(unsafe { start.add(start.align_offset(align)) }.cast())
    }

    #[cfg(exclusion_loom)]
    pub(super) fn allocate() -> Option<core::ptr::NonNull<Self>> {
        if !super::limits::has_memory() {
            return None;
        }
        let line = Self {
            bakery: Bakery::new(),
            reach: AtomicUsize::new(0),
            since: AtomicU64::new(0),
            below: AtomicUsize::new(0),
            birth: Birth::new(),
            tenancy: Tenancy::new(),
            probe: Probe::new(SEATS),
            slots: core::array::from_fn(|_| Slot::new()),
        };
        Some(core::ptr::NonNull::from(std::boxed::Box::leak(std::boxed::Box::new(line))))
    }

    #[inline]
    pub(super) fn slot(&self, seat: usize) -> &Slot {
        &self.slots[seat]
    }

    /// Takes a free seat for a thread that is counted: so there is one. `others` is how many
    /// threads were here, and so a good place to begin. With a task the thread posts it.
    pub(super) fn take_seat(&self, others: usize, task: Option<*mut Task>) -> usize {
        let mut seat = others;
        loop {
            seat %= seats();
            let slot = self.slot(seat);
            if slot.is_free() && task.map_or_else(|| slot.sit(), |task| slot.sit_and_post(task)) {
                break;
            }
            seat += 1;
        }
        // Relaxed, both: the bakery's fences order them.
        if self.reach.load(Ordering::Relaxed) < seat {
            self.reach.fetch_max(seat, Ordering::Relaxed);
        }
        self.probe.is_seated(seat);
        seat
    }

    /// Shows loom that a thread uses this seat.
    pub(super) fn is_seated(&self, seat: usize) {
        self.probe.is_seated(seat);
    }

    /// Leaves a seat. Its ticket is struck.
    pub(super) fn leave_seat(&self, seat: usize) {
        self.probe.is_seated(seat);
        self.slot(seat).leave();
    }

    /// How many threads sleep, or are about to. A snapshot.
    pub(super) fn asleep(&self) -> usize {
        self.seats(SEATS).filter(|seat| self.slot(*seat).bed.is_slept_in()).count()
    }

    /// Makes the line ready for others. Nobody is in it.
    pub(super) fn reset(&self) {
        let reach = || self.reach.load(Ordering::Relaxed);
        debug_assert!(
            aside(|| (0..=reach()).all(|seat| self.slot(seat).is_free())),
            "a line is given back only by the last that leaves it"
        );
        self.reach.store(0, Ordering::Relaxed); // the pool publishes it
    }
}

/// The occupancy word is `reach`: the seats up to it may be in use.
///
/// Why that keeps the promise, though a thread that sits below `reach` only reads the word: let a
/// thread X sit down on a seat, and a thread L look at the tickets. X has raised `reach` to its
/// seat, or has read that it is there, before the fence in its doorway. L reads `reach` after a
/// fence, that of its own doorway or `TURN`. One of the two fences comes first.
///
/// - If that of X does, L reads no older `reach` than X wrote or read, and looks at the seat.
/// - If that of L does, L may omit the seat. But what L did before its fence is out: its own seat
///   is within the `reach` that X reads behind its fence, and its ticket or its choosing is there.
///   So X draws a greater ticket than L has, or waits until L has drawn: L was right not to wait
///   for X.
///
/// The same holds for a thread that wakes others (`CALL`) and one that falls asleep
/// (`waiting::SLEEP`), with a sleeper's seat, ticket and announcement before its fence.
///
/// While anybody is counted in line `reach` only grows. It is taken back when nobody is. Those that
/// come then are ordered after that by the edges of the pool, and by E3 of `pooled`.
impl Attendance for Line {
    #[inline]
    fn seats(&self, _: usize) -> impl Iterator<Item = usize> {
        // Relaxed: the bakery's fences order it.
        0..=self.reach.load(Ordering::Relaxed)
    }
}
