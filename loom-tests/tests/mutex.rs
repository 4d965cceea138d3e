//! The seat leasing of the drop-in types, the parking lot included: a lost wake-up is a deadlock,
//! which loom reports.

use exclusion::lock::raw::{Bakery, BlackWhiteBakery, Narrow, PetersonSwap, Priority, Tournament};
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::{hold, models};

macro_rules! leased {
    ($($name:ident: $search:expr, $model:expr;)*) => {
        $(#[test]
        fn $name() {
            hold(concat!("leased::", stringify!($name)), $search, $model);
        })*
    };
}

leased! {
    two_threads_one_seat: Preemptions(5), models::lease::<Bakery<1>, 2, 1>;
    two_threads_one_seat_twice: Preemptions(3), models::lease::<Bakery<1>, 2, 2>;
    two_threads_two_seats: Exhaustive, models::lease::<Bakery<2>, 2, 1>;
    two_threads_two_seats_twice: Preemptions(3), models::lease::<Bakery<2>, 2, 2>;
    three_threads_one_seat: Preemptions(3), models::lease::<Bakery<1>, 3, 1>;
    three_threads_two_seats: Preemptions(3), models::lease::<Bakery<2>, 3, 1>;
    three_threads_bakery: Preemptions(3), models::lease::<Bakery<3>, 3, 1>;
    three_threads_bakery_at_its_limit: Preemptions(3), models::lease::<Bakery<3, Narrow<2>>, 3, 1>;
    three_threads_black_white: Preemptions(3), models::lease::<BlackWhiteBakery<3>, 3, 1>;
    three_threads_black_white_at_its_limit: Preemptions(3),
        models::lease::<BlackWhiteBakery<3, Narrow<3>>, 3, 1>;
    three_threads_tournament: Preemptions(3), models::lease::<Tournament<4>, 3, 1>;
    three_threads_tournament_at_a_leaf: Preemptions(3), models::lease::<Tournament<3>, 3, 1>;
    three_threads_tournament_swap: Preemptions(2),
        models::lease::<Tournament<4, PetersonSwap>, 3, 1>;
    three_threads_tournament_swap_at_a_leaf: Preemptions(3),
        models::lease::<Tournament<3, PetersonSwap>, 3, 1>;
    three_threads_tournament_priority: Preemptions(2),
        models::lease::<Tournament<4, Priority>, 3, 1>;
    three_threads_tournament_priority_at_a_leaf: Preemptions(3),
        models::lease::<Tournament<3, Priority>, 3, 1>;
    two_threads_may_pass: Exhaustive, models::pass::<Bakery<2>, 1, 2, 1>;
    two_threads_may_pass_twice: Preemptions(3), models::pass::<Bakery<2>, 1, 2, 2>;
    three_threads_may_pass: Preemptions(2), models::pass::<Bakery<3>, 1, 3, 1>;
    three_threads_may_pass_a_tournament: Preemptions(2), models::pass::<Tournament<4>, 2, 3, 1>;
    two_threads_one_bumps_one_seat: Preemptions(3), models::hand_over::<Bakery<1>, 0, 2, 1>;
    two_threads_one_bumps_two_seats: Preemptions(3), models::hand_over::<Bakery<2>, 0, 2, 1>;
    two_threads_one_bumps_one_seat_twice: Preemptions(3), models::hand_over::<Bakery<1>, 0, 2, 2>;
    two_threads_one_bumps_and_may_pass: Preemptions(3), models::hand_over::<Bakery<2>, 1, 2, 1>;
    three_threads_one_bumps_one_seat: Preemptions(2), models::hand_over::<Bakery<1>, 0, 3, 1>;
    three_threads_one_bumps_two_seats: Preemptions(2), models::hand_over::<Bakery<2>, 0, 3, 1>;
    three_threads_one_bumps_and_may_pass: Preemptions(1), models::hand_over::<Bakery<2>, 1, 3, 1>;
    two_threads_behind_a_third_may_pass: Preemptions(3), models::behind::<Bakery<3>, 1, 3>;
    two_threads_behind_a_third_may_pass_a_tournament: Preemptions(3),
        models::behind::<Tournament<4>, 2, 3>;
    two_threads_behind_a_third_in_a_tournament_swap: Preemptions(3),
        models::behind::<Tournament<4, PetersonSwap>, 0, 3>;
    two_threads_behind_a_third_in_a_tournament_priority: Preemptions(3),
        models::behind::<Tournament<4, Priority>, 0, 3>;
    two_threads_one_gives_up: Exhaustive, models::lease_or_give_up::<Bakery<2>, 0, 2>;
    three_threads_two_give_up: Preemptions(3), models::lease_or_give_up::<Bakery<2>, 0, 3>;
    three_threads_two_give_up_in_the_bakery: Preemptions(3),
        models::lease_or_give_up::<Bakery<3>, 0, 3>;
    three_threads_two_give_up_in_the_tree: Preemptions(3),
        models::lease_or_give_up::<Tournament<4>, 0, 3>;
    three_threads_two_give_up_or_pass: Preemptions(2), models::lease_or_give_up::<Bakery<3>, 1, 3>;
    three_threads_one_gives_up_in_the_hall: Preemptions(2),
        models::one_gives_up_beside_one_that_waits::<Bakery<1>, 0>;
    three_threads_one_gives_up_in_hall_or_line: Preemptions(2),
        models::one_gives_up_beside_one_that_waits::<Bakery<2>, 0>;
    three_threads_one_gives_up_in_line: Preemptions(2),
        models::one_gives_up_beside_one_that_waits::<Bakery<3>, 0>;
    two_threads_one_tries: Exhaustive, models::try_lock::<Bakery<2>, 0, 2>;
    three_threads_one_tries: Preemptions(3), models::try_lock::<Bakery<2>, 0, 3>;
    three_threads_one_tries_one_seat: Preemptions(3), models::try_lock::<Bakery<1>, 0, 3>;
    three_threads_one_tries_to_pass: Preemptions(3), models::try_lock::<Bakery<2>, 1, 3>;
    three_threads_one_tries_a_tournament: Preemptions(3), models::try_lock::<Tournament<4>, 1, 3>;
}
