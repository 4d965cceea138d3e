//! A symbol of a known name around each operation whose instructions `tests/machine_code.rs` reads.
//! Only there under `--cfg exclusion_asm`, and never called.

use super::parking::Parking;
use super::{Arrival, Lease, Leased};
use crate::lock::raw::{
    Bakery, BlackWhiteBakery, Packed, Peterson, PetersonSwap, Place, Priority, RawLock,
    RawSharedLock, RwBakery, Waiting, Withdrawn,
};
use crate::lock::wait::SpinThenYield;

type Strict = Leased<Bakery<64>>;
type Bypassed = Leased<Bakery<64>, 32>;

macro_rules! symbols {
    ($($name:ident: |$on:ident: $type:ty $(, $argument:ident: $its:ty)*| -> $result:ty { $body:expr })*) => {
        $(
            #[allow(missing_docs, clippy::missing_safety_doc, reason = "never called")]
            #[unsafe(no_mangle)]
            pub unsafe fn $name($on: &$type $(, $argument: $its)*) -> $result {
                #[allow(unused_unsafe, reason = "not all of them have a contract")]
                // SAFETY: the same contract.
                unsafe {
                    $body
                }
            }
        )*
    };
}

/// What a waiter does that nobody has to wake. Nothing of it is inlined: only the lock's own
/// instructions are read.
struct Elsewhere;

impl Waiting for Elsewhere {
    #[inline(never)]
    fn wait(&self, place: Place, ready: impl Fn() -> bool) -> Result<(), Withdrawn> {
        SpinThenYield.wait(place, ready)
    }
}

symbols! {
    asm_bakery_acquire: |lock: Bakery<8>, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_bakery_release: |lock: Bakery<8>, seat: usize| -> () { lock.release(seat) }
    asm_rw_bakery_read: |lock: RwBakery<8>, seat: usize| -> Result<(), Withdrawn> { lock.acquire_shared(seat, &Elsewhere) }
    asm_rw_bakery_read_of_two: |lock: RwBakery<8, Packed, 2>, seat: usize| -> Result<(), Withdrawn> { lock.acquire_shared(seat, &Elsewhere) }
    asm_rw_bakery_write: |lock: RwBakery<8>, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_rw_bakery_release: |lock: RwBakery<8>, seat: usize| -> () { lock.release(seat) }
    asm_black_white_acquire: |lock: BlackWhiteBakery<8>, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_black_white_release: |lock: BlackWhiteBakery<8>, seat: usize| -> () { lock.release(seat) }
    asm_peterson_acquire: |lock: Peterson, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_peterson_release: |lock: Peterson, seat: usize| -> () { lock.release(seat) }
    asm_peterson_swap_acquire: |lock: PetersonSwap, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_peterson_swap_release: |lock: PetersonSwap, seat: usize| -> () { lock.release(seat) }
    asm_priority_acquire: |lock: Priority, seat: usize| -> Result<(), Withdrawn> { lock.acquire(seat, &Elsewhere) }
    asm_priority_release: |lock: Priority, seat: usize| -> () { lock.release(seat) }

    asm_leased_acquire: |lock: Strict| -> Lease { lock.acquire() }
    asm_leased_release: |lock: Strict, lease: Lease| -> () { lock.release(lease) }
    asm_leased_pass: |lock: Bypassed| -> Option<Lease> { lock.pass() }
    asm_leased_take_seat: |lock: Strict| -> Option<Arrival> { lock.take_seat(None) }
    asm_leased_step_in: |lock: Strict, waiting: &Parking<'_>| -> Result<(), Withdrawn> { lock.step_in(waiting) }
    asm_leased_leave: |lock: Strict, seat: usize, bits: usize| -> () { lock.leave(seat, bits) }
    asm_leased_serve_hall: |lock: Strict| -> () { lock.serve_hall() }

    asm_parking_meet: |waiting: Parking<'_>| -> () { waiting.meet() }
    asm_parking_wake: |waiting: Parking<'_>, place: Place| -> () { waiting.wake(place) }
    asm_parking_wake_fenced: |waiting: Parking<'_>, place: Place| -> () { waiting.wake_fenced(place) }
}
