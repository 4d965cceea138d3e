//! What tables for people share: the label of an algorithm, and lines that fit.

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

/// How many columns what is printed for people may take.
pub const WIDE: usize = 80;

/// A text behind a head, in lines that fit; further ones begin where the first does.
pub fn wrapped(head: &str, text: &str) -> String {
    let indent = head.chars().count();
    let mut lines = vec![head.to_owned()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is one");
        let begun = last.chars().count() > indent;
        if begun && last.chars().count() + 1 + word.chars().count() > WIDE {
            lines.push(format!("{:indent$}{word}", ""));
        } else if begun {
            last.push(' ');
            last.push_str(word);
        } else {
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_fit() {
        let text = "word ".repeat(40);
        let lines = wrapped("  a name   ", text.trim());
        assert!(lines.lines().all(|line| line.chars().count() <= WIDE), "{lines}");
        assert!(lines.lines().skip(1).all(|line| line.starts_with("           word")), "{lines}");
        assert_eq!(lines.matches("word").count(), 40);
        assert_eq!(wrapped("- ", "one two"), "- one two\n");
    }
}
