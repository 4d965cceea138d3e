//! Shows that `exclusion` without its default features needs no std: this library has a panic
//! handler of its own, so a dependency that linked std would give the program two, which does not
//! compile.
//!
//! Without its own default feature, `drop-in`, it also needs no compare-and-swap, nor any other
//! read-modify-write: `tests/no_compare_and_swap.rs` reads what the compiler makes of it. The
//! feature `swap` adds the one raw lock that needs one.
#![no_std]

use exclusion::lock::Seated;
#[cfg(feature = "swap")]
use exclusion::lock::raw::PetersonSwap;
use exclusion::lock::raw::{
    Bakery, BlackWhiteBakery, Packed, Padded, Peterson, Priority, RawLock, RawSharedLock, RwBakery,
    Tournament,
};

/// Enters from each owned seat, in each way.
fn visit<L: RawLock, const SEATS: usize>(cell: &mut Seated<L, u32>) -> u32 {
    let mut seats = cell.seats::<SEATS>();
    for seat in &mut seats {
        *seat.lock() += 1;
        if let Some(mut data) = seat.try_lock() {
            *data += 1;
        }
        if let Some(mut data) = seat.lock_unless(|| true) {
            *data += 1;
        }
    }
    *cell.get_mut()
}

/// Functions with names of their own, so that the compiler leaves none of them out.
macro_rules! visits {
    ($($(#[$only:meta])* $name:ident: $lock:ty, $seats:literal seats;)*) => {
        $(
            #[doc = concat!("Goes through `", stringify!($lock), "` from owned seats.")]
            $(#[$only])*
            #[unsafe(no_mangle)]
            pub fn $name(cell: &mut Seated<$lock, u32>) -> u32 {
                visit::<$lock, $seats>(cell)
            }
        )*
    };
}

visits! {
    visit_bakery: Bakery<4>, 4 seats;
    visit_padded_bakery: Bakery<4, Padded>, 4 seats;
    visit_black_white_bakery: BlackWhiteBakery<4>, 4 seats;
    visit_peterson: Peterson, 2 seats;
    visit_priority: Priority, 2 seats;
    visit_tournament: Tournament<5>, 5 seats;
    visit_tournament_of_priority_nodes: Tournament<5, Priority>, 5 seats;
    #[cfg(feature = "swap")]
    visit_peterson_swap: PetersonSwap, 2 seats;
}

/// Reads and writes from each owned seat, in each way.
fn visit_readers<L: RawSharedLock, const SEATS: usize>(cell: &mut Seated<L, u32>) -> u32 {
    let mut sum = 0;
    for seat in &mut cell.seats::<SEATS>() {
        *seat.write() += 1;
        sum += *seat.read();
        sum += seat.try_read().map_or(0, |data| *data);
        sum += seat.read_unless(|| true).map_or(0, |data| *data);
    }
    sum + visit::<L, SEATS>(cell)
}

/// Goes through a bakery with readers from owned seats.
#[unsafe(no_mangle)]
pub fn visit_rw_bakery(cell: &mut Seated<RwBakery<4>, u32>) -> u32 {
    visit_readers::<_, 4>(cell)
}

/// Goes through a bakery with readers, two at a time, from owned seats.
#[unsafe(no_mangle)]
pub fn visit_rw_bakery_of_two(cell: &mut Seated<RwBakery<4, Packed, 2>, u32>) -> u32 {
    visit_readers::<_, 4>(cell)
}

/// What needs a compare-and-swap.
#[cfg(feature = "drop-in")]
mod drop_in {
    use exclusion::lock::Seated;
    use exclusion::lock::raw::Bakery;
    use exclusion::{BakeryMutex, Bypass, TournamentMutex};

    static SEATED: Seated<Bakery<4>, u32> = Seated::new(0);
    static STRICT: BakeryMutex<u32> = BakeryMutex::new(0);
    static BYPASS: BakeryMutex<u32, Bypass<8>> = BakeryMutex::with_policy(0);
    static TOURNAMENT: TournamentMutex<u32, 8> = TournamentMutex::with_seats(0);

    /// Goes through each kind of lock once.
    #[unsafe(no_mangle)]
    pub extern "C" fn visit_drop_in() -> u32 {
        let mut sum = 0;
        if let Some([mut first, ..]) = SEATED.take_seats::<4>() {
            *first.lock() += 1;
            sum += *first.lock();
        }
        *STRICT.lock() += 1;
        *BYPASS.lock() += 1;
        *TOURNAMENT.lock() += 1;
        sum + *STRICT.lock() + *BYPASS.lock() + *TOURNAMENT.lock()
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
