//! Owned seats that read and write: who is inside together, who waits for whom, and who is passed.
#![cfg(not(exclusion_loom))]

mod common;

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::within_two_minutes;
use exclusion::lock::raw::{
    Narrow, Packed, Padded, Place, RawLock, RawSharedLock, RwBakery, Waiting, Withdrawn,
};
use exclusion::lock::wait::SpinThenYield;
use exclusion::lock::{SeatReadGuard, Seated};

/// From every seat at once, in every way there is: readers see no half of a write, no more of them
/// are inside than may be, and all writes are counted.
fn nobody_sees_half_of_a_write<L: RawSharedLock + 'static, const N: usize>(most: usize) {
    const ROUNDS: usize = 1_500;
    within_two_minutes(move || {
        let mut cell = Seated::<L, (usize, usize)>::new((0, 0));
        let inside = &AtomicUsize::new(0);
        let seats: [_; N] = cell.seats();
        let written: usize = thread::scope(|scope| {
            let contenders = seats.map(|mut seat| {
                scope.spawn(move || {
                    let mut written = 0;
                    for round in 0..ROUNDS {
                        if round % 5 == 0 {
                            let mut pair = seat.write();
                            assert_eq!(inside.load(Relaxed), 0, "a writer is not alone");
                            pair.0 += 1;
                            pair.1 += 1;
                            written += 1;
                            continue;
                        }
                        let guard = match round % 4 {
                            0 => seat.try_read(),
                            1 => seat.try_read_for(Duration::from_micros(round as u64 % 50)),
                            2 => {
                                let looks = Cell::new(0);
                                seat.read_unless(|| looks.replace(looks.get() + 1) == round % 20)
                            }
                            _ => Some(seat.read()),
                        };
                        if let Some(pair) = guard {
                            assert!(inside.fetch_add(1, Relaxed) < most, "more than may be");
                            assert_eq!(pair.0, pair.1, "half of a write");
                            inside.fetch_sub(1, Relaxed);
                        }
                    }
                    written
                })
            });
            contenders.into_iter().map(|contender| contender.join().unwrap()).sum()
        });
        assert_eq!(*cell.get_mut(), (written, written));
        for mut seat in cell.seats::<N>() {
            assert!(seat.try_write().is_some(), "nobody is left in the way");
        }
    });
}

#[test]
fn nobody_sees_half_of_a_write_among_eight_seats() {
    nobody_sees_half_of_a_write::<RwBakery<8>, 8>(8);
    nobody_sees_half_of_a_write::<RwBakery<4, Padded>, 4>(4);
}

#[test]
fn no_more_than_two_read_where_two_may() {
    nobody_sees_half_of_a_write::<RwBakery<6, Packed, 2>, 6>(2);
    nobody_sees_half_of_a_write::<RwBakery<3, Packed, 1>, 3>(1);
}

#[test]
fn a_third_reader_waits_until_one_of_two_has_left() {
    let mut cell = Seated::<RwBakery<3, Packed, 2>, _>::new(5);
    let [mut a, mut b, mut c] = cell.seats();
    let (one, two) = (a.read(), b.read());
    assert!(c.try_read().is_none());
    drop(one);
    assert_eq!(*c.try_read().expect("one has left"), *two);
}

#[test]
fn nobody_sees_half_of_a_write_where_tickets_run_out() {
    // Numbers 2 and 3, with a bit for readers.
    nobody_sees_half_of_a_write::<RwBakery<6, Narrow<7>>, 6>(6);
}

#[test]
fn readers_are_inside_together_and_a_writer_alone() {
    let mut cell = Seated::<RwBakery<4>, _>::new(5);
    let [mut a, mut b, mut c, mut d] = cell.seats();
    let (one, two) = (a.read(), b.read());
    assert_eq!((*one, *two, SeatReadGuard::seat(&two)), (5, 5, 1));
    assert!(c.try_write().is_none() && c.try_lock().is_none());
    assert!(d.try_read().is_some(), "no writer waits");
    assert_eq!(format!("{one:?} {two}"), "5 5");
    drop(one);
    assert!(c.try_write().is_none());
    drop(two);
    *c.write() += 1;
    let writer = c.write();
    assert!(a.try_read().is_none() && d.try_write().is_none());
    drop(writer);
    assert_eq!(*a.try_read_for(Duration::MAX).expect("nobody is inside"), 6);
}

#[test]
fn a_panic_releases_and_a_forgotten_guard_is_released_by_its_seat() {
    let mut cell = Seated::<RwBakery<2>, _>::new(5);
    let [mut a, mut b] = cell.seats();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = a.read();
        panic!("inside");
    }));
    assert!(panic.is_err() && b.try_write().is_some());
    std::mem::forget(a.read());
    assert!(b.try_write().is_none(), "a forgotten guard keeps writers out");
    assert_eq!(*a.read(), 5);
    assert!(b.try_write().is_some());
}

#[test]
fn a_guard_is_read_and_dropped_by_another_thread() {
    let mut cell = Seated::<RwBakery<2>, _>::new(5);
    let [mut a, mut b] = cell.seats();
    let guard = a.read();
    thread::scope(|scope| scope.spawn(move || assert_eq!(*guard, 5)).join().unwrap());
    assert!(b.try_write().is_some());
}

/// Tells when it starts to wait.
struct Telling<'a>(&'a mpsc::Sender<()>);

impl Waiting for Telling<'_> {
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if ready() {
            return Ok(());
        }
        // The test listens to the first wait only.
        let _ = self.0.send(());
        SpinThenYield.wait(place, ready)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wish {
    Read,
    Write,
}
use Wish::{Read, Write};

/// Seat 0 writes while the others come in the order given, each only when the one before waits.
/// Then it leaves. Returns the order in which they enter, where all stay for a moment.
fn order_of_service<L: RawSharedLock + 'static>(arrivals: &'static [(usize, Wish)]) -> Vec<usize> {
    within_two_minutes(move || {
        let lock = &L::UNLOCKED;
        let (enters, order) = mpsc::channel();
        // SAFETY: each thread has a seat of its own, and releases what it has acquired.
        unsafe { lock.acquire(0, &SpinThenYield).unwrap() };
        thread::scope(|scope| {
            for &(seat, wish) in arrivals {
                let (waits, waiting) = mpsc::channel();
                let enters = enters.clone();
                scope.spawn(move || {
                    let telling = Telling(&waits);
                    // SAFETY: as above.
                    unsafe {
                        match wish {
                            Read => lock.acquire_shared(seat, &telling).unwrap(),
                            Write => lock.acquire(seat, &telling).unwrap(),
                        }
                        enters.send(seat).unwrap();
                        lock.release(seat);
                    }
                });
                waiting.recv().unwrap();
            }
            // SAFETY: as above.
            unsafe { lock.release(0) };
        });
        drop(enters);
        order.iter().collect()
    })
}

/// No reader is starved by writers, and no writer by readers: each enters after the conflicting
/// seats that came before it, and before those that came after.
#[test]
fn readers_and_writers_enter_in_the_order_of_their_tickets() {
    const ARRIVALS: &[(usize, Wish)] =
        &[(5, Write), (2, Read), (7, Read), (1, Write), (6, Read), (3, Write), (4, Write)];
    let order = order_of_service::<RwBakery<8>>(ARRIVALS);
    let at = |seat| order.iter().position(|it| *it == seat).unwrap();
    for (index, &(seat, wish)) in ARRIVALS.iter().enumerate() {
        for &(later, its) in &ARRIVALS[index + 1..] {
            if wish == Write || its == Write {
                assert!(at(seat) < at(later), "{later} enters before {seat}: {order:?}");
            }
        }
    }
}

/// One reader at a time is a mutex, first come, first served.
#[test]
fn where_one_reader_may_be_inside_readers_have_an_order_too() {
    const ARRIVALS: &[(usize, Wish)] = &[(3, Read), (1, Read), (4, Write), (2, Read)];
    assert_eq!(order_of_service::<RwBakery<5, Packed, 1>>(ARRIVALS), [3, 1, 4, 2]);
}

/// Stands still at the first wait until told to go on.
struct Frozen {
    waits: mpsc::Sender<()>,
    thaw: mpsc::Receiver<()>,
}

impl Waiting for Frozen {
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        if !ready() && self.waits.send(()).is_ok() {
            let _ = self.thaw.recv();
        }
        SpinThenYield.wait(place, ready)
    }
}

/// A writer that waits, and gets no core, is passed by no reader, however often one comes.
#[test]
fn no_reader_passes_a_writer_that_waits_and_no_writer_a_reader() {
    for (first, waits_as, comes_as) in [(Read, Write, Read), (Write, Read, Write)] {
        let passes = within_two_minutes(move || {
            let lock = &RwBakery::<3>::with_readers();
            let acquire = move |seat, wish, waiting: &Frozen| {
                // SAFETY: each thread has a seat of its own, and releases what it has acquired.
                unsafe {
                    match wish {
                        Read => lock.acquire_shared(seat, waiting),
                        Write => lock.acquire(seat, waiting),
                    }
                }
            };
            let attempt = move |seat, wish| {
                // SAFETY: as above.
                unsafe {
                    let inside = match wish {
                        Read => lock.try_acquire_shared(seat),
                        Write => lock.try_acquire(seat),
                    };
                    if inside {
                        lock.release(seat);
                    }
                    inside
                }
            };
            // SAFETY: as above.
            unsafe {
                match first {
                    Read => assert!(lock.try_acquire_shared(0)),
                    Write => assert!(lock.try_acquire(0)),
                }
            }
            let (waits, waiting) = mpsc::channel();
            let (go_on, thaw) = mpsc::channel();
            thread::scope(|scope| {
                scope.spawn(move || {
                    acquire(1, waits_as, &Frozen { waits, thaw }).unwrap();
                    // SAFETY: as above.
                    unsafe { lock.release(1) };
                });
                waiting.recv().unwrap();
                let mut passes = (0..10).filter(|_| attempt(2, comes_as)).count();
                // SAFETY: as above.
                unsafe { lock.release(0) };
                passes += (0..10).filter(|_| attempt(2, comes_as)).count();
                drop(go_on);
                passes
            })
        });
        assert_eq!(passes, 0, "{comes_as:?} passes {waits_as:?}");
    }
}
