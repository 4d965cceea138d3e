//! What the threads do inside and outside the lock.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Workload {
    /// One thread locks and unlocks, and nothing else
    Uncontended,
    /// Nothing inside or outside but the reading of the clock
    Hot,
    /// About half a microsecond inside, and as long outside
    Short,
    /// About ten microseconds inside, and as long outside
    Long,
}

impl Workload {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Hot => "hot",
            Self::Short => "short",
            Self::Long => "long",
        }
    }

    /// The default numbers of threads.
    pub fn usual_threads(self) -> &'static [usize] {
        match self {
            Self::Uncontended => &[1],
            Self::Hot => &[2, 8],
            Self::Short => &[2, 8, 32],
            Self::Long => &[8, 32],
        }
    }

    /// The work to do inside, and again outside.
    pub fn work(self) -> Work {
        match self {
            Self::Uncontended | Self::Hot => Work(0),
            Self::Short => Work::of(Duration::from_nanos(500)),
            Self::Long => Work::of(Duration::from_micros(10)),
        }
    }

    /// Whether entries are so short that reading the clock at each would be most of what is
    /// measured. Where threads contend, the waits are worth it.
    pub fn is_shorter_than_a_clock(self) -> bool {
        matches!(self, Self::Uncontended)
    }
}

/// A calibrated number of steps that touch no memory.
#[derive(Clone, Copy, Debug)]
pub struct Work(u32);

impl Work {
    fn of(duration: Duration) -> Self {
        Self((steps_per_microsecond() * duration.as_secs_f64() * 1e6).round() as u32)
    }

    /// Does it.
    #[inline]
    pub fn run(self) {
        let mut value = 1_u64;
        for _ in 0..self.0 {
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005));
        }
        black_box(value);
    }
}

/// Measured once per run: the fastest of several tries, so that a preempted one does not count.
fn steps_per_microsecond() -> f64 {
    static RATE: OnceLock<f64> = OnceLock::new();
    *RATE.get_or_init(|| {
        let steps = 100_000;
        let fastest = (0..20)
            .map(|_| {
                let start = Instant::now();
                Work(steps).run();
                start.elapsed()
            })
            .min()
            .expect("several tries");
        f64::from(steps) / (fastest.as_secs_f64() * 1e6)
    })
}
