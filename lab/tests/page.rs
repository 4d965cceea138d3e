//! The page that the tour writes, as a browser shows it: on a wide screen and on a narrow one.
//!
//! Needs Chromium: `chromium` on the path, or whatever the variable `CHROMIUM` names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize;

/// What the browser saw.
#[derive(Deserialize, Debug)]
struct Seen {
    width: u32,
    dark: bool,
    texts: usize,
    wrong: Vec<String>,
    figures: Vec<Figure>,
    /// What it said on its console.
    #[serde(skip)]
    console: Vec<String>,
}

#[derive(Deserialize, Debug)]
struct Figure {
    id: String,
    shown: bool,
    command: String,
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&folder).expect("there is room");
    folder
}

/// Whether it is light or dark outside.
#[derive(Clone, Copy, Debug)]
enum Sky {
    Day = 0,
    Night = 1,
}

fn look(name: &str, html: &str, width: u32) -> Seen {
    look_by(name, html, width, Sky::Day)
}

/// Opens a page in a frame that is so wide, and looks at it. A browser's own window cannot be as
/// narrow as a telephone.
fn look_by(name: &str, html: &str, width: u32, sky: Sky) -> Seen {
    let script = include_str!("browser/look.js");
    let (head, tail) = html.rsplit_once("</body>").expect("a whole page");
    let looked_at = format!("{head}<script>{script}</script></body>{tail}");
    let looked_at = looked_at.replace('&', "&amp;").replace('"', "&quot;");
    let path = folder().join(format!("{name}-{width}-{sky:?}.html"));
    let frame = format!(
        "<!doctype html><link rel=icon href='data:,'><body><iframe srcdoc=\"{looked_at}\" \
         style='border:0;width:{width}px;height:900px'></iframe></body>"
    );
    std::fs::write(&path, frame).expect("room");
    let profile = folder().join(format!("profile-{name}-{width}-{sky:?}"));
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let output = Command::new(&browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--hide-scrollbars", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", 1 - sky as u8))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--window-size=1400,1000")
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap_or_else(|error| {
            panic!("{browser} does not run ({error}): install Chromium, or name it with CHROMIUM")
        });
    let said = String::from_utf8_lossy(&output.stderr);
    let page = String::from_utf8_lossy(&output.stdout);
    let verdict = page.rsplit_once("<pre id=\"verdict\">").map(|(_, rest)| rest);
    let verdict = verdict.and_then(|rest| rest.split_once("</pre>")).map(|(json, _)| json);
    let verdict = verdict.unwrap_or_else(|| panic!("the browser did not look: {said}"));
    let verdict = verdict.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let mut seen: Seen = serde_json::from_str(&verdict).expect("what the script writes");
    seen.console =
        said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    seen
}

/// The page, made once: with little time for the locks, but all that it has.
fn page() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| {
        let path = folder().join("report.html");
        let output = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(["report", "--rounds", "1", "--seconds", "0.02", "--output"])
            .arg(&path)
            .output()
            .expect("the lab runs");
        assert!(output.status.success(), "{output:?}");
        std::fs::read_to_string(path).expect("it was written")
    })
}

fn assert_sound(seen: &Seen, width: u32) {
    assert_eq!(seen.width, width);
    assert!(seen.texts > 1000, "{} texts", seen.texts);
    assert!(seen.wrong.is_empty(), "at {width}: {:#?}", seen.wrong);
    assert!(seen.console.is_empty(), "at {width}: {:#?}", seen.console);
    let figures = [
        "uncontended",
        "throughput-short",
        "waits-short",
        "throughput-long",
        "waits-long",
        "frontier",
        "frontier-busy",
        "messages-over-nodes",
        "messages-over-load",
        "synchronization-delay",
        "load",
        "verification",
        "refuted",
        "counterexample",
        "comparison",
    ];
    let stories = names().map(|name| format!("story-{name}"));
    for id in figures.map(str::to_owned).into_iter().chain(stories) {
        let figure = seen.figures.iter().find(|figure| figure.id == id);
        assert!(figure.is_some_and(|figure| figure.shown), "at {width}: no figure '{id}'");
    }
    for figure in &seen.figures {
        assert!(figure.command.starts_with("cargo lab "), "{figure:?}");
    }
}

#[test]
fn everything_is_there_and_nothing_overlaps_on_a_wide_screen() {
    assert_sound(&look("report", page(), 1280), 1280);
}

#[test]
fn everything_is_there_and_nothing_overlaps_on_a_narrow_screen() {
    assert_sound(&look("report", page(), 400), 400);
}

#[test]
fn the_page_needs_no_network_and_no_scripts() {
    for outside in ["<script", "src=", "@import", "url(http", "<iframe"] {
        assert!(!page().contains(outside), "{outside}");
    }
}

/// How many lines of life, stays inside and messages a picture has.
fn counts(picture: &str) -> [usize; 3] {
    ["life", "inside", "message"]
        .map(|class| picture.matches(&format!("class=\"{class}\"")).count())
}

#[test]
fn the_commands_of_the_diagrams_draw_them() {
    let folder = folder().join("drawn");
    std::fs::create_dir_all(&folder).expect("there is room");
    let mut drawn = 0;
    for figure in page().split("<figure id=\"").skip(1) {
        let words = figure.split("<span>").skip(1).map(|it| it.split_once('<').expect("markup").0);
        let words: Vec<_> = words.skip_while(|word| *word != "diagram").collect();
        let [_, algorithm, ..] = words[..] else { continue };
        let lab = Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(&words)
            .current_dir(&folder)
            .output()
            .expect("the lab runs");
        assert!(lab.status.success(), "{words:?}: {lab:?}");
        let picture = std::fs::read_to_string(folder.join(format!("{algorithm}.svg")));
        let [life, inside, message] = counts(figure);
        // One more stay inside stands in the legend, which is elsewhere on the page.
        assert_eq!(
            counts(&picture.expect("it was drawn")),
            [life, inside + 1, message],
            "{words:?}"
        );
        if let Some(nodes) = words.iter().position(|word| *word == "--nodes") {
            assert_eq!(words[nodes + 1], life.to_string(), "a line per node");
        }
        drawn += 1;
    }
    assert_eq!(drawn, names().count() + 1);
}

#[test]
fn it_can_be_read_by_night() {
    let seen = look_by("report", page(), 1280, Sky::Night);
    assert!(seen.dark, "the browser does not know that it is night");
    assert_sound(&seen, 1280);
}

/// What the look must find: it is worth nothing if it cannot.
#[test]
fn a_bad_page_is_seen_to_be_bad() {
    let bad = |body: &str| {
        format!(
            "<!doctype html><html><head><link rel=icon href='data:,'></head><body>{body}</body></html>"
        )
    };
    let seen = look("fine", &bad("<p>one</p><p>other</p>"), 400);
    assert!(seen.wrong.is_empty() && seen.console.is_empty(), "{seen:?}");

    let svg =
        "<svg width=200 height=50><text x=10 y=20>one</text><text x=15 y=22>other</text></svg>";
    assert_eq!(look("overlap", &bad(svg), 400).wrong, ["overlap: 'one' and 'other'"]);

    let svg = "<svg width=200 height=50><text x=190 y=20>a long label</text></svg>";
    assert_eq!(look("cut", &bad(svg), 400).wrong, ["cut off: 'a long label'"]);

    let pale = "<p style='color:#ddd;background:#fff'>pale</p>";
    assert_eq!(look("pale", &bad(pale), 400).wrong, ["hard to read: 'pale'"]);

    let wide = "<div style='width:500px'>wide</div>";
    assert!(look("wide", &bad(wide), 400).wrong[0].starts_with("wider than the screen"));

    let missing = "<img src='no-such-picture.png'><script>console.error('something')</script>";
    assert!(!look("console", &bad(missing), 400).console.is_empty());
}

/// The names of all algorithms.
fn names() -> impl Iterator<Item = &'static str> {
    exclusion::message::registry::ALGORITHMS.iter().map(|algorithm| algorithm.name)
}
