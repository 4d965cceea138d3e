//! Two cores of firmware that share a reading, with owned seats: loads, stores and fences only.
//!
//! The cores are threads here. What they run needs neither `std` nor an allocator nor a
//! compare-and-swap: it compiles as it is for a target whose atomics are loads and stores.
//!
//! ```sh
//! cargo run --example firmware
//! ```

use exclusion::lock::raw::RwBakery;
use exclusion::lock::{Seat, Seated};

/// One seat per core, and one for the interrupt that watches.
type Lock = RwBakery<3>;

/// What the cores share. All parts of it belong together.
#[derive(Clone, Copy, Default)]
struct Reading {
    number: u32,
    celsius: i32,
    millivolts: u32,
}

impl Reading {
    fn is_whole(&self) -> bool {
        self.celsius == self.number as i32 % 40 && self.millivolts == self.number * 3
    }
}

/// The core at the sensor: writes one reading after the other.
fn sample(mut seat: Seat<'_, Lock, Reading>, readings: u32) {
    for number in 1..=readings {
        let mut shared = seat.write();
        shared.number = number;
        shared.celsius = number as i32 % 40;
        shared.millivolts = number * 3;
    }
}

/// The core at the radio: takes what is there, until it has the last. Returns how often, and
/// whether all that it took was whole.
fn report(mut seat: Seat<'_, Lock, Reading>, last: u32) -> (u32, bool) {
    let (mut taken, mut is_whole) = (0, true);
    loop {
        let reading = *seat.read();
        taken += 1;
        is_whole &= reading.is_whole() || reading.number == 0;
        if reading.number == last {
            return (taken, is_whole);
        }
    }
}

/// An interrupt must not wait for long: it looks a hundred times at most, and else does without.
fn watch(mut seat: Seat<'_, Lock, Reading>, last: u32) -> (u32, u32) {
    let (mut seen, mut done_without) = (0, 0);
    loop {
        let looks = core::cell::Cell::new(0);
        match seat.read_unless(|| looks.replace(looks.get() + 1) == 100).map(|it| *it) {
            Some(reading) => {
                assert!(reading.is_whole() || reading.number == 0, "half of a reading");
                seen += 1;
                if reading.number == last {
                    return (seen, done_without);
                }
            }
            None => done_without += 1,
        }
    }
}

fn main() {
    const LAST: u32 = 20_000;
    // In firmware it is a `static`: `take_seats` gives its seats out once, where there is a swap.
    // Without one, a `&'static mut` that the start-up code owns does, as here.
    let shared: &'static mut Seated<Lock, Reading> = Box::leak(Box::default());
    let [sensor, radio, interrupt] = shared.seats();
    let (taken, seen, done_without) = std::thread::scope(|scope| {
        scope.spawn(move || sample(sensor, LAST));
        let radio = scope.spawn(move || report(radio, LAST));
        let (seen, done_without) = watch(interrupt, LAST);
        let (taken, is_whole) = radio.join().expect("nobody panics");
        assert!(is_whole, "half of a reading");
        (taken, seen, done_without)
    });
    println!(
        "{LAST} readings written; the radio took {taken}, the interrupt saw {seen} and did \
         without {done_without} times; every one was whole, without a compare-and-swap"
    );
}
