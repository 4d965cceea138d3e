//! What an entry costs, by the number of threads.

use std::sync::{Arc, Mutex};

use shuttle::sync::Barrier;
use shuttle::thread;

use crate::lock::counting::{self, Counts, Purpose};
use crate::lock::raw::{
    Bakery, BlackWhiteBakery, Peterson, PetersonSwap, Priority, RawLock, RawSharedLock, RwBakery,
    Tournament,
};
use crate::lock::{Leased, Seat, Seated};
use crate::peers::{Mcs, Ticket};
use crate::schedule::explore;
use crate::{BakeryMutex, BakeryRwLock, BakerySemaphore, Bypass, TournamentMutex};

/// Who contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Load {
    /// The threads enter in turn, and nobody waits.
    Uncontended,
    /// All threads enter at the same time, and again as soon as they have left.
    Contended,
}

impl Load {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Contended => "contended",
        }
    }
}

/// How a cost grows with the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Growth {
    /// It does not.
    Constant,
    /// With the logarithm.
    Logarithmic,
    /// With the number.
    Linear,
    /// With its square.
    Quadratic,
    /// A thread spins on a word that lies with another.
    Unbounded,
}

impl Growth {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "O(1)",
            Self::Logarithmic => "O(log n)",
            Self::Linear => "O(n)",
            Self::Quadratic => "O(n^2)",
            Self::Unbounded => "unbounded",
        }
    }

    fn of(self, threads: usize) -> f64 {
        let threads = threads as f64;
        match self {
            Self::Constant => 1.0,
            Self::Logarithmic => threads.log2(),
            Self::Linear => threads,
            Self::Quadratic => threads * threads,
            Self::Unbounded => f64::INFINITY,
        }
    }

    /// The least that these costs, by numbers of threads in ascending order, stay within. None is
    /// unbounded.
    ///
    /// From the first to the last a cost may grow twice as much as the class says. The first is the
    /// one with eight threads, if there are more: constants blur what is below. Whether that tells
    /// one class from another, [`is_told_by`](Self::is_told_by) says.
    pub fn seen(costs: &[(usize, Option<f64>)]) -> Self {
        let beyond = costs.iter().rev().skip(1).rfind(|(threads, _)| *threads >= 8);
        let first = beyond.or(costs.first());
        let (Some(&(few, least)), Some(&(many, most))) = (first, costs.last()) else {
            return Self::Constant;
        };
        let (Some(least), Some(most)) = (least, most) else { return Self::Unbounded };
        let classes = [Self::Constant, Self::Logarithmic, Self::Linear, Self::Quadratic];
        let fits = |class: &Self| most <= 2.0 * least.max(1.0) * class.of(many) / class.of(few);
        classes.into_iter().find(fits).unwrap_or(Self::Unbounded)
    }

    /// Whether costs by these numbers of threads, in ascending order, tell the classes apart. From
    /// eight threads on, a logarithm must more than double.
    pub fn is_told_by(threads: &[usize]) -> bool {
        threads.contains(&8) && threads.last().is_some_and(|&most| most >= 128)
    }
}

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
            "rw_lock_read",
            |threads| {
                shared(threads, BakeryRwLock::new(()), |lock, _, section| {
                    let _guard = lock.read();
                    section();
                })
            },
            word,
            claim(Linear, Unbounded),
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
            "semaphore_of_two",
            |threads| {
                shared(threads, BakerySemaphore::new(2), |semaphore, _, section| {
                    let _permit = semaphore.acquire();
                    section();
                })
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

/// What an entry costs, on average.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Loads, without looks that find nothing new.
    pub loads: f64,
    /// Stores.
    pub stores: f64,
    /// Read-modify-writes.
    pub read_modify_writes: f64,
    /// Full fences.
    pub fences: f64,
    /// Remote references where caches are coherent.
    pub with_caches: f64,
    /// Remote references where each word lies with a thread. None if there is no bound.
    pub without_caches: Option<f64>,
}

impl Cost {
    fn new(counts: Counts, entries: usize) -> Self {
        let per_entry = |count: u64| count as f64 / entries as f64;
        Self {
            loads: per_entry(counts.loads),
            stores: per_entry(counts.stores),
            read_modify_writes: per_entry(counts.read_modify_writes),
            fences: per_entry(counts.fences),
            with_caches: per_entry(counts.remote_with_caches),
            without_caches: counts.remote_without_caches.map(per_entry),
        }
    }

    /// All accesses.
    pub fn accesses(&self) -> f64 {
        self.loads + self.stores + self.read_modify_writes
    }
}

/// The schedule under which all contend: a random one, the same each time.
const SEED: u64 = 18;

/// How often each thread enters. Many threads make many entries anyway.
fn rounds(threads: usize) -> usize {
    if threads <= 64 { 4 } else { 1 }
}

/// How many accesses there are to a choice of the scheduler, where many threads make each choice
/// long.
fn pace(threads: usize) -> usize {
    1 + threads / 64
}

/// What an entry into that lock costs among so many threads. None if it is not for so many.
///
/// # Panics
/// When the lock lets two in, or none.
pub fn count(subject: Subject, threads: usize, load: Load) -> Option<Cost> {
    let result = Arc::new(Mutex::new(None));
    let told = Arc::clone(&result);
    let run = move |_| {
        let entrances = (subject.entrances)(threads);
        let cost = entrances.map(|entrances| match load {
            Load::Uncontended => in_turn(entrances),
            Load::Contended => all_at_once(entrances),
        });
        *told.lock().expect("nobody panics here") = cost;
    };
    let outcome = explore(SEED, 1, Purpose::Costs { pace: pace(threads) }, run);
    outcome.unwrap_or_else(|failure| panic!("{}: {}", subject.name, failure.what));
    result.lock().expect("nobody panics here").take()
}

/// One round in which the caches fill, and others that are counted.
fn in_turn(mut entrances: Vec<Entrance>) -> Cost {
    let threads = entrances.len();
    for round in 0..=rounds(threads) {
        if round == 1 {
            counting::clear();
        }
        for (thread, enter) in entrances.iter_mut().enumerate() {
            counting::stand_for(thread, || enter(&mut || ()));
        }
    }
    Cost::new(counting::counts(), threads * rounds(threads))
}

fn all_at_once(entrances: Vec<Entrance>) -> Cost {
    let threads = entrances.len();
    // To take the seats is no part of an entry.
    counting::clear();
    let start = Arc::new(Barrier::new(threads));
    let run = |mut enter: Entrance| {
        let start = Arc::clone(&start);
        thread::spawn(move || {
            start.wait();
            for _ in 0..rounds(threads) {
                // Inside, the others get on.
                enter(&mut || {
                    for _ in 0..threads.min(16) {
                        thread::yield_now();
                    }
                });
            }
        })
    };
    let handles: Vec<_> = entrances.into_iter().map(run).collect();
    for handle in handles {
        handle.join().expect("no thread panics");
    }
    Cost::new(counting::counts(), threads * rounds(threads))
}
