//! What each algorithm is, in a few sentences.

mod drafts;
mod permission;
mod token;

use std::sync::LazyLock;

pub use drafts::DRAFTS;

/// An algorithm in a few sentences.
///
/// `n` nodes, quorums of `K`, `T` one message delay and `Tmax` the longest, `m` nodes that
/// wait, a tree of diameter `D`, `k` entries at a time. No message is lost and no node dies.
#[derive(Clone, Copy, Debug)]
pub struct Story {
    /// Its name in the registry.
    pub algorithm: &'static str,
    /// Its name for people: "Ricart and Agrawala".
    pub title: &'static str,
    /// Where it is from: "1981".
    pub source: &'static str,
    /// How it works.
    pub how: &'static str,
    /// What an entry costs.
    pub cost: &'static str,
    /// What it guarantees, and what it needs for that.
    pub guarantee: &'static str,
}

/// Every algorithm of the registry, in its order.
pub static STORIES: LazyLock<Vec<Story>> =
    LazyLock::new(|| [permission::STORIES, token::STORIES].concat());

#[cfg(test)]
mod tests {
    use super::*;
    use exclusion::message::registry::ALGORITHMS;

    #[test]
    fn every_algorithm_has_a_story_in_the_order_of_the_registry() {
        let told: Vec<_> = STORIES.iter().map(|story| story.algorithm).collect();
        let shipped: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
        assert_eq!(told, shipped);
    }

    #[test]
    fn every_text_is_one_sentence_with_a_full_stop() {
        for story in STORIES.iter().chain(DRAFTS) {
            let name = story.algorithm;
            for text in [story.how, story.cost, story.guarantee] {
                assert!(text.ends_with('.') && !text.contains(". "), "{name}: {text}");
                assert!(!text.contains(['`', '<', '>', '*', '_']), "{name}: {text}");
                assert!(!text.contains("  "), "{name}: a line is broken badly: {text}");
            }
            for label in [story.title, story.source] {
                assert!(!label.is_empty() && !label.ends_with('.'), "{name}: {label}");
            }
        }
    }
}
