//! What no user of the mutex can see, and what others can see by chance only.

use std::thread;
use std::time::{Duration, Instant};

use super::line::SEATS;
use super::waiting::InLine;
use super::word::{CLOSED, INSIDE, LINGERS, Word};
use super::{Arrival, LEAVE, Pooled, Turn, pool};
use crate::lock::policy::{Bypass, Policy, Strict};
use crate::lock::raw::{Place, Waiting};
use crate::lock::sync::Ordering::Relaxed;
use crate::lock::sync::probe::wake_ups;

/// So long that no test waits for its end, in microseconds.
const FOR_EVER: u64 = 1_000_000_000_000;

fn unlock<P: Policy>(mutex: &Pooled<P>, turn: Turn) {
    // SAFETY: each turn is that of the acquisition that is inside.
    unsafe { mutex.release(turn) };
}

fn asleep<P: Policy>(mutex: &Pooled<P>) -> usize {
    let word = mutex.look_for_line();
    if word.in_line() == 0 { 0 } else { pool().line(word.line()).asleep() }
}

/// How a thread waits.
#[derive(Clone, Copy)]
enum Way {
    Guard,
    Closure,
}

/// Threads come to a held mutex, one after the other, and sleep. Then `act` is done, and the mutex
/// is left. Returns how many wake-ups that was, the leaving not included.
fn wake_ups_of<P: Policy>(ways: &[Way], act: impl Fn(&Pooled<P>)) -> usize {
    let mutex = Pooled::<P>::new();
    let turn = mutex.acquire();
    thread::scope(|scope| {
        for (number, way) in ways.iter().enumerate() {
            let mutex = &mutex;
            scope.spawn(move || match way {
                Way::Guard => unlock(mutex, mutex.acquire()),
                Way::Closure => {
                    // SAFETY: nothing is not shared.
                    let ran =
                        unsafe { mutex.run(|()| (), &raw mut *Box::leak(Box::new(())), None) };
                    assert!(ran.is_ok());
                }
            });
            while asleep(mutex) <= number {
                thread::yield_now();
            }
        }
        let before = wake_ups();
        act(&mutex);
        let count = wake_ups() - before;
        unlock(&mutex, turn);
        count
    })
}

/// Without it the order of service would be the same, and only slower: so it is counted.
#[test]
fn where_nobody_passes_a_leaver_wakes_the_thread_that_is_next_and_the_guard_after_it() {
    let call = |mutex: &Pooled<Strict>| mutex.call(mutex.look());
    assert_eq!(wake_ups_of(&[Way::Guard], call), 1);
    assert_eq!(wake_ups_of(&[Way::Guard; 2], call), 2);
    assert_eq!(wake_ups_of(&[Way::Guard; 4], call), 2);
    assert_eq!(wake_ups_of(&[Way::Closure, Way::Guard, Way::Guard], call), 2);
    // The closure of the second will be run without it.
    assert_eq!(wake_ups_of(&[Way::Guard, Way::Closure, Way::Guard], call), 1);
}

#[test]
fn where_newcomers_may_pass_a_leaver_wakes_one_thread() {
    let call = |mutex: &Pooled<Bypass<8, FOR_EVER>>| mutex.call(mutex.look());
    assert_eq!(wake_ups_of(&[Way::Guard; 3], call), 1);
}

/// Invariant 5: who may leave without a wake-up.
#[test]
fn a_leaver_that_passed_relies_on_a_newcomer_only_while_newcomers_may_pass() {
    let mutex = Pooled::<Bypass<8, FOR_EVER>>::new();
    // The number of those that passed is no multiple of 4, so that nobody looks at the clock.
    let one_is_past = Word::FREE.joined().passed_by_one();
    assert!(!mutex.must_call(one_is_past), "the newcomer that is inside will leave");
    let one_waits = one_is_past.without(INSIDE);
    assert!(mutex.must_call(one_waits), "nobody lingers");
    let lingers = one_waits.with(LINGERS);
    assert!(!mutex.must_call(lingers), "a newcomer takes the lock");
    assert!(mutex.must_call(lingers.with(CLOSED)), "no newcomer may take the lock");
    let strict = Pooled::<Strict>::new();
    assert!(strict.must_call(lingers) && strict.must_call(one_is_past), "no newcomer ever may");
}

/// Invariant 5: a newcomer on which a leaver relied, and which finds no room in the line.
#[test]
fn a_newcomer_that_stops_lingering_wakes_the_thread_that_is_next() {
    let mutex = Pooled::<Bypass<8, FOR_EVER>>::new();
    let Turn { seat: None } = mutex.acquire() else { unreachable!("nobody is here") };
    let count = thread::scope(|scope| {
        scope.spawn(|| unlock(&mutex, mutex.acquire()));
        while asleep(&mutex) == 0 {
            thread::yield_now();
        }
        mutex.word.fetch_or(LINGERS, Relaxed);
        let word = mutex.subtract(INSIDE, LEAVE.ordering());
        let before = wake_ups();
        mutex.stop_lingering();
        let count = wake_ups() - before;
        mutex.call(word); // should nobody have done so, the test must not hang
        count
    });
    assert_eq!(count, 1);
}

/// Invariant 5: a newcomer on which a leaver relied, and which joins the line.
#[test]
fn a_newcomer_that_joins_the_line_of_a_free_mutex_wakes_the_thread_that_is_next() {
    let mutex = Pooled::<Bypass<8, FOR_EVER>>::new();
    let Turn { seat: None } = mutex.acquire() else { unreachable!("nobody is here") };
    let count = thread::scope(|scope| {
        scope.spawn(|| unlock(&mutex, mutex.acquire()));
        while asleep(&mutex) == 0 {
            thread::yield_now();
        }
        mutex.word.fetch_or(LINGERS, Relaxed);
        mutex.subtract(INSIDE, LEAVE.ordering());
        let before = wake_ups();
        let Ok(Arrival::InLine(line, others)) = mutex.join(None) else {
            unreachable!("another thread waits, and there is room")
        };
        let count = wake_ups() - before;
        let waiting = InLine::new(line, others, None);
        waiting.strike();
        mutex.give_up(waiting.seat); // it calls too, so that the test cannot hang
        count
    });
    assert_eq!(count, 1);
    assert!(mutex.look() == Word::FREE);
}

/// Whoever is at the door closes it, also when nobody passes, leaves or comes.
#[test]
fn a_thread_at_the_door_wakes_by_itself_and_closes_it() {
    for _ in 0..10 {
        let mutex = Pooled::<Bypass<100_000, 2_000>>::new();
        let turn = mutex.acquire();
        thread::scope(|scope| {
            scope.spawn(|| unlock(&mutex, mutex.acquire()));
            // Far longer than it takes, so that the test fails and does not hang.
            let end = Instant::now() + Duration::from_secs(60);
            while !mutex.look().has(CLOSED) && Instant::now() < end {
                thread::sleep(Duration::from_micros(100));
            }
            let is_closed = mutex.look().has(CLOSED);
            unlock(&mutex, turn);
            assert!(is_closed);
        });
        assert!(mutex.look() == Word::FREE);
    }
}

/// A thread that is called as its time runs out enters.
#[test]
fn a_turn_that_has_come_is_taken_although_the_deadline_has_passed() {
    let number = pool().take().expect("a line");
    let waiting = InLine::new(pool().line(number), 0, Some(Instant::now()));
    let place = Place::of(&waiting);
    assert!(waiting.wait(place, || true).is_ok());
    assert!(waiting.wait_briefly(place, || true).is_ok());
    assert!(waiting.wait(place, || false).is_err());
    assert!(waiting.wait_briefly(place, || false).is_err());
    let mutex = Pooled::<Strict>::new();
    mutex.word.store(Word::FREE.joined_new(number).0, Relaxed);
    assert!(mutex.step_in(&waiting).is_ok(), "nobody is inside");
    assert!(mutex.step_in(&waiting).is_err(), "somebody is");
    waiting.line.leave_seat(waiting.seat);
    pool().give(number);
}

/// As many in line as there are seats. The line is nobody's.
fn full_line(number: usize) -> Word {
    (1..SEATS).fold(Word::FREE.joined_new(number), |word, _| word.joined()).with(INSIDE)
}

#[test]
fn nobody_joins_a_full_line() {
    const OTHERS: usize = SEATS - 1;
    let number = pool().take().expect("a line");
    let mutex = Pooled::<Strict>::new();
    mutex.word.store(full_line(number).0, Relaxed);
    assert!(mutex.join(Some(Instant::now())).is_err());
    assert!(mutex.look() == full_line(number), "it was never counted");
    mutex.word.store(full_line(number).left().0, Relaxed);
    assert!(matches!(mutex.join(Some(Instant::now())), Ok(Arrival::InLine(_, OTHERS))));
    assert_eq!(mutex.look().in_line(), SEATS);
    pool().give(number);
}

/// What belongs to the line is taken along by the last that leaves it, and by nobody before.
#[test]
fn the_word_forgets_the_line_with_the_last_that_leaves_it() {
    let both = Word::FREE.joined_new(7).joined().with(INSIDE | CLOSED).passed_by_one();
    assert!(both.left().has(CLOSED) && both.left().passed() == 1);
    assert_eq!((both.left().line(), both.left().in_line()), (7, 1));
    assert!(both.left().left() == Word::FREE.with(INSIDE));
    let stepped_in = both.stepped_in();
    assert!(!stepped_in.has(CLOSED) && stepped_in.passed() == 0);
}
