//! The locks whose cost is counted, and what they claim.

use std::sync::Arc;

use crate::cost::Growth;
use crate::lock::raw::{
    Bakery, BlackWhiteBakery, Peterson, PetersonSwap, Priority, RawLock, RawSharedLock, RwBakery,
    Tournament,
};
use crate::lock::{Leased, Seat, Seated};
use crate::peers::{Mcs, Ticket};
use crate::{BakeryCondvar, BakeryMutex, BakeryRwLock, BakerySemaphore, Bypass, TournamentMutex};

/// Enters as one thread, runs what it is given, and leaves.
pub type Entrance = Box<dyn FnMut(&mut (dyn FnMut() + Send)) + Send>;

/// A lock that is counted.
#[derive(Clone, Copy)]
pub struct Subject {
    /// Its name.
    pub name: &'static str,
    /// A way in for each of so many threads; none for a number of threads that it is not for.
    pub entrances: fn(usize) -> Option<Vec<Entrance>>,
    /// What it claims: accesses, and remote references with and without caches; uncontended, and
    /// with all contending.
    pub claims: [Claim; 2],
}

/// What a lock claims under a load.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Of an entry's remote references where caches are coherent, and of all its accesses.
    pub with_caches: Growth,
    /// Of an entry's remote references where each word lies with a thread.
    pub without_caches: Growth,
}

/// Numbers of threads that locks with a fixed number of seats are made for.
pub const THREADS: [usize; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// The ways in of a lock with owned seats.
fn seated<L: RawLock + 'static, const N: usize>(
    enter: fn(&mut Seat<'static, L, ()>, &mut (dyn FnMut() + Send)),
) -> Vec<Entrance> {
    // It lives as long as the program: an execution must not drop what its tasks may use.
    let cell: &'static Seated<L, ()> = Box::leak(Box::new(Seated::new(())));
    let seats = cell.take_seats::<N>().expect("nobody has taken them");
    let one = |mut seat| -> Entrance { Box::new(move |section| enter(&mut seat, section)) };
    seats.into_iter().map(one).collect()
}

/// Enters from a seat.
fn lock<L: RawLock>(seat: &mut Seat<'static, L, ()>, section: &mut (dyn FnMut() + Send)) {
    let _guard = seat.lock();
    section();
}

/// Enters from a seat as a reader.
fn read<L: RawSharedLock>(seat: &mut Seat<'static, L, ()>, section: &mut (dyn FnMut() + Send)) {
    let _guard = seat.read();
    section();
}

/// The same for each number of threads that there is a type for.
macro_rules! seated {
    (|$n:ident| $lock:ty) => {
        seated!(|$n| $lock, lock)
    };
    (|$n:ident| $lock:ty, $enter:ident) => {
        |threads| {
            macro_rules! of {
                ($number:literal) => {{
                    const $n: usize = $number;
                    Some(seated::<$lock, $n>($enter))
                }};
            }
            match threads {
                2 => of!(2),
                4 => of!(4),
                8 => of!(8),
                16 => of!(16),
                32 => of!(32),
                64 => of!(64),
                128 => of!(128),
                256 => of!(256),
                512 => of!(512),
                1024 => of!(1024),
                _ => None,
            }
        }
    };
}

/// The ways in of what all threads share.
fn shared<T: Send + Sync + 'static>(
    threads: usize,
    lock: T,
    enter: fn(&T, usize, &mut (dyn FnMut() + Send)),
) -> Option<Vec<Entrance>> {
    let lock = Arc::new(lock);
    let one = |thread| -> Entrance {
        let lock = Arc::clone(&lock);
        Box::new(move |section| enter(&lock, thread, section))
    };
    Some((0..threads).map(one).collect())
}

/// A lock made of a condition variable: a flag, behind a mutex, that threads wait for.
struct Monitor {
    is_taken: BakeryMutex<bool>,
    is_left: BakeryCondvar,
}

impl Monitor {
    const fn new() -> Self {
        Self { is_taken: BakeryMutex::new(false), is_left: BakeryCondvar::new() }
    }

    fn run(&self, section: &mut (dyn FnMut() + Send)) {
        let mut is_taken = self.is_taken.lock();
        self.is_left.wait_while(&mut is_taken, |is_taken| *is_taken);
        *is_taken = true;
        drop(is_taken);
        section();
        *self.is_taken.lock() = false;
        self.is_left.notify_one();
    }
}

/// The locks, ours first.
pub fn subjects() -> Vec<Subject> {
    use Growth::{Constant, Linear, Logarithmic, Unbounded};
    let claim = |with_caches, without_caches| Claim { with_caches, without_caches };
    let subject = |name, entrances, uncontended, contended| Subject {
        name,
        entrances,
        claims: [uncontended, contended],
    };
    let bakery = [claim(Linear, Linear), claim(Linear, Unbounded)];
    let tree = [claim(Logarithmic, Logarithmic), claim(Logarithmic, Unbounded)];
    let word = claim(Constant, Constant);
    vec![
        subject("bakery", seated!(|N| Bakery<N>), bakery[0], bakery[1]),
        subject("rw_bakery_read", seated!(|N| RwBakery<N>, read), bakery[0], bakery[1]),
        subject("rw_bakery_write", seated!(|N| RwBakery<N>), bakery[0], bakery[1]),
        subject("black_white", seated!(|N| BlackWhiteBakery<N>), bakery[0], bakery[1]),
        subject("tournament", seated!(|N| Tournament<N, Peterson>), tree[0], tree[1]),
        subject("tournament_priority", seated!(|N| Tournament<N, Priority>), tree[0], tree[1]),
        subject("tournament_swap", seated!(|N| Tournament<N, PetersonSwap>), tree[0], tree[1]),
        subject(
            "bakery_mutex",
            |threads| {
                shared(threads, BakeryMutex::new(()), |lock, _, section| {
                    let _guard = lock.lock();
                    section();
                })
            },
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "bakery_mutex_bypass",
            |threads| {
                let lock = BakeryMutex::<(), Bypass>::with_policy(());
                shared(threads, lock, |lock, _, section| {
                    let _guard = lock.lock();
                    section();
                })
            },
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "bakery_mutex_with",
            |threads| {
                shared(threads, BakeryMutex::new(()), |lock, _, section| lock.with(|()| section()))
            },
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "tournament_mutex",
            |threads| {
                let lock = TournamentMutex::<()>::new(());
                shared(threads, lock, |lock, _, section| {
                    let _guard = lock.lock();
                    section();
                })
            },
            word,
            claim(Logarithmic, Logarithmic),
        ),
        subject(
            "leased_bakery",
            |threads| {
                let lock = crate::lock_api::Mutex::from_raw(Leased::<Bakery<64>>::new(), ());
                shared(threads, lock, |lock, _, section| {
                    let _guard = lock.lock();
                    section();
                })
            },
            word,
            claim(Linear, Linear),
        ),
        subject(
            "rw_lock_read",
            |threads| {
                shared(threads, BakeryRwLock::new(()), |lock, _, section| {
                    let _guard = lock.read();
                    section();
                })
            },
            word,
            claim(Linear, Linear),
        ),
        subject(
            "rw_lock_write",
            |threads| {
                shared(threads, BakeryRwLock::new(()), |lock, _, section| {
                    let _guard = lock.write();
                    section();
                })
            },
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "semaphore_of_half",
            |threads| {
                // Half of the threads may be inside.
                shared(threads, BakerySemaphore::new(threads / 2), |semaphore, _, section| {
                    let _permit = semaphore.acquire();
                    section();
                })
            },
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "condvar",
            |threads| shared(threads, Monitor::new(), |monitor, _, section| monitor.run(section)),
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "ticket",
            |threads| shared(threads, Ticket::new(), |lock, _, section| lock.run(section)),
            word,
            claim(Linear, Unbounded),
        ),
        subject(
            "mcs",
            |threads| {
                shared(threads, Mcs::new(threads), |lock, thread, section| {
                    lock.run(thread, section)
                })
            },
            word,
            word,
        ),
    ]
}
