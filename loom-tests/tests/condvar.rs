//! The condition variable, whose waiters sit in the line of their mutex. A lost notification is a
//! deadlock, which loom reports.

use exclusion::Strict;
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::condvar::*;
use loom_tests::hold;
use loom_tests::pooled::One;

macro_rules! condvar {
    ($($name:ident: $search:expr, $model:expr;)*) => {
        $(#[test]
        fn $name() {
            hold(concat!("condvar::", stringify!($name)), $search, || $model);
        })*
    };
}

// Notifying races with waiting.
condvar! {
    one_waits_one_gives: Preemptions(4), act::<Strict, 2>(1, [give, take]);
    one_waits_one_gives_and_notifies_later: Preemptions(4),
        act::<Strict, 2>(1, [give_and_notify_later, take]);
    two_wait_one_gives_to_all: Preemptions(2), act::<Strict, 3>(2, [give_two, take, take]);
    two_wait_two_give: Preemptions(1), act::<Strict, 4>(2, [give, take, take, give]);
    one_waits_one_gives_one_locks: Preemptions(2), act::<Strict, 3>(1, [give, take, lock]);
    one_waits_one_gives_one_passes: Preemptions(2), act::<One, 3>(1, [give, take, lock]);
    a_stranger_moves_a_waiter: Preemptions(2), a_stranger_notifies::<Strict>();
    a_stranger_moves_a_waiter_that_may_be_passed: Preemptions(2), a_stranger_notifies::<One>();
    a_stranger_comes_early: Preemptions(3), a_stranger_notifies_early::<Strict>();
    no_seat_for_one_of_two: Preemptions(1), act_on_one_seat::<Strict, 3>(2, [give_two, take, take]);
}

// Notifying races with a deadline.
condvar! {
    one_gives_up_as_it_is_notified: Preemptions(3), act::<Strict, 2>(1, [give, take_in_time]);
    one_gives_up_at_some_time: Preemptions(2),
        act_as_time_passes::<Strict, 2>(1, [give_and_notify_later, take_in_time]);
    one_leaves_one_is_notified: Preemptions(1), one_leaves_as_one_is_notified::<Strict>();
    one_leaves_all_are_notified: Preemptions(2), one_leaves_as_all_are_notified::<Strict>();
}

// The order.
condvar! {
    one_by_one_in_order: Preemptions(1), the_first_is_first::<Strict>(false);
    all_in_order: Preemptions(1), the_first_is_first::<Strict>(true);
}

#[test]
fn nobody_waits() {
    hold("condvar::nobody_waits", Exhaustive, || act::<Strict, 2>(2, [give, give]));
}
