//! How long threads wait for a mutex: the tail of the waiting times, ours beside std's and
//! parking_lot's, drawn in the terminal.
//!
//! ```sh
//! cargo run --release --example tail_latency
//! ```

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use exclusion::{BakeryMutex, Bypass};

const THREADS: usize = 8;
const TIME: Duration = Duration::from_millis(400);
/// What is drawn: so many of the waits are shorter.
const SHARES: [(&str, f64); 5] =
    [("half", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("99.9 %", 0.999), ("all", 1.0)];

/// A critical section of about a microsecond.
fn work(number: &mut u64) {
    for _ in 0..500 {
        *number = black_box(*number).wrapping_mul(3) + 1;
    }
}

/// The threads enter again and again. Returns how long each entry waited, the shortest first.
fn measure(enter: impl Fn(&mut (dyn FnMut(&mut u64) + Send)) + Sync) -> Vec<Duration> {
    let start = Barrier::new(THREADS);
    let mut waits: Vec<_> = thread::scope(|scope| {
        let contend = || {
            start.wait();
            let (began, mut waits) = (Instant::now(), Vec::new());
            while began.elapsed() < TIME {
                let (asked, mut waited) = (Instant::now(), Duration::ZERO);
                enter(&mut |number| {
                    waited = asked.elapsed();
                    work(number);
                });
                waits.push(waited);
            }
            waits
        };
        let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(contend)).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("nobody panics")).collect()
    });
    waits.sort_unstable();
    waits
}

/// A bar on a logarithmic scale: five characters for each power of ten, from 100 ns.
fn bar(wait: Duration) -> String {
    let length = ((wait.as_nanos() as f64 / 100.0).max(1.0).log10() * 5.0).round() as usize;
    "#".repeat(length)
}

fn main() {
    let standard = std::sync::Mutex::new(0);
    let parking_lot = parking_lot::Mutex::new(0);
    let strict = BakeryMutex::new(0);
    let bypass = BakeryMutex::<_, Bypass>::with_policy(0);
    let runs = [
        ("std", measure(|section| section(&mut standard.lock().expect("nobody panics")))),
        ("parking_lot", measure(|section| section(&mut parking_lot.lock()))),
        ("BakeryMutex, bypass", measure(|section| section(&mut bypass.lock()))),
        ("BakeryMutex, lock", measure(|section| section(&mut strict.lock()))),
        ("BakeryMutex, with", measure(|section| strict.with(|number| section(number)))),
    ];
    println!("{THREADS} threads, critical sections of about 1 µs, waits on a logarithmic scale:");
    for (name, waits) in &runs {
        println!("\n{name}: {} entries", waits.len());
        for (share, part) in SHARES {
            let last = (waits.len() as f64 * part).ceil() as usize;
            let wait = waits[last.clamp(1, waits.len()) - 1];
            println!("  {share:>7} {:>10.1} µs {}", wait.as_secs_f64() * 1e6, bar(wait));
        }
    }
    let longest = |name: &str| runs.iter().find(|run| run.0 == name).and_then(|run| run.1.last());
    let (theirs, ours) = (longest("std").expect("waits"), longest("BakeryMutex, lock"));
    println!(
        "\nIt showed the longest wait of each: {theirs:?} with std, {:?} where nobody passes.",
        ours.expect("waits")
    );
}
