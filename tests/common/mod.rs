//! What the test files share: contenders that take turns, and locks that are wrong on purpose.
#![allow(dead_code, unused_macros, reason = "each test file is a crate of its own and uses a part")]

#[cfg(feature = "message")]
pub mod actors;
pub mod baton;
#[cfg(feature = "message")]
pub mod by_hand;
pub mod chance;
#[cfg(feature = "check")]
pub mod exhaust;
pub mod flawed;
#[cfg(feature = "message")]
pub mod happened_before;
#[cfg(feature = "message")]
pub mod hello;
pub mod journal;
#[cfg(feature = "message")]
pub mod load;
pub mod sleepers;
#[cfg(feature = "serde")]
pub mod tamper;

use std::sync::mpsc;
use std::time::Duration;

/// Fails instead of hanging: a lost wake-up must end the test.
pub fn within_two_minutes<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, finished) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        let result = run();
        let _ = done.send(());
        result
    });
    match finished.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs: not done after two minutes"),
        _ => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

/// Makes a test of each generic function named, for one choice of its parameters.
macro_rules! tests_of {
    ($parameters:tt: $($test:ident)*) => {
        $(tests_of!(@one $parameters $test);)*
    };
    (@one [$($parameter:tt),*] $test:ident) => {
        #[test]
        fn $test() {
            super::$test::<$($parameter),*>();
        }
    };
}
