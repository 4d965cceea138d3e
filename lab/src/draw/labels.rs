//! Names at the lines and dots of a chart, none upon another.

use super::chart::Series;

/// A name at a place of the chart, in the units of its axes.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// What it names.
    pub at: (f64, f64),
    /// The name.
    pub text: String,
    /// The number of its colour.
    pub colour: usize,
}

/// The names on a chart.
#[derive(Clone, PartialEq, Debug)]
pub enum Labels {
    /// There are none.
    None,
    /// At the right ends of lines, in the margin: moved up or down until none touches another.
    Ends(Vec<Label>),
    /// Beside dots, the first ones first. A name for which there is no room is left out.
    Beside(Vec<Label>),
}

/// A place on paper: left, top, right, bottom.
type Area = [i32; 4];

const TALL: i32 = 16;

/// Wide enough for any letters of this size.
fn wide(text: &str) -> i32 {
    9 * text.chars().count() as i32
}

fn touch(one: &Area, other: &Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

impl Labels {
    /// How much room they need at the right.
    pub(super) fn room(&self) -> u32 {
        match self {
            Self::Ends(labels) => {
                let widest = labels.iter().map(|label| wide(&label.text)).max().unwrap_or(0);
                24 + widest as u32
            }
            Self::None | Self::Beside(_) => 16,
        }
    }

    /// Where each stands: the left end of its top.
    pub(super) fn placed(
        &self,
        on_paper: impl Fn((f64, f64)) -> (i32, i32),
        series: &[Series],
        size: (i32, i32),
    ) -> Vec<(&Label, (i32, i32))> {
        match self {
            Self::None => Vec::new(),
            Self::Ends(labels) => spread(labels, on_paper, size.1),
            Self::Beside(labels) => {
                let dots = series.iter().flat_map(|series| &series.points);
                let dots = dots.map(|&point| on_paper(point));
                let dots: Vec<Area> = dots.map(|(x, y)| [x - 6, y - 6, x + 6, y + 6]).collect();
                beside(labels, on_paper, dots, size)
            }
        }
    }
}

fn spread(
    labels: &[Label],
    on_paper: impl Fn((f64, f64)) -> (i32, i32),
    height: i32,
) -> Vec<(&Label, (i32, i32))> {
    let mut ends: Vec<(&Label, (i32, i32))> = labels
        .iter()
        .map(|label| {
            let (x, y) = on_paper(label.at);
            (label, (x + 8, y - TALL / 2))
        })
        .collect();
    ends.sort_by_key(|(_, (_, y))| *y);
    // Down, where they are too close; and up again, if they would leave the paper.
    for index in 1..ends.len() {
        let least = ends[index - 1].1.1 + TALL;
        ends[index].1.1 = ends[index].1.1.max(least);
    }
    let mut most = height - TALL;
    for (_, (_, y)) in ends.iter_mut().rev() {
        *y = (*y).min(most);
        most = *y - TALL;
    }
    ends
}

fn beside(
    labels: &[Label],
    on_paper: impl Fn((f64, f64)) -> (i32, i32),
    mut taken: Vec<Area>,
    (width, height): (i32, i32),
) -> Vec<(&Label, (i32, i32))> {
    let mut placed = Vec::new();
    for label in labels {
        let ((x, y), wide) = (on_paper(label.at), wide(&label.text));
        let corners = [
            (x + 8, y - TALL / 2),
            (x - 8 - wide, y - TALL / 2),
            (x - wide / 2, y - 8 - TALL),
            (x - wide / 2, y + 8),
        ];
        let area = |(x, y): (i32, i32)| [x, y, x + wide, y + TALL];
        // Not upon the axes.
        let is_free = |area: &Area| {
            let fits = area[0] > 70 && area[2] < width - 4 && area[1] > 4 && area[3] < height - 50;
            fits && !taken.iter().any(|other| touch(area, other))
        };
        if let Some(corner) = corners.into_iter().find(|corner| is_free(&area(*corner))) {
            taken.push(area(corner));
            placed.push((label, corner));
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::chart::Mark;

    fn label(x: f64, y: f64) -> Label {
        Label { at: (x, y), text: "a name".to_owned(), colour: 0 }
    }

    fn area((label, (x, y)): &(&Label, (i32, i32))) -> Area {
        [*x, *y, x + wide(&label.text), y + TALL]
    }

    fn none_touches(placed: &[(&Label, (i32, i32))]) {
        for (index, one) in placed.iter().enumerate() {
            for other in &placed[index + 1..] {
                assert!(!touch(&area(one), &area(other)), "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn ends_are_spread_and_all_are_there() {
        let labels = Labels::Ends([1.0, 1.0, 2.0, 99.0, 100.0].map(|y| label(50.0, y)).to_vec());
        let placed = labels.placed(|(x, y)| (x as i32, 100 - y as i32), &[], (200, 100));
        assert_eq!(placed.len(), 5);
        none_touches(&placed);
        assert!(placed.iter().all(|(_, (_, y))| (-TALL..=100 - TALL).contains(y)), "{placed:?}");
    }

    #[test]
    fn a_name_stands_beside_its_dot_or_nowhere() {
        let points = vec![(100.0, 100.0), (104.0, 102.0), (300.0, 200.0)];
        let labels = Labels::Beside(points.iter().map(|&(x, y)| label(x, y)).collect());
        let series = [Series { colour: 0, mark: Mark::Dots, points: points.clone() }];
        let on_paper = |(x, y): (f64, f64)| (x as i32, y as i32);
        let placed = labels.placed(on_paper, &series, (400, 400));
        none_touches(&placed);
        assert!(placed.len() >= 2, "{placed:?}");
        for it in &placed {
            for &(x, y) in &points {
                let dot = [x as i32 - 3, y as i32 - 3, x as i32 + 3, y as i32 + 3];
                assert!(!touch(&area(it), &dot), "{it:?} upon {dot:?}");
            }
        }
        // Five dots on one place leave room for four names at most.
        let crowd = Labels::Beside(vec![label(200.0, 200.0); 9]);
        assert!(crowd.placed(on_paper, &[], (400, 400)).len() <= 4);
    }
}
