//! Each raw lock, as shipped.
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::{hold, models};
use exclusion::raw::*;

macro_rules! lock {
    ($name:ident, two: $two:ty, three: $three:ty) => {
        mod $name {
            use super::*;
            #[test] fn two_seats() { hold(concat!(stringify!($name), " two seats"), Exhaustive, models::enter::<$two, 2, 1>); }
            #[test] fn try_acquire() { hold(concat!(stringify!($name), " try"), Exhaustive, models::try_acquire::<$two>); }
            #[test] fn withdraw() { hold(concat!(stringify!($name), " withdraw 0"), Exhaustive, models::withdraw::<$two, 0>); }
            #[test] fn twice() { hold(concat!(stringify!($name), " twice"), Preemptions(3), models::enter::<$two, 2, 2>); }
            #[test] fn three() { hold(concat!(stringify!($name), " three"), Preemptions(1), models::enter::<$three, 3, 1>); }
        }
    };
}
lock!(bakery, two: Bakery<2>, three: Bakery<3>);
lock!(black_white, two: BlackWhiteBakery<2>, three: BlackWhiteBakery<3>);
lock!(peterson, two: Peterson, three: Tournament<3, Peterson>);
lock!(peterson_swap, two: PetersonSwap, three: Tournament<3, PetersonSwap>);
lock!(priority, two: Priority, three: Tournament<3, Priority>);
