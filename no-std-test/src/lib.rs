//! Shows that `exclusion` without its default features needs no std: this library has a panic
//! handler of its own, so a dependency that linked std would give the program two, which does not
//! compile.
#![no_std]

use exclusion::lock::Seated;
use exclusion::lock::raw::{Bakery, Peterson};
use exclusion::{BakeryMutex, Bypass, TournamentMutex};

static SEATED: Seated<Bakery<4>, u32> = Seated::new(0);
static STRICT: BakeryMutex<u32> = BakeryMutex::new(0);
static BYPASS: BakeryMutex<u32, Bypass<8>> = BakeryMutex::with_policy(0);
static TOURNAMENT: TournamentMutex<u32, 8> = TournamentMutex::with_seats(0);

/// Goes through each kind of lock once.
#[unsafe(no_mangle)]
pub extern "C" fn visit_all() -> u32 {
    let mut local = Seated::<Peterson, u32>::new(0);
    let [mut left, mut right] = local.seats();
    *left.lock() += 1;
    *right.lock_unless(|| true).unwrap() += 1;
    let mut sum = *left.lock();
    if let Some([mut first, ..]) = SEATED.take_seats::<4>() {
        *first.lock() += 1;
        sum += *first.lock();
    }
    *STRICT.lock() += 1;
    *BYPASS.lock() += 1;
    *TOURNAMENT.lock() += 1;
    sum + *STRICT.lock() + *BYPASS.lock() + *TOURNAMENT.lock()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
