//! The queue of future events, in the order of time.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::message::Time;

/// Events in the order of their times. Events with equal times come in the order in which they were
/// pushed.
///
/// Events that are pushed in order go to a queue, the others to a heap. With a constant delay all
/// messages are in order, and the queue is faster.
#[derive(Debug)]
pub(super) struct Queue<E> {
    lane: VecDeque<Scheduled<E>>,
    heap: BinaryHeap<Scheduled<E>>,
    pushed: u64,
}

#[derive(Debug)]
struct Scheduled<E> {
    time: Time,
    number: u64,
    event: E,
}

impl<E> Scheduled<E> {
    fn key(&self) -> (Time, u64) {
        (self.time, self.number)
    }
}

// The earliest is the greatest, since the heap gives the greatest first.
impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Scheduled<E> {}

impl<E> Queue<E> {
    pub(super) fn new() -> Self {
        Self { lane: VecDeque::new(), heap: BinaryHeap::new(), pushed: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, time: Time, event: E) {
        let scheduled = Scheduled { time, number: self.pushed, event };
        self.pushed += 1;
        if self.lane.back().is_none_or(|last| last.time <= time) {
            self.lane.push_back(scheduled);
        } else {
            self.heap.push(scheduled);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, E)> {
        let from_lane = match (self.lane.front(), self.heap.peek()) {
            (Some(lane), Some(heap)) => lane.key() < heap.key(),
            (lane, _) => lane.is_some(),
        };
        let next = if from_lane { self.lane.pop_front() } else { self.heap.pop() };
        next.map(|scheduled| (scheduled.time, scheduled.event))
    }

    /// All events, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &E> {
        self.lane.iter().chain(&self.heap).map(|scheduled| &scheduled.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::random::Random;

    #[test]
    fn events_come_by_time_and_then_as_they_were_pushed() {
        let mut random = Random::new(3);
        let mut queue = Queue::new();
        let mut pending = Vec::new();
        for number in 0..2000 {
            let time = Time(random.below(40) as u64 + number / 10);
            queue.push(time, number);
            pending.push((time, number));
            if random.below(3) == 0 {
                pending.sort_unstable();
                assert_eq!(queue.pop(), Some(pending.remove(0)));
            }
        }
        pending.sort_unstable();
        assert!(std::iter::from_fn(|| queue.pop()).eq(pending));
    }
}
