//! What an entry costs is what the algorithms say, and more is noticed.

use counted::cost::{Cost, Growth, Load, count};
use counted::subjects::{Subject, subjects};

fn subject(name: &str) -> Subject {
    subjects().into_iter().find(|subject| subject.name == name).expect("a lock of that name")
}

fn cost(name: &str, threads: usize, load: Load) -> Cost {
    count(subject(name), threads, load).expect("it is for so many threads")
}

/// By hand: `is_idle`, choosing, a scan, the ticket, another scan, and leaving.
#[test]
fn an_uncontended_bakery_scans_all_seats_twice() {
    for threads in [2, 16, 128] {
        let cost = cost("bakery", threads, Load::Uncontended);
        assert_eq!((cost.loads, cost.stores, cost.fences), (2.0 * threads as f64 + 1.0, 3.0, 2.0));
        assert_eq!(cost.read_modify_writes, 0.0);
        // The others' words have changed since, and our own was read by them.
        assert_eq!(cost.with_caches, threads as f64);
        // Each scan reads the words of all others.
        assert_eq!(cost.without_caches, Some(2.0 * (threads as f64 - 1.0)));
    }
}

/// That seats are taken once is no part of an entry.
#[test]
fn locks_from_reads_and_writes_have_no_read_modify_write_however_many_contend() {
    for name in ["bakery", "black_white", "tournament", "tournament_priority"] {
        for load in [Load::Uncontended, Load::Contended] {
            assert_eq!(cost(name, 8, load).read_modify_writes, 0.0, "{name}");
        }
    }
}

#[test]
fn a_logarithm_is_not_told_from_a_constant_by_few_threads() {
    assert!(Growth::is_told_by(&[2, 8, 128]) && Growth::is_told_by(&[8, 1024]));
    for few in [&[2, 4, 8][..], &[8, 64], &[2, 128], &[]] {
        assert!(!Growth::is_told_by(few), "{few:?}");
    }
    // Six levels are but twice three.
    let levels = [8, 64].map(|threads| (threads, Some(f64::from(threads as u32).log2())));
    assert_eq!(Growth::seen(&levels), Growth::Constant);
}

/// By hand: at each level a flag up, a look at the other's, and the flag down.
#[test]
fn an_uncontended_tournament_plays_each_level_once() {
    for (threads, levels) in [(2, 1.0), (16, 4.0), (1024, 10.0)] {
        let cost = cost("tournament", threads, Load::Uncontended);
        assert_eq!((cost.loads, cost.stores), (levels + 1.0, 2.0 * levels));
        assert_eq!(cost.fences, levels);
    }
}

#[test]
fn an_uncontended_drop_in_mutex_is_two_read_modify_writes_of_one_word() {
    // A runner of closures looks at the word before it leaves, whether others have come.
    for (name, loads) in
        [("bakery_mutex", 0.0), ("bakery_mutex_bypass", 0.0), ("bakery_mutex_with", 1.0)]
    {
        for threads in [2, 1024] {
            let cost = cost(name, threads, Load::Uncontended);
            assert_eq!(
                (cost.loads, cost.stores, cost.read_modify_writes),
                (loads, 0.0, 2.0),
                "{name}"
            );
            assert_eq!((cost.fences, cost.with_caches), (0.0, 1.0), "{name}");
        }
    }
}

#[test]
fn no_lock_grows_faster_than_it_claims() {
    for subject in subjects() {
        for (load, claim) in [Load::Uncontended, Load::Contended].into_iter().zip(subject.claims) {
            let counted = [2, 8, 128]
                .map(|threads| (threads, count(subject, threads, load).expect("so many threads")));
            let seen = |cost: fn(&Cost) -> Option<f64>| {
                Growth::seen(&counted.map(|(threads, it)| (threads, cost(&it))))
            };
            let (name, load) = (subject.name, load.name());
            assert!(seen(|cost| Some(cost.with_caches)) <= claim.with_caches, "{name}, {load}");
            assert!(seen(|cost| Some(cost.accesses())) <= claim.with_caches, "{name}, {load}");
            assert!(seen(|cost| cost.without_caches) <= claim.without_caches, "{name}, {load}");
        }
    }
}

/// The same claims about other locks are wrong, and that shows.
#[test]
fn a_claim_of_too_little_is_noticed() {
    let seen = |name: &str, load, cost_of: fn(&Cost) -> Option<f64>| {
        let counted = [8, 128].map(|threads| (threads, cost_of(&cost(name, threads, load))));
        Growth::seen(&counted)
    };
    let with_caches: fn(&Cost) -> Option<f64> = |cost| Some(cost.with_caches);
    // A tree whose leaves were all scanned would grow like this.
    assert_eq!(seen("bakery", Load::Uncontended, with_caches), Growth::Linear);
    assert_eq!(seen("tournament", Load::Uncontended, with_caches), Growth::Logarithmic);
    // A word that is read by everybody.
    assert_eq!(seen("ticket", Load::Contended, with_caches), Growth::Linear);
    assert_eq!(seen("mcs", Load::Contended, with_caches), Growth::Constant);
    // Spinning on a word that lies elsewhere.
    assert_eq!(seen("ticket", Load::Contended, |cost| cost.without_caches), Growth::Unbounded);
    assert_eq!(seen("mcs", Load::Contended, |cost| cost.without_caches), Growth::Constant);
}

#[test]
fn counting_is_the_same_each_time() {
    let once = format!("{:?}", cost("bakery_mutex", 16, Load::Contended));
    assert_eq!(once, format!("{:?}", cost("bakery_mutex", 16, Load::Contended)));
}
