//! `lab locks --kind`: what stands beside the mutexes.

use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lab::measure::kind::table::{markdown, setting, table};
use lab::measure::kind::{Candidate, Effort, Kind, Row, Scene, play};
use lab::measure::load;

use super::locks::{Show, kept};
use super::{Outcome, say, say_json};

/// What to measure of a kind.
pub(super) struct Measurement<'a> {
    pub(super) kind: Kind,
    /// The locks that are chosen, or none for all.
    pub(super) locks: &'a [String],
    /// The scenes that are chosen, or none for all.
    pub(super) scenes: &'a [String],
    pub(super) hogs: usize,
    pub(super) seconds: f64,
    pub(super) rounds: usize,
}

/// Measures, and shows it.
pub(super) fn run(measurement: &Measurement<'_>, show: Show) -> Outcome {
    let scenes = measurement.chosen()?;
    finish(&measurement.measure(&scenes, show)?, show)
}

/// Shows what was kept.
pub(super) fn show_kept(kind: Kind, files: &[PathBuf], show: Show) -> Outcome {
    let rows: Vec<Row> = kept(files)?;
    if let Some(row) = rows.iter().find(|row| row.kind != kind) {
        let other = row.kind.name();
        return Err(format!("the files have rows of a {other}: ask for --kind {other}"));
    }
    rows.chunk_by(|one, other| setting(one) == setting(other)).for_each(|rows| tell(rows, show));
    finish(&rows, show)
}

/// Shows the rows of one scene.
fn tell(rows: &[Row], show: Show) {
    match show {
        Show::Json => rows.iter().for_each(say_json),
        Show::Tables => say(table(rows)),
        Show::Nothing => {}
    }
}

fn finish(rows: &[Row], show: Show) -> Outcome {
    if show == Show::Nothing {
        say(markdown(rows));
    }
    Ok(true)
}

impl Measurement<'_> {
    /// The scenes with their candidates, as far as they are chosen.
    fn chosen(&self) -> Result<Vec<Scene>, String> {
        let all = self.kind.scenes();
        let names: Vec<_> = all.iter().map(|scene| scene.name).collect();
        known("scene", self.scenes, &names)?;
        known("lock", self.locks, &self.kind.candidates())?;
        let is_chosen =
            |chosen: &[String], name: &str| chosen.is_empty() || chosen.iter().any(|it| it == name);
        let mut scenes: Vec<Scene> =
            all.into_iter().filter(|scene| is_chosen(self.scenes, scene.name)).collect();
        for scene in &mut scenes {
            scene.candidates.retain(|Candidate { name, .. }| is_chosen(self.locks, name));
        }
        scenes.retain(|scene| !scene.candidates.is_empty());
        if scenes.is_empty() {
            return Err("none of the chosen locks is measured in the chosen scenes".to_owned());
        }
        Ok(scenes)
    }

    fn measure(&self, scenes: &[Scene], show: Show) -> Result<Vec<Row>, String> {
        if let Some(warning) = load::warning() {
            eprintln!("warning: {warning}");
        }
        let steps: usize = scenes.iter().map(|scene| self.rounds * scene.candidates.len()).sum();
        // Draws nothing where stderr is not a terminal.
        let bar = ProgressBar::new(steps as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)")
                .expect("a sound template"),
        );
        let slice = Duration::from_secs_f64(self.seconds);
        let effort = Effort { hogs: self.hogs, slice, rounds: self.rounds };
        let mut all = Vec::new();
        for scene in scenes {
            let rows = play(self.kind, scene, effort, |lock| {
                bar.set_message(format!("{}: {lock}", scene.name));
                bar.inc(1);
            })
            .map_err(|error| {
                let threads = scene.threads + self.hogs;
                format!("{threads} threads cannot be started ({error}): take fewer")
            })?;
            bar.suspend(|| {
                tell(&rows, show);
                if show == Show::Tables {
                    say(format_args!("a wait: {}\n", scene.wait));
                }
            });
            all.extend(rows);
        }
        bar.finish_and_clear();
        Ok(all)
    }
}

/// Refuses names that nothing has.
fn known(what: &str, chosen: &[String], names: &[&str]) -> Result<(), String> {
    match chosen.iter().find(|it| !names.contains(&it.as_str())) {
        Some(name) => Err(format!("no {what} is called '{name}'; there are {}", names.join(", "))),
        None => Ok(()),
    }
}
