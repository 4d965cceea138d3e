//! What a program can do with `parking_lot`, it can do here: each row of `docs/parity.md` that says
//! "same", compiled with both.
#![cfg(not(exclusion_loom))]

/// The same text for one library and the other.
macro_rules! rows {
    ($library:ident, $($import:tt)*) => {
        mod $library {
            use std::cell::Cell;
            use std::sync::Arc;
            use std::thread;
            use std::time::{Duration, Instant};

            $($import)*

            const SOON: Duration = Duration::from_millis(1);

            static MUTEX: Mutex<u32> = Mutex::new(1);
            static RWLOCK: RwLock<u32> = RwLock::new(1);
            static CONDVAR: Condvar = Condvar::new();

            trait Shape: Send {
                fn corners(&self) -> usize;
            }

            impl Shape for u8 {
                fn corners(&self) -> usize {
                    3
                }
            }

            #[test]
            fn a_mutex_is_locked_in_all_ways() {
                *MUTEX.lock() += 1;
                assert!(MUTEX.try_lock().is_some());
                assert!(MUTEX.try_lock_for(SOON).is_some());
                assert!(MUTEX.try_lock_until(Instant::now() + SOON).is_some());
                assert!(!MUTEX.is_locked());
            }

            #[test]
            fn paths_lead_to_the_methods_of_a_mutex() {
                let mut mutex = Mutex::new(vec![1]);
                Mutex::lock(&mutex).push(2);
                assert_eq!(Some(&mutex).map(Mutex::lock).map(|data| data.len()), Some(2));
                Mutex::get_mut(&mut mutex).push(3);
                assert!(Mutex::try_lock(&mutex).is_some() && !Mutex::is_locked(&mutex));
                assert_eq!(Mutex::into_inner(mutex), [1, 2, 3]);
            }

            #[test]
            fn a_mutex_is_made_from_data_without_a_type() {
                assert_eq!(*Mutex::from(3).lock(), 3);
                let number: u32 = *Mutex::default().lock();
                assert_eq!(number, 0);
                let _: Mutex<u8> = 3.into();
            }

            #[test]
            fn a_mutex_gives_its_data_in_a_constant_too() {
                const fn raise(mutex: &mut Mutex<u8>) -> *mut u8 {
                    *mutex.get_mut() += 1;
                    mutex.data_ptr()
                }
                let mut mutex = Mutex::new(1);
                assert!(!raise(&mut mutex).is_null());
                assert_eq!(mutex.into_inner_with_raw().1, 2);
            }

            #[test]
            fn data_is_unsized_and_dyn() {
                let slice: &Mutex<[u8]> = &Mutex::new([1, 2]);
                assert_eq!(slice.lock().len(), 2);
                let shape: Arc<Mutex<dyn Shape>> = Arc::new(Mutex::new(7u8));
                assert_eq!(shape.lock().corners(), 3);
                assert_eq!(shape.lock_arc().corners(), 3);
                assert!(shape.try_lock_arc().is_some() && shape.try_lock_arc_for(SOON).is_some());
            }

            #[test]
            fn a_mutex_is_printed_free_and_locked() {
                let mutex = Mutex::new(5);
                assert_eq!(format!("{mutex:?}"), "Mutex { data: 5 }");
                let guard = mutex.lock();
                assert_eq!(format!("{mutex:?} {guard:?} {guard}"), "Mutex { data: <locked> } 5 5");
            }

            #[test]
            fn guards_are_mapped_and_handed_over() {
                let mutex = Mutex::new((1, 2));
                let mapped: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
                assert_eq!(*mapped, 2);
                drop(mapped);
                assert!(MutexGuard::try_map(mutex.lock(), |_| None::<&mut u8>).is_err());
                let mut guard: MutexGuard<'_, (i32, i32)> = mutex.lock();
                MutexGuard::unlocked(&mut guard, || assert!(mutex.try_lock().is_some()));
                MutexGuard::bump(&mut guard);
                MutexGuard::unlock_fair(guard);
            }

            #[test]
            fn data_goes_through_serde() {
                let bytes = serde_json::to_string(&(Mutex::new(3), RwLock::new(4))).unwrap();
                assert_eq!(bytes, "[3,4]");
                let (mutex, lock): (Mutex<u8>, RwLock<u8>) = serde_json::from_str(&bytes).unwrap();
                assert_eq!((mutex.into_inner(), lock.into_inner()), (3, 4));
            }

            #[test]
            fn a_condition_is_awaited_in_all_ways() {
                let _: Condvar = Condvar::default();
                let mut guard = MUTEX.lock();
                assert!(CONDVAR.wait_for(&mut guard, SOON).timed_out());
                assert!(CONDVAR.wait_until(&mut guard, Instant::now()).timed_out());
                assert!(CONDVAR.wait_while_for(&mut guard, |_| true, SOON).timed_out());
                let now = Instant::now();
                assert!(CONDVAR.wait_while_until(&mut guard, |_| true, now).timed_out());
                CONDVAR.wait_while(&mut guard, |_| false);
                drop(guard);
                assert!(!CONDVAR.notify_one() && CONDVAR.notify_all() == 0);
                let pair = (Mutex::new(()), Condvar::new());
                thread::scope(|scope| {
                    let mut guard = pair.0.lock();
                    scope.spawn(|| {
                        let _guard = pair.0.lock();
                        assert!(pair.1.notify_one());
                    });
                    pair.1.wait(&mut guard);
                });
            }

            #[test]
            fn a_condition_is_awaited_with_one_mutex_at_a_time() {
                let (pair, other) = ((Mutex::new(false), Condvar::new()), Mutex::new(0));
                thread::scope(|scope| {
                    scope.spawn(|| {
                        let mut waits = pair.0.lock();
                        *waits = true;
                        pair.1.wait(&mut waits);
                    });
                    while !*pair.0.lock() {
                        thread::yield_now();
                    }
                    let mut guard = other.lock();
                    let wait = std::panic::AssertUnwindSafe(|| pair.1.wait(&mut guard));
                    assert!(std::panic::catch_unwind(wait).is_err());
                    assert_eq!(pair.1.notify_all(), 1);
                });
            }

            /// A thread that nobody notifies does not come back.
            #[test]
            fn nobody_is_woken_for_nothing() {
                let pair = (Mutex::new(0), Condvar::new());
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            let mut number = pair.0.lock();
                            *number += 1;
                            pair.1.wait(&mut number);
                            *number += 10;
                        });
                    }
                    for round in 0..4 {
                        while *pair.0.lock() != 4 + 10 * round {
                            thread::yield_now();
                        }
                        assert!(pair.1.notify_one());
                    }
                });
                assert_eq!(pair.0.into_inner(), 44);
            }

            #[test]
            fn its_holder_locks_a_reentrant_mutex_again() {
                static CELL: ReentrantMutex<Cell<u32>> = ReentrantMutex::new(Cell::new(0));
                let outer: ReentrantMutexGuard<'_, Cell<u32>> = CELL.lock();
                CELL.lock().set(outer.get() + 1);
                assert!(CELL.try_lock().is_some() && CELL.is_owned_by_current_thread());
                thread::scope(|scope| {
                    let other = scope.spawn(|| CELL.try_lock().is_none());
                    assert!(other.join().unwrap());
                });
                drop(outer);
                assert!(!CELL.is_locked());
                assert_eq!(ReentrantMutex::from(3).into_inner(), 3);
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| {
                            for _ in 0..100 {
                                let outer = CELL.lock();
                                let inner = CELL.lock();
                                inner.set(outer.get() + 1);
                            }
                        });
                    }
                });
                assert_eq!(CELL.lock().get(), 401);
            }

            #[test]
            fn a_reader_becomes_a_writer() {
                let lock = RwLock::new(1);
                let reader: RwLockUpgradableReadGuard<'_, i32> = lock.upgradable_read();
                assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none());
                let mut writer = RwLockUpgradableReadGuard::upgrade(reader);
                *writer += 1;
                let reader = RwLockWriteGuard::downgrade_to_upgradable(writer);
                let writer = RwLockUpgradableReadGuard::try_upgrade(reader).ok().unwrap();
                let reader = RwLockWriteGuard::downgrade_to_upgradable(writer);
                let writer = RwLockUpgradableReadGuard::try_upgrade_for(reader, SOON).ok().unwrap();
                let mut reader = RwLockWriteGuard::downgrade_to_upgradable(writer);
                RwLockUpgradableReadGuard::bump(&mut reader);
                assert_eq!(*RwLockUpgradableReadGuard::downgrade(reader), 2);
                assert!(lock.try_upgradable_read_for(SOON).is_some());
                assert!(lock.try_upgradable_read_until(Instant::now()).is_some());
            }

            #[test]
            fn a_read_write_lock_is_locked_in_all_ways() {
                *RWLOCK.write() += 1;
                assert!(RWLOCK.try_read().is_some() && RWLOCK.try_write().is_some());
                assert!(RWLOCK.try_read_for(SOON).is_some());
                assert!(RWLOCK.try_write_for(SOON).is_some());
                assert!(RWLOCK.try_read_until(Instant::now()).is_some());
                assert!(RWLOCK.try_write_until(Instant::now()).is_some());
                assert!(!RWLOCK.is_locked() && !RWLOCK.is_locked_exclusive());
                let mut lock = RwLock::from(3);
                *lock.get_mut() += 1;
                assert!(!lock.data_ptr().is_null());
                assert_eq!(format!("{lock:?}"), "RwLock { data: 4 }");
                assert_eq!(RwLock::into_inner(lock), 4);
                let _: RwLock<u8> = RwLock::default();
                let slice: &RwLock<[u8]> = &RwLock::new([1, 2]);
                assert_eq!(RwLock::read(slice).len(), 2);
            }

            #[test]
            fn guards_of_a_read_write_lock_are_mapped_and_handed_over() {
                let lock = Arc::new(RwLock::new((1, 2)));
                assert_eq!(*RwLockReadGuard::map(lock.read(), |pair| &pair.1), 2);
                *RwLockWriteGuard::map(lock.write(), |pair| &mut pair.1) = 3;
                let reader = RwLockWriteGuard::downgrade(lock.write());
                RwLockReadGuard::unlock_fair(reader);
                let mut writer = lock.write();
                RwLockWriteGuard::bump(&mut writer);
                RwLockWriteGuard::unlock_fair(writer);
                assert_eq!(lock.read_arc().1, 3);
                lock.write_arc().0 = 4;
            }
        }
    };
}

rows! { parking_lot_itself,
    use parking_lot::{
        Condvar, MappedMutexGuard, Mutex, MutexGuard, ReentrantMutex, ReentrantMutexGuard, RwLock,
        RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
    };
}

rows! { ours,
    use exclusion::{
        BakeryCondvar as Condvar, BakeryMutex as Mutex, BakeryMutexGuard as MutexGuard,
        BakeryReentrantMutex as ReentrantMutex, BakeryReentrantMutexGuard as ReentrantMutexGuard,
        BakeryRwLock as RwLock, BakeryRwLockReadGuard as RwLockReadGuard,
        BakeryRwLockUpgradableReadGuard as RwLockUpgradableReadGuard,
        BakeryRwLockWriteGuard as RwLockWriteGuard, MappedBakeryMutexGuard as MappedMutexGuard,
    };
}

/// Not in the table's "same" for the peer, where it is a feature: our guards go to another thread.
#[test]
fn guards_are_sent() {
    fn sent<T: Send>(_: &T) {}
    sent(&exclusion::BakeryMutex::new(1).lock());
    sent(&exclusion::BakeryRwLock::new(1).read());
}

/// Which test compiles each row that says "same": the row by how it begins.
const ROWS: &[(&str, &str)] = &[
    ("`new` in a constant or a `static`", "a_mutex_is_locked_in_all_ways"),
    ("`lock`, `try_lock`, `try_lock_for`", "a_mutex_is_locked_in_all_ways"),
    ("paths: `Mutex::lock(&m)`", "paths_lead_to_the_methods_of_a_mutex"),
    ("`Mutex::from(3)`, `Mutex::default()`", "a_mutex_is_made_from_data_without_a_type"),
    ("`get_mut`, `data_ptr`, in a constant too", "a_mutex_gives_its_data_in_a_constant_too"),
    ("unsized data, and `dyn`", "data_is_unsized_and_dyn"),
    ("`Debug` of a free and of a locked mutex", "a_mutex_is_printed_free_and_locked"),
    ("mapped guards: `MutexGuard::map`", "guards_are_mapped_and_handed_over"),
    ("`MutexGuard::unlock_fair`, `unlocked`, `bump`", "guards_are_mapped_and_handed_over"),
    ("`lock_arc` and its kin", "data_is_unsized_and_dyn"),
    ("`serde`: the data, locked", "data_goes_through_serde"),
    ("a guard that goes to another thread", "guards_are_sent"),
    ("a reentrant mutex", "its_holder_locks_a_reentrant_mutex_again"),
    ("`new` in a constant, `Default`, `Debug`", "a_condition_is_awaited_in_all_ways"),
    ("`wait`, `wait_while`, `wait_for`", "a_condition_is_awaited_in_all_ways"),
    ("`notify_one`, `notify_all`, with exact answers", "nobody_is_woken_for_nothing"),
    ("no spurious wake-ups", "nobody_is_woken_for_nothing"),
    ("two mutexes at a time panic", "a_condition_is_awaited_with_one_mutex_at_a_time"),
    ("`new` in a constant, `Default`, `From`", "a_read_write_lock_is_locked_in_all_ways"),
    ("`read`, `write`, the same tried", "a_read_write_lock_is_locked_in_all_ways"),
    ("`is_locked`, `is_locked_exclusive`", "a_read_write_lock_is_locked_in_all_ways"),
    ("downgrade, mapped guards", "guards_of_a_read_write_lock_are_mapped_and_handed_over"),
    ("upgradable reads", "a_reader_becomes_a_writer"),
];

#[test]
fn each_row_that_says_same_is_compiled_by_a_test() {
    let page = include_str!("../docs/parity.md");
    let same: Vec<_> = page.lines().filter(|line| line.contains(" | same | ")).collect();
    for row in &same {
        let of = ROWS.iter().filter(|(begins, _)| row.starts_with(&format!("| {begins}"))).count();
        assert_eq!(of, 1, "so many tests are named for this row: {row}");
    }
    assert_eq!(same.len(), ROWS.len(), "a test is named for a row that is not there");
    for (_, test) in ROWS {
        assert!(include_str!("parity.rs").contains(&format!("fn {test}()")), "no test {test}");
    }
}
