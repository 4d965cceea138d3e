//! The locks that are measured, all through one small trait.

use exclusion::lock::raw::{self, BlackWhiteBakery, Padded, Peterson};
use exclusion::lock::{Leased, Seat, Seated};
use exclusion::{BakeryMutex, Bypass, TournamentMutex};

/// A lock around a number.
pub trait Subject: Sync + Sized {
    /// What a thread locks with. Locks without owned seats lend themselves.
    type Handle<'a>: Send
    where
        Self: 'a;

    /// The name on the command line and in the tables.
    const NAME: &'static str;

    /// How many threads can use it at a time.
    const MOST_THREADS: usize = usize::MAX;

    /// A fresh lock around 0.
    fn fresh() -> Self;

    /// One handle per thread.
    fn handles(&mut self, threads: usize) -> Vec<Self::Handle<'_>>;

    /// Runs `section` with the lock held, and returns when it has run. A lock may leave it to
    /// another thread: that is why it can be sent, and what it returns too.
    fn enter<R: Send>(
        handle: &mut Self::Handle<'_>,
        section: impl FnOnce(&mut u64) -> R + Send,
    ) -> R;
}

/// Subjects whose handle is a shared reference. The last part says how a critical section is run:
/// inside a guard, or by whoever the lock chooses.
macro_rules! lend {
    ($($(#[$doc:meta])* $subject:ident = $name:literal,
        $lock:ty, $new:expr, |$mutex:ident, $section:ident| $enter:expr;)*) => {
        $(
            $(#[$doc])*
            pub struct $subject($lock);

            impl Subject for $subject {
                type Handle<'a> = &'a $lock;
                const NAME: &'static str = $name;

                fn fresh() -> Self {
                    Self($new)
                }

                fn handles(&mut self, threads: usize) -> Vec<&$lock> {
                    vec![&self.0; threads]
                }

                #[inline]
                fn enter<R: Send>(
                    $mutex: &mut &$lock,
                    $section: impl FnOnce(&mut u64) -> R + Send,
                ) -> R {
                    $enter
                }
            }
        )*
    };
}

lend! {
    /// Our bakery.
    Bakery = "bakery",
        BakeryMutex<u64>, BakeryMutex::new(0), |mutex, section| section(&mut mutex.lock());
    /// Our bakery, to which the critical section is left.
    BakeryWith = "bakery_with",
        BakeryMutex<u64>, BakeryMutex::new(0), |mutex, section| mutex.with(section);
    /// Our bakery, whose line newcomers may pass.
    BakeryBypass = "bakery_bypass", BakeryMutex<u64, Bypass>,
        BakeryMutex::with_policy(0), |mutex, section| section(&mut mutex.lock());
    /// The same for fewer newcomers and a shorter time.
    BakeryBypass32For50 = "bakery_bypass_32_50", BakeryMutex<u64, Bypass<32, 50>>,
        BakeryMutex::with_policy(0), |mutex, section| section(&mut mutex.lock());
    /// The same for as many newcomers as by default, and a longer time.
    BakeryBypass8192For1000 = "bakery_bypass_8192_1000", BakeryMutex<u64, Bypass<8192, 1000>>,
        BakeryMutex::with_policy(0), |mutex, section| section(&mut mutex.lock());
    /// The same for a time that is longer still.
    BakeryBypass8192For4000 = "bakery_bypass_8192_4000", BakeryMutex<u64, Bypass<8192, 4000>>,
        BakeryMutex::with_policy(0), |mutex, section| section(&mut mutex.lock());
    /// Our tournament.
    Tournament = "tournament",
        TournamentMutex<u64>, TournamentMutex::new(0), |mutex, section| section(&mut mutex.lock());
    /// Our bakery with bounded tickets.
    BlackWhite = "black_white", lock_api::Mutex<Leased<BlackWhiteBakery<64>>, u64>,
        lock_api::Mutex::new(0), |mutex, section| section(&mut mutex.lock());
    /// The standard library's mutex.
    Std = "std", std::sync::Mutex<u64>, std::sync::Mutex::new(0),
        |mutex, section| section(&mut mutex.lock().expect("nobody panics"));
    /// parking_lot's mutex.
    ParkingLot = "parking_lot", parking_lot::Mutex<u64>,
        parking_lot::Mutex::new(0), |mutex, section| section(&mut mutex.lock());
    /// parking_lot's mutex that always hands over.
    ParkingLotFair = "parking_lot_fair", parking_lot::FairMutex<u64>,
        parking_lot::FairMutex::new(0), |mutex, section| section(&mut mutex.lock());
    /// spin's ticket lock.
    SpinTicket = "spin_ticket", spin::mutex::TicketMutex<u64>,
        spin::mutex::TicketMutex::new(0), |mutex, section| section(&mut mutex.lock());
}

/// mcslock's queue lock, whose waiters yield.
pub struct Mcs(mcslock::raw::yields::Mutex<u64>);

impl Subject for Mcs {
    type Handle<'a> = (&'a mcslock::raw::yields::Mutex<u64>, mcslock::raw::MutexNode);
    const NAME: &'static str = "mcs";

    fn fresh() -> Self {
        Self(mcslock::raw::yields::Mutex::new(0))
    }

    fn handles(&mut self, threads: usize) -> Vec<Self::Handle<'_>> {
        (0..threads).map(|_| (&self.0, mcslock::raw::MutexNode::new())).collect()
    }

    #[inline]
    fn enter<R: Send>(
        (mutex, node): &mut Self::Handle<'_>,
        section: impl FnOnce(&mut u64) -> R + Send,
    ) -> R {
        mutex.lock_with_then(node, section)
    }
}

/// Locks for two with owned seats.
macro_rules! seated {
    ($($(#[$doc:meta])* $subject:ident = $name:literal, $lock:ty;)*) => {
        $(
            $(#[$doc])*
            pub struct $subject(Seated<$lock, u64>);

            impl Subject for $subject {
                type Handle<'a> = Seat<'a, $lock, u64>;
                const NAME: &'static str = $name;
                const MOST_THREADS: usize = 2;

                fn fresh() -> Self {
                    Self(Seated::new(0))
                }

                fn handles(&mut self, threads: usize) -> Vec<Self::Handle<'_>> {
                    self.0.seats::<2>().into_iter().take(threads).collect()
                }

                #[inline]
                fn enter<R: Send>(
                    seat: &mut Self::Handle<'_>,
                    section: impl FnOnce(&mut u64) -> R + Send,
                ) -> R {
                    section(&mut seat.lock())
                }
            }
        )*
    };
}

seated! {
    /// Peterson's lock for two, with owned seats.
    Peterson2 = "peterson2", Peterson;
    /// The same, each register on a cache line of its own.
    Peterson2Padded = "peterson2_padded", Peterson<Padded>;
    /// The bakery for two, with owned seats.
    Bakery2 = "bakery2", raw::Bakery<2>;
    /// The same, each register on a cache line of its own.
    Bakery2Padded = "bakery2_padded", raw::Bakery<2, Padded>;
}

/// Calls `$call!(Subject)` for every subject, ours first.
#[macro_export]
macro_rules! each_subject {
    ($call:ident) => {
        $call!($crate::measure::subject::Bakery);
        $call!($crate::measure::subject::BakeryWith);
        $call!($crate::measure::subject::BakeryBypass);
        $call!($crate::measure::subject::BakeryBypass32For50);
        $call!($crate::measure::subject::BakeryBypass8192For1000);
        $call!($crate::measure::subject::BakeryBypass8192For4000);
        $call!($crate::measure::subject::Tournament);
        $call!($crate::measure::subject::BlackWhite);
        $call!($crate::measure::subject::Peterson2);
        $call!($crate::measure::subject::Peterson2Padded);
        $call!($crate::measure::subject::Bakery2);
        $call!($crate::measure::subject::Bakery2Padded);
        $call!($crate::measure::subject::Std);
        $call!($crate::measure::subject::ParkingLot);
        $call!($crate::measure::subject::ParkingLotFair);
        $call!($crate::measure::subject::SpinTicket);
        $call!($crate::measure::subject::Mcs);
    };
}
