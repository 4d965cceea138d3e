//! The page that the tour writes, as a browser shows it: on a wide screen and on a narrow one.
//!
//! Needs Chromium: `chromium` on the path, or whatever the variable `CHROMIUM` names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use exclusion::message::registry::ELECTIONS;
use exclusion::message::{Machine, RicartAgrawala, Trace, facts, replay};
use lab::draw::recovery;
use lab::draw::scene::Scene;
use lab::explore::broken::BROKEN;
use lab::report::COUNTEREXAMPLE;
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
    /// How many buttons there are to step through it.
    steps: usize,
}

/// What there is to see when a run is stepped through.
#[derive(Deserialize, Debug)]
struct Stepped {
    whole: Moment,
    steps: Vec<Moment>,
    label: String,
    back: Moment,
    escaped: Moment,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Moment {
    count: String,
    says: String,
    hidden: bool,
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    later: usize,
    shown: usize,
    now: usize,
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

fn look_by(name: &str, html: &str, width: u32, sky: Sky) -> Seen {
    let (json, console) = browse(name, html, include_str!("browser/look.js"), width, sky);
    let mut seen: Seen = serde_json::from_str(&json).expect("what the script writes");
    seen.console = console;
    seen
}

/// Opens a page in a frame that is so wide, and runs a script in it that writes down what it sees.
/// A browser's own window cannot be as narrow as a telephone. Returns that, and what the browser
/// said on its console.
fn browse(name: &str, html: &str, script: &str, width: u32, sky: Sky) -> (String, Vec<String>) {
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
    let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (verdict, console)
}

/// The page with everything unfolded.
fn unfolded() -> String {
    page().replace("<details>", "<details open>")
}

/// The page as a browser shows it that runs no scripts.
fn without_scripts(html: &str) -> String {
    let mut parts = html.split("<script");
    let first = parts.next().expect("there is always a first").to_owned();
    let rest = parts.map(|part| part.split_once("</script>").expect("it ends").1);
    rest.fold(first, |page, part| page + part)
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

/// What is beside the algorithms, in the order of the page.
const FIGURES: [&str; 17] = [
    "counterexample",
    "frontier",
    "frontier-busy",
    "shares",
    "throughput-short",
    "throughput-long",
    "uncontended",
    "waits-short",
    "waits-long",
    "messages-side-by-side",
    "messages-over-nodes",
    "messages-over-load",
    "synchronization-delay",
    "load",
    "faults",
    "verification",
    "refuted",
];

/// Every run on the page: stories, elections, recoveries, counterexamples.
fn runs() -> impl Iterator<Item = String> {
    let elections = ELECTIONS.iter().map(|election| election.name);
    let stories = names().chain(elections).map(|name| format!("story-{name}"));
    let recoveries = recovery::SHOWN.into_iter().map(|name| format!("recovery-{name}"));
    let nodes = BROKEN.iter().filter(|broken| !is_about_registers(broken.name));
    // One of them is what the page opens with.
    let broken = nodes.filter(|broken| broken.name != COUNTEREXAMPLE);
    let broken = broken.map(|broken| format!("broken-{}", broken.name));
    stories.chain(recoveries).chain(broken).chain(["counterexample".to_owned()])
}

/// Whether a broken variant sends no messages.
fn is_about_registers(broken: &str) -> bool {
    ["bakery_", "rw_bakery_", "black_white_", "tournament_"]
        .iter()
        .any(|lock| broken.starts_with(lock))
}

fn assert_sound(seen: &Seen, width: u32, with_steps: bool) {
    assert_eq!(seen.width, width);
    assert!(seen.texts > 1000, "{} texts", seen.texts);
    assert!(seen.wrong.is_empty(), "at {width}: {:#?}", seen.wrong);
    assert!(seen.console.is_empty(), "at {width}: {:#?}", seen.console);
    let figure = |id: &str| seen.figures.iter().find(|figure| figure.id == id);
    let also = ["comparison".to_owned()];
    for id in FIGURES.map(str::to_owned).into_iter().chain(also).chain(runs()) {
        assert!(figure(&id).is_some_and(|it| it.shown), "at {width}: no figure '{id}'");
    }
    for id in runs() {
        let buttons = figure(&id).expect("it is there").steps;
        assert_eq!(buttons, if with_steps { 3 } else { 0 }, "at {width}: buttons of '{id}'");
    }
    for figure in &seen.figures {
        assert!(figure.command.starts_with("cargo lab "), "{figure:?}");
    }
}

/// What needs a browser: `test.sh` leaves it out where there is none.
mod in_a_browser {
    use super::*;

    #[test]
    fn everything_is_there_and_nothing_overlaps_on_a_wide_screen() {
        assert_sound(&look("report", &unfolded(), 1280), 1280, true);
    }

    #[test]
    fn everything_is_there_and_nothing_overlaps_on_a_tablet() {
        assert_sound(&look("report", &unfolded(), 768), 768, true);
    }

    #[test]
    fn everything_is_there_and_nothing_overlaps_on_a_narrow_screen() {
        assert_sound(&look("report", &unfolded(), 400), 400, true);
    }

    #[test]
    fn everything_is_there_without_scripts() {
        let page = without_scripts(&unfolded());
        assert!(!page.contains("<script"));
        assert_sound(&look("still", &page, 1280), 1280, false);
        assert_sound(&look("still", &page, 400), 400, false);
    }

    #[test]
    fn it_can_be_read_by_night() {
        let seen = look_by("report", &unfolded(), 1280, Sky::Night);
        assert!(seen.dark, "the browser does not know that it is night");
        assert_sound(&seen, 1280, true);
    }

    /// As it is opened: the long tables folded.
    #[test]
    fn it_opens_folded_and_without_a_word_on_the_console() {
        let seen = look("folded", page(), 1280);
        assert!(seen.wrong.is_empty() && seen.console.is_empty(), "{seen:#?}");
        let shown = |id: &str| seen.figures.iter().any(|figure| figure.id == id && figure.shown);
        assert!(shown("counterexample") && shown("frontier") && shown("story-lamport"));
        assert!(!shown("refuted") && !shown("broken-maekawa_voting"));
    }

    #[test]
    fn a_story_is_stepped_through_by_keyboard_and_tells_what_the_machines_know() {
        let script = include_str!("browser/step.js").replace("FIGURE", "story-ricart_agrawala");
        let (json, console) = browse("stepped", page(), &script, 1280, Sky::Day);
        assert!(console.is_empty(), "{console:#?}");
        let seen: Stepped = serde_json::from_str(&json).expect("what the script writes");
        assert!(seen.label.contains("Arrow keys"), "{}", seen.label);
        assert!(seen.whole.hidden && seen.whole.later == 0 && seen.whole.now == 0);
        let picture = |moment: &Moment| {
            (moment.count.clone(), moment.hidden, moment.later, moment.shown, moment.now)
        };
        assert_eq!(picture(&seen.whole), picture(&seen.escaped), "Escape shows all of it again");
        assert_eq!(seen.back, seen.steps[seen.steps.len() - 2], "back is where it was before");

        let scene = Scene::of("ricart_agrawala").expect("it has a scene");
        let (trace, played) = scene.play().expect("a run");
        let total = played.steps.len();
        assert_eq!(seen.steps.len(), total + 1, "each step, and before the first");
        let cluster = RicartAgrawala::cluster(scene.nodes).expect("a cluster");
        let mut shown = 0;
        for (step, moment) in seen.steps.iter().enumerate() {
            assert_eq!(moment.count, format!("{step} of {total}"));
            let events = step.checked_sub(1).map_or(0, |step| played.steps[step].events);
            // What has happened is shown, and what comes later is dimmed.
            assert!(moment.shown >= shown, "something vanishes at step {step}");
            shown = moment.shown;
            assert!(moment.later > 0 || step > 0, "before the first step all is to come");
            assert!(moment.later == 0 || step < total, "after the last step nothing is");
            // The state machine's own state after these events, by a replay of its own.
            let so_far = Trace { events: trace.events[..events].to_vec() };
            let nodes = replay(cluster.clone(), &so_far).expect("it happens again");
            assert_eq!(moment.names[0], "node");
            for wanted in ["phase", "clock", "held back"] {
                assert!(moment.names.iter().any(|name| name == wanted), "{:?}", moment.names);
            }
            assert_eq!(moment.rows.len(), nodes.len());
            for (row, node) in moment.rows.iter().zip(&nodes) {
                assert_eq!(row[0], node.id().to_string());
                let own = facts(node);
                for (name, value) in moment.names.iter().zip(row).skip(1) {
                    let fact = own.iter().find(|fact| fact.name == *name).expect("its own");
                    assert_eq!(fact.value, *value, "{name} of {} at step {step}", row[0]);
                }
            }
            if let Some(step) = step.checked_sub(1) {
                assert_eq!(moment.says, format!("{}.", played.steps[step].says));
            }
        }
    }

    #[test]
    fn a_counterexample_ends_in_its_violation() {
        let script = include_str!("browser/step.js").replace("FIGURE", "counterexample");
        let (json, _) = browse("violated", page(), &script, 400, Sky::Day);
        let seen: Stepped = serde_json::from_str(&json).expect("what the script writes");
        let last = seen.steps.last().expect("it has steps");
        assert!(last.says.ends_with("n0 and n1 wait for ever."), "{}", last.says);
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

        let astray = "<p><a href='#nowhere'>link</a></p>";
        assert_eq!(look("astray", &bad(astray), 400).wrong, ["a link leads nowhere: 'nowhere'"]);

        let missing = "<img src='no-such-picture.png'><script>console.error('something')</script>";
        assert!(!look("console", &bad(missing), 400).console.is_empty());
    }
}

#[test]
fn the_page_needs_no_network_and_is_not_too_large() {
    for outside in ["src=", "@import", "url(http", "<iframe", "fetch(", "import("] {
        assert!(!page().contains(outside), "{outside}");
    }
    let megabytes = page().len() as f64 / 1e6;
    assert!(megabytes < 6.0, "{megabytes} MB");
}

/// Every cell of the table of faults that is not harmless leads to its trace.
#[test]
fn every_fault_that_harms_has_its_trace() {
    let (_, table) = page().split_once("<table class=\"matrix\">").expect("the table");
    let (table, _) = table.split_once("</table>").expect("its end");
    let links: Vec<_> = table.split("<a href=\"#fault-").skip(1).collect();
    assert!(links.len() > 80, "only {}", links.len());
    for link in links {
        let id = link.split('"').next().expect("an address");
        assert!(page().contains(&format!("<figure id=\"fault-{id}\"")), "{id}");
    }
    let harmed = table.matches("class=\"blocks\"><a").count();
    assert_eq!(harmed, table.matches("class=\"blocks\"").count());
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
    // A few of each kind: the stories, an election, and some counterexamples.
    let wanted = |figure: &&str| {
        ["story-", "counterexample", "broken-ma"].iter().any(|kind| figure.starts_with(kind))
    };
    for figure in page().split("<figure id=\"").skip(1).filter(wanted) {
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
        // One more stay inside stands in the legend, which is elsewhere on the page. An election
        // has none.
        let legend = usize::from(ELECTIONS.iter().all(|election| election.name != algorithm));
        assert_eq!(
            counts(&picture.expect("it was drawn")),
            [life, inside + legend, message],
            "{words:?}"
        );
        if let Some(nodes) = words.iter().position(|word| *word == "--nodes") {
            assert_eq!(words[nodes + 1], life.to_string(), "a line per node");
        }
        drawn += 1;
    }
    assert!(drawn > names().count() + ELECTIONS.len(), "only {drawn}");
}

/// The names of all algorithms.
fn names() -> impl Iterator<Item = &'static str> {
    exclusion::message::registry::ALGORITHMS.iter().map(|algorithm| algorithm.name)
}
