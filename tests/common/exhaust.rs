//! Explores a lock under faults to the end, as far as that goes.

use std::fmt;
use std::time::Instant;

use exclusion::message::Protocol;
use exclusion::message::check::{Check, Outcome};

/// How far an exploration went.
pub struct Explored {
    /// How many states there are; none if there are more than were to be looked at.
    pub states: Option<usize>,
    seconds: f32,
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.states {
            Some(states) => write!(f, "{states} states in {:.1} s", self.seconds),
            None => write!(f, "too many states after {:.1} s", self.seconds),
        }
    }
}

/// In every state at most as many are inside as may be, nothing is refused, and from every state
/// all that live and wait can be served. All of it if there are no more states than `most`.
///
/// # Panics
/// If something is wrong, with the way there; and if nothing befalls the nodes.
pub fn exhaust<P: Protocol>(name: &str, check: &Check<P>, most: usize) -> Explored {
    let began = Instant::now();
    let aftermath = check.aftermath(most);
    let seconds = began.elapsed().as_secs_f32();
    let Ok(aftermath) = aftermath else { return Explored { states: None, seconds } };
    if let Some(path) = aftermath.path {
        let actions: Vec<_> = path.into_actions().iter().map(ToString::to_string).collect();
        panic!("{name}: {}: {actions:#?}", aftermath.outcome);
    }
    assert_eq!(aftermath.outcome, Outcome::Harmless, "{name}");
    assert!(aftermath.happened, "{name}: nothing befalls the nodes");
    Explored { states: Some(aftermath.states), seconds }
}
