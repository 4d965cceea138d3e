//! What a program can do with `parking_lot`, it can do here: each row of `docs/parity.md` that says
//! "same", compiled with both.
#![cfg(not(exclusion_loom))]

/// The same text for one library and the other.
macro_rules! rows {
    ($library:ident, $($import:tt)*) => {
        mod $library {
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
            fn a_read_write_lock_is_locked_in_all_ways() {
                *RWLOCK.write() += 1;
                assert!(RWLOCK.try_read().is_some() && RWLOCK.try_write().is_some());
                assert!(RWLOCK.try_read_for(SOON).is_some() && RWLOCK.try_write_for(SOON).is_some());
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
        Condvar, MappedMutexGuard, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
}

rows! { ours,
    use exclusion::{
        BakeryCondvar as Condvar, BakeryMutex as Mutex, BakeryMutexGuard as MutexGuard,
        BakeryRwLock as RwLock, BakeryRwLockReadGuard as RwLockReadGuard,
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
