//! Charts as SVG, by plotters: lines, points and bars over two axes.
//!
//! Lines and letters are black and grids are of one grey, so that the style sheet of a page can
//! replace both. Fonts are not known here, so labels are placed far enough apart for any.

use std::error::Error;
use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::labels::Labels;
use super::palette::colour;

/// What a chart's grid is drawn in.
pub const GRID: &str = "#DDDDDD";

/// An axis: what it shows, from where to where, and where it is marked.
#[derive(Clone, Debug)]
pub struct Axis {
    label: &'static str,
    scale: fn(f64) -> f64,
    /// In scaled units, as are the marks.
    range: (f64, f64),
    marks: Vec<(f64, String)>,
}

impl Axis {
    /// From 0 to a little more than the largest value, evenly.
    pub fn linear(label: &'static str, values: impl IntoIterator<Item = f64>) -> Self {
        let most = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|digit| digit * 10_f64.powf((most / 4.0).log10().floor()))
            .into_iter()
            .find(|step| step * 5.0 >= most)
            .expect("ten times the power is enough");
        let marks = (0..=5).map(|index| f64::from(index) * step);
        let range = (0.0, (most * 1.05).max(step));
        let marks = marks.filter(|mark| *mark <= range.1).map(|mark| (mark, number(mark)));
        Self { label, scale: |value| value, range, marks: marks.collect() }
    }

    /// By powers of ten, each written by `write`.
    pub fn powers_of_ten(
        label: &'static str,
        values: impl IntoIterator<Item = f64>,
        write: fn(f64) -> String,
    ) -> Self {
        let exponents = values.into_iter().filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) = exponents.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
            (low.min(it), high.max(it))
        });
        let (low, high) = if low <= high { (low.floor(), high.ceil()) } else { (0.0, 1.0) };
        let high = high.max(low + 1.0);
        let every = if high - low > 6.0 { 2 } else { 1 };
        let marks = (low as i32..=high as i32).step_by(every);
        let marks = marks.map(|exponent| (f64::from(exponent), write(10_f64.powi(exponent))));
        Self { label, scale: f64::log10, range: (low, high), marks: marks.collect() }
    }

    /// At these values, as far apart as their logarithms are.
    pub fn doubling(label: &'static str, values: &[usize]) -> Self {
        let marks: Vec<_> =
            values.iter().map(|&value| ((value as f64).log2(), value.to_string())).collect();
        let range = (marks[0].0 - 0.15, marks[marks.len() - 1].0 + 0.15);
        Self { label, scale: f64::log2, range, marks }
    }

    /// At these values, with these labels.
    pub fn named(label: &'static str, marks: Vec<(f64, String)>) -> Self {
        let range = (marks[0].0 - 0.5, marks[marks.len() - 1].0 + 0.5);
        Self { label, scale: |value| value, range, marks }
    }

    fn scaled(&self, value: f64) -> f64 {
        (self.scale)(value).clamp(self.range.0, self.range.1)
    }

    /// The same with at most this many marks.
    fn thinned(&self, most: usize) -> Self {
        let every = self.marks.len().div_ceil(most.max(1)).max(1);
        Self { marks: self.marks.iter().step_by(every).cloned().collect(), ..self.clone() }
    }
}

/// To plotters an axis is a range of scaled values.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let part = (value - self.range.0) / (self.range.1 - self.range.0);
        limit.0 + (f64::from(limit.1 - limit.0) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // The grid is asked for twice: its bold lines are at the marks, and it has no light ones.
        let wanted = if hint.weight().allow_light_points() { 0 } else { self.marks.len() };
        self.marks.iter().take(wanted).map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.0..self.range.1
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let marked = self.marks.iter().find(|(mark, _)| mark == value);
        marked.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

/// A number without needless digits.
pub fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A line with a dot at each value.
    Line,
    /// A broken line.
    Dashed,
    /// Dots alone.
    Dots,
    /// Dots that are hollow.
    Rings,
    /// Bars from the bottom, one unit apart.
    Bars,
    /// Bars from the left, one unit apart.
    Rows,
}

/// Some values to draw.
#[derive(Clone, Debug)]
pub struct Series {
    /// The number of its colour.
    pub colour: usize,
    /// How it is drawn.
    pub mark: Mark,
    /// The values.
    pub points: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What it shows.
    pub series: Vec<Series>,
}

/// The size of letters, in pixels.
const LETTERS: i32 = 15;

impl Chart {
    /// The chart as SVG, in this many pixels.
    pub fn svg(&self, width: u32, height: u32) -> String {
        self.labelled(width, height, &Labels::None)
    }

    /// The chart as SVG, with names at its lines or dots.
    pub fn labelled(&self, width: u32, height: u32, labels: &Labels) -> String {
        let mut svg = String::new();
        self.draw(&mut svg, width, height, labels).expect("a string takes all that is drawn");
        svg
    }

    fn draw(
        &self,
        svg: &mut String,
        width: u32,
        height: u32,
        labels: &Labels,
    ) -> Result<(), Box<dyn Error>> {
        let root = SVGBackend::with_string(svg, (width, height)).into_drawing_area();
        let widest = self.y.marks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1);
        let left = 30 + 9 * widest as u32;
        let x = self.x.thinned((width.saturating_sub(left + labels.room()) / 46) as usize);
        let y = self.y.thinned((height.saturating_sub(60) / 28) as usize);
        let mut chart = ChartBuilder::on(&root)
            .margin_top(12)
            .margin_right(labels.room())
            .margin_left(6)
            .x_label_area_size(44)
            .y_label_area_size(left)
            .build_cartesian_2d(x, y)?;
        let grid = hex(GRID);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(grid)
            .axis_style(BLACK)
            .label_style(("sans-serif", LETTERS))
            .axis_desc_style(("sans-serif", LETTERS))
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .draw()?;
        for series in &self.series {
            let ink = hex(colour(series.colour));
            let points = series.points.iter().filter(|(_, y)| y.is_finite());
            let points: Vec<_> =
                points.map(|&(x, y)| (self.x.scaled(x), self.y.scaled(y))).collect();
            match series.mark {
                Mark::Line => {
                    let line = LineSeries::new(points, ink.stroke_width(2)).point_size(3);
                    chart.draw_series(line)?;
                }
                Mark::Dashed => {
                    let line = DashedLineSeries::new(points, 6, 5, ink.stroke_width(2));
                    chart.draw_series(line)?;
                }
                Mark::Dots => {
                    let dots = points.into_iter().map(|point| Circle::new(point, 4, ink.filled()));
                    chart.draw_series(dots)?;
                }
                Mark::Rings => {
                    let ring = ink.stroke_width(2);
                    let rings = points.into_iter().map(|point| Circle::new(point, 4, ring));
                    chart.draw_series(rings)?;
                }
                Mark::Bars => {
                    let bottom = self.y.range.0;
                    let bars = points.into_iter().map(|(x, y)| {
                        Rectangle::new([(x - 0.4, bottom), (x + 0.4, y)], ink.filled())
                    });
                    chart.draw_series(bars)?;
                }
                Mark::Rows => {
                    let left = self.x.range.0;
                    let rows = points.into_iter().map(|(x, y)| {
                        Rectangle::new([(left, y - 0.35), (x, y + 0.35)], ink.filled())
                    });
                    chart.draw_series(rows)?;
                }
            }
        }
        let placed = labels.placed(
            |(x, y)| chart.backend_coord(&(self.x.scaled(x), self.y.scaled(y))),
            &self.series,
            (width as i32, height as i32),
        );
        for (label, place) in placed {
            let ink = hex(colour(label.colour));
            root.draw(&Text::new(
                label.text.clone(),
                place,
                ("sans-serif", LETTERS).into_font().color(&ink),
            ))?;
        }
        root.present()?;
        drop(chart);
        drop(root);
        Ok(())
    }
}

fn hex(colour: &str) -> RGBColor {
    let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).expect("two digits");
    RGBColor(part(1), part(3), part(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        let texts = |axis: Axis| axis.marks.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(Axis::linear("", [7.3])), ["0", "2", "4", "6"]);
        assert_eq!(texts(Axis::linear("", [45.0, 12.0])), ["0", "10", "20", "30", "40"]);
        assert_eq!(texts(Axis::linear("", [])), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let write = |value: f64| format!("{value}");
        assert_eq!(
            texts(Axis::powers_of_ten("", [20.0, 3000.0], write)),
            ["10", "100", "1000", "10000"]
        );
        assert_eq!(texts(Axis::doubling("", &[1, 2, 8])), ["1", "2", "8"]);
    }

    #[test]
    fn a_chart_has_its_labels_and_is_the_same_each_time() {
        let chart = Chart {
            x: Axis::doubling("threads", &[1, 2, 4]),
            y: Axis::linear("entries", [3.0]),
            series: vec![Series {
                colour: 0,
                mark: Mark::Line,
                points: vec![(1.0, 3.0), (4.0, 1.0)],
            }],
        };
        let svg = chart.svg(400, 300);
        assert!(svg.starts_with("<svg") && svg.contains("threads") && svg.contains("entries"));
        assert!(svg.contains(&colour(0).to_uppercase()), "{svg}");
        // What a style sheet replaces by night.
        assert!(svg.contains("stroke=\"#000000\"") && svg.contains(&format!("stroke=\"{GRID}\"")));
        assert_eq!(svg, chart.svg(400, 300));
    }
}
