//! Whether the machine has time for a measurement.

use std::path::Path;

/// What to tell somebody who measures on a machine with more to do than it has cores. None where
/// it has time, or where nobody can say.
pub fn warning() -> Option<String> {
    let load = load_in(Path::new("/proc/loadavg"))?;
    let cores = std::thread::available_parallelism().ok()?.get();
    warning_at(load, cores)
}

/// The threads that ran or wanted to run, on average over the last minute.
fn load_in(file: &Path) -> Option<f64> {
    std::fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()
}

fn warning_at(load: f64, cores: usize) -> Option<String> {
    (load > cores as f64).then(|| {
        let plural = if cores == 1 { "" } else { "s" };
        format!(
            "the machine is busy (load {load:.1}, {cores} core{plural}): \
             measure again when it is not, or read only the order of the figures"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_above_the_cores_is_told_and_no_other() {
        assert_eq!(warning_at(2.0, 2), None);
        assert_eq!(warning_at(0.1, 1), None);
        assert!(warning_at(2.1, 2).is_some_and(|it| it.contains("load 2.1, 2 cores")));
        assert!(warning_at(1.5, 1).is_some_and(|it| it.contains("1 core)")));
    }

    #[test]
    fn the_load_is_the_first_number_of_the_file() {
        let file = std::env::temp_dir().join(format!("lab-loadavg-{}", std::process::id()));
        std::fs::write(&file, "3.25 1.00 0.50 2/345 6789\n").expect("there is room");
        assert_eq!(load_in(&file), Some(3.25));
        std::fs::write(&file, "").expect("there is room");
        assert_eq!(load_in(&file), None);
        std::fs::remove_file(&file).expect("it is ours");
        assert_eq!(load_in(&file), None);
    }
}
