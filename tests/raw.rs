//! Every raw lock, through owned seats and directly. One suite, a line a lock.

#[macro_use]
mod common;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, mpsc};
use std::time::Duration;

use common::flawed::{Flawed, UNFAIR};
use common::within_two_minutes;
use exclusion::lock::raw::{
    Attendance, Bakery, BlackWhiteBakery, Narrow, Packed, Padded, Peterson, PetersonSwap, Place,
    Priority, RawLock, RwBakery, Tournament, Waiting, Withdrawn,
};
use exclusion::lock::{Seated, wait::SpinThenYield};

/// Locks from every seat at once, in every way there is, and counts.
fn counts_every_entry<L: RawLock + 'static, const N: usize>() {
    const ROUNDS: usize = 3_000;
    within_two_minutes(|| {
        let mut cell = Seated::<L, usize>::new(0);
        let seats: [_; N] = cell.seats();
        let entries: usize = std::thread::scope(|scope| {
            let contenders = seats.map(|mut seat| {
                scope.spawn(move || {
                    let mut entries = 0;
                    for round in 0..ROUNDS {
                        let guard = match round % 4 {
                            0 => seat.try_lock(),
                            1 => seat.try_lock_for(Duration::from_micros(round as u64 % 50)),
                            2 => {
                                let looks = Cell::new(0);
                                seat.lock_unless(|| looks.replace(looks.get() + 1) == round % 20)
                            }
                            _ => Some(seat.lock()),
                        };
                        if let Some(mut guard) = guard {
                            *guard += 1;
                            entries += 1;
                        }
                    }
                    entries
                })
            });
            contenders.into_iter().map(|contender| contender.join().unwrap()).sum()
        });
        assert!(entries >= N * ROUNDS / 4, "patient locking never fails");
        assert_eq!(*cell.get_mut(), entries);
        for mut seat in cell.seats::<N>() {
            assert!(seat.try_lock().is_some(), "nobody is left in the way");
        }
    });
}

fn a_panic_inside_releases<L: RawLock, const N: usize>() {
    let mut cell = Seated::<L, u32>::new(0);
    let mut seats: [_; N] = cell.seats();
    for seat in &mut seats {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = seat.lock();
            *guard += 1;
            panic!("inside");
        }));
        assert!(panicked.is_err());
    }
    assert_eq!(*seats[0].lock(), N as u32);
}

fn a_guard_may_be_dropped_by_another_thread<L: RawLock, const N: usize>() {
    let mut cell = Seated::<L, u32>::new(0);
    let mut seats: [_; N] = cell.seats();
    for seat in &mut seats {
        let mut guard = seat.lock();
        std::thread::scope(|scope| {
            scope.spawn(move || *guard += 1);
        });
    }
    assert_eq!(*seats[N - 1].lock(), N as u32);
}

fn a_forgotten_guard_is_released_when_its_seat_locks_again<L: RawLock, const N: usize>() {
    let mut cell = Seated::<L, u32>::new(0);
    let mut seats: [_; N] = cell.seats();
    std::mem::forget(seats[0].lock());
    if N > 1 {
        assert!(seats[N - 1].try_lock().is_none(), "a forgotten guard keeps the others out");
    }
    *seats[0].lock() += 1;
    assert_eq!(*seats[N - 1].lock(), 1);

    std::mem::forget(seats[0].lock());
    assert_eq!(*cell.seats::<N>()[N - 1].lock(), 1, "new seats start afresh");
}

/// A contender whose way of waiting panics is as gone as one that gives up.
fn a_panic_while_waiting_withdraws<L: RawLock, const N: usize>() {
    let mut cell = Seated::<L, u32>::new(0);
    let mut seats: [_; N] = cell.seats();
    let (first, others) = seats.split_first_mut().expect("at least one seat");
    for other in &mut *others {
        let guard = first.lock();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            drop(other.lock_unless(|| panic!("while waiting")));
        }));
        assert!(panicked.is_err());
        drop(guard);
    }
    assert!(first.try_lock().is_some());
    for other in others {
        assert!(other.try_lock().is_some(), "nobody is left in the way");
    }
}

/// Panics where it would wake another.
struct PanicsAtWake;

impl Waiting for PanicsAtWake {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if ready() { Ok(()) } else { Err(Withdrawn) }
    }

    fn wake(&self, _: Place) {
        panic!("at a wake");
    }
}

/// Does not matter to locks that wake nobody in the middle of an acquisition.
fn a_panic_at_a_wake_withdraws<L: RawLock, const N: usize>() {
    let lock = L::UNLOCKED;
    for other in 1..N {
        // SAFETY: nobody else uses this lock, and what is acquired is released.
        unsafe {
            lock.acquire(0, &SpinThenYield).unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| lock.acquire(other, &PanicsAtWake)));
            assert!(!matches!(outcome, Ok(Ok(()))), "somebody is inside");
            lock.release(0);
            for seat in 0..N {
                assert!(lock.try_acquire(seat), "nobody is left in the way");
                lock.release(seat);
            }
        }
    }
}

/// Tells when it starts to wait.
struct Telling<'a> {
    waits: &'a mpsc::Sender<()>,
}

impl Waiting for Telling<'_> {
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if ready() {
            return Ok(());
        }
        // The test listens to the first wait only.
        let _ = self.waits.send(());
        SpinThenYield.wait(place, ready)
    }
}

/// Seat 0 is inside while the others come in the order given, each only when the one before waits.
/// Then it leaves. Returns the order in which they enter.
fn order_of_service(lock: &impl RawLock, arrivals: &[usize]) -> Vec<usize> {
    let (enters, order) = mpsc::channel();
    std::thread::scope(|scope| {
        for &seat in arrivals {
            let (waits, waiting) = mpsc::channel();
            let enters = enters.clone();
            scope.spawn(move || {
                // SAFETY: each thread has a seat of its own, and releases what it has acquired.
                unsafe { lock.acquire(seat, &Telling { waits: &waits }).unwrap() };
                enters.send(seat).unwrap();
                // SAFETY: as above.
                unsafe { lock.release(seat) };
            });
            waiting.recv().unwrap();
        }
        // SAFETY: the caller went inside from seat 0.
        unsafe { lock.release(0) };
    });
    drop(enters);
    order.iter().collect()
}

/// The same for a fresh lock.
fn order_of_service_of<L: RawLock + 'static>(arrivals: &'static [usize]) -> Vec<usize> {
    within_two_minutes(move || {
        let lock = L::UNLOCKED;
        // SAFETY: nobody else uses seat 0, and it is left in `order_of_service`.
        unsafe { lock.acquire(0, &SpinThenYield).unwrap() };
        order_of_service(&lock, arrivals)
    })
}

const ARRIVALS: &[usize] = &[5, 2, 7, 1, 6, 3, 4];

#[test]
fn a_bakery_serves_in_order_of_arrival() {
    assert_eq!(order_of_service_of::<Bakery<8>>(ARRIVALS), ARRIVALS);
    assert_eq!(order_of_service_of::<BlackWhiteBakery<8>>(ARRIVALS), ARRIVALS);
}

#[test]
fn an_unfair_order_of_service_is_noticed() {
    assert_eq!(order_of_service_of::<Flawed<8, UNFAIR>>(ARRIVALS), [1, 2, 3, 4, 5, 6, 7]);
}

/// Sleeps, and is woken by `wake` or not at all.
#[derive(Default)]
struct Dormitory {
    asleep: Mutex<usize>,
    alarm: Condvar,
}

impl Dormitory {
    fn await_sleeper(&self) {
        while *self.asleep.lock().unwrap() == 0 {
            std::thread::yield_now();
        }
    }
}

impl Waiting for Dormitory {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        let mut asleep = self.asleep.lock().unwrap();
        while !ready() {
            *asleep += 1;
            asleep = self.alarm.wait(asleep).unwrap();
            *asleep -= 1;
        }
        Ok(())
    }

    fn wake(&self, _: Place) {
        // With the mutex, so that nobody is between its look and its sleep.
        let _asleep = self.asleep.lock().unwrap();
        self.alarm.notify_all();
    }
}

/// Everybody needs a look, but not before it is told to go on: a contender that looks stands still
/// in the doorway.
struct Dawdling {
    stands: mpsc::Sender<()>,
    go_on: mpsc::Receiver<()>,
}

impl Attendance for Dawdling {
    fn seats(&self, all: usize) -> impl Iterator<Item = usize> {
        // The test listens to the first look only.
        let _ = self.stands.send(());
        let _ = self.go_on.recv();
        0..all
    }
}

#[test]
fn a_waiter_may_sleep_while_another_draws_its_ticket() {
    within_two_minutes(|| {
        let (lock, dormitory) = (&Bakery::<2>::new(), &Dormitory::default());
        let (stands, standing) = mpsc::channel();
        let (go_on, told) = mpsc::channel();
        std::thread::scope(|scope| {
            let leave = move |seat| {
                // SAFETY: this seat has just entered.
                unsafe { lock.release(seat) };
                lock.places(seat, |place| dormitory.wake(place));
            };
            scope.spawn(move || {
                let dawdling = Dawdling { stands, go_on: told };
                // SAFETY: one thread per seat, and `Dawdling` leaves nobody out.
                unsafe { lock.acquire_among(1, &dawdling, dormitory) }.unwrap();
                leave(1);
            });
            standing.recv().unwrap();
            scope.spawn(move || {
                // SAFETY: one thread per seat.
                unsafe { lock.acquire(0, dormitory) }.unwrap();
                leave(0);
            });
            dormitory.await_sleeper();
            drop(go_on);
        });
    });
}

/// Stands still at the first wait until released, then withdraws.
struct Frozen {
    waits: mpsc::Sender<()>,
    thaw: mpsc::Receiver<()>,
}

impl Waiting for Frozen {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if ready() {
            return Ok(());
        }
        self.waits.send(()).unwrap();
        self.thaw.recv().unwrap();
        if ready() { Ok(()) } else { Err(Withdrawn) }
    }
}

/// Seat 0 is inside, seat 1 waits and is not allowed to run: how often does `rival` get in before
/// it, out of ten tries, once seat 0 has left? And does seat 1 get in when it runs again?
fn bypasses<L: RawLock + 'static>(rival: usize) -> (usize, bool) {
    within_two_minutes(move || {
        let lock = L::UNLOCKED;
        let (waits, waiting) = mpsc::channel();
        let (go_on, thaw) = mpsc::channel();
        std::thread::scope(|scope| {
            // SAFETY: each thread has a seat of its own, and releases what it has acquired.
            unsafe { lock.acquire(0, &SpinThenYield).unwrap() };
            let lock = &lock;
            let frozen = scope.spawn(move || {
                // SAFETY: as above.
                let inside = unsafe { lock.acquire(1, &Frozen { waits, thaw }) }.is_ok();
                if inside {
                    // SAFETY: as above.
                    unsafe { lock.release(1) };
                }
                inside
            });
            waiting.recv().unwrap();
            // SAFETY: as above.
            unsafe { lock.release(0) };
            let bypasses = (0..10)
                .filter(|_| {
                    // SAFETY: as above.
                    let inside = unsafe { lock.try_acquire(rival) };
                    if inside {
                        // SAFETY: as above.
                        unsafe { lock.release(rival) };
                    }
                    inside
                })
                .count();
            // It may wait at several nodes.
            while go_on.send(()).is_ok() && waiting.recv().is_ok() {}
            (bypasses, frozen.join().unwrap())
        })
    })
}

#[test]
fn nobody_passes_a_waiting_contender_at_a_peterson_node_a_second_time() {
    // Seat 0 was inside: that was its one time.
    assert_eq!(bypasses::<Peterson>(0), (0, true));
    assert_eq!(bypasses::<PetersonSwap>(0), (0, true));
    assert_eq!(bypasses::<Tournament<8>>(0), (0, true));
    // A bakery lets nobody pass, from wherever it comes.
    assert_eq!(bypasses::<Bakery<8>>(0), (0, true));
    assert_eq!(bypasses::<Bakery<8>>(7), (0, true));
    assert_eq!(bypasses::<BlackWhiteBakery<8>>(7), (0, true));
}

#[test]
fn a_contender_that_does_not_run_is_passed_elsewhere() {
    // Away from its node the tournament does not know of it yet,
    assert_eq!(bypasses::<Tournament<8>>(7), (10, true));
    // and a priority node keeps the flag of a waiter down. Both let it in when it runs.
    assert_eq!(bypasses::<Priority>(0), (10, true));
    assert_eq!(bypasses::<Tournament<8, Priority>>(0), (10, true));
}

/// For a lock of three seats and two tickets.
fn at_the_last_ticket_the_newcomer_waits_outside<L: RawLock>() {
    let lock = L::UNLOCKED;
    // SAFETY: nobody else uses this lock, and what is acquired is released.
    unsafe {
        lock.acquire(0, &SpinThenYield).unwrap();
        std::thread::scope(|scope| {
            let (waits, waiting) = mpsc::channel();
            let lock = &lock;
            scope.spawn(move || {
                lock.acquire(1, &Telling { waits: &waits }).unwrap();
                lock.release(1);
            });
            waiting.recv().unwrap();
            assert!(!lock.try_acquire(2), "there is no ticket for it");
            let (waits, waiting) = mpsc::channel();
            scope.spawn(move || {
                lock.acquire(2, &Telling { waits: &waits }).unwrap();
                lock.release(2);
            });
            waiting.recv().unwrap();
            lock.release(0);
        });
        assert!(lock.try_acquire(0), "numbers start afresh");
        lock.release(0);
    }
}

#[test]
fn at_the_last_ticket_of_a_bakery_the_newcomer_waits_outside() {
    // Tickets 2 and 3.
    at_the_last_ticket_the_newcomer_waits_outside::<Bakery<3, Narrow<3>>>();
}

#[test]
fn at_the_last_number_of_a_black_white_bakery_the_newcomer_waits_outside() {
    // Numbers 1 and 2.
    at_the_last_ticket_the_newcomer_waits_outside::<BlackWhiteBakery<3, Narrow<5>>>();
}

/// Lets the other of two seats out when it has to wait for it, and wants a ticket by then.
struct LetsOut<'a, L> {
    lock: &'a L,
    seat: usize,
    is_let_out: Cell<bool>,
}

impl<L: RawLock> Waiting for LetsOut<'_, L> {
    fn wait(&self, _: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        while !ready() {
            assert!(!self.lock.is_idle(self.seat), "it waits outside: there is no number for it");
            assert!(!self.is_let_out.replace(true), "it waits for nobody");
            // SAFETY: the other seat is inside, and its user is this thread.
            unsafe { self.lock.release(1 - self.seat) };
        }
        Ok(())
    }
}

/// Two seats take turns, each of which comes while the other is inside. So there is never a moment
/// without tickets, and numbers start afresh only because the colour turns.
#[test]
fn a_black_white_bakery_of_two_seats_needs_two_numbers() {
    let lock = BlackWhiteBakery::<2, Narrow<5>>::default();
    // SAFETY: this thread uses both seats, each of them when it is idle.
    unsafe {
        lock.acquire(0, &SpinThenYield).unwrap();
        for seat in [1, 0].into_iter().cycle().take(20) {
            let waiting = LetsOut { lock: &lock, seat, is_let_out: Cell::new(false) };
            lock.acquire(seat, &waiting).unwrap();
            assert!(waiting.is_let_out.get());
        }
        lock.release(0);
    }
}

/// Seats 1 and 2 give up in turn, each drawing while the other still has its ticket, under one long
/// critical section of seat 0. Then seats 1, 3 and 2 come, in this order.
#[test]
fn withdrawals_do_not_cost_a_black_white_bakery_its_order() {
    let lock = BlackWhiteBakery::<4>::new();
    // SAFETY: each seat is used by one thread at a time, and what is acquired is released.
    unsafe {
        lock.acquire(0, &SpinThenYield).unwrap();
        for _ in 0..10 {
            std::thread::scope(|scope| {
                let (waits, waiting) = mpsc::channel();
                let (go_on, thaw) = mpsc::channel();
                let lock = &lock;
                scope.spawn(move || lock.acquire(1, &Frozen { waits, thaw }));
                waiting.recv().unwrap();
                assert!(!lock.try_acquire(2));
                go_on.send(()).unwrap();
            });
        }
    }
    assert_eq!(order_of_service(&lock, &[1, 3, 2]), [1, 3, 2]);
}

/// How far apart the registers are at which others wait for two seats that are neighbours.
fn distance_of_seats<L: RawLock>() -> usize {
    let lock = L::UNLOCKED;
    let place = |seat| {
        let mut first = None;
        lock.places(seat, |place| _ = first.get_or_insert(place.address()));
        first.expect("a place")
    };
    place(1).abs_diff(place(0))
}

#[test]
fn padded_registers_share_no_cache_line() {
    let word = size_of::<usize>();
    assert_eq!(distance_of_seats::<Bakery<8>>(), word);
    assert_eq!(distance_of_seats::<Peterson>(), word);
    assert!(distance_of_seats::<Bakery<8, Padded>>() >= 64);
    assert!(distance_of_seats::<BlackWhiteBakery<8, Padded>>() >= 64);
    assert!(distance_of_seats::<Peterson<Padded>>() >= 64);
    assert!(distance_of_seats::<PetersonSwap<Padded>>() >= 64);
    assert!(distance_of_seats::<Priority<Padded>>() >= 64);
}

#[test]
fn seats_that_may_have_been_forgotten_cannot_be_taken() {
    let mut cell = Seated::<Peterson, u32>::new(0);
    let [mut left, _] = cell.seats();
    std::mem::forget(left.lock());
    assert!(cell.take_seats::<2>().is_none());
    assert_eq!(*cell.seats::<2>()[1].lock(), 0);
}

#[test]
fn a_guard_gives_out_shared_references() {
    let mut cell = Seated::<Peterson, [u32; 2]>::new([1, 2]);
    let [mut left, _] = cell.seats();
    let guard = left.lock();
    let (first, second) = (&guard[0], &guard[1]);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(guard.len(), 2));
    });
    assert_eq!((first, second), (&1, &2));
}

macro_rules! raw_lock {
    ($($name:ident: $lock:ty, $seats:literal seats;)*) => {
        $(mod $name {
            use super::*;

            tests_of! { [$lock, $seats]:
                counts_every_entry
                a_panic_inside_releases
                a_panic_while_waiting_withdraws
                a_panic_at_a_wake_withdraws
                a_guard_may_be_dropped_by_another_thread
                a_forgotten_guard_is_released_when_its_seat_locks_again
            }

            #[test]
            fn seats_come_from_a_static_once() {
                static CELL: Seated<$lock, u32> = Seated::new(0);
                let seats: [_; $seats] = CELL.take_seats().expect("taken for the first time");
                let workers = seats.map(|mut seat| std::thread::spawn(move || *seat.lock() += 1));
                for worker in workers {
                    worker.join().unwrap();
                }
                assert!(CELL.take_seats::<$seats>().is_none());
                // SAFETY: the seats taken above are gone.
                let mut seat = unsafe { CELL.seat_unchecked(0) };
                assert_eq!(*seat.lock(), $seats);
            }
        })*
    };
}

raw_lock! {
    bakery_1: Bakery<1>, 1 seats;
    bakery_2: Bakery<2>, 2 seats;
    bakery_8: Bakery<8>, 8 seats;
    bakery_8_with_few_tickets: Bakery<8, Narrow<4>>, 8 seats;
    rw_bakery_1: RwBakery<1>, 1 seats;
    rw_bakery_8: RwBakery<8>, 8 seats;
    rw_bakery_8_with_few_tickets: RwBakery<8, Narrow<9>>, 8 seats;
    rw_bakery_8_of_two: RwBakery<8, Packed, 2>, 8 seats;
    black_white_1: BlackWhiteBakery<1>, 1 seats;
    black_white_2: BlackWhiteBakery<2>, 2 seats;
    black_white_8: BlackWhiteBakery<8>, 8 seats;
    black_white_8_with_few_tickets: BlackWhiteBakery<8, Narrow<7>>, 8 seats;
    peterson: Peterson, 2 seats;
    peterson_swap: PetersonSwap, 2 seats;
    priority: Priority, 2 seats;
    tournament_1: Tournament<1>, 1 seats;
    tournament_2: Tournament<2>, 2 seats;
    tournament_3: Tournament<3>, 3 seats;
    tournament_7: Tournament<7>, 7 seats;
    tournament_8: Tournament<8>, 8 seats;
    tournament_5_swap: Tournament<5, PetersonSwap>, 5 seats;
    tournament_5_priority: Tournament<5, Priority>, 5 seats;
    bakery_8_padded: Bakery<8, Padded>, 8 seats;
    black_white_8_padded: BlackWhiteBakery<8, Padded>, 8 seats;
    peterson_padded: Peterson<Padded>, 2 seats;
    peterson_swap_padded: PetersonSwap<Padded>, 2 seats;
    priority_padded: Priority<Padded>, 2 seats;
    tournament_5_padded: Tournament<5, Peterson<Padded>>, 5 seats;
    tournament_4_of_bakeries: Tournament<4, Bakery<2>>, 4 seats;
}

#[test]
#[should_panic(expected = "seat 2 of a lock with 2 seats")]
fn a_seat_that_does_not_exist_is_refused() {
    let cell = Seated::<Peterson, u32>::new(0);
    // SAFETY: no other seat is in use.
    let _ = unsafe { cell.seat_unchecked(2) };
}
