//! Each raw lock as shipped. One suite, a line a lock.

use exclusion::lock::raw::{
    Bakery, BlackWhiteBakery, Narrow, Padded, Peterson, PetersonSwap, Priority, Tournament,
};
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::{hold, models};

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
