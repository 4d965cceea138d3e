//! One lock measured once: threads that enter again and again until they are stopped.
//!
//! Every subject is driven through [`Subject::enter`], whether it gives a guard or takes a closure.
//! The critical section itself reads the clock when it begins and when it ends, whichever thread
//! runs it. The caller reads it before the call and after the return. So each subject pays the same
//! four readings, and of each entry is known:
//!
//! ```text
//! called ───── begun ══ section ══ ended ───── returned
//! └ until begun ┘
//! └──────────────── wait, less the section ────────────┘
//! ```
//!
//! A lock that runs sections for their callers can begin one early and yet return late: its caller
//! has to be woken. That is why both are told.
//!
//! What is measured begins when every thread has entered once. Until then the few threads that have
//! got a core meet no others, and a strict lock is as fast as it is among two.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;

use super::start::Start;
use super::subject::Subject;
use super::switches;
use super::workload::{Work, Workload};

/// What one measurement of one lock gave.
pub(super) struct Round {
    entries: u64,
    elapsed: Duration,
    pub(super) jain: f64,
    /// The part of the entries that each thread got, the greatest first.
    pub(super) shares: Vec<f64>,
    /// From the call to its return, less the section, in nanoseconds.
    pub(super) waits: Histogram<u64>,
    /// The longest of the waits, exactly.
    pub(super) longest: Duration,
    /// The longest time from a call until its section began.
    pub(super) until_begun: Duration,
    /// How often all threads together were switched off a core, where the system says so.
    switches: Option<u64>,
}

impl Round {
    /// What all threads saw in this time.
    fn of(elapsed: Duration, seen: &[Seen]) -> Self {
        let entries: Vec<u64> = seen.iter().map(|seen| seen.entries).collect();
        let mut waits = histogram();
        for seen in seen {
            waits.add(&seen.waits).expect("one kind of histogram");
        }
        let longest = |of: fn(&Seen) -> Duration| seen.iter().map(of).max().unwrap_or_default();
        Self {
            entries: entries.iter().sum(),
            elapsed,
            jain: jain(&entries),
            shares: shares(&entries),
            waits,
            longest: longest(|seen| seen.longest),
            until_begun: longest(|seen| seen.until_begun),
            switches: seen.iter().map(|seen| seen.switches).sum(),
        }
    }

    /// Switches of threads per entry.
    pub(super) fn switches_per_entry(&self) -> Option<f64> {
        self.switches.map(|switches| switches as f64 / self.entries.max(1) as f64)
    }

    /// Million entries per second.
    pub(super) fn mops(&self) -> f64 {
        self.entries as f64 / self.elapsed.as_secs_f64() / 1e6
    }
}

/// The part of all entries that each thread got, the greatest first.
fn shares(entries: &[u64]) -> Vec<f64> {
    let all = entries.iter().sum::<u64>().max(1) as f64;
    let mut shares: Vec<f64> = entries.iter().map(|&entries| entries as f64 / all).collect();
    shares.sort_by(|one, other| other.total_cmp(one));
    shares
}

/// What one thread saw.
pub(super) struct Seen {
    entries: u64,
    waits: Histogram<u64>,
    longest: Duration,
    until_begun: Duration,
    switches: Option<u64>,
}

/// When a critical section ran, by its own account.
struct Section {
    begun: Instant,
    ended: Instant,
}

pub(super) fn measure<S: Subject>(
    workload: Workload,
    threads: usize,
    slice: Duration,
) -> io::Result<Round> {
    let work = workload.work();
    // On cache lines of its own, so that no lock is measured together with what happens to lie
    // beside it.
    let mut subject = CachePadded::new(S::fresh());
    drive(subject.handles(threads), slice, |mut handle, phase| {
        S::enter(&mut handle, |count| *count += 1);
        phase.enter();
        if workload.is_shorter_than_a_clock() {
            in_batches::<S>(&mut handle, phase)
        } else {
            one_by_one::<S>(&mut handle, work, phase)
        }
    })
}

/// Gives each handle to a thread of its own, which enters until the phase is over. All begin
/// together.
pub(super) fn drive<H: Send>(
    handles: Vec<H>,
    slice: Duration,
    worker: impl Fn(H, &Phase) -> Seen + Sync,
) -> io::Result<Round> {
    let threads = handles.len();
    let start = CachePadded::new(Start::default());
    let phase = CachePadded::new(Phase::default());
    let (elapsed, seen) = std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for handle in handles {
            let (start, phase, worker) = (&start, &phase, &worker);
            // None if it was called off.
            let thread = Builder::new()
                .spawn_scoped(scope, move || start.wait().then(|| worker(handle, phase)));
            workers.push(thread.inspect_err(|_| start.call_off())?);
        }
        start.gather(threads);
        start.go();
        phase.await_entries(threads, WARM_UP_SLICES * slice);
        // Read before the workers count: a main thread that is late would flatter them.
        let began = Instant::now();
        phase.set(MEASURED);
        std::thread::sleep(slice);
        phase.set(OVER);
        let elapsed = began.elapsed();
        let seen = workers.into_iter().filter_map(|it| it.join().expect("nobody panics"));
        io::Result::Ok((elapsed, seen.collect::<Vec<_>>()))
    })?;

    Ok(Round::of(elapsed, &seen))
}

/// How many slices may go by until every thread has entered once. A lock that starves threads is
/// measured all the same.
const WARM_UP_SLICES: u32 = 4;

const MEASURED: u8 = 1;
const OVER: u8 = 2;

/// Whether entries count: not until every thread has entered once, then for a slice.
#[derive(Default)]
pub(super) struct Phase {
    now: AtomicU8,
    entered: AtomicUsize,
}

impl Phase {
    fn now(&self) -> u8 {
        self.now.load(Relaxed)
    }

    fn set(&self, phase: u8) {
        self.now.store(phase, Relaxed);
    }

    /// Whether the slice is over.
    pub(super) fn is_over(&self) -> bool {
        self.now() == OVER
    }

    /// A thread has entered for the first time.
    pub(super) fn enter(&self) {
        self.entered.fetch_add(1, Relaxed);
    }

    /// Waits until so many threads have entered, but not for ever.
    fn await_entries(&self, threads: usize, most: Duration) {
        let began = Instant::now();
        while self.entered.load(Relaxed) < threads && began.elapsed() < most {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Jain's index: the square of the sum over the number times the sum of the squares; 0 for no
/// entries.
fn jain(entries: &[u64]) -> f64 {
    let sum: f64 = entries.iter().map(|&count| count as f64).sum();
    let squares: f64 = entries.iter().map(|&count| (count as f64).powi(2)).sum();
    if sum == 0.0 { 0.0 } else { sum.powi(2) / (entries.len() as f64 * squares) }
}

/// From a nanosecond to a minute, to three digits.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("sound bounds")
}

impl Seen {
    pub(super) fn nothing() -> Self {
        let (longest, until_begun) = (Duration::ZERO, Duration::ZERO);
        Self { entries: 0, waits: histogram(), longest, until_begun, switches: None }
    }

    /// One entry with all four readings of the clock. Says in which phase it returned. What returns
    /// after the end is a wait, but no entry of the time that was measured: with many threads that
    /// wait for long, it would be a large part of all.
    fn time<S: Subject>(&mut self, handle: &mut S::Handle<'_>, work: Work, phase: &Phase) -> u8 {
        let called = Instant::now();
        let section = S::enter(handle, move |count| {
            let begun = Instant::now();
            *count += 1;
            work.run();
            Section { begun, ended: Instant::now() }
        });
        let returned = Instant::now();
        let phase = phase.now();
        if phase >= MEASURED {
            self.note(called, &section, returned);
        }
        self.count(phase);
        phase
    }

    /// Counts so many entries that returned by now, if now is measured.
    pub(super) fn enter(&mut self, entries: u64, phase: &Phase) {
        if phase.now() == MEASURED {
            self.count(MEASURED);
            self.entries += entries - 1;
        }
    }

    /// Notes a wait that ended now, if now is measured.
    pub(super) fn wait(&mut self, wait: Duration, phase: &Phase) {
        if phase.now() >= MEASURED {
            self.note_wait(wait);
        }
    }

    /// Counts an entry that returned in that phase.
    fn count(&mut self, phase: u8) {
        if phase == MEASURED {
            if self.entries == 0 {
                self.switches = switches::of_this_thread();
            }
            self.entries += 1;
        }
    }

    /// All that was seen. Until here `switches` was what it was at the first entry.
    pub(super) fn ended(mut self) -> Self {
        self.switches = match self.entries {
            0 => Some(0), // it had no part in any entry
            _ => switches::of_this_thread().zip(self.switches).map(|(now, then)| now - then),
        };
        self
    }

    fn note(&mut self, called: Instant, section: &Section, returned: Instant) {
        let took = section.ended.saturating_duration_since(section.begun);
        let wait = returned.saturating_duration_since(called).saturating_sub(took);
        let until_begun = section.begun.saturating_duration_since(called);
        self.until_begun = self.until_begun.max(until_begun);
        self.note_wait(wait);
    }

    fn note_wait(&mut self, wait: Duration) {
        self.longest = self.longest.max(wait);
        self.waits.saturating_record(wait.as_nanos().max(1) as u64);
    }
}

/// Every entry timed.
fn one_by_one<S: Subject>(handle: &mut S::Handle<'_>, work: Work, phase: &Phase) -> Seen {
    let mut seen = Seen::nothing();
    while seen.time::<S>(handle, work, phase) != OVER {
        work.run();
    }
    seen.ended()
}

/// One entry in 64 timed: the clock takes longer than an uncontended lock.
fn in_batches<S: Subject>(handle: &mut S::Handle<'_>, phase: &Phase) -> Seen {
    const BATCH: u64 = 64;
    let mut seen = Seen::nothing();
    while seen.time::<S>(handle, Workload::Hot.work(), phase) != OVER {
        for _ in 1..BATCH {
            S::enter(handle, |count| *count += 1);
            seen.count(phase.now());
        }
    }
    seen.ended()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::subject::Std;

    #[test]
    fn jains_index_runs_from_one_alone_to_all_alike() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[1, 3]), 0.8);
        assert_eq!(jain(&[0, 0]), 0.0);
    }

    #[test]
    fn a_wait_is_the_call_less_the_section_and_the_longest_of_each_kind_is_kept() {
        let called = Instant::now();
        let after = |micros| called + Duration::from_micros(micros);
        let mut seen = Seen::nothing();
        // Soon begun and late to return; then late to begin and soon back.
        seen.note(called, &Section { begun: after(2), ended: after(12) }, after(100));
        seen.note(called, &Section { begun: after(30), ended: after(40) }, after(45));
        assert_eq!(seen.longest, Duration::from_micros(90));
        assert_eq!(seen.until_begun, Duration::from_micros(30));
        assert_eq!(seen.waits.len(), 2);
        assert!(seen.waits.equivalent(seen.waits.min(), 35_000));

        seen.entries = 3;
        let round =
            Round::of(Duration::from_secs(2), &[seen, Seen { entries: 1, ..Seen::nothing() }]);
        assert_eq!(round.mops(), 2e-6);
        assert_eq!(round.jain, 0.8);
        assert_eq!(round.shares, [0.75, 0.25]);
        assert_eq!(round.longest, Duration::from_micros(90));
        assert_eq!(round.until_begun, Duration::from_micros(30));
        assert_eq!(round.waits.len(), 2);
    }

    #[test]
    fn every_entry_is_timed_unless_the_clock_takes_longer_than_it() {
        let slice = Duration::from_millis(20);
        let short = measure::<Std>(Workload::Short, 2, slice).expect("two threads");
        // One wait of each thread ended after the stop, and is no entry.
        assert_eq!(short.waits.len(), short.entries + 2);
        let hot = measure::<Std>(Workload::Hot, 2, slice).expect("two threads");
        assert_eq!(hot.waits.len(), hot.entries + 2);
        let alone = measure::<Std>(Workload::Uncontended, 1, slice).expect("a thread");
        let batches = alone.entries / 64;
        // It may begin and end within a batch.
        assert!((batches..=batches + 2).contains(&alone.waits.len()), "{}", alone.waits.len());
    }
}
