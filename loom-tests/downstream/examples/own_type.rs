//! A type of one's own, built on a mutex and a condition variable of `exclusion`, checked with
//! loom: every order of its steps, up to a number of preemptions.
//!
//! ```sh
//! cd loom-tests && cargo run -p downstream --example own_type
//! ```
//!
//! In another crate the flags are those of `.cargo/config.toml` here: `--cfg exclusion_loom`, and
//! whatever cfg the crate itself has for its loom build.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use exclusion::{BakeryCondvar, BakeryMutex};
use loom::sync::Arc;
use loom::thread;

/// Letters for whoever takes them.
struct Mailbox {
    letters: BakeryMutex<Vec<u32>>,
    arrived: BakeryCondvar,
}

impl Mailbox {
    fn new() -> Self {
        Self { letters: BakeryMutex::new(Vec::new()), arrived: BakeryCondvar::new() }
    }

    fn put(&self, letter: u32) {
        self.letters.lock().push(letter);
        self.arrived.notify_one();
    }

    fn take(&self) -> u32 {
        let mut letters = self.letters.lock();
        while letters.is_empty() {
            self.arrived.wait(&mut letters);
        }
        letters.pop().expect("one is there")
    }

    /// A mistake: between the two locks another thread may read the same letter.
    fn take_carelessly(&self) -> u32 {
        let mut letters = self.letters.lock();
        self.arrived.wait_while(&mut letters, |letters| letters.is_empty());
        let letter = letters[letters.len() - 1];
        drop(letters);
        self.letters.lock().pop();
        letter
    }
}

/// Two threads take a letter each, of two that one of them puts in.
fn explore(take: fn(&Mailbox) -> u32) -> (usize, bool) {
    let executions = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&executions);
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    let run = move || {
        counted.fetch_add(1, Relaxed);
        let mailbox = Arc::new(Mailbox::new());
        let other = mailbox.clone();
        let other = thread::spawn(move || take(&other));
        mailbox.put(1);
        mailbox.put(2);
        let letters = [take(&mailbox), other.join().unwrap()];
        assert_eq!(letters.iter().sum::<u32>(), 3, "each letter is taken once");
    };
    let holds = catch_unwind(AssertUnwindSafe(|| model.check(run))).is_ok();
    (executions.load(Relaxed), holds)
}

fn main() {
    let (executions, holds) = explore(Mailbox::take);
    assert!(holds, "loom found a mistake");
    println!("take: holds in all {executions} executions with at most 2 preemptions");
    // What loom says of the mistake is for whoever mends it.
    std::panic::set_hook(Box::new(|_| ()));
    let (executions, holds) = explore(Mailbox::take_carelessly);
    assert!(!holds, "loom should have found the mistake");
    println!("take_carelessly: loom found the mistake in execution {executions}");
}
