//! Locks that are wrong on purpose: each check of the suites must catch one of them.

use std::sync::Mutex;

use exclusion::lock::raw::{Attendance, Place, RawLock, Waiting, Withdrawn};

/// What is wrong.
pub const NOTHING: u8 = 0;
/// Lets in everybody.
pub const OPEN: u8 = 1;
/// Who withdraws keeps its place in the line.
pub const STICKY: u8 = 2;
/// Serves the lowest seat first, whichever came first.
pub const UNFAIR: u8 = 3;

/// A queue behind a mutex, with one flaw.
#[derive(Debug)]
pub struct Flawed<const N: usize, const FLAW: u8> {
    line: Mutex<Vec<usize>>,
}

// SAFETY: with a flaw it breaks its promise, which is what it is for. The tests that use it protect
// no memory with it.
unsafe impl<const N: usize, const FLAW: u8> RawLock for Flawed<N, FLAW> {
    const SEATS: usize = N;
    const UNLOCKED: Self = Self { line: Mutex::new(Vec::new()) };

    unsafe fn acquire_among(
        &self,
        seat: usize,
        _: &impl Attendance,
        waiting: &impl Waiting,
    ) -> Result<(), Withdrawn> {
        {
            let mut line = self.line.lock().unwrap();
            line.push(seat);
            if FLAW == UNFAIR && line.len() > 1 {
                line[1..].sort_unstable();
            }
        }
        let place = Place::of(&self.line);
        let first = || FLAW == OPEN || self.line.lock().unwrap().first() == Some(&seat);
        waiting.wait(place, first).inspect_err(|_| {
            if FLAW != STICKY {
                self.leave(seat);
            }
        })
    }

    unsafe fn release(&self, seat: usize) {
        self.leave(seat);
    }

    fn is_idle(&self, seat: usize) -> bool {
        !self.line.lock().unwrap().contains(&seat)
    }

    fn places(&self, _: usize, mut visit: impl FnMut(Place)) {
        visit(Place::of(&self.line));
    }
}

impl<const N: usize, const FLAW: u8> Flawed<N, FLAW> {
    fn leave(&self, seat: usize) {
        self.line.lock().unwrap().retain(|&other| other != seat);
    }
}
