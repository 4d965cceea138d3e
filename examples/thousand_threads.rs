//! A thousand threads and one `static` mutex of one word. Half of them lock, half leave a closure.
//!
//! In the first part they come one after the other, and enter in that order. In the second they all
//! come at once, again and again, and none of their additions is lost.

use std::thread;

use exclusion::BakeryMutex;

const THREADS: u64 = 1_000;
const ROUNDS: u64 = 20;

/// How many have entered.
static M: BakeryMutex<u64> = BakeryMutex::new(0);

/// Enters, and returns how many did so before.
fn enter(thread: u64) -> u64 {
    let next = |count: &mut u64| {
        *count += 1;
        *count - 1
    };
    if thread.is_multiple_of(2) { next(&mut M.lock()) } else { M.with(next) }
}

/// How many threads have drawn a ticket and sleep.
fn asleep() -> u64 {
    // SAFETY: the raw mutex is only printed.
    let text = format!("{:?}", unsafe { M.raw() });
    let (_, rest) = text.split_once("asleep: ").expect("the mutex says who sleeps");
    let (number, _) = rest.split_once(',').expect("and more");
    number.parse().expect("a number")
}

fn main() {
    assert_eq!(size_of_val(&M), 2 * size_of::<u64>(), "a word for the mutex, and one for the data");
    thread::scope(|scope| {
        let guard = M.lock();
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let thread = scope.spawn(move || enter(number));
                // The next one comes when this one has its ticket.
                while asleep() <= number {
                    thread::yield_now();
                }
                thread
            })
            .collect();
        drop(guard);
        for (number, thread) in (0..).zip(threads) {
            assert_eq!(thread.join().unwrap(), number, "not in the order of arrival");
        }
    });
    println!("{THREADS} threads came one after the other, and entered in that order");

    M.with(|sum| *sum = 0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    enter(thread + round);
                }
            });
        }
    });
    let sum = M.with(|sum| *sum);
    assert_eq!(sum, THREADS * ROUNDS);
    println!("{THREADS} threads entered {ROUNDS} times each: {sum}");
}
