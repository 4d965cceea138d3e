//! Who sleeps in front of a mutex, as its debug output tells.

use std::fmt::Debug;

use lock_api::{Mutex, RawMutex};

/// What the lock's debug output says.
pub fn debugged<R: RawMutex + Debug, T: ?Sized>(mutex: &Mutex<R, T>) -> String {
    // SAFETY: the raw mutex is only printed.
    format!("{:?}", unsafe { mutex.raw() })
}

/// How many threads sleep.
pub fn asleep<R: RawMutex + Debug, T: ?Sized>(mutex: &Mutex<R, T>) -> usize {
    let text = debugged(mutex);
    // Each field of a place to sleep begins with this.
    let places = text.split(" asleep").skip(1);
    let count = |field: &str| {
        let digits = field.chars().skip_while(|letter| !letter.is_ascii_digit());
        let digits: String = digits.take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().expect("a number")
    };
    places.map(count).sum()
}

/// Waits until so many sleep.
pub fn await_sleepers<R: RawMutex + Debug, T: ?Sized>(mutex: &Mutex<R, T>, count: usize) {
    while asleep(mutex) != count {
        std::thread::yield_now();
    }
}

/// Whether nobody is inside, in line or asleep.
pub fn is_deserted<R: RawMutex + Debug, T: ?Sized>(mutex: &Mutex<R, T>) -> bool {
    let nobody = [
        "Leased { here: 0b0, asleep_at_door: 0, asleep_in_hall: 0, asleep_in_line: 0",
        "Pooled { inside: false, in_line: 0, waiting: 0, asleep: 0, passed: 0",
    ];
    let text = debugged(mutex);
    nobody.iter().any(|nobody| text.starts_with(nobody))
}
