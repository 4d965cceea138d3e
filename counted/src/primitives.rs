//! Trials of condition variables, read-write locks and semaphores under random schedules.
//!
//! Beside what every trial looks for, these fail if readers meet a writer, if more permits are out
//! than there are, if a notification reaches no thread or two, if waiters come back in another
//! order than they came, or if somebody is still counted when all have left.

use core::sync::atomic::AtomicUsize as Tally;
use core::sync::atomic::Ordering::Relaxed;

use shuttle::thread;

use crate::chance::Chance;
use crate::lock::Policy;
use crate::lock::counting::AtomicUsize;
use crate::lock_api::{RwLockReadGuard, RwLockWriteGuard};
use crate::trials::{Data, how_many_threads, patience, run_threads};
use crate::{BakeryMutex, BakerySemaphore, PolicyCondvar, PolicyRwLock};

/// What is behind a lock that lets in several. The tallies are no words of the algorithm: to count
/// with them is no step.
struct Room {
    readers: Tally,
    writers: Tally,
    entries: Tally,
    /// Looked at so that others may run.
    word: AtomicUsize,
}

impl Room {
    const fn new() -> Self {
        let [readers, writers, entries] = [const { Tally::new(0) }; 3];
        Self { readers, writers, entries, word: AtomicUsize::new(0) }
    }

    fn others_run(&self) {
        self.word.load(Relaxed);
    }

    fn read(&self) {
        self.readers.fetch_add(1, Relaxed);
        assert_eq!(self.writers.load(Relaxed), 0, "a reader meets a writer inside");
        self.others_run();
        assert_eq!(self.writers.load(Relaxed), 0, "a writer meets a reader inside");
        self.readers.fetch_sub(1, Relaxed);
        self.entries.fetch_add(1, Relaxed);
    }

    fn write(&mut self) {
        assert_eq!(self.writers.fetch_add(1, Relaxed), 0, "two writers are inside");
        assert_eq!(self.readers.load(Relaxed), 0, "a writer meets a reader inside");
        self.others_run();
        let (writers, readers) = (self.writers.load(Relaxed), self.readers.load(Relaxed));
        assert_eq!((writers, readers), (1, 0), "a writer was not alone inside");
        self.writers.fetch_sub(1, Relaxed);
        self.entries.fetch_add(1, Relaxed);
    }
}

/// Nobody is inside, in line or asleep, as the debug output of a gate tells.
fn assert_deserted(gate: &str) {
    let nobody = "taken: 0, queued: 0, passed: 0";
    let no_line = "inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0";
    let is_deserted = gate.contains(nobody) && gate.contains(no_line);
    assert!(is_deserted, "somebody is still counted: {gate}");
}

/// Tries a read-write lock: readers, writers, those that give up, downgrade, bump and hand over.
pub fn read_write<P: Policy>(seed: u64) {
    let lock = PolicyRwLock::<Room, P>::new(Room::new());
    let read = |guard: Option<RwLockReadGuard<'_, _, Room>>, chance: &mut Chance| {
        let Some(mut guard) = guard else { return 0 };
        guard.read();
        match chance.below(6) {
            0 => RwLockReadGuard::unlock_fair(guard),
            1 => {
                RwLockReadGuard::bump(&mut guard);
                guard.read();
                return 2;
            }
            _ => {}
        }
        1
    };
    let write = |guard: Option<RwLockWriteGuard<'_, _, Room>>, chance: &mut Chance| {
        let Some(mut guard) = guard else { return 0 };
        guard.write();
        match chance.below(6) {
            0 => RwLockWriteGuard::unlock_fair(guard),
            1 => {
                RwLockWriteGuard::bump(&mut guard);
                guard.write();
                return 2;
            }
            2 => {
                RwLockWriteGuard::downgrade(guard).read();
                return 2;
            }
            _ => {}
        }
        1
    };
    let act = |chance: &mut Chance| match chance.below(10) {
        0 => read(lock.try_read(), chance),
        1 => read(lock.try_read_for(patience(chance)), chance),
        2..=4 => read(Some(lock.read()), chance),
        5 => write(lock.try_write(), chance),
        6 | 7 => write(lock.try_write_for(patience(chance)), chance),
        _ => write(Some(lock.write()), chance),
    };
    run_threads(seed, act, || lock.read().entries.load(Relaxed));
    // SAFETY: the raw lock is only printed.
    assert_deserted(&format!("{:?}", unsafe { lock.raw() }));
    assert!(!lock.is_locked() && !lock.is_locked_exclusive());
}

/// Tries a semaphore of one to four permits, of which threads want one or more.
pub fn semaphore<P: Policy>(seed: u64) {
    let permits = 1 + Chance(seed).below(4);
    let semaphore = BakerySemaphore::<P>::with_policy(permits);
    let (out, entries, room) = (Tally::new(0), Tally::new(0), Room::new());
    let act = |chance: &mut Chance| {
        let count = 1 + chance.below(permits);
        let permit = match chance.below(6) {
            0 => semaphore.try_acquire_many(count),
            1 | 2 => semaphore.try_acquire_many_for(count, patience(chance)),
            _ => Some(semaphore.acquire_many(count)),
        };
        let Some(permit) = permit else { return 0 };
        let before = out.fetch_add(count, Relaxed);
        assert!(before + count <= permits, "more permits are out than there are");
        room.others_run();
        assert!(semaphore.available_permits() <= permits - count, "a permit is not counted");
        out.fetch_sub(count, Relaxed);
        entries.fetch_add(1, Relaxed);
        drop(permit);
        1
    };
    run_threads(seed, act, || entries.load(Relaxed));
    assert_deserted(&format!("{semaphore:?}"));
    assert_eq!(semaphore.available_permits(), permits);
}

/// What a condition variable's mutex guards.
struct Waits {
    data: Data,
    /// How many have begun to wait.
    begun: usize,
    /// Of those that were notified, the last that came back.
    last: usize,
    /// How many came back for a notification.
    notified: usize,
}

/// What the threads of a trial of a condition variable share beside it.
struct Notices {
    /// How many notifications there were.
    sent: Tally,
    /// Whether all of them come from inside the mutex.
    are_inside: bool,
    /// How many threads have not ended.
    busy: AtomicUsize,
    /// How many wait, or are about to, or have just waited.
    waiting: AtomicUsize,
}

/// Tries a condition variable: threads that wait, some of them not for ever, and others that notify
/// one or all, inside the mutex, after it, or without having had it.
///
/// Each notification that is said to have reached a thread ends one wait, and each wait that is not
/// ended by its deadline was ended by one. If all notifications come from inside the mutex, waits
/// end in the order in which they began.
pub fn condition<P: Policy>(seed: u64) {
    let mut chance = Chance(!seed);
    let waits = Waits { data: Data::new(), begun: 0, last: 0, notified: 0 };
    let mutex = BakeryMutex::<Waits, P>::with_policy(waits);
    let condvar = PolicyCondvar::<P>::new();
    let threads = how_many_threads(&mut chance);
    let notices = Notices {
        sent: Tally::new(0),
        are_inside: chance.below(2) == 0,
        busy: AtomicUsize::new(threads),
        waiting: AtomicUsize::new(0),
    };
    thread::scope(|scope| {
        let run = |seed: u64| {
            let (mutex, condvar, notices) = (&mutex, &condvar, &notices);
            scope.spawn(move || {
                let mut chance = Chance(seed);
                for _ in 0..1 + chance.below(3) {
                    act_on_condition(mutex, condvar, notices, &mut chance);
                }
                notices.busy.fetch_sub(1, Relaxed);
            })
        };
        let handles: Vec<_> = (0..threads).map(|_| run(chance.bits())).collect();
        // Those that nobody else will notify.
        loop {
            let busy = notices.busy.load(Relaxed);
            if busy == 0 {
                break;
            }
            if notices.waiting.load(Relaxed) == busy {
                let guard = mutex.lock();
                notices.sent.fetch_add(condvar.notify_all(), Relaxed);
                drop(guard);
            }
            thread::yield_now();
        }
        handles.into_iter().for_each(|handle| handle.join().expect("no thread panics"));
    });
    let waits = mutex.lock();
    assert_eq!(waits.notified, notices.sent.load(Relaxed), "a notification reached none, or two");
    assert!(!condvar.notify_one(), "nobody waits any more");
}

fn act_on_condition<P: Policy>(
    mutex: &BakeryMutex<Waits, P>,
    condvar: &PolicyCondvar<P>,
    notices: &Notices,
    chance: &mut Chance,
) {
    let mut guard = mutex.lock();
    guard.data.enter();
    let action = chance.below(8);
    match action {
        0..=3 => {
            guard.begun += 1;
            let mine = guard.begun;
            notices.waiting.fetch_add(1, Relaxed);
            let timed_out = if action == 0 {
                condvar.wait_for(&mut guard, patience(chance)).timed_out()
            } else {
                condvar.wait(&mut guard);
                false
            };
            notices.waiting.fetch_sub(1, Relaxed);
            guard.data.enter();
            if !timed_out {
                guard.notified += 1;
                let is_in_order = !notices.are_inside || guard.last < mine;
                assert!(is_in_order, "a later waiter came back before an earlier one");
                guard.last = mine;
            }
        }
        4..=6 => {
            let guard = if notices.are_inside || chance.below(2) == 0 {
                Some(guard)
            } else {
                drop(guard);
                None
            };
            let sent =
                if action == 4 { condvar.notify_all() } else { usize::from(condvar.notify_one()) };
            notices.sent.fetch_add(sent, Relaxed);
            drop(guard);
        }
        _ => {}
    }
}

/// Tries the condition variable: as many threads give tokens as take some. A taker that waits finds
/// one in the end, unless a notification is lost.
pub fn tokens<P: Policy>(seed: u64) {
    let mut chance = Chance(!seed);
    let tokens = BakeryMutex::<usize, P>::with_policy(0);
    let arrived = PolicyCondvar::<P>::new();
    let (pairs, times) = (1 + chance.below(5), 1 + chance.below(3));
    let give = |chance: &mut Chance| {
        let mut held = tokens.lock();
        *held += 1;
        let guard = (chance.below(2) == 0).then_some(held);
        match chance.below(4) {
            0 => _ = arrived.notify_all(),
            _ => _ = arrived.notify_one(),
        }
        drop(guard);
    };
    let take = |chance: &mut Chance| {
        let mut held = tokens.lock();
        while *held == 0 {
            match chance.below(2) {
                0 => arrived.wait(&mut held),
                _ => _ = arrived.wait_for(&mut held, patience(chance)),
            }
        }
        *held -= 1;
    };
    thread::scope(|scope| {
        for _ in 0..pairs {
            let [mut one, mut other] = [chance.bits(), chance.bits()].map(Chance);
            let (give, take) = (&give, &take);
            scope.spawn(move || (0..times).for_each(|_| give(&mut one)));
            scope.spawn(move || (0..times).for_each(|_| take(&mut other)));
        }
    });
    assert_eq!(*tokens.lock(), 0, "a token is left");
    assert!(!arrived.notify_one(), "somebody is counted that has left");
}
