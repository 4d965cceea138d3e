//! How often the calling thread was switched off its core.

/// Switches of this thread so far, of its own will or not. `None` where the system does not say.
pub(super) fn of_this_thread() -> Option<u64> {
    counted_in(&std::fs::read_to_string("/proc/thread-self/status").ok()?)
}

/// The sum of `voluntary_ctxt_switches` and `nonvoluntary_ctxt_switches`.
fn counted_in(status: &str) -> Option<u64> {
    let counts = status.lines().filter_map(|line| {
        let (name, count) = line.split_once(':')?;
        name.ends_with("voluntary_ctxt_switches").then(|| count.trim().parse::<u64>().ok())
    });
    let counts: Option<Vec<u64>> = counts.collect();
    counts.filter(|counts| counts.len() == 2).map(|counts| counts.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_switches_are_counted() {
        let status = "Name:\tlab\nvoluntary_ctxt_switches:\t30\nnonvoluntary_ctxt_switches:\t4\nThreads: 1\n";
        assert_eq!(counted_in(status), Some(34));
        assert_eq!(counted_in("Name:\tlab\nvoluntary_ctxt_switches:\t30\n"), None);
        assert_eq!(
            counted_in("voluntary_ctxt_switches:\tmany\nnonvoluntary_ctxt_switches:\t4\n"),
            None
        );
    }

    #[test]
    fn a_thread_that_sleeps_is_switched_off() {
        let Some(before) = of_this_thread() else { return };
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(of_this_thread() > Some(before));
    }
}
