//! Draws: small runs as space-time diagrams and as logs for ShiViz, figures as charts.

pub mod chart;
pub mod diagram;
mod drawing;
mod fates;
pub mod labels;
mod legend;
pub mod palette;
pub mod recording;
pub mod recovery;
pub mod scene;
pub mod shiviz;
pub mod sketch;
pub mod text;
pub mod violation;
