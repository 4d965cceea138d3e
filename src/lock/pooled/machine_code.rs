//! A symbol of a known name around each operation whose instructions `tests/machine_code.rs` reads.
//! Only there under `--cfg exclusion_asm`, and never called.

use super::condition::Condition;
use super::line::Line;
use super::pool::Pool;
use super::slot::Slot;
use super::task::Task;
use super::waiting::InLine;
use super::word::Word;
use super::{Arrival, Pooled, Turn};
use crate::lock::policy;
use crate::lock::raw::{Place, Waiting, Withdrawn};

type Strict = Pooled<policy::Strict>;
type Bypassed = Pooled<policy::Bypass>;

macro_rules! symbols {
    ($($name:ident: |$on:ident: $type:ty $(, $argument:ident: $its:ty)*| -> $result:ty { $body:expr })*) => {
        $(
            #[allow(missing_docs, clippy::missing_safety_doc, reason = "never called")]
            #[unsafe(no_mangle)]
            unsafe fn $name($on: &$type $(, $argument: $its)*) -> $result {
                #[allow(unused_unsafe, reason = "not all of them have a contract")]
                // SAFETY: the same contract.
                unsafe {
                    $body
                }
            }
        )*
    };
}

symbols! {
    asm_pooled_acquire: |lock: Strict| -> Turn { lock.acquire() }
    asm_pooled_release: |lock: Strict, turn: Turn| -> () { lock.release(turn) }
    asm_pooled_pass: |lock: Bypassed| -> bool { lock.pass() }
    asm_pooled_join: |lock: Strict| -> Result<Arrival, Withdrawn> { lock.join(None) }
    asm_pooled_step_in: |lock: Strict, waiting: &InLine| -> Result<(), Withdrawn> { lock.step_in(waiting) }
    asm_pooled_call: |lock: Strict, word: Word| -> () { lock.call(word) }
    asm_pooled_leave_line: |lock: Strict, word: Word| -> () { lock.leave_line(word, None) }

    asm_condition_enter: |condition: Condition<policy::Strict>, line: usize| -> () { condition.core.enter(line) }
    asm_condition_notify: |condition: Condition<policy::Strict>, line: &'static Line, seat: usize| -> bool { condition.notify(line, seat) }
    asm_condition_admit: |lock: Strict, line: &'static Line, seat: usize| -> () { lock.admit(line, seat) }
    asm_condition_await: |slot: Slot, condition: usize| -> () { slot.await_notice(condition) }

    asm_pool_take: |pool: Pool| -> Option<usize> { pool.take() }
    asm_pool_give: |pool: Pool, number: usize| -> () { pool.give(number) }

    asm_slot_sit: |slot: Slot| -> bool { slot.sit() }
    asm_slot_sit_and_post: |slot: Slot, task: *mut Task| -> bool { slot.sit_and_post(task) }
    asm_slot_leave: |slot: Slot| -> () { slot.leave() }
    asm_slot_take: |slot: Slot| -> Option<*mut Task> { slot.take() }
    asm_slot_finish: |slot: Slot| -> () { slot.finish() }

    asm_waiting_wait: |waiting: InLine, place: Place, ready: &dyn Fn() -> bool| -> Result<(), Withdrawn> { waiting.wait(place, ready) }
}
