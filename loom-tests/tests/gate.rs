//! The read-write lock and the semaphore, which are one gate. A lost wake-up is a deadlock, which
//! loom reports.

use exclusion::Strict;
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::gate::*;
use loom_tests::hold;
use loom_tests::pooled::One;

macro_rules! gate {
    ($($name:ident: $search:expr, $model:expr;)*) => {
        $(#[test]
        fn $name() {
            hold(concat!("gate::", stringify!($name)), $search, || $model);
        })*
    };
}

gate! {
    two_read: Exhaustive, act::<Strict, 2>([read, read]);
    one_reads_one_writes: Preemptions(4), act::<Strict, 2>([read, write]);
    two_write: Preemptions(4), act::<Strict, 2>([write, write]);
    two_write_and_may_pass: Preemptions(3), act::<One, 2>([write, write]);
    one_tries: Preemptions(4), act::<Strict, 2>([write, try_both]);
    one_downgrades: Preemptions(3), act::<Strict, 2>([write, write_then_read]);
    one_bumps: Preemptions(2), act::<Strict, 2>([write, bump]);
    reader_writer_reader: Preemptions(2), act::<Strict, 3>([read, write, read]);
    reader_writer_reader_may_pass: Preemptions(2), act::<One, 3>([read, write, read]);
    a_writer_downgrades_before_a_reader: Preemptions(1),
        act::<Strict, 3>([write_then_read, read, write]);
    a_writer_gives_up: Preemptions(3), act::<Strict, 2>([read, write_in_time]);
    a_writer_gives_up_between_readers: Preemptions(1),
        act::<Strict, 3>([read, write_in_time, read]);
    a_writer_gives_up_between_readers_at_some_time: Preemptions(1),
        act_as_time_passes::<Strict, 3>([read, write_in_time, read]);
    a_writer_that_may_be_passed_gives_up: Preemptions(1),
        act::<One, 3>([read, write_in_time, read]);
    a_reader_gives_up_behind_a_writer: Preemptions(1),
        act::<Strict, 3>([write, read_in_time, write]);
    a_reader_is_served_after_the_writer_ahead: Preemptions(1),
        a_reader_waits_behind_a_writer::<Strict>();
    one_upgrades_beside_a_reader: Preemptions(3), act::<Strict, 2>([read, upgrade]);
    one_upgrades_before_a_writer: Preemptions(3), act::<Strict, 2>([write, upgrade]);
    two_upgrade: Preemptions(3), act::<Strict, 2>([upgrade, upgrade]);
    one_upgrades_or_gives_up: Preemptions(3), act::<Strict, 2>([read, upgrade_in_time]);
    one_upgrades_beside_a_reader_before_a_writer: Preemptions(1),
        act::<Strict, 3>([read, upgrade, write]);
    one_upgrades_before_a_reader_in_line: Preemptions(1),
        act::<Strict, 3>([read, upgrade_in_time, read]);
    one_gives_up_its_upgrade_before_a_writer: Preemptions(1),
        act::<Strict, 3>([read, upgrade_in_time, write]);
    one_upgrades_where_others_may_pass: Preemptions(1), act::<One, 3>([read, upgrade, read]);
    two_permits_for_one: Preemptions(1), one_waits_for_two::<Strict>(false);
    two_permits_for_one_that_may_be_passed: Preemptions(1), one_waits_for_two::<One>(false);
    two_permits_for_one_that_gives_up: Preemptions(1), one_waits_for_two::<Strict>(true);
}
