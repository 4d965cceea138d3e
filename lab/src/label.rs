//! The label of an algorithm in tables for people.

/// Its name, with k where several may be inside at a time.
///
/// ```
/// assert_eq!(lab::label::label("raymond_k", 2), "raymond_k, k = 2");
/// assert_eq!(lab::label::label("lamport", 1), "lamport");
/// ```
pub fn label(algorithm: &str, entries_at_a_time: usize) -> String {
    match entries_at_a_time {
        1 => algorithm.to_owned(),
        k => format!("{algorithm}, k = {k}"),
    }
}
