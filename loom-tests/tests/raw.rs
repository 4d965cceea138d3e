//! Each raw lock as shipped. One suite, a line a lock.

use exclusion::lock::raw::{
    Bakery, BlackWhiteBakery, Narrow, Packed, Padded, Peterson, PetersonSwap, Priority, RwBakery,
    Tournament,
};
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::{hold, models, readers};

macro_rules! raw_lock {
    ($lock:ident: two seats in $two:ty, three in $three:ty) => {
        mod $lock {
            use super::*;

            raw_lock!(model $lock two_seats: Exhaustive, models::enter::<$two, 2, 1>);
            raw_lock!(model $lock two_seats_twice: Preemptions(3), models::enter::<$two, 2, 2>);
            raw_lock!(model $lock three_seats: Preemptions(1), models::enter::<$three, 3, 1>);
            raw_lock!(model $lock withdraw_from_three: Preemptions(2),
                models::withdraw_from_three::<$three>);
            raw_lock!(model $lock impatient: Preemptions(3), models::impatient::<$two>);
            raw_lock!(model $lock try_acquire: Exhaustive, models::try_acquire::<$two>);
            raw_lock!(model $lock withdraw_at_once: Exhaustive, models::withdraw::<$two, 0>);
            raw_lock!(model $lock withdraw_later: Preemptions(3), models::withdraw::<$two, 1>);
            raw_lock!(model $lock withdraw_and_return: Preemptions(3),
                models::withdraw_and_return::<$two>);
            raw_lock!(model $lock return_and_withdraw: Preemptions(3),
                models::return_and_withdraw::<$two>);
            raw_lock!(model $lock owned_seats: Exhaustive, models::seated::<$two>);
        }
    };
    (model $lock:ident $name:ident: $search:expr, $model:expr) => {
        #[test]
        fn $name() {
            hold(concat!(stringify!($lock), "::", stringify!($name)), $search, $model);
        }
    };
}

raw_lock!(bakery: two seats in Bakery<2>, three in Bakery<3>);
raw_lock!(bakery_at_its_limit: two seats in Bakery<2, Narrow<3>>, three in Bakery<3, Narrow<3>>);
raw_lock!(black_white_at_its_limit: two seats in BlackWhiteBakery<2, Narrow<3>>,
    three in BlackWhiteBakery<3, Narrow<3>>);
raw_lock!(black_white: two seats in BlackWhiteBakery<2>, three in BlackWhiteBakery<3>);
raw_lock!(peterson: two seats in Peterson, three in Tournament<3, Peterson>);
raw_lock!(peterson_swap: two seats in PetersonSwap, three in Tournament<3, PetersonSwap>);
raw_lock!(peterson_padded: two seats in Peterson<Padded>, three in Tournament<3, Peterson<Padded>>);
raw_lock!(priority: two seats in Priority, three in Tournament<3, Priority>);
raw_lock!(rw_bakery: two seats in RwBakery<2>, three in RwBakery<3>);

/// Locks with readers.
macro_rules! readers {
    ($($name:ident: $search:expr, $model:expr;)*) => {
        mod readers_and_writers {
            use super::*;

            $(#[test]
            fn $name() {
                hold(concat!("rw_bakery::", stringify!($name)), $search, $model);
            })*
        }
    };
}

/// Numbers 2 and 3 only.
type Few<const N: usize> = RwBakery<N, Narrow<7>>;

readers! {
    two_read: Exhaustive, || readers::act::<RwBakery<2>, 2>([readers::READ, readers::READ]);
    one_reads_one_writes: Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE]);
    one_reads_one_writes_at_the_limit: Preemptions(3),
        || readers::act::<Few<2>, 2>([readers::READ, readers::WRITE]);
    one_reads_one_writes_and_reads: Preemptions(3),
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE_THEN_READ]);
    two_write_and_read: Preemptions(3),
        || readers::act::<RwBakery<2>, 2>([readers::WRITE_THEN_READ, readers::WRITE_THEN_READ]);
    reader_writer_reader: Preemptions(1),
        || readers::act::<RwBakery<3>, 3>([readers::READ, readers::WRITE, readers::READ]);
    writer_reader_writer: Preemptions(1),
        || readers::act::<RwBakery<3>, 3>([readers::WRITE, readers::READ, readers::WRITE]);
    a_writer_gives_up: Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE_OR_GIVE_UP]);
    a_reader_gives_up: Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::WRITE, readers::READ_OR_GIVE_UP]);
    a_writer_gives_up_between_readers: Preemptions(2),
        || {
            let acts = [readers::READ, readers::WRITE_OR_GIVE_UP, readers::READ];
            readers::act::<RwBakery<3>, 3>(acts);
        };
    two_try: Preemptions(3),
        || readers::act::<RwBakery<2>, 2>([readers::TRY_BOTH, readers::TRY_BOTH]);
    // Where one may read at a time, readers keep each other out as writers do.
    one_of_two_readers: Exhaustive,
        || readers::act::<RwBakery<2, Packed, 1>, 2>([readers::READ_ALONE, readers::READ_ALONE]);
    one_of_three_readers: Preemptions(1),
        || readers::act::<RwBakery<3, Packed, 1>, 3>([readers::READ_ALONE; 3]);
    two_of_three_readers: Preemptions(1), readers::two_of_three::<RwBakery<3, Packed, 2>>;
    owned_seats: Exhaustive, readers::seated::<RwBakery<2>>;
}
