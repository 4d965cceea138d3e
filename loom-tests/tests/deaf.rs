//! Each lock whose contenders wake others in the middle of an acquire, with these wake-ups left
//! out. Loom must find the sleeper that nobody wakes.

use exclusion::lock::raw::{Bakery, BlackWhiteBakery, Narrow, PetersonSwap, Priority, Tournament};
use loom_tests::Finding::Deadlock;
use loom_tests::Search::Preemptions;
use loom_tests::deaf::WakesNobody;
use loom_tests::{Wrong, models, refuted};

macro_rules! deaf {
    ($($test:ident: $search:expr, $lock:ty;)*) => {
        $(#[test]
        fn $test() {
            let wrong = Wrong::OnPurpose(concat!("deaf::", stringify!($test)));
            let model = models::lease::<$lock, 3, 1>;
            refuted(stringify!($test), wrong, Deadlock, $search, model);
        })*
    };
}

deaf! {
    // A waiter that sleeps while another contender draws its ticket.
    bakery: Preemptions(3), WakesNobody<Bakery<3>>;
    black_white: Preemptions(3), WakesNobody<BlackWhiteBakery<3>>;
    // The same, while another contender steps back for want of a ticket: the one wake-up here that
    // brings its own fence.
    bakery_at_its_limit: Preemptions(3), WakesNobody<Bakery<3, Narrow<2>>, true>;
    black_white_at_its_limit: Preemptions(3), WakesNobody<BlackWhiteBakery<3, Narrow<3>>, true>;
    // A waiter that the other side gives way to.
    tournament: Preemptions(3), WakesNobody<Tournament<3>>;
    tournament_swap: Preemptions(3), WakesNobody<Tournament<3, PetersonSwap>>;
    tournament_priority: Preemptions(3), WakesNobody<Tournament<3, Priority>>;
}
