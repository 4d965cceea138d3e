//! The mutex of one word, its line from the pool, and the closures that are run by others. A lost
//! wake-up is a deadlock, which loom reports.

use exclusion::Strict;
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::hold;
use loom_tests::pooled::*;

macro_rules! pooled {
    ($($name:ident: $search:expr, $model:expr;)*) => {
        $(#[test]
        fn $name() {
            hold(concat!("pooled::", stringify!($name)), $search, || $model);
        })*
    };
}

// Two threads, or three that lock and give up.
pooled! {
    two_lock: Exhaustive, act::<Strict, 2>([lock, lock]);
    two_lock_twice: Preemptions(3), act::<Strict, 2>([lock_twice, lock_twice]);
    two_with: Preemptions(4), act::<Strict, 2>([with, with]);
    two_with_one_twice: Preemptions(3), act::<Strict, 2>([with_twice, with]);
    one_locks_one_with: Preemptions(5), act::<Strict, 2>([lock, with]);
    three_lock: Preemptions(3), act::<Strict, 3>([lock, lock, lock]);
    two_try: Exhaustive, act::<Strict, 2>([lock, try_lock]);
    three_try: Preemptions(3), act::<Strict, 3>([with, try_with, try_lock]);
    one_gives_up: Preemptions(5), act::<Strict, 2>([lock, lock_for]);
    one_gives_up_before_it_sleeps: Preemptions(5), act_in_a_hurry::<Strict, 2>([lock, lock_for]);
    two_give_up: Preemptions(3), act::<Strict, 3>([lock, lock_for, lock_for]);
    one_gives_up_between_two: Preemptions(3), act::<Strict, 3>([lock, lock_for, lock]);
    one_closure_is_given_back: Preemptions(4), act::<Strict, 2>([with, with_for]);
    one_closure_is_given_back_before_it_sleeps: Preemptions(4),
        act_in_a_hurry::<Strict, 2>([with, with_for]);
    one_bumps: Preemptions(4), act::<Strict, 2>([bump, lock]);
    two_may_pass: Preemptions(5), act::<One, 2>([lock, lock]);
    two_may_pass_twice: Preemptions(3), act::<One, 2>([lock_twice, lock_twice]);
    two_lines_at_a_time: Preemptions(3), two_mutexes::<Strict>();
}

// Three threads that race to be the first.
pooled! {
    three_with: Preemptions(2), act::<Strict, 3>([with, with, with]);
    one_locks_two_with: Preemptions(3), act::<Strict, 3>([lock, with, with]);
    two_lock_one_with: Preemptions(2), act::<Strict, 3>([with, lock, lock]);
    one_leaves_its_seat_to_another: Preemptions(1),
        act::<Strict, 3>([lock_then_with, with, with_for]);
    two_may_pass_one: Preemptions(2), act::<Two, 3>([lock_twice, lock, lock]);
    three_may_pass: Preemptions(2), act::<One, 3>([lock, lock, lock]);
    three_may_pass_until_time_is_up: Preemptions(2), act_in_a_hurry::<One, 3>([lock, lock, lock]);
}

// Three threads that race, where closures meet panics, deadlines, bumps and newcomers that pass.
pooled! {
    one_panics: Preemptions(1), act::<Strict, 3>([with, panic, with]);
    a_deadline_passes_while_it_runs: Preemptions(1), act::<Strict, 3>([with, with_for, with]);
    one_bumps_two_wait: Preemptions(1), act::<Strict, 3>([bump, lock, with]);
    three_may_pass_two_of_them_with: Preemptions(1), act::<One, 3>([with, with, lock]);
    one_may_pass_or_give_up: Preemptions(2), act::<One, 3>([lock, lock_for, with]);
    one_closure_of_two_passes_or_is_given_back: Preemptions(1),
        act::<One, 3>([lock, with_for, with]);
    one_bumps_where_others_may_pass: Preemptions(1), act::<One, 3>([bump, lock, lock]);
    // One is inside before the others come, and lets them go first once.
    two_lock_behind_a_guard_or_pass: Preemptions(2), behind::<One, 2>([lock, lock]);
}

// Time passes before a waiter falls asleep, or after.
pooled! {
    one_gives_up_at_some_time: Preemptions(3), act_as_time_passes::<Strict, 2>([lock, lock_for]);
    one_closure_is_given_back_at_some_time: Preemptions(3),
        act_as_time_passes::<Strict, 2>([with, with_for]);
    one_gives_up_at_some_time_between_two: Preemptions(2),
        act_as_time_passes::<Strict, 3>([lock, lock_for, lock]);
    one_passes_or_gives_up_at_some_time: Preemptions(3),
        act_as_time_passes::<One, 2>([lock, lock_for]);
    one_closure_passes_or_is_given_back: Preemptions(3),
        act_as_time_passes::<One, 2>([with, with_for]);
    one_closure_passes_a_guard_or_is_given_back: Preemptions(3),
        act_as_time_passes::<One, 2>([lock, with_for]);
}

// The limits: a full line, an empty pool, no memory.
pooled! {
    a_full_line: Preemptions(3), act_within::<Strict, 3>(one_seat(), [lock, lock, lock]);
    a_full_line_of_closures: Preemptions(3),
        act_within::<Strict, 3>(one_seat(), [with, with, with]);
    a_full_line_is_waited_for_no_longer: Preemptions(3),
        act_within::<Strict, 3>(one_seat(), [lock, lock, lock_for]);
    a_full_line_where_others_may_pass: Preemptions(1),
        act_within::<One, 3>(one_seat(), [lock, lock, lock]);
    an_empty_pool: Preemptions(3), act_within::<Strict, 2>(no_line(), [lock_then_with, lock]);
    an_empty_pool_is_waited_for_no_longer: Preemptions(3),
        act_within::<Strict, 2>(no_line(), [lock_then_with, lock_for]);
    an_empty_pool_where_others_may_pass: Preemptions(3),
        act_within::<One, 2>(no_line(), [lock_then_with, with]);
    an_allocation_that_fails: Preemptions(3),
        act_within::<Strict, 2>(one_failure(), [lock_then_with, lock]);
    an_allocation_of_two_that_fails: Preemptions(2),
        act_within::<Strict, 3>(one_failure(), [lock, lock, with]);
    two_mutexes_and_one_line: Preemptions(3), two_mutexes_one_line::<Strict>();
}

// A line goes from mutex to mutex.
pooled! {
    a_leaver_looks_into_a_line_that_has_gone_on: Preemptions(3), recycled::<Strict>(lock, lock);
    a_closure_looks_into_a_line_that_has_gone_on: Preemptions(3), recycled::<Strict>(with, lock);
    a_newcomer_looks_into_a_line_that_has_gone_on: Preemptions(3), recycled::<One>(lock, lock);
    the_pool: Exhaustive, lines_come_and_go();
}
