//! What the signs of a space-time diagram mean.

use super::diagram::escape;
use super::fates::diamond;
use super::palette::colour;

/// The kinds of messages and the other signs, in rows that fit.
pub(super) struct Legend {
    entries: Vec<(f64, f64, Sign, String)>,
    pub(super) height: f64,
}

/// A sign of the picture.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    Message(usize),
    Inside,
    Asks,
    Delayed,
    Leads,
    Follows,
    Token,
    Paused,
    Cut,
    Suspects,
    Trusts,
    Epoch,
}

/// What a picture shows beside messages.
pub(super) struct Shows {
    pub(super) election: bool,
    pub(super) token: bool,
    /// Of what befell the nodes, and what came of it.
    pub(super) fates: Vec<(Sign, &'static str)>,
}

impl Legend {
    pub(super) fn new(kinds: &[(&str, bool)], width: f64, shows: Shows) -> Self {
        let messages =
            kinds.iter().enumerate().map(|(index, kind)| (Sign::Message(index), name_of(*kind)));
        let of_locks = [
            (Sign::Asks, "wants in"),
            (Sign::Inside, "inside"),
            (Sign::Delayed, "answer held back"),
        ];
        let of_elections = [(Sign::Asks, "calls an election")];
        let mut others: Vec<_> = if shows.election { of_elections.into() } else { of_locks.into() };
        if shows.token {
            others.push((Sign::Token, "has the token"));
        }
        others.extend(shows.fates);
        let others: Vec<_> =
            others.into_iter().map(|(sign, text): (Sign, &str)| (sign, text.to_owned())).collect();
        let (mut x, mut y) = (16.0, 44.0);
        let mut entries = Vec::new();
        for (sign, text) in messages.chain(others) {
            // Wide enough for any letters of this size.
            let wide = 44.0 + 9.5 * text.chars().count() as f64;
            if x + wide > width && x > 16.0 {
                (x, y) = (16.0, y + 20.0);
            }
            entries.push((x, y, sign, text));
            x += wide;
        }
        Self { entries, height: y - 24.0 }
    }

    pub(super) fn draw(&self, line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        for (x, y, sign, text) in &self.entries {
            let middle = y - 4.5;
            match sign {
                Sign::Message(kind) => line(format_args!(
                    r##"<line x1="{x}" x2="{:.1}" y1="{middle}" y2="{middle}" stroke="{}" stroke-width="2" marker-end="url(#head{kind})"/>"##,
                    x + 24.0,
                    colour(*kind)
                )),
                Sign::Inside => line(format_args!(
                    r#"<rect class="inside" x="{x}" y="{:.1}" width="24" height="12"/>"#,
                    middle - 6.0
                )),
                Sign::Token => line(format_args!(
                    r#"<line class="token" x1="{x}" x2="{:.1}" y1="{middle}" y2="{middle}"/>"#,
                    x + 24.0
                )),
                Sign::Asks => line(format_args!(
                    r#"<circle class="asks" cx="{:.1}" cy="{middle}" r="4"/>"#,
                    x + 12.0
                )),
                Sign::Leads => {
                    line(format_args!(r#"<path class="leads" d="{}"/>"#, star(x + 12.0, middle)))
                }
                Sign::Follows => line(format_args!(
                    r#"<circle class="follows" cx="{:.1}" cy="{middle}" r="5"/>"#,
                    x + 12.0
                )),
                Sign::Paused => line(format_args!(
                    r#"<line class="paused" x1="{x}" x2="{:.1}" y1="{middle}" y2="{middle}"/>"#,
                    x + 24.0
                )),
                Sign::Cut => line(format_args!(
                    r#"<rect class="cut" x="{x}" y="{:.1}" width="24" height="16"/>"#,
                    middle - 8.0
                )),
                Sign::Suspects => line(format_args!(
                    r#"<path class="suspects" d="{}"/>"#,
                    diamond(x + 12.0, middle)
                )),
                Sign::Trusts => line(format_args!(
                    r#"<path class="trusts" d="{}"/>"#,
                    diamond(x + 12.0, middle)
                )),
                Sign::Epoch => line(format_args!(
                    r#"<path class="epoch" d="M{:.1} {:.1}v14"/>"#,
                    x + 12.0,
                    middle - 7.0
                )),
                Sign::Delayed => line(format_args!(
                    r#"<path class="delayed" d="M{:.1} {:.1}l8 8m0 -8l-8 8"/>"#,
                    x + 8.0,
                    middle - 4.0
                )),
            }
            line(format_args!(r#"<text x="{:.1}" y="{y}">{}</text>"#, x + 30.0, escape(text)));
        }
    }
}

/// A star of five points.
pub(super) fn star(x: f64, y: f64) -> String {
    let point = |corner: u32| {
        let radius = if corner.is_multiple_of(2) { 10.0 } else { 4.0 };
        let angle = std::f64::consts::PI * (f64::from(corner) / 5.0 - 0.5);
        format!("{:.1} {:.1}", x + radius * angle.cos(), y + radius * angle.sin())
    };
    format!("M{}z", (0..10).map(point).collect::<Vec<_>>().join("L"))
}

/// How a kind of message is called.
pub(super) fn name_of(kind: (&str, bool)) -> String {
    let (name, late) = kind;
    if late { format!("{name}, held back") } else { name.to_owned() }
}
