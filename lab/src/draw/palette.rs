//! Colours that can be told apart on white and on black.

/// One colour per series, or per kind of message.
pub const COLOURS: [&str; 10] = [
    "#2f6fde", "#d6455d", "#2e9e5b", "#a23fbf", "#b5651d", "#0f9aa8", "#c29a00", "#8a8f98",
    "#e8743b", "#6f7d1c",
];

/// The colour with this number; they repeat.
pub fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}
