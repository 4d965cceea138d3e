//! What the two bakeries share: a seat's word before it is a ticket.

use core::cell::Cell;

use super::{Layout, Place, Register, Waiting, Withdrawn};
use crate::lock::sync::edge::Edge;

/// Does not want to enter, or has left. A register starts with it.
pub(super) const IDLE: usize = 0;

/// Is reading the others' words, to draw a ticket.
pub(super) const CHOOSING: usize = 1;

/// What the seat's word says once its customer has chosen.
///
/// Choosing takes a few steps, but nobody can say how long these take: the customer may be
/// preempted in the middle. So this is a wait like any other, and a customer that has chosen wakes
/// the threads that sleep at its word.
#[inline]
pub(super) fn settled<W: Layout>(
    register: &Register<W>,
    look: Edge,
    waiting: &impl Waiting,
) -> Result<usize, Withdrawn> {
    let word = Cell::new(CHOOSING);
    waiting.wait_briefly(Place::of(register), || {
        word.set(register.load(look));
        word.get() != CHOOSING
    })?;
    Ok(word.get())
}
