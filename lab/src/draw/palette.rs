//! Colours that can be told apart on white and on black.

/// One colour per kind of message, and the first ones of series.
pub const COLOURS: [&str; 10] = [
    "#2f6fde", "#d6455d", "#2e9e5b", "#a23fbf", "#b5651d", "#0f9aa8", "#c29a00", "#8a8f98",
    "#e8743b", "#6f7d1c",
];

/// Further ones of series: there are more locks than kinds of messages.
const FURTHER: [&str; 2] = ["#e0559a", "#7a5cc0"];

/// The colour with this number; they repeat.
pub fn colour(index: usize) -> &'static str {
    let index = index % (COLOURS.len() + FURTHER.len());
    if index < COLOURS.len() { COLOURS[index] } else { FURTHER[index - COLOURS.len()] }
}
