//! Random and PCT schedules of the shipped locks.
//!
//! `SCHEDULES` says how many per lock, `SEED` which is the first, `TRIAL` which lock alone. Each
//! seed is one schedule, so `SEED` with one schedule is a replay.

use std::io::Write;
use std::str::FromStr;
use std::time::Instant;

use counted::lock::counting::Purpose;
use counted::schedule::{Failure, explore};
use counted::trials::{Trial, trials};

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} cannot be '{text}'")))
}

/// How many schedules per lock are a part of the test command.
const USUAL: u64 = 100;

#[test]
fn every_lock_stands_random_schedules() {
    let schedules = from_environment("SCHEDULES").unwrap_or(USUAL);
    let first = from_environment("SEED").unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(()) >> 16
    });
    let chosen: Option<String> = from_environment("TRIAL");
    for Trial { name, run } in trials() {
        if chosen.as_ref().is_some_and(|chosen| chosen != name) {
            continue;
        }
        let start = Instant::now();
        let outcome = explore(first, schedules, Purpose::Mistakes, run);
        let Failure { seed, what } = match outcome {
            Ok(_) => {
                let seconds = start.elapsed().as_secs_f64();
                let line =
                    format!("{name:28} {schedules} schedules from {first}, {seconds:.2} s\n");
                std::io::stderr().write_all(line.as_bytes()).expect("stderr is writable");
                continue;
            }
            Err(failure) => failure,
        };
        panic!(
            "{name}: {what}; see it again with TRIAL={name} SEED={seed} SCHEDULES=1 \
             cargo test -p counted --test schedules -- --nocapture"
        );
    }
}
