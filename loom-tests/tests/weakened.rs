//! Each fence and each ordering, weakened alone. Loom must refute every one.
//!
//! The edges are named in the sources (`edges!`); here each meets a model, with the bound, that the
//! tests of the shipped code run too: an edge that is weakened in the source makes those fail.

use exclusion::Strict;
use exclusion::lock::raw::{
    Bakery, BlackWhiteBakery, Peterson, PetersonSwap, Priority, RwBakery, Tournament,
};
use loom_tests::Finding::{Deadlock, NoLine, Race, TwoWinners};
use loom_tests::Search::{Exhaustive, Preemptions};
use loom_tests::condvar;
use loom_tests::gate;
use loom_tests::pooled::{Two, act, lock, lock_twice, with};
use loom_tests::{Wrong, models, readers, refuted};

macro_rules! twins {
    ($($test:ident: $edge:literal leads to $finding:expr, $search:expr, $model:expr;)*) => {
        $(#[test]
        fn $test() {
            refuted(stringify!($test), Wrong::Weakened($edge), $finding, $search, $model);
        })*

        const TWINS: &[(&str, &str)] = &[$(($edge, stringify!($test))),*];
    };
}

twins! {
    without_bakery_doorway: "bakery::DOORWAY" leads to Race, Exhaustive,
        models::enter::<Bakery<2>, 2, 1>;
    without_bakery_turn: "bakery::TURN" leads to Race, Exhaustive, models::enter::<Bakery<2>, 2, 1>;
    without_bakery_look: "bakery::LOOK" leads to Race, Exhaustive, models::enter::<Bakery<2>, 2, 1>;
    without_bakery_leave: "bakery::LEAVE" leads to Race, Exhaustive,
        models::enter::<Bakery<2>, 2, 1>;

    // The same, between a reader and a writer.
    without_bakery_doorway_shared: "bakery::DOORWAY" leads to Race, Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE]);
    without_bakery_turn_shared: "bakery::TURN" leads to Race, Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE]);
    without_bakery_look_shared: "bakery::LOOK" leads to Race, Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE]);
    without_bakery_leave_shared: "bakery::LEAVE" leads to Race, Exhaustive,
        || readers::act::<RwBakery<2>, 2>([readers::READ, readers::WRITE]);

    without_black_white_doorway: "black_white::DOORWAY" leads to Race, Exhaustive,
        models::enter::<BlackWhiteBakery<2>, 2, 1>;
    without_black_white_turn: "black_white::TURN" leads to Race, Exhaustive,
        models::enter::<BlackWhiteBakery<2>, 2, 1>;
    without_black_white_look: "black_white::LOOK" leads to Race, Exhaustive,
        models::enter::<BlackWhiteBakery<2>, 2, 1>;
    without_black_white_leave: "black_white::LEAVE" leads to Race, Exhaustive,
        models::enter::<BlackWhiteBakery<2>, 2, 1>;

    without_peterson_raise: "peterson::RAISE" leads to Race, Exhaustive,
        models::enter::<Peterson, 2, 1>;
    without_peterson_give_way: "peterson::GIVE_WAY" leads to Race, Preemptions(3),
        models::impatient::<Peterson>;
    without_peterson_see_down: "peterson::SEE_DOWN" leads to Race, Exhaustive,
        models::enter::<Peterson, 2, 1>;
    without_peterson_await_down: "peterson::AWAIT_DOWN" leads to Race, Exhaustive,
        models::enter::<Peterson, 2, 1>;
    without_peterson_await_turn: "peterson::AWAIT_TURN" leads to Race, Preemptions(3),
        models::enter::<Peterson, 2, 2>;
    without_peterson_lower: "peterson::LOWER" leads to Race, Exhaustive,
        models::enter::<Peterson, 2, 1>;

    without_peterson_swap_take: "peterson_swap::TAKE" leads to Race, Exhaustive,
        models::enter::<PetersonSwap, 2, 1>;
    without_peterson_swap_give: "peterson_swap::GIVE" leads to Race, Exhaustive,
        models::enter::<PetersonSwap, 2, 1>;
    without_peterson_swap_see_down: "peterson_swap::SEE_DOWN" leads to Race, Exhaustive,
        models::enter::<PetersonSwap, 2, 1>;
    without_peterson_swap_await_down: "peterson_swap::AWAIT_DOWN" leads to Race, Exhaustive,
        models::enter::<PetersonSwap, 2, 1>;
    without_peterson_swap_withdraw: "peterson_swap::WITHDRAW" leads to Race, Preemptions(3),
        models::return_and_withdraw::<PetersonSwap>;
    without_peterson_swap_await_turn: "peterson_swap::AWAIT_TURN" leads to Race, Preemptions(3),
        models::enter::<PetersonSwap, 2, 2>;
    without_peterson_swap_lower: "peterson_swap::LOWER" leads to Race, Exhaustive,
        models::enter::<PetersonSwap, 2, 1>;

    without_priority_raise: "priority::RAISE" leads to Race, Exhaustive,
        models::enter::<Priority, 2, 1>;
    without_priority_see_down: "priority::SEE_DOWN" leads to Race, Exhaustive,
        models::enter::<Priority, 2, 1>;
    without_priority_await_down: "priority::AWAIT_DOWN" leads to Race, Exhaustive,
        models::enter::<Priority, 2, 1>;
    without_priority_lower: "priority::LOWER" leads to Race, Exhaustive,
        models::enter::<Priority, 2, 1>;

    without_leased_find_nobody: "leased::FIND_NOBODY" leads to Race, Preemptions(5),
        models::lease::<Bakery<1>, 2, 1>;
    without_leased_pass: "leased::PASS" leads to Race, Preemptions(2),
        models::pass::<Bakery<3>, 1, 3, 1>;
    without_leased_step_in: "leased::STEP_IN" leads to Race, Exhaustive,
        models::lease::<Bakery<2>, 2, 1>;
    without_leased_take_seat: "leased::TAKE_SEAT" leads to Race, Preemptions(3),
        models::lease_or_give_up::<Bakery<2>, 0, 3>;
    without_leased_leave: "leased::LEAVE" leads to Race, Preemptions(5),
        models::lease::<Bakery<1>, 2, 1>;
    without_leased_leave_hears: "leased::LEAVE_HEARS" leads to Deadlock, Preemptions(5),
        models::lease::<Bakery<1>, 2, 1>;

    // With seats that are left out because their bit is clear.
    without_bakery_doorway_leased: "bakery::DOORWAY" leads to TwoWinners, Preemptions(3),
        models::lease::<Bakery<3>, 3, 1>;
    without_bakery_turn_leased: "bakery::TURN" leads to TwoWinners, Preemptions(3),
        models::lease_or_give_up::<Bakery<3>, 0, 3>;

    // Fences that also stand between a change and the look for those that sleep for want of it.
    without_bakery_turn_asleep: "bakery::TURN" leads to Deadlock, Preemptions(3),
        models::lease::<Bakery<3>, 3, 1>;
    without_black_white_turn_asleep: "black_white::TURN" leads to Deadlock, Preemptions(3),
        models::lease::<BlackWhiteBakery<3>, 3, 1>;
    without_peterson_give_way_asleep: "peterson::GIVE_WAY" leads to Deadlock, Preemptions(3),
        models::lease::<Tournament<3>, 3, 1>;

    without_condition_enter: "condition::ENTER" leads to NoLine, Preemptions(3),
        condvar::a_stranger_notifies_early::<Strict>;
    without_condition_find: "condition::FIND" leads to NoLine, Preemptions(3),
        condvar::a_stranger_notifies_early::<Strict>;
    without_condition_await: "condition::AWAIT" leads to NoLine, Preemptions(3),
        condvar::a_stranger_notifies_early::<Strict>;
    without_condition_claim: "condition::CLAIM" leads to NoLine, Preemptions(3),
        condvar::a_stranger_notifies_early::<Strict>;
    without_condition_see_moved: "condition::SEE_MOVED" leads to Race, Preemptions(3),
        condvar::a_stranger_notifies_early::<Strict>;
    without_condition_hand_over: "condition::HAND_OVER" leads to Deadlock, Preemptions(3),
        condvar::a_stranger_notifies::<Strict>;

    without_gate_enter: "gate::ENTER" leads to Race, Preemptions(4),
        || gate::act::<Strict, 2>([gate::read, gate::write]);
    without_gate_step_in: "gate::STEP_IN" leads to Race, Preemptions(4),
        || gate::act::<Strict, 2>([gate::read, gate::write]);
    without_gate_upgrade: "gate::UPGRADE" leads to Race, Preemptions(3),
        || gate::act::<Strict, 2>([gate::read, gate::upgrade]);
    without_gate_leave: "gate::LEAVE" leads to Race, Preemptions(4),
        || gate::act::<Strict, 2>([gate::read, gate::write]);
    without_gate_announce: "gate::ANNOUNCE" leads to Deadlock, Preemptions(4),
        || gate::act::<Strict, 2>([gate::read, gate::write]);
    without_gate_call: "gate::CALL" leads to Deadlock, Preemptions(4),
        || gate::act::<Strict, 2>([gate::read, gate::write]);

    without_pooled_find_nobody: "pooled::FIND_NOBODY" leads to Race, Exhaustive,
        || act::<Strict, 2>([lock, lock]);
    without_pooled_pass: "pooled::PASS" leads to Race, Preemptions(2),
        || act::<Two, 3>([lock_twice, lock, lock]);
    without_pooled_step_in: "pooled::STEP_IN" leads to Race, Exhaustive,
        || act::<Strict, 2>([lock, lock]);
    without_pooled_leave: "pooled::LEAVE" leads to Race, Exhaustive,
        || act::<Strict, 2>([lock, lock]);
    without_pooled_last_leaves: "pooled::LAST_LEAVES" leads to Race, Preemptions(3),
        || act::<Strict, 3>([lock, lock, lock]);
    without_pooled_bring: "pooled::BRING" leads to NoLine, Preemptions(3),
        || act::<Strict, 3>([lock, lock, lock]);
    without_pooled_join: "pooled::JOIN" leads to NoLine, Preemptions(3),
        || act::<Strict, 3>([lock, lock, lock]);
    without_pooled_call: "pooled::CALL" leads to Deadlock, Exhaustive,
        || act::<Strict, 2>([lock, lock]);
    without_pool_take: "pool::TAKE" leads to Race, Preemptions(3),
        || act::<Strict, 2>([lock_twice, lock_twice]);
    without_pool_give: "pool::GIVE" leads to Race, Preemptions(3),
        || act::<Strict, 2>([lock_twice, lock_twice]);
    without_slot_take_seat: "slot::TAKE_SEAT" leads to Race, Preemptions(3),
        || act::<Strict, 2>([lock_twice, lock_twice]);
    without_slot_leave_seat: "slot::LEAVE_SEAT" leads to Race, Preemptions(3),
        || act::<Strict, 2>([lock_twice, lock_twice]);
    without_slot_finish: "slot::FINISH" leads to Race, Preemptions(3),
        || act::<Strict, 3>([lock, with, with]);
    without_slot_see_done: "slot::SEE_DONE" leads to Race, Preemptions(3),
        || act::<Strict, 3>([lock, with, with]);
    without_waiting_sleep: "waiting::SLEEP" leads to Deadlock, Exhaustive,
        || act::<Strict, 2>([lock, lock]);

    without_parking_tell: "parking::TELL" leads to Deadlock, Preemptions(5),
        models::lease::<Bakery<1>, 2, 1>;
    without_parking_sleep: "parking::SLEEP" leads to Deadlock, Preemptions(3),
        models::lease::<Tournament<3, Priority>, 3, 1>;
    without_parking_wake: "parking::WAKE" leads to Deadlock, Preemptions(3),
        models::lease::<Tournament<3, Priority>, 3, 1>;
}

#[test]
fn every_edge_has_a_twin_and_is_in_the_documented_table() {
    let documented = include_str!("../../docs/verification.md");
    for edge in exclusion::lock::edge::all().map(|edge| edge.name()) {
        let twin = TWINS.iter().find(|(twin_of, _)| *twin_of == edge);
        let (_, test) = twin.unwrap_or_else(|| panic!("{edge} has no twin"));
        let row = documented.lines().find(|line| line.starts_with(&format!("| `{edge}` |")));
        let row = row.unwrap_or_else(|| panic!("{edge} is not in docs/verification.md"));
        assert!(row.contains(&format!("`{test}`")), "{edge}: the table does not name {test}");
    }
    let rows = documented.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, exclusion::lock::edge::all().count(), "the table has a row that is no edge");
}
