//! The names that commands take: as the registry has them, or as the types are called.

use std::convert::Infallible;

use exclusion::message::registry::{ALGORITHMS, ELECTIONS};
use lab::explore::broken::BROKEN;
use lab::explore::elected::ELECTED;
use lab::explore::scope::RegisterLock;
use lab::measure::contention::measurables;

fn known() -> impl Iterator<Item = &'static str> {
    let algorithms = ALGORITHMS.iter().map(|algorithm| algorithm.name);
    let elections = ELECTIONS.iter().map(|election| election.name);
    let locks = RegisterLock::ALL.into_iter().map(RegisterLock::name);
    let started = ELECTED.iter().copied();
    let measured = measurables().into_iter().map(|lock| lock.name);
    let sound = algorithms.chain(elections).chain(started).chain(locks).chain(measured);
    sound.chain(BROKEN.iter().map(|broken| broken.name))
}

/// Without what differs between `RicartAgrawala` and `ricart_agrawala`.
fn bare(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// The name as the commands know it, also where it was written in CamelCase. An unknown one stays
/// as it is.
#[allow(clippy::unnecessary_wraps, reason = "a parser of arguments may fail")]
pub(super) fn name(text: &str) -> Result<String, Infallible> {
    let meant = known().find(|known| *known == text).or_else(|| {
        // The bakery is `BakeryMutex` to those who use it, and `BlackWhiteBakery` is a lock too.
        let text = bare(text);
        let short = text.strip_suffix("mutex").or_else(|| text.strip_suffix("bakery"));
        known().find(|known| bare(known) == text || Some(bare(known).as_str()) == short)
    });
    Ok(meant.map_or_else(|| text.to_owned(), str::to_owned))
}

/// The known name that is nearest to an unknown one, as a question; nothing if none is near.
pub(super) fn did_you_mean(unknown: &str) -> String {
    let nearest = known().map(|known| (distance(&bare(unknown), &bare(known)), known)).min();
    match nearest {
        Some((changes, known)) if changes <= 1 + unknown.len() / 4 => {
            format!("did you mean '{known}'? ")
        }
        _ => String::new(),
    }
}

/// How many letters must be put in, left out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for column in 0..other.len() {
            let changed = diagonal + usize::from(letter != other[column]);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_and_a_name_are_the_same() {
        for (text, known) in [
            ("RicartAgrawala", "ricart_agrawala"),
            ("Bully", "bully"),
            ("naimi-trehel", "naimi_trehel"),
            ("Maekawa1985", "maekawa_1985"),
            ("BakeryMutex", "bakery"),
            ("BlackWhiteBakery", "black_white"),
            ("Tournament", "tournament"),
            ("nosuch", "nosuch"),
        ] {
            assert_eq!(name(text), Ok(known.to_owned()));
        }
    }

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        assert_eq!(did_you_mean("lamprot"), "did you mean 'lamport'? ");
        assert_eq!(did_you_mean("ricart_agarwala"), "did you mean 'ricart_agrawala'? ");
        assert_eq!(did_you_mean("bullly"), "did you mean 'bully'? ");
        assert_eq!(did_you_mean("paxos"), "");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
