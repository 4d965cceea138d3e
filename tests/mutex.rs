//! The drop-in types, and leased seats over any raw lock. One suite, a line a lock.

#[macro_use]
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use common::sleepers::{await_sleepers, debugged, is_deserted};
use common::within_two_minutes;
use exclusion::lock::Leased;
use exclusion::lock::raw::{
    Attendance, Bakery, BlackWhiteBakery, PetersonSwap, Place, Priority, RawLock, Tournament,
    Waiting, Withdrawn,
};
use exclusion::{BakeryMutex, Bypass, RawBakeryMutex, RawTournamentMutex, Strict, TournamentMutex};
use lock_api::{MappedMutexGuard, Mutex, MutexGuard, RawMutex, RawMutexFair, RawMutexTimed};

/// A bakery whose seats are in the mutex.
type LeasedBakery<const SEATS: usize, const BYPASS: usize = 0> = Leased<Bakery<SEATS>, BYPASS>;

/// What lock_api asks of a mutex with everything.
trait Full:
    RawMutex<Guard: Send>
    + std::fmt::Debug
    + RawMutexFair
    + RawMutexTimed<Duration = Duration, Instant = Instant>
    + Send
    + Sync
    + 'static
{
}

impl<R> Full for R where
    R: RawMutex<Guard: Send>
        + std::fmt::Debug
        + RawMutexFair
        + RawMutexTimed<Duration = Duration, Instant = Instant>
        + Send
        + Sync
        + 'static
{
}

fn no_increment_is_lost<R: Full>(threads: usize) {
    within_two_minutes(move || {
        const ROUNDS: usize = 2_000;
        let total = Mutex::<R, usize>::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        *total.lock() += 1;
                    }
                });
            }
        });
        assert!(!total.is_locked());
        assert_eq!(total.into_inner(), threads * ROUNDS);
    });
}

/// A timeout that runs out while the lock is being granted returns the guard or leaves the lock
/// free.
fn impatient_threads_leave_nothing_behind<R: Full>(threads: usize) {
    within_two_minutes(move || {
        const ROUNDS: u64 = 400;
        let total = Mutex::<R, u64>::new(0);
        let entries: u64 = std::thread::scope(|scope| {
            let contenders: Vec<_> = (0..threads as u64)
                .map(|number| {
                    let total = &total;
                    scope.spawn(move || {
                        let mut entries = 0;
                        for round in 0..ROUNDS {
                            let timeout = Duration::from_micros((round * 7 + number * 13) % 300);
                            let guard = match round % 4 {
                                0 => total.try_lock(),
                                1 => total.try_lock_for(timeout),
                                2 => total.try_lock_until(Instant::now() + timeout),
                                _ => Some(total.lock()),
                            };
                            if let Some(mut guard) = guard {
                                *guard += 1;
                                entries += 1;
                                if round % 16 == 0 {
                                    // Long enough for others to fall asleep, or to give up.
                                    std::thread::sleep(Duration::from_micros(200));
                                }
                            }
                        }
                        entries
                    })
                })
                .collect();
            contenders.into_iter().map(|contender| contender.join().unwrap()).sum()
        });
        assert!(entries >= threads as u64 * ROUNDS / 4, "patient locking never fails");
        assert!(is_deserted(&total), "{}", debugged(&total));
        assert_eq!(*total.try_lock().expect("nobody is left in the way"), entries);
    });
}

fn sleepers_are_woken<R: Full>(threads: usize) {
    within_two_minutes(move || {
        let total = Mutex::<R, usize>::new(0);
        std::thread::scope(|scope| {
            let guard = total.lock();
            for _ in 0..threads {
                scope.spawn(|| {
                    *total.lock() += 1;
                    // Nobody spins while this one sleeps inside.
                    let mut guard = total.lock();
                    std::thread::sleep(Duration::from_millis(1));
                    *guard += 1;
                });
            }
            std::thread::sleep(Duration::from_millis(30));
            drop(guard);
        });
        assert_eq!(total.into_inner(), 2 * threads);
    });
}

fn a_timeout_expires<R: Full>() {
    within_two_minutes(|| {
        let mutex = Mutex::<R, ()>::new(());
        let guard = mutex.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let start = Instant::now();
                assert!(mutex.try_lock_for(Duration::from_millis(20)).is_none());
                assert!(start.elapsed() >= Duration::from_millis(20), "not before its time");
                assert!(mutex.try_lock_until(start).is_none());
                assert!(mutex.try_lock().is_none());
            });
        });
        drop(guard);
        assert!(mutex.try_lock_until(Instant::now()).is_some(), "a free lock needs no time");
        assert!(mutex.try_lock_for(Duration::MAX).is_some(), "a time beyond all clocks");
    });
}

fn a_panic_inside_releases_and_does_not_poison<R: Full>() {
    let mutex = Mutex::<R, u32>::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        *mutex.lock() += 1;
        let _guard = mutex.lock();
        panic!("inside");
    }));
    assert!(panicked.is_err());
    assert_eq!(*mutex.try_lock().expect("released"), 1);
}

fn a_guard_may_be_sent_and_dropped_elsewhere<R: Full>() {
    within_two_minutes(|| {
        let mutex = Mutex::<R, u32>::new(0);
        std::thread::scope(|scope| {
            let (give, take) = mpsc::channel::<MutexGuard<'_, R, u32>>();
            let contender = scope.spawn(|| {
                for _ in 0..100 {
                    *mutex.lock() += 1;
                }
            });
            scope.spawn(move || {
                for mut guard in take {
                    *guard += 1;
                }
            });
            for _ in 0..100 {
                give.send(mutex.lock()).unwrap();
            }
            drop(give);
            contender.join().unwrap();
        });
        assert_eq!(mutex.into_inner(), 200);
    });
}

fn is_locked_does_not_lock<R: Full>() {
    let mutex = Mutex::<R, ()>::new(());
    assert!(!mutex.is_locked());
    let guard = mutex.lock();
    assert!(mutex.is_locked());
    assert!(mutex.is_locked());
    drop(guard);
    assert!(!mutex.is_locked());
}

/// With a waiter in line or in the hall, one bump lets it in, whatever the lock allows newcomers
/// otherwise.
fn one_bump_lets_a_waiter_in<R: Full>() {
    within_two_minutes(|| {
        let mutex = Mutex::<R, u32>::new(0);
        let mut guard = mutex.lock();
        MutexGuard::bump(&mut guard);
        assert_eq!(*guard, 0, "with nobody there a bump does nothing");
        std::thread::scope(|scope| {
            scope.spawn(|| *mutex.lock() += 1);
            await_sleepers(&mutex, 1);
            MutexGuard::bump(&mut guard);
            assert_eq!(*guard, 1);
            scope.spawn(|| *mutex.lock() += 1);
            await_sleepers(&mutex, 1);
            MutexGuard::unlock_fair(guard);
            assert_eq!(*mutex.lock(), 2, "a fair unlock hands over");
        });
    });
}

/// A holder with a waiter in line, and two more that found no seat, bumps until all have been
/// inside. Returns how many were inside after each bump.
fn entries_by_bump<R: Full>() -> Vec<usize> {
    within_two_minutes(|| {
        let mutex = Mutex::<R, usize>::new(0);
        let mut guard = mutex.lock();
        std::thread::scope(|scope| {
            for waiters in 1..=3 {
                scope.spawn(|| *mutex.lock() += 1);
                await_sleepers(&mutex, waiters);
            }
            let mut entries = Vec::new();
            while *guard < 3 {
                MutexGuard::bump(&mut guard);
                entries.push(*guard);
            }
            entries
        })
    })
}

#[test]
fn a_bump_goes_behind_the_threads_that_wait_for_a_seat() {
    assert_eq!(entries_by_bump::<RawBakeryMutex>(), [3]);
    // All three have a seat, or none; or one does, and the holder goes behind the other two for it.
    assert_eq!(entries_by_bump::<LeasedBakery<8>>(), [3]);
    assert_eq!(entries_by_bump::<LeasedBakery<1>>(), [3]);
    assert_eq!(entries_by_bump::<LeasedBakery<2>>(), [3]);
    assert_eq!(entries_by_bump::<RawTournamentMutex<1>>(), [3]);
    assert_eq!(entries_by_bump::<RawTournamentMutex<2, 0>>(), [3]);
}

/// Starts ten threads one by one, each when the one before is asleep. Returns the order of service.
fn order_of_service<R: Full>() -> Vec<usize> {
    within_two_minutes(|| {
        let mutex = Mutex::<R, Vec<usize>>::new(Vec::new());
        let guard = mutex.lock();
        std::thread::scope(|scope| {
            for number in 0..10 {
                let mutex = &mutex;
                scope.spawn(move || mutex.lock().push(number));
                await_sleepers(mutex, number + 1);
            }
            drop(guard);
        });
        mutex.into_inner()
    })
}

#[test]
fn a_bakery_mutex_serves_in_order_of_arrival() {
    let arrival: Vec<_> = (0..10).collect();
    assert_eq!(order_of_service::<RawBakeryMutex>(), arrival);
    assert_eq!(order_of_service::<LeasedBakery<64>>(), arrival);
    assert_eq!(order_of_service::<LeasedBakery<16>>(), arrival);
    assert_eq!(order_of_service::<Leased<BlackWhiteBakery<16>>>(), arrival);
    // Among threads that are in line already, a bypass changes nothing.
    assert_eq!(order_of_service::<LeasedBakery<16, 32>>(), arrival);
    assert_eq!(order_of_service::<RawBakeryMutex<Bypass>>(), arrival);
}

#[test]
fn the_hall_is_served_in_order_of_arrival() {
    let arrival: Vec<_> = (0..10).collect();
    // Nobody has a seat; or one thread at a time does.
    assert_eq!(order_of_service::<LeasedBakery<1>>(), arrival);
    assert_eq!(order_of_service::<RawTournamentMutex<1>>(), arrival);
    assert_eq!(order_of_service::<LeasedBakery<2>>(), arrival);
    assert_eq!(order_of_service::<RawTournamentMutex<2>>(), arrival);
}

/// A thread sleeps in the hall while another one tries again and again. Returns whether the latter
/// got in first when the lock was released.
fn a_newcomer_gets_ahead_of_the_hall<R: Full>() -> bool {
    within_two_minutes(|| {
        let mutex = Mutex::<R, Vec<&str>>::new(Vec::new());
        let (done, is_tried) = (AtomicBool::new(false), AtomicBool::new(false));
        let guard = mutex.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock().push("sleeper");
                done.store(true, Relaxed);
            });
            await_sleepers(&mutex, 1);
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    if let Some(mut order) = mutex.try_lock() {
                        order.push("newcomer");
                    }
                    is_tried.store(true, Relaxed);
                }
            });
            while !is_tried.load(Relaxed) {
                std::hint::spin_loop();
            }
            drop(guard);
        });
        mutex.into_inner()[0] == "newcomer"
    })
}

#[test]
fn no_newcomer_gets_between_a_leaver_and_the_thread_that_it_gives_the_lock_to() {
    for _ in 0..300 {
        assert!(!a_newcomer_gets_ahead_of_the_hall::<LeasedBakery<1>>());
        assert!(!a_newcomer_gets_ahead_of_the_hall::<RawTournamentMutex<1>>());
    }
}

/// A raw lock with one seat to lease, whose user stands still on its way in until the gate is open.
#[derive(Debug)]
struct Gated;

static GATE_IS_OPEN: AtomicBool = AtomicBool::new(false);

// SAFETY: leased out, it has one user at a time.
unsafe impl RawLock for Gated {
    const SEATS: usize = 2;
    const UNLOCKED: Self = Self;

    unsafe fn acquire_among(
        &self,
        _: usize,
        _: &impl Attendance,
        _: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        while !GATE_IS_OPEN.load(Relaxed) {
            std::thread::yield_now();
        }
        Ok(())
    }

    unsafe fn release(&self, _: usize) {}

    fn is_idle(&self, _: usize) -> bool {
        true
    }

    fn places(&self, _: usize, _: impl FnMut(Place)) {}
}

/// When dropped, and so also when an assertion fails.
struct OpensTheGate;

impl Drop for OpensTheGate {
    fn drop(&mut self) {
        GATE_IS_OPEN.store(true, Relaxed);
    }
}

/// Whether the lock is locked, by `is_locked`, `try_lock` and `Debug`, which must agree.
fn is_locked<R: Full>(mutex: &Mutex<R, u32>) -> bool {
    let is_locked = mutex.is_locked();
    let says_locked = format!("{mutex:?}").contains("<locked>");
    assert_eq!(is_locked, says_locked, "Debug and is_locked: {}", debugged(mutex));
    is_locked
}

/// Whoever comes in from a seat, the next one that stands still can be passed anew.
fn is_locked_when_nobody_may_pass<R: Full>(passes: usize) {
    let mutex = Mutex::<R, u32>::new(0);
    for entries in 0..3 {
        is_locked_when_nobody_may_pass_any_more(&mutex, entries, passes);
    }
}

/// One thread has a seat and stands still, nobody is inside: `passes` newcomers may enter.
fn is_locked_when_nobody_may_pass_any_more<R: Full>(
    mutex: &Mutex<R, u32>,
    entries: u32,
    passes: usize,
) {
    let guard = mutex.lock();
    std::thread::scope(|scope| {
        let _open = OpensTheGate;
        scope.spawn(|| *mutex.lock() += 1);
        while !debugged(mutex).contains("here: 0b11,") {
            std::thread::yield_now();
        }
        drop(guard);
        assert!(debugged(mutex).contains("here: 0b10,"), "nobody is inside");
        // `Debug` locks to print, and so passes too.
        for _ in 0..passes / 2 {
            assert!(!mutex.is_locked());
            assert!(mutex.try_lock().is_some());
            assert!(!is_locked(mutex), "passed too seldom to be locked");
        }
        assert!(is_locked(mutex));
        assert!(mutex.try_lock().is_none());
    });
    GATE_IS_OPEN.store(false, Relaxed);
    assert!(!is_locked(mutex));
    assert_eq!(*mutex.try_lock().expect("nobody is here"), entries + 1);
}

#[test]
fn a_lock_is_locked_exactly_if_trying_fails() {
    within_two_minutes(|| {
        is_locked_when_nobody_may_pass::<Leased<Gated>>(0);
        is_locked_when_nobody_may_pass::<Leased<Gated, 2>>(2);
        is_locked_when_nobody_may_pass::<Leased<Gated, 6>>(6);
    });
}

#[test]
fn an_unfair_order_of_service_is_noticed() {
    assert_ne!(order_of_service::<RawTournamentMutex<16, 0>>(), (0..10).collect::<Vec<_>>());
}

/// One thread waits at the door and sleeps there: how often can another enter before it, if it
/// tries a hundred times? The sleeper is woken by the first leaving, so it may put an end to it
/// sooner.
fn bypasses<R: Full>() -> usize {
    within_two_minutes(|| {
        let mutex = Mutex::<R, bool>::new(false);
        let guard = mutex.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| *mutex.lock() = true);
            await_sleepers(&mutex, 1);
            drop(guard);
            let mut bypasses = 0;
            for _ in 0..100 {
                if mutex.try_lock().is_some_and(|entered_before_us| !*entered_before_us) {
                    bypasses += 1;
                }
            }
            bypasses
        })
    })
}

#[test]
fn no_more_newcomers_pass_than_allowed() {
    let most = |bypasses: fn() -> usize| (0..200).map(|_| bypasses()).max().expect("many tries");
    assert_eq!(most(bypasses::<RawBakeryMutex>), 0);
    assert_eq!(most(bypasses::<RawBakeryMutex<Bypass<0>>>), 0);
    assert!((1..=3).contains(&most(bypasses::<RawBakeryMutex<Bypass<3, 60_000_000>>>)));
    assert_eq!(most(bypasses::<LeasedBakery<8, 0>>), 0);
    assert!((1..=3).contains(&most(bypasses::<LeasedBakery<8, 3>>)));
    assert!((1..=3).contains(&most(bypasses::<RawTournamentMutex<8, 3>>)));
}

fn guards_can_be_mapped<R: Full>() {
    let mutex = Mutex::<R, (u32, u32)>::new((0, 0));
    let mut half: MappedMutexGuard<'_, R, u32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    *half = 7;
    assert!(mutex.try_lock().is_none());
    drop(half);
    assert_eq!(*mutex.lock(), (0, 7));
}

macro_rules! mutex {
    ($($name:ident: $raw:ty;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn no_increment_is_lost() {
                super::no_increment_is_lost::<$raw>(8);
            }

            #[test]
            fn no_increment_is_lost_among_64_threads() {
                super::no_increment_is_lost::<$raw>(64);
            }

            #[test]
            fn impatient_threads_leave_nothing_behind() {
                super::impatient_threads_leave_nothing_behind::<$raw>(12);
            }

            #[test]
            fn sleepers_are_woken() {
                super::sleepers_are_woken::<$raw>(20);
            }

            tests_of! { [$raw]:
                a_timeout_expires
                a_panic_inside_releases_and_does_not_poison
                a_guard_may_be_sent_and_dropped_elsewhere
                is_locked_does_not_lock
                guards_can_be_mapped
            }

            #[test]
            fn a_static_works() {
                static TOTAL: Mutex<$raw, u32> = Mutex::new(0);
                let workers = [(); 4].map(|()| std::thread::spawn(|| *TOTAL.lock() += 1));
                for worker in workers {
                    worker.join().unwrap();
                }
                assert_eq!(*TOTAL.lock(), 4);
            }
        })*
    };
}

mutex! {
    bakery: RawBakeryMutex;
    bakery_bypass: RawBakeryMutex<Bypass>;
    bakery_bypass_by_count: RawBakeryMutex<Bypass<3, 1_000_000>>;
    bakery_bypass_by_time: RawBakeryMutex<Bypass<100_000, 20>>;
    bakery_bypass_of_nobody: RawBakeryMutex<Bypass<0>>;
    bakery_1: LeasedBakery<1>;
    bakery_2: LeasedBakery<2>;
    bakery_8: LeasedBakery<8>;
    bakery_64: LeasedBakery<64>;
    bakery_8_bypass: LeasedBakery<8, 4>;
    tournament_1: RawTournamentMutex<1>;
    tournament_2: RawTournamentMutex<2>;
    tournament_8: RawTournamentMutex<8>;
    tournament_8_strict: RawTournamentMutex<8, 0>;
    tournament_64: RawTournamentMutex<64>;
    black_white_8: Leased<BlackWhiteBakery<8>>;
    tournament_8_swap: Leased<Tournament<8, PetersonSwap>>;
    tournament_8_priority: Leased<Tournament<8, Priority>>;
}

#[test]
fn one_bump_lets_a_waiter_in_whatever_the_lock() {
    one_bump_lets_a_waiter_in::<RawBakeryMutex>();
    one_bump_lets_a_waiter_in::<RawBakeryMutex<Bypass>>();
    one_bump_lets_a_waiter_in::<RawBakeryMutex<Bypass<100_000, 60_000_000>>>();
    one_bump_lets_a_waiter_in::<LeasedBakery<64>>();
    one_bump_lets_a_waiter_in::<LeasedBakery<8, 32>>();
    one_bump_lets_a_waiter_in::<RawTournamentMutex>();
    one_bump_lets_a_waiter_in::<RawTournamentMutex<8, 0>>();
    one_bump_lets_a_waiter_in::<Leased<BlackWhiteBakery<8>>>();
    // With one seat the waiter is in the hall.
    for _ in 0..100 {
        one_bump_lets_a_waiter_in::<LeasedBakery<1>>();
        one_bump_lets_a_waiter_in::<LeasedBakery<1, 32>>();
        one_bump_lets_a_waiter_in::<RawTournamentMutex<1>>();
    }
}

#[test]
fn policies_and_seats_need_not_be_spelled_out() {
    let counted = Arc::new(BakeryMutex::new(0));
    *counted.lock() += 1;
    let played = TournamentMutex::new(String::new());
    played.lock().push('x');
    assert_eq!(played.into_inner(), "x");
}

#[test]
fn the_wrappers_do_what_a_mutex_does() {
    let mut mutex = BakeryMutex::<_, Bypass<4>>::with_policy(1);
    *mutex.get_mut() += 1;
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 2 }");
    let guard = mutex.lock();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(guard);
    assert_eq!(*BakeryMutex::<u8, Strict>::from(3).lock(), 3);
    assert_eq!(*BakeryMutex::<u8, Bypass>::default().lock(), 0);
    assert_eq!(*TournamentMutex::<u8, 4>::from(3).lock(), 3);
    assert_eq!(*TournamentMutex::<u8, 4>::default().lock(), 0);
    let unsized_value: Box<BakeryMutex<[u8]>> = Box::new(BakeryMutex::new([1, 2, 3]));
    assert_eq!(unsized_value.lock().len(), 3);
}

#[cfg(feature = "arc_lock")]
#[test]
fn a_guard_can_own_its_mutex() {
    let mutex = Arc::new(BakeryMutex::new(1));
    let mut guard = mutex.lock_arc();
    assert!(mutex.try_lock_arc().is_none());
    assert!(mutex.try_lock_arc_for(Duration::from_millis(1)).is_none());
    assert!(mutex.try_lock_arc_until(Instant::now()).is_none());
    drop(mutex);
    *guard += 1;
    let guard = std::thread::spawn(move || guard).join().unwrap();
    assert_eq!(*guard, 2);
}
