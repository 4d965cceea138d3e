//! A real-time thread and ordinary ones on one core: a waiter of a drop-in type must give the core
//! up to the thread that it waits for, also while that thread draws its ticket.
//!
//! A `SCHED_FIFO` thread that only spins or yields keeps every ordinary thread off its core. The
//! kernel's throttling would let them run for a twentieth of each second, so a waiter that spins
//! does not hang here: it comes to nothing like the number of entries that the test asks for in its
//! two minutes.
#![cfg(target_os = "linux")]

mod common;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use common::within_two_minutes;
use exclusion::lock::Leased;
use exclusion::lock::raw::{Bakery, BlackWhiteBakery};
use exclusion::{Bypass, RawBakeryMutex};
use lock_api::{Mutex, RawMutex};

/// Ties the calling thread to the core that it runs on now, as those that it spawns will be.
fn stay_on_this_core() -> std::io::Result<()> {
    // SAFETY: the set is a plain bit field, valid when zeroed, and the call writes nothing.
    let result = unsafe {
        let mut cores: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(usize::try_from(libc::sched_getcpu()).unwrap_or(0), &mut cores);
        libc::sched_setaffinity(0, size_of_val(&cores), &cores)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Makes the calling thread a real-time thread.
fn become_real_time() -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameters live until the call returns.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// One real-time thread and three ordinary ones contend. Returns once the first has entered often
/// enough.
fn contend<R: RawMutex + Send + Sync + 'static>() -> std::io::Result<()> {
    const ENTRIES: usize = 60_000;
    within_two_minutes(|| {
        stay_on_this_core()?;
        let mutex = Mutex::<R, usize>::new(0);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        *mutex.lock() += 1;
                    }
                });
            }
            let real_time = scope.spawn(|| {
                become_real_time()?;
                for _ in 0..ENTRIES {
                    *mutex.lock() += 1;
                    std::thread::sleep(Duration::from_micros(20));
                }
                Ok(())
            });
            let outcome = real_time.join().expect("it does not panic");
            done.store(true, Relaxed);
            outcome
        })
    })
}

#[test]
fn a_real_time_waiter_lets_ordinary_threads_run() {
    for contend in [
        contend::<RawBakeryMutex>,
        contend::<RawBakeryMutex<Bypass>>,
        contend::<Leased<Bakery<64>>>,
        contend::<Leased<BlackWhiteBakery<8>>>,
    ] {
        if let Err(error) = contend() {
            eprintln!("skipped: this machine does not let us be real-time ({error})");
        }
    }
}
