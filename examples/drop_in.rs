//! A program written for `parking_lot::Mutex`, with one line changed.
//!
//! Everything below the `use` is what it was: the two calls in `main` run the same code with both.

/// The program, for the mutex that it finds in scope as `Mutex`.
macro_rules! program {
    ($program:ident, $import:item) => {
        mod $program {
            $import

            use std::sync::Arc;
            use std::time::Duration;

            static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

            struct Account {
                balance: Mutex<i64>,
            }

            impl Account {
                fn pay(&self, amount: i64) -> bool {
                    let Some(mut balance) = self.balance.try_lock_for(Duration::from_secs(10)) else {
                        return false;
                    };
                    *balance -= amount;
                    true
                }
            }

            pub fn run() {
                let account = Arc::new(Account { balance: Mutex::new(1_000) });
                let workers: Vec<_> = (0..10)
                    .map(|number| {
                        let account = Arc::clone(&account);
                        std::thread::spawn(move || {
                            assert!(account.pay(number));
                            LOG.lock().push(format!("paid {number}"));
                        })
                    })
                    .collect();
                for worker in workers {
                    worker.join().unwrap();
                }
                assert!(!account.balance.is_locked());
                assert_eq!(*account.balance.lock(), 955);
                let lines = Mutex::new(LOG.lock().len());
                assert_eq!(lines.into_inner(), 10);
                println!("{}: 955 left after {} payments", stringify!($program), LOG.lock().len());
            }
        }
    };
}

program!(with_parking_lot, use parking_lot::Mutex;);
program!(with_bakery, use exclusion::BakeryMutex as Mutex;);
program!(with_tournament, use exclusion::TournamentMutex as Mutex;);

fn main() {
    with_parking_lot::run();
    with_bakery::run();
    with_tournament::run();
}
