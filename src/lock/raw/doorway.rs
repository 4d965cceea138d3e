//! What the two bakeries share: a seat's word before it is a ticket.

use core::cell::Cell;

use super::{Register, Waiting, Withdrawn};
use crate::lock::sync::edge::Edge;

/// Does not want to enter, or has left.
pub(super) const IDLE: usize = 0;

/// Is reading the others' words, to draw a ticket.
pub(super) const CHOOSING: usize = 1;

/// What the seat's word says once its customer has chosen.
#[inline]
pub(super) fn settled(
    register: &Register,
    look: Edge,
    waiting: &impl Waiting,
) -> Result<usize, Withdrawn> {
    let word = Cell::new(CHOOSING);
    // No place: choosing takes a few steps, and its end is not announced.
    waiting.wait(None, || {
        word.set(register.load(look));
        word.get() != CHOOSING
    })?;
    Ok(word.get())
}
