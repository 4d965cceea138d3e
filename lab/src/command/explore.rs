//! An exploration that shows how far it is.

use indicatif::{ProgressBar, ProgressStyle};
use lab::explore::exploration::{Explorable, Explored, Explorer, ModelVisitor};

/// Explores a model, with progress.
#[derive(Clone, Copy)]
pub(crate) struct Explore {
    /// Gives up after this many states: a billion, unless it is said.
    pub(crate) most_states: usize,
}

impl Default for Explore {
    fn default() -> Self {
        Self { most_states: 1_000_000_000 }
    }
}

impl ModelVisitor for Explore {
    type Output = Explored;

    fn visit<M>(self, name: &'static str, model: M) -> Explored
    where
        M: Explorable<State: Send + Sync, Action: Send + Sync> + Send + Sync + 'static,
    {
        // Draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{msg} {human_pos} states").expect("a sound template"),
        );
        let progress = |states: usize, depth: usize| {
            bar.set_message(format!("{name}, depth {depth}:"));
            bar.set_position(states as u64);
        };
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let explorer = Explorer { threads, most_states: self.most_states, progress: &progress };
        let explored = explorer.explore(name, model);
        bar.finish_and_clear();
        explored
    }
}
