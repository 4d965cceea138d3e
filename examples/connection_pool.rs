//! A pool of three connections for sixteen users: a mutex and a condition variable. Nobody waits
//! past its turn.
//!
//! ```sh
//! cargo run --example connection_pool
//! ```

use std::thread;
use std::time::Duration;

use exclusion::{BakeryCondvar, BakeryMutex};

/// Connections that nobody uses, who has asked, and who was served.
#[derive(Default)]
struct Pool {
    free: Vec<u32>,
    asked: Vec<u32>,
    served: Vec<u32>,
}

fn main() {
    let pool = BakeryMutex::new(Pool { free: vec![1, 2, 3], ..Pool::default() });
    let returned = BakeryCondvar::new();
    thread::scope(|scope| {
        for user in 0..16 {
            let (pool, returned) = (&pool, &returned);
            scope.spawn(move || {
                let mut guard = pool.lock();
                guard.asked.push(user);
                // A thread that comes when others wait goes behind them, also if one is free.
                if guard.free.is_empty() || guard.asked.len() > guard.served.len() + 1 {
                    returned.wait(&mut guard);
                }
                guard.served.push(user);
                let connection = guard.free.pop().expect("one is free for each notification");
                drop(guard);
                thread::sleep(Duration::from_millis(2));
                pool.lock().free.push(connection);
                returned.notify_one();
            });
        }
    });
    let pool = pool.into_inner();
    assert_eq!(pool.free.len(), 3);
    assert_eq!(pool.asked, pool.served);
    println!("16 users, 3 connections: asked for and served in one order, {:?}", pool.served);
}
